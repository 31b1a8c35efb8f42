// Creates directories for the files that the gateway writes.

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a directory and its missing parents. Node's `recursive: true` loops forever on file systems that reject directories with ENOENT,
 * as `/proc` does.
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
