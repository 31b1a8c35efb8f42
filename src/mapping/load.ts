// Finds a mapping: by its name among those that come with the gateway, or by the path of a file.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ConfigError, unreadable } from '../errors.ts';
import { compileMapping } from './compile.ts';
import type { Mapping } from './mapping.ts';

// The folder is found from here upwards, since the compiled file lies deeper than its source.
const FOLDERS = ['../../mappings/', '../../../mappings/'].map((step) => fileURLToPath(new URL(step, import.meta.url)));

/** The folder of the mappings that come with the gateway. */
const mappingsFolder = FOLDERS.find((folder) => existsSync(folder)) ?? (FOLDERS[0] as string);

/** Names of the mappings that come with the gateway. */
export function mappingNames(): string[] {
  return existsSync(mappingsFolder)
    ? readdirSync(mappingsFolder)
        .filter((file) => file.endsWith('.json'))
        .map((file) => file.slice(0, -'.json'.length))
        .sort()
    : [];
}

/**
 * Loads and compiles a mapping: a name in `mappings/`, or a path (anything with a slash or ending in `.json`).
 * Throws `ConfigError` with the file, the JSON path and the reason.
 */
export function loadMapping(nameOrPath: string): Mapping {
  const isPath = /[\\/]|\.json$/.test(nameOrPath);
  const file = isPath ? nameOrPath : `${mappingsFolder}${nameOrPath}.json`;
  if (!existsSync(file))
    throw new ConfigError(
      `mapping ${nameOrPath}`,
      isPath ? 'there is no such file' : 'there is no mapping of this name',
      `The names are: ${mappingNames().join(', ')}; or give the path of your own file.`,
    );
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw unreadable(`mapping ${nameOrPath}`, error);
  }
  return compileMapping(json, nameOrPath);
}
