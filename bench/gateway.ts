// Starts what benchmarks measure: a real WordPress with a few hundred events, and the gateway in front of it
// as operators run it.

import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../sandbox/start.ts';
import { townCalendar, townToday } from '../sandbox/town/content.ts';
import { fillTown, wordPressUpload } from '../sandbox/town/fill.ts';
import { NODE_FLAGS } from '../src/node-flags.ts';
import type { LimitsOfTest } from '../test/gateway/process.ts';
import { basicAuth } from '../test/live/json-client.ts';
import { startGateway as startProcess } from '../test/start-gateway.ts';
import { SERVER_CORE, type Server } from './processes.ts';

/** The initial sync of the filled site. */
const READY_MS = 120_000;
/** Months from today whose town events fill the site: about four hundred events. */
const MONTHS = [0, 3, 6, 9];

/** Of all gateways: two in front of the same site send the same bytes and ETags. */
const PUBLIC_URL = 'http://calendar.example';

export interface Gateway extends Server {
  adminPort: number;
}

/**
 * Starts the built gateway with its default configuration, but without a rate limit: JSON log to a file, metrics,
 * limits. Waits for its initial sync.
 */
export async function startGateway(
  sandbox: Sandbox,
  dir: string,
  name: string,
  config: object = {},
  limits: LimitsOfTest = {},
): Promise<Gateway> {
  const { user, applicationPassword } = sandbox.credentials.admin;
  const profile = process.env.BENCH_PROFILE === name ? ['--cpu-prof', `--cpu-prof-dir=${dir}`] : [];
  const gateway = await startProcess({
    ...{ transport: 'process', cmsUrl: sandbox.url, service: { user, password: applicationPassword } },
    ...{ prefix: ['taskset', '-c', SERVER_CORE], flags: [...NODE_FLAGS, ...profile], entry: 'dist/main.js' },
    config: { publicUrl: PUBLIC_URL, limits: { requestsPerMinute: 1_000_000_000 }, ...config },
    limits,
    logFile: join(dir, `${name}.log`),
  });
  await gateway.untilReady(READY_MS);
  const { port, adminPort, child } = gateway;
  return { name, port, adminPort, pids: [child.pid!], stop: async () => void (await gateway.stop()) };
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
  const authorization = basicAuth(sandbox.credentials.admin);
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
