// The numbers of records of a CMS whose ids are texts. A number is allocated when the gateway first sees a record,
// and never given to another. They are in a file of their own, because the replica may be replaced at any time.

import { randomInt } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { IdMap } from '../cms/port.ts';
import { ConfigError } from '../errors.ts';
import { dataDirError, restrictAccess } from './data-dir.ts';
import { isCorruption, pragma, toReplicaError } from './database-file.ts';

const TABLE = `CREATE TABLE IF NOT EXISTS ids (
  number INTEGER PRIMARY KEY AUTOINCREMENT, space TEXT NOT NULL, cms_id TEXT NOT NULL, UNIQUE (space, cms_id)
) STRICT`;

export interface OpenedIdMap extends IdMap {
  /** A random number that identifies this map: a replica with the numbers of another map must not be used. */
  mapId: number;
  close(): void;
}

/**
 * Opens the file, or creates it.
 * @param file absent: the numbers are forgotten when the process ends
 * @param onFirst runs once, before the first number is allocated
 * @throws ConfigError if the file cannot be used
 */
export function openIdMap(file?: string, onFirst: () => void = () => undefined): OpenedIdMap {
  const connection = file === undefined ? new DatabaseSync(':memory:') : openFile(file);
  connection.exec(TABLE);
  const insert = connection.prepare('INSERT OR IGNORE INTO ids (space, cms_id) VALUES (?, ?)');
  const byCmsId = connection.prepare('SELECT number FROM ids WHERE space = ? AND cms_id = ?');
  const byNumber = connection.prepare('SELECT cms_id FROM ids WHERE number = ? AND space = ?');
  let isUsed = connection.prepare('SELECT 1 FROM ids LIMIT 1').get() !== undefined;

  function convertingErrors<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw toReplicaError(error);
    }
  }

  return {
    mapId: mapIdOf(connection),
    isUsed: () => isUsed,
    numberOf: (space, cmsId) =>
      convertingErrors(() => {
        const known = byCmsId.get(space, cmsId);
        if (known) return Number(known.number);
        if (!isUsed) onFirst();
        isUsed = true;
        return Number(insert.run(space, cmsId).lastInsertRowid);
      }),
    cmsIdOf: (space, number) => convertingErrors(() => byNumber.get(number, space)?.cms_id as string | undefined),
    batch: (work) =>
      convertingErrors(() => {
        connection.exec('BEGIN');
        try {
          return work();
        } finally {
          connection.exec('COMMIT');
        }
      }),
    close: () => connection.close(),
  };
}

function mapIdOf(connection: DatabaseSync): number {
  const read = () => Number(pragma(connection, 'user_version'));
  if (read() === 0) connection.exec(`PRAGMA user_version = ${randomInt(1, 2 ** 31)}`);
  return read();
}

function openFile(file: string): DatabaseSync {
  try {
    restrictAccess(file);
    // SQLite would create the file with the mode of the process's umask.
    closeSync(openSync(file, 'a', 0o600));
    const connection = new DatabaseSync(file);
    try {
      // A number that is lost in a power failure would be given to another record.
      connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
      const check = pragma(connection, 'quick_check(1)');
      if (check !== 'ok') throw new Error(String(check));
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    if (!isCorruption(error)) throw dataDirError(file, error);
    throw new ConfigError(
      file,
      `is damaged: ${(error as Error).message}`,
      'Restore it from a backup: without it, every record gets another id. Delete it to accept that.',
    );
  }
}
