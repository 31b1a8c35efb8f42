// Load that does not wait for answers: so many requests a second, whatever becomes of those before them.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Load {
  port: number;
  /** The bytes of the next request. */
  next: () => string;
  perSecond: number;
  forMs: number;
  /** More than these are not opened; what is due then counts as unsent. */
  maxConnections?: number;
  /** Called when the connections are open and the first request is due. */
  begins?: () => void;
}

export interface Outcome {
  /** Answers by status. */
  statuses: Record<string, number>;
  /** Milliseconds since each request was due, sorted, by status. */
  taken: Record<string, number[]>;
  failed: number;
  unsent: number;
  /** Answers with 200 in a second, between the first quarter of the time and its end. */
  goodput: number;
}

const END = Buffer.from('\r\n\r\n');
const TICK_MS = 4;

/** Opens the connections that callers have, as a proxy keeps them: they are let in one at a turn of the other's event loop. */
async function openAll(count: number, open: () => Talk): Promise<Talk[]> {
  const talks = Array.from({ length: count }, open);
  await Promise.all(talks.map(({ socket }) => once(socket, 'connect')));
  // Connected is not yet let in.
  await new Promise((resolve) => setTimeout(resolve, count * 2));
  return talks;
}

/** Sends it, and waits five seconds at most for the last answers. */
export async function openLoop({
  port,
  next,
  perSecond,
  forMs,
  maxConnections = 1000,
  begins,
}: Load): Promise<Outcome> {
  const idle: Talk[] = [];
  const all = new Set<Talk>();
  const outcome: Outcome = { statuses: {}, taken: {}, failed: 0, unsent: 0, goodput: 0 };
  let begun = 0;
  let [sent, answered, good] = [0, 0, 0];
  const done = (talk: Talk, status: string | undefined, dueMs: number) => {
    answered += 1;
    const now = performance.now();
    if (status === undefined) {
      outcome.failed += 1;
      all.delete(talk);
      return;
    }
    outcome.statuses[status] = (outcome.statuses[status] ?? 0) + 1;
    outcome.taken[status] ??= [];
    outcome.taken[status].push(now - dueMs);
    if (status === '200' && now - begun > forMs / 4 && now - begun <= forMs) good += 1;
    idle.push(talk);
  };

  for (const talk of await openAll(maxConnections, () => createTalk(port, done))) {
    all.add(talk);
    idle.push(talk);
  }
  begun = performance.now();
  begins?.();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsedMs = performance.now() - begun;
      if (elapsedMs > forMs) {
        if (sent - answered - outcome.unsent > 0 && elapsedMs < forMs + 5000) return;
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
        talk.say(next(), begun + (sent / perSecond) * 1000);
      }
    }, TICK_MS);
  });
  for (const { socket } of all) socket.destroy();
  for (const list of Object.values(outcome.taken)) list.sort((a, b) => a - b);
  outcome.goodput = good / ((forMs * 0.75) / 1000);
  return outcome;
}

/** So many connections that each send the next request when the last answer is whole: answers with 200 in a second. */
export async function closedLoop(
  port: number,
  next: () => string,
  connections: number,
  forMs: number,
): Promise<number> {
  const begun = performance.now();
  let good = 0;
  const talks: Talk[] = [];
  const again = (talk: Talk, status: string | undefined) => {
    if (status === '200' && performance.now() - begun <= forMs) good += 1;
    if (status !== undefined && performance.now() - begun < forMs) talk.say(next(), 0);
  };
  for (let n = 0; n < connections; n += 1) {
    const talk = createTalk(port, again);
    talks.push(talk);
    talk.say(next(), 0);
  }
  await new Promise((resolve) => setTimeout(resolve, forMs));
  for (const { socket } of talks) socket.destroy();
  return good / (forMs / 1000);
}

interface Talk {
  socket: Socket;
  say(request: string, dueMs: number): void;
}

/** One connection, one request at a time; `done` hears the status, or nothing when the connection ended first. */
function createTalk(port: number, done: (talk: Talk, status: string | undefined, dueMs: number) => void): Talk {
  const socket = connect({ port, host: '127.0.0.1' });
  let head: Buffer | undefined;
  let status = '';
  let missing = -1;
  let dueMs = 0;
  let isBusy = false;
  let isLast = false;
  const talk: Talk = {
    socket,
    say(request, due) {
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
    // Of a body that is refused the connection is closed: nothing more is asked there.
    if (isLast) socket.destroy();
    done(talk, status, dueMs);
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    if (isBusy) done(talk, undefined, dueMs);
  });
  return talk;
}
