// The shape of a codec: how the CMS writes down one value, and everything else the gateway derives from that.

import type { FieldType } from '../../interface/fields.ts';
import type { FieldAccessor, Path, Zones } from '../field-accessor.ts';

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
  /** `false` is stored as the absence of a row. */
  absentWhenFalse?: true;
  /** Value of a key that is not set. Absent: blank, zero or false. */
  default?: string | boolean | number;
}

export interface CodecContext {
  type: FieldType;
  /** Of a field of the type `word`. */
  words?: readonly string[] | undefined;
  /** JSON pointer to the codec, relative to the field, for error messages. */
  pointer: string;
  /** The value is only written at this location, never read back. */
  writeOnly: boolean;
}

/**
 * One entry of the codec registry. A mapping selects it with `"as": "<name>"` or `"as": { "<name>": <options> }`. A
 * codec has either `create`, for a value at one path, or `createAccessor`, for a value in several paths.
 */
export interface CodecDefinition<Options = unknown> {
  name: string;
  /** Field types whose values the codec converts. */
  fits: readonly FieldType[];
  /** Restricts the codec to one field, by its property of the record (`Field.key`). */
  onlyField?: string;
  /** Field types that use the codec if the mapping names none. */
  defaultFor?: readonly FieldType[];
  /** JSON Schema of the options. Absent: there are none. */
  optionsSchema?: object;
  /** The codec cannot be selected by its name alone. */
  optionsRequired?: true;
  /** The codec cannot be named in a mapping. */
  internal?: true;
  /** Absent: text. `empty` is the field's empty value. */
  metaType?(options: Options | undefined, type: FieldType, empty: unknown): MetaType;
  create?(options: Options | undefined, context: CodecContext): Codec;
  createAccessor?(path: Path, options: Options, pointer: string): FieldAccessor;
}

/** JSON Schema of options that are an object with these properties alone. */
export const optionsOf = (properties: Record<string, object>, required?: string[]): object => ({
  type: 'object',
  ...(required && { required }),
  additionalProperties: false,
  properties,
});

export const PATH_SCHEMA = { $ref: '#/definitions/path' };

/** A codec as a mapping names it: `"ids"`, `{ "ids": "csv" }`. */
export type CodecSpec = string | Record<string, unknown>;
