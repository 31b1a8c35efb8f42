// A redis-server of the tests' own: found or named, on a free loopback port, without a disk, ended with the tests.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { createClient } from '@redis/client';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';

export interface EngineProcess {
  port: number;
  url: string;
  child: ChildProcess;
  /** Ends it as a crash does; with nothing on disk, everything in it is lost. */
  kill(): Promise<void>;
  /** Begins it again, empty, on the same port. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Where redis-server or valkey-server is; undefined when there is none. */
export function findEngine(): string | undefined {
  const named = process.env.CALENDAR_TEST_REDIS_SERVER;
  if (named) return named;
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'];
  return ['redis-server', 'valkey-server']
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((file) => existsSync(file));
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const clientOf = ({ url }: EngineProcess) => createClient({ url });

/** A look into it, past the gateways. */
export async function inside<T>(
  engine: EngineProcess,
  work: (client: ReturnType<typeof clientOf>) => Promise<T>,
): Promise<T> {
  const client = clientOf(engine);
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    client.destroy();
  }
}

/** Starts one, as docs/scaling.md says it should be configured. Throws when none is installed. */
export async function startEngine(): Promise<EngineProcess> {
  const file = findEngine();
  if (!file)
    throw new Error('there is no redis-server here: apt-get install redis-server, or CALENDAR_TEST_REDIS_SERVER');
  const port = await freePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const memory = ['--maxmemory', '512mb', '--maxmemory-policy', 'noeviction'];

  async function start(): Promise<ChildProcess> {
    const child = spawn(file!, [...settings, ...memory], { stdio: 'ignore' });
    await until(() => answers(port), `${file} answers`);
    return child;
  }

  const engine: EngineProcess = {
    port,
    url: `redis://127.0.0.1:${port}`,
    child: await start(),
    async kill() {
      const { child } = engine;
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    async restart() {
      await engine.kill();
      engine.child = await start();
    },
    close: () => engine.kill(),
  };
  return engine;
}

/** Starts one for the tests of a `describe`, empty before each of them. `given` is told it before any other hook of the `describe`. */
export function useEngine(given: (engine: EngineProcess) => void): void {
  let engine: EngineProcess;
  before(async () => {
    engine = await startEngine();
    given(engine);
  });
  after(() => engine.close());
  beforeEach(() => engine.restart());
}
