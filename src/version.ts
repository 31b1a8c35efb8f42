// The version of the gateway.

import { readFileSync } from 'node:fs';

/** `version` of package.json, such as `1.2.0`. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
