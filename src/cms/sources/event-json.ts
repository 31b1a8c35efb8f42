// Reads one event of an events/v1 response as the event of a source. A property of a wrong type or form counts as not
// said; without an id or valid times there is no event.

import { ATTENDANCE_MODES, EVENT_STATUSES } from '../../model/event-state.ts';
import { isObject, type JsonObject, numberOrZero } from '../../model/json.ts';
import type { WallTime } from '../../model/records.ts';
import { decodeEntities, escapeMarkup, textLine } from '../../text/html.ts';
import { safeHtml } from '../../text/safe-html.ts';
import { cutHtml, webAddress } from '../../text/text.ts';
import { endOfDay, formatWallTime, parseWallTime, startOfDay, wholeDays } from '../../time/wall-time.ts';
import { instantsOf, parseZone, wallToUtc, type Zone } from '../../time/zones.ts';
import type { SourceEvent, SourceOrganizer, SourceVenue } from './source.ts';

/** Longer texts are cut, and longer addresses count as not said. */
const MAX_LINE = 2000;
/** Terms, organizers and venues of one event, each. */
const MAX_LISTED = 100;

/** @returns the reason why the event cannot be served, if it cannot */
export async function readEvent(json: unknown, siteUrl: string): Promise<SourceEvent | string> {
  const id = idOf(json);
  if (!isObject(json) || id === '') return 'no id';
  if (json.status !== undefined && json.status !== 'publish') return 'not published';
  // The Events Calendar lists a protected event without its content: its flags are null.
  if (json.all_day === null) return 'protected by a password';
  const times = timesOf(json);
  if (typeof times === 'string') return times;
  const url = addressOf(json.url);
  const bases = { linkBase: url || siteUrl, imageBase: siteUrl };
  const venue = listOf(json.venue).map(venueOf).find(isNamed);
  const image = imageOf(json.image);
  const createdUtc = wallOf(json.date_utc);
  const modifiedUtc = wallOf(json.modified_utc);
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
    ...(createdUtc && { createdUtc }),
    ...(modifiedUtc && { modifiedUtc }),
    categories: termsOf(json.categories),
    tags: termsOf(json.tags),
    ...(venue && { venue }),
    organizers: listOf(json.organizer).map(organizerOf).filter(isNamed),
    ...(image && { image }),
  };
}

/** A whole number above 0 as text; `''` for anything else. */
export function idOf(json: unknown): string {
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
const listOf = (value: unknown): JsonObject[] =>
  (Array.isArray(value) ? value.slice(0, MAX_LISTED) : [value]).filter(isObject);

const termsOf = (terms: unknown): string[] =>
  [...new Set(listOf(terms).map(({ name }) => nameOf(name)))].filter(Boolean);

const isNamed = ({ name }: { name: string }): boolean => name !== '';

function venueOf(json: JsonObject): SourceVenue {
  const [state, province] = [plainText(json.state), plainText(json.province)];
  const [latitude, longitude] = [numberOrZero(json.geo_lat), numberOrZero(json.geo_lng)];
  // Plugins store zeros for a venue without coordinates.
  const isPlace = latitude !== 0 && longitude !== 0 && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
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
    ...(isPlace ? { latitude, longitude } : { latitude: null, longitude: null }),
  };
}

const organizerOf = ({ organizer, phone, website }: JsonObject): SourceOrganizer => {
  return { name: nameOf(organizer), phone: plainText(phone), website: addressOf(website) };
};

function imageOf(value: unknown): SourceEvent['image'] {
  const { url, width, height } = isObject(value) ? value : {};
  return addressOf(url) === ''
    ? undefined
    : { url: addressOf(url), width: numberOrZero(width), height: numberOrZero(height) };
}
