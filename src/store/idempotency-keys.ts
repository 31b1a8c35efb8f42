// Idempotency keys of creates, in the replica's file: what the gateway knows of each create that carried one.

import type { Database } from './database.ts';
import { type Sql, sql } from './sql.ts';

export interface IdempotencyEntry {
  /** The fingerprint of the request that claimed the key: a request with another body must not get its response. */
  fingerprint: string;
  /** `unknown`: the CMS may have created the record. */
  state: 'running' | 'done' | 'unknown';
  startedMs: number;
  /** The request that runs the create. Unique, so that no two entries are equal. */
  holder: string;
  /** The error response that the client got. */
  response?: { status: number; body: unknown; headers?: Record<string, string> };
  /** The record that was created. */
  id?: number;
}

/** Stores idempotency keys. `owner` is a hash of a user: each user has a limited number of keys. */
export interface IdempotencyStore {
  /** Stores `entry` unless the key is known. Resolves with the known entry. */
  claim(owner: string, key: string, entry: IdempotencyEntry): Promise<IdempotencyEntry | undefined>;
  /** Replaces `expected` unless another request did before. Resolves with true if it replaced it. */
  compareAndSet(key: string, expected: IdempotencyEntry, entry: IdempotencyEntry): Promise<boolean>;
  /** Does nothing if the key was forgotten meanwhile. */
  set(key: string, entry: IdempotencyEntry): Promise<void>;
  delete(key: string): Promise<void>;
}

/** The gateway forgets a key after a day, and the oldest keys of a user, or of all users, beyond these numbers. */
export const KEY_TTL_MS = 24 * 3_600_000;
export const MAX_KEYS_PER_USER = 1000;
const MAX_KEYS = 20_000;

/** The store of a gateway without a cluster. Calls reject with `ReplicaError`. */
export function openIdempotencyStore(db: Database): IdempotencyStore {
  /** Deletes all but the newest `count` of these keys. */
  const prune = (condition: Sql, count: number) =>
    db.run(sql`
      DELETE FROM idempotency_key WHERE key IN (
        SELECT key FROM idempotency_key WHERE ${condition} ORDER BY started_ms DESC LIMIT -1 OFFSET ${count})`);

  return {
    async claim(owner, key, entry) {
      return db.transaction(() => {
        db.run(sql`DELETE FROM idempotency_key WHERE started_ms < ${entry.startedMs - KEY_TTL_MS}`);
        const known = db.get<{ entry: string }>(sql`SELECT entry FROM idempotency_key WHERE key = ${key}`);
        if (known) return db.parse<IdempotencyEntry>(known.entry);
        prune(sql`owner = ${owner}`, MAX_KEYS_PER_USER - 1);
        prune(sql`1`, MAX_KEYS - 1);
        db.insert('idempotency_key', { key, owner, started_ms: entry.startedMs, entry: JSON.stringify(entry) });
        return undefined;
      });
    },
    async compareAndSet(key, expected, entry) {
      const [old, next] = [JSON.stringify(expected), JSON.stringify(entry)];
      return db.run(sql`UPDATE idempotency_key SET entry = ${next} WHERE key = ${key} AND entry = ${old}`) > 0;
    },
    async set(key, entry) {
      db.run(sql`UPDATE idempotency_key SET entry = ${JSON.stringify(entry)} WHERE key = ${key}`);
    },
    async delete(key) {
      db.run(sql`DELETE FROM idempotency_key WHERE key = ${key}`);
    },
  };
}
