// `npm run demo`: starts a real WordPress with a town's calendar and the gateway in front of it.

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PROJECT_ROOT } from './paths.ts';
import { run } from './processes.ts';
import { printProgress } from './progress.ts';
import { type PhpRuntime, type Sandbox, startSandbox } from './start.ts';
import { townCalendar, townToday } from './town/content.ts';
import { freePortFrom, logTail, startDemoGateway } from './town/gateway.ts';
import { seedOf } from './town/seed.ts';

const HELP = `npm run demo -- [options]

Starts a real WordPress with a town's calendar (about a hundred events, with pictures, venues and organizers), and the gateway in front of it;
then prints their addresses, passwords and requests to try. The first start downloads WordPress from npm (64 MB, and 200 MB more for PHP as
WebAssembly, if this machine has no suitable php) and fills the calendar; later starts keep the data and take seconds. Everything listens on
127.0.0.1 only and lives in the data folder and in .cache/. Ctrl-C stops it.

  --fresh     start over: remove what an earlier start left
  --native    run WordPress with the php of this machine: 8.1 or newer with pdo_sqlite (the default if it is there)
  --wasm      run it with PHP as WebAssembly, which needs only npm and is slower
  --port N    the gateway's port (default: the last one, or 3000, or the next free one)
  --dir DIR   the data folder (default: .demo)
  --help      this
`;

const NATIVE_PATH = '/calendar/events/v1';
const SECOND_MOUNT = '/wp-json/tribe/events/v1';
/** Webhooks tell the gateway of changes; polls only find what they miss. On WebAssembly each poll costs seconds of CPU time. */
const POLL_INTERVAL_S: Record<PhpRuntime, string> = { native: '10', wasm: '300' };
/** WordPress on WebAssembly answers one request at a time, each in about a second. */
const WASM_CONFIG = {
  upstream: { limits: { connections: 2, headersTimeoutMs: 60_000, deadlineMs: 90_000 } },
  limits: { requestTimeoutMs: 120_000 },
};

const RESTART_HINT = 'npm run demo starts both again with the same data; npm run demo -- --fresh starts over.';

/** What the demo keeps between starts, in the site's folder. */
interface DemoState {
  port: number;
  adminPort: number;
  webhookSecret: string;
  /** With another address the gateway's replica is useless. */
  siteUrl: string;
}

interface Options {
  dir: string;
  fresh: boolean;
  phpRuntime: PhpRuntime | undefined;
  port: number | undefined;
}

function optionsFrom(argv: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      fresh: { type: 'boolean', default: false },
      native: { type: 'boolean', default: false },
      wasm: { type: 'boolean', default: false },
      port: { type: 'string' },
      dir: { type: 'string', default: join(PROJECT_ROOT, '.demo') },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  if (values.native && values.wasm) throw new Error('--native and --wasm exclude each other');
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65536)) {
    throw new Error(`--port must be a number from 1 to 65535, not "${values.port}"`);
  }
  return {
    dir: values.dir,
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

function startupText(sandbox: Sandbox, url: string, adminUrl: string): string {
  const { admin, editor } = sandbox.credentials;
  const calendar = `${url}${NATIVE_PATH}`;
  const login = `'${editor.user}:${editor.applicationPassword}'`; // letters, digits and blanks
  return `
  API                  ${calendar}/events
  Documentation        ${url}/docs
  Landing page         ${url}/
  Second mount         ${url}${SECOND_MOUNT}/events
  For operators        ${adminUrl}/status

  wp-admin             ${sandbox.url}/wp-admin/
                       user ${admin.user}, password ${admin.password}

Try:

curl '${calendar}/events?per_page=5'

curl '${calendar}/events?categories=concerts&start_date=today&end_date=%2B6+months'

curl -u ${login} '${calendar}/events' -d title='Soup on the pier' -d status=publish -d start_date='tomorrow 18:00' -d end_date='tomorrow 20:00'

PHP runs ${sandbox.phpRuntime === 'native' ? 'natively' : 'as WebAssembly: the first responses are slow'}; the data folder is ${sandbox.dataDir}
Ctrl-C stops it; npm run demo starts it again with the same data, npm run demo -- --fresh starts over.

`;
}

async function demo(options: Options, stops: (() => Promise<void>)[]): Promise<void> {
  const previous = options.fresh ? undefined : readDemoState(options.dir);
  const port = await freePortFrom(options.port ?? previous?.port ?? 3000);
  if (options.port !== undefined && port !== options.port) throw new Error(`port ${options.port} is in use`);
  const adminPort = await freePortFrom(previous?.adminPort ?? port + 1, port);
  const [url, adminUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`];
  const webhookSecret = previous?.webhookSecret ?? randomBytes(24).toString('base64url');
  const webhook = ['--webhook-url', `${adminUrl}/-/changes`, '--webhook-secret', webhookSecret];
  const main = join(PROJECT_ROOT, 'src/main.ts');
  const companionPlugin = await run([process.execPath, main, 'plugin', '--mapping', 'wordpress-meta', ...webhook]);

  const sandbox = await startSandbox({
    dir: options.dir,
    fresh: options.fresh,
    seed: seedOf(townCalendar(townToday())),
    mapping: false, // installed below, with webhooks
    muPlugins: { 'calendar-gateway-companion.php': companionPlugin },
    onProgress: progress,
    ...(options.phpRuntime === undefined ? {} : { phpRuntime: options.phpRuntime }),
  });
  stops.unshift(() => sandbox.stop());
  const { dataDir } = sandbox;
  const replicaDir = join(dataDir, 'gateway');
  if (previous?.siteUrl !== sandbox.url) rmSync(replicaDir, { recursive: true, force: true });
  writeDemoState(dataDir, { port, adminPort, webhookSecret, siteUrl: sandbox.url });

  progress('starting the gateway');
  const configFile = join(dataDir, 'gateway.json');
  writeFileSync(configFile, JSON.stringify(sandbox.phpRuntime === 'wasm' ? WASM_CONFIG : {}));
  const log = join(dataDir, 'gateway.log');
  const gateway = await startDemoGateway(
    sandbox,
    { port, adminPort, configFile, logFile: log },
    {
      CALENDAR_DATA_DIR: replicaDir,
      CALENDAR_MOUNTS: SECOND_MOUNT,
      CALENDAR_SYNC_INTERVAL: POLL_INTERVAL_S[sandbox.phpRuntime],
      CALENDAR_WEBHOOK_SECRET: webhookSecret,
    },
    (percent) => progress('initial sync', Math.min(percent, 99) / 100),
  );
  progress('initial sync', 1);
  stops.unshift(() => gateway.stop());

  process.stdout.write(startupText(sandbox, url, adminUrl));
  const reason = await Promise.race([
    sandbox.ended.then(() => `WordPress exited:\n${logTail(join(dataDir, 'server.log'))}`),
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
