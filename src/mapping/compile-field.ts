// Compiles one field of a mapping to a field accessor, and lists the `meta` keys that fields use, with the type with
// which WordPress must register each. The field may be a date that the CMS stores in several keys, or a custom field,
// for which the API has no field of its own.

import type { CmsRecord } from '../cms/port.ts';
import { FIELDS, type Field, type FieldType } from '../interface/fields.ts';
import { MAX_READ_CHARACTERS } from '../interface/value-lengths.ts';
import { isObject, setAt } from '../model/json.ts';
import type { Kind } from '../model/records.ts';
import { dateTimeCodec } from './codecs/datetime.ts';
import { selectCodec } from './codecs/registry.ts';
import { readText } from './codecs/text.ts';
import { parseDateFormat } from './date-format.ts';
import {
  type FieldAccessor,
  isWritablePath,
  MappingFieldError,
  type MetaType,
  type Path,
  parsePath,
  parsePathOrThrow,
  parseWritablePath,
  selectorOf,
  UnrepresentableValue,
  valueAt,
  type WriteTarget,
} from './field-accessor.ts';
import type { CustomFieldSpec, DatePartSpec, FieldSpec, KindSpec, LocationSpec } from './mapping-file.ts';

/** A field of a kind, under its name in the API. */
export interface CompiledField {
  name: string;
  field: Field;
  accessor: FieldAccessor;
  /** Names of fields whose updates send this field too. */
  sentWith: readonly string[];
}

/** @throws MappingFieldError */
export function compileField(spec: string | FieldSpec, field: Field): FieldAccessor {
  if (typeof spec === 'string') return compileLocation(spec, field, '');
  if (spec.value !== undefined) return fixedAccessor(spec.value, field);
  if (spec.read === undefined && spec.write !== undefined)
    throw new MappingFieldError('/write', '"write" goes with "read"; a path that is both read and written is "at"');
  if (spec.read !== undefined && spec.clearWith !== undefined)
    throw new MappingFieldError('/clearWith', 'goes into "write", beside its "at"');
  const reader = compileLocation(spec.read ?? spec, field, spec.read === undefined ? '' : '/read');
  if (spec.readOnly || (spec.read !== undefined && spec.write === undefined)) return readOnly(reader);
  if (spec.write === undefined) return reader;
  const writers = Array.isArray(spec.write)
    ? spec.write.map((location, index) => compileLocation(location, field, `/write/${index}`, true))
    : [compileLocation(spec.write, field, '/write', true)];
  return combine(reader, writers);
}

/** Reads with one accessor and writes with all others. */
function combine(reader: FieldAccessor, writers: FieldAccessor[]): FieldAccessor {
  // A writer that needs the current record reads its own paths there: the gateway must ask the CMS for these too.
  const readForWrite = writers.filter((writer) => writer.needsCurrent).flatMap((writer) => writer.selectedPaths);
  return {
    read: reader.read,
    write: (value, target) => {
      for (const writer of writers) writer.write?.(value, target);
    },
    selectedPaths: [...reader.selectedPaths, ...readForWrite],
    storedPaths: writers.flatMap((writer) => writer.storedPaths),
    needsZone: writers.some((writer) => writer.needsZone),
    needsCurrent: writers.some((writer) => writer.needsCurrent),
    isPartOfText: writers.some((writer) => writer.isPartOfText),
    isNumeric: writers.some((writer) => writer.isNumeric),
  };
}

function readOnly({ read, selectedPaths, storedPaths }: FieldAccessor): FieldAccessor {
  return { read, selectedPaths, storedPaths };
}

function fixedAccessor(value: string | number | boolean, { type }: Field): FieldAccessor {
  if (type === 'ids') throw new MappingFieldError('/value', 'a list of ids cannot be fixed');
  const expected = type === 'coordinate' ? 'number' : type === 'boolean' || type === 'number' ? type : 'string';
  if (typeof value !== expected) throw new MappingFieldError('/value', `must be a ${expected}`);
  return { read: () => value, selectedPaths: [], storedPaths: [] };
}

function compileLocation(spec: string | LocationSpec, field: Field, pointer: string, writeOnly = false): FieldAccessor {
  const location: LocationSpec = typeof spec === 'string' ? { at: spec } : spec;
  if (location.parts) {
    if (field.type !== 'wall-time') throw new MappingFieldError(`${pointer}/parts`, 'only a date can have parts');
    return datePartsAccessor(location.parts, pointer, location.clearWith);
  }
  const path = parsePathOrThrow(location.at ?? '', typeof spec === 'string' ? pointer : `${pointer}/at`);
  const { name, codec: definition, options } = selectCodec(location.as, field, `${pointer}/as`);
  if (definition.createAccessor) {
    for (const key of ['json', 'clearWith'] as const)
      if (location[key] !== undefined)
        throw new MappingFieldError(`${pointer}/${key}`, `does not go with the codec "${name}"`);
    const accessor = definition.createAccessor(path, options, pointer);
    return isWritablePath(path) ? accessor : readOnly(accessor);
  }
  const codec = definition.create!(options, { field, pointer: `${pointer}/as`, writeOnly });
  const jsonPath = location.json === undefined ? undefined : parsePathOrThrow(location.json, `${pointer}/json`);
  const accessor: FieldAccessor = {
    read: (cmsRecord, zones) => {
      const stored = valueAt(cmsRecord, path);
      return codec.read(jsonPath ? valueAt(parseStoredJson(stored), jsonPath) : stored, zones);
    },
    write: (value, target) => {
      const clears = location.clearWith !== undefined && isEmpty(value, field.type);
      const stored = clears ? location.clearWith : codec.write(value, target.zones);
      if (jsonPath) mergeJson(target, path, jsonPath, stored);
      else setAt(target.body, path, stored);
    },
    selectedPaths: [selectorOf(path)],
    storedPaths: [location.at ?? ''],
    needsZone: codec.needsZone === true,
    needsCurrent: jsonPath !== undefined,
    isPartOfText: jsonPath !== undefined,
    isNumeric: codec.isNumeric === true,
  };
  return [path, jsonPath ?? []].every(isWritablePath) ? accessor : readOnly(accessor);
}

function isEmpty(value: unknown, type: FieldType): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === '' || value === null || (type === 'number' && value === 0);
}

function parseStoredJson(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : text;
  } catch {
    return undefined;
  }
}

/**
 * Replaces one value in a JSON text and keeps the others. Starts from the text that this write has already put into the
 * body, if another field is in the same text.
 * @throws UnrepresentableValue if the text has a list where the path needs an object
 */
function mergeJson({ body, current }: WriteTarget, path: Path, jsonPath: Path, value: unknown): void {
  const text = valueAt(body, path) ?? valueAt(current, path);
  if (typeof text === 'string' && text.length >= MAX_READ_CHARACTERS - 1)
    throw new UnrepresentableValue('the text that the CMS has here is too long to be changed');
  const stored = parseStoredJson(text);
  if (jsonPath.some((_, index) => Array.isArray(valueAt(stored, jsonPath.slice(0, index)))))
    throw new UnrepresentableValue('the CMS has a list here, in which nothing can be stored');
  const object: CmsRecord = isObject(stored) ? structuredClone(stored) : {};
  setAt(object, jsonPath, value);
  setAt(body, path, JSON.stringify(object));
}

/** Formats of two digits for each letter. A CMS that stores a number drops zeros at the beginning. */
const TWO_DIGIT_LETTERS = /^[ymdHhis]+$/;

/**
 * The formats of all parts, joined by line feeds, make one date format. A stored text with a line feed does not match.
 */
const formatOf = (parts: readonly DatePartSpec[]) => parseDateFormat(parts.map((part) => part.format).join('\n'));

/**
 * A write of an empty date puts `clearWith` into each key.
 * @throws MappingFieldError
 */
function datePartsAccessor(parts: DatePartSpec[], pointer: string, clearWith: unknown = ''): FieldAccessor {
  const format = formatOf(parts);
  if (typeof format === 'string') throw new MappingFieldError(`${pointer}/parts`, format);
  if (format.writeOnly !== undefined) throw new MappingFieldError(`${pointer}/parts`, format.writeOnly);
  const codec = dateTimeCodec(format, 'event');
  const paths = parts.map((part, index) => parseWritablePath(part.at, `${pointer}/parts/${index}/at`));
  return {
    read: (cmsRecord, zones) => {
      const texts = paths.map((path, index) => readPart(valueAt(cmsRecord, path), parts[index]!.format));
      // A date without a time is a whole day: the other parts are blank then.
      return codec.read(texts.join('\n'), zones) ?? codec.read(texts.find((text) => text !== '') ?? '', zones);
    },
    write: (value, { body, zones }) => {
      const texts = value === '' ? undefined : String(codec.write(value, zones)).split('\n');
      for (const [index, path] of paths.entries()) setAt(body, path, texts ? texts[index] : clearWith);
    },
    selectedPaths: paths.map(selectorOf),
    storedPaths: parts.map((part) => part.at),
    needsZone: codec.needsZone === true,
  };
}

/**
 * Whether every part has a text, and these texts together do not make a date. The gateway then reads the date alone.
 */
export function hasUnreadableTime(parts: readonly DatePartSpec[], cmsRecord: CmsRecord): boolean {
  const format = formatOf(parts);
  const texts = parts.map(({ at, format }) => readPart(valueAt(cmsRecord, parseWritablePath(at, '')), format));
  return typeof format !== 'string' && !texts.includes('') && format.read(texts.join('\n')) === undefined;
}

function readPart(stored: unknown, format: string): string {
  const text = (readText(stored) ?? '').trim();
  return TWO_DIGIT_LETTERS.test(format) ? text.padStart(2 * format.length, '0') : text;
}

/**
 * A value of a site that the API has no field for, which a mapping names under `custom_fields`, as the API presents it.
 */
export interface CustomField {
  /** Its name for people. */
  label: string;
  type: 'text' | 'boolean';
  /** Lists filter by it. */
  filter: boolean;
  accessor: FieldAccessor;
}

export type CustomFields = ReadonlyMap<string, CustomField>;

/** `door_time` -> `Door time`. */
const labelOf = (name: string): string => {
  const words = name.replaceAll('_', ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** The field by which codecs know a custom field. */
export const customFieldType = (name: string, spec: string | CustomFieldSpec): Field & { type: 'text' | 'boolean' } => {
  const type = (typeof spec === 'object' && spec.type) || 'text';
  return { key: name, type, empty: type === 'boolean' ? false : '' };
};

/** @throws MappingFieldError */
export function compileCustomField(name: string, spec: string | CustomFieldSpec): CustomField {
  const field = customFieldType(name, spec);
  const { label = labelOf(name), filter = false } = typeof spec === 'object' ? spec : {};
  return { label, type: field.type, filter, accessor: compileField(spec, field) };
}

export interface MetaKey extends Omit<MetaType, 'default'> {
  key: string;
  /** Value of a key that is not set. */
  default: string | boolean | number | readonly never[];
  /** Name of the field that uses the key first. */
  field: string;
  writable: boolean;
}

const DEFAULTS = { string: '', boolean: false, integer: 0, number: 0, array: [], object: [] } as const;

interface Use {
  path: string;
  type: MetaType;
  writable: boolean;
}

/**
 * The keys directly under `meta` that the fields of a kind use, each once, in the order of the fields. `events`, the
 * mapping of events, adds the keys by which events refer to records of the kind.
 */
export function metaKeys(kind: Kind, spec: KindSpec, events?: KindSpec): MetaKey[] {
  const keys = new Map<string, MetaKey>();
  const add = (field: string, { path, type, writable }: Use): void => {
    const [root, key, ...rest] = parsePath(path) ?? [];
    if (root !== 'meta' || typeof key !== 'string') return;
    const known = keys.get(key);
    if (known) {
      known.writable ||= writable;
      return;
    }
    const metaType: MetaType = rest.length > 0 ? { type: 'object' } : type;
    keys.set(key, { key, default: DEFAULTS[metaType.type], ...metaType, field, writable });
  };
  const { fields = {}, custom_fields = {}, readOnly = false } = spec;
  for (const [name, fieldSpec] of Object.entries(fields))
    for (const use of usesOf(fieldSpec, FIELDS[kind][name]!, readOnly)) add(name, use);
  for (const [name, fieldSpec] of Object.entries(custom_fields))
    for (const use of usesOf(fieldSpec, customFieldType(name, fieldSpec), readOnly)) add(name, use);
  for (const { name, key } of events ? linkKeysOf(kind, events) : [])
    add(name, { path: key, type: { type: 'integer' }, writable: false });
  return [...keys.values()];
}

/** The keys of records of the kind by which events refer to them (`via`), each with the event's field. */
export const linkKeysOf = (kind: Kind, { fields = {} }: KindSpec): { name: string; key: string }[] =>
  Object.entries(fields).flatMap(([name, spec]) => {
    const key = typeof spec === 'object' ? spec.via?.key : undefined;
    return key !== undefined && FIELDS.event[name]?.references === kind ? [{ name, key }] : [];
  });

/** What its password does not hide of an event, because lists find and show it by these: paths such as `meta.start`. */
export const pathsWithoutPassword = (events: KindSpec): string[] =>
  ['start_date', 'end_date', 'all_day', 'timezone', 'hide_from_listings'].flatMap((name) =>
    usesOf(events.fields?.[name] ?? {}, FIELDS.event[name]!, true).map(({ path }) => parsePath(path)!.join('.')),
  );

function usesOf(fieldSpec: string | FieldSpec, field: Field, readOnly: boolean): Use[] {
  const spec: FieldSpec = typeof fieldSpec === 'string' ? { at: fieldSpec } : fieldSpec;
  const writable = !readOnly && !spec.readOnly;
  const embedded = Object.values(spec.embedded ?? {}).map((path) => ({ path, type: TEXT, writable: false }));
  if (spec.read === undefined) return [...embedded, ...usesOfLocation(spec, field, writable)];
  const writes = [spec.write ?? []].flat().flatMap((location) => usesOfLocation(location, field, writable));
  return [...embedded, ...usesOfLocation(spec.read, field, false), ...writes];
}

const TEXT: MetaType = { type: 'string' };

function usesOfLocation(location: string | LocationSpec, field: Field, writable: boolean): Use[] {
  const spec: LocationSpec = typeof location === 'string' ? { at: location } : location;
  const uses: Use[] = (spec.parts ?? []).map(({ at }) => ({ path: at, type: TEXT, writable }));
  if (spec.at === undefined) return uses;
  const { codec, options } = selectCodec(spec.as, field, '');
  const type = spec.json === undefined ? (codec.metaType?.(options, field) ?? TEXT) : TEXT;
  const paths = codec.createAccessor?.(parsePath(spec.at) ?? [], options, '').selectedPaths ?? [spec.at];
  for (const path of paths) uses.push({ path, type, writable });
  return uses;
}
