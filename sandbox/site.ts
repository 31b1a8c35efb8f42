// A site's folder: the files of WordPress, its configuration, must-use plugins, database and credentials.

import { createHash, randomBytes } from 'node:crypto';
import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { cacheRoot, PHP_SOURCES, WORDPRESS_PACKAGE } from './paths.ts';
import type { WordPressFiles } from './wordpress-files.ts';
import { type DatabaseKind, type SiteSettings, wpConfig } from './wp-config.ts';

/** The users of a site, one for each role of WordPress. */
export const ROLES = ['admin', 'editor', 'author', 'contributor', 'subscriber'] as const;
export type Role = (typeof ROLES)[number];

/** The password is for wp-admin, the application password (Basic) for the REST API. */
export interface Credentials {
  user: string;
  password: string;
  applicationPassword: string;
}

/** What a site keeps between starts. */
export interface SiteState extends SiteSettings {
  wordpress: string;
  /** File names of the must-use plugins that the sandbox wrote. */
  muPlugins: string[];
}

const ROLES_FILE = 'credentials.json';
const STATE_FILE = 'state.json';
const PLUGIN_FILE = '0-sandbox.php';

/** The document root of the site in a data folder. */
export function documentRoot(dataDir: string): string {
  return join(dataDir, 'wordpress');
}

/** Beside the document root, so that no server serves it. */
export function databaseFolder(dataDir: string): string {
  return join(dataDir, 'database');
}

export function mariaDbFolder(dataDir: string): string {
  return join(dataDir, 'mariadb');
}

/** Only the folder's owner has access to the socket. */
export function mariaDbSocket(dataDir: string): string {
  return join(mariaDbFolder(dataDir), 'socket');
}

/** Undefined if the data folder has no site yet. */
export function readState(dataDir: string): SiteState | undefined {
  const file = join(dataDir, STATE_FILE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SiteState) : undefined;
}

/** A site without a state counts as incomplete. */
export function writeState(dataDir: string, state: SiteState): void {
  writeFileSync(join(dataDir, STATE_FILE), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
}

export function readCredentials(dataDir: string): Record<Role, Credentials> {
  return JSON.parse(readFileSync(join(dataDir, ROLES_FILE), 'utf8')) as Record<Role, Credentials>;
}

/**
 * Removes a site with all its data.
 * @throws Error if the folder has other contents, so that a mistyped folder is not deleted
 */
export function removeSite(dataDir: string): void {
  if (!existsSync(dataDir)) return;
  const isSite = existsSync(join(dataDir, STATE_FILE)) || existsSync(join(dataDir, 'wordpress'));
  if (!isSite && readdirSync(dataDir).length > 0) {
    throw new Error(`${dataDir} has other contents than a sandbox: name another folder`);
  }
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes the files of an interrupted first start. */
export function removeIncompleteSite(dataDir: string): void {
  rmSync(documentRoot(dataDir), { recursive: true, force: true });
  rmSync(databaseFolder(dataDir), { recursive: true, force: true });
  rmSync(mariaDbFolder(dataDir), { recursive: true, force: true });
}

/** Installs the files of WordPress, its SQLite integration if needed, and an empty content folder. */
export function installFiles(dataDir: string, files: WordPressFiles, database: DatabaseKind): void {
  const root = documentRoot(dataDir);
  const content = join(root, 'wp-content');
  linkTree(files.wordpress, root);
  for (const name of ['mu-plugins', 'uploads']) mkdirSync(join(content, name), { recursive: true });
  if (database === 'mariadb') return;
  const plugin = join(content, 'plugins/sqlite-database-integration');
  linkTree(files.sqlite, plugin);
  const dropIn = readFileSync(join(files.sqlite, 'db.copy'), 'utf8')
    // without a path the drop-in uses its own folder, which works wherever the folder is mounted
    .replaceAll('{SQLITE_IMPLEMENTATION_FOLDER_PATH}', '')
    .replaceAll('{SQLITE_PLUGIN}', 'sqlite-database-integration/load.php');
  writeFileSync(join(content, 'db.php'), dropIn);
  mkdirSync(databaseFolder(dataDir), { recursive: true });
}

/** Copies a folder by hard links, because no process writes to WordPress's own files; or by contents if links fail. */
function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) linkTree(source, target);
    else if (entry.isFile()) linkOrCopy(source, target);
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch {
    copyFileSync(source, target, constants.COPYFILE_FICLONE);
  }
}

/** Moves a database that an earlier version created inside the document root. */
export function moveOldDatabase(dataDir: string): void {
  const inside = join(documentRoot(dataDir), 'wp-content/database');
  if (existsSync(inside) && !existsSync(databaseFolder(dataDir))) renameSync(inside, databaseFolder(dataDir));
}

/** Writes wp-config.php and the sandbox's own plugin. They are the same for both PHP runtimes. */
export function configure(dataDir: string, state: SiteState): void {
  const root = documentRoot(dataDir);
  mkdirSync(join(root, 'wp-content/mu-plugins'), { recursive: true });
  copyFileSync(join(PHP_SOURCES, 'sandbox-plugin.php'), join(root, 'wp-content/mu-plugins', PLUGIN_FILE));
  writeFileSync(join(root, 'wp-config.php'), wpConfig(state, rulesMark(dataDir, state), mariaDbSocket(dataDir)), {
    mode: 0o600,
  });
}

/** Changes whenever the rewrite rules may change. */
function rulesMark(dataDir: string, state: SiteState): string {
  const hash = createHash('sha256').update(state.permalinks);
  const folder = join(documentRoot(dataDir), 'wp-content/mu-plugins');
  for (const name of readdirSync(folder).sort()) {
    if (name.endsWith('.php')) hash.update(name).update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex');
}

/**
 * Writes the must-use plugins, and removes those of the last start. Other files in the folder stay.
 * @returns the file names, for the state
 */
export function writeMuPlugins(dataDir: string, plugins: Record<string, string>, before: readonly string[]): string[] {
  const folder = join(documentRoot(dataDir), 'wp-content/mu-plugins');
  mkdirSync(folder, { recursive: true });
  const files = Object.entries(plugins).map(
    ([name, source]) => [name.endsWith('.php') ? name : `${name}.php`, source] as const,
  );
  for (const [name] of files) {
    if (!/^[\w.-]+\.php$/.test(name) || name === PLUGIN_FILE)
      throw new Error(`"${name}" is not a valid name of a must-use plugin`);
  }
  const names = files.map(([name]) => name);
  for (const name of before) if (!names.includes(name)) rmSync(join(folder, name), { force: true });
  for (const [name, source] of files) writeFileSync(join(folder, name), source);
  return names;
}

/** Runs a PHP file of the document root. Resolves with its output. */
export type RunPhp = (fileInRoot: string) => Promise<string>;

/**
 * Installs WordPress into the database. With SQLite it uses the cached copy of an earlier installation, if
 * there is one.
 * @returns whether WordPress was installed, not copied
 */
export async function fillDatabase(dataDir: string, kind: DatabaseKind, runPhp: RunPhp): Promise<boolean> {
  const database = join(databaseFolder(dataDir), '.ht.sqlite');
  const cached = join(cacheRoot(), `installed-${installationKey()}`);
  if (kind === 'sqlite' && existsSync(cached)) {
    copyFileSync(join(cached, 'database.sqlite'), database);
    copyFileSync(join(cached, ROLES_FILE), join(dataDir, ROLES_FILE));
    return false;
  }

  const root = documentRoot(dataDir);
  const script = join(root, 'sandbox-setup.php');
  const settings = join(root, 'sandbox-setup.json');
  const users = Object.fromEntries(ROLES.map((role) => [role, randomBytes(12).toString('base64url')]));
  try {
    copyFileSync(join(PHP_SOURCES, 'setup.php'), script);
    writeFileSync(settings, JSON.stringify({ users, title: 'Harbour Town Calendar' }), { mode: 0o600 });
    const output = await runPhp('sandbox-setup.php');
    if (!output.includes('sandbox: installed'))
      throw new Error(`WordPress could not be installed: ${output.slice(-2000)}`);
    const credentials = readFileSync(settings, 'utf8');
    writeFileSync(join(dataDir, ROLES_FILE), `${JSON.stringify(JSON.parse(credentials), null, 2)}\n`, { mode: 0o600 });
  } finally {
    rmSync(script, { force: true });
    rmSync(settings, { force: true });
  }

  if (kind !== 'sqlite') return true;
  const work = `${cached}.${process.pid}`;
  mkdirSync(work, { recursive: true });
  copyFileSync(database, join(work, 'database.sqlite'));
  copyFileSync(join(dataDir, ROLES_FILE), join(work, ROLES_FILE));
  if (existsSync(cached)) rmSync(work, { recursive: true });
  else renameSync(work, cached);
  return true;
}

/** Creates records in one run of PHP, in which plugins are active already. */
export async function seed(dataDir: string, entries: readonly object[], runPhp: RunPhp): Promise<void> {
  const root = documentRoot(dataDir);
  const [script, data] = [join(root, 'sandbox-seed.php'), join(root, 'sandbox-seed.json')];
  try {
    copyFileSync(join(PHP_SOURCES, 'seed.php'), script);
    writeFileSync(data, JSON.stringify(entries), { mode: 0o600 });
    const output = await runPhp('sandbox-seed.php');
    if (!output.includes(`sandbox: created ${entries.length}`))
      throw new Error(`the site could not be filled: ${output.slice(-2000)}`);
  } finally {
    rmSync(script, { force: true });
    rmSync(data, { force: true });
  }
}

/** An installation can be used again as long as what makes it is the same. */
function installationKey(): string {
  const hash = createHash('sha256').update(WORDPRESS_PACKAGE.integrity);
  for (const name of ['setup.php', 'sandbox-plugin.php']) hash.update(readFileSync(join(PHP_SOURCES, name)));
  return hash.digest('hex').slice(0, 16);
}
