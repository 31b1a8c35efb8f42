// How a field of a mapping reaches its value in a CMS record: the accessor that reads and writes at its paths, to which
// the field compiles; and the codec, which says how the CMS writes the value down.

import type { CmsRecord } from '../cms/port.ts';
import type { Field, FieldType } from '../interface/fields.ts';
import type { Path } from './paths.ts';

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

/**
 * The lists of paths: of a field, here; of a kind, in `KindMapping` (`readPathsOfKind`: in cms-rules.ts). For example
 * with the `cost` at `meta.fee`, and the title at `{ "read": "hall[0].name", "write": "meta.hall" }`:
 *
 *   of the title   selectedPaths            ['hall']: what reading needs
 *                  storedPaths              ['meta.hall']: where it is written, or would be if it were not read-only
 *   of the kind    readPathsOfKind          ['hall', 'meta.fee']: the `selectedPaths` of all fields
 *                  writtenPathsByProperty   title -> ['meta.hall'], cost -> ['meta.fee']: `storedPaths`, if writable
 *                  requiredPaths            []: the `selectedPaths` of start and end, and of `hidden` those in `meta`
 */
export interface FieldAccessor extends Pick<Codec, 'needsZone' | 'isStoredAsNumber'> {
  /** Returns `undefined` if nothing usable is stored. */
  read(cmsRecord: CmsRecord, zones: Zones): unknown;
  /** Absent for a read-only field. @throws UnrepresentableValue */
  write?: (value: unknown, target: WriteTarget) => void;
  /** `_fields` of WordPress names them; an account of Payload that lists drafts must be able to read all of them. */
  selectedPaths: string[];
  storedPaths: string[];
  /** Writing depends on what is stored, so it needs the CMS record before the write. */
  needsCurrent?: boolean;
  /** The value is a part of a JSON text at its path. Other fields may be in the same text. */
  isPartOfText?: boolean;
}

export interface Codec {
  /** Returns `undefined` if nothing usable is stored. */
  read(stored: unknown, zones: Zones): unknown;
  /**
   * `read` must make the same value of the result: `check --write` and `findDuplicate` compare. Returns `undefined` if
   * nothing is to be sent: the CMS keeps its value, as Payload keeps the date of a creation.
   * @throws UnrepresentableValue if the stored form cannot express the value
   */
  write(value: unknown, zones: Zones): unknown;
  /** The stored form depends on the event's time zone, so writing needs to know the zone. */
  needsZone?: boolean;
  /** The CMS stores a number for the text: `$12.50` and `Free` are converted before `write`, which refuses them. */
  isStoredAsNumber?: boolean;
}

/** How WordPress must register a `meta` key that holds values of a codec. */
export interface MetaType {
  type: 'string' | 'boolean' | 'integer' | 'number' | 'array' | 'object';
  /** `{ "ids": "rows" }`: each value, of this `type`, has a row of its own. Absent: one row holds all. */
  multiple?: true;
  /** False is stored as the absence of a row: `{ "boolean": ["yes", null] }`. */
  absentWhenFalse?: true;
  /** What a key that is not set reads as, such as true for `show_map`. Absent: blank, zero or false. */
  default?: string | boolean | number;
}

interface CodecContext {
  field: Field;
  /** JSON pointer to the codec, relative to the field, for error messages. */
  pointer: string;
  /** The location is in `"write"`: nothing reads there, and a codec that cannot read is allowed (`lexical`). */
  writeOnly: boolean;
}

/**
 * One entry of the codec registry. A mapping selects it with `"as": "<name>"` or `"as": { "<name>": <options> }`. A
 * codec has either `create`, for a value at one path, or `createAccessor`, for a value in several paths.
 */
export interface CodecDefinition<Options = unknown> {
  /** Field types whose values the codec converts. */
  fits: readonly FieldType[];
  /** Restricts the codec to one field, by its property of the record (`Field.property`). */
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
