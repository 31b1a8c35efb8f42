// A hundred thousand lists in a row of which none is asked twice: how fast, and whether memory stays where it is.

import { cpuMs, type Load, REFUSED, residentMiB } from './processes.ts';
import { newLists } from './reads.ts';
import type { Figure } from './report.ts';
import type { Gateway } from './site.ts';

const ROUNDS = 10;
const LISTS_A_ROUND = 10_000;
const CONNECTIONS = 50;

export async function many(load: Load, gateway: Gateway): Promise<Figure[]> {
  const pid = gateway.pids[0]!;
  const memory: number[] = [residentMiB(pid)];
  const rates: number[] = [];
  const before = cpuMs(gateway.pids);
  let [elapsedMs, p99Ms, refused] = [0, 0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const paths = newLists(LISTS_A_ROUND);
    const result = await load.run({
      port: gateway.port,
      path: '',
      paths,
      connections: CONNECTIONS,
      requests: paths.length,
    });
    const { '200': answered = 0, [REFUSED]: turnedAway = 0 } = result.statuses;
    if (answered + turnedAway !== paths.length) throw new Error(JSON.stringify(result));
    refused += turnedAway;
    elapsedMs += result.elapsedMs;
    p99Ms = Math.max(p99Ms, result.p99Ms);
    rates.push((paths.length * 1000) / result.elapsedMs);
    memory.push(residentMiB(pid));
  }
  const total = ROUNDS * LISTS_A_ROUND;
  const cpuUs = ((cpuMs(gateway.pids) - before) * 1000) / total;
  const perSecond = (total * 1000) / elapsedMs;
  const [first, last] = [memory[1]!, memory.at(-1)!];
  return [
    {
      row: `${total} different lists of 50`,
      server: 'gateway',
      ...{ cpuUs, perSecond, p99Ms },
      note: `first ${rates[0]!.toFixed(0)}/s, last ${rates.at(-1)!.toFixed(0)}/s; ${memory[0]!.toFixed(0)}, ${first.toFixed(0)} .. ${last.toFixed(0)} MiB; ${refused} refused as too much at once`,
      values: {
        lists_100k_requests_per_s: perSecond,
        lists_100k_cpu_us: cpuUs,
        lists_100k_refused: refused,
        lists_100k_last_to_first_rate_ratio: rates.at(-1)! / rates[0]!,
        lists_100k_memory_before_mib: memory[0]!,
        lists_100k_memory_after_10k_mib: first,
        lists_100k_memory_after_mib: last,
        lists_100k_memory_last_to_first_ratio: last / first,
      },
    },
  ];
}
