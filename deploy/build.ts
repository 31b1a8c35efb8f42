// Builds `dist/` of the package: compiled JavaScript, and the files that the gateway reads at run time.

import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const [src, dist] = [join(ROOT, 'src'), join(ROOT, 'dist')];
const READ_AT_RUN_TIME = /\.(json|m?js|css|php|svg)$/;

rmSync(dist, { recursive: true, force: true });
execFileSync(
  process.execPath,
  [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', join(ROOT, 'tsconfig.build.json')],
  { stdio: 'inherit' },
);
for (const name of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
  if (READ_AT_RUN_TIME.test(name)) cpSync(join(src, name), join(dist, name));
}
chmodSync(join(dist, 'main.js'), 0o755);
