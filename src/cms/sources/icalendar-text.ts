// Reads the bytes of an iCalendar file into components and properties. A broken line or event costs itself alone.

import { isUtf8 } from 'node:buffer';
import ICAL from 'ical.js';
import { pause } from '../../pause.ts';

/** A longer line, such as a picture in base64, is cut before anything parses it. */
const MAX_LINE_BYTES = 100_000;
/** Of components in components: deeper ones are dropped. */
const MAX_DEPTH = 8;

const utf8 = new TextDecoder();
/** It contains Latin-1. */
const windows1252 = new TextDecoder('windows-1252');

/** A VCALENDAR, VEVENT or other component. */
export interface Component {
  name: string;
  /** By lower-case names of properties. */
  lines: Map<string, string[]>;
  inner: Component[];
}

/** All calendars of a file as one. Lines are joined as bytes: old programs fold within a character. */
export async function parseCalendars(bytes: Buffer): Promise<ComponentReader> {
  const reader = new ComponentReader();
  let line = '';
  for (const [part] of bytes.toString('latin1').matchAll(/[^\r\n]+/g)) {
    await pause();
    const isContinued = part.startsWith(' ') || part.startsWith('\t');
    if (!isContinued) reader.add(Buffer.from(line, 'latin1'));
    line = isContinued ? line + part.slice(1, 1 + MAX_LINE_BYTES - line.length) : part.slice(0, MAX_LINE_BYTES);
  }
  reader.add(Buffer.from(line, 'latin1'));
  return reader;
}

/** Follows BEGIN and END. What the end of the text breaks off is no part of the calendar. */
class ComponentReader {
  readonly calendar: Component = { name: 'VCALENDAR', lines: new Map(), inner: [] };
  state: 'no calendar' | 'begun' | 'ended' = 'no calendar';
  hasOnlyUtf8 = true;
  /** At 0 the calendar, which stays, and then the components in it around the current line: an event, its alarm. */
  readonly #path: Component[] = [this.calendar];

  /** A line that is no property, as of a description with raw line ends, is dropped. */
  add(bytes: Buffer): void {
    const isText = isUtf8(bytes);
    this.hasOnlyUtf8 &&= isText;
    const line = (isText ? utf8 : windows1252).decode(bytes);
    const name = /^[A-Za-z0-9-]{1,100}(?=[;:])/.exec(line)?.[0].toLowerCase();
    const { lines } = this.#path.at(-1)!;
    if (name === 'begin') this.#begin(line.slice(6).trim().toUpperCase());
    else if (name === 'end') this.#end(line.slice(4).trim().toUpperCase());
    else if (name !== undefined && lines.has(name)) lines.get(name)!.push(line);
    else if (name !== undefined) lines.set(name, [line]);
  }

  #begin(name: string): void {
    if (name === 'VCALENDAR') this.state = 'begun';
    // Inside an event no event begins: the END of the open one is missing.
    if (name === 'VCALENDAR' || name === 'VEVENT') this.#close(1);
    if (name !== 'VCALENDAR' && this.#path.length < MAX_DEPTH) this.#path.push({ name, lines: new Map(), inner: [] });
  }

  /** The end of the calendar ends an open event. The calendar stays open: some files have events after its end. */
  #end(name: string): void {
    const depth = this.#path.findLastIndex((component) => component.name === name);
    if (depth === 0) this.state = 'ended';
    if (depth >= 0) this.#close(Math.max(1, depth));
  }

  /** Ends the component at this depth, if one is open. One that is open inside it is dropped: a VALARM without END. */
  #close(depth: number): void {
    const [part] = this.#path.splice(depth);
    if (part) this.#path.at(-1)!.inner.push(part);
  }
}

/**
 * The properties of this name that can be read, of the first lines, decoded by ical.js: parameters by lower-case name,
 * texts without escapes, times as `2027-05-01T18:00:00Z`.
 */
export function properties(component: Component, name: string, maxLines?: number) {
  return (component.lines.get(name) ?? []).slice(0, maxLines).flatMap((line) => {
    try {
      const [, params, , ...values] = ICAL.parse.property(line, ICAL.design.icalendar) as unknown[];
      return [{ params: params as Readonly<Record<string, string>>, values }];
    } catch {
      return [];
    }
  });
}

/** The text of the first such property, else ''. Without control characters: SQLite ends some texts at NUL. */
export const textOf = (component: Component, name: string): string =>
  (properties(component, name, 1)[0]?.values.join(', ') ?? '').replace(/(?![\t\n\r])\p{Cc}/gu, '').trim();
