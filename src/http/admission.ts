// Turns requests away at the door, quickly, when taking them in would make all others wait: too much work in one go, too many bodies at once.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { GatewayError } from '../errors.ts';
import type { Observe } from '../observe/events.ts';
import { errorAnswer } from './error-body.ts';
import { corsHeaders, PRIVATE, STANDING } from './headers.ts';
import { nextRequestId } from './request-id.ts';

export interface AdmissionOptions {
  /** Milliseconds of work without a pause after which requests that cost work are refused. */
  overloadMs: number;
  /** Requests with a body under way at once: each may hold as much memory as a body may have. */
  bodiesAtOnce: number;
  observe: Observe;
}

export interface Admission {
  /** Whether the process has been working without a pause for so long that more must not be begun. */
  isOverloaded(): boolean;
  /** Answers 503 with `Retry-After` in place of the listener where the request must not be begun. */
  guard(listener: RequestListener): RequestListener;
}

const RETRY_AFTER_S = 1;

const overloaded = errorAnswer(
  new GatewayError(503, 'calendar_overloaded', 'This calendar is asked more than it can answer. Try again shortly.', {
    headers: { 'Retry-After': String(RETRY_AFTER_S) },
  }),
);
const REFUSAL = Buffer.from(JSON.stringify(overloaded.body));
/** Names and values by turns: thousands are refused a second, and what that takes is missing for the others. */
const REFUSAL_HEADERS = Object.entries({
  ...STANDING,
  ...PRIVATE,
  ...overloaded.headers,
  'Content-Length': String(REFUSAL.length),
}).flat();

/** Of the bound, at least so much is for looking at requests. */
const LEAST_SHARE = 0.1;

/**
 * So often the door is looked at in any turn before it is shut. A page with its parts is no overload, however long the operating system keeps
 * the process waiting for its core meanwhile.
 */
const FEW = 16;

/**
 * The measure is one turn of the event loop: from the first request that is looked at to the moment when all that had arrived is done.
 * While there is little to do a turn takes a millisecond; when more arrives than can be answered, turns grow as long as the queue,
 * and what is beyond the bound is told so at once, which is soon enough to leave the time to the others. Answers are packed and sent
 * when all requests of a turn have been looked at: of the bound, looking may take only the share
 * that it took of the turn before, if that was a long one.
 */
export function createAdmission({ overloadMs, bodiesAtOnce, observe }: AdmissionOptions): Admission {
  let turnBeganMs: number | undefined;
  let looks = 0;
  let lookedMs = 0;
  let share = 1;
  let bodies = 0;

  /** Before the first answer of this turn is sent. */
  const looked = () => {
    lookedMs = performance.now();
    // Timers come behind all that is sent in this turn.
    setTimeout(endTurn, 0, lookedMs - turnBeganMs!);
  };
  const endTurn = (lookingMs: number) => {
    const wholeMs = performance.now() - lookedMs + lookingMs;
    share = wholeMs > overloadMs / 2 ? Math.max(LEAST_SHARE, lookingMs / wholeMs) : 1;
    turnBeganMs = undefined;
  };

  function isOverloaded(): boolean {
    looks += 1;
    if (turnBeganMs === undefined) {
      turnBeganMs = performance.now();
      looks = 1;
      setImmediate(looked);
      return false;
    }
    return looks > FEW && performance.now() - turnBeganMs > overloadMs * share;
  }

  function refuse(request: IncomingMessage, response: ServerResponse): void {
    const id = nextRequestId(request.headers['x-request-id']);
    const { origin } = request.headers;
    const headers = [...REFUSAL_HEADERS, 'X-Request-Id', id];
    if (origin !== undefined) headers.push(...Object.entries(corsHeaders(origin)).flat());
    // What is not read of a body ends with its connection.
    if (hasBody(request)) headers.push('Connection', 'close');
    response.writeHead(overloaded.status, headers).end(REFUSAL);
    const { method = '' } = request;
    observe({ type: 'request', id, method, route: 'none', status: overloaded.status, cache: 'none', durationMs: 0 });
  }

  return {
    isOverloaded,
    guard: (listener) => (request, response) => {
      if (isOverloaded()) return refuse(request, response);
      if (hasBody(request)) {
        if (bodies >= bodiesAtOnce) return refuse(request, response);
        bodies += 1;
        response.once('close', () => {
          bodies -= 1;
        });
      }
      listener(request, response);
    },
  };
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
