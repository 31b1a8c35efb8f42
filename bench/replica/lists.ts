// Measures the lists: queries of the replica alone, and requests to the gateway.

import { Agent } from 'undici';
import type { Replica } from '../../src/store/replica.ts';
import { countEvents, filterOf, LISTS, type List, queryString } from './list-queries.ts';
import type { EventFacts, Size } from './site.ts';

export interface ListTimes {
  name: string;
  group: List['group'];
  total: number;
  p50Ms: number;
  p99Ms: number;
  /** Mean CPU time in this process. */
  cpuMs: number;
}

/** The value below which this share of the numbers lies. */
export function percentile(numbers: number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A total is checked every so many turns, and in the last. */
const CHECK_EVERY = 20;

/** Resolves with the total of the list. */
type Run = (list: List, turn: number) => number | Promise<number>;

async function time(turns: number, size: Size, facts: readonly EventFacts[], run: Run): Promise<ListTimes[]> {
  const rows: ListTimes[] = [];
  for (const list of LISTS) {
    const { name, group } = list;
    const times: number[] = [];
    let usedMs = 0;
    let total = 0;
    for (let turn = 0; turn <= turns; turn += 1) {
      const cpu = process.cpuUsage();
      const startedMs = performance.now();
      const result = run(list, turn);
      total = typeof result === 'number' ? result : await result;
      // The first turn prepares the statement, or opens the connection.
      if (turn > 0) {
        times.push(performance.now() - startedMs);
        const { user, system } = process.cpuUsage(cpu);
        usedMs += (user + system) / 1000;
      }
      if (turn % CHECK_EVERY !== 0 && turn !== turns) continue;
      const expected = countEvents(list.query(turn, size), facts, size);
      if (expected !== total) throw new Error(`${name}, turn ${turn}: ${total} events, expected ${expected}`);
    }
    rows.push({
      name,
      group,
      total,
      p50Ms: percentile(times, 0.5),
      p99Ms: percentile(times, 0.99),
      cpuMs: usedMs / turns,
    });
  }
  return rows;
}

/** Measures queries of the replica: the ids of a page and the total. Throws if a total is wrong. */
export function timeReplica(
  replica: Replica,
  turns: number,
  size: Size,
  facts: readonly EventFacts[],
): Promise<ListTimes[]> {
  return time(turns, size, facts, (list, turn) => replica.listEvents(filterOf(list.query(turn, size), size)).total);
}

/** Measures requests of whole pages of fifty events, over one connection. Throws if a total is wrong. */
export async function timeGateway(
  url: string,
  turns: number,
  size: Size,
  facts: readonly EventFacts[],
): Promise<ListTimes[]> {
  const agent = new Agent({ connections: 1 });
  try {
    return await time(turns, size, facts, async (list, turn) => {
      const path = `/calendar/events/v1/events?${queryString(list.query(turn, size))}`;
      const { statusCode, headers, body } = await agent.request({ origin: url, method: 'GET', path });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${text.slice(0, 200)}`);
      return Number(headers['x-tec-total'] ?? headers['x-wp-total'] ?? (JSON.parse(text) as { total: number }).total);
    });
  } finally {
    await agent.close();
  }
}
