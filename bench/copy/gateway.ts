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

/** A round that brought changes in. */
export interface Round {
  durationMs: number;
  changed: number;
  loopP99Ms: number;
  loopMaxMs: number;
}

/** Time between two samples of the loop; what is measured contains it. */
const RESOLUTION_MS = 10;
const MIB = 1048576;

const loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
let readyMs: number | undefined;
let calls = 0;
const begun = performance.now();
let use = performance.eventLoopUtilization();

const late = (ns: number) => Math.max(0, ns / 1e6 - RESOLUTION_MS);

/** Whether the next round that changes something is watched, and whether one has begun. */
let watching: 'no' | 'waiting' | 'begun' = 'no';

function watch(observation: Observation): void {
  if (observation.type === 'upstream-call' && watching === 'waiting') {
    watching = 'begun';
    loop.reset();
  }
  if (observation.type !== 'sync-round') return;
  const { durationMs, changed } = observation;
  if (changed === 0) {
    watching = 'waiting';
    return;
  }
  watching = 'no';
  loop.disable();
  const round: Round = { durationMs, changed, loopP99Ms: late(loop.percentile(99)), loopMaxMs: late(loop.max) };
  process.send?.({ round });
}

function seen(observation: Observation): void {
  if (observation.type === 'upstream-call') calls += 1;
  if (watching !== 'no') watch(observation);
  // The first state in which lists are answered: live after a first copy, lagging when a copy was on disk.
  if (observation.type === 'sync-state' && ['live', 'lagging'].includes(observation.to) && readyMs === undefined) {
    readyMs = performance.now() - begun;
    use = performance.eventLoopUtilization(use);
    loop.disable();
    if (observation.from === 'copying') process.send?.({ ready: inside() });
  }
}

function inside(): Inside {
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
  if (message === 'round') {
    watching = 'waiting';
    loop.enable();
  }
  if (message === 'stop') void gateway.stop().then(() => process.exit(0));
});
process.on('disconnect', () => process.exit(1));
