// startSandbox: a real WordPress, from nothing to answering requests.

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { wordPressFiles } from './files.ts';
import { mariaDbLack, startMariaDb } from './mariadb.ts';
import { nativePhpLack, nativeRuntime, type Runtime } from './native.ts';
import { ensurePackages } from './packages.ts';
import { defaultDataDir, PROJECT_ROOT, WORDPRESS_PACKAGE } from './paths.ts';
import { type Group, run } from './processes.ts';
import { type Progress, printedProgress, silent } from './progress.ts';
import * as site from './site.ts';
import { wasmLack, wasmRuntime } from './wasm.ts';
import { type DatabaseKind, siteUrl } from './wp-config.ts';

/** How PHP is run: by the machine's own, or as WebAssembly. */
export type Way = 'native' | 'wasm';

export interface SandboxOptions {
  /** Default: native where a fit php is on the path, else WebAssembly. */
  way?: Way;
  /** Default: the port of the last start, else 8881, or a free one when that is taken. 0 asks for a free one. */
  port?: number;
  /** The data folder; default `.sandbox/` of the project. */
  dir?: string;
  /** Start over: the folder's site is removed first. */
  fresh?: boolean;
  /** Whose `snippet` to put in, `false` for none; default `wordpress-meta`. */
  mapping?: string | false;
  /** Further must-use plugins: PHP source by file name. */
  muPlugins?: Record<string, string>;
  /** Default `sqlite`, or what the site has; `mariadb` needs the machine's own php and MariaDB. */
  database?: DatabaseKind;
  /** Default `pretty`, or what the site has. */
  permalinks?: 'pretty' | 'plain';
  /** An IANA name; default America/New_York, or what the site has. */
  timezone?: string;
  /** Say nothing on stderr. */
  quiet?: boolean;
  /** Told what goes on, in place of stderr. */
  onProgress?: Progress;
}

export interface Sandbox {
  /** Without a slash at its end. */
  url: string;
  way: Way;
  database: DatabaseKind;
  dataDir: string;
  credentials: Record<site.Role, site.Credentials>;
  /** Runs WP-CLI on the site and gives what it printed. As WebAssembly this takes seconds. */
  wp(args: readonly string[]): Promise<string>;
  /** Settles when the server has ended, by {@link Sandbox.stop} or by itself. */
  ended: Promise<void>;
  /** Ends the server and all its processes; the data stay. */
  stop(): Promise<void>;
}

const FIRST_PORT = 8881;
const READY_TIMEOUT_MS = 180_000;
const CRON_EVERY_MS = 60_000;

/**
 * Starts a WordPress with the users {@link site.ROLES}, made new where the data folder has none.
 * @throws Error when neither way of running PHP is there, a fetch fails, the port or folder is in use, or WordPress does
 *   not answer
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const progress = options.onProgress ?? (options.quiet ? silent : printedProgress());
  const dataDir = resolve(options.dir ?? defaultDataDir());
  const before = options.fresh ? undefined : site.readState(dataDir);
  const database = options.database ?? before?.database ?? 'sqlite';
  if (before !== undefined && database !== (before.database ?? 'sqlite')) {
    throw new Error(
      `the site in ${dataDir} does not run on ${database}: start over with --fresh, or name another folder`,
    );
  }
  const way = await chooseWay(options.way, database, progress);
  const unlock = lock(dataDir, options.fresh ?? false);
  let stopDatabase = async (): Promise<void> => {};
  try {
    await ensurePackages(way === 'wasm' ? 'full' : 'lean', progress);
    const files = await wordPressFiles(progress);
    const runtime = way === 'native' ? nativeRuntime(dataDir, files.wpCli) : wasmRuntime(dataDir, files.wpCli);

    const state: site.SiteState = {
      wordpress: WORDPRESS_PACKAGE.wordpress,
      port: await choosePort(options.port, before?.port),
      timezone: options.timezone ?? before?.timezone ?? 'America/New_York',
      permalinks: options.permalinks ?? before?.permalinks ?? 'pretty',
      secret: before?.secret ?? randomBytes(24).toString('base64url'),
      database,
      muPlugins: before?.muPlugins ?? [],
    };
    let databaseEnded = new Promise<void>(() => {});
    const startDatabase = async (): Promise<void> => {
      if (database !== 'mariadb') return;
      progress('starting MariaDB');
      const started = await startMariaDb(dataDir);
      [databaseEnded, stopDatabase] = [started.ended, () => started.stop()];
    };
    if (before === undefined) {
      progress('laying out a new site');
      site.removeLeftovers(dataDir);
      site.layFiles(dataDir, files, database);
      site.configure(dataDir, state);
      await startDatabase();
      await installWordPress(dataDir, database, runtime, progress);
    } else await startDatabase();
    site.moveDatabase(dataDir);
    const plugins = { ...(await mappingPlugin(options.mapping ?? 'wordpress-meta', progress)), ...options.muPlugins };
    state.muPlugins = site.writeMuPlugins(dataDir, plugins, state.muPlugins);
    site.configure(dataDir, state);
    site.writeState(dataDir, state);

    progress(way === 'native' ? 'starting WordPress' : 'starting WordPress on WebAssembly (about half a minute)');
    const server = runtime.serve(state.port);
    const url = siteUrl(state.port);
    try {
      await untilReady(url, server, dataDir);
    } catch (error) {
      await server.stop();
      throw error;
    }
    const cron = setInterval(() => void fetch(`${url}/wp-cron.php?doing_wp_cron`).catch(() => {}), CRON_EVERY_MS);
    cron.unref();
    return {
      url,
      way,
      database,
      dataDir,
      credentials: site.readCredentials(dataDir),
      ended: Promise.race([server.ended, databaseEnded]),
      wp: (args) => runtime.wp(args),
      async stop() {
        clearInterval(cron);
        await server.stop();
        await stopDatabase();
        unlock();
      },
    };
  } catch (error) {
    await stopDatabase();
    unlock();
    throw error;
  }
}

async function chooseWay(wanted: Way | undefined, database: DatabaseKind, progress: Progress): Promise<Way> {
  if (database === 'mariadb') {
    const lack = wanted === 'wasm' ? '--wasm excludes it' : ((await nativePhpLack(database)) ?? (await mariaDbLack()));
    if (lack === undefined) return 'native';
    throw new Error(
      `MariaDB needs the native way, and ${lack}; on Debian: apt-get install mariadb-server php-cli php-mysql ` +
        'php-xml php-mbstring php-gd php-curl php-intl php-zip',
    );
  }
  const noNative = wanted === 'wasm' ? 'not asked' : await nativePhpLack(database);
  if (noNative === undefined) return 'native';
  if (wanted === 'native') {
    throw new Error(
      `the native way needs php >= 8.1 with pdo_sqlite, and ${noNative}; on Debian: apt-get install ` +
        'php-cli php-sqlite3 php-xml php-mbstring php-gd php-curl php-intl php-zip',
    );
  }
  const noWasm = wasmLack();
  if (noWasm !== undefined) {
    throw new Error(`the WebAssembly way needs Node >= 24.18, and ${noWasm}; npm ci in the project's root brings one`);
  }
  if (wanted === undefined) progress(`${noNative}: PHP runs as WebAssembly, slower but complete`);
  return 'wasm';
}

/** One process a data folder: two servers with different ports would fight over its configuration. */
function lock(dataDir: string, fresh: boolean): () => void {
  const file = join(dataDir, 'running.pid');
  if (existsSync(file)) {
    const pid = Number(readFileSync(file, 'utf8'));
    if (pid === process.pid || isAlive(pid))
      throw new Error(`a sandbox runs in ${dataDir} already (process ${pid}); if it does not, remove ${file}`);
  }
  if (fresh) site.removeSite(dataDir);
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(file, String(process.pid));
  const unlock = (): void => rmSync(file, { force: true });
  process.once('exit', unlock);
  return () => {
    process.off('exit', unlock);
    unlock();
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    // a process that has ended keeps its number until its parent looks: state Z, after the name in brackets
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true; // no /proc here
  }
}

async function choosePort(wanted: number | undefined, last: number | undefined): Promise<number> {
  if (wanted !== undefined && wanted !== 0) {
    if (await freePort(wanted)) return wanted;
    throw new Error(`port ${wanted} is in use: name another with --port`);
  }
  const found = wanted === 0 ? undefined : await freePort(last ?? FIRST_PORT);
  return found ?? (await freePort(0))!;
}

/** The port when it can be listened on (0: any), else undefined. */
function freePort(port: number): Promise<number | undefined> {
  return new Promise((settle) => {
    const server = createServer();
    server.once('error', () => settle(undefined));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => settle(address !== null && typeof address === 'object' ? address.port : undefined));
    });
  });
}

async function installWordPress(
  dataDir: string,
  database: DatabaseKind,
  runtime: Runtime,
  progress: Progress,
): Promise<void> {
  const isFilled = await site.fillDatabase(dataDir, database, (file) => {
    progress('installing WordPress');
    return runtime.runPhp(file);
  });
  progress(isFilled ? 'WordPress is installed' : 'WordPress is there (a copy of an earlier installation)');
}

/** The plugin that registers what a mapping needs, printed by the gateway's own `snippet` command. */
async function mappingPlugin(mapping: string | false, progress: Progress): Promise<Record<string, string>> {
  if (mapping === false) return {};
  try {
    const source = await run([process.execPath, join(PROJECT_ROOT, 'src/main.ts'), 'snippet', '--mapping', mapping], {
      cwd: PROJECT_ROOT,
      timeoutMs: 30_000,
    });
    if (!source.startsWith('<?php')) throw new Error('snippet printed no PHP');
    return { 'calendar-gateway.php': source };
  } catch (error) {
    progress(`warning: the site gets no snippet for mapping "${mapping}": ${(error as Error).message}`);
    return {};
  }
}

/** Waits for the site's REST interface; its first answers also build the rewrite rules. */
async function untilReady(url: string, server: Group, dataDir: string): Promise<void> {
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  let last = 'no answer';
  while (performance.now() < deadlineMs) {
    if (server.exitCode() !== undefined) throw new Error(`the server ended: ${tail(join(dataDir, 'server.log'))}`);
    try {
      const response = await fetch(`${url}/?rest_route=/`, { signal: AbortSignal.timeout(60_000) });
      const text = await response.text();
      if (response.ok && text.startsWith('{')) return;
      last = `${response.status} ${text.slice(0, 300)}`;
    } catch (error) {
      last = String((error as Error).cause ?? error);
    }
    await new Promise((later) => setTimeout(later, 100));
  }
  throw new Error(
    `WordPress did not answer within ${READY_TIMEOUT_MS / 1000} s (${last}): ${tail(join(dataDir, 'php.log'))}`,
  );
}

function tail(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').slice(-8).join('\n') : `${file} is empty`;
}
