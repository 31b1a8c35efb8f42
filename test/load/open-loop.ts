// Open-loop load: a fixed number of requests per second, however slowly the server responds.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Load {
  port: number;
  /** Returns the bytes of the next request. */
  next: () => string;
  perSecond: number;
  forMs: number;
  /** Maximum of connections; requests due beyond it count as unsent. */
  maxConnections?: number;
  /** Called when the connections are open, before the first request. */
  onStart?: () => void;
}

export interface Outcome {
  /** Number of responses by status. */
  statuses: Record<string, number>;
  /** Latencies from each request's due time, sorted, by status. */
  latencies: Record<string, number[]>;
  failed: number;
  unsent: number;
  /** Responses with 200 per second, without the first quarter of the time. */
  goodput: number;
}

const END = Buffer.from('\r\n\r\n');
const TICK_MS = 4;

/** Opens the connections in advance, as a proxy does; the server accepts one per turn of its event loop. */
async function openAll(count: number, open: () => Connection): Promise<Connection[]> {
  const talks = Array.from({ length: count }, open);
  await Promise.all(talks.map(({ socket }) => once(socket, 'connect')));
  // A connected socket is not yet accepted.
  await new Promise((resolve) => setTimeout(resolve, count * 2));
  return talks;
}

/** Sends the load and waits at most five seconds for the last responses. */
export async function openLoop({
  port,
  next,
  perSecond,
  forMs,
  maxConnections = 1000,
  onStart,
}: Load): Promise<Outcome> {
  const idle: Connection[] = [];
  const all = new Set<Connection>();
  const outcome: Outcome = { statuses: {}, latencies: {}, failed: 0, unsent: 0, goodput: 0 };
  let startedCount = 0;
  let [sent, completed, good] = [0, 0, 0];
  const done = (talk: Connection, status: string | undefined, dueMs: number) => {
    completed += 1;
    const nowMs = performance.now();
    if (status === undefined) {
      outcome.failed += 1;
      all.delete(talk);
      return;
    }
    outcome.statuses[status] = (outcome.statuses[status] ?? 0) + 1;
    outcome.latencies[status] ??= [];
    outcome.latencies[status].push(nowMs - dueMs);
    if (status === '200' && nowMs - startedCount > forMs / 4 && nowMs - startedCount <= forMs) good += 1;
    idle.push(talk);
  };

  for (const talk of await openAll(maxConnections, () => createTalk(port, done))) {
    all.add(talk);
    idle.push(talk);
  }
  startedCount = performance.now();
  onStart?.();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsedMs = performance.now() - startedCount;
      if (elapsedMs > forMs) {
        if (sent - completed - outcome.unsent > 0 && elapsedMs < forMs + 5000) return;
        clearInterval(timer);
        return resolve();
      }
      for (; sent < (elapsedMs / 1000) * perSecond; sent += 1) {
        let talk = idle.pop();
        while (talk?.socket.destroyed) {
          all.delete(talk);
          talk = idle.pop();
        }
        if (!talk && all.size >= maxConnections) {
          outcome.unsent += 1;
          continue;
        }
        if (!talk) {
          talk = createTalk(port, done);
          all.add(talk);
        }
        talk.send(next(), startedCount + (sent / perSecond) * 1000);
      }
    }, TICK_MS);
  });
  for (const { socket } of all) socket.destroy();
  for (const list of Object.values(outcome.latencies)) list.sort((a, b) => a - b);
  outcome.goodput = good / ((forMs * 0.75) / 1000);
  return outcome;
}

/**
 * Closed-loop load: each connection sends its next request after the previous response. Returns responses
 * with 200 per second.
 */
export async function closedLoop(
  port: number,
  next: () => string,
  connections: number,
  forMs: number,
): Promise<number> {
  const startMs = performance.now();
  let good = 0;
  const talks: Connection[] = [];
  const sendNext = (talk: Connection, status: string | undefined) => {
    if (status === '200' && performance.now() - startMs <= forMs) good += 1;
    if (status !== undefined && performance.now() - startMs < forMs) talk.send(next(), 0);
  };
  for (let n = 0; n < connections; n += 1) {
    const talk = createTalk(port, sendNext);
    talks.push(talk);
    talk.send(next(), 0);
  }
  await new Promise((resolve) => setTimeout(resolve, forMs));
  for (const { socket } of talks) socket.destroy();
  return good / (forMs / 1000);
}

interface Connection {
  socket: Socket;
  send(request: string, dueMs: number): void;
}

/**
 * One connection, one request at a time; `done` gets the status, or undefined if the connection ended first.
 */
function createTalk(
  port: number,
  done: (talk: Connection, status: string | undefined, dueMs: number) => void,
): Connection {
  const socket = connect({ port, host: '127.0.0.1' });
  let head: Buffer | undefined;
  let status = '';
  let missing = -1;
  let dueMs = 0;
  let isBusy = false;
  let isLast = false;
  const talk: Connection = {
    socket,
    send(request, due) {
      [dueMs, missing, head, isBusy] = [due, -1, undefined, true];
      socket.write(request, 'latin1');
    },
  };
  socket.setNoDelay(true);
  socket.on('data', (chunk: Buffer) => {
    if (missing < 0) {
      head = head ? Buffer.concat([head, chunk]) : chunk;
      const end = head.indexOf(END);
      if (end < 0) return;
      const text = head.toString('latin1', 0, end);
      status = text.slice(9, 12);
      isLast = /\r\nconnection: close/i.test(text);
      missing = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0) - (head.length - end - END.length);
    } else missing -= chunk.length;
    if (missing > 0) return;
    isBusy = false;
    // The server closes the connection of a rejected body: no further request on it.
    if (isLast) socket.destroy();
    done(talk, status, dueMs);
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    if (isBusy) done(talk, undefined, dueMs);
  });
  return talk;
}
