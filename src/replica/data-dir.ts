// The data directory: made for its owner alone, and what is wrong with it in words that an operator can act on.

import { chmodSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ConfigError } from '../errors.ts';
import { makeFolder } from '../files.ts';

/** The replica holds drafts and private records: no other user of the machine may read it. */
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * Makes the folder of `file` where there is none, and takes rights away from others: of the file and of everything whose name begins with
 * its name, and of the folder when nothing else is in it. Returns what was changed.
 * @throws ConfigError where the folder cannot be made or read
 */
export function makePrivate(file: string): string[] {
  const folder = dirname(file);
  let names: string[];
  try {
    makeFolder(folder, DIRECTORY_MODE);
    names = readdirSync(folder);
  } catch (error) {
    throw unusable(file, error);
  }
  const own = names.filter((name) => name.startsWith(basename(file)));
  const tightened = own.map((name) => join(folder, name)).filter((path) => tighten(path, FILE_MODE));
  // The gateway does not change the mode of a folder that holds other files too.
  if (own.length === names.length && tighten(folder, DIRECTORY_MODE)) tightened.push(folder);
  return tightened;
}

function tighten(path: string, mode: number): boolean {
  try {
    const before = statSync(path).mode & 0o777;
    if ((before & ~mode) === 0) return false;
    chmodSync(path, before & mode);
    return true;
  } catch {
    // It belongs to another user, or is a mount: whether it can be used at all shows when it is opened.
    return false;
  }
}

const CANNOT_OPEN = 14;
const READ_ONLY = 8;
const FULL = 13;

/** Why the replica's file cannot be used: an error of the file system or of SQLite, with what the operator can do about it. */
export function unusable(file: string, error: unknown): Error {
  if (error instanceof ConfigError) return error;
  const { code, errcode, message } = error as { code?: string; errcode?: number; message?: string };
  const sqlite = errcode === undefined ? undefined : errcode & 0xff;
  const folder = dirname(file);
  const place = 'dataDir (CALENDAR_DATA_DIR)';
  const user = process.getuid === undefined ? 'this user' : `the user with id ${process.getuid()}`;
  if (code === 'EEXIST' || code === 'ENOTDIR')
    return new ConfigError(place, `${folder} is a file, or lies below one`, 'Name a directory.');
  if (code === 'EROFS')
    return new ConfigError(place, `${folder} is on a read-only file system`, 'Name a directory that can be written.');
  if (code === 'EISDIR')
    return new ConfigError(place, `${file} is a directory`, 'Remove it, or name another directory.');
  if (code === 'ENOSPC' || code === 'EDQUOT' || sqlite === FULL)
    return new ConfigError(place, `the disk of ${folder} is full`, 'Make room, or name a directory on another disk.');
  if (code === 'EMFILE' || code === 'ENFILE')
    return new ConfigError(place, `${file} cannot be opened: too many files are open`, 'Raise the limit (ulimit -n).');
  if (code === 'EACCES' || code === 'EPERM' || code === 'ENOENT' || sqlite === CANNOT_OPEN || sqlite === READ_ONLY)
    return new ConfigError(
      place,
      `${user} may not write ${file} (${sqlite === undefined ? code : message})`,
      `Give ${folder} to that user (chown, chmod u+rwx), or name a directory that the user may write.`,
    );
  return new ConfigError(place, `${file} cannot be used: ${message}`, 'Name another directory.');
}
