// Measures the lists: queries of the replica alone, and requests to the gateway.

import { Agent } from 'undici';
import { listEvents } from '../../src/store/list-events.ts';
import type { Replica } from '../../src/store/replica.ts';
import { percentile } from '../processes.ts';
import { filterOf, LISTS, type List, queryString, REPLICA_LISTS } from './list-queries.ts';
import type { Size } from './site.ts';

export interface ListTimes {
  name: string;
  group: List['group'] | 'machine';
  total: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time in this process: a busy machine lengthens it less. */
  cpuMs: number;
  /**
   * The same after the least of every three lists in a row: a machine that stops a process for 40 ms now and then does so
   * rarely three times in a row.
   */
  steadyP99Ms: number;
}

const leastOfThree = (times: readonly number[]): number[] =>
  Array.from({ length: Math.ceil(times.length / 3) }, (_, n) => Math.min(...times.slice(3 * n, 3 * n + 3)));

/** @param run resolves with the total of the list */
async function time(
  turns: number,
  run: (turn: number) => number | Promise<number>,
): Promise<Omit<ListTimes, 'name' | 'group'>> {
  const times: number[] = [];
  let cpuMs = 0;
  let total = 0;
  for (let turn = 0; turn <= turns; turn += 1) {
    const cpu = process.cpuUsage();
    const startedMs = performance.now();
    const result = run(turn);
    total = typeof result === 'number' ? result : await result;
    // The first turn prepares the statement, or opens the connection.
    if (turn === 0) continue;
    times.push(performance.now() - startedMs);
    const { user, system } = process.cpuUsage(cpu);
    cpuMs += (user + system) / 1000 / turns;
  }
  const [p50Ms, p99Ms] = [percentile(times, 0.5), percentile(times, 0.99)];
  return { total, p50Ms, p99Ms, cpuMs, steadyP99Ms: percentile(leastOfThree(times), 0.99) };
}

/** Arithmetic that always takes equally long: by how much its times differ is the machine's part in all others. */
function compute(): number {
  let hash = 0;
  for (let n = 0; n < 4e6; n += 1) hash = (hash * 31 + n) | 0;
  return hash & 1;
}

/** Measures queries of the replica: the ids of a page and the total. */
export async function timeReplica(replica: Replica, turns: number, size: Size): Promise<ListTimes[]> {
  const rows: ListTimes[] = [];
  for (const { name, group, query } of LISTS) {
    const run = (turn: number) => listEvents(replica.db, filterOf(query(turn, size), size)).total;
    rows.push({ name, group, ...(await time(turns, run)) });
  }
  for (const { name, group, total } of REPLICA_LISTS)
    rows.push({ name, group, ...(await time(turns, (turn) => total(replica, turn, size))) });
  rows.push({ name: 'no list: arithmetic', group: 'machine', ...(await time(turns, compute)) });
  return rows;
}

/** Measures requests of whole pages of fifty events, over one connection. */
export async function timeGateway(url: string, turns: number, size: Size): Promise<ListTimes[]> {
  const agent = new Agent({ connections: 1 });
  const rows: ListTimes[] = [];
  try {
    for (const { name, group, query } of LISTS) {
      const run = async (turn: number) => {
        const path = `/calendar/events/v1/events?${queryString(query(turn, size))}`;
        const { statusCode, headers, body } = await agent.request({ origin: url, method: 'GET', path });
        const text = await body.text();
        if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${text.slice(0, 200)}`);
        return Number(headers['x-tec-total']);
      };
      rows.push({ name, group, ...(await time(turns, run)) });
    }
  } finally {
    await agent.close();
  }
  return rows;
}
