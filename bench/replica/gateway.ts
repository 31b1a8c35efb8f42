// The gateway in a process of its own, with what is measured inside it: sent to bench/replica.ts as messages.

import { readFileSync } from 'node:fs';
import { createHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { loadConfig } from '../../src/config.ts';
import { Gateway } from '../../src/gateway.ts';
import type { Observation } from '../../src/observability/observations.ts';

export interface ProcessFigures {
  /** Milliseconds since `new Gateway`, until lists could be answered. */
  readyMs: number | undefined;
  /** Milliseconds since `new Gateway`, until the last event was in the replica. */
  eventsMs: number | undefined;
  cpuMs: number;
  /** How late the event loop was, beyond the interval of the measurement. */
  loopP99Ms: number;
  loopMaxMs: number;
  /** The most CPU time of this thread between two timers of a millisecond: other programs do not lengthen it. */
  turnCpuMaxMs: number;
  /** Share of the time in which the event loop waited. */
  idleShare: number;
  /** The highest memory use so far, and the present one. */
  peakMb: number;
  rssMb: number;
  /** Calls of the CMS. */
  calls: number;
}

/** A poll that brought in changes. */
export interface EditPoll {
  durationMs: number;
  changed: number;
  loopP99Ms: number;
  loopMaxMs: number;
}

/** The interval of the measurement, which each measured delay contains. */
const RESOLUTION_MS = 10;
const MIB = 1048576;

const loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
let readyMs: number | undefined;
let eventsMs: number | undefined;
let calls = 0;
let turnCpuMaxMs = 0;
const startedMs = performance.now();
let use = performance.eventLoopUtilization();

const turns = createHistogram();
let turnCpu = process.threadCpuUsage();
setInterval(() => {
  const { user, system } = process.threadCpuUsage(turnCpu);
  turns.record(user + system + 1);
  turnCpu = process.threadCpuUsage();
}, 1).unref();

const lateness = (ns: number) => Math.max(0, ns / 1e6 - RESOLUTION_MS);

/** Whether the next poll that changes something is measured, and whether it has started. */
let editPoll: 'unmeasured' | 'awaited' | 'started' = 'unmeasured';

function measurePoll(observation: Observation): void {
  if (observation.type === 'cms-call' && editPoll === 'awaited') {
    editPoll = 'started';
    loop.reset();
  }
  if (observation.type !== 'sync-round') return;
  const { durationMs, changed } = observation;
  if (changed === 0) {
    editPoll = 'awaited';
    return;
  }
  editPoll = 'unmeasured';
  loop.disable();
  const figures: EditPoll = {
    durationMs,
    changed,
    loopP99Ms: lateness(loop.percentile(99)),
    loopMaxMs: lateness(loop.max),
  };
  process.send?.({ editPoll: figures });
}

function observe(observation: Observation): void {
  if (observation.type === 'cms-call') calls += 1;
  if (editPoll !== 'unmeasured') measurePoll(observation);
  if (observation.type === 'sync-progress' && observation.collection === 'events' && readyMs === undefined)
    eventsMs = performance.now() - startedMs;
  // The first state in which lists are answered: live after the initial sync, stale if the replica was on the
  // disk.
  if (observation.type === 'sync-state' && ['live', 'stale'].includes(observation.to) && readyMs === undefined) {
    readyMs = performance.now() - startedMs;
    use = performance.eventLoopUtilization(use);
    loop.disable();
    // The lists that follow have a bench of their own.
    turnCpuMaxMs = turns.max / 1000;
    if (observation.from === 'syncing') process.send?.({ synced: figures() });
  }
}

/** `maxRSS` of `process.resourceUsage()` would begin with the peak of the process that started this one. */
const peakMb = () => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024;

function figures(): ProcessFigures {
  const { user, system } = process.cpuUsage();
  return {
    readyMs,
    eventsMs,
    cpuMs: (user + system) / 1000,
    loopP99Ms: lateness(loop.percentile(99)),
    loopMaxMs: lateness(loop.max),
    turnCpuMaxMs,
    idleShare: 1 - use.utilization,
    peakMb: peakMb(),
    rssMb: process.memoryUsage().rss / MIB,
    calls,
  };
}

// Started as `serve --config FILE`.
const gateway = new Gateway(loadConfig({ file: process.argv.at(-1) ?? '', env: process.env }), observe);
loop.enable();
// Nobody is served while modules load.
turnCpu = process.threadCpuUsage();
turns.reset();
await gateway.start();
process.on('message', (message) => {
  if (message === 'figures') process.send?.({ figures: figures() });
  if (message === 'editPoll') {
    editPoll = 'awaited';
    loop.enable();
  }
  if (message === 'stop') void gateway.stop().then(() => process.exit(0));
});
process.on('disconnect', () => process.exit(1));
