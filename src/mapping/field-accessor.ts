// How a field of a mapping reaches its value in a CMS record. Three parts: the path, such as `meta.cost` or
// `venue[0].ID`; the accessor that reads and writes there, to which the field compiles; and the codec, which says how
// the CMS writes the value down.

import type { CmsRecord } from '../cms/port.ts';
import type { Field, FieldType } from '../interface/fields.ts';
import { MAX_READ_CHARACTERS } from '../interface/value-lengths.ts';
import { INHERITED_NAMES } from '../model/json.ts';
import { cutHtml } from '../text/text.ts';

/** An error in a part of a mapping. `pointer` is a JSON pointer relative to the part that is being compiled. */
export class MappingFieldError extends Error {
  readonly pointer: string;
  readonly remedy: string;

  constructor(pointer: string, reason: string, remedy = '') {
    super(reason);
    this.pointer = pointer;
    this.remedy = remedy;
  }
}

/** Keys (strings) and array indexes (numbers), the outermost first. */
export type Path = readonly (string | number)[];

const PATH = /^[^.[\]\s]+(?:\.[^.[\]\s]+|\[\d+\])*$/;

/** Returns `undefined` if the text is not a path. */
export function parsePath(text: string): Path | undefined {
  if (!PATH.test(text)) return undefined;
  const path: (string | number)[] = [];
  for (const segment of text.matchAll(/\[(\d+)\]|[^.[\]]+/g)) {
    const key = segment[1] === undefined ? segment[0] : Number(segment[1]);
    if (typeof key === 'string' && INHERITED_NAMES.has(key)) return undefined;
    path.push(key);
  }
  return path;
}

/**
 * Every value of the CMS is read here. Returns `undefined` if a step of the path is missing. A text is cut at
 * `MAX_READ_CHARACTERS` before any expression, parser or index sees it.
 */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const key of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return typeof value === 'string' ? cutHtml(value, MAX_READ_CHARACTERS) : value;
}

/** The part of a path that WordPress's `_fields` can name: the keys before the first array index. */
export function selectorOf(path: Path): string {
  const end = path.findIndex((key) => typeof key === 'number');
  return (end < 0 ? path : path.slice(0, end)).join('.');
}

/** @throws MappingFieldError if the text is not a path */
export function parsePathOrThrow(text: string, pointer: string): Path {
  const path = parsePath(text);
  if (!path) throw new MappingFieldError(pointer, `"${text}" is no path such as meta.cost or venue[0].ID`);
  return path;
}

/** @throws MappingFieldError if the text is not a path, or goes through a list, which a write cannot */
export function parseWritablePath(text: string, pointer: string): Path {
  const path = parsePathOrThrow(text, pointer);
  if (!isWritablePath(path)) throw new MappingFieldError(pointer, `"${text}" cannot be written`);
  return path;
}

export const isWritablePath = (path: Path): boolean => path.every((key) => typeof key === 'string');

/** The time zones, as texts, in which a date is read and written. */
export interface Zones {
  /** The event's zone. The text may be invalid. */
  event: string;
  site: string;
}

export interface WriteTarget {
  /** Body of the request to the CMS, which collects the written values. */
  body: CmsRecord;
  /** The CMS record before the write, if it is known. */
  current: CmsRecord | undefined;
  zones: Zones;
}

export interface FieldAccessor {
  /** Returns `undefined` if nothing usable is stored. */
  read(cmsRecord: CmsRecord, zones: Zones): unknown;
  /** Absent for a read-only field. @throws UnrepresentableValue */
  write?: (value: unknown, target: WriteTarget) => void;
  /**
   * Paths that reading needs. `_fields` of WordPress names them; an account of Payload that lists drafts must be able
   * to read all of them.
   */
  selectedPaths: string[];
  /** The paths at which the field is written, or would be if it were not read-only: `['meta.day', 'meta.time']`. */
  storedPaths: string[];
  /** The stored form depends on the event's time zone, so writing needs to know the zone. */
  needsZone?: boolean;
  /** Writing depends on what is stored, so it needs the CMS record before the write. */
  needsCurrent?: boolean;
  /** The value is a part of a JSON text at its path. Other fields may be in the same text. */
  isPartOfText?: boolean;
  /** The CMS stores a number for the text of the field. */
  isNumeric?: boolean;
}

/** Converts between a field's value and what the CMS stores. */
export interface Codec {
  /** Returns `undefined` if nothing usable is stored. */
  read(stored: unknown, zones: Zones): unknown;
  /** @throws UnrepresentableValue if the stored form cannot express the value */
  write(value: unknown, zones: Zones): unknown;
  /** The stored form depends on the event's time zone, so writing needs to know the zone. */
  needsZone?: boolean;
  /**
   * The CMS stores a number for the text of the field, so `$12.50` and `Free` are converted before `write`, which would
   * refuse them.
   */
  isNumeric?: boolean;
}

/** The CMS's stored form cannot express a value. The message says which values it can. */
export class UnrepresentableValue extends Error {}

/** How WordPress must register a `meta` key that holds values of a codec. */
export interface MetaType {
  type: 'string' | 'boolean' | 'integer' | 'number' | 'array' | 'object';
  /** Each value has a row of its own, and `type` is the type of one value. Absent: one row holds all values. */
  multiple?: true;
  /** False is stored as the absence of a row: `{ "boolean": ["yes", null] }`. */
  absentWhenFalse?: true;
  /** Value of a key that is not set, such as true for `show_map`. Absent: blank, zero or false. */
  default?: string | boolean | number;
}

interface CodecContext {
  field: Field;
  /** JSON pointer to the codec, relative to the field, for error messages. */
  pointer: string;
  /** At this location the field is only written: it is read elsewhere. (An accessor without `write` is read-only.) */
  writeOnly: boolean;
}

/**
 * One entry of the codec registry. A mapping selects it with `"as": "<name>"` or `"as": { "<name>": <options> }`. A
 * codec has either `create`, for a value at one path, or `createAccessor`, for a value in several paths.
 */
export interface CodecDefinition<Options = unknown> {
  /** Field types whose values the codec converts. */
  fits: readonly FieldType[];
  /** Restricts the codec to one field, by its property of the record (`Field.key`). */
  onlyField?: string;
  /** Field types that use the codec if the mapping names none. */
  defaultFor?: readonly FieldType[];
  /** Absent: text. */
  metaType?(options: Options | undefined, field: Field): MetaType;
  create?(options: Options | undefined, context: CodecContext): Codec;
  createAccessor?(path: Path, options: Options, pointer: string): FieldAccessor;
}

/** A codec as a mapping names it: `"ids"`, `{ "ids": "csv" }`. */
export type CodecSpec = string | Record<string, unknown>;
