// Loads a mapping: a bundled one by its name, or the operator's own by its path.

import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isMappingPath, readJsonFile } from '../config.ts';
import { ConfigError } from '../errors.ts';
import { compileMapping } from './compile.ts';
import type { Mapping } from './mapping.ts';
import type { CmsName } from './mapping-file.ts';

// The compiled file lies one folder deeper than its source.
const FOLDERS = ['../../mappings/', '../../../mappings/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

const mappingsFolder = FOLDERS.find((folder) => existsSync(folder))!;

/** Names of the bundled mappings, or of those for one CMS. */
export function mappingNames(cms?: CmsName): string[] {
  const files = readdirSync(mappingsFolder).filter((file) => file.endsWith('.json'));
  const names = files.map((file) => file.slice(0, -'.json'.length)).sort();
  return cms === undefined ? names : names.filter((name) => loadMapping(name).cms === cms);
}

/**
 * Loads and compiles a mapping by the name of a file in `mappings/`, or by a path.
 * @throws ConfigError with the file, the JSON pointer and the reason
 */
export function loadMapping(nameOrPath: string): Mapping {
  const isPath = isMappingPath(nameOrPath);
  const file = isPath ? nameOrPath : `${mappingsFolder}${nameOrPath}.json`;
  if (!existsSync(file))
    throw new ConfigError(
      `mapping ${nameOrPath}`,
      isPath ? 'there is no such file' : 'there is no mapping of this name',
      `The names are: ${mappingNames().join(', ')}; or give the path of your own file.`,
    );
  return compileMapping(readJsonFile(file, `mapping ${nameOrPath}`), nameOrPath);
}
