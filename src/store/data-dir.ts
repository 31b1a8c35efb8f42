// The directories of the files that the gateway writes. The data directory is accessible to its owner alone; its errors
// name a remedy.

import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ConfigError } from '../errors.ts';

/** The replica holds texts that a password protects: no other user of the machine may read it. */
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Creates the directory of `file` if it is missing. Removes the access of other users to the file, to all
 * files whose name begins with its name, and to the directory if it holds nothing else. Returns the paths
 * whose mode changed.
 * @throws ConfigError if the directory cannot be created or read
 */
export function restrictAccess(file: string): string[] {
  const directory = dirname(file);
  let names: string[];
  try {
    makeDirectory(directory, DIRECTORY_MODE);
    names = readdirSync(directory);
  } catch (error) {
    throw dataDirError(file, error);
  }
  const replicaNames = names.filter((name) => name.startsWith(basename(file)));
  const restricted = replicaNames.map((name) => join(directory, name)).filter((path) => restrictMode(path, FILE_MODE));
  if (replicaNames.length === names.length && restrictMode(directory, DIRECTORY_MODE)) restricted.push(directory);
  return restricted;
}

function restrictMode(path: string, mode: number): boolean {
  try {
    const before = statSync(path).mode & 0o777;
    if ((before & ~mode) === 0) return false;
    chmodSync(path, before & mode);
    return true;
  } catch {
    // The path belongs to another user, or is a mount. Opening the file shows if it can be used.
    return false;
  }
}

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
export const SQLITE = {
  BUSY: 5,
  READ_ONLY: 8,
  IO_ERROR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANNOT_OPEN: 14,
  NOT_A_DATABASE: 26,
} as const;

/** The primary result code of an error of SQLite; 0 for any other error. */
export function sqliteCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0;
}

/** Converts an error of the file system or of SQLite to one that tells the operator what to do. */
export function dataDirError(file: string, error: unknown): Error {
  if (error instanceof ConfigError) return error;
  const { code, message } = error as { code?: string; message?: string };
  const result = sqliteCode(error);
  const directory = dirname(file);
  const setting = 'dataDir (CALENDAR_DATA_DIR)';
  const user = process.getuid === undefined ? 'this user' : `the user with id ${process.getuid()}`;
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return new ConfigError(setting, `${directory} is a file, or lies below one`, 'Name a directory.');
  if (code === 'EROFS')
    return new ConfigError(
      setting,
      `${directory} is on a read-only file system`,
      'Name a directory that can be written.',
    );
  if (code === 'EISDIR' || (result === SQLITE.CANNOT_OPEN && existsSync(file) && statSync(file).isDirectory()))
    return new ConfigError(setting, `${file} is a directory`, 'Remove it, or name another directory.');
  if (code === 'ENOSPC' || code === 'EDQUOT' || result === SQLITE.FULL)
    return new ConfigError(
      setting,
      `the disk of ${directory} is full`,
      'Make room, or name a directory on another disk.',
    );
  if (code === 'EMFILE' || code === 'ENFILE')
    return new ConfigError(
      setting,
      `${file} cannot be opened: too many files are open`,
      'Raise the limit (ulimit -n).',
    );
  const isDenied = code === 'EACCES' || code === 'EPERM' || code === 'ENOENT';
  if (isDenied || result === SQLITE.CANNOT_OPEN || result === SQLITE.READ_ONLY)
    return new ConfigError(
      setting,
      `${user} may not write ${file} (${result === 0 ? code : message})`,
      `Give ${directory} to that user (chown, chmod u+rwx), or name a directory that the user may write.`,
    );
  return new ConfigError(setting, `${file} cannot be used: ${message}`, 'Name another directory.');
}

/**
 * Creates a directory and its missing parents. Node's `recursive: true` loops forever on file systems that
 * reject directories with ENOENT, as `/proc` does.
 * @param mode of the created directories
 * @throws the file system's error; `ENOTDIR` if the path is a file
 */
export function makeDirectory(path: string, mode = 0o777): void {
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) return;
    throw Object.assign(new Error(`${path} is not a directory`), { code: 'ENOTDIR' });
  }
  const parent = dirname(path);
  if (parent !== path) makeDirectory(parent, mode);
  mkdirSync(path, { mode });
}
