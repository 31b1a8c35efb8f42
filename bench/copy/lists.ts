// Times and totals of every question, asked of the copy itself and of the gateway over HTTP.

import { Agent } from 'undici';
import type { Replica } from '../../src/replica/store.ts';
import { countByHand, filterOf, QUESTIONS, type Question, queryOf } from './questions.ts';
import type { EventFacts, Size } from './site.ts';

export interface Timed {
  name: string;
  group: Question['group'];
  total: number;
  p50Ms: number;
  p99Ms: number;
  /** What one costs the processor on the average, in this process. */
  cpuMs: number;
}

/** The value below which `part` of the numbers lie. */
export function percentile(numbers: number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** A total is counted by hand every so many turns, and at the last. */
const CHECK_EVERY = 20;

type Answer = (question: Question, turn: number) => number | Promise<number>;

async function time(turns: number, size: Size, facts: readonly EventFacts[], answer: Answer): Promise<Timed[]> {
  const rows: Timed[] = [];
  for (const question of QUESTIONS) {
    const { name, group } = question;
    const times: number[] = [];
    let usedMs = 0;
    let total = 0;
    for (let turn = 0; turn <= turns; turn += 1) {
      const used = process.cpuUsage();
      const from = performance.now();
      const waiting = answer(question, turn);
      total = typeof waiting === 'number' ? waiting : await waiting;
      // The first makes the statement, or the connection.
      if (turn > 0) {
        times.push(performance.now() - from);
        const { user, system } = process.cpuUsage(used);
        usedMs += (user + system) / 1000;
      }
      if (turn % CHECK_EVERY !== 0 && turn !== turns) continue;
      const counted = countByHand(question.asks(turn, size), facts, size);
      if (counted !== total) throw new Error(`${name}, turn ${turn}: ${total} events, by hand ${counted}`);
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

/** Ids of a page and exact total, out of the copy. Throws when a total is not what is counted by hand. */
export function timeCopy(replica: Replica, turns: number, size: Size, facts: readonly EventFacts[]): Promise<Timed[]> {
  return time(turns, size, facts, (question, turn) => replica.events(filterOf(question.asks(turn, size), size)).total);
}

/** The whole answer with fifty events in it, over one connection. Throws when a total is not what is counted by hand. */
export async function timeGateway(
  url: string,
  turns: number,
  size: Size,
  facts: readonly EventFacts[],
): Promise<Timed[]> {
  const agent = new Agent({ connections: 1 });
  try {
    return await time(turns, size, facts, async (question, turn) => {
      const path = `/calendar/events/v1/events?${queryOf(question.asks(turn, size))}`;
      const { statusCode, headers, body } = await agent.request({ origin: url, method: 'GET', path });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${text.slice(0, 200)}`);
      return Number(headers['x-tec-total'] ?? headers['x-wp-total'] ?? (JSON.parse(text) as { total: number }).total);
    });
  } finally {
    await agent.close();
  }
}
