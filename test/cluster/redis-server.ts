// Starts a redis-server for tests: on a free loopback port, without persistence, killed at the end.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createClient } from '@redis/client';
import { accepts, freePort } from '../free-port.ts';
import { until } from '../until.ts';

export interface RedisServer {
  port: number;
  url: string;
  child: ChildProcess;
  /** Kills it, like a crash. Without persistence all data is lost. */
  kill(): Promise<void>;
  /** Starts it again, empty, on the same port. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** The path of redis-server or valkey-server; undefined if neither is installed. */
export function findRedisServer(): string | undefined {
  const configured = process.env.CALENDAR_TEST_REDIS_SERVER;
  if (configured) return configured;
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'];
  return ['redis-server', 'valkey-server']
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((file) => existsSync(file));
}

const clientOf = ({ url }: RedisServer) => createClient({ url });

/** Runs commands with a client of its own. */
export async function withRedisClient<T>(
  server: RedisServer,
  work: (client: ReturnType<typeof clientOf>) => Promise<T>,
): Promise<T> {
  const client = clientOf(server);
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    client.destroy();
  }
}

/** Starts one with the configuration that docs/scaling.md recommends. Throws if none is installed. */
export async function startRedisServer(): Promise<RedisServer> {
  const file = findRedisServer();
  if (!file) throw new Error('no redis-server found: apt-get install redis-server, or set CALENDAR_TEST_REDIS_SERVER');
  // Outside the range of outgoing connections: a client that tries to reconnect must not get the port as its own.
  const port = await freePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const memory = ['--maxmemory', '512mb', '--maxmemory-policy', 'noeviction'];

  async function start(): Promise<ChildProcess> {
    const child = spawn(file!, [...settings, ...memory], { stdio: 'ignore' });
    await until(() => child.exitCode !== null || accepts(port), `${file} accepts connections`);
    if (child.exitCode !== null) throw new Error(`${file} cannot listen on port ${port}`);
    return child;
  }

  const server: RedisServer = {
    port,
    url: `redis://127.0.0.1:${port}`,
    child: await start(),
    async kill() {
      const { child } = server;
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    async restart() {
      await server.kill();
      server.child = await start();
    },
    close: () => server.kill(),
  };
  return server;
}

/**
 * Starts one for the tests of a `describe`, empty before each test. Calls `onStart` before all other hooks of
 * the `describe`.
 */
export function useRedisServer(onStart: (server: RedisServer) => void): void {
  let server: RedisServer;
  before(async () => {
    server = await startRedisServer();
    onStart(server);
  });
  after(() => server.close());
  beforeEach(() => server.restart());
}
