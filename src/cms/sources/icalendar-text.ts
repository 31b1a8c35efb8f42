// Reads the bytes of an iCalendar file into components and properties. A broken line costs that line, a broken event
// that event.

import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import ICAL from 'ical.js';
import { SourceError } from './source.ts';

/** A longer line, such as a picture in base64, is dropped before anything parses it. */
const MAX_LINE = 200_000;
/** Of CATEGORIES: ical.js decodes each of a hundred thousand names. */
const MAX_NAMES_LINE = 4000;
/** Of one event or zone: further ones are dropped. */
const MAX_LINES = 5000;
/** Of components in components: deeper ones are dropped. */
const MAX_DEPTH = 8;
/** Uninterrupted work. */
const MAX_WORK_MS = 15;

let workingSince = 0;
let nextWork: Promise<void> | undefined;

/** Lets other work run once all files together have been read for 15 ms. Call it between small steps. */
export async function pause(): Promise<void> {
  if (performance.now() - workingSince < MAX_WORK_MS) return;
  nextWork ??= nextTurn().then(() => {
    workingSince = performance.now();
    nextWork = undefined;
  });
  await nextWork;
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
    if (this.#lines >= MAX_LINES || (property === 'categories' && line.length > MAX_NAMES_LINE)) return;
    this.#lines += 1;
    const lines = this.get(property);
    if (lines) lines.push(line);
    else this.set(property, [line]);
  }

  partsNamed(name: string): Component[] {
    return this.parts.filter((part) => part.name === name);
  }
}

/** @throws SourceError if the bytes are no calendar */
export async function readFile(bytes: Uint8Array) {
  const file = decode(bytes);
  await pause();
  const text = file.text.trimStart();
  if (text === '') throw new SourceError('nothing instead of a calendar');
  if (text.startsWith('<')) throw new SourceError('a web page instead of a calendar');
  const reader = new ComponentReader();
  for (const line of unfold(text)) {
    reader.add(line);
    await pause();
  }
  const isTruncated = reader.end();
  const { calendars, broken } = reader;
  if (calendars.length === 0) throw new SourceError('no calendar: BEGIN:VCALENDAR is missing');
  return { calendars, broken, isTruncated, isUtf8: file.isUtf8 };
}

/** UTF-8, otherwise Windows-1252, which contains Latin-1. */
function decode(bytes: Uint8Array): { text: string; isUtf8: boolean } {
  if (isUtf8(bytes)) return { text: new TextDecoder().decode(bytes), isUtf8: true };
  // Old programs fold within a character.
  const latin1 = Buffer.from(bytes).toString('latin1');
  const unfolded = Buffer.from(latin1.replace(/([\x80-\xff])\r?\n[ \t](?=[\x80-\xbf])/g, '$1'), 'latin1');
  if (isUtf8(unfolded)) return { text: new TextDecoder().decode(unfolded), isUtf8: true };
  return { text: new TextDecoder('windows-1252').decode(bytes), isUtf8: false };
}

/** Lines with those that continue them. */
function* unfold(text: string): Generator<string> {
  let line = '';
  for (const [part] of text.matchAll(/[^\r\n]+/g)) {
    const isContinued = part.startsWith(' ') || part.startsWith('\t');
    if (!isContinued && line.length <= MAX_LINE) yield line;
    // What is too long already grows no more.
    if (!isContinued) line = part;
    else if (line.length <= MAX_LINE) line += part.slice(1);
  }
  if (line.length <= MAX_LINE) yield line;
}

/** Follows BEGIN and END. Only a component with an END becomes a part of what is around it. */
class ComponentReader {
  readonly calendars: Component[] = [];
  /** Events without an end. */
  readonly broken: Component[] = [];
  /** The components around the current line. */
  readonly #path: Component[] = [];

  /** A line that is no property, as of a description with raw line ends, is dropped. */
  add(line: string): void {
    const name = /^[A-Za-z0-9-]{1,100}(?=[;:])/.exec(line)?.[0].toLowerCase();
    if (name === 'begin') this.#begin(line.slice(6).trim().toUpperCase());
    else if (name === 'end') this.#end(line.slice(4).trim().toUpperCase());
    else if (name !== undefined) this.#path.at(-1)?.add(name, line);
  }

  /** Whether the text ended before its last calendar. */
  end(): boolean {
    const isTruncated = this.#path[0]?.name === 'VCALENDAR';
    this.#close(0);
    return isTruncated;
  }

  #begin(name: string): void {
    const component = new Component(name);
    if (name === 'VCALENDAR') this.calendars.push(component);
    else if (this.calendars.length === 0) return;
    // An event inside an event: the END of the first is missing.
    if (name === 'VCALENDAR') this.#close(0);
    else if (name === 'VEVENT') this.#close(this.#path[0]?.name === 'VCALENDAR' ? 1 : 0);
    if (this.#path.length < MAX_DEPTH) this.#path.push(component);
  }

  #end(name: string): void {
    const depth = this.#path.findLastIndex((component) => component.name === name);
    if (depth < 0) return;
    const component = this.#path[depth]!;
    this.#close(depth + 1);
    this.#path.pop();
    // Some files have events after the end of their calendar.
    (this.#path.at(-1) ?? this.calendars.at(-1))!.parts.push(component);
  }

  /** Leaves the components from this depth on. */
  #close(depth: number): void {
    this.broken.push(...this.#path.splice(depth).filter(({ name }) => name === 'VEVENT'));
  }
}

export interface Property {
  /** By lower-case name. */
  params: Readonly<Record<string, string>>;
  /** Decoded by ical.js: texts without escapes, times as `2027-05-01T18:00:00Z`. */
  values: readonly unknown[];
}

/** The properties of this name that can be read, of the first lines. */
export function properties(component: Component, name: string, maxLines = MAX_LINES): Property[] {
  return (component.get(name) ?? []).slice(0, maxLines).flatMap((line) => {
    try {
      const [, params, , ...values] = ICAL.parse.property(line, ICAL.design.icalendar) as unknown[];
      return [{ params: params as Property['params'], values }];
    } catch {
      return [];
    }
  });
}

/** The text of the first such property; empty without one. */
export function textOf(component: Component, name: string): string {
  const [property] = properties(component, name);
  return property ? property.values.join(', ').trim() : '';
}
