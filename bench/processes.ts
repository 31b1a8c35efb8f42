// Processes of a benchmark: pins each to its core and reads its CPU time and memory from the operating
// system.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { accepts } from '../test/free-port.ts';
import { until } from '../test/until.ts';
import type { LoadResult, LoadTask } from './load-generator.ts';

/** How long a server may take to start. */
export const START_MS = 20_000;

/** Servers run on one core, the load generator on the other. */
export const SERVER_CORE = '0';
const LOAD_CORE = '1';

/**
 * CPU time of these processes, milliseconds, from the scheduler's nanosecond count (`proc(5)`; `stat` counts
 * ticks of 10 ms).
 */
export function cpuMs(pids: readonly number[]): number {
  let spentNs = 0;
  for (const pid of pids) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      spentNs += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    }
  }
  return spentNs / 1e6;
}

/** Resident memory, MiB. */
export function residentMiB(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) / 1024;
}

/** A process and its descendants. */
export function processTree(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      parents.set(Number(name), Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]!.split(' ')[1]));
    } catch {
      // The process has just exited.
    }
  }
  const tree = [pid];
  for (const ancestor of tree) for (const [child, parent] of parents) if (parent === ancestor) tree.push(child);
  return tree;
}

export interface Server {
  name: string;
  port: number;
  pids: number[];
  stop(): Promise<void>;
}

export async function untilListening(port: number, child: ChildProcess): Promise<void> {
  await until(() => child.exitCode !== null || accepts(port), `something listens on port ${port}`, START_MS);
  if (child.exitCode !== null) throw new Error(`the server on port ${port} ended`);
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Starts one server of `baseline-servers.ts` on the servers' core. */
export async function startBaseline(name: string, port: number, ...more: string[]): Promise<Server> {
  const script = `${import.meta.dirname}/baseline-servers.ts`;
  const child = spawn('taskset', ['-c', SERVER_CORE, process.execPath, script, name, String(port), ...more], {
    stdio: 'inherit',
  });
  await untilListening(port, child);
  return { name, port, pids: [child.pid!], stop: () => endProcess(child) };
}

export interface Load {
  run(task: LoadTask): Promise<LoadResult>;
  stop(): Promise<void>;
}

export function startLoad(): Load {
  const script = `${import.meta.dirname}/load-generator.ts`;
  const child = spawn('taskset', ['-c', LOAD_CORE, process.execPath, script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        const ended = () => reject(new Error('the load generator ended'));
        child.once('exit', ended);
        child.once('message', (result: LoadResult) => {
          child.off('exit', ended);
          resolve(result);
        });
        child.send(task);
      }),
    stop: () => endProcess(child),
  };
}

/** Status by which the gateway sheds load. */
const OVERLOADED_STATUS = '503';

export interface Measurement {
  cpuUs: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

const TRIES = 20;
const RETRY_MS = 500;

/**
 * Runs load on one server. Repeats a run in which the gateway shed load (another process had the core for a
 * tenth of a second). Throws on a response with any other status, or after `TRIES` such runs.
 */
export async function measure(
  load: Load,
  server: Server,
  task: Omit<LoadTask, 'port'>,
  status: number,
): Promise<Measurement> {
  for (let tries = 1; ; tries += 1) {
    const before = cpuMs(server.pids);
    const result = await load.run({ ...task, port: server.port });
    const spentMs = cpuMs(server.pids) - before;
    const { requests, elapsedMs, p50Ms, p99Ms, failures } = result;
    const others = Object.keys(result.statuses).filter((code) => code !== String(status));
    if (others.length === 0 && failures === 0 && requests > 0)
      return { cpuUs: (spentMs * 1000) / requests, perSecond: (requests * 1000) / elapsedMs, p50Ms, p99Ms };
    if (tries === TRIES || failures > 0 || others.some((code) => code !== OVERLOADED_STATUS))
      throw new Error(`${server.name} ${task.path}: ${JSON.stringify(result)}`);
    await pause(RETRY_MS);
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The value below which this share of the numbers lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
