// Loaded into a gateway's process with `--import stall-probe.ts?port=N`: tells the longest stall of its event loop since it was last asked.
// On a busy machine a process also waits for the processor: no stall is longer than what its main thread has computed meanwhile.

import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 1;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
let computed = process.threadCpuUsage();

createServer((_, response) => {
  // The turn of the loop that is under way counts once the timer of the monitor has run.
  setTimeout(() => {
    const { user, system } = process.threadCpuUsage(computed);
    response.end(String(Math.max(0, Math.min(delay.max / 1e6 - RESOLUTION_MS, (user + system) / 1000))));
    delay.reset();
    computed = process.threadCpuUsage();
  }, RESOLUTION_MS * 2);
})
  .listen(Number(new URL(import.meta.url).searchParams.get('port')), '127.0.0.1')
  .unref();
