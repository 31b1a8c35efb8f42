// Makes the public answers that nobody has asked for yet, each once however many ask for it at the same moment.

import type { IncomingMessage } from 'node:http';
import type { Answer } from '../calendar/asked.ts';
import { ANONYMOUS } from '../calendar/visibility.ts';
import type { AnswerCache, StoredAnswer } from './answer-cache.ts';
import { parseQuery } from './body.ts';
import type { CallerAddress } from './caller-address.ts';
import type { Freshness } from './headers.ts';
import { networkOf } from './limits.ts';
import { places } from './mounting.ts';
import { publishing } from './publishing.ts';
import { type RoutingOptions, readAt, run } from './routing.ts';

export interface ReadingOptions extends RoutingOptions {
  mounts: string[];
  publicUrl: string;
  urlBytes: number;
  freshness: Freshness;
  cache: AnswerCache;
  addressOf: CallerAddress;
}

/** An answer for everybody, or what the middleware is to say to this caller. */
type Outcome = { entry: StoredAnswer } | { answer: Answer } | { error: unknown };

interface Flight {
  /** Version of the copy when it began: whoever comes after a change wants what is true since. */
  version: number;
  outcome: Promise<Outcome>;
}

export interface Reading {
  outcome: Promise<Outcome>;
  /** Whether another request had begun it. */
  shared: boolean;
}

/** Whether a parameter changes what the answer looks like or who asks: such a request takes the long way. */
const isWish = (name: string): boolean => name.startsWith('_') || name === 'rest_route';

/** Undefined where a request is not a plain read of the interface. Rejects never. */
export function createReading(options: ReadingOptions): (request: IncomingMessage, id: string) => Reading | undefined {
  const { backing, cache, urlBytes, addressOf } = options;
  const placeOf = places(options);
  const publish = publishing(backing, options.freshness);
  const flights = new Map<string, Flight>();

  return function read(request, requestId) {
    const { url = '' } = request;
    const { version } = backing.replica;
    const under = flights.get(url);
    if (under?.version === version) return { outcome: under.outcome, shared: true };
    if (url.length > urlBytes || url.includes('#')) return undefined;
    const mark = url.indexOf('?');
    const query = mark < 0 ? {} : parseQuery(url.slice(mark + 1));
    for (const name in query) if (isWish(name)) return undefined;
    const place = placeOf(mark < 0 ? url : url.slice(0, mark), false);
    const found = place && readAt(place.path);
    if (!found) return undefined;
    const { route, endpoint, captured } = found;
    const network = networkOf(addressOf(request));

    async function make(): Promise<Outcome> {
      try {
        const state = { ...place!, query, requestId, caller: { ...ANONYMOUS, network } };
        const answer = await run(options, route, endpoint, { captured, state });
        const entry = publish(answer, `${endpoint.operation} ${route.path || '/'}`);
        if (!entry) return { answer };
        cache.set(url, entry);
        return { entry };
      } catch (error) {
        return { error };
      } finally {
        if (flights.get(url) === flight) flights.delete(url);
      }
    }
    const flight: Flight = { version, outcome: undefined as unknown as Promise<Outcome> };
    flights.set(url, flight);
    flight.outcome = make();
    return { outcome: flight.outcome, shared: false };
  };
}
