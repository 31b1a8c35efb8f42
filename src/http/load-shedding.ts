// Load shedding: rejects requests with 503 before any work is done, if accepting them would make all others wait.

import type { IncomingMessage } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Config } from '../config-schema.ts';
import { overloaded } from '../interface/errors.ts';
import type { ClientAddress } from './client-address.ts';
import { network48Of, SharedSlots } from './client-limits.ts';
import type { Middleware } from './state.ts';

export type LoadSheddingOptions = Pick<Config['limits'], 'overloadMs' | 'bodiesAtOnce'>;

/** One turn never sheds so many requests: about what a page sends with its assets. */
const NEVER_SHED = 16;

/** Node's histogram of the turns of the event loop, in nanoseconds. */
type Turns = Pick<ReturnType<typeof monitorEventLoopDelay>, 'count' | 'mean'>;

/**
 * Returns a function that counts a request and tells whether the process is overloaded: the turn of the event loop
 * before this one took longer than `overloadMs`, and this one brings a crowd of requests again. A turn takes about a
 * millisecond under little load, and grows with the queue when more requests arrive than the process can answer.
 */
export function createOverloadCheck(overloadMs: number, turns: Turns = measureTurns()): () => boolean {
  let requestsInTurn = 0;
  let isOverloaded = false;
  let [seenTurns, seenNs] = [0, 0];

  /** Of the turns since the last call. The histogram only grows, because after a `reset` it misses a turn. */
  function meanTurnMs(): number {
    const newTurns = turns.count - seenTurns;
    const newNs = turns.count * turns.mean - seenNs;
    if (newTurns === 0) return 0;
    seenTurns += newTurns;
    seenNs += newNs;
    return newNs / newTurns / 1e6;
  }

  return function countRequest() {
    // Runs after every request that had arrived has been read.
    if (requestsInTurn === 0)
      setImmediate(() => {
        requestsInTurn = 0;
      });
    requestsInTurn += 1;
    if (requestsInTurn <= NEVER_SHED) return false;
    if (requestsInTurn === NEVER_SHED + 1) isOverloaded = meanTurnMs() > overloadMs;
    return isOverloaded;
  };
}

function measureTurns(): Turns {
  const histogram = monitorEventLoopDelay({ resolution: 20 });
  histogram.enable();
  return histogram;
}

/** Rejects under overload; and a body while `bodiesAtOnce` requests have one, or a tenth of them from its network. */
export function loadShedding(options: LoadSheddingOptions, clientAddress: ClientAddress): Middleware {
  const isOverloaded = createOverloadCheck(options.overloadMs);
  const bodies = new SharedSlots(options.bodiesAtOnce);

  return function loadSheddingMiddleware({ req, res }, next) {
    if (isOverloaded()) throw hasBody(req) ? OVERLOADED_WITH_BODY : OVERLOADED;
    if (hasBody(req)) {
      const network = network48Of(clientAddress(req));
      if (!bodies.tryTake(network)) throw OVERLOADED_WITH_BODY;
      res.once('close', () => bodies.release(network));
    }
    return next();
  };
}

/** Made once: the stack trace of a new error costs a tenth of a rejection. */
const OVERLOADED = overloaded(false);
const OVERLOADED_WITH_BODY = overloaded(true);

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
