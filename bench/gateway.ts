// Starts what benchmarks measure: a real WordPress with a few hundred events, and the gateway in front of it
// as operators run it.

import { spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../sandbox/start.ts';
import { townCalendar, townToday } from '../sandbox/town/content.ts';
import { fillTown, wordPressUpload } from '../sandbox/town/fill.ts';
import { NODE_FLAGS } from '../src/node-flags.ts';
import { freePort } from '../test/free-port.ts';
import { endProcess, SERVER_CORE, type Server } from './processes.ts';

const ROOT = resolve(import.meta.dirname, '..');
/** Months from today whose town events fill the site: about four hundred events. */
const MONTHS = [0, 3, 6, 9];

export interface Gateway extends Server {
  adminPort: number;
}

/**
 * Starts the gateway with its default configuration, but without a rate limit: JSON log to a file, metrics,
 * limits.
 */
export async function startGateway(sandbox: Sandbox, dir: string, name: string, config: object = {}): Promise<Gateway> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const file = join(dir, `${name}.json`);
  writeFileSync(file, JSON.stringify({ limits: { requestsPerMinute: 1_000_000_000 }, ...config }));
  const log = openSync(join(dir, `${name}.log`), 'w');
  const { user, applicationPassword } = sandbox.credentials.admin;
  const environment = Object.entries(process.env).filter(([key]) => !key.startsWith('CALENDAR_'));
  const profile = process.env.BENCH_PROFILE === name ? ['--cpu-prof', `--cpu-prof-dir=${dir}`] : [];
  const child = spawn(
    'taskset',
    ['-c', SERVER_CORE, process.execPath, ...NODE_FLAGS, ...profile, 'dist/main.js', 'serve', '--config', file],
    {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', log],
      env: {
        ...Object.fromEntries(environment),
        CALENDAR_UPSTREAM_URL: sandbox.url,
        CALENDAR_UPSTREAM_USER: user,
        CALENDAR_UPSTREAM_PASSWORD: applicationPassword,
        CALENDAR_HOST: '127.0.0.1',
        CALENDAR_PORT: String(port),
        CALENDAR_ADMIN_PORT: String(adminPort),
      },
    },
  );
  closeSync(log);
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${adminPort}/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) break;
    if (child.exitCode !== null) throw new Error(`the gateway ended: see ${name}.log in ${dir}`);
    await pause(100);
  }
  return { name, port, adminPort, pids: [child.pid!], stop: () => endProcess(child) };
}

/** Starts a site in `dir` and fills it if it is new. */
export async function filledSandbox(dir: string, log: (text: string) => void): Promise<Sandbox> {
  const sandbox = await startSandbox({ dir: join(dir, 'site'), port: 0, quiet: true });
  const known = await fetch(`${sandbox.url}/wp-json/wp/v2/events?per_page=1`);
  if (Number(known.headers.get('x-wp-total')) > 0) return sandbox;
  const gateway = await startGateway(sandbox, dir, 'filling');
  const today = townToday();
  const town = townCalendar(today);
  town.events = MONTHS.flatMap((months) =>
    townCalendar(today.add({ months })).events.map((event) => ({
      ...event,
      body: { ...event.body, status: 'publish' },
    })),
  );
  const { user, applicationPassword } = sandbox.credentials.admin;
  const authorization = `Basic ${Buffer.from(`${user}:${applicationPassword}`).toString('base64')}`;
  await fillTown(town, {
    calendar: `http://127.0.0.1:${gateway.port}/calendar/events/v1`,
    ...{ authorization, upload: wordPressUpload(sandbox.url, authorization) },
    parallel: 4,
    onProgress: (phase, done, total) => {
      if (done === total) log(`filled in ${total} ${phase}`);
    },
  });
  await gateway.stop();
  return sandbox;
}

/** Number of a gateway's calls to the CMS so far, including retries. */
export async function cmsRequests(gateway: Gateway): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`)).text();
  return [...text.matchAll(/^calendar_cms_call_seconds_count\S* (\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
}
