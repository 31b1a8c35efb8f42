// `npm run build:client`: generates the types of the API from its OpenAPI document and compiles the client to
// `dist/client/`.

import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DEFAULTS, NAMESPACE } from '../src/config-schema.ts';
import { LOGINS } from '../src/http/headers.ts';
import { openApi } from '../src/interface/openapi.ts';

const HERE = import.meta.dirname;
const ROOT = resolve(HERE, '..');
const document = join(HERE, 'openapi.json');
const types = join(HERE, 'api.ts');

const run = (command: string, args: string[], cwd: string) =>
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });

const context = { title: 'Calendar', perPage: DEFAULTS.lists.perPage, login: LOGINS.wordpress };
writeFileSync(document, JSON.stringify(openApi({ ...context, serverUrl: `/${NAMESPACE}`, complete: true })));

run('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], HERE);
run(process.execPath, [join(HERE, 'node_modules/openapi-typescript/bin/cli.js'), document, '--output', types], ROOT);
rmSync(join(ROOT, 'dist/client'), { recursive: true, force: true });
run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', join(HERE, 'tsconfig.json')], ROOT);
