// A MariaDB server for one site: its own process, data folder and socket; nothing of the machine's own service is used.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Group, run, startGroup } from './processes.ts';
import { mariaDbFolder, mariaDbSocket } from './site.ts';

/** Long enough for a server that was killed to read its log when it starts again on a slow machine. */
const READY_TIMEOUT_MS = 60_000;
/** The longest path of a socket that both Linux and macOS take. */
const SOCKET_BYTES = 103;

/** Debian puts the server where only root looks. */
const env: NodeJS.ProcessEnv = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` };

/** Why MariaDB cannot be used here, or undefined when it can. */
export async function mariaDbLack(): Promise<string | undefined> {
  for (const program of ['mariadbd', 'mariadb-install-db']) {
    const found = await run(['sh', '-c', `command -v ${program}`], { env }).catch(() => '');
    if (found.trim() === '') return `there is no ${program} on the path`;
  }
  return undefined;
}

/**
 * Starts the server of the site in a data folder, made new where it has none, with an empty database `wordpress` in it.
 * Only the folder's owner can reach the socket, as `root` without a password; the server listens on no port.
 * @throws Error when the path of the socket is too long or the server does not start
 */
export async function startMariaDb(dataDir: string): Promise<Group> {
  const folder = mariaDbFolder(dataDir);
  const socket = mariaDbSocket(dataDir);
  if (Buffer.byteLength(socket) > SOCKET_BYTES) {
    throw new Error(
      `the path of MariaDB's socket is longer than ${SOCKET_BYTES} bytes: name a shorter folder with --dir`,
    );
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const data = join(folder, 'data');
  // a server that root starts needs the name of the user to run as
  const asUser = process.getuid?.() === 0 ? ['--user=root'] : [];
  if (!existsSync(join(data, 'mysql'))) {
    await run(
      [
        'mariadb-install-db',
        '--no-defaults',
        `--datadir=${data}`,
        '--auth-root-authentication-method=normal',
        ...asUser,
      ],
      { env },
    );
  }
  const server = startGroup(
    [
      ...['mariadbd', '--no-defaults', ...asUser, `--datadir=${data}`, `--socket=${socket}`, '--skip-networking'],
      ...[`--pid-file=${join(folder, 'pid')}`, '--character-set-server=utf8mb4', '--performance-schema=OFF'],
      // a sandbox's data may be lost with the machine: it does not wait for the disk
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

async function untilReady(server: Group, socket: string, logFile: string): Promise<void> {
  const connect = `new mysqli("localhost", "root", "", "", 0, ${JSON.stringify(socket)})`;
  const make = 'CREATE DATABASE IF NOT EXISTS wordpress CHARACTER SET utf8mb4';
  const deadlineMs = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    try {
      await run(['php', '-d', 'display_errors=stderr', '-r', `(${connect})->query("${make}");`]);
      return;
    } catch (error) {
      const over = performance.now() > deadlineMs;
      if (over || server.exitCode() !== undefined)
        throw new Error(`MariaDB did not start: see ${logFile}`, { cause: error });
    }
    await new Promise((later) => setTimeout(later, 100));
  }
}
