// An iCalendar file (RFC 5545) as a source: asks for it, and turns its events and the instances of its series into
// events of the calendar.

import { createHash } from 'node:crypto';
import { formatWallTime } from '../../time/wall-time.ts';
import { epochToWallMs, siteZone } from '../../time/zones.ts';
import { getPublic } from '../public-request.ts';
import { readContent } from './icalendar-event.ts';
import { type Component, pause, readFile, textOf } from './icalendar-text.ts';
import {
  dayStamp,
  endingOf,
  isSeries,
  type Moment,
  momentAt,
  stampOf,
  startsOf,
  type TimeContext,
  timeOf,
  timesOf,
  zonesOf,
} from './icalendar-times.ts';
import * as source from './source.ts';

const TIMEOUT_MS = 60_000;
const DAY_MS = 86_400_000;
const MAX_UID = 500;
const MAX_REASON = 200;
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

export function createICalendarSource({ url, timezone, now, allowPrivate = false }: ICalendarOptions): source.Source {
  const address = url.replace(/^webcal(s?):/i, (_, secure) => (secure || !allowPrivate ? 'https:' : 'http:'));
  return {
    async read(previous, signal) {
      // What changes the events although the file stays the same: the window moves with each day.
      const basis = `${formatWallTime(now()).slice(0, 10)} ${timezone()}`;
      const isCurrent = previous?.hash?.startsWith(`${basis} `) ?? false;
      const etag = isCurrent ? previous?.etag : undefined;
      const response = await getPublic(address, {
        headers: { ...HEADERS, ...(etag !== undefined && { 'if-none-match': etag }) },
        maxBytes: source.MAX_SOURCE_BYTES,
        timeoutMs: TIMEOUT_MS,
        anyPort: true,
        allowPrivate,
        signal,
      }).catch((error: Error) => {
        throw new source.SourceError(error.message, { cause: error });
      });
      if (response.status === 304 && etag !== undefined) return undefined;
      if (response.status !== 200) throw new source.SourceError(`answered with status ${response.status}`);
      const hash = `${basis} ${createHash('sha256').update(response.bytes).digest('base64url')}`;
      if (previous?.hash === hash) return undefined;
      const given = response.headers.etag;
      const validators = { ...(typeof given === 'string' && { etag: given }), hash };
      const snapshot = await readICalendar(response.bytes, { timezone: timezone(), nowMs: now(), signal });
      return { ...snapshot, validators };
    },
  };
}

/**
 * `timezone`: of times without one, if the file names none.
 * @throws SourceError if the bytes are no calendar at all; the signal's reason if it aborts
 */
export async function readICalendar(
  bytes: Uint8Array,
  { timezone, nowMs, signal }: { timezone: string; nowMs: number; signal?: AbortSignal },
): Promise<Omit<source.SourceSnapshot, 'validators'>> {
  const { calendars, broken, isUtf8, isTruncated } = await readFile(bytes);
  const reader = new EventReader(nowMs, signal);
  for (const calendar of calendars) await reader.readCalendar(calendar, timezone);
  // The events that were not read any more are not gone.
  signal?.throwIfAborted();
  const { events, remarks } = reader;
  for (const event of broken) source.addRemark(remarks, 'no end', textOf(event, 'uid').slice(0, MAX_UID));
  if (!isUtf8) source.addRemark(remarks, 'not in UTF-8', '');
  if (isTruncated) source.addRemark(remarks, 'the file ends too early', '');
  return { events: [...events.values()], remarks, isTruncated };
}

interface Instance {
  key: string;
  start: Moment;
}

/** A component of a UID: the event or series itself, or a change of one instance or of all from one on. */
interface Part {
  component: Component;
  /** What tells it from other parts of its UID: its start, or that of the instance it changes. */
  time: Moment;
  start: Moment;
  instances: Instance[];
}

/** The changed instances of a UID. */
interface Changes {
  /** By the instance that they change. */
  byStamp: ReadonlyMap<string, Part>;
  /** Those of all later instances too, ascending. */
  ofLater: readonly Part[];
}

class EventReader {
  readonly events = new Map<string, source.SourceEvent>();
  readonly remarks: source.Remark[] = [];
  readonly #nowMs: number;
  readonly #signal: AbortSignal | undefined;
  /** Milliseconds since 1970, both included. */
  readonly #window: { fromMs: number; toMs: number };

  constructor(nowMs: number, signal: AbortSignal | undefined) {
    const { pastDays, futureDays } = source.SERIES_WINDOW;
    this.#nowMs = nowMs;
    this.#signal = signal;
    this.#window = { fromMs: nowMs - pastDays * DAY_MS, toMs: nowMs + futureDays * DAY_MS };
  }

  async readCalendar(calendar: Component, timezone: string): Promise<void> {
    for (const { name } of calendar.parts)
      if (/^V(TODO|JOURNAL)$/.test(name)) source.addRemark(this.remarks, 'no event', name);
    const zoneOf = await zonesOf(calendar, this.#nowMs);
    const zone = zoneOf(textOf(calendar, 'x-wr-timezone')) ?? timezone;
    const context = { zoneOf, zone, signal: this.#signal };
    const byUid = new Map<string, Component[]>();
    for (const component of calendar.partsNamed('VEVENT')) {
      const uid = this.#uidOf(component);
      const group = byUid.get(uid);
      if (group) group.push(component);
      else byUid.set(uid, [component]);
      await pause();
    }
    for (const [uid, components] of byUid) {
      await this.#readGroup(uid, components, context);
      await pause();
    }
  }

  /** Whatever is wrong with one event, the others are served. */
  async #attempt(uid: string, work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      source.addRemark(this.remarks, reason.slice(0, MAX_REASON), uid);
    }
  }

  #uidOf(component: Component): string {
    const uid = textOf(component, 'uid');
    if (uid !== '' && uid.length <= MAX_UID) return uid;
    const title = textOf(component, 'summary');
    if (uid === '') source.addRemark(this.remarks, 'no UID: named by start and title', title.slice(0, 100));
    const text = uid || JSON.stringify([component.get('dtstart')?.[0] ?? '', title]);
    return createHash('sha256').update(text).digest('hex').slice(0, 32);
  }

  /** All events of one UID: a series or single event, and its changed instances. */
  async #readGroup(uid: string, components: readonly Component[], context: TimeContext): Promise<void> {
    if (this.events.size >= source.MAX_SOURCE_EVENTS)
      return source.addRemark(this.remarks, TOO_MANY, uid, components.length);
    const hidden = components.filter(isPrivate).length;
    if (hidden > 0) source.addRemark(this.remarks, 'private', uid, hidden);
    const own = components.filter((component) => !component.has('recurrence-id'));
    if (own.some(isPrivate)) return;
    const changed = components.filter((component) => component.has('recurrence-id'));
    const byStamp = await this.#newestByTime(uid, changed, 'recurrence-id', context);
    // A change without a start is no event, and neither is the instance that it changes.
    for (const [stamp, change] of byStamp)
      await this.#attempt(uid, () => {
        change.start = timeOf(change.component, 'dtstart', context);
        change.instances = [{ key: `${uid}/${stamp}`, start: change.start }];
      });
    const ofLater = [...byStamp.values()].filter(isOfLaterToo).sort((a, b) => a.time.epochMs - b.time.epochMs);
    const changes = { byStamp, ofLater };
    const masters = await this.#newestByTime(uid, own, 'dtstart', context);
    if (masters.size > 1) source.addRemark(this.remarks, 'the same UID for several events: named by start, too', uid);
    for (const master of masters.values())
      await this.#attempt(uid, () => this.#expand(uid, master, changes, own.length > 1, context));
    for (const part of [...masters.values(), ...byStamp.values()])
      await this.#attempt(uid, () => this.#addInstances(uid, part, context));
  }

  /** Gives the instances of an event or series to it, or to what changes them. */
  async #expand(
    uid: string,
    { component, time, instances }: Part,
    { byStamp, ofLater }: Changes,
    hasOthers: boolean,
    context: TimeContext,
  ): Promise<void> {
    const isNamedByStart = isSeries(component) || hasOthers;
    for (const start of isSeries(component) ? await startsOf(component, time, this.#window, context) : [time]) {
      await pause();
      const named = `${uid}/${stampOf(start)}`;
      const change = byStamp.get(stampOf(start)) ?? byStamp.get(dayStamp(start.wallMs));
      const range = ofLater.findLast(({ time: first }) => first.epochMs < start.epochMs);
      if (!change && range) this.#addMoved(uid, range, { key: named, start });
      else if (!change) instances.push({ key: isNamedByStart ? named : uid, start });
      else if (change.time.isDate) {
        // A change that is named by its day is of the first instance of that day, with its key.
        change.time = start;
        if (change.instances[0]) change.instances[0].key = named;
      }
    }
  }

  /**
   * Adds an instance to a change of all later ones: as far from its time as the changed instance is. Of a change that
   * cannot be read, or whose instance is named by its day, the later ones are not known.
   */
  #addMoved(uid: string, { time, start, instances }: Part, { key, start: unchanged }: Instance): void {
    if (instances.length === 0 || time.isDate !== unchanged.isDate) {
      source.addRemark(this.remarks, 'after a change of all later instances', uid);
      return;
    }
    const { zone } = unchanged;
    const wallOf = ({ isDate, wallMs, epochMs }: Moment) => (isDate ? wallMs : epochToWallMs(epochMs, siteZone(zone)));
    const wallMs = unchanged.wallMs + wallOf(start) - wallOf(time);
    instances.push({ key, start: momentAt(wallMs, { zone, isDate: start.isDate }) });
  }

  /** The newest component of each time. */
  async #newestByTime(
    uid: string,
    components: readonly Component[],
    property: 'dtstart' | 'recurrence-id',
    context: TimeContext,
  ): Promise<Map<string, Part>> {
    const found = new Map<string, Part>();
    for (const component of components) {
      await pause();
      await this.#attempt(uid, () => {
        const time = timeOf(component, property, context);
        const other = found.get(stampOf(time));
        if (other) source.addRemark(this.remarks, 'an older version', uid);
        if (!other || versionOf(other.component) < versionOf(component))
          found.set(stampOf(time), { component, time, start: time, instances: [] });
      });
    }
    return found;
  }

  /** Adds those of the instances that are in the window. */
  async #addInstances(uid: string, { component, start: ownStart, instances }: Part, context: TimeContext) {
    if (isPrivate(component)) return;
    const endOf = endingOf(component, ownStart, context);
    const isOfSeries = isSeries(component) || component.has('recurrence-id');
    const toMs = isOfSeries ? this.#window.toMs : Number.POSITIVE_INFINITY;
    const isInWindow = ({ start }: Instance) => start.epochMs <= toMs && endOf(start) >= this.#window.fromMs;
    const distance = ({ start }: Instance) => Math.abs(start.epochMs - this.#nowMs);
    const wanted = instances.filter(isInWindow).sort((a, b) => distance(a) - distance(b));
    if (wanted.length === 0) return;
    const content = await readContent(component);
    if (content.title === '') return source.addRemark(this.remarks, 'no title', uid, wanted.length);
    const excess = wanted.length - source.MAX_INSTANCES;
    if (excess > 0) source.addRemark(this.remarks, `more than ${source.MAX_INSTANCES} times`, uid, excess);
    for (const { key, start } of wanted.slice(0, source.MAX_INSTANCES)) {
      await pause();
      if (this.events.has(key)) source.addRemark(this.remarks, 'the same UID and start as another', key);
      else if (this.events.size >= source.MAX_SOURCE_EVENTS) source.addRemark(this.remarks, TOO_MANY, key);
      else this.events.set(key, { key, uid, ...content, ...timesOf(start, endOf(start), context) });
    }
  }
}

const TOO_MANY = `more than ${source.MAX_SOURCE_EVENTS} events`;

/** RECURRENCE-ID;RANGE=THISANDFUTURE: what it says of its instance is so of all later ones, too. */
const isOfLaterToo = ({ component }: Part): boolean =>
  /^[^:]*;range="?thisandfuture/i.test(component.get('recurrence-id')![0]!);

const isPrivate = (component: Component): boolean =>
  ['PRIVATE', 'CONFIDENTIAL'].includes(textOf(component, 'class').toUpperCase());

/** Sorts by SEQUENCE, then by the time of the last change. */
const versionOf = (component: Component): string =>
  textOf(component, 'sequence').padStart(10, '0') +
  (textOf(component, 'last-modified') || textOf(component, 'dtstamp'));
