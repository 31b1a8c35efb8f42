// Loaded into a gateway with `--import stall-probe.ts?port=N`: reports the longest event-loop stall since the
// last request.

import { createServer } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 1;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
let computed = process.threadCpuUsage();

createServer((_, response) => {
  // The monitor's timer has to run to count the current turn of the loop.
  setTimeout(() => {
    const { user, system } = process.threadCpuUsage(computed);
    response.end(String(Math.max(0, Math.min(delay.max / 1e6 - RESOLUTION_MS, (user + system) / 1000))));
    delay.reset();
    computed = process.threadCpuUsage();
  }, RESOLUTION_MS * 2);
})
  .listen(Number(new URL(import.meta.url).searchParams.get('port')), '127.0.0.1')
  .unref();
