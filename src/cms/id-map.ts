// The numbers of records whose own ids in the CMS are texts. The map gives a number to no second record. It is in a
// file of its own, because the replica may be replaced at any time.

import { randomInt } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { createDirectoryOf, dataDirError, isCorruption, pragma, toReplicaError } from '../data-files.ts';
import { ConfigError } from '../errors.ts';

const TABLE = `CREATE TABLE IF NOT EXISTS ids (
  number INTEGER PRIMARY KEY AUTOINCREMENT, space TEXT NOT NULL, cms_id TEXT NOT NULL, UNIQUE (space, cms_id)
) STRICT`;

/** All spaces, such as `event` and `venue`, share one sequence. Calls throw `ReplicaError`. */
export class IdMap {
  /** A random number that identifies this map: a replica with the numbers of another map must not be used. */
  readonly mapId: number;
  readonly #connection: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #byCmsId: StatementSync;
  readonly #byNumber: StatementSync;
  readonly #onFirst: () => void;
  #isUsed: boolean;

  /**
   * Opens the file, or creates it.
   * @param file absent: the numbers are forgotten when the process ends
   * @param onFirst runs once, before the first number is allocated
   * @throws ConfigError if the file cannot be used
   */
  constructor(file?: string, onFirst: () => void = () => undefined) {
    const connection = file === undefined ? new DatabaseSync(':memory:') : openFile(file);
    connection.exec(TABLE);
    const readMapId = () => Number(pragma(connection, 'user_version'));
    if (readMapId() === 0) connection.exec(`PRAGMA user_version = ${randomInt(1, 2 ** 31)}`);
    this.mapId = readMapId();
    this.#connection = connection;
    this.#insert = connection.prepare('INSERT INTO ids (space, cms_id) VALUES (?, ?)');
    this.#byCmsId = connection.prepare('SELECT number FROM ids WHERE space = ? AND cms_id = ?');
    this.#byNumber = connection.prepare('SELECT cms_id FROM ids WHERE number = ? AND space = ?');
    this.#onFirst = onFirst;
    this.#isUsed = connection.prepare('SELECT 1 FROM ids LIMIT 1').get() !== undefined;
  }

  /** True once a record has a number. */
  isUsed(): boolean {
    return this.#isUsed;
  }

  /** The number of a record. If it has none, it gets the next one. */
  numberOf(space: string, cmsId: string): number {
    return convertingErrors(() => {
      const known = this.#byCmsId.get(space, cmsId);
      if (known) return Number(known.number);
      if (!this.#isUsed) this.#onFirst();
      this.#isUsed = true;
      return Number(this.#insert.run(space, cmsId).lastInsertRowid);
    });
  }

  cmsIdOf(space: string, number: number): string | undefined {
    return convertingErrors(() => this.#byNumber.get(number, space)?.cms_id as string | undefined);
  }

  /** Runs work that allocates many numbers as one change of the file. Not within another `batch`: SQLite throws. */
  batch<T>(work: () => T): T {
    return convertingErrors(() => {
      this.#connection.exec('BEGIN');
      try {
        return work();
      } finally {
        // After an error too: a number that was given stays given.
        this.#connection.exec('COMMIT');
      }
    });
  }

  close(): void {
    this.#connection.close();
  }
}

function convertingErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toReplicaError(error, 'the id map: ');
  }
}

function openFile(file: string): DatabaseSync {
  try {
    createDirectoryOf(file);
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
