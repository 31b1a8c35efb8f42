// An iCalendar file (RFC 5545) as a source: asks for it, and turns its events and the instances of its series into
// events of the calendar.

import { createHash } from 'node:crypto';
import { formatWallTime } from '../../time/wall-time.ts';
import { siteZone } from '../../time/zones.ts';
import { getPublic, PublicRequestError } from '../public-request.ts';
import { readContent } from './icalendar-event.ts';
import { type Component, pause, readFile, textOf, Unreadable } from './icalendar-text.ts';
import {
  dayStamp,
  durationOf,
  endOf,
  isSeries,
  type Moment,
  stampOf,
  startsOf,
  type TimeContext,
  timeOf,
  timesOf,
  zonesOf,
} from './icalendar-times.ts';
import {
  addRemark,
  MAX_INSTANCES,
  MAX_SOURCE_BYTES,
  MAX_SOURCE_EVENTS,
  type Remark,
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
  const { calendars, broken, isUtf8, isTruncated } = await readFile(bytes);
  const reader = new EventReader(options);
  for (const calendar of calendars) await reader.readCalendar(calendar);
  const { events, remarks } = reader;
  for (const event of broken) addRemark(remarks, 'no end', textOf(event, 'uid').slice(0, MAX_UID));
  if (!isUtf8) addRemark(remarks, 'not in UTF-8', '');
  if (isTruncated) addRemark(remarks, 'the file ends too early', '');
  return { events: [...events.values()], remarks, isTruncated };
}

/** A component and the time that tells it from others of its UID: its start, or that of the instance it changes. */
interface Timed {
  time: Moment;
  component: Component;
}

class EventReader {
  readonly events = new Map<string, SourceEvent>();
  readonly remarks: Remark[] = [];
  readonly #options: ReadOptions;
  /** Milliseconds since 1970, both included. */
  readonly #window: { fromMs: number; toMs: number };

  constructor(options: ReadOptions) {
    this.#options = options;
    const { pastDays, futureDays } = SERIES_WINDOW;
    this.#window = { fromMs: options.nowMs - pastDays * DAY_MS, toMs: options.nowMs + futureDays * DAY_MS };
  }

  async readCalendar(calendar: Component): Promise<void> {
    for (const { name } of calendar.parts)
      if (/^V(TODO|JOURNAL)$/.test(name)) addRemark(this.remarks, 'no event', name);
    const { timezone, nowMs } = this.#options;
    const zoneOf = await zonesOf(calendar, nowMs);
    const own = zoneOf(textOf(calendar, 'x-wr-timezone'));
    const context = { zoneOf, zone: own ?? { name: timezone, zone: siteZone(timezone) } };
    const byUid = new Map<string, Component[]>();
    for (const component of calendar.partsNamed('VEVENT')) {
      const uid = this.#uidOf(component);
      const group = byUid.get(uid);
      if (group) group.push(component);
      else byUid.set(uid, [component]);
      await pause();
    }
    for (const [uid, components] of byUid) {
      // Whatever is wrong with one event, the others are served.
      await this.#readGroup(uid, components, context).catch((error: unknown) => {
        addRemark(this.remarks, error instanceof Error ? error.message : String(error), uid);
      });
      await pause();
    }
  }

  #uidOf(component: Component): string {
    const uid = textOf(component, 'uid');
    if (uid !== '' && uid.length <= MAX_UID) return uid;
    const start = component.get('dtstart')?.[0] ?? '';
    const title = textOf(component, 'summary');
    if (uid === '') addRemark(this.remarks, 'no UID: named by start and title', title.slice(0, 100));
    const text = uid === '' ? JSON.stringify([start, title]) : uid;
    return createHash('sha256').update(text).digest('hex').slice(0, 32);
  }

  /** All events of one UID: a series or single event, and its changed instances. */
  async #readGroup(uid: string, components: readonly Component[], context: TimeContext): Promise<void> {
    if (this.events.size >= MAX_SOURCE_EVENTS) return addRemark(this.remarks, TOO_MANY, uid, components.length);
    const hidden = components.filter(isPrivate).length;
    if (hidden > 0) addRemark(this.remarks, 'private', uid, hidden);
    const own = components.filter((component) => !component.has('recurrence-id'));
    if (own.some(isPrivate)) return;
    // It would change the rule of the rest of the series.
    if (components.some((component) => /^[^:]*;range=/i.test(component.get('recurrence-id')?.[0] ?? '')))
      return addRemark(this.remarks, 'a change of all later instances', uid, components.length);
    const changed = components.filter((component) => component.has('recurrence-id'));
    const changes = await this.#newestByTime(uid, changed, (component) => timeOf(component, 'recurrence-id', context));
    const masters = await this.#newestByTime(uid, own, (component) => timeOf(component, 'dtstart', context));
    for (const { time, component } of masters.values()) {
      const isNamedByStart = isSeries(component) || own.length > 1;
      const starts = isSeries(component) ? await startsOf(component, time, this.#window, context) : [time];
      const unchanged: Moment[] = [];
      for (const start of starts) {
        await pause();
        if (!takeChange(changes, start)) unchanged.push(start);
      }
      const keyOf = (start: Moment) => (isNamedByStart ? `${uid}/${stampOf(start)}` : uid);
      await this.#addInstances(uid, component, context, time, unchanged, keyOf);
    }
    if (masters.size > 1) addRemark(this.remarks, 'the same UID for several events: named by start, too', uid);
    for (const { time, component } of changes.values()) {
      const start = this.#attempt(uid, () => timeOf(component, 'dtstart', context));
      if (start) await this.#addInstances(uid, component, context, start, [start], () => `${uid}/${stampOf(time)}`);
    }
  }

  /** The newest component of each time. */
  async #newestByTime(
    uid: string,
    components: readonly Component[],
    timeOfComponent: (component: Component) => Moment,
  ): Promise<Map<string, Timed>> {
    const found = new Map<string, Timed>();
    for (const component of components) {
      await pause();
      const time = this.#attempt(uid, () => timeOfComponent(component));
      const other = time && found.get(stampOf(time));
      if (other) addRemark(this.remarks, 'an older version', uid);
      if (time && (!other || versionOf(other.component) < versionOf(component)))
        found.set(stampOf(time), { time, component });
    }
    return found;
  }

  /** Undefined if the event cannot be read: then its reason is noted. */
  #attempt<T>(uid: string, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      addRemark(this.remarks, error.message, uid);
      return undefined;
    }
  }

  /** Adds those of the starts that are in the window. */
  async #addInstances(
    uid: string,
    component: Component,
    context: TimeContext,
    ownStart: Moment,
    starts: readonly Moment[],
    keyOf: (start: Moment) => string,
  ): Promise<void> {
    if (isPrivate(component)) return;
    const duration = durationOf(component, ownStart, context);
    const isOfSeries = isSeries(component) || component.has('recurrence-id');
    const toMs = isOfSeries ? this.#window.toMs : Number.POSITIVE_INFINITY;
    const isInWindow = (start: Moment) => start.epochMs <= toMs && endOf(start, duration) >= this.#window.fromMs;
    const distance = ({ epochMs }: Moment) => Math.abs(epochMs - this.#options.nowMs);
    const wanted = starts.filter(isInWindow).sort((a, b) => distance(a) - distance(b));
    if (wanted.length === 0) return;
    const content = await readContent(component);
    if (content.title === '') return addRemark(this.remarks, 'no title', uid, wanted.length);
    const excess = wanted.length - MAX_INSTANCES;
    if (excess > 0) addRemark(this.remarks, `more than ${MAX_INSTANCES} times`, uid, excess);
    for (const start of wanted.slice(0, MAX_INSTANCES)) {
      await pause();
      const key = keyOf(start);
      if (this.events.has(key)) addRemark(this.remarks, 'the same UID and start as another', key);
      else if (this.events.size >= MAX_SOURCE_EVENTS) addRemark(this.remarks, TOO_MANY, key);
      else this.events.set(key, { key, uid, ...content, ...timesOf(start, duration, context) });
    }
  }
}

const TOO_MANY = `more than ${MAX_SOURCE_EVENTS} events`;

/** Whether the instance was changed. A change that is named by its day is of the instance of that day, with its key. */
function takeChange(changes: ReadonlyMap<string, Timed>, start: Moment): boolean {
  const ofDay = start.isDate ? undefined : changes.get(dayStamp(start.wallMs));
  if (ofDay?.time.isDate) ofDay.time = start;
  return ofDay !== undefined || changes.has(stampOf(start));
}

const isPrivate = (component: Component): boolean =>
  ['PRIVATE', 'CONFIDENTIAL'].includes(textOf(component, 'class').toUpperCase());

/** Sorts by SEQUENCE, then by the time of the last change. */
const versionOf = (component: Component): string =>
  textOf(component, 'sequence').padStart(10, '0') +
  (textOf(component, 'last-modified') || textOf(component, 'dtstamp'));
