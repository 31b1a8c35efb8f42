// What a request carries through the middleware: where it was mounted, who asks, what was read of it, and the answer.

import type { Answer } from '../calendar/asked.ts';
import type { Caller } from '../calendar/visibility.ts';
import type { CacheOutcome } from '../observe/events.ts';

export interface State {
  requestId: string;
  /** The route's name for log and metrics. */
  route: string;
  cache: CacheOutcome;
  /** The prefix under which the interface was called, and its full address. */
  mount: string;
  base: string;
  /** Path below the mount. */
  path: string;
  query: Record<string, unknown>;
  body?: Record<string, unknown>;
  caller: Caller;
  answer?: Answer;
  /** HEAD was asked for by a request that is none: the body of its answer is empty. */
  withoutBody?: boolean;
}
