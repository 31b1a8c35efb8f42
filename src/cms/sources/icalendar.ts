// An iCalendar file (RFC 5545) as a source: asks for it, and turns its events and the instances of its series into
// events of the calendar.

import { createHash } from 'node:crypto';
import { formatWallTime } from '../../time/wall-time.ts';
import { siteZone } from '../../time/zones.ts';
import { getPublic, PublicRequestError } from '../public-request.ts';
import { readContent } from './icalendar-event.ts';
import { type Component, Pace, properties, readFile, textOf, Unreadable } from './icalendar-text.ts';
import {
  type Duration,
  dayStamp,
  durationOf,
  endOf,
  isSeries,
  type Moment,
  recurrenceIdOf,
  stampOf,
  startOf,
  startsOf,
  type TimeContext,
  timesOf,
  type Window,
} from './icalendar-times.ts';
import { CalendarZones } from './icalendar-zones.ts';
import {
  type LeftOut,
  MAX_INSTANCES,
  MAX_SOURCE_BYTES,
  MAX_SOURCE_EVENTS,
  SERIES_WINDOW,
  type Source,
  SourceError,
  type SourceEvent,
  type SourceSnapshot,
} from './source.ts';

const TIMEOUT_MS = 60_000;
const DAY_MS = 86_400_000;
const MAX_UID = 500;
const HEADERS = { accept: 'text/calendar, */*;q=0.5', 'user-agent': 'calendar-gateway' };

export interface ICalendarOptions {
  /** `http:`, `https:` or `webcal:`. */
  url: string;
  /** The zone of times without one, if the file names none. */
  timezone: () => string;
  now: () => number;
  /** Hosts of private networks too. */
  allowPrivate?: boolean;
}

export function createICalendarSource({ url, timezone, now, allowPrivate = false }: ICalendarOptions): Source {
  const address = url.replace(/^webcal(s?):/i, (_, secure) => (secure || !allowPrivate ? 'https:' : 'http:'));
  return {
    async read(previous, signal) {
      // What changes the events although the file stays the same: the window moves with each day.
      const basis = `${formatWallTime(now()).slice(0, 10)} ${timezone()}`;
      const isCurrent = previous?.hash?.startsWith(`${basis} `) ?? false;
      const etag = isCurrent ? previous?.etag : undefined;
      const response = await getPublic(address, {
        headers: { ...HEADERS, ...(etag !== undefined && { 'if-none-match': etag }) },
        maxBytes: MAX_SOURCE_BYTES,
        timeoutMs: TIMEOUT_MS,
        anyPort: true,
        allowPrivate,
        signal,
      }).catch((error: unknown) => {
        throw error instanceof PublicRequestError ? new SourceError(error.message, { cause: error }) : error;
      });
      if (response.status === 304) return undefined;
      if (response.status !== 200) throw new SourceError(`answered with status ${response.status}`);
      const hash = `${basis} ${createHash('sha256').update(response.bytes).digest('base64url')}`;
      if (previous?.hash === hash) return undefined;
      const given = response.headers.etag;
      const validators = { ...(typeof given === 'string' && { etag: given }), hash };
      return { ...(await readICalendar(response.bytes, { timezone: timezone(), nowMs: now() })), validators };
    },
  };
}

export interface ReadOptions {
  timezone: string;
  nowMs: number;
}

/** @throws SourceError if the bytes are no calendar at all */
export async function readICalendar(
  bytes: Uint8Array,
  options: ReadOptions,
): Promise<Omit<SourceSnapshot, 'validators'>> {
  const pace = new Pace();
  const file = await readFile(bytes, pace);
  const { nowMs } = options;
  const { pastDays, futureDays } = SERIES_WINDOW;
  const window = { fromMs: nowMs - pastDays * DAY_MS, toMs: nowMs + futureDays * DAY_MS };
  const reader = new EventReader(options, window, pace);
  for (const calendar of file.calendars) await reader.readCalendar(calendar);
  for (const example of file.broken) reader.leftOut.add('no end', example);
  if (!file.isUtf8) reader.notes.add('not in UTF-8', '');
  if (file.isTruncated) reader.notes.add('the file ends too early', '');
  const { events, leftOut, notes } = reader;
  return { events, leftOut: leftOut.lines, notes: notes.lines, isTruncated: file.isTruncated };
}

/** Counts by reason. */
class Remarks {
  readonly lines: LeftOut[] = [];

  add(reason: string, example: string, count = 1): void {
    const known = this.lines.find((line) => line.reason === reason);
    if (known) known.count += count;
    // A reason holds texts of the file: a file of a thousand unknown zones must not fill the status.
    else if (this.lines.length < 50) this.lines.push({ reason, count, example });
  }
}

/** A changed instance of a series. */
interface Change {
  id: Moment;
  component: Component;
}

class EventReader {
  readonly events: SourceEvent[] = [];
  readonly leftOut = new Remarks();
  readonly notes = new Remarks();
  readonly #options: ReadOptions;
  readonly #window: Window;
  readonly #pace: Pace;
  readonly #keys = new Set<string>();

  constructor(options: ReadOptions, window: Window, pace: Pace) {
    this.#options = options;
    this.#window = window;
    this.#pace = pace;
  }

  async readCalendar(calendar: Component): Promise<void> {
    for (const { name } of calendar.parts) if (/^V(TODO|JOURNAL)$/.test(name)) this.leftOut.add('no event', name);
    const { timezone, nowMs } = this.#options;
    const zones = new CalendarZones(calendar, nowMs);
    const named = textOf(calendar, 'x-wr-timezone');
    const own = named === '' ? undefined : zones.find(named);
    const context = { zones, zone: own ?? { name: timezone, zone: siteZone(timezone) } };
    const byUid = new Map<string, Component[]>();
    for (const component of calendar.partsNamed('VEVENT')) {
      const uid = this.#uidOf(component);
      const group = byUid.get(uid);
      if (group) group.push(component);
      else byUid.set(uid, [component]);
      if (this.#pace.isDue()) await this.#pace.rest();
    }
    for (const [uid, components] of byUid) {
      try {
        await this.#readGroup(uid, components, context);
      } catch (error) {
        // Whatever is wrong with one event, the others are served.
        this.leftOut.add(error instanceof Error ? error.message : String(error), uid);
      }
      if (this.#pace.isDue()) await this.#pace.rest();
    }
  }

  #uidOf(component: Component): string {
    const uid = textOf(component, 'uid');
    if (uid !== '' && uid.length <= MAX_UID) return uid;
    const start = component.get('dtstart')?.[0] ?? '';
    const text = uid === '' ? JSON.stringify([start, textOf(component, 'summary')]) : uid;
    if (uid === '') this.notes.add('no UID: named by start and title', textOf(component, 'summary').slice(0, 100));
    return createHash('sha256').update(text).digest('hex').slice(0, 32);
  }

  /** All events of one UID: a series or single event, and its changed instances. */
  async #readGroup(uid: string, components: readonly Component[], context: TimeContext): Promise<void> {
    if (this.events.length >= MAX_SOURCE_EVENTS) return this.leftOut.add(TOO_MANY, uid, components.length);
    const hidden = components.filter(isPrivate).length;
    if (hidden > 0) this.leftOut.add('private', uid, hidden);
    const masters = components.filter((component) => !component.has('recurrence-id'));
    if (masters.some(isPrivate)) return;
    const changes = new Map<string, Change>();
    for (const component of newest(components.filter((each) => each.has('recurrence-id')))) {
      const [property] = properties(component, 'recurrence-id');
      // It would change the rule of the rest of the series.
      if (property?.params.range) return this.leftOut.add('a change of all later instances', uid, components.length);
      const id = this.#attempt(uid, () => recurrenceIdOf(component, context));
      if (id && changes.has(stampOf(id))) this.leftOut.add('an older version', uid);
      else if (id) changes.set(stampOf(id), { id, component });
    }
    const starts = new Set<string>();
    for (const master of newest(masters)) {
      const start = this.#attempt(uid, () => startOf(master, context));
      if (start && starts.has(stampOf(start))) this.leftOut.add('an older version', uid);
      else if (start) {
        starts.add(stampOf(start));
        const isNamedByStart = isSeries(master) || masters.length > 1;
        const times = isSeries(master) ? await startsOf(master, start, this.#window, context, this.#pace) : [start];
        const unchanged = times.filter((time) => !takeChange(changes, time));
        const keyOf = (time: Moment) => (isNamedByStart ? `${uid}/${stampOf(time)}` : uid);
        await this.#addInstances(uid, master, context, keyOf, unchanged);
      }
    }
    if (starts.size > 1) this.notes.add('the same UID for several events: named by start, too', uid);
    for (const { id, component } of changes.values())
      await this.#addInstances(uid, component, context, () => `${uid}/${stampOf(id)}`);
  }

  /** Undefined if the event cannot be read: then its reason is noted. */
  #attempt<T>(uid: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.leftOut.add(error.message, uid);
      return undefined;
    }
  }

  /** @param starts by default the component's own */
  async #addInstances(
    uid: string,
    component: Component,
    context: TimeContext,
    keyOf: (start: Moment) => string,
    starts?: readonly Moment[],
  ): Promise<void> {
    if (isPrivate(component)) return;
    const times = this.#attempt(uid, () => {
      const start = startOf(component, context);
      return { start, duration: durationOf(component, start, context) };
    });
    if (!times) return;
    const isOfSeries = isSeries(component) || component.has('recurrence-id');
    const toMs = isOfSeries ? this.#window.toMs : Number.POSITIVE_INFINITY;
    const wanted = this.#inWindow(starts ?? [times.start], times.duration, uid, toMs);
    if (wanted.length === 0) return;
    const content = await readContent(component);
    if (content.title === '') return this.leftOut.add('no title', uid, wanted.length);
    for (const start of wanted)
      this.#add({ key: keyOf(start), uid, ...content, ...timesOf(start, times.duration, context) });
  }

  #inWindow(starts: readonly Moment[], duration: Duration, uid: string, toMs: number): readonly Moment[] {
    const { fromMs } = this.#window;
    const inside = starts.filter((start) => start.epochMs <= toMs && endOf(start, duration) >= fromMs);
    if (inside.length <= MAX_INSTANCES) return inside;
    this.leftOut.add(`more than ${MAX_INSTANCES} times`, uid, inside.length - MAX_INSTANCES);
    const distance = ({ epochMs }: Moment) => Math.abs(epochMs - this.#options.nowMs);
    return inside.sort((a, b) => distance(a) - distance(b)).slice(0, MAX_INSTANCES);
  }

  #add(event: SourceEvent): void {
    if (this.#keys.has(event.key)) this.leftOut.add('the same UID and start as another', event.key);
    else if (this.events.length >= MAX_SOURCE_EVENTS) this.leftOut.add(TOO_MANY, event.key);
    else {
      this.#keys.add(event.key);
      this.events.push(event);
    }
  }
}

const TOO_MANY = `more than ${MAX_SOURCE_EVENTS} events`;

/** Whether the instance was changed. A change that is named by its day is of the instance of that day, with its key. */
function takeChange(changes: ReadonlyMap<string, Change>, start: Moment): boolean {
  const ofDay = start.isDate ? undefined : changes.get(dayStamp(start.wallMs));
  if (ofDay?.id.isDate) ofDay.id = start;
  return ofDay !== undefined || changes.has(stampOf(start));
}

const isPrivate = (component: Component): boolean =>
  ['PRIVATE', 'CONFIDENTIAL'].includes(textOf(component, 'class').toUpperCase());

/** The newest version first: SEQUENCE, then the time of the last change. */
function newest(components: readonly Component[]): Component[] {
  const version = (component: Component) =>
    textOf(component, 'sequence').padStart(10, '0') +
    (textOf(component, 'last-modified') || textOf(component, 'dtstamp'));
  return [...components].sort((a, b) => (version(a) < version(b) ? 1 : -1));
}
