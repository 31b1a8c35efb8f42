// Folders for what the gateway writes.

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it, where there is none. Node's own `recursive` never returns where the file system takes no folders
 * and says that a parent is missing, as `/proc` does.
 * @param mode of the folders that are made
 * @throws what the file system says; `ENOTDIR` for a file
 */
export function makeFolder(folder: string, mode = 0o777): void {
  if (existsSync(folder)) {
    if (statSync(folder).isDirectory()) return;
    throw Object.assign(new Error(`${folder} is not a directory`), { code: 'ENOTDIR' });
  }
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent, mode);
  mkdirSync(folder, { mode });
}
