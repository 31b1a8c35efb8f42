// Installs the sandbox's own npm packages on first use: only those that the site needs.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PAYLOAD_ROOT, SANDBOX_ROOT } from './paths.ts';
import { ownNodeFirst, run } from './processes.ts';
import type { Progress } from './progress.ts';

/** `lean` is enough to unpack WordPress, `full` also has PHP as WebAssembly; `payload` is Payload. */
export type PackageSet = 'lean' | 'full' | 'payload';

interface PackageSetSpec {
  /** The folder with the `package.json` and the lock file. */
  root: string;
  /** Packages without which the set is incomplete. */
  needed: readonly string[];
  /** Further arguments of `npm ci`. */
  args: readonly string[];
  /** What a user should know before the download. */
  size: string;
  /** Why npm may have left out a package. */
  hint: string;
}

const PACKAGE_SETS: Record<PackageSet, PackageSetSpec> = {
  lean: { root: SANDBOX_ROOT, needed: ['tar'], args: ['--omit=optional'], size: '', hint: 'npm reported no error' },
  full: {
    root: SANDBOX_ROOT,
    needed: ['tar', '@wp-playground/cli', '@php-wasm/node-8-3'],
    args: [],
    size: ', with PHP as WebAssembly, about 200 MB',
    hint: `PHP as WebAssembly needs Node >= 24.18 (this is ${process.versions.node})`,
  },
  payload: {
    root: PAYLOAD_ROOT,
    needed: ['payload', '@payloadcms/db-sqlite', '@payloadcms/richtext-lexical'],
    args: ['--ignore-scripts'],
    size: ', Payload without its admin panel, about 350 MB on disk',
    hint: 'npm reported no error',
  },
};

let installing: Promise<void> = Promise.resolve();

/**
 * Installs the packages in the versions of the lock file.
 * @throws Error with npm's message if that fails
 */
export function ensurePackages(set: PackageSet, progress: Progress): Promise<void> {
  installing = installing.catch(() => {}).then(() => installPackages(PACKAGE_SETS[set], progress));
  return installing;
}

async function installPackages({ root, needed, args, size, hint }: PackageSetSpec, progress: Progress): Promise<void> {
  const modules = join(root, 'node_modules');
  const mark = join(modules, '.sandbox-lock');
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
  const installed = existsSync(mark) ? readFileSync(mark, 'utf8') : lock; // no mark: the user installed it
  const complete = (): boolean => needed.every((name) => existsSync(join(modules, name, 'package.json')));
  if (complete() && installed === lock) return;

  const startMs = performance.now();
  const report = (): void => progress(`installing packages (npm ci${size}): ${seconds(startMs)}`);
  report();
  const timer = setInterval(report, 5000);
  try {
    await npm(['ci', '--no-audit', '--no-fund', ...args], root);
  } finally {
    clearInterval(timer);
  }
  if (!complete()) throw new Error(`npm ci in ${root} left out ${needed.join(' or ')}: ${hint}`);
  writeFileSync(mark, lock);
}

/** Runs npm (the one that started this process, if any) with this process's Node. */
export function npm(args: readonly string[], cwd: string): Promise<string> {
  const script = process.env.npm_execpath;
  const own = script !== undefined && /npm-cli\.[cm]?js$/.test(script) && existsSync(script);
  return run(own ? [process.execPath, script, ...args] : ['npm', ...args], { cwd, env: ownNodeFirst() });
}

/**
 * Imports one of the sandbox's packages. The caller declares its type, because it is not installed when types
 * are checked.
 */
export async function loadPackage<T>(name: string): Promise<T> {
  return (await import(name)) as T;
}

function seconds(sinceMs: number): string {
  return `${Math.round((performance.now() - sinceMs) / 1000)} s`;
}
