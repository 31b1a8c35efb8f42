// A source that is another events/v1 API: a public site of The Events Calendar, or another gateway. Reads its list of
// events page by page, one request at a time and at most one a second. A property of a wrong type or form counts as not
// said; without an id or valid times there is no event.

import { setTimeout as sleep } from 'node:timers/promises';
import { ATTENDANCE_MODES, EVENT_STATUSES } from '../../model/event-state.ts';
import { isObject, type JsonObject, numberOrZero } from '../../model/json.ts';
import { placeAt, type WallTime } from '../../model/records.ts';
import { pause } from '../../pause.ts';
import { decodeEntities, escapeMarkup, textLine } from '../../text/html.ts';
import { safeHtml } from '../../text/safe-html.ts';
import { cutHtml, trimCharactersEnd, webAddress } from '../../text/text.ts';
import { DAY_MS, dayEndOn, dayStartOn, formatWallTime, validWallTime, wholeDays } from '../../time/wall-time.ts';
import { instantsOf, parseZone, wallToUtc, type Zone } from '../../time/zones.ts';
import { getPublic } from '../public-request.ts';
import { describeBody, parseJson } from '../response.ts';
import * as source from './source.ts';

/** The most that The Events Calendar sends. */
const PER_PAGE = 50;
/** Fifty long events have about 1 MB. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Fifty events have about 40,000 values. Parsing a hundred thousand takes up to 50 ms, in which nothing else runs. */
const MAX_VALUES = 100_000;
const PAUSE_MS = 1000;
/** As far ahead as the original's lists. */
const FUTURE_DAYS = 2 * 366;

/** @param address of the namespace, such as `https://theatre.example/wp-json/tribe/events/v1` */
export function createEventsSource(
  address: string,
  { allowPrivate, nowMs = Date.now }: Omit<source.SourceOptions, 'timezone'>,
  wait: (ms: number, value: undefined, options: { signal: AbortSignal }) => Promise<unknown> = sleep,
): source.Source {
  const site = trimCharactersEnd(address, '/');

  async function get(page: number, signal: AbortSignal, condition: Record<string, string> = {}) {
    await wait(PAUSE_MS, undefined, { signal });
    const headers = { accept: 'application/json', ...condition };
    const limits = { maxBytes: MAX_PAGE_BYTES, timeoutMs: 30_000, allowPrivate, anyPort: true, signal };
    return getPublic(urlOf(site, page, nowMs()), { headers, ...limits });
  }

  /** A new page shows too: what was the last page now has a `next_rest_url`, and so another ETag. */
  async function areUnchanged(etags: string[], signal: AbortSignal): Promise<boolean> {
    for (const [index, etag] of etags.entries())
      if ((await get(index + 1, signal, { 'if-none-match': etag })).status !== 304) return false;
    return true;
  }

  /** `events`: those that can be served. `ids`: of all events, also of a draft; `''` for one without an id. */
  async function readPage(number: number, signal: AbortSignal, remarks: source.Remark[]) {
    const { bytes, headers } = await get(number, signal);
    const { sent, total, hasNext } = parsePage(bytes);
    const events: source.SourceEvent[] = [];
    for (const each of sent) {
      await pause();
      const event = await readEvent(each, site);
      if (typeof event === 'string') source.addRemark(remarks, event, idOf(each));
      else events.push(event);
    }
    const ids = sent.map((each) => (isObject(each) ? textOf(each.id) : ''));
    return { events, ids, total, hasNext, etag: String(headers.etag ?? ''), size: bytes.length };
  }

  return {
    async read(previous, signal) {
      if (previous?.etag && (await areUnchanged(previous.etag.split('\n'), signal))) return undefined;
      const remarks: source.Remark[] = [];
      const pages: Awaited<ReturnType<typeof readPage>>[] = [];
      const events = new Map<string, source.SourceEvent>();
      const seen = new Set<string>();
      let isRepeating = false;
      for (let number = 1, hasNext = true; hasNext; number += 1) {
        const bytes = pages.reduce((sum, { size }) => sum + size, 0);
        if (bytes >= source.MAX_SOURCE_BYTES || events.size >= source.MAX_SOURCE_EVENTS) {
          source.addRemark(remarks, 'beyond 10 MB or 20,000 events', `page ${number}`);
          break;
        }
        const page = await readPage(number, signal, remarks);
        pages.push(page);
        for (const event of page.events) if (!events.has(event.key)) events.set(event.key, event);
        // A cache that ignores `page` in an address answers with the same events for ever.
        isRepeating = page.hasNext && page.ids.every((id) => seen.has(id));
        hasNext = page.hasNext && !isRepeating;
        for (const id of page.ids) seen.add(id);
      }
      // If the list changed between two pages, an event may have moved to a page that was read before: it is missing.
      const ids = pages.flatMap((page) => page.ids).filter((id) => id !== '');
      const hasMoved = ids.length > new Set(ids).size || new Set(pages.map(({ total }) => total)).size > 1;
      const etags = pages.map(({ etag }) => etag);
      const validators = etags.includes('') ? {} : { etag: etags.join('\n') };
      return { events: [...events.values()], remarks, isPartial: isRepeating || hasMoved, validators };
    },
  };
}

/** @throws Error for anything but a page of a list of events */
function parsePage(bytes: Buffer) {
  if (bytes.toString('latin1').split(/[[{,:]/, MAX_VALUES).length === MAX_VALUES) throw new Error('too many values');
  const json = parseJson(bytes);
  if (json === undefined) throw new Error(`${describeBody(bytes)} instead of JSON`);
  if (!isObject(json) || !Array.isArray(json.events)) throw new Error('JSON without a list of events');
  return { sent: json.events as unknown[], total: json.total, hasNext: typeof json.next_rest_url === 'string' };
}

/** Made here, since `next_rest_url` could lead elsewhere. The URL stays the same for weeks, and so do ETags. */
function urlOf(site: string, page: number, nowMs: number): string {
  const monthAt = (days: number) => `${new Date(nowMs + days * DAY_MS).toISOString().slice(0, 7)}-01`;
  const window = { start_date: monthAt(-source.PAST_DAYS), end_date: monthAt(FUTURE_DAYS) };
  return `${site}/events?${new URLSearchParams({ page: `${page}`, per_page: `${PER_PAGE}`, ...window })}`;
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
  return {
    key: id,
    uid: lineOf(json.global_id) || `${new URL(siteUrl).hostname}?id=${id}`,
    title: lineOf(json.title),
    description: await safeHtml(textOf(json.description, 100_000), url || siteUrl),
    excerpt: await safeHtml(textOf(json.excerpt, 100_000), url || siteUrl),
    ...times,
    cost: decodeEntities(lineOf(json.cost)),
    website: addressOf(json.website),
    url,
    eventStatus: EVENT_STATUSES.find((word) => word === json.event_status) ?? '',
    eventStatusReason: lineOf(json.event_status_reason),
    attendanceMode: ATTENDANCE_MODES.find((word) => word === json.attendance_mode) ?? '',
    onlineUrl: addressOf(json.online_url),
    createdUtc: validWallTime(json.date_utc),
    modifiedUtc: validWallTime(json.modified_utc),
    categories: termsOf(json.categories),
    tags: termsOf(json.tags),
    venue: namedOf(json.venue, venueOf)[0],
    organizers: namedOf(json.organizer, organizerOf),
    image: imageOf(json.image),
  };
}

/** A whole number above 0 as text; `''` for anything else. */
const idOf = (json: unknown): string =>
  isObject(json) && /^[1-9]\d{0,14}$/.test(textOf(json.id)) ? textOf(json.id) : '';

function timesOf(json: JsonObject) {
  const start = validWallTime(json.start_date);
  const end = validWallTime(json.end_date) ?? start;
  if (start === undefined || end === undefined || end < start) return 'no valid times';
  const timezone = textOf(json.timezone);
  const zone = parseZone(timezone);
  if (zone === undefined) return 'an unknown time zone';
  const allDay = json.all_day === true;
  // On a site whose days begin at 05:00 a whole day is from then on. Here it begins at midnight.
  const [first, last] = wholeDays(start, end);
  const [from, to] = allDay ? [dayStartOn(first), dayEndOn(last)] : [start, end];
  const [startUtc, endUtc] = [toUtc(from, zone, json.utc_start_date), toUtc(to, zone, json.utc_end_date)];
  return { start: from, end: to, startUtc, endUtc, timezone, allDay };
}

/** A clock shows 02:30 twice on a day in autumn: the source says which of the two it means. */
const toUtc = (wall: WallTime, zone: Zone, said: unknown): WallTime =>
  instantsOf(wall, zone).some((epochMs) => formatWallTime(epochMs) === said) ? String(said) : wallToUtc(wall, zone);

/** A text or a number, without control characters (SQLite ends some texts at NUL) and halves of characters. */
function textOf(value: unknown, maxLength = source.MAX_LINE): string {
  const text = typeof value === 'string' || Number.isFinite(value) ? String(value) : '';
  const cut = cutHtml(text, maxLength).replace(/(?![\t\n\r])\p{Cc}/gu, '');
  return cut.toWellFormed().trim();
}

/** A text of one line. The CMS of the source removes tags when it saves one; of one with tags only the text stays. */
function lineOf(value: unknown): string {
  const html = textOf(value);
  return html.includes('<') ? escapeMarkup(textLine(html, source.MAX_LINE)) : html;
}

/** As the source writes it: `/Café`, but `/a%20b` for `/a b`. The original has `&amp;` in an event's website. */
function addressOf(value: unknown): string {
  if (typeof value !== 'string' || value.length > source.MAX_LINE) return '';
  const address = textOf(value).replace(/&(amp|#0?38);/g, '&');
  const href = webAddress(address) ?? '';
  return href === '' || /[\s"'<>\\]/.test(address) ? href : address;
}

/** The original has one venue as an object, several as a list, and none as an empty list. */
const objectsOf = (value: unknown): JsonObject[] =>
  (Array.isArray(value) ? value.slice(0, source.MAX_LISTED) : [value]).filter(isObject);

const namedOf = <T extends { name: string }>(value: unknown, read: (json: JsonObject) => T): T[] =>
  objectsOf(value)
    .map(read)
    .filter(({ name }) => name !== '');

const termsOf = (terms: unknown): string[] =>
  [...new Set(objectsOf(terms).map(({ name }) => lineOf(name)))].filter(Boolean);

function venueOf(json: JsonObject): source.SourceVenue {
  const [state, province] = [lineOf(json.state), lineOf(json.province)];
  const degrees = (value: unknown) => Number(textOf(value) || Number.NaN);
  return {
    name: lineOf(json.venue),
    address: lineOf(json.address),
    city: lineOf(json.city),
    country: lineOf(json.country),
    province: province || (state === '' ? lineOf(json.stateprovince) : ''),
    state,
    zip: lineOf(json.zip),
    phone: lineOf(json.phone),
    website: addressOf(json.website),
    ...placeAt(degrees(json.geo_lat), degrees(json.geo_lng)),
  };
}

const organizerOf = ({ organizer, phone, website }: JsonObject): source.SourceOrganizer => {
  return { name: lineOf(organizer), phone: lineOf(phone), website: addressOf(website) };
};

function imageOf(value: unknown): source.SourceEvent['image'] {
  const { url, width, height } = isObject(value) ? value : {};
  const address = addressOf(url);
  return address === '' ? undefined : { url: address, width: numberOrZero(width), height: numberOrZero(height) };
}
