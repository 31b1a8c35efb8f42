// A hundred thousand lists in a row of which none is asked twice: how fast, and whether memory stays where it is.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../test/free-port.ts';
import { cpuMs, type Load, measure, median, REFUSED, residentMiB, startRival } from './processes.ts';
import { newLists, take } from './reads.ts';
import type { Figure } from './report.ts';
import type { Gateway } from './site.ts';

const ROUNDS = 10;
const LISTS_A_ROUND = 10_000;
const CONNECTIONS = 50;

/** What is said of the beginning and of the end is the middle of so many rounds. */
const AT_EITHER_END = 3;

export async function many(load: Load, gateway: Gateway, dir: string): Promise<Figure[]> {
  const pid = gateway.pids[0]!;
  const file = join(dir, 'taken-list.json');
  writeFileSync(file, JSON.stringify([{ ...(await take(gateway.port, newLists(1)[0]!)), path: '*' }]));
  const raw = await startRival('raw', await freePort(), file);
  const memory: number[] = [residentMiB(pid)];
  /** Answers a second, beside those of raw node:http right after: the machine is another one from minute to minute. */
  const rates: number[] = [];
  let [elapsedMs, spentMs, p99Ms, refused] = [0, 0, 0, 0];
  try {
    const lists = () => ({
      path: '',
      paths: newLists(LISTS_A_ROUND),
      connections: CONNECTIONS,
      requests: LISTS_A_ROUND,
    });
    await measure(load, raw, lists(), 200);
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = cpuMs(gateway.pids);
      const result = await load.run({ ...lists(), port: gateway.port });
      spentMs += cpuMs(gateway.pids) - before;
      const { '200': answered = 0, [REFUSED]: turnedAway = 0 } = result.statuses;
      if (answered + turnedAway !== LISTS_A_ROUND) throw new Error(JSON.stringify(result));
      refused += turnedAway;
      elapsedMs += result.elapsedMs;
      p99Ms = Math.max(p99Ms, result.p99Ms);
      memory.push(residentMiB(pid));
      rates.push((LISTS_A_ROUND * 1000) / result.elapsedMs / (await measure(load, raw, lists(), 200)).perSecond);
    }
  } finally {
    await raw.stop();
  }
  const total = ROUNDS * LISTS_A_ROUND;
  const cpuUs = (spentMs * 1000) / total;
  const perSecond = (total * 1000) / elapsedMs;
  const [first, last] = [memory[1]!, memory.at(-1)!];
  const [begun, ended] = [median(rates.slice(0, AT_EITHER_END)), median(rates.slice(-AT_EITHER_END))];
  return [
    {
      row: `${total} different lists of 50`,
      server: 'gateway',
      ...{ cpuUs, perSecond, p99Ms },
      note: `${begun.toFixed(2)} of raw node:http's rate at first, ${ended.toFixed(2)} at last; ${memory[0]!.toFixed(0)}, ${first.toFixed(0)} .. ${last.toFixed(0)} MiB; ${refused} refused as too much at once`,
      values: {
        lists_100k_requests_per_s: perSecond,
        lists_100k_cpu_us: cpuUs,
        lists_100k_refused: refused,
        lists_100k_last_to_first_rate_ratio: ended / begun,
        lists_100k_memory_before_mib: memory[0]!,
        lists_100k_memory_after_10k_mib: first,
        lists_100k_memory_after_mib: last,
        lists_100k_memory_last_to_first_ratio: last / first,
      },
    },
  ];
}
