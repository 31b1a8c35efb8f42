// Load shedding: rejects requests with 503 before any work is done, if accepting them would make all others wait.

import type { IncomingMessage } from 'node:http';
import type { Config } from '../config-schema.ts';
import { overloaded } from '../interface/errors.ts';
import type { ClientAddress } from './client-address.ts';
import { network48Of, SharedSlots } from './client-limits.ts';
import type { Middleware } from './state.ts';

export type LoadSheddingOptions = Pick<Config['limits'], 'overloadMs' | 'bodiesAtOnce'>;

/**
 * The first requests of a turn are never shed. A page with its assets sends about this many. A process that was
 * suspended finds a long turn with few requests: these are answered.
 */
const NEVER_SHED = 16;

/**
 * Returns a function that counts a request and tells whether the process is overloaded. The measure is one turn of the
 * event loop, from its first request until all requests that had arrived are answered. A turn takes about a millisecond
 * under little load, and grows with the queue when more requests arrive than the process can answer. Node's
 * `monitorEventLoopDelay` also counts what ran before the first request, such as the sync (docs/decisions.md).
 */
export function createOverloadCheck(overloadMs: number, clockMs = () => performance.now()): () => boolean {
  let turnStartMs: number | undefined;
  let requestsInTurn = 0;

  return function isOverloaded() {
    requestsInTurn += 1;
    if (turnStartMs === undefined) {
      turnStartMs = clockMs();
      requestsInTurn = 1;
      // Runs after every request that had arrived has been read.
      setImmediate(() => {
        turnStartMs = undefined;
      });
      return false;
    }
    return requestsInTurn > NEVER_SHED && clockMs() - turnStartMs > overloadMs;
  };
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
