// A gateway in a process of its own, and what can be read off it from outside: memory, descriptors, answers.

import { readdirSync, readFileSync } from 'node:fs';
import { nodeFlags } from '../../bench/as-started.ts';
import { exchange, MOUNT } from '../faults/gateway.ts';
import { PASSWORD, startWordPress, type WordPressStandIn } from '../faults/wordpress.ts';
import { type Serving, serve, untilReady } from '../process/serving.ts';

export interface Measured extends Serving {
  wordpress: WordPressStandIn;
  /** Memory of the process, in megabytes. */
  rssMb(): number;
  descriptors(): number;
  /** Sums of the metrics whose lines begin so, all of one moment: some begin anew whenever they are read. */
  metrics<const T extends string>(...names: T[]): Promise<Record<T, number>>;
  metric(name: string): Promise<number>;
  stop(): Promise<number | string | null>;
}

/** Starts one before a stand-in for WordPress, which `fill` may add to, with limits that do not take a load test for an attack. Waits for its copy. */
export async function startMeasured(
  config: Record<string, object> = {},
  flags: string[] = [],
  fill: (wordpress: WordPressStandIn) => void = () => {},
): Promise<Measured> {
  const wordpress = await startWordPress();
  fill(wordpress);
  const generous = { requestsPerMinute: 1e9, failedLoginsPerAddress: 1e9, failedLoginsPerUser: 1e9 };
  const serving = await serve(wordpress.url.href, {
    password: PASSWORD,
    flags: [...nodeFlags(), ...flags],
    config: { log: { level: 'error' }, ...config, limits: { ...generous, ...config.limits } },
  });
  await untilReady(serving);
  const { child, adminPort } = serving;
  async function metrics<const T extends string>(...names: T[]): Promise<Record<T, number>> {
    const lines = (await exchange(adminPort, '/metrics')).text.split('\n');
    const sumOf = (name: string) =>
      lines.filter((line) => line.startsWith(name)).reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    return Object.fromEntries(names.map((name) => [name, sumOf(name)])) as Record<T, number>;
  }
  return {
    ...serving,
    wordpress,
    rssMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024,
    descriptors: () => readdirSync(`/proc/${child.pid}/fd`).length,
    metrics,
    metric: async (name) => (await metrics(name))[name]!,
    async stop() {
      child.kill('SIGTERM');
      const code = await serving.ended;
      await wordpress.close();
      return code;
    },
  };
}

/** The value below which this share of the sorted numbers lies. */
export const part = (sorted: number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

export const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

const rows: { what: string; figure: string; bound: string; isKept: boolean }[] = [];

/** Notes one figure beside what is demanded of it. */
export function report(what: string, figure: string, bound: string, isKept: boolean): void {
  rows.push({ what, figure, bound, isKept });
  console.log(`${isKept ? 'kept  ' : 'BROKEN'}  ${what}: ${figure} (${bound})`);
}

/** Says how many were kept; the exit code is 1 when one was not. */
export function conclude(): void {
  const broken = rows.filter(({ isKept }) => !isKept).length;
  console.log(`${rows.length - broken} kept, ${broken} broken`);
  process.exitCode = broken === 0 ? 0 : 1;
}

export { MOUNT };
