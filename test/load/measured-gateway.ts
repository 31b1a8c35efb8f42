// Starts a gateway in its own process and measures it from outside: memory, descriptors, latency.

import { readdirSync } from 'node:fs';
import { residentMiB } from '../../bench/processes.ts';
import type { LIMITS } from '../../src/fixed-limits.ts';
import { MEMORY_ENVIRONMENT, NODE_FLAGS } from '../../src/node-flags.ts';
import { type FakeWordPress, PASSWORD, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { type GatewayProcess, MOUNT, sendRequest, startGateway } from '../start-gateway.ts';

export interface MeasuredGateway extends GatewayProcess {
  wordpress: FakeWordPress;
  /** Resident memory of the process, in megabytes. */
  rssMb(): number;
  descriptors(): number;
  /** Sums of the metrics with these prefixes, from one scrape: some metrics reset on every scrape. */
  metrics<const T extends string>(...names: T[]): Promise<Record<T, number>>;
  metric(name: string): Promise<number>;
  stop(): Promise<number | string | null>;
}

/**
 * Starts a gateway in front of a fake WordPress (extended by `fill`), with limits that allow a load test.
 * Waits for the initial sync.
 */
export async function startMeasuredGateway(
  config: Record<string, object> = {},
  flags: string[] = [],
  fill: (wordpress: FakeWordPress) => void = () => {},
  limits: Partial<typeof LIMITS.limits> = {},
): Promise<MeasuredGateway> {
  const wordpress = await startFakeWordPress();
  fill(wordpress);
  const logins = { failedLoginsPerAddress: 1e9, failedLoginsPerUser: 1e9 };
  const serving = await startGateway({
    transport: 'process',
    cmsUrl: wordpress.url.href,
    service: { user: 'admin', password: PASSWORD },
    flags: [...NODE_FLAGS, ...flags],
    // As `serve` sets it.
    env: MEMORY_ENVIRONMENT,
    config: { log: { level: 'error' }, limits: { requestsPerMinute: 1e9 }, ...config },
    limits: { limits: { ...logins, ...limits } },
  });
  await serving.untilReady();
  const { child, adminPort } = serving;
  async function metrics<const T extends string>(...names: T[]): Promise<Record<T, number>> {
    const lines = (await sendRequest(adminPort, '/metrics')).text.split('\n');
    const sumOf = (name: string) =>
      lines.filter((line) => line.startsWith(name)).reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    return Object.fromEntries(names.map((name) => [name, sumOf(name)])) as Record<T, number>;
  }
  return {
    ...serving,
    wordpress,
    rssMb: () => residentMiB(child.pid!),
    descriptors: () => readdirSync(`/proc/${child.pid}/fd`).length,
    metrics,
    metric: async (name) => (await metrics(name))[name]!,
    async stop() {
      child.kill('SIGTERM');
      const code = await serving.exited;
      await wordpress.close();
      return code;
    },
  };
}

let [kept, broken] = [0, 0];

/** Prints a figure and its bound, and counts it. */
export function report(what: string, figure: string, bound: string, isWithinBound: boolean): void {
  if (isWithinBound) kept += 1;
  else broken += 1;
  console.log(`${isWithinBound ? 'kept  ' : 'BROKEN'}  ${what}: ${figure} (${bound})`);
}

/** Prints how many figures are within their bounds; sets exit code 1 if any is not. */
export function exitWithResult(): void {
  console.log(`${kept} kept, ${broken} broken`);
  process.exitCode = broken === 0 ? 0 : 1;
}

export { MOUNT };
