// `npm run demo`: a real WordPress, the gateway in front of it, a town's calendar in both, and where to look.

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PROJECT_ROOT } from './paths.ts';
import { run } from './processes.ts';
import { printedProgress } from './progress.ts';
import { type Sandbox, startSandbox, type Way } from './start.ts';
import { townCalendar, townToday } from './town/content.ts';
import { fillTown, requestsFor } from './town/fill.ts';
import { endOf, freePortFrom, startDemoGateway } from './town/gateway.ts';

const HELP = `npm run demo -- [options]: the gateway in front of a real WordPress with a town's calendar

  --fresh     start over: remove what an earlier start left
  --native    run WordPress by the php of this machine (taken by itself where one fits)
  --wasm      run it by PHP compiled to WebAssembly (needs nothing but npm)
  --port N    the gateway's port (default: the last one, else 3000 or the next free one)
  --dir DIR   the data folder (default: .demo)
  --help      this

The first start fills the calendar; later ones keep everything and take seconds. Ctrl-C ends it.
`;

const NATIVE_PATH = '/calendar/events/v1';
const SECOND_MOUNT = '/wp-json/tribe/events/v1';
const SECONDS_A_REQUEST: Record<Way, number> = { native: 0.13, wasm: 1.4 };
const PARALLEL: Record<Way, number> = { native: 4, wasm: 1 };
/** A WordPress on WebAssembly answers one request at a time and after most of a second: that is no failure of it. */
const PATIENCE = {
  upstream: { limits: { connections: 2, headersTimeoutMs: 60_000, deadlineMs: 90_000 } },
  limits: { requestTimeoutMs: 120_000 },
};

const AGAIN = 'npm run demo starts both again with the same data; npm run demo -- --fresh starts over.';

/** What a demo remembers from one start to the next. It is in the site's own folder and goes with the site. */
interface Memory {
  port: number;
  adminPort: number;
  noticeSecret: string;
  /** Where the site was: another address makes the gateway's copy worthless. */
  siteUrl: string;
  /** The calendar has been filled to its end. */
  filled: boolean;
}

interface Options {
  dir: string;
  fresh: boolean;
  way: Way | undefined;
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
    throw new Error(`--port is a number from 1 to 65535, not "${values.port}"`);
  }
  return {
    dir: values.dir,
    fresh: values.fresh,
    way: values.native ? 'native' : values.wasm ? 'wasm' : undefined,
    port,
  };
}

const memoryFile = (dir: string): string => join(dir, 'demo.json');

function readMemory(dir: string): Memory | undefined {
  const file = memoryFile(dir);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Memory) : undefined;
}

const keep = (dir: string, memory: Memory): void =>
  writeFileSync(memoryFile(dir), `${JSON.stringify(memory, null, 2)}\n`, { mode: 0o600 });

const say = printedProgress(process.stderr, 'demo');

/** A phase's counter: in place on a terminal, elsewhere its beginning and its end. */
function count(phase: string, done: number, total: number): void {
  const line = `demo: ${phase} ${done} of ${total}`;
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}${done === total ? '\n' : ''}`);
  else if (done === 0 || done === total) process.stderr.write(`${line}\n`);
}

const inWords = (seconds: number): string =>
  seconds < 90 ? `${Math.ceil(seconds / 10) * 10} seconds` : `${Math.round(seconds / 60)} minutes`;

async function fill(sandbox: Sandbox, calendar: string): Promise<void> {
  const town = townCalendar(townToday());
  const requests = requestsFor(town);
  say(`filling the calendar: ${requests} requests, about ${inWords(requests * SECONDS_A_REQUEST[sandbox.way])}`);
  const { user, applicationPassword } = sandbox.credentials.editor;
  await fillTown(town, {
    ...{ calendar, siteUrl: sandbox.url, user, applicationPassword },
    parallel: PARALLEL[sandbox.way],
    onProgress: count,
  });
}

function whereToLook(sandbox: Sandbox, url: string, adminUrl: string): string {
  const { admin, editor } = sandbox.credentials;
  const calendar = `${url}${NATIVE_PATH}`;
  const login = `'${editor.user}:${editor.applicationPassword}'`; // letters, digits and blanks
  return `
  The interface        ${calendar}/events
  Its documentation    ${url}/docs
  The landing page     ${url}/
  The second mount     ${url}${SECOND_MOUNT}/events
  For operators        ${adminUrl}/status

  wp-admin             ${sandbox.url}/wp-admin/
                       user ${admin.user}, password ${admin.password}

Three lines to paste:

curl '${calendar}/events?per_page=5'

curl '${calendar}/events?categories=concerts&start_date=today&end_date=%2B6+months'

curl -u ${login} '${calendar}/events' -d title='Soup on the pier' -d status=publish -d start_date='tomorrow 18:00' -d end_date='tomorrow 20:00'

PHP runs ${sandbox.way === 'native' ? 'natively' : 'as WebAssembly: the first answers take a while'}; the data are in ${sandbox.dataDir}
Ctrl-C ends it; npm run demo starts it again as it was, npm run demo -- --fresh starts over.

`;
}

async function demo(options: Options, ends: (() => Promise<void>)[]): Promise<void> {
  const before = options.fresh ? undefined : readMemory(options.dir);
  const interrupted = before?.filled === false;
  if (interrupted) say('the last first start did not come to its end: starting over');
  const port = await freePortFrom(options.port ?? before?.port ?? 3000);
  if (options.port !== undefined && port !== options.port) throw new Error(`port ${options.port} is in use`);
  const adminPort = await freePortFrom(before?.adminPort ?? port + 1, port);
  const [url, adminUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`];
  const noticeSecret = before?.noticeSecret ?? randomBytes(24).toString('base64url');
  const notices = ['--notice-url', `${adminUrl}/-/changes`, '--notice-secret', noticeSecret];
  const main = join(PROJECT_ROOT, 'src/main.ts');
  const snippet = await run([process.execPath, main, 'snippet', '--mapping', 'wordpress-meta', ...notices]);

  const sandbox = await startSandbox({
    dir: options.dir,
    fresh: options.fresh || interrupted,
    mapping: false, // its snippet comes with the change notices instead
    muPlugins: { 'calendar-gateway.php': snippet },
    onProgress: say,
    ...(options.way === undefined ? {} : { way: options.way }),
  });
  ends.unshift(() => sandbox.stop());
  const { dataDir } = sandbox;
  const copy = join(dataDir, 'gateway');
  if (before?.siteUrl !== sandbox.url) rmSync(copy, { recursive: true, force: true });
  const filled = before?.filled ?? false;
  const memory: Memory = { port, adminPort, noticeSecret, siteUrl: sandbox.url, filled };
  keep(dataDir, memory);

  say('starting the gateway');
  const patience = join(dataDir, 'gateway.json');
  writeFileSync(patience, JSON.stringify(sandbox.way === 'wasm' ? PATIENCE : {}));
  const log = join(dataDir, 'gateway.log');
  const gateway = await startDemoGateway(
    sandbox,
    { port, adminPort, configFile: patience, logFile: log },
    {
      CALENDAR_DATA_DIR: copy,
      CALENDAR_MOUNTS: SECOND_MOUNT,
      CALENDAR_SYNC_INTERVAL: '10',
      CALENDAR_NOTICE_SECRET: noticeSecret,
    },
    (percent) => say('the gateway copies the site', percent / 100),
  );
  ends.unshift(() => gateway.stop());

  const died = Promise.race([
    sandbox.ended.then(() => `WordPress ended by itself:\n${endOf(join(dataDir, 'server.log'))}\n${AGAIN}`),
    gateway.ended.then(() => `the gateway ended by itself:\n${endOf(log)}\n${AGAIN}`),
  ]).then((reason) => {
    throw new Error(reason);
  });
  died.catch(() => {}); // looked at below, and not before the calendar is filled
  if (!memory.filled || interrupted) {
    await Promise.race([fill(sandbox, `${url}${NATIVE_PATH}`), died]);
    keep(dataDir, { ...memory, filled: true });
  }
  process.stdout.write(whereToLook(sandbox, url, adminUrl));
  await died;
}

async function main(): Promise<void> {
  const options = optionsFrom(process.argv.slice(2));
  if (options === 'help') {
    process.stdout.write(HELP);
    return;
  }
  /** What has to be ended, the last one first; what still starts is ended with this process. */
  const ends: (() => Promise<void>)[] = [];
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      for (const end of ends) await end();
    })();
    return stopping;
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (stopping) return;
      process.stderr.write('\ndemo: ending\n');
      void stop().then(() => process.exit(0));
    });
  }
  try {
    await demo(options, ends);
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
