// A hundred thousand different lists in a row: throughput and memory at the start and at the end.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../test/free-port.ts';
import type { Gateway } from './gateway.ts';
import { cpuMs, type Load, measure, median, OVERLOADED_STATUS, residentMiB, startBaseline } from './processes.ts';
import { recordResponse, uncachedLists } from './reads.ts';
import type { Figure } from './report.ts';

const RUNS = 10;
const LISTS_PER_RUN = 10_000;
const CONNECTIONS = 50;

/** The figures of the start and of the end are medians of this many runs. */
const EDGE_RUNS = 3;

export async function benchUncachedLists(load: Load, gateway: Gateway, dir: string): Promise<Figure[]> {
  const pid = gateway.pids[0]!;
  const file = join(dir, 'recorded-list.json');
  writeFileSync(file, JSON.stringify([{ ...(await recordResponse(gateway.port, uncachedLists(1)[0]!)), path: '*' }]));
  const raw = await startBaseline('raw', await freePort(), file);
  const memory: number[] = [residentMiB(pid)];
  /** Rate relative to raw node:http immediately after, because the speed of the machine varies. */
  const rates: number[] = [];
  let [elapsedMs, spentMs, p99Ms, shedTotal] = [0, 0, 0, 0];
  try {
    const lists = () => ({
      path: '',
      paths: uncachedLists(LISTS_PER_RUN),
      connections: CONNECTIONS,
      requests: LISTS_PER_RUN,
    });
    await measure(load, raw, lists(), 200);
    for (let run = 0; run < RUNS; run += 1) {
      const before = cpuMs(gateway.pids);
      const result = await load.run({ ...lists(), port: gateway.port });
      spentMs += cpuMs(gateway.pids) - before;
      const { '200': served = 0, [OVERLOADED_STATUS]: shed = 0 } = result.statuses;
      if (served + shed !== LISTS_PER_RUN) throw new Error(JSON.stringify(result));
      shedTotal += shed;
      elapsedMs += result.elapsedMs;
      p99Ms = Math.max(p99Ms, result.p99Ms);
      memory.push(residentMiB(pid));
      rates.push((LISTS_PER_RUN * 1000) / result.elapsedMs / (await measure(load, raw, lists(), 200)).perSecond);
    }
  } finally {
    await raw.stop();
  }
  const total = RUNS * LISTS_PER_RUN;
  const cpuUs = (spentMs * 1000) / total;
  const perSecond = (total * 1000) / elapsedMs;
  const [first, last] = [memory[1]!, memory.at(-1)!];
  const [startRate, endRate] = [median(rates.slice(0, EDGE_RUNS)), median(rates.slice(-EDGE_RUNS))];
  return [
    {
      row: `${total} different lists of 50`,
      server: 'gateway',
      cpuUs,
      perSecond,
      p99Ms,
      note: `${startRate.toFixed(2)} of raw node:http's rate at the start, ${endRate.toFixed(2)} at the end; ${memory[0]!.toFixed(0)}, ${first.toFixed(0)} .. ${last.toFixed(0)} MiB; ${shedTotal} shed`,
      values: {
        lists_100k_requests_per_s: perSecond,
        lists_100k_cpu_us: cpuUs,
        lists_100k_refused: shedTotal,
        lists_100k_last_to_first_rate_ratio: endRate / startRate,
        lists_100k_memory_before_mib: memory[0]!,
        lists_100k_memory_after_10k_mib: first,
        lists_100k_memory_after_mib: last,
        lists_100k_memory_last_to_first_ratio: last / first,
      },
    },
  ];
}
