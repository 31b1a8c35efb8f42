// Loaded into a gateway with `--import stall-probe.ts?port=N`: reports the longest computation of the main thread in
// one turn of the event loop since the last request. Other processes on a busy machine do not count.

import { createServer } from 'node:http';

const RESOLUTION_MS = 1;
let longestMs = 0;
let before = process.threadCpuUsage();

function measure(): void {
  const { user, system } = process.threadCpuUsage(before);
  longestMs = Math.max(longestMs, (user + system) / 1000);
  before = process.threadCpuUsage();
}
setInterval(measure, RESOLUTION_MS).unref();

createServer((_, response) => {
  // The timer has to run to count the current turn of the loop.
  setTimeout(() => {
    response.end(String(longestMs));
    longestMs = 0;
  }, RESOLUTION_MS * 2);
})
  .listen(Number(new URL(import.meta.url).searchParams.get('port')), '127.0.0.1')
  .unref();
