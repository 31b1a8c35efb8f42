// Opens the replica's file, or creates it: checks the file that is there, and quarantines one that cannot be
// used.

import { accessSync, closeSync, constants, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { ConfigError, ReplicaError } from '../errors.ts';
import { dataDirError, restrictAccess, SQLITE, sqliteCode } from './data-dir.ts';
import { APPLICATION_ID, META_TABLES, SCHEMA_VERSION, TABLES } from './schema.ts';

/** Another process has the file open; two gateways must not share one. */
export class ReplicaInUse extends ConfigError {
  constructor(file: string) {
    super(
      'dataDir (CALENDAR_DATA_DIR)',
      `${file} is in use by another process`,
      'Stop the other gateway, or give this one a data directory of its own.',
    );
    this.name = 'ReplicaInUse';
  }
}

export interface OpenedFile {
  connection: DatabaseSync;
  /** Why the existing file was quarantined; undefined if there was none, or if it is the one in use. */
  quarantined: string | undefined;
  /** Files and folders whose mode was restricted. */
  restrictedPaths: string[];
}

/**
 * SQLite's page cache. The operating system caches the rest of the file; a larger page cache makes no list
 * faster.
 */
const CACHE_KIB = 2 * 1024;

/**
 * Files up to this size are checked at every start, larger files only after a crash: checking 300 MB takes
 * about a second.
 */
const CHECK_ALWAYS_BYTES = 32 * 1024 * 1024;

function openConnection(file: string, durable: boolean): DatabaseSync {
  const connection = new DatabaseSync(file);
  try {
    if (durable)
      connection.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    else connection.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;');
    connection.exec(`PRAGMA cache_size = -${CACHE_KIB}; PRAGMA journal_size_limit = 67108864;`);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function createTables(connection: DatabaseSync, identity: string): void {
  connection.exec(`BEGIN IMMEDIATE; ${META_TABLES} ${TABLES}`);
  const insertMeta = connection.prepare('INSERT INTO meta (key, value) VALUES (?, ?)');
  insertMeta.run('identity', identity);
  insertMeta.run('version', '0');
  insertMeta.run('clean', '0');
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT;`);
}

export function pragma(connection: DatabaseSync, name: string): number | string {
  return Object.values(connection.prepare(`PRAGMA ${name}`).get() ?? {})[0] as number | string;
}

/** False for a value of `meta` that no gateway writes: all are numbers, but for the identity and the journal's epochs. */
function isReadable(key: unknown, value: unknown): boolean {
  const isEpoch = (each: unknown) =>
    Array.isArray(each) && typeof each[0] === 'string' && Number.isSafeInteger(each[1]);
  if (key !== 'journal_epochs') return key === 'identity' || Math.abs(Number(value)) <= Number.MAX_SAFE_INTEGER;
  try {
    const epochs: unknown = JSON.parse(String(value));
    return Array.isArray(epochs) && epochs.every(isEpoch);
  } catch {
    return false;
  }
}

/** Why this file is not a replica of this site that can be used; undefined if it can. */
function rejectionReason(connection: DatabaseSync, identity: string): string | undefined {
  if (pragma(connection, 'application_id') !== APPLICATION_ID) return 'it is not a replica';
  if (pragma(connection, 'user_version') !== SCHEMA_VERSION) return 'its tables have another version';
  const rows = connection.prepare('SELECT key, value FROM meta').all();
  const meta = new Map(rows.map(({ key, value }) => [key, value]));
  if (meta.get('identity') !== identity) return 'it belongs to another site or mapping';
  for (const [key, value] of meta) if (!isReadable(key, value)) return `it is damaged: its "${key}" cannot be read`;
  const bytes = Number(pragma(connection, 'page_count')) * Number(pragma(connection, 'page_size'));
  if (meta.get('clean') === '1' && bytes > CHECK_ALWAYS_BYTES) return undefined;
  const check = pragma(connection, 'quick_check(1)');
  return check === 'ok' ? undefined : `it is damaged: ${check}`;
}

const CORRUPTION: readonly number[] = [SQLITE.CORRUPT, SQLITE.NOT_A_DATABASE];
const UNWRITABLE: readonly number[] = [SQLITE.READ_ONLY, SQLITE.IO_ERROR, SQLITE.FULL, SQLITE.CANNOT_OPEN];

export const isCorruption = (error: unknown): boolean => CORRUPTION.includes(sqliteCode(error));

/** Converts SQLite's errors to `ReplicaError`. Errors of other kinds are returned as they are. */
export function toReplicaError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ReplicaError) return error;
  if (isCorruption(error)) return new ReplicaError('damaged', error.message, error);
  if (UNWRITABLE.includes(sqliteCode(error))) return new ReplicaError('unwritable', error.message, error);
  const isClosed = 'code' in error && error.code === 'ERR_INVALID_STATE';
  return isClosed ? new ReplicaError('closed', 'the replica is being replaced', error) : error;
}

/** The files that belong to a database: itself, its write-ahead log, and the index of the log. */
const SUFFIXES = ['', '-wal', '-shm'];

/**
 * Opens the replica in `file`, or creates it. A file that is damaged, of another version or of another
 * identity is renamed to `FILE.quarantined` (replacing an earlier one). `quarantine`: why the file must not
 * be used in any case.
 * @throws ConfigError if the file cannot be opened or written; ReplicaInUse if another process has it open
 */
export function openFile(file: string, identity: string, quarantine: string | undefined): OpenedFile {
  const restrictedPaths = restrictAccess(file);
  let quarantined = quarantine;
  if (existsSync(file) && quarantined === undefined) {
    let existing: DatabaseSync | undefined;
    try {
      existing = openConnection(file, true);
      quarantined = rejectionReason(existing, identity);
      if (quarantined === undefined) return { connection: existing, quarantined, restrictedPaths };
    } catch (error) {
      if (sqliteCode(error) === SQLITE.BUSY) throw new ReplicaInUse(file);
      if (!isCorruption(error)) throw dataDirError(file, error);
      quarantined = `it is damaged: ${(error as Error).message}`;
    } finally {
      if (quarantined !== undefined && existing?.isOpen) existing.close();
    }
  }
  try {
    // SQLite would replay the quarantined file's write-ahead log into the new file.
    for (const suffix of SUFFIXES) {
      rmSync(`${file}.quarantined${suffix}`, { force: true });
      if (existsSync(file + suffix)) renameSync(file + suffix, `${file}.quarantined${suffix}`);
    }
    // SQLite would create the file with the mode of the process's umask. It creates the other files with the
    // mode of this one.
    closeSync(openSync(file, 'wx', 0o600));
    const connection = openConnection(file, true);
    createTables(connection, identity);
    return { connection, quarantined, restrictedPaths };
  } catch (error) {
    throw dataDirError(file, error);
  }
}

/**
 * Opens a database that ends with the process: in an unnamed temporary file, or in memory if no such file can
 * be written.
 */
export function openTemporary(identity: string): OpenedFile {
  let name = '';
  try {
    accessSync(tmpdir(), constants.W_OK);
  } catch {
    name = ':memory:';
  }
  const connection = openConnection(name, false);
  createTables(connection, identity);
  return { connection, quarantined: undefined, restrictedPaths: [] };
}
