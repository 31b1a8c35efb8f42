// A site's folder: WordPress's files laid out, its configuration, its must-use plugins, its users' credentials.

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
import type { WordPressFiles } from './files.ts';
import { cacheRoot, PHP_SOURCES, WORDPRESS_PACKAGE } from './paths.ts';
import { type DatabaseKind, type SiteSettings, wpConfig } from './wp-config.ts';

/** The users of a site: WordPress's roles, the first of them under its short name. */
export const ROLES = ['admin', 'editor', 'author', 'contributor', 'subscriber'] as const;
export type Role = (typeof ROLES)[number];

/** How one user signs in: the password in wp-admin, the application password (Basic) in the REST interface. */
export interface Credentials {
  user: string;
  password: string;
  applicationPassword: string;
}

/** What a site remembers from one start to the next. */
export interface SiteState extends SiteSettings {
  wordpress: string;
  /** Names of the must-use plugins that the sandbox wrote. */
  muPlugins: string[];
}

const ROLES_FILE = 'credentials.json';
const STATE_FILE = 'state.json';
const PLUGIN_FILE = '0-sandbox.php';

/** The document root of the site in a data folder. */
export function documentRoot(dataDir: string): string {
  return join(dataDir, 'wordpress');
}

/** The folder of the site's database: beside the document root, so that no server hands it out. */
export function databaseFolder(dataDir: string): string {
  return join(dataDir, 'database');
}

/** The folder of the site's MariaDB server, where it has one. */
export function mariaDbFolder(dataDir: string): string {
  return join(dataDir, 'mariadb');
}

/** The socket of the site's MariaDB server: only the folder's owner reaches it. */
export function mariaDbSocket(dataDir: string): string {
  return join(mariaDbFolder(dataDir), 'socket');
}

/** The state of the site in a data folder; undefined where there is none yet. */
export function readState(dataDir: string): SiteState | undefined {
  const file = join(dataDir, STATE_FILE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SiteState) : undefined;
}

/** Keeps the state; a site counts as made once its state is there. */
export function writeState(dataDir: string, state: SiteState): void {
  writeFileSync(join(dataDir, STATE_FILE), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
}

/** The users' credentials of the site in a data folder. */
export function readCredentials(dataDir: string): Record<Role, Credentials> {
  return JSON.parse(readFileSync(join(dataDir, ROLES_FILE), 'utf8')) as Record<Role, Credentials>;
}

/**
 * Removes a site with all its data.
 * @throws Error when the folder holds something that is no site, so that a mistyped folder is not emptied
 */
export function removeSite(dataDir: string): void {
  if (!existsSync(dataDir)) return;
  const ours = existsSync(join(dataDir, STATE_FILE)) || existsSync(join(dataDir, 'wordpress'));
  if (!ours && readdirSync(dataDir).length > 0) {
    throw new Error(`${dataDir} holds other things than a sandbox: name another folder`);
  }
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes what an interrupted first start left behind. */
export function removeLeftovers(dataDir: string): void {
  rmSync(documentRoot(dataDir), { recursive: true, force: true });
  rmSync(databaseFolder(dataDir), { recursive: true, force: true });
  rmSync(mariaDbFolder(dataDir), { recursive: true, force: true });
}

/** Lays out WordPress, its SQLite integration where it is needed, and an empty content folder. */
export function layFiles(dataDir: string, files: WordPressFiles, database: DatabaseKind): void {
  const root = documentRoot(dataDir);
  const content = join(root, 'wp-content');
  linkTree(files.wordpress, root);
  for (const name of ['mu-plugins', 'uploads']) mkdirSync(join(content, name), { recursive: true });
  if (database === 'mariadb') return;
  const plugin = join(content, 'plugins/sqlite-database-integration');
  linkTree(files.sqlite, plugin);
  const dropIn = readFileSync(join(files.sqlite, 'db.copy'), 'utf8')
    // left empty, the drop-in looks beside itself: the folder has another path when it is mounted elsewhere
    .replaceAll('{SQLITE_IMPLEMENTATION_FOLDER_PATH}', '')
    .replaceAll('{SQLITE_PLUGIN}', 'sqlite-database-integration/load.php');
  writeFileSync(join(content, 'db.php'), dropIn);
  mkdirSync(databaseFolder(dataDir), { recursive: true });
}

/** Copies a folder by hard links (nobody writes into WordPress's own files), by contents where links cannot be made. */
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

/** Moves the database of a site that was made while it still lay inside the document root. */
export function moveDatabase(dataDir: string): void {
  const inside = join(documentRoot(dataDir), 'wp-content/database');
  if (existsSync(inside) && !existsSync(databaseFolder(dataDir))) renameSync(inside, databaseFolder(dataDir));
}

/** Writes wp-config.php and the sandbox's own plugin: both are the same for both ways of running PHP. */
export function configure(dataDir: string, state: SiteState): void {
  const root = documentRoot(dataDir);
  mkdirSync(join(root, 'wp-content/mu-plugins'), { recursive: true });
  copyFileSync(join(PHP_SOURCES, 'sandbox-plugin.php'), join(root, 'wp-content/mu-plugins', PLUGIN_FILE));
  writeFileSync(join(root, 'wp-config.php'), wpConfig(state, rulesMark(dataDir, state), mariaDbSocket(dataDir)), {
    mode: 0o600,
  });
}

/** Changes whenever the rewrite rules may have to. */
function rulesMark(dataDir: string, state: SiteState): string {
  const hash = createHash('sha256').update(state.permalinks);
  const folder = join(documentRoot(dataDir), 'wp-content/mu-plugins');
  for (const name of readdirSync(folder).sort()) {
    if (name.endsWith('.php')) hash.update(name).update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex');
}

/**
 * Writes the must-use plugins given and removes those of an earlier start that are not among them; other files there
 * (put in by hand) stay.
 * @returns the names written, for the state
 */
export function writeMuPlugins(dataDir: string, plugins: Record<string, string>, before: readonly string[]): string[] {
  const folder = join(documentRoot(dataDir), 'wp-content/mu-plugins');
  mkdirSync(folder, { recursive: true });
  const wanted = Object.entries(plugins).map(
    ([name, source]) => [name.endsWith('.php') ? name : `${name}.php`, source] as const,
  );
  for (const [name] of wanted) {
    if (!/^[\w.-]+\.php$/.test(name) || name === PLUGIN_FILE)
      throw new Error(`"${name}" cannot be a must-use plugin's name`);
  }
  const names = wanted.map(([name]) => name);
  for (const name of before) if (!names.includes(name)) rmSync(join(folder, name), { force: true });
  for (const [name, source] of wanted) writeFileSync(join(folder, name), source);
  return names;
}

/** Runs a PHP file of the document root and gives what it printed. */
export type RunPhp = (fileInRoot: string) => Promise<string>;

/**
 * Fills the database of a site that has its files and configuration. With SQLite it takes the copy kept of an earlier
 * installation, or installs WordPress and keeps a copy; with MariaDB it always installs WordPress.
 * @returns whether WordPress was installed anew
 */
export async function fillDatabase(dataDir: string, kind: DatabaseKind, runPhp: RunPhp): Promise<boolean> {
  const database = join(databaseFolder(dataDir), '.ht.sqlite');
  const kept = join(cacheRoot(), `installed-${installationKey()}`);
  if (kind === 'sqlite' && existsSync(kept)) {
    copyFileSync(join(kept, 'database.sqlite'), database);
    copyFileSync(join(kept, ROLES_FILE), join(dataDir, ROLES_FILE));
    return false;
  }

  const root = documentRoot(dataDir);
  const script = join(root, 'sandbox-setup.php');
  const wish = join(root, 'sandbox-wish.json');
  const users = Object.fromEntries(ROLES.map((role) => [role, randomBytes(12).toString('base64url')]));
  try {
    copyFileSync(join(PHP_SOURCES, 'setup.php'), script);
    writeFileSync(wish, JSON.stringify({ users, title: 'Harbour Town Calendar' }), { mode: 0o600 });
    const said = await runPhp('sandbox-setup.php');
    if (!said.includes('sandbox: installed')) throw new Error(`WordPress could not be installed: ${said.slice(-2000)}`);
    const made = readFileSync(wish, 'utf8');
    writeFileSync(join(dataDir, ROLES_FILE), `${JSON.stringify(JSON.parse(made), null, 2)}\n`, { mode: 0o600 });
  } finally {
    rmSync(script, { force: true });
    rmSync(wish, { force: true });
  }

  if (kind !== 'sqlite') return true;
  const work = `${kept}.${process.pid}`;
  mkdirSync(work, { recursive: true });
  copyFileSync(database, join(work, 'database.sqlite'));
  copyFileSync(join(dataDir, ROLES_FILE), join(work, ROLES_FILE));
  if (existsSync(kept)) rmSync(work, { recursive: true });
  else renameSync(work, kept);
  return true;
}

/** An installation can be used again as long as what makes it is the same. */
function installationKey(): string {
  const hash = createHash('sha256').update(WORDPRESS_PACKAGE.integrity);
  for (const name of ['setup.php', 'sandbox-plugin.php']) hash.update(readFileSync(join(PHP_SOURCES, name)));
  return hash.digest('hex').slice(0, 16);
}
