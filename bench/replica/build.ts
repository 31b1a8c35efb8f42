// Compiles the gateway as it is installed: stripping types at run time would add thirty megabytes that no
// operator has.

import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const OUT = join(ROOT, '.cache/bench-replica');

/** Compiles the gateway and gateway.ts. Returns the path of the script of gateway.ts. */
export function buildGateway(): string {
  rmSync(OUT, { recursive: true, force: true });
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', join(ROOT, 'tsconfig.build.json'), '--outDir', OUT], { stdio: 'inherit' });
  const src = join(ROOT, 'src');
  for (const name of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (/\.(json|mjs|css|html|svg)$/.test(name)) cpSync(join(src, name), join(OUT, name));
  }
  const script = stripTypeScriptTypes(readFileSync(new URL('./gateway.ts', import.meta.url), 'utf8'));
  const file = join(OUT, 'bench-gateway.js');
  writeFileSync(file, script.replace(/'\.\.\/\.\.\/src\/(.*)\.ts'/g, "'./$1.js'"));
  return file;
}
