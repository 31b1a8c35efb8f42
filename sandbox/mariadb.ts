// A MariaDB server for one site, with its own process, data folder and socket: independent of the machine's own server.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ProcessGroup, run, startGroup } from './processes.ts';
import { mariaDbFolder, mariaDbSocket } from './site.ts';

/** On a slow machine a killed server needs time for crash recovery. */
const READY_TIMEOUT_MS = 60_000;
/** The longest socket path on both Linux and macOS. */
const SOCKET_BYTES = 103;

/** Debian installs the server in a folder that is only on root's PATH. */
const env: NodeJS.ProcessEnv = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` };

/** Why this machine cannot run MariaDB; undefined if it can. */
export async function mariaDbProblem(): Promise<string | undefined> {
  for (const program of ['mariadbd', 'mariadb-install-db']) {
    const path = await run(['sh', '-c', `command -v ${program}`], { env }).catch(() => '');
    if (path.trim() === '') return `there is no ${program} on the path`;
  }
  return undefined;
}

/**
 * Starts the server of the site in a data folder, and creates the database `wordpress` if there is none.
 * Only the folder's owner has access to the socket, as `root` without a password. The server listens on no port.
 * @throws Error if the path of the socket is too long or the server does not start
 */
export async function startMariaDb(dataDir: string): Promise<ProcessGroup> {
  const folder = mariaDbFolder(dataDir);
  const socket = mariaDbSocket(dataDir);
  if (Buffer.byteLength(socket) > SOCKET_BYTES) {
    throw new Error(
      `the path of MariaDB's socket is longer than ${SOCKET_BYTES} bytes: name a shorter folder with --dir`,
    );
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const data = join(folder, 'data');
  // A starting server removes the temporary tables of others from a folder that they share.
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary, { recursive: true });
  // root must name the user to run as
  const asUser = process.getuid?.() === 0 ? ['--user=root'] : [];
  if (!existsSync(join(data, 'mysql'))) {
    await run(
      [
        'mariadb-install-db',
        '--no-defaults',
        `--datadir=${data}`,
        `--tmpdir=${temporary}`,
        '--auth-root-authentication-method=normal',
        ...asUser,
      ],
      { env },
    );
  }
  const server = startGroup(
    [
      ...['mariadbd', '--no-defaults', ...asUser, `--datadir=${data}`, `--tmpdir=${temporary}`],
      ...[`--socket=${socket}`, '--skip-networking'],
      ...[`--pid-file=${join(folder, 'pid')}`, '--character-set-server=utf8mb4', '--performance-schema=OFF'],
      // a sandbox may lose data in a crash: it does not wait for the disk
      ...['--innodb-flush-log-at-trx-commit=0', '--innodb-buffer-pool-size=64M', '--innodb-log-file-size=16M'],
    ],
    { cwd: folder, env, logFile: join(dataDir, 'mariadb.log') },
  );
  try {
    await untilReady(server, socket, join(dataDir, 'mariadb.log'));
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

async function untilReady(server: ProcessGroup, socket: string, logFile: string): Promise<void> {
  const connect = `new mysqli("localhost", "root", "", "", 0, ${JSON.stringify(socket)})`;
  const createDatabase = 'CREATE DATABASE IF NOT EXISTS wordpress CHARACTER SET utf8mb4';
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    try {
      await run(['php', '-d', 'display_errors=stderr', '-r', `(${connect})->query("${createDatabase}");`]);
      return;
    } catch (error) {
      const isLate = performance.now() > deadlineMs;
      if (isLate || server.exitCode() !== undefined)
        throw new Error(`MariaDB did not start: see ${logFile}`, { cause: error });
    }
    await new Promise((later) => setTimeout(later, 100));
  }
}
