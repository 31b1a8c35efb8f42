// Compiles the gateway as it is installed: stripping types at run time would add thirty megabytes that no
// operator has.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const CACHE = join(ROOT, '.cache');

/** Builds `dist/`, and gateway.ts to run with it. Returns the path of gateway.ts's script. */
export function buildGateway(): string {
  execFileSync(process.execPath, [join(ROOT, 'deploy/build.ts')], { stdio: 'inherit' });
  const script = stripTypeScriptTypes(readFileSync(new URL('./gateway.ts', import.meta.url), 'utf8'));
  mkdirSync(CACHE, { recursive: true });
  const file = join(CACHE, 'bench-gateway.mjs');
  writeFileSync(file, script.replace(/'\.\.\/\.\.\/src\/(.*)\.ts'/g, "'../dist/$1.js'"));
  return file;
}
