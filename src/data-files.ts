// The database files that the gateway writes: their folder, what SQLite says of them, and what their errors mean.

import { existsSync, mkdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { ConfigError, ReplicaError } from './errors.ts';

/**
 * Creates the directory of `file` if it is missing, for this user alone, but not its parents.
 * @throws ConfigError if it cannot be created
 */
export function createDirectoryOf(file: string): void {
  const directory = dirname(file);
  try {
    // Not `recursive`: in /proc and the like, Node would try for ever.
    if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    throw dataDirError(file, error);
  }
}

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
const BUSY = 5;
/** Corrupt, and not a database. */
const CORRUPTION = [11, 26];
/** Read-only, an error of the disk, full, and cannot be opened. */
const UNWRITABLE = [8, 10, 13, 14];

/** The primary result code of an error of SQLite; 0 for any other error. */
function sqliteCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0;
}

/** Another process has the file open. */
export const isBusy = (error: unknown): boolean => sqliteCode(error) === BUSY;
export const isCorruption = (error: unknown): boolean => CORRUPTION.includes(sqliteCode(error));

/** Converts SQLite's errors to `ReplicaError`. Errors of other kinds are returned as they are. */
export function toReplicaError(error: unknown, file = ''): unknown {
  if (!(error instanceof Error) || error instanceof ReplicaError) return error;
  if (isCorruption(error)) return new ReplicaError('damaged', file + error.message, error);
  if (UNWRITABLE.includes(sqliteCode(error))) return new ReplicaError('unwritable', file + error.message, error);
  const isClosed = 'code' in error && error.code === 'ERR_INVALID_STATE';
  return isClosed ? new ReplicaError('closed', file + error.message, error) : error;
}

/** The value of a PRAGMA of SQLite, such as `user_version`, a number; of `quick_check` a text. */
export function pragma(connection: DatabaseSync, name: string): number | string {
  return Object.values(connection.prepare(`PRAGMA ${name}`).get() ?? {})[0] as number | string;
}

/** Converts an error of the file system or of SQLite, such as "database or disk is full", to one with a remedy. */
export function dataDirError(file: string, error: unknown): Error {
  if (error instanceof ConfigError) return error;
  return new ConfigError(
    'dataDir (CALENDAR_DATA_DIR)',
    `${file} cannot be used: ${(error as Error).message}`,
    `Name a directory that the user with id ${process.getuid?.()} may write, on a disk with room; ` +
      `${basename(file)} in it must be a file of this user.`,
  );
}
