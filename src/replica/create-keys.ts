// What is known of creates that carried an Idempotency-Key, in the replica's own file.

import type { Database } from './database.ts';

/** One create with a key. */
export interface CreateKey {
  /** Of the request that took the key first: another body is another request. */
  fingerprint: string;
  /** `unknown`: the CMS may have created the record. */
  state: 'running' | 'done' | 'unknown';
  /** When the create began, milliseconds since 1970. */
  atMs: number;
  /** The gateway process that ran it, and which of its requests. */
  by: string;
  /** The refusal that the caller got. */
  answer?: { status: number; body: unknown; headers?: Record<string, string> };
  /** The record that was created. */
  id?: number;
}

/** Where keys are kept. `owner` is a hash that stands for a user: each user has a number of keys of their own. */
export interface CreateKeys {
  /** Takes the key unless it is known; resolves with what is known of it. */
  take(owner: string, name: string, mine: CreateKey): Promise<CreateKey | undefined>;
  /** Replaces `old`, unless another request has done so before. Resolves with whether it did. */
  replace(name: string, old: CreateKey, next: CreateKey): Promise<boolean>;
  set(name: string, next: CreateKey): Promise<void>;
  drop(name: string): Promise<void>;
}

/** The gateway forgets keys after a day, and the oldest of a user, or of all users, beyond these numbers. */
export const KEY_KEPT_MS = 24 * 3_600_000;
export const KEYS_OF_A_USER = 1000;
const KEYS_IN_ALL = 20_000;

/** The oldest keys, but for so many. Each statement has an index of its own, so that neither reads what is kept of the keys. */
export const BEYOND_OF_USER = `DELETE FROM create_key WHERE name IN (
  SELECT name FROM create_key WHERE owner = ? ORDER BY at_ms DESC LIMIT -1 OFFSET ?)`;
export const BEYOND_IN_ALL = `DELETE FROM create_key WHERE name IN (
  SELECT name FROM create_key ORDER BY at_ms DESC LIMIT -1 OFFSET ?)`;

/** Keys of a gateway that stands alone. Calls reject with `ReplicaFailure`. */
export function openCreateKeys(db: Database): CreateKeys {
  const find = (name: string) => db.get<{ entry: string }>('SELECT entry FROM create_key WHERE name = ?', name)?.entry;
  const write = (name: string, entry: CreateKey) =>
    db.run('UPDATE create_key SET entry = ? WHERE name = ?', JSON.stringify(entry), name);

  return {
    async take(owner, name, mine) {
      return db.transaction(() => {
        db.run('DELETE FROM create_key WHERE at_ms < ?', mine.atMs - KEY_KEPT_MS);
        const known = find(name);
        if (known !== undefined) return JSON.parse(known) as CreateKey;
        db.run(BEYOND_OF_USER, owner, KEYS_OF_A_USER - 1);
        db.run(BEYOND_IN_ALL, KEYS_IN_ALL - 1);
        const insert = 'INSERT INTO create_key (name, owner, at_ms, entry) VALUES (?, ?, ?, ?)';
        db.run(insert, name, owner, mine.atMs, JSON.stringify(mine));
        return undefined;
      });
    },
    async replace(name, old, next) {
      return db.transaction(() => {
        if (find(name) !== JSON.stringify(old)) return false;
        write(name, next);
        return true;
      });
    },
    async set(name, next) {
      write(name, next);
    },
    async drop(name) {
      db.run('DELETE FROM create_key WHERE name = ?', name);
    },
  };
}
