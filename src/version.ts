// The version of the gateway: `version` of package.json, such as `1.2.0`.

import { readFileSync } from 'node:fs';

export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
