// Starts a real WordPress: installs it if needed, runs it, and waits until it answers.

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { choosePort, lockDataDir } from './data-dir.ts';
import { mariaDbProblem, startMariaDb } from './mariadb.ts';
import { nativePhpProblem, nativePhpRunner, type PhpRunner } from './native-php.ts';
import { ensurePackages } from './packages.ts';
import { defaultDataDir, PROJECT_ROOT, WORDPRESS_PACKAGE } from './paths.ts';
import { type ProcessGroup, run } from './processes.ts';
import { noProgress, type Progress, printProgress } from './progress.ts';
import * as site from './site.ts';
import type { SeedEntry } from './town/seed.ts';
import { wasmPhpProblem, wasmPhpRunner } from './wasm-php.ts';
import { wordPressFiles } from './wordpress-files.ts';
import { type DatabaseKind, siteUrl } from './wp-config.ts';

/** PHP of this machine, or PHP as WebAssembly. */
export type PhpRuntime = 'native' | 'wasm';

export interface SandboxOptions {
  /** Default: native if a suitable php is on the path, otherwise WebAssembly. */
  phpRuntime?: PhpRuntime;
  /** Default: the port of the last start or 8881, or another one if that is in use. 0: any free port. */
  port?: number;
  /** The data folder; default `.sandbox/` of the project. */
  dir?: string;
  /** Removes the folder's site first. */
  fresh?: boolean;
  /** The mapping of the companion plugin to install, `false` for none; default `wordpress-meta`. */
  mapping?: string | false;
  /** Further must-use plugins: PHP source by file name. */
  muPlugins?: Record<string, string>;
  /** Default: that of the site, or `sqlite`. `mariadb` needs php and MariaDB on this machine. */
  database?: DatabaseKind;
  /** Default: that of the site, or `pretty`. */
  permalinks?: 'pretty' | 'plain';
  /** An IANA name. Default: that of the site, or America/New_York. */
  timezone?: string;
  /** The content of a new site: create requests of WordPress's REST API. */
  seed?: readonly SeedEntry[];
  /** No progress on stderr. */
  quiet?: boolean;
  /** Receives the progress instead of stderr. */
  onProgress?: Progress;
}

export interface Sandbox {
  /** Without a trailing slash. */
  url: string;
  phpRuntime: PhpRuntime;
  database: DatabaseKind;
  dataDir: string;
  credentials: Record<site.Role, site.Credentials>;
  /** Runs WP-CLI on the site. Resolves with its output. As WebAssembly this takes seconds. */
  wp(args: readonly string[]): Promise<string>;
  /** Settles when the server has exited, for whatever reason. */
  ended: Promise<void>;
  /** Stops the server and all its processes. Keeps the data. */
  stop(): Promise<void>;
}

const PHP_PACKAGES = 'php-cli php-sqlite3 php-xml php-mbstring php-gd php-curl php-intl php-zip';
const FIRST_PORT = 8881;
const READY_TIMEOUT_MS = 180_000;
const CRON_EVERY_MS = 60_000;

/**
 * Starts the site of a data folder, or a new one with the users {@link site.ROLES}.
 * @throws Error if there is no PHP runtime, a download fails, the port or folder is in use, or WordPress does not answer
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const progress = options.onProgress ?? (options.quiet ? noProgress : printProgress());
  const dataDir = resolve(options.dir ?? defaultDataDir('wordpress'));
  const before = options.fresh ? undefined : site.readState(dataDir);
  const database = options.database ?? before?.database ?? 'sqlite';
  if (before !== undefined && database !== (before.database ?? 'sqlite')) {
    throw new Error(
      `the site in ${dataDir} does not run on ${database}: start over with --fresh, or name another folder`,
    );
  }
  const phpRuntime = await choosePhpRuntime(options.phpRuntime, database, progress);
  const unlock = lockDataDir(dataDir, () => {
    if (options.fresh) site.removeSite(dataDir);
  });
  let stopDatabase = async (): Promise<void> => {};
  try {
    await ensurePackages(phpRuntime === 'wasm' ? 'full' : 'lean', progress);
    const files = await wordPressFiles(progress);
    const runtime =
      phpRuntime === 'native' ? nativePhpRunner(dataDir, files.wpCli) : wasmPhpRunner(dataDir, files.wpCli);

    const state: site.SiteState = {
      wordpress: WORDPRESS_PACKAGE.wordpress,
      port: await choosePort(options.port, before?.port ?? FIRST_PORT),
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
      progress('installing the files of WordPress');
      site.removeIncompleteSite(dataDir);
      site.installFiles(dataDir, files, database);
      site.configure(dataDir, state);
      await startDatabase();
      await installWordPress(dataDir, database, runtime, progress);
    } else await startDatabase();
    site.moveOldDatabase(dataDir);
    const plugins = {
      ...(await companionPluginFor(options.mapping ?? 'wordpress-meta', progress)),
      ...options.muPlugins,
    };
    state.muPlugins = site.writeMuPlugins(dataDir, plugins, state.muPlugins);
    site.configure(dataDir, state);
    if (before === undefined && options.seed !== undefined) {
      progress(`filling the site: ${options.seed.length} records`);
      await site.seed(dataDir, options.seed, runtime.runPhp);
    }
    site.writeState(dataDir, state);

    progress(
      phpRuntime === 'native' ? 'starting WordPress' : 'starting WordPress on WebAssembly (about half a minute)',
    );
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
      phpRuntime,
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

async function choosePhpRuntime(
  requested: PhpRuntime | undefined,
  database: DatabaseKind,
  progress: Progress,
): Promise<PhpRuntime> {
  if (database === 'mariadb') {
    const problem =
      requested === 'wasm' ? '--wasm excludes it' : ((await nativePhpProblem(database)) ?? (await mariaDbProblem()));
    if (problem === undefined) return 'native';
    throw new Error(
      `MariaDB needs native PHP, and ${problem}; on Debian: apt-get install mariadb-server php-cli php-mysql ` +
        'php-xml php-mbstring php-gd php-curl php-intl php-zip',
    );
  }
  const nativeProblem = requested === 'wasm' ? 'not requested' : await nativePhpProblem(database);
  if (nativeProblem === undefined) return 'native';
  if (requested === 'native') {
    throw new Error(
      `native PHP must be php >= 8.1 with pdo_sqlite, and ${nativeProblem}; on Debian: apt-get install ${PHP_PACKAGES}`,
    );
  }
  const wasmProblem = wasmPhpProblem();
  if (wasmProblem !== undefined) {
    throw new Error(
      `PHP as WebAssembly needs Node >= 24.18, and ${wasmProblem}; npm ci in the project's root brings one`,
    );
  }
  if (requested === undefined)
    progress(
      `${nativeProblem}: PHP runs as WebAssembly, slower but complete (faster: apt-get install ${PHP_PACKAGES})`,
    );
  return 'wasm';
}

async function installWordPress(
  dataDir: string,
  database: DatabaseKind,
  runtime: PhpRunner,
  progress: Progress,
): Promise<void> {
  const isFilled = await site.fillDatabase(dataDir, database, (file) => {
    progress('installing WordPress');
    return runtime.runPhp(file);
  });
  progress(isFilled ? 'WordPress is installed' : 'WordPress is installed (a copy of an earlier installation)');
}

/** The companion plugin of a mapping, from the gateway's `plugin` command. */
async function companionPluginFor(mapping: string | false, progress: Progress): Promise<Record<string, string>> {
  if (mapping === false) return {};
  try {
    const source = await run([process.execPath, join(PROJECT_ROOT, 'src/main.ts'), 'plugin', '--mapping', mapping], {
      cwd: PROJECT_ROOT,
      timeoutMs: 30_000,
    });
    if (!source.startsWith('<?php')) throw new Error('the plugin command printed no PHP');
    return { 'calendar-gateway-companion.php': source };
  } catch (error) {
    progress(`warning: the site gets no companion plugin for mapping "${mapping}": ${(error as Error).message}`);
    return {};
  }
}

/** Waits for the site's REST API. The first requests also build the rewrite rules. */
async function untilReady(url: string, server: ProcessGroup, dataDir: string): Promise<void> {
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  let lastError = 'no answer';
  while (performance.now() < deadlineMs) {
    if (server.exitCode() !== undefined) throw new Error(`the server exited: ${tail(join(dataDir, 'server.log'))}`);
    try {
      const response = await fetch(`${url}/?rest_route=/`, { signal: AbortSignal.timeout(60_000) });
      const text = await response.text();
      if (response.ok && text.startsWith('{')) return;
      lastError = `${response.status} ${text.slice(0, 300)}`;
    } catch (error) {
      lastError = String((error as Error).cause ?? error);
    }
    await new Promise((later) => setTimeout(later, 100));
  }
  throw new Error(
    `WordPress did not answer within ${READY_TIMEOUT_MS / 1000} s (${lastError}): ${tail(join(dataDir, 'php.log'))}`,
  );
}

function tail(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').slice(-8).join('\n') : `${file} is empty`;
}
