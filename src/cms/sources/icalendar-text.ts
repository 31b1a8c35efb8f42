// Reads the bytes of an iCalendar file into components and properties. A broken line costs that line, a broken event
// that event.

import { setImmediate as nextTurn } from 'node:timers/promises';
import ICAL from 'ical.js';
import { SourceError } from './source.ts';

/** A longer line, such as a picture in base64, is dropped before anything parses it. */
const MAX_LINE = 200_000;
/** Of one event or zone: further ones are dropped. */
const MAX_LINES = 5000;
/** Uninterrupted work. */
const MAX_WORK_MS = 15;

/** An event cannot be served. The message is the reason. */
export class Unreadable extends Error {}

/** Lets other work of the process run between two steps. */
export class Pace {
  #since = performance.now();

  /** Awaited only if it is time: `if (pace.isDue()) await pace.rest()`. */
  isDue(): boolean {
    return performance.now() - this.#since > MAX_WORK_MS;
  }

  async rest(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}

export interface Property {
  /** By lower-case name. */
  params: Readonly<Record<string, string>>;
  /** Decoded by ical.js: texts without escapes, times as `2027-05-01T18:00:00Z`, a rule as an object. */
  values: readonly unknown[];
}

/** One VEVENT or VTIMEZONE, by lower-case names of its properties. */
export type Component = ReadonlyMap<string, readonly string[]>;

/** One VCALENDAR of the file. */
export interface Calendar {
  own: Component;
  events: Component[];
  zones: { own: Component; parts: Component[] }[];
}

export interface CalendarFile {
  calendars: Calendar[];
  /** The first lines of events without an end. */
  broken: string[];
  /** VTODO, VJOURNAL: counted by name. */
  others: Map<string, number>;
  /** The file ends before its last calendar does. */
  isTruncated: boolean;
  isUtf8: boolean;
}

/** @throws SourceError if the bytes are no calendar */
export async function readFile(bytes: Uint8Array, pace: Pace): Promise<CalendarFile> {
  const { text, isUtf8 } = decode(bytes);
  await pace.rest();
  const start = text.search(/\S/);
  if (start < 0) throw new SourceError('nothing instead of a calendar');
  if (text[start] === '<') throw new SourceError('a web page instead of a calendar');
  const reader = new ComponentReader();
  for (const line of unfold(text)) {
    reader.add(line);
    if (pace.isDue()) await pace.rest();
  }
  const { calendars } = reader.file;
  if (calendars.length === 0) throw new SourceError('no calendar: BEGIN:VCALENDAR is missing');
  return { ...reader.file, isTruncated: reader.isOpen, isUtf8 };
}

/** UTF-8, UTF-16 with a byte order mark, otherwise Windows-1252, which contains Latin-1. */
function decode(bytes: Uint8Array): { text: string; isUtf8: boolean } {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return { text: new TextDecoder('utf-16le').decode(bytes), isUtf8: false };
  if (first === 0xfe && second === 0xff) return { text: new TextDecoder('utf-16be').decode(bytes), isUtf8: false };
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  try {
    return { text: utf8.decode(bytes), isUtf8: true };
  } catch {
    // Old programs fold within a character.
    const unfolded = Buffer.from(bytes)
      .toString('latin1')
      .replace(/([\x80-\xff])\r?\n[ \t](?=[\x80-\xbf])/g, '$1');
    try {
      return { text: utf8.decode(Buffer.from(unfolded, 'latin1')), isUtf8: true };
    } catch {
      return { text: new TextDecoder('windows-1252').decode(bytes), isUtf8: false };
    }
  }
}

/** Logical lines. A line that is no property, as of a description with raw line ends, is dropped. */
function* unfold(text: string): Generator<string> {
  let parts: string[] = [];
  let size = 0;
  const ends = /\r\n|\n|\r/g;
  for (let from = 0; from < text.length; ) {
    const end = ends.exec(text);
    const physical = text.slice(from, end?.index ?? text.length);
    from = end ? ends.lastIndex : text.length;
    if (physical.startsWith(' ') || physical.startsWith('\t')) {
      size += physical.length - 1;
      if (size <= MAX_LINE) parts.push(physical.slice(1));
      continue;
    }
    const line = parts.join('');
    if (size <= MAX_LINE && line.trim() !== '') yield line;
    parts = [physical.slice(0, MAX_LINE + 1)];
    size = physical.length;
  }
  const line = parts.join('');
  if (size <= MAX_LINE && line.trim() !== '') yield line;
}

/** Follows BEGIN and END. What is inside an event, such as an alarm, is dropped. */
class ComponentReader {
  readonly file: Omit<CalendarFile, 'isTruncated' | 'isUtf8'> = { calendars: [], broken: [], others: new Map() };
  /** Names of the components around the current line. */
  #path: string[] = [];
  #component = new Map<string, string[]>();
  #lines = 0;

  get isOpen(): boolean {
    if (this.#path.includes('VEVENT')) this.#breakOff();
    return this.#path.length > 0;
  }

  add(line: string): void {
    const name = /^[A-Za-z0-9-]{1,100}(?=[;:])/.exec(line)?.[0].toUpperCase();
    if (name === undefined) return;
    if (name === 'BEGIN') this.#begin(line.slice(6).trim().toUpperCase());
    else if (name === 'END') this.#end(line.slice(4).trim().toUpperCase());
    else if (this.#lines < MAX_LINES) {
      const isNested = this.#path.includes('VEVENT') && this.#path.at(-1) !== 'VEVENT';
      if (isNested || this.#path.length === 0) return;
      const key = name.toLowerCase();
      const lines = this.#component.get(key);
      if (lines) lines.push(line);
      else this.#component.set(key, [line]);
      this.#lines += 1;
    }
  }

  #begin(name: string): void {
    // An event inside an event: the END of the first is missing.
    if ((name === 'VEVENT' || name === 'VCALENDAR') && this.#path.includes('VEVENT')) this.#breakOff();
    if (name === 'VCALENDAR') {
      this.#path = [];
      this.#component = new Map();
      this.file.calendars.push({ own: this.#component, events: [], zones: [] });
      this.#lines = 0;
    }
    if (this.file.calendars.length === 0) return;
    const calendar = this.file.calendars.at(-1)!;
    const isPart = this.#path.at(-1) === 'VTIMEZONE' && (name === 'STANDARD' || name === 'DAYLIGHT');
    if (name === 'VEVENT' || name === 'VTIMEZONE' || isPart) {
      this.#component = new Map();
      this.#lines = 0;
      if (name === 'VTIMEZONE') calendar.zones.push({ own: this.#component, parts: [] });
      if (isPart) calendar.zones.at(-1)!.parts.push(this.#component);
    } else if (this.#path.length === 1) {
      this.#component = new Map();
      if (name === 'VTODO' || name === 'VJOURNAL') this.file.others.set(name, (this.file.others.get(name) ?? 0) + 1);
    }
    this.#path.push(name);
  }

  #end(name: string): void {
    const at = this.#path.lastIndexOf(name);
    if (at < 0) return;
    if (name === 'VEVENT') this.file.calendars.at(-1)!.events.push(this.#component);
    else if (at < this.#path.lastIndexOf('VEVENT')) this.#breakOff();
    this.#path.length = Math.max(0, at);
    // An event goes on after its alarms.
    if (this.#path.includes('VEVENT')) return;
    // Properties of the calendar may follow its events; those after a zone's part belong to nothing.
    this.#component = at === 1 ? (this.file.calendars.at(-1)!.own as Map<string, string[]>) : new Map();
    this.#lines = 0;
  }

  #breakOff(): void {
    const [line = 'an event without properties'] = this.#component.get('uid') ?? this.#component.get('summary') ?? [];
    this.file.broken.push(line.slice(0, 200));
    this.#path.length = this.#path.indexOf('VEVENT');
  }
}

/** The properties of this name that can be read. */
export function properties(component: Component, name: string): Property[] {
  return (component.get(name) ?? []).flatMap((line) => {
    try {
      return [parseLine(line)];
    } catch {
      return [];
    }
  });
}

/** @throws Error if the line cannot be read */
export function parseLine(line: string): Property {
  const [, params, , ...values] = ICAL.parse.property(line, ICAL.design.icalendar) as [string, object, string];
  const texts = Object.entries(params).map(([name, value]) => [name, String(value)]);
  return { params: Object.fromEntries(texts), values };
}

/** The text of the first such property; empty without one. */
export function textOf(component: Component, name: string): string {
  const [property] = properties(component, name);
  return property ? property.values.join(', ').trim() : '';
}
