// Reads the bytes of an iCalendar file into components and properties. A broken line costs that line, a broken event
// that event.

import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import ICAL from 'ical.js';
import { SourceError } from './source.ts';

/** A longer line, such as a picture in base64, is dropped before anything parses it. */
const MAX_LINE = 200_000;
/** Of one event or zone: further ones are dropped. */
const MAX_LINES = 5000;
/** Of components in components: deeper ones are dropped. */
const MAX_DEPTH = 8;
/** Uninterrupted work. */
const MAX_WORK_MS = 15;

/** An event cannot be served. The message is the reason. */
export class Unreadable extends Error {}

let workingSince = 0;
let nextWork: Promise<void> | undefined;

/** Lets other work of the process run, if files, all together, have been read for 15 ms. Call it between small steps. */
export async function pause(): Promise<void> {
  if (performance.now() - workingSince < MAX_WORK_MS) return;
  nextWork ??= nextTurn().then(() => {
    workingSince = performance.now();
    nextWork = undefined;
  });
  await nextWork;
}

export interface Property {
  /** By lower-case name. */
  params: Readonly<Record<string, string>>;
  /** Decoded by ical.js: texts without escapes, times as `2027-05-01T18:00:00Z`, a rule as an object. */
  values: readonly unknown[];
}

/** A VCALENDAR, VEVENT or other component: its lines by lower-case names of its properties. */
export class Component extends Map<string, string[]> {
  readonly name: string;
  readonly parts: Component[] = [];
  #lines = 0;

  constructor(name: string) {
    super();
    this.name = name;
  }

  add(property: string, line: string): void {
    if (this.#lines >= MAX_LINES) return;
    this.#lines += 1;
    const lines = this.get(property);
    if (lines) lines.push(line);
    else this.set(property, [line]);
  }

  partsNamed(name: string): Component[] {
    return this.parts.filter((part) => part.name === name);
  }
}

export interface CalendarFile {
  calendars: Component[];
  /** Events without an end. */
  broken: Component[];
  /** The file ends before its last calendar does. */
  isTruncated: boolean;
  isUtf8: boolean;
}

/** @throws SourceError if the bytes are no calendar */
export async function readFile(bytes: Uint8Array): Promise<CalendarFile> {
  const file = decode(bytes);
  await pause();
  const text = file.text.trimStart();
  if (text === '') throw new SourceError('nothing instead of a calendar');
  if (text.startsWith('<')) throw new SourceError('a web page instead of a calendar');
  const reader = new ComponentReader();
  for (const line of unfold(`${text}\n\n`)) {
    reader.add(line);
    await pause();
  }
  const { calendars, broken } = reader;
  if (calendars.length === 0) throw new SourceError('no calendar: BEGIN:VCALENDAR is missing');
  return { calendars, isTruncated: reader.isOpen(), broken, isUtf8: file.isUtf8 };
}

/** UTF-8, UTF-16 with a byte order mark, otherwise Windows-1252, which contains Latin-1. */
function decode(bytes: Uint8Array): { text: string; isUtf8: boolean } {
  const textIn = (encoding: string) => new TextDecoder(encoding).decode(bytes);
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return { text: textIn('utf-16le'), isUtf8: false };
  if (first === 0xfe && second === 0xff) return { text: textIn('utf-16be'), isUtf8: false };
  if (isUtf8(bytes)) return { text: textIn('utf-8'), isUtf8: true };
  // Old programs fold within a character.
  const latin1 = Buffer.from(bytes).toString('latin1');
  const unfolded = Buffer.from(latin1.replace(/([\x80-\xff])\r?\n[ \t](?=[\x80-\xbf])/g, '$1'), 'latin1');
  if (isUtf8(unfolded)) return { text: new TextDecoder().decode(unfolded), isUtf8: true };
  return { text: textIn('windows-1252'), isUtf8: false };
}

/**
 * Logical lines of a text with an empty line at its end. A line that is no property, as of a description with raw line
 * ends, is dropped.
 */
function* unfold(text: string): Generator<string> {
  let parts: string[] = [];
  let size = 0;
  let from = 0;
  for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r/g)) {
    const physical = text.slice(from, index);
    from = index + end.length;
    if (physical.startsWith(' ') || physical.startsWith('\t')) {
      size += physical.length - 1;
      if (size <= MAX_LINE) parts.push(physical.slice(1));
      continue;
    }
    if (size > 0 && size <= MAX_LINE) yield parts.join('');
    parts = [physical.slice(0, MAX_LINE + 1)];
    size = physical.length;
  }
}

/** Parts of others, such as alarms, are read and dropped. */
const KEPT = new Set(['VEVENT', 'VTIMEZONE', 'STANDARD', 'DAYLIGHT', 'VTODO', 'VJOURNAL']);

/** Follows BEGIN and END. Only a component with an END becomes a part of what is around it. */
class ComponentReader {
  readonly calendars: Component[] = [];
  readonly broken: Component[] = [];
  /** The components around the current line. */
  #path: Component[] = [];

  isOpen(): boolean {
    this.#breakOff();
    return this.#path.length > 0;
  }

  add(line: string): void {
    const name = /^[A-Za-z0-9-]{1,100}(?=[;:])/.exec(line)?.[0].toLowerCase();
    if (name === 'begin') this.#begin(line.slice(6).trim().toUpperCase());
    else if (name === 'end') this.#end(line.slice(4).trim().toUpperCase());
    else if (name !== undefined) this.#path.at(-1)?.add(name, line);
  }

  #begin(name: string): void {
    const component = new Component(name);
    if (name === 'VCALENDAR') {
      this.#breakOff();
      this.#path = [component];
      this.calendars.push(component);
    } else if (this.calendars.length > 0) {
      // An event inside an event: the END of the first is missing.
      if (name === 'VEVENT') this.#breakOff();
      if (name === 'VEVENT') this.#path.length = Math.min(1, this.#path.length);
      if (this.#path.length < MAX_DEPTH) this.#path.push(component);
    }
  }

  #end(name: string): void {
    const at = this.#path.findLastIndex((component) => component.name === name);
    if (at < 0) return;
    if (at < this.#path.findIndex((component) => component.name === 'VEVENT')) this.#breakOff();
    const [component] = this.#path.splice(at);
    // Some files have events after the end of their calendar.
    if (KEPT.has(name)) (this.#path.at(-1) ?? this.calendars.at(-1))!.parts.push(component!);
  }

  #breakOff(): void {
    const at = this.#path.findIndex(({ name }) => name === 'VEVENT');
    if (at < 0) return;
    this.broken.push(this.#path[at]!);
    this.#path.length = at;
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
