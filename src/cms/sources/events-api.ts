// A source that is another events/v1 API: a public site of The Events Calendar, or another gateway. Reads its list of
// events page by page, one request at a time and at most one a second.

import { createHash, type Hash } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../../model/json.ts';
import { trimCharactersEnd } from '../../text/text.ts';
import { describeBody, parseJson, parseRetryAfter } from '../http-exchange.ts';
import { getPublic, type PublicResponse } from '../public-request.ts';
import { idOf, readEvent } from './event-json.ts';
import * as source from './source.ts';

/** The most that The Events Calendar sends. */
const PER_PAGE = 50;
/** Fifty long events have about 1 MB. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Fifty events have about 40,000 values. Parsing a hundred thousand takes up to 50 ms, in which nothing else runs. */
const MAX_VALUES = 100_000;
const PAUSE_MS = 1000;
/** A source that asks for more patience is read in the next interval. */
const MAX_DELAY_S = 60;
const MAX_RETRIES = 3;
/** As far ahead as the original's lists. */
const FUTURE_DAYS = 2 * 366;

/** What one pass over all pages found. */
interface Pass {
  events: Map<string, source.SourceEvent>;
  leftOut: Map<string, source.LeftOut>;
  /** Of what each event says. */
  hash: Hash;
  /** Of each page; `''` without one. */
  etags: string[];
  /** The list changed between two pages, so an event may be missing. */
  isShifted: boolean;
}

export interface EventsApiOptions {
  allowPrivate?: boolean;
  nowMs?: () => number;
  wait?: (ms: number, value: undefined, options: { signal: AbortSignal }) => Promise<unknown>;
}

export class EventsApi implements source.Source {
  readonly #address: string;
  readonly #options: Required<EventsApiOptions>;
  #nextRequestMs = 0;

  /** @param address of the namespace, such as `https://theatre.example/wp-json/tribe/events/v1` */
  constructor(address: string, options: EventsApiOptions = {}) {
    this.#address = trimCharactersEnd(address, '/');
    this.#options = { allowPrivate: false, nowMs: Date.now, wait: sleep, ...options };
  }

  async read(previous: source.SourceValidators | undefined, signal: AbortSignal) {
    if (previous?.etag && (await this.#areUnchanged(previous.etag.split('\n'), signal))) return undefined;
    const first = await this.#readPages(signal);
    if (!first.isShifted) return snapshotOf(first, previous);
    const second = await this.#readPages(signal);
    // A list that never rests: an event that only the second pass missed would be taken for deleted.
    if (second.isShifted) second.events = new Map([...first.events, ...second.events]);
    return snapshotOf(second, previous);
  }

  async #areUnchanged(etags: string[], signal: AbortSignal): Promise<boolean> {
    for (const [index, etag] of etags.entries())
      if ((await this.#get(index + 1, signal, { 'if-none-match': etag })).status !== 304) return false;
    return true;
  }

  async #readPages(signal: AbortSignal): Promise<Pass> {
    const hash = createHash('sha256');
    const pass: Pass = { events: new Map(), leftOut: new Map(), hash, etags: [], isShifted: false };
    let [bytes, received, firstTotal] = [0, 0, 0];
    for (let page = 1; page <= source.MAX_SOURCE_EVENTS / PER_PAGE; page += 1) {
      const response = await this.#get(page, signal);
      // The last events were deleted meanwhile, and with them the page.
      if (response.status === 404) return { ...pass, isShifted: true };
      const { events, total, hasNext } = listOf(response, page);
      if (page === 1) firstTotal = total;
      if (total !== firstTotal) pass.isShifted = true;
      for (const event of events.slice(0, source.MAX_SOURCE_EVENTS - received)) await this.#add(pass, event);
      pass.etags.push(String(response.headers.etag ?? ''));
      bytes += response.bytes.length;
      received += events.length;
      if (!hasNext && received <= source.MAX_SOURCE_EVENTS) return pass;
      if (bytes >= source.MAX_SOURCE_BYTES || received >= source.MAX_SOURCE_EVENTS) break;
    }
    const count = Math.max(1, firstTotal - Math.min(received, source.MAX_SOURCE_EVENTS));
    pass.leftOut.set('', { reason: 'beyond 10 MB or 20,000 events', count, example: `page ${pass.etags.length + 1}` });
    return pass;
  }

  async #add(pass: Pass, json: unknown): Promise<void> {
    // A description of the greatest length takes some milliseconds.
    await nextTurn();
    const event = await readEvent(json, this.#address);
    pass.hash.update(JSON.stringify(event));
    if (typeof event === 'string') {
      const { count, example } = pass.leftOut.get(event) ?? { count: 0, example: idOf(json) };
      return void pass.leftOut.set(event, { reason: event, count: count + 1, example });
    }
    if (pass.events.has(event.key)) pass.isShifted = true;
    pass.events.set(event.key, event);
  }

  /** The page, after the pauses that the source asks for. @throws SourceError unless the status is 200, 304 or 404 */
  async #get(page: number, signal: AbortSignal, headers: Record<string, string> = {}): Promise<PublicResponse> {
    const { allowPrivate, nowMs, wait } = this.#options;
    for (let retries = 0; ; retries += 1) {
      const pauseMs = this.#nextRequestMs - nowMs();
      if (pauseMs > 0) await wait(pauseMs, undefined, { signal });
      const response = await getPublic(this.#urlOf(page), {
        headers: { accept: 'application/json', 'user-agent': 'calendar-gateway', ...headers },
        ...{ maxBytes: MAX_PAGE_BYTES, timeoutMs: 30_000, signal, allowPrivate, anyPort: allowPrivate },
      }).catch((error: Error) => {
        throw new source.SourceError(`page ${page}: ${error.message}`, { cause: error });
      });
      this.#nextRequestMs = nowMs() + PAUSE_MS;
      const { status } = response;
      if (status === 200 || status === 304 || (status === 404 && page > 1)) return response;
      const delayS = parseRetryAfter(String(response.headers['retry-after'] ?? ''), nowMs()) ?? MAX_DELAY_S + 1;
      const isBusy = (status === 429 || status === 503) && delayS <= MAX_DELAY_S;
      if (!isBusy || retries === MAX_RETRIES) throw new source.SourceError(`page ${page}: status ${status}`);
      this.#nextRequestMs = nowMs() + delayS * 1000;
    }
  }

  /** Made here: an address in a response could lead elsewhere. It stays the same for weeks, and so do ETags. */
  #urlOf(page: number): string {
    const monthAt = (days: number) => new Date(this.#options.nowMs() + days * 86_400_000).toISOString().slice(0, 7);
    const window = {
      start_date: `${monthAt(-source.SERIES_WINDOW.pastDays)}-01`,
      end_date: `${monthAt(FUTURE_DAYS)}-01`,
    };
    return `${this.#address}/events?${new URLSearchParams({ page: `${page}`, per_page: `${PER_PAGE}`, ...window })}`;
  }
}

function listOf({ bytes }: PublicResponse, page: number): { events: unknown[]; total: number; hasNext: boolean } {
  if (bytes.toString('latin1').split(/[[{,:]/, MAX_VALUES).length === MAX_VALUES)
    throw new source.SourceError(`page ${page}: too many values`);
  const json = parseJson(bytes);
  if (json === undefined) throw new source.SourceError(`${describeBody(bytes)} instead of JSON`);
  if (!isObject(json) || !Array.isArray(json.events)) throw new source.SourceError('JSON without a list of events');
  const { events, total, total_pages: pages, next_rest_url: next } = json;
  const hasNext = events.length > 0 && (typeof pages === 'number' ? page < pages : typeof next === 'string');
  return { events, total: typeof total === 'number' ? total : 0, hasNext };
}

function snapshotOf(pass: Pass, previous: source.SourceValidators | undefined): source.SourceSnapshot | undefined {
  const [events, leftOut] = [[...pass.events.values()], [...pass.leftOut.values()]];
  if (pass.isShifted) return { events, leftOut, validators: {} };
  const hash = pass.hash.digest('base64url');
  const hasEtags = pass.etags.every((etag) => etag !== '');
  const validators = { hash, ...(hasEtags && { etag: pass.etags.join('\n') }) };
  if (hash === previous?.hash && validators.etag === previous.etag) return undefined;
  return { events, leftOut, validators };
}
