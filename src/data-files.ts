// The database files that the gateway writes: who may read them, and what their errors mean.

import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { ConfigError, ReplicaError } from './errors.ts';

/** The replica holds texts that a password protects: no other user of the machine may read it. */
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Creates the directory of `file` if it is missing, but not its parents. Removes the access of other users to the
 * file, to all files whose name begins with its name, and to the directory if it holds nothing else.
 * @throws ConfigError if the directory cannot be created or read
 */
export function restrictAccess(file: string): void {
  const directory = dirname(file);
  let names: string[];
  try {
    // Not `recursive`: in /proc and the like, Node would try for ever.
    if (!existsSync(directory)) mkdirSync(directory, { mode: DIRECTORY_MODE });
    names = readdirSync(directory);
  } catch (error) {
    throw dataDirError(file, error);
  }
  const own = names.filter((name) => name.startsWith(basename(file)));
  for (const name of own) restrictMode(join(directory, name), FILE_MODE);
  if (own.length === names.length) restrictMode(directory, DIRECTORY_MODE);
}

function restrictMode(path: string, mode: number): void {
  try {
    const before = statSync(path).mode & 0o777;
    if ((before & ~mode) !== 0) chmodSync(path, before & mode);
  } catch {
    // The path belongs to another user, or is a mount. Opening the file shows if it can be used.
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
export function toReplicaError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ReplicaError) return error;
  if (isCorruption(error)) return new ReplicaError('damaged', error.message, error);
  if (UNWRITABLE.includes(sqliteCode(error))) return new ReplicaError('unwritable', error.message, error);
  const isClosed = 'code' in error && error.code === 'ERR_INVALID_STATE';
  return isClosed ? new ReplicaError('closed', 'the replica is being replaced', error) : error;
}

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
      `${basename(file)} in it must be a file of it.`,
  );
}
