// `node test/live/package.ts`: installs the packed gateway in an empty folder and serves a real WordPress with it.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startSandbox } from '../../sandbox/start.ts';
import { freePorts } from '../free-port.ts';
import { scriptOptions } from '../script-options.ts';
import { ROOT, sendRequest } from '../start-gateway.ts';
import { until } from '../until.ts';

scriptOptions(
  `node test/live/package.ts

Packs the gateway, installs it with npm in an empty folder, and serves a new WordPress with it. The first run downloads WordPress (64 MB). Takes a minute.`,
  {},
);

const START_MS = 30_000;
const folder = mkdtempSync(join(tmpdir(), 'calendar-package-'));
const site = mkdtempSync(join(tmpdir(), 'calendar-site-'));
// The project's own Node is first on the path, as in its npm scripts.
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
const inFolder = { cwd: folder, env, encoding: 'utf8' } as const;
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
let passed = 0;
const holds = (what: string, condition: boolean) => {
  assert.ok(condition, what);
  passed++;
};

execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { ...inFolder, cwd: ROOT });
const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
execFileSync('npm', ['init', '-y', '--silent'], inFolder);
execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', join(folder, tarball)], inFolder);
const bin = join(folder, 'node_modules/.bin/calendar-gateway');
const packed = execFileSync('tar', ['-tzf', tarball], inFolder).split('\n');
const unwanted = /^package\/(bench|test|sandbox)\/|\.ts$/;
// The client has types; the gateway is a program, which `plugin` prints a file of for Payload sites.
const wanted = /^package\/(dist\/client\/.*\.d|examples\/payload\/calendar-gateway)\.ts$/;
const surplus = packed.filter((file) => unwanted.test(file) && !wanted.test(file));
assert.deepEqual(surplus, [], 'the package has sources, benchmarks or types');
holds('--version', execFileSync(bin, ['--version'], inFolder) === `${version}\n`);
holds('the first line works in BusyBox', readFileSync(bin, 'utf8').startsWith('#!/usr/bin/env node\n'));
holds('--help names the commands', /serve[\s\S]*plugin/.test(execFileSync(bin, ['--help'], inFolder)));
holds('plugin prints PHP', execFileSync(bin, ['plugin', '--mapping', 'wordpress-meta'], inFolder).startsWith('<?php'));
holds(
  'plugin prints TypeScript for Payload',
  execFileSync(bin, ['plugin', '--mapping', 'payload'], inFolder).includes('export const calendarGateway'),
);
const client = "import('calendar-gateway/client').then((it) => console.log(typeof it.createCalendarClient))";
holds('exports the client', execFileSync(process.execPath, ['-e', client], inFolder).trim() === 'function');
holds('has the types of the client', existsSync(join(folder, 'node_modules/calendar-gateway/dist/client/api.d.ts')));

const sandbox = await startSandbox({ dir: site, port: 0, fresh: true });
try {
  const [port, adminPort] = await freePorts();
  const settings = {
    CALENDAR_UPSTREAM_URL: sandbox.url,
    CALENDAR_HOST: '127.0.0.1',
    CALENDAR_PORT: String(port),
    CALENDAR_ADMIN_PORT: String(adminPort),
  };
  const gateway = spawn(bin, ['serve'], { cwd: folder, env: { ...env, ...settings }, stdio: 'ignore' });
  try {
    const url = `http://127.0.0.1:${port}`;
    await until(
      async () => (await sendRequest(adminPort, '/ready').catch(() => undefined))?.status === 200,
      'the gateway is ready',
      START_MS,
    );
    for (const path of ['/calendar/events/v1', '/calendar/events/v1/events', '/calendar/events/v1/doc', '/', '/docs']) {
      holds(path, (await fetch(url + path)).status === 200);
    }
    const page = await (await fetch(`${url}/`)).text();
    const assets = [...page.matchAll(/(?:src|href)="(-\/assets\/[^"]+)"/g)].map(([, path]) => path);
    holds('the landing page names its parts', assets.length > 3);
    for (const path of assets) holds(String(path), (await fetch(`${url}/${path}`)).status === 200);
  } finally {
    gateway.kill('SIGTERM');
    if (gateway.exitCode === null) await once(gateway, 'exit');
  }
  holds('exits with 0 on SIGTERM', gateway.exitCode === 0);
} finally {
  await sandbox.stop();
  for (const dir of [folder, site]) rmSync(dir, { recursive: true, force: true });
}
console.log(`${passed} passed, 0 failed`);
