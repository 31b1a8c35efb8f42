// The gateway in a process of its own, with what is measured from inside it: told on request over the channel to bench/copy.ts.

import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { loadConfig } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import type { Observation } from '../../src/observe/events.ts';

export interface Inside {
  /** Milliseconds from `createGateway` on, until lists could be answered. */
  readyMs: number | undefined;
  /** The longest that one turn of the event loop was late, and the 99th percentile, beyond the timer's own pace. */
  loopP50Ms: number;
  loopP99Ms: number;
  loopMaxMs: number;
  /** Share of the time in which the process had nothing to do but wait. */
  idleShare: number;
  /** The most memory so far, and now. */
  peakMb: number;
  rssMb: number;
  calls: number;
}

/** Time between two samples of the loop; what is measured contains it. */
const RESOLUTION_MS = 10;
const MIB = 1048576;

const loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
let readyMs: number | undefined;
let calls = 0;
const begun = performance.now();
let use = performance.eventLoopUtilization();

function seen(observation: Observation): void {
  if (observation.type === 'upstream-call') calls += 1;
  // The first state in which lists are answered: live after a first copy, lagging when a copy was on disk.
  if (observation.type === 'sync-state' && ['live', 'lagging'].includes(observation.to) && readyMs === undefined) {
    readyMs = performance.now() - begun;
    use = performance.eventLoopUtilization(use);
    loop.disable();
    if (observation.from === 'copying') process.send?.({ ready: inside() });
  }
}

function inside(): Inside {
  const late = (ns: number) => Math.max(0, ns / 1e6 - RESOLUTION_MS);
  return {
    readyMs,
    loopP50Ms: late(loop.percentile(50)),
    loopP99Ms: late(loop.percentile(99)),
    loopMaxMs: late(loop.max),
    idleShare: 1 - use.utilization,
    peakMb: process.resourceUsage().maxRSS / 1024,
    rssMb: process.memoryUsage().rss / MIB,
    calls,
  };
}

const gateway = createGateway(loadConfig({ file: process.argv[2] ?? '', env: process.env }), seen);
loop.enable();
await gateway.start();
process.send?.({ started: performance.now() - begun });
process.on('message', (message) => {
  if (message === 'inside') process.send?.({ inside: inside() });
  if (message === 'stop') void gateway.stop().then(() => process.exit(0));
});
process.on('disconnect', () => process.exit(1));
