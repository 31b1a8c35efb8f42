// Downloads WordPress, its SQLite integration and WP-CLI once into the cache, from an npm package with a known hash.

import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { loadPackage, npm } from './packages.ts';
import { cacheRoot, WORDPRESS_PACKAGE } from './paths.ts';
import type { Progress } from './progress.ts';

/** The unpacked parts, which are read-only. */
export interface WordPressFiles {
  /** The document root of a WordPress release. */
  wordpress: string;
  /** The folder of the SQLite integration plugin. */
  sqlite: string;
  /** WP-CLI as one PHP archive. */
  wpCli: string;
}

const INSIDE = 'package/dist/cli/wp-files/';
const ENTRIES = 5000;

/** WordPress with one theme and no plugin, the SQLite integration, WP-CLI. */
function isNeeded(path: string): boolean {
  const inner = path.startsWith(INSIDE) ? path.slice(INSIDE.length) : '';
  if (inner.startsWith('latest/wordpress/')) {
    return !/^latest\/wordpress\/wp-content\/(plugins\/(akismet|hello)|themes\/(?!twentytwentyfive\/|index))/.test(
      inner,
    );
  }
  return inner.startsWith('sqlite-database-integration/') || inner === 'wp-cli/wp-cli.phar';
}

let fetching: Promise<WordPressFiles> | undefined;

/**
 * Downloads the files if the cache does not have them.
 * @throws Error if the download fails or has another hash
 */
export function wordPressFiles(progress: Progress): Promise<WordPressFiles> {
  fetching ??= fetchFiles(progress).catch((error: unknown) => {
    fetching = undefined;
    throw error;
  });
  return fetching;
}

async function fetchFiles(progress: Progress): Promise<WordPressFiles> {
  const home = join(cacheRoot(), `wordpress-${WORDPRESS_PACKAGE.wordpress}`);
  const files: WordPressFiles = {
    wordpress: join(home, 'latest/wordpress'),
    sqlite: join(home, 'sqlite-database-integration'),
    wpCli: join(home, 'wp-cli/wp-cli.phar'),
  };
  if (existsSync(home)) return files;

  mkdirSync(cacheRoot(), { recursive: true });
  const work = mkdtempSync(join(cacheRoot(), 'fetching-'));
  try {
    const tarball = join(work, WORDPRESS_PACKAGE.file);
    await download(work, progress);
    await checkIntegrity(tarball);
    await unpack(tarball, join(work, 'files'), progress);
    if (!existsSync(home)) renameSync(join(work, 'files'), home); // complete or not at all
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return files;
}

/** npm itself downloads the package: it knows the registry, the proxy and its cache. */
async function download(into: string, progress: Progress): Promise<void> {
  const npmCache = (await npm(['config', 'get', 'cache'], into)).trim();
  const startMs = Date.now();
  let share = 0;
  const report = (): void => {
    const downloaded = freshBytes(join(npmCache, '_cacache/tmp'), startMs) / WORDPRESS_PACKAGE.bytes;
    share = Math.max(share, Math.min(0.99, downloaded)); // npm moves the file when it is complete
    progress(`fetching WordPress ${WORDPRESS_PACKAGE.wordpress} from npm (64 MB)`, share);
  };
  report();
  const timer = setInterval(report, 500);
  try {
    await npm(['pack', WORDPRESS_PACKAGE.spec, '--pack-destination', into], into);
  } finally {
    clearInterval(timer);
  }
  progress(`fetching WordPress ${WORDPRESS_PACKAGE.wordpress} from npm (64 MB)`, 1);
}

/** Size of the files in npm's download folder that were modified since then. */
function freshBytes(folder: string, sinceMs: number): number {
  let bytes = 0;
  try {
    for (const name of readdirSync(folder)) {
      const facts = statSync(join(folder, name), { throwIfNoEntry: false });
      if (facts?.isFile() && facts.mtimeMs >= sinceMs) bytes += facts.size;
    }
  } catch {
    // npm creates the folder when it needs it
  }
  return bytes;
}

async function checkIntegrity(tarball: string): Promise<void> {
  const hash = createHash('sha512');
  for await (const chunk of createReadStream(tarball)) hash.update(chunk as Buffer);
  const integrity = `sha512-${hash.digest('base64')}`;
  if (integrity !== WORDPRESS_PACKAGE.integrity) {
    throw new Error(`${WORDPRESS_PACKAGE.spec} is not the expected package: its hash is ${integrity}`);
  }
}

interface Tar {
  extract(options: {
    file: string;
    cwd: string;
    filter: (path: string) => boolean;
    strip: number;
    onReadEntry: () => void;
    noMtime: boolean;
  }): Promise<void>;
}

async function unpack(tarball: string, into: string, progress: Progress): Promise<void> {
  const tar = await loadPackage<Tar>('tar');
  mkdirSync(into, { recursive: true });
  let entries = 0;
  await tar.extract({
    file: tarball,
    cwd: into,
    strip: INSIDE.split('/').length - 1,
    filter: isNeeded,
    noMtime: true,
    onReadEntry: () => {
      entries++;
      if (entries % 200 === 0) progress('unpacking', Math.min(0.99, entries / ENTRIES));
    },
  });
  progress('unpacking', 1);
}
