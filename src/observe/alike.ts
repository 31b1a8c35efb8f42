// What is made once for all requests that look alike to log and metrics, and found again quickly: this happens with every request.

import type { Observation } from './events.ts';

export type RequestSeen = Extract<Observation, { type: 'request' }>;

interface Kept<T> extends Pick<RequestSeen, 'method' | 'status' | 'cache'> {
  made: T;
}

/**
 * Hands out what `make` made of the first request of the same route, method, status and cache outcome. These are few, and compared one
 * by one: putting their names together and hashing the text would cost more than what is saved.
 */
export function onceForAlike<T>(make: (seen: RequestSeen) => T): (seen: RequestSeen) => T {
  const byRoute = new Map<string, Kept<T>[]>();
  return (seen) => {
    const { route, method, status, cache } = seen;
    let kept = byRoute.get(route);
    if (!kept) {
      kept = [];
      byRoute.set(route, kept);
    }
    for (const one of kept) if (one.status === status && one.cache === cache && one.method === method) return one.made;
    const made = make(seen);
    kept.push({ method, status, cache, made });
    return made;
  };
}
