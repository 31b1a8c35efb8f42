// Reads the bytes of an iCalendar file into components and properties. A broken line costs that line, a broken event
// that event.

import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import ICAL from 'ical.js';
import { describeBody } from '../http-exchange.ts';
import { SourceError } from './source.ts';

/** A longer line, such as a picture in base64, is cut before anything parses it. */
const MAX_LINE = 100_000;
/** Of components in components: deeper ones are dropped. */
const MAX_DEPTH = 8;
/** Uninterrupted work. Five files are read at once. */
const MAX_WORK_MS = 10;

const utf8 = new TextDecoder();
/** It contains Latin-1. */
const windows1252 = new TextDecoder('windows-1252');

let workingSince = 0;

/** Lets other work run once files have been read for 10 ms. Call it between small steps. */
export async function pause(): Promise<void> {
  if (performance.now() - workingSince < MAX_WORK_MS) return;
  await nextTurn();
  workingSince = performance.now();
}

/** A VCALENDAR, VEVENT or other component. */
export interface Component {
  name: string;
  /** By lower-case names of properties. */
  lines: Map<string, string[]>;
  inner: Component[];
}

/** All calendars of a file as one. @throws SourceError if the bytes are none */
export async function readFile(bytes: Uint8Array) {
  const reader = new ComponentReader();
  let hasUtf8 = true;
  for await (const line of unfold(Buffer.from(bytes).toString('latin1'))) {
    hasUtf8 &&= isUtf8(line);
    reader.add((isUtf8(line) ? utf8 : windows1252).decode(line));
  }
  const { calendar, isTruncated } = reader;
  if (isTruncated === undefined) throw new SourceError(`${describeBody(Buffer.from(bytes))} instead of a calendar`);
  return { calendar, isTruncated, isUtf8: hasUtf8 };
}

/** Lines with those that continue them, as bytes: old programs fold within a character. */
async function* unfold(latin1: string): AsyncGenerator<Buffer> {
  let line = '';
  for (const [part] of latin1.matchAll(/[^\r\n]+/g)) {
    await pause();
    const isContinued = part.startsWith(' ') || part.startsWith('\t');
    if (!isContinued) yield Buffer.from(line, 'latin1');
    line = isContinued ? line + part.slice(1, 1 + MAX_LINE - line.length) : part.slice(0, MAX_LINE);
  }
  yield Buffer.from(line, 'latin1');
}

/** Follows BEGIN and END. What the end of the text breaks off is no part of the calendar. */
class ComponentReader {
  readonly calendar: Component = { name: 'VCALENDAR', lines: new Map(), inner: [] };
  /** Undefined: no calendar began. */
  isTruncated: boolean | undefined;
  /** The calendar, and the components in it around the current line. */
  readonly #path: Component[] = [this.calendar];

  /** A line that is no property, as of a description with raw line ends, is dropped. */
  add(line: string): void {
    const name = /^[A-Za-z0-9-]{1,100}(?=[;:])/.exec(line)?.[0].toLowerCase();
    const { lines } = this.#path.at(-1)!;
    if (name === 'begin') this.#begin(line.slice(6).trim().toUpperCase());
    else if (name === 'end') this.#end(line.slice(4).trim().toUpperCase());
    else if (name !== undefined && lines.has(name)) lines.get(name)!.push(line);
    else if (name !== undefined) lines.set(name, [line]);
  }

  #begin(name: string): void {
    if (name === 'VCALENDAR') this.isTruncated = true;
    // No event is inside another one: the END of that is missing.
    if (name === 'VCALENDAR' || name === 'VEVENT') this.#close(1);
    if (name !== 'VCALENDAR' && this.#path.length < MAX_DEPTH) this.#path.push({ name, lines: new Map(), inner: [] });
  }

  /** Some files have events after the end of their calendar. */
  #end(name: string): void {
    const depth = this.#path.findLastIndex((component) => component.name === name);
    if (depth === 0) this.isTruncated = false;
    if (depth >= 0) this.#close(Math.max(1, depth));
  }

  #close(depth: number): void {
    const [part] = this.#path.splice(depth);
    if (part) this.#path.at(-1)!.inner.push(part);
  }
}

export type Property = ReturnType<typeof properties>[number];

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

/** The text of the first such property, or the empty one; no control characters: SQLite ends some texts at NUL. */
export const textOf = (component: Component, name: string): string =>
  (properties(component, name, 1)[0]?.values.join(', ') ?? '').replace(/(?![\t\n\r])\p{Cc}/gu, '').trim();
