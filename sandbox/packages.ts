// Installs the sandbox's own npm packages on first use: only those that the PHP runtime needs.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SANDBOX_ROOT } from './paths.ts';
import { ownNodeFirst, run } from './processes.ts';
import type { Progress } from './progress.ts';

const MODULES = join(SANDBOX_ROOT, 'node_modules');
const MARK = join(MODULES, '.sandbox-lock');

/** `lean` is enough to unpack WordPress, `full` also has PHP as WebAssembly (about 200 MB). */
export type PackageSet = 'lean' | 'full';

const NEEDED: Record<PackageSet, readonly string[]> = {
  lean: ['tar'],
  full: ['tar', '@wp-playground/cli', '@php-wasm/node-8-3'],
};

let installing: Promise<void> = Promise.resolve();

/**
 * Installs the packages in the versions of the lock file.
 * @throws Error with npm's message if that fails
 */
export function ensurePackages(extent: PackageSet, progress: Progress): Promise<void> {
  installing = installing.catch(() => {}).then(() => installPackages(extent, progress));
  return installing;
}

async function installPackages(extent: PackageSet, progress: Progress): Promise<void> {
  const lock = createHash('sha256')
    .update(readFileSync(join(SANDBOX_ROOT, 'package-lock.json')))
    .digest('hex');
  const installed = existsSync(MARK) ? readFileSync(MARK, 'utf8') : lock; // no mark: the user installed it
  const complete = (): boolean => NEEDED[extent].every((name) => existsSync(join(MODULES, name, 'package.json')));
  if (complete() && installed === lock) return;

  const size = extent === 'full' ? ', with PHP as WebAssembly, about 200 MB' : '';
  const startMs = performance.now();
  const report = (): void => progress(`installing packages (npm ci${size}): ${seconds(startMs)}`);
  report();
  const timer = setInterval(report, 5000);
  try {
    const omit = extent === 'lean' ? ['--omit=optional'] : [];
    await npm(['ci', '--no-audit', '--no-fund', ...omit], SANDBOX_ROOT);
  } finally {
    clearInterval(timer);
  }
  if (!complete()) {
    throw new Error(
      `npm ci in ${SANDBOX_ROOT} left out ${NEEDED[extent].join(' or ')}: PHP as WebAssembly needs Node >= 24.18 ` +
        `(this is ${process.versions.node})`,
    );
  }
  writeFileSync(MARK, lock);
}

/** Runs npm (the one that started this process, if any) with this process's Node. */
export function npm(args: readonly string[], cwd: string): Promise<string> {
  const script = process.env.npm_execpath;
  const own = script !== undefined && /npm-cli\.[cm]?js$/.test(script) && existsSync(script);
  return run(own ? [process.execPath, script, ...args] : ['npm', ...args], { cwd, env: ownNodeFirst() });
}

/** Imports one of the sandbox's packages. The caller declares its type, because it is not installed when types are checked. */
export async function loadPackage<T>(name: string): Promise<T> {
  return (await import(name)) as T;
}

function seconds(sinceMs: number): string {
  return `${Math.round((performance.now() - sinceMs) / 1000)} s`;
}
