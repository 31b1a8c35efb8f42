// The folders of the sandbox, and the version of WordPress.

import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder `sandbox/`. */
export const SANDBOX_ROOT: string = dirname(fileURLToPath(import.meta.url));

/** The Payload site, with packages of its own. */
export const PAYLOAD_ROOT: string = join(SANDBOX_ROOT, 'payload');

/** The root of the project. */
export const PROJECT_ROOT: string = dirname(SANDBOX_ROOT);

/** PHP sources that the sandbox puts into a site or runs. */
export const PHP_SOURCES: string = join(SANDBOX_ROOT, 'php');

/** The npm package that carries WordPress, its SQLite integration and WP-CLI. */
export const WORDPRESS_PACKAGE = {
  spec: 'wp-studio@1.22.0',
  file: 'wp-studio-1.22.0.tgz',
  wordpress: '7.1.1',
  bytes: 67_324_190,
  integrity: 'sha512-boMtahkhgWDKKyNTBA1uTK5ghnAmxXhDY6KeQCO9FmcI3/o+YOSq8JwYW5ZYnxHCxH14Jf/mD6CJTBvTWl2Ytw==',
};

/** The cache folder: `.cache/` of the project, or the folder in `CALENDAR_SANDBOX_CACHE`. */
export function cacheRoot(): string {
  return resolve(PROJECT_ROOT, process.env.CALENDAR_SANDBOX_CACHE ?? '.cache');
}

/** The default data folder of a site. */
export function defaultDataDir(cms: 'wordpress' | 'payload'): string {
  return join(PROJECT_ROOT, cms === 'wordpress' ? '.sandbox' : '.sandbox-payload');
}
