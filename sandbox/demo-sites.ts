// The sites of `npm run demo`: a WordPress or a Payload with what the gateway in front of it needs.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from './paths.ts';
import { startPayload } from './payload-site.ts';
import { run } from './processes.ts';
import type { Progress } from './progress.ts';
import { type PhpRuntime, startSandbox } from './start.ts';
import { type Town, townCalendar, townToday } from './town/content.ts';
import { fillTown, payloadUpload } from './town/fill.ts';
import { seedOf } from './town/seed.ts';

export const DEMO_CMS = ['wordpress', 'payload'] as const;
export type DemoCms = (typeof DEMO_CMS)[number];

export interface DemoSiteOptions {
  dir: string;
  fresh: boolean;
  phpRuntime: PhpRuntime | undefined;
  /** Where the site sends webhooks. */
  webhook: { url: string; secret: string };
  onProgress: Progress;
}

export interface DemoSite {
  name: string;
  url: string;
  dataDir: string;
  /** Settles when the site has exited, for whatever reason. */
  ended: Promise<void>;
  stop(): Promise<void>;
  mapping: string;
  /** The gateway's account. */
  service: { user: string; password: string };
  /** The gateway's configuration. */
  config: object;
  /** Webhooks tell the gateway of changes; polls only find what they miss. */
  pollIntervalS: number;
  /** Fills the calendar through the gateway, if that is not done yet. */
  fill(calendar: string): Promise<void>;
  /** How to log in, for the text at the start. */
  loginLines: string[];
  /** The option of curl by which an editor logs in. */
  curlLogin: string;
  /** What is special about this start. */
  note: string;
}

/** WordPress on WebAssembly answers one request at a time, each in about a second. */
const WASM_CONFIG = { upstream: { limits: { connections: 2, deadlineMs: 90_000 } } };

/** Starts the site. @throws Error if that fails */
export const startDemoSite = (cms: DemoCms, options: DemoSiteOptions): Promise<DemoSite> =>
  cms === 'payload' ? startPayloadDemo(options) : startWordPressDemo(options);

const town = (): Town => townCalendar(townToday());

async function startWordPressDemo({ webhook, phpRuntime, ...options }: DemoSiteOptions): Promise<DemoSite> {
  const main = join(PROJECT_ROOT, 'src/main.ts');
  const webhookOptions = ['--webhook-url', webhook.url, `--webhook-secret=${webhook.secret}`];
  const plugin = await run([process.execPath, main, 'plugin', '--mapping', 'wordpress-meta', ...webhookOptions]);
  const sandbox = await startSandbox({
    ...options,
    seed: seedOf(town()),
    mapping: false, // installed here, with webhooks
    muPlugins: { 'calendar-gateway-companion.php': plugin },
    ...(phpRuntime === undefined ? {} : { phpRuntime }),
  });
  const { admin, editor } = sandbox.credentials;
  const isWasm = sandbox.phpRuntime === 'wasm';
  return {
    name: 'WordPress',
    ...{ url: sandbox.url, dataDir: sandbox.dataDir, ended: sandbox.ended, stop: () => sandbox.stop() },
    mapping: 'wordpress-meta',
    service: { user: admin.user, password: admin.applicationPassword },
    config: isWasm ? WASM_CONFIG : {},
    // On WebAssembly each poll costs seconds of CPU time.
    pollIntervalS: isWasm ? 300 : 10,
    fill: async () => {}, // by the seed, in one run of PHP
    loginLines: [
      `wp-admin             ${sandbox.url}/wp-admin/`,
      `                     user ${admin.user}, password ${admin.password}`,
    ],
    curlLogin: `-u '${editor.user}:${editor.applicationPassword}'`, // letters, digits and blanks
    note: isWasm ? 'PHP runs as WebAssembly: the first responses are slow' : 'PHP runs natively',
  };
}

/** The bundled mapping with the name of the calendar, which Payload does not know. */
function writeMapping(dataDir: string): string {
  const bundled = JSON.parse(readFileSync(join(PROJECT_ROOT, 'mappings/payload.json'), 'utf8')) as { payload: object };
  const file = join(dataDir, 'mapping.json');
  writeFileSync(file, JSON.stringify({ ...bundled, payload: { ...bundled.payload, name: 'Harbour Town Calendar' } }));
  return file;
}

async function startPayloadDemo({ webhook, phpRuntime: _, ...options }: DemoSiteOptions): Promise<DemoSite> {
  const payload = await startPayload({ ...options, webhook });
  const { admin, editor } = payload.credentials;
  const { url, dataDir, ended, stop } = payload;
  const authorization = `users API-Key ${admin.apiKey}`;
  return {
    name: 'Payload',
    ...{ url, dataDir, ended, stop },
    mapping: writeMapping(dataDir),
    service: { user: 'users', password: admin.apiKey },
    config: {},
    pollIntervalS: 10,
    async fill(calendar) {
      const { total } = (await (await fetch(`${calendar}/events`)).json()) as { total: number };
      if (total > 0) return;
      await fillTown(town(), {
        ...{ calendar, authorization, upload: payloadUpload(url, authorization), parallel: 4 },
        onProgress: (phase, done, count) => options.onProgress(`filling in ${phase}`, done / count),
      });
    },
    loginLines: [
      `Payload's REST API   ${url}/api`,
      `                     Authorization: ${authorization} (admin), users API-Key ${editor.apiKey} (editor)`,
    ],
    curlLogin: `-H 'Authorization: users API-Key ${editor.apiKey}'`,
    note: 'Payload runs without its admin panel, on SQLite',
  };
}
