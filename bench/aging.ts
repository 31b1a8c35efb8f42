// An aged gateway for the benchmark of reads: a process that has answered a million mixed requests, failures
// and outages included.

import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Sandbox } from '../sandbox/start.ts';
import { startFaultProxy } from '../test/faults/fault-proxy.ts';
import { basicAuth } from '../test/live/json-client.ts';
import { until } from '../test/until.ts';
import { type Gateway, startGateway } from './gateway.ts';
import type { Load } from './processes.ts';
import { AGED, LIST, uncachedLists } from './reads.ts';

const CALENDAR = '/calendar/events/v1';
const BATCHES = 5;
/** Per batch: cached lists of three, errors, and uncached lists. With `BATCHES` they make a million. */
const REQUESTS = { cached: 140_000, invalid: 48_000, uncached: 10_000 };
/** Requests that wait for a CMS that does not answer, per batch, and for how long. */
const STUCK = { requests: 500, ms: 6_000 };
const ABORTS = 500;
const STALL_MS = 3_000;
/** Until the circuit breaker closes and a poll succeeds. */
const RECOVERY_MS = 60_000;
/** Longer than any turn of the event loop, except the stalls. */
const OVERLOAD_MS = 2_000;

/**
 * Requests for records that only the CMS could know: the gateway keeps them waiting while the CMS hangs.
 * Resolves once all have ended.
 */
async function stuckRequests(port: number, authorization: string, batch: number): Promise<void> {
  await Promise.all(
    Array.from({ length: STUCK.requests }, async (_, n) => {
      const url = `http://127.0.0.1:${port}${CALENDAR}/${n % 2 ? 'events' : 'venues'}/${1e7 + batch * 1e5 + n}`;
      const headers: Record<string, string> = n % 3 === 0 ? { authorization } : {};
      await fetch(url, { headers, signal: AbortSignal.timeout(2 * STUCK.ms) }).then(
        (response) => response.arrayBuffer(),
        () => undefined,
      );
    }),
  );
}

/** Connections that send a request and go away before, or while, the response arrives. */
async function abortedRequests(port: number): Promise<void> {
  for (let n = 0; n < ABORTS; n += 1) {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.write(`GET ${LIST} HTTP/1.1\r\nHost: bench\r\n\r\n`);
    if (n % 2) socket.once('data', () => socket.destroy());
    else setTimeout(() => socket.destroy(), n % 7);
    if (n % 20 === 0) await pause(5);
  }
}

/** Stops the process for some seconds, as a suspended virtual machine would, while requests arrive. */
async function stall(pids: readonly number[], whileStalled: () => Promise<unknown>): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  const arriving = whileStalled();
  await pause(STALL_MS);
  for (const pid of pids) process.kill(pid, 'SIGCONT');
  await arriving;
}

/** Starts a gateway and ages it; resolves when it has caught up with the CMS again. */
export async function startAgedGateway(
  load: Load,
  sandbox: Sandbox,
  dir: string,
  log: (text: string) => void,
): Promise<Gateway> {
  const proxy = await startFaultProxy(new URL(sandbox.url));
  // Two thirds of the deadline are for the headers.
  const config = { upstream: { limits: { deadlineMs: 1.5 * STUCK.ms } } };
  // On a busy machine the gateway would shed load, and requests that it sheds age no process.
  const limits = { limits: { overloadMs: OVERLOAD_MS } };
  const gateway = await startGateway({ ...sandbox, url: proxy.url.href }, dir, AGED, config, limits);
  const aged: Gateway = {
    ...gateway,
    async stop() {
      await gateway.stop();
      await proxy.close();
    },
  };
  const authorization = basicAuth(sandbox.credentials.admin);
  const run = (task: object) => load.run({ port: gateway.port, path: LIST, connections: 50, ...task });
  try {
    for (let batch = 0; batch < BATCHES; batch += 1) {
      await proxy.set({ kind: 'silent' });
      const stuck = stuckRequests(gateway.port, authorization, batch);
      await run({ path: `${CALENDAR}/events?per_page=3`, requests: REQUESTS.cached });
      await stuck;
      await proxy.set({ kind: 'down' });
      await run({ path: `${CALENDAR}/events?per_page=x`, requests: REQUESTS.invalid });
      await abortedRequests(gateway.port);
      await proxy.set({ kind: 'none' });
      await stall(gateway.pids, () => run({ path: `${CALENDAR}/events?per_page=4`, requests: 2_000 }));
      await run({ paths: uncachedLists(REQUESTS.uncached), requests: REQUESTS.uncached });
      log(`aged by ${batch + 1} of ${BATCHES} batches`);
    }
    const readyUrl = `http://127.0.0.1:${gateway.adminPort}/ready?strict=1`;
    await until(async () => (await fetch(readyUrl)).ok, 'the gateway has polled the CMS again', RECOVERY_MS);
    return aged;
  } catch (error) {
    await aged.stop();
    throw error;
  }
}
