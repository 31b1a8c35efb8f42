// Opens the replica's file, or creates it: checks the file that is there, and quarantines one that cannot be used.

import { accessSync, closeSync, constants, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { createDirectoryOf, dataDirError, isBusy, isCorruption, pragma } from '../data-files.ts';
import { ConfigError } from '../errors.ts';
import { APPLICATION_ID, REPLICA_FORMAT, TABLES } from './schema.ts';

interface OpenedFile {
  connection: DatabaseSync;
  /** Why the existing file was quarantined; undefined if there was none, or if it is the one in use. */
  quarantined?: string | undefined;
}

/** Holds most of the links of 100,000 events: with 2 MiB, a list of a category with a tag takes half as long again. */
const CACHE_KIB = 8 * 1024;

function openConnection(file: string, journal: string): DatabaseSync {
  const connection = new DatabaseSync(file);
  try {
    connection.exec(`PRAGMA locking_mode = EXCLUSIVE; ${journal}
      PRAGMA cache_size = -${CACHE_KIB}; PRAGMA journal_size_limit = 67108864;`);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

const openDurable = (file: string) => openConnection(file, 'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');

function createTables(connection: DatabaseSync, identity: string): void {
  connection.exec(`BEGIN IMMEDIATE; ${TABLES}`);
  connection.prepare("INSERT INTO state (key, value) VALUES ('identity', ?)").run(identity);
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${REPLICA_FORMAT}; COMMIT;`);
}

/** Why this file is not a replica of this site that can be opened; undefined if it is. */
function rejectionReason(connection: DatabaseSync, identity: string): string | undefined {
  if (pragma(connection, 'application_id') !== APPLICATION_ID) return 'it is not a replica';
  if (pragma(connection, 'user_version') !== REPLICA_FORMAT) return 'its tables have another version';
  const stored = connection.prepare("SELECT value FROM state WHERE key = 'identity'").get();
  if (stored?.value !== identity) return 'it belongs to another site or mapping';
  // `ChangeJournal` reads these tables when it is made. Damage in others shows when a statement meets it.
  const checks = ['change_journal', 'journal_epoch'].map((table) => pragma(connection, `quick_check(${table})`));
  const damage = checks.find((each) => each !== 'ok');
  return damage === undefined ? undefined : `it is damaged: ${damage}`;
}

/** The files that belong to a database: itself, its write-ahead log, and the index of the log. */
const SUFFIXES = ['', '-wal', '-shm'];

/** Returns the reason if the file cannot be used. @throws ConfigError as `openFile` */
function openExisting(file: string, identity: string): DatabaseSync | string {
  let connection: DatabaseSync | undefined;
  let reason: string | undefined;
  try {
    connection = openDurable(file);
    reason = rejectionReason(connection, identity);
    // A file that this process may only read ends the start, and not the first poll.
    if (reason === undefined) connection.exec('BEGIN IMMEDIATE; COMMIT');
  } catch (error) {
    if (isBusy(error))
      throw new ConfigError(
        'dataDir (CALENDAR_DATA_DIR)',
        `${file} is in use by another process`,
        'Stop the other gateway, or give this one a data directory of its own.',
      );
    if (!isCorruption(error)) throw dataDirError(file, error);
    reason = `it is damaged: ${(error as Error).message}`;
  }
  if (reason === undefined) return connection!;
  connection?.close();
  return reason;
}

/**
 * Opens the replica in `file`, or creates it. A file that is damaged, of another version or of another identity is
 * renamed to `FILE.quarantined` (replacing an earlier one). `quarantine`: why the file must not be used in any case.
 * @throws ConfigError if the file cannot be opened or written, or if another process has it open
 */
export function openFile(file: string, identity: string, quarantine: string | undefined): OpenedFile {
  createDirectoryOf(file);
  let quarantined = quarantine;
  if (existsSync(file) && quarantined === undefined) {
    const existing = openExisting(file, identity);
    if (typeof existing !== 'string') return { connection: existing };
    quarantined = existing;
  }
  try {
    // SQLite would replay the quarantined file's write-ahead log into the new file.
    for (const suffix of SUFFIXES) {
      rmSync(`${file}.quarantined${suffix}`, { force: true });
      if (existsSync(file + suffix)) renameSync(file + suffix, `${file}.quarantined${suffix}`);
    }
    // SQLite would create the file with the mode of the umask. It gives its other files the mode of this one.
    closeSync(openSync(file, 'wx', 0o600));
    const connection = openDurable(file);
    createTables(connection, identity);
    return { connection, quarantined };
  } catch (error) {
    throw dataDirError(file, error);
  }
}

/** Opens a database that ends with the process: in an unnamed temporary file, or in memory if none can be written. */
export function openTemporary(identity: string): OpenedFile {
  let name = '';
  try {
    accessSync(tmpdir(), constants.W_OK);
  } catch {
    name = ':memory:';
  }
  const connection = openConnection(name, 'PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;');
  createTables(connection, identity);
  return { connection };
}
