// `npm run demo`: starts a real CMS with a town's calendar and the gateway in front of it.

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Temporal } from 'temporal-polyfill';
import { startDemoFeeds } from './demo-feeds.ts';
import { DEMO_CMS, type DemoCms, type DemoSite, startDemoSite } from './demo-sites.ts';
import { PROJECT_ROOT } from './paths.ts';
import { printProgress } from './progress.ts';
import type { PhpRuntime } from './start.ts';
import { townToday } from './town/content.ts';
import { freePortFrom, logTail, startDemoGateway } from './town/gateway.ts';

const HELP = `npm run demo -- [options]

Starts a real CMS with a town's calendar (about a hundred events, with pictures, venues and organizers), and the gateway in front of it;
then prints their addresses, passwords and requests to try. The first start downloads WordPress from npm (64 MB, and 200 MB more for PHP as
WebAssembly, if this machine has no suitable php), or Payload (350 MB on disk), and fills the calendar; later starts keep the data and take
seconds. Everything listens on 127.0.0.1 only and lives in the data folder, in .cache/ and in sandbox/. Ctrl-C stops it.

  --cms NAME  wordpress (default) or payload
  --sources   also serve the iCalendar files of three neighbours, one of whose events the town has too
  --fresh     start over: remove what an earlier start left
  --native    run WordPress with the php of this machine: 8.1 or newer with pdo_sqlite (the default if it is there)
  --wasm      run it with PHP as WebAssembly, which needs only npm and is slower
  --port N    the gateway's port (default: the last one, or 3000, or the next free one)
  --dir DIR   the data folder (default: .demo or .demo-payload)
  --help      this
`;

const NATIVE_PATH = '/calendar/events/v1';
const SECOND_MOUNT = '/wp-json/tribe/events/v1';
const RESTART_HINT = 'The same command starts both again with the same data; with --fresh it starts over.';

/** What the demo keeps between starts, in the site's folder. */
interface DemoState {
  port: number;
  adminPort: number;
  webhookSecret: string;
  /** With another address the gateway's replica is useless. */
  siteUrl: string;
  /** When the calendar was made; absent in a folder of an earlier version. */
  firstDay?: string;
}

interface Options {
  cms: DemoCms;
  dir: string;
  sources: boolean;
  fresh: boolean;
  phpRuntime: PhpRuntime | undefined;
  port: number | undefined;
}

function optionsFrom(argv: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      cms: { type: 'string', default: 'wordpress' },
      sources: { type: 'boolean', default: false },
      fresh: { type: 'boolean', default: false },
      native: { type: 'boolean', default: false },
      wasm: { type: 'boolean', default: false },
      port: { type: 'string' },
      dir: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const cms = DEMO_CMS.find((name) => name === values.cms);
  if (cms === undefined) throw new Error(`--cms is ${DEMO_CMS.join(' or ')}, not "${values.cms}"`);
  if (cms === 'payload' && (values.native || values.wasm)) throw new Error('--native and --wasm are for WordPress');
  if (values.native && values.wasm) throw new Error('--native and --wasm exclude each other');
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65536)) {
    throw new Error(`--port must be a number from 1 to 65535, not "${values.port}"`);
  }
  return {
    cms,
    dir: values.dir ?? join(PROJECT_ROOT, cms === 'payload' ? '.demo-payload' : '.demo'),
    sources: values.sources,
    fresh: values.fresh,
    phpRuntime: values.native ? 'native' : values.wasm ? 'wasm' : undefined,
    port,
  };
}

const stateFile = (dir: string): string => join(dir, 'demo.json');

function readDemoState(dir: string): DemoState | undefined {
  const file = stateFile(dir);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DemoState) : undefined;
}

const writeDemoState = (dir: string, state: DemoState): void =>
  writeFileSync(stateFile(dir), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });

const progress = printProgress(process.stderr, 'demo');

function startupText(site: DemoSite, url: string, adminUrl: string, hasSources: boolean): string {
  const calendar = `${url}${NATIVE_PATH}`;
  return `
  API                  ${calendar}/events
  Documentation        ${url}/docs
  Landing page         ${url}/
  Second mount         ${url}${SECOND_MOUNT}/events
  For operators        ${adminUrl}/status

${site.loginLines.map((line) => `  ${line}`).join('\n')}

Try:

curl '${calendar}/events?per_page=5'

curl '${calendar}/events?categories=concerts&start_date=today&end_date=%2B6+months'

${hasSources ? sourcesText(calendar, adminUrl) : ''}curl ${site.curlLogin} '${calendar}/events' -d title='Soup on the pier' -d status=publish -d start_date='tomorrow 18:00' -d end_date='tomorrow 20:00'

${site.note}; the data folder is ${site.dataDir}
Ctrl-C stops it. ${RESTART_HINT}

`;
}

/** `also_at` of the event that the town and the sailing club have. */
const sourcesText = (calendar: string, adminUrl: string): string => `curl '${calendar}/events?source=library'

curl '${calendar}/events?source=sailing-club'

curl ${adminUrl}/status     # what each source has, and what was merged

`;

async function demo(options: Options, stops: (() => Promise<void>)[]): Promise<void> {
  const { cms, dir, sources, fresh, phpRuntime } = options;
  const previous = fresh ? undefined : readDemoState(dir);
  const port = await freePortFrom(options.port ?? previous?.port ?? 3000);
  if (options.port !== undefined && port !== options.port) throw new Error(`port ${options.port} is in use`);
  const adminPort = await freePortFrom(previous?.adminPort ?? port + 1, port);
  const [url, adminUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`];
  const webhookSecret = previous?.webhookSecret ?? randomBytes(24).toString('base64url');
  const webhook = { url: `${adminUrl}/-/changes`, secret: webhookSecret };

  const site = await startDemoSite(cms, { dir, fresh, phpRuntime, webhook, onProgress: progress });
  stops.unshift(() => site.stop());
  const { dataDir } = site;
  const replicaDir = join(dataDir, 'gateway');
  if (previous?.siteUrl !== site.url) rmSync(replicaDir, { recursive: true, force: true });
  const firstDay = previous?.firstDay ?? String(townToday());
  writeDemoState(dataDir, { port, adminPort, webhookSecret, siteUrl: site.url, firstDay });
  const feeds = sources ? await startDemoFeeds(Temporal.PlainDate.from(firstDay)) : undefined;
  if (feeds) stops.unshift(() => feeds.stop());

  progress('starting the gateway');
  const configFile = join(dataDir, 'gateway.json');
  writeFileSync(configFile, JSON.stringify({ ...site.config, ...feeds?.config }));
  const log = join(dataDir, 'gateway.log');
  const gateway = await startDemoGateway(
    site,
    { port, adminPort, configFile, logFile: log },
    {
      CALENDAR_DATA_DIR: replicaDir,
      CALENDAR_MOUNTS: SECOND_MOUNT,
      CALENDAR_SYNC_INTERVAL: String(site.pollIntervalS),
      CALENDAR_WEBHOOK_SECRET: webhookSecret,
    },
    (percent) => progress('initial sync', Math.min(percent, 99) / 100),
  );
  progress('initial sync', 1);
  stops.unshift(() => gateway.stop());
  await site.fill(`${url}${NATIVE_PATH}`);

  process.stdout.write(startupText(site, url, adminUrl, sources));
  const reason = await Promise.race([
    site.ended.then(() => `${site.name} exited:\n${logTail(join(dataDir, 'server.log'))}`),
    gateway.ended.then(() => `the gateway exited:\n${logTail(log)}`),
  ]);
  throw new Error(`${reason}\n${RESTART_HINT}`);
}

async function main(): Promise<void> {
  const options = optionsFrom(process.argv.slice(2));
  if (options === 'help') {
    process.stdout.write(HELP);
    return;
  }
  /** Stop functions, the last started first. What is still starting stops with this process. */
  const stops: (() => Promise<void>)[] = [];
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      for (const stopService of stops) await stopService();
    })();
    return stopping;
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stopping) return;
      process.stderr.write('\ndemo: stopping\n');
      void stop().then(() => process.exit(0));
    });
  }
  try {
    await demo(options, stops);
  } catch (error) {
    if (stopping) return;
    await stop();
    throw error;
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
