// A source that is another events/v1 API: a public site of The Events Calendar, or another gateway. Reads its list of
// events page by page, one request at a time and at most one a second. A property of a wrong type or form counts as not
// said; without an id or valid times there is no event.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { ATTENDANCE_MODES, EVENT_STATUSES } from '../../model/event-state.ts';
import { isObject, type JsonObject, numberOrZero } from '../../model/json.ts';
import type { WallTime } from '../../model/records.ts';
import { decodeEntities, escapeMarkup, textLine } from '../../text/html.ts';
import { safeHtml } from '../../text/safe-html.ts';
import { cutHtml, trimCharactersEnd, webAddress } from '../../text/text.ts';
import { endOfDay, formatWallTime, parseWallTime, startOfDay, wholeDays } from '../../time/wall-time.ts';
import { instantsOf, parseZone, wallToUtc, type Zone } from '../../time/zones.ts';
import { describeBody, parseJson, parseRetryAfter } from '../http-exchange.ts';
import { getPublic, type PublicResponse } from '../public-request.ts';
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
/** Longer texts are cut, and longer addresses count as not said. */
const MAX_LINE = 2000;
/** Terms, organizers and venues of one event, each. */
const MAX_LISTED = 100;

/** What one pass over all pages found. */
interface Pass {
  events: Map<string, source.SourceEvent>;
  remarks: source.Remark[];
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
    let pass = await this.#readPages(signal);
    if (pass.isShifted) {
      const { events: seen } = pass;
      pass = await this.#readPages(signal);
      // A list that never rests: an event that only the second pass missed would be taken for deleted.
      if (pass.isShifted) pass.events = new Map([...seen, ...pass.events]);
    }
    const { events, remarks, etags, isShifted } = pass;
    const isKnown = !isShifted && etags.every((etag) => etag !== '');
    return { events: [...events.values()], remarks, validators: isKnown ? { etag: etags.join('\n') } : {} };
  }

  async #areUnchanged(etags: string[], signal: AbortSignal): Promise<boolean> {
    for (const [index, etag] of etags.entries())
      if ((await this.#get(index + 1, signal, { 'if-none-match': etag })).status !== 304) return false;
    return true;
  }

  async #readPages(signal: AbortSignal): Promise<Pass> {
    const pass: Pass = { events: new Map(), remarks: [], etags: [], isShifted: false };
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
    const example = `page ${pass.etags.length + 1}`;
    source.addRemark(pass.remarks, 'beyond 10 MB or 20,000 events', example, count);
    return pass;
  }

  async #add(pass: Pass, json: unknown): Promise<void> {
    // A description of the greatest length takes some milliseconds.
    await nextTurn();
    const event = await readEvent(json, this.#address);
    if (typeof event === 'string') return source.addRemark(pass.remarks, event, idOf(json));
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

/** @returns the reason why the event cannot be served, if it cannot */
async function readEvent(json: unknown, siteUrl: string): Promise<source.SourceEvent | string> {
  const id = idOf(json);
  if (!isObject(json) || id === '') return 'no id';
  if (json.status !== undefined && json.status !== 'publish') return 'not published';
  // The Events Calendar lists a protected event without its content: its flags are null.
  if (json.all_day === null) return 'protected by a password';
  const times = timesOf(json);
  if (typeof times === 'string') return times;
  const url = addressOf(json.url);
  const bases = { linkBase: url || siteUrl, imageBase: siteUrl };
  return {
    key: id,
    uid: plainText(json.global_id) || `${new URL(siteUrl).hostname}?id=${id}`,
    title: nameOf(json.title),
    description: await safeHtml(textOf(json.description, 100_000), bases),
    excerpt: await safeHtml(textOf(json.excerpt, 100_000), bases),
    ...times,
    cost: decodeEntities(plainText(json.cost)),
    website: addressOf(json.website),
    url,
    eventStatus: EVENT_STATUSES.find((word) => word === json.event_status) ?? '',
    eventStatusReason: plainText(json.event_status_reason),
    attendanceMode: ATTENDANCE_MODES.find((word) => word === json.attendance_mode) ?? '',
    onlineUrl: addressOf(json.online_url),
    createdUtc: wallOf(json.date_utc),
    modifiedUtc: wallOf(json.modified_utc),
    categories: termsOf(json.categories),
    tags: termsOf(json.tags),
    venue: objectsOf(json.venue).map(venueOf).find(isNamed),
    organizers: objectsOf(json.organizer).map(organizerOf).filter(isNamed),
    image: imageOf(json.image),
  };
}

/** A whole number above 0 as text; `''` for anything else. */
function idOf(json: unknown): string {
  const id = isObject(json) ? Number(textOf(json.id)) : 0;
  return Number.isSafeInteger(id) && id > 0 ? String(id) : '';
}

function timesOf(json: JsonObject) {
  const start = wallOf(json.start_date);
  const end = wallOf(json.end_date) ?? start;
  if (start === undefined || end === undefined) return 'no valid start';
  if (end < start) return 'an end before the start';
  const timezone = textOf(json.timezone);
  const zone = parseZone(timezone);
  if (zone === undefined) return 'an unknown time zone';
  const allDay = json.all_day === true;
  // On a site whose days begin at 05:00 a whole day is from then on. Here it begins at midnight.
  const [first, last] = wholeDays(start, end);
  const [from, to] = allDay ? [startOfDay(first), endOfDay(last)] : [start, end];
  const [startUtc, endUtc] = [toUtc(from, zone, json.utc_start_date), toUtc(to, zone, json.utc_end_date)];
  return { start: from, end: to, startUtc, endUtc, timezone, allDay };
}

const wallOf = (value: unknown): WallTime | undefined =>
  typeof value === 'string' && parseWallTime(value) !== undefined ? value : undefined;

/** A clock shows 02:30 twice on a day in autumn: the source says which of the two it means. */
const toUtc = (wall: WallTime, zone: Zone, said: unknown): WallTime =>
  instantsOf(wall, zone).some((epochMs) => formatWallTime(epochMs) === said) ? String(said) : wallToUtc(wall, zone);

/** A text or a number, without control characters (SQLite ends some texts at NUL) and halves of characters. */
function textOf(value: unknown, maxLength = MAX_LINE): string {
  const text = typeof value === 'string' || Number.isFinite(value) ? String(value) : '';
  const cut = cutHtml(text, maxLength).replace(/[^\P{Cc}\t\n\r]/gu, '');
  return cut.toWellFormed().trim();
}

/** A text that is no HTML. The CMS of the source removes tags when it saves one. */
function plainText(value: unknown): string {
  const text = textOf(value);
  return text.includes('<') ? textLine(text, MAX_LINE) : text;
}

/** A title or name as HTML. Of one with tags only the text stays. */
function nameOf(value: unknown): string {
  const html = textOf(value);
  return html.includes('<') ? escapeMarkup(textLine(html, MAX_LINE)) : html;
}

/** The address as the source writes it. The original escapes the ampersands of an event's website. */
function addressOf(value: unknown): string {
  if (typeof value !== 'string' || value.length > MAX_LINE) return '';
  const address = textOf(value).replace(/&(amp|#0?38);/g, '&');
  const href = webAddress(address) ?? '';
  return /[\s"'<>\\]/.test(address) || href === '' ? href : address;
}

/** The original has one venue as an object, several as a list, and none as an empty list. */
const objectsOf = (value: unknown): JsonObject[] =>
  (Array.isArray(value) ? value.slice(0, MAX_LISTED) : [value]).filter(isObject);

const termsOf = (terms: unknown): string[] =>
  [...new Set(objectsOf(terms).map(({ name }) => nameOf(name)))].filter(Boolean);

const isNamed = ({ name }: { name: string }): boolean => name !== '';

function venueOf(json: JsonObject): source.SourceVenue {
  const [state, province] = [plainText(json.state), plainText(json.province)];
  const degrees = (value: unknown) => Number(textOf(value) || Number.NaN);
  return {
    name: nameOf(json.venue),
    address: plainText(json.address),
    city: plainText(json.city),
    country: plainText(json.country),
    province: province || (state === '' ? plainText(json.stateprovince) : ''),
    state,
    zip: plainText(json.zip),
    phone: plainText(json.phone),
    website: addressOf(json.website),
    ...source.placeAt(degrees(json.geo_lat), degrees(json.geo_lng)),
  };
}

const organizerOf = ({ organizer, phone, website }: JsonObject): source.SourceOrganizer => {
  return { name: nameOf(organizer), phone: plainText(phone), website: addressOf(website) };
};

function imageOf(value: unknown): source.SourceEvent['image'] {
  const { url, width, height } = isObject(value) ? value : {};
  return addressOf(url) === ''
    ? undefined
    : { url: addressOf(url), width: numberOrZero(width), height: numberOrZero(height) };
}
