// An iCalendar file (RFC 5545) as a source: asks for it, and makes events of its events and of its series' instances.

import { createHash } from 'node:crypto';
import { placeAt } from '../../model/records.ts';
import { pause } from '../../pause.ts';
import { decodeEntities, escapeHtml, escapeHtmlOnce } from '../../text/html.ts';
import { safeHtml } from '../../text/safe-html.ts';
import { cutText, webAddress } from '../../text/text.ts';
import { DAY_MS, formatWallTime, isoToWall, validWallTime } from '../../time/wall-time.ts';
import { getPublic } from '../public-request.ts';
import { describeBody } from '../response.ts';
import { type Component, parseCalendars, properties, textOf } from './icalendar-text.ts';
import * as times from './icalendar-times.ts';
import { zonesOf } from './icalendar-zones.ts';
import * as source from './source.ts';

const MAX_UID = 500;
const MAX_TEXT = 50_000;

/** @param url `http:`, `https:` or `webcal:` */
export function createICalendarSource(url: string, options: source.SourceOptions): source.Source {
  const { allowPrivate, timezone, nowMs: now = Date.now } = options;
  // `webcal:` does not say whether with TLS: a server of a private network seldom has a certificate.
  const address = url.replace(/^webcal(s?):/i, (_, secure) => (secure || !allowPrivate ? 'https:' : 'http:'));
  return {
    async read(previous, signal) {
      // What changes the events although the file stays the same: the window moves with each day.
      const basis = `${formatWallTime(now()).slice(0, 10)} ${timezone()} `;
      const etag = previous?.hash?.startsWith(basis) ? previous.etag : '';
      const headers = { accept: 'text/calendar, */*;q=0.5', ...(etag && { 'if-none-match': etag }) };
      const limits = { maxBytes: source.MAX_SOURCE_BYTES, timeoutMs: 60_000, allowPrivate, anyPort: true, signal };
      const response = await getPublic(address, { headers, ...limits });
      if (response.status === 304) return undefined;
      const hash = basis + createHash('sha256').update(response.bytes).digest('base64url');
      if (previous?.hash === hash) return undefined;
      const validators = { etag: String(response.headers.etag ?? ''), hash };
      return { ...(await readICalendar(response.bytes, { timezone: timezone(), nowMs: now(), signal })), validators };
    },
  };
}

/** @throws Error if the bytes are no calendar at all; the signal's reason if it aborts */
export async function readICalendar(
  bytes: Buffer,
  { timezone, nowMs, signal }: { timezone: string; nowMs: number; signal?: AbortSignal },
): Promise<Omit<source.SourceSnapshot, 'validators'>> {
  const { calendar, state, hasOnlyUtf8 } = await parseCalendars(bytes);
  if (state === 'no calendar') throw new Error(`${describeBody(bytes)} instead of a calendar`);
  const zoneOf = await zonesOf(calendar, nowMs);
  const zone = zoneOf(textOf(calendar, 'x-wr-timezone')) ?? timezone;
  const [fromMs, toMs] = [nowMs - source.PAST_DAYS * DAY_MS, nowMs + source.SERIES_FUTURE_DAYS * DAY_MS];
  const events = new Map<string, source.SourceEvent>();
  const remarks: source.Remark[] = [];
  const uids = new Map<Component, string>();
  for (const component of calendar.inner.filter(({ name }) => name === 'VEVENT')) {
    uids.set(component, uidOf(component));
    await pause();
  }
  for (const [uid, components] of Map.groupBy(uids.keys(), (component) => uids.get(component)!)) {
    signal?.throwIfAborted();
    const parts = { masters: new Map(), changes: new Map() };
    await readGroup({ zoneOf, zone, fromMs, toMs, events, remarks, uid, ...parts }, components);
  }
  if (!hasOnlyUtf8) source.addRemark(remarks, 'not in UTF-8', '');
  if (state === 'begun') source.addRemark(remarks, 'the file ends too early', '');
  return { events: [...events.values()], remarks, isPartial: state === 'begun' };
}

/** The components of one UID, by the names of their instances; and events and remarks of the whole file so far. */
interface UidGroup extends times.TimeContext {
  uid: string;
  masters: Map<string, UidPart>;
  changes: Map<string, UidPart>;
  events: Map<string, source.SourceEvent>;
  remarks: source.Remark[];
}

/** A component of a UID: a master (the event or series itself), or a change of one instance or of all from one on. */
interface UidPart {
  component: Component;
  /** Of a master its DTSTART. Of a change its RECURRENCE-ID, which may be a day although the series has times. */
  named: times.Moment;
  /** Of a change: the start, as the series has it, of the instance that has claimed it (`claimChange`). */
  claimed?: times.Moment;
  /** Its DTSTART. Undefined: the component is private, or a change whose DTSTART cannot be read. */
  start?: times.Moment;
  /** Read once an instance is in the window. */
  content?: Awaited<ReturnType<typeof readContent>>;
}

/** Whatever is wrong with one event, the others are served. */
async function attempt({ uid, remarks }: UidGroup, work: () => unknown): Promise<void> {
  await pause();
  try {
    await work();
  } catch (error) {
    source.addRemark(remarks, error instanceof Error ? error.message : String(error), uid);
  }
}

function uidOf(component: Component): string {
  const uid = textOf(component, 'uid');
  if (uid !== '' && uid.length <= MAX_UID) return uid;
  const text = uid || JSON.stringify([component.lines.get('dtstart')?.[0] ?? '', textOf(component, 'summary')]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/**
 * All events of one UID: its masters (each a series or a single event), and the changes of their instances. Of
 *
 *     UID:a  SUMMARY:Jazz   DTSTART:20270505T160000Z  RRULE:FREQ=WEEKLY;COUNT=3
 *     UID:a  SUMMARY:Blues  DTSTART:20270513T170000Z  RECURRENCE-ID:20270512T160000Z
 *
 * the first is a master, and the second changes its second instance. The events are Jazz on May 5
 * (`a/20270505T160000Z`), Blues on May 13 (`a/20270512T160000Z`: a change keeps the key), and Jazz on May 19.
 */
async function readGroup(group: UidGroup, components: readonly Component[]): Promise<void> {
  const { masters, changes } = group;
  for (const component of components) await attempt(group, () => addPart(group, component));
  // A private master has no start. It hides all of its UID, other masters too: any change may show what is private.
  if ([...masters.values()].some(({ start }) => start === undefined)) return;
  // If the UID has several masters, each has its start in its key, also while another cannot be read: keys stay.
  const hasOthers = components.filter((component) => !isChange(component)).length > 1;
  for (const master of masters.values()) await attempt(group, () => addInstances(group, master, hasOthers));
  // Last: by now `claimChange` has found the changes' instances. A change whose instance no series has is added too.
  for (const change of changes.values())
    if (change.start) await attempt(group, () => add(group, change, change.start!, originalStartOf(change)));
}

/** Of two parts of one instance the last counts. Of a change without a `start`, no event and no instance is served. */
function addPart(group: UidGroup, component: Component): void {
  const { uid, masters, changes, remarks } = group;
  const found = isChange(component) ? changes : masters;
  const named = times.momentOf(component, isChange(component) ? 'recurrence-id' : 'dtstart', group);
  const name = times.instanceName(named);
  if (found.has(name)) source.addRemark(remarks, 'the same UID and start as another: the last one counts', uid);
  const part: UidPart = { component, named };
  found.set(name, part);
  if (/^(private|confidential)$/i.test(textOf(component, 'class'))) throw new Error('private');
  part.start = times.momentOf(component, 'dtstart', group);
}

/**
 * Adds the instances of an event or series. Of the one at 20270519T160000Z it adds, if the changes of the UID are
 *
 *   of 20270519T160000Z                                    nothing: `readGroup` adds the change
 *   of the day 20270519                                    nothing either, if this is the first instance of that day
 *   none, or of other instances                            the master
 *   of all from 20270512T160000Z on, to 20270513T170000Z   the change, at 20270520T170000Z
 *   the same, but private or without a readable DTSTART    nothing, with a remark
 */
async function addInstances(group: UidGroup, master: UidPart, hasOthers: boolean): Promise<void> {
  const { uid, changes, remarks } = group;
  const { component, named: first } = master;
  const isSeries = times.isSeries(component);
  const rangeChanges = [...changes.values()].filter(isOfLaterToo);
  rangeChanges.sort((a, b) => originalStartOf(a).epochMs - originalStartOf(b).epochMs);
  for await (const start of isSeries ? times.startsOf(component, first, group) : [first]) {
    if (claimChange(start, changes)) continue;
    const rangeChange = rangeChanges.findLast((change) => originalStartOf(change).epochMs < start.epochMs);
    const moved = rangeChange?.start && movedLikewise(start, originalStartOf(rangeChange), rangeChange.start);
    if (!rangeChange) await add(group, master, start, isSeries || hasOthers ? start : undefined);
    else if (moved) await add(group, rangeChange, moved, start);
    else source.addRemark(remarks, 'after a change of all later instances', uid);
  }
}

/** Adds an instance if it is in the window, or a single event after it. `inKey`: the start in its key, if one is. */
async function add(group: UidGroup, part: UidPart, start: times.Moment, inKey?: times.Moment): Promise<void> {
  const { uid, events, remarks } = group;
  const { component } = part;
  const endMs = times.endOf(component, part.start!, start, group);
  const isOfSeries = times.isSeries(component) || isChange(component);
  if ((isOfSeries && start.epochMs > group.toMs) || endMs < group.fromMs) return;
  part.content ??= await readContent(component);
  const key = inKey ? `${uid}/${times.instanceName(inKey)}` : uid;
  if (part.content.title === '') source.addRemark(remarks, 'no title', uid);
  else if (events.size >= source.MAX_SOURCE_EVENTS) source.addRemark(remarks, 'more than 20,000 events', key);
  else events.set(key, { key, uid, ...part.content, ...times.eventTimes(start, endMs, group) });
}

const isChange = ({ lines }: Component): boolean => lines.has('recurrence-id');
const originalStartOf = ({ claimed, named }: UidPart): times.Moment => claimed ?? named;

/** Marks the change whose RECURRENCE-ID is this time, or this day, as that of the instance. False: there is none. */
function claimChange(start: times.Moment, changes: ReadonlyMap<string, UidPart>): boolean {
  const ofDay = changes.get(times.dayName(start.wallMs));
  // The first instance of a day claims the change of that day. Then `originalStartOf` is a time: no later one does.
  const change = changes.get(times.instanceName(start)) ?? (ofDay && originalStartOf(ofDay).isDate ? ofDay : undefined);
  if (change) change.claimed = start;
  return change !== undefined;
}

/**
 * Moves `later` as one instance was moved: on its own clock, by the time from the instant `from` to the instant `to`,
 * whose zones may differ. Undefined if one of `from` and `later` is a day, the other a time.
 */
function movedLikewise(later: times.Moment, from: times.Moment, to: times.Moment): times.Moment | undefined {
  if (from.isDate !== later.isDate) return undefined;
  const shiftMs = to.isDate ? to.wallMs - from.wallMs : to.epochMs - from.epochMs;
  return times.momentAt(later.wallMs + shiftMs, { zone: later.zone, isDate: to.isDate });
}

/** RECURRENCE-ID;RANGE=THISANDFUTURE: a change of its instance and of all later ones. */
const isOfLaterToo = ({ component }: UidPart): boolean =>
  /^[^:]*;range="?thisandfuture/i.test(component.lines.get('recurrence-id')![0]!);

async function readContent(component: Component): Promise<Omit<source.SourceEvent, 'key' | 'uid' | source.TimeField>> {
  const url = addressOf(textOf(component, 'url'));
  const location = textOf(component, 'location');
  // A LOCATION that is nothing but an address.
  const onlineUrl = addressOf(location);
  const status = textOf(component, 'status').toUpperCase();
  return {
    title: line(textOf(component, 'summary')),
    description: await descriptionOf(component, url),
    url,
    eventStatus: status === 'CANCELLED' ? 'cancelled' : status === 'CONFIRMED' ? 'scheduled' : '',
    attendanceMode: onlineUrl === '' ? '' : 'online',
    onlineUrl,
    createdUtc: validWallTime(isoToWall(textOf(component, 'created'))),
    modifiedUtc: validWallTime(isoToWall(textOf(component, 'last-modified'))),
    categories: categoriesOf(component),
    venue: onlineUrl === '' ? venueOf(component, location) : undefined,
    organizers: organizersOf(component),
    image: imageOf(component),
  };
}

/** A text in one line, as HTML. Many programs write HTML's entities into it: `R&amp;D`. */
function line(text: string): string {
  const words = text.toWellFormed().replace(/[\s\p{Cc}]+/gu, ' ');
  return escapeHtmlOnce(cutText(words.trim(), source.MAX_LINE));
}

const addressOf = (text: string): string => (text.length <= source.MAX_LINE ? (webAddress(text) ?? '') : '');

/** Programs such as Google Calendar write HTML into DESCRIPTION itself. `<me@town.example>` is none. */
const TAG = /<\/?(?:p|br|a|b|i|u|ul|ol|li|div|span|strong|em|h[1-6]|html)(?:[\s/][^<>]*)?>/i;

async function descriptionOf(component: Component, url: string): Promise<string> {
  // ical.js decodes no properties that it does not know.
  const rich = textOf(component, 'x-alt-desc').replace(/\\([\\;,nN])/g, (_, c) => (/n/i.test(c) ? '\n' : c));
  const plain = textOf(component, 'description');
  const html = [rich, plain].find((text) => TAG.test(text));
  if (html !== undefined) return (await safeHtml(html, url === '' ? undefined : url)).trim();
  const blocks = escapeHtml(cutText(plain, MAX_TEXT))
    .replace(/\n\s*\n/g, '</p><p>')
    .replaceAll('\n', '<br>');
  return blocks && `<p>${blocks}</p>`;
}

/** The first line of LOCATION is its name. Commas tell nothing: what is before the first may be a street. */
function venueOf(component: Component, location: string): source.SourceVenue | undefined {
  const [name = '', ...address] = location.split('\n');
  if (name === '') return undefined;
  // ical.js reads 0 for what is no number.
  const geo = component.lines.get('geo')?.[0]?.trim() ?? '';
  const [, latitude = 'NaN', longitude = 'NaN'] = /:([-+]?[\d.]+);([-+]?[\d.]+)$/.exec(geo) ?? [];
  return { name: line(name), address: line(address.join('\n')), ...placeAt(Number(latitude), Number(longitude)) };
}

function categoriesOf(component: Component): string[] {
  // A line may have thousands.
  const lists = properties(component, 'categories', 10);
  const names = lists.flatMap(({ values }) => values.slice(0, source.MAX_LISTED).map((value) => line(String(value))));
  return [...new Set(names.filter((name) => name !== ''))].slice(0, source.MAX_LISTED);
}

function organizersOf(component: Component): source.SourceOrganizer[] {
  return properties(component, 'organizer', source.MAX_LISTED)
    .map(({ params, values }) => ({ name: line(params.cn ?? ''), website: addressOf(String(values[0])) }))
    .filter(({ name }) => name !== '' && !decodeEntities(name).includes('@'));
}

/** IMAGE (RFC 7986), or an attached picture, as The Events Calendar and others write it. By address only. */
function imageOf(component: Component): source.SourceEvent['image'] {
  const attached = properties(component, 'attach', source.MAX_LISTED);
  const images = attached.filter(({ params }) => /^image\//i.test(params.fmttype ?? ''));
  const pictures = [...properties(component, 'image', source.MAX_LISTED), ...images];
  const url = pictures.map(({ values }) => addressOf(String(values[0]))).find((address) => address !== '');
  return url === undefined ? undefined : { url, width: 0, height: 0 };
}
