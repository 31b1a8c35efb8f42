// Runs a site with PHP 8.3 as WebAssembly from an npm package, two requests at a time, on the same files and database.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PhpRunner } from './native-php.ts';
import { SANDBOX_ROOT } from './paths.ts';
import { ownNodeFirst, run, startGroup } from './processes.ts';
import { databaseFolder, documentRoot } from './site.ts';
import { siteUrl } from './wp-config.ts';

const NEEDED_NODE = [24, 18] as const;

/** Why PHP as WebAssembly cannot run here; undefined if it can. */
export function wasmPhpProblem(): string | undefined {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isSupported = major > NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor >= NEEDED_NODE[1]);
  return isSupported ? undefined : `this is Node ${process.versions.node}, older than ${NEEDED_NODE.join('.')}`;
}

/** Its packages must be installed. */
export function wasmPhpRunner(dataDir: string, wpCli: string): PhpRunner {
  const root = documentRoot(dataDir);
  const home = dirname(createRequire(import.meta.url).resolve('@wp-playground/cli/package.json'));
  const site = [`${root}:/wordpress`, `${databaseFolder(dataDir)}:/database`];
  const program = (command: string, mounts: readonly string[]): [string, ...string[]] => [
    process.execPath,
    '--experimental-wasm-jspi', // without this option the program starts itself a second time with it
    `--import=${pathToFileURL(join(SANDBOX_ROOT, 'loopback.ts')).href}`,
    join(home, 'wp-playground.js'),
    command,
    '--php=8.3',
    ...mounts.map((mount) => `--mount-before-install=${mount}`),
    '--wordpress-install-mode=do-not-attempt-installing',
    '--skip-sqlite-setup',
  ];
  return {
    serve: (port) =>
      startGroup([...program('server', site), `--port=${port}`, `--site-url=${siteUrl(port)}`, '--workers=2'], {
        cwd: root,
        env: ownNodeFirst(),
        logFile: join(dataDir, 'server.log'),
      }),
    runPhp: (file) =>
      run([...program('php', site), '--verbosity=quiet', '--', `/wordpress/${file}`], {
        cwd: root,
        env: ownNodeFirst(),
      }),
    wp: (args) => {
      if (!existsSync(wpCli)) return Promise.reject(new Error(`${wpCli} is missing`));
      const mounts = [...site, `${dirname(wpCli)}:/wp-cli`];
      return run(
        [
          ...program('php', mounts),
          '--verbosity=quiet',
          '--',
          '/wp-cli/wp-cli.phar',
          '--allow-root',
          '--path=/wordpress',
          ...args,
        ],
        { cwd: root, env: ownNodeFirst() },
      );
    },
  };
}
