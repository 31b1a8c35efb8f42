// The files that `init` leaves behind: configuration, mapping, secrets, and the PHP for the site.

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '../errors.ts';
import { makeFolder } from '../files.ts';

export interface OutFile {
  name: string;
  text: string;
  /** Holds secrets: for its owner alone. */
  secret?: boolean;
}

const SECRET_MODE = 0o600;

/** Puts the files into the folder, which is made. Throws `ConfigError` when one is there already, unless `force`; then nothing is written. */
export function writeFiles(folder: string, files: readonly OutFile[], force: boolean): string[] {
  const taken = files.filter(({ name }) => existsSync(join(folder, name)));
  if (taken.length > 0 && !force)
    throw new ConfigError(
      folder,
      `${taken.map(({ name }) => name).join(', ')} ${taken.length > 1 ? 'are' : 'is'} there already`,
      'Name another folder with --out, or overwrite with --force.',
    );
  try {
    makeFolder(resolve(folder));
    return files.map(({ name, text, secret }) => {
      const file = join(resolve(folder), name);
      // An existing file would keep its mode, and other processes may have it open: replace a secret one with a new file.
      if (secret) rmSync(file, { force: true });
      writeFileSync(file, text, secret ? { mode: SECRET_MODE, flag: 'wx' } : {});
      return file;
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ConfigError(folder, `cannot be written (${code ?? message})`, 'Name another folder with --out.');
  }
}

/** An environment file that sh, systemd, compose and `node --env-file` all read. */
export function environmentText(values: Record<string, string | undefined>): string {
  const lines = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${escaped(name, value)}"`],
  );
  return `${lines.join('\n')}\n`;
}

function escaped(name: string, value: string): string {
  if (/["\\$`\n]/.test(value))
    throw new ConfigError(
      name,
      'holds a quotation mark, backslash, dollar or line end',
      'An application password has none; set this one in the environment yourself.',
    );
  return value;
}

/** A file's text: indented, for somebody who goes on to edit it. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
