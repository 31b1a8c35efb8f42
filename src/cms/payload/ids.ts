// The ids of Payload's records in the gateway: integers with an offset for each collection, because Payload numbers the
// records of each collection separately; and numbers from the id map for records whose own ids are texts. The map gives
// a number to no second record. It is in a file of its own, because the replica may be replaced at any time.

import { randomInt } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { createDirectoryOf, dataDirError, isCorruption, pragma, toReplicaError } from '../../data-files.ts';
import { CmsUnavailable, ConfigError } from '../../errors.ts';
import { FIRST_ALLOCATED_ID, type KindOrImage, TERM_ID_OFFSET } from '../../model/records.ts';

/** What an id belongs to: a record, an image or an account. */
export type IdSpace = KindOrImage | 'account';

/** A record's id in Payload: a number, or a text such as a UUID. */
export type PayloadId = number | string;

export type Ids = ReturnType<typeof createIds>;

/** Above Payload's own ids, and below those of occurrences. No terms: only as far apart as those of WordPress. */
const OFFSETS: Partial<Readonly<Record<IdSpace, number>>> = {
  venue: TERM_ID_OFFSET,
  organizer: 2 * TERM_ID_OFFSET,
};

/** The greatest `integer` of Postgres. */
const MAX_INTEGER = 2_147_483_647;
/**
 * A UUID, an ObjectId of MongoDB, or a text of the site's own. Commas separate ids in a query. The id map would store
 * every half of a surrogate pair as the same character, and take two ids for one.
 */
const TEXT_ID = /^[^,\p{Cc}\p{Cs}]{1,200}$/u;

const isInteger = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= MAX_INTEGER;

/** @param map absent: ids that are texts cannot be served */
export function createIds(map?: IdMap) {
  return {
    /** True if the site's ids are texts, as far as is known. Their order says nothing about the time of the create. */
    areTexts: (): boolean => map?.isUsed() ?? false,
    /** Undefined for a value that is not an id. */
    toGateway(space: IdSpace, cmsId: unknown): number | undefined {
      if (isInteger(cmsId)) return cmsId + (OFFSETS[space] ?? 0);
      if (typeof cmsId !== 'string' || !TEXT_ID.test(cmsId)) return undefined;
      if (!map)
        throw new CmsUnavailable(
          'incomplete',
          'The ids of this site are texts, which gateways with a common Redis cannot number: run one ' +
            'gateway without redisUrl.',
        );
      return FIRST_ALLOCATED_ID + map.numberOf(space, cmsId);
    },
    /** Undefined for an id that no record of Payload has: Payload answers such ids with 500. */
    toPayload(space: IdSpace, id: number): PayloadId | undefined {
      if (id > FIRST_ALLOCATED_ID) return map?.cmsIdOf(space, id - FIRST_ALLOCATED_ID);
      const cmsId = id - (OFFSETS[space] ?? 0);
      return isInteger(cmsId) ? cmsId : undefined;
    },
    /** Runs work that converts many ids. */
    batch: <T>(work: () => T): T => (map ? map.batch(work) : work()),
  };
}

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

  isUsed(): boolean {
    return this.#isUsed;
  }

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
    throw toReplicaError(error);
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
