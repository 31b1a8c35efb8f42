// Compiles one field of a mapping to a field accessor. The field may be a date that the CMS stores in several keys, or
// an end that has the day of the start.

import type { CmsRecord } from '../cms/port.ts';
import type { Field, FieldType } from '../interface/fields.ts';
import { isObject, setAt, valueIn } from '../model/json.ts';
import { DAY_MS, wallAfter } from '../time/wall-time.ts';
import { dateTimeCodec } from './codecs/datetime.ts';
import { selectCodec } from './codecs/registry.ts';
import { parseDateFormat } from './date-format.ts';
import type { Codec, FieldAccessor, WriteTarget } from './field-accessor.ts';
import { type DatePartSpec, type FieldSpec, fieldSpecOf, type LocationSpec } from './mapping-file.ts';
import {
  isWritablePath,
  MAX_READ_CHARACTERS,
  MappingFieldError,
  type Path,
  parsePathOrThrow,
  parseWritablePath,
  readAt,
  selectorOf,
  textAt,
  UnrepresentableValue,
} from './paths.ts';
import type { EmbeddedReader, LinkField } from './references.ts';

/** A field of a kind, under its name in the API. */
export interface CompiledField {
  name: string;
  field: Field;
  accessor: FieldAccessor;
  /** Names of other fields: an update of one of them sends this field too. */
  sentWith: readonly string[];
  embedded?: EmbeddedReader;
  /** The event refers to linked records otherwise than by their ids. */
  linkField?: LinkField;
}

/**
 *   spec                                                         is read at      is written at
 *   "meta.hall", or { "at": "meta.hall" }                        meta.hall       meta.hall
 *   { "at": "meta.hall", "readOnly": true }                      meta.hall       nowhere
 *   { "read": "hall[0].name" }                                   hall[0].name    nowhere
 *   { "read": "hall[0].name", "write": "meta.hall" }             hall[0].name    meta.hall
 *   { "read": "meta.start", "write": ["meta.day", "meta.at"] }   meta.start      meta.day and meta.at
 *   { "value": "Town hall" }                                     has this value  nowhere
 *
 * @throws MappingFieldError
 */
export function compileField(spec: string | FieldSpec, field: Field): FieldAccessor {
  if (typeof spec === 'string') return compileLocation(spec, field, '');
  const { value, read, write, readOnly, clearWith } = spec;
  if (value !== undefined) return fixedAccessor(value, field);
  if (read === undefined) {
    const accessor = compileLocation(spec, field, '');
    return readOnly ? readOnlyAccessor(accessor) : accessor;
  }
  if (clearWith !== undefined) throw new MappingFieldError('/clearWith', 'goes into "write", beside its "at"');
  const reader = compileLocation(read, field, '/read');
  if (readOnly || write === undefined) return readOnlyAccessor(reader);
  const pointerOf = (index: number) => (Array.isArray(write) ? `/write/${index}` : '/write');
  const writers = [write].flat().map((each, index) => compileLocation(each, field, pointerOf(index), true));
  return withWriters(reader, writers);
}

function withWriters(reader: FieldAccessor, writers: FieldAccessor[]): FieldAccessor {
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
    isStoredAsNumber: writers.some((writer) => writer.isStoredAsNumber),
  };
}

export function readOnlyAccessor({ read, selectedPaths, storedPaths }: FieldAccessor): FieldAccessor {
  return { read, selectedPaths, storedPaths };
}

/** Of any other field the fixed value is a text. */
const FIXED_TYPES: Readonly<Record<string, string>> = { boolean: 'boolean', number: 'number', id: 'number' };

function fixedAccessor(value: string | number | boolean, { type }: Field): FieldAccessor {
  if (type === 'ids') throw new MappingFieldError('/value', 'a list of ids cannot be fixed');
  const expected = FIXED_TYPES[type] ?? 'string';
  if (typeof value !== expected) throw new MappingFieldError('/value', `must be a ${expected}`);
  return { read: () => value, selectedPaths: [], storedPaths: [] };
}

/**
 * One place where a field is read or written: a date in parts, or the value at a path in the form of a codec.
 * @param writeOnly it is in "write": its codec may be one that cannot read, such as `lexical` or the date format `H:i`
 */
function compileLocation(spec: string | LocationSpec, field: Field, pointer: string, writeOnly = false): FieldAccessor {
  const location: LocationSpec = fieldSpecOf(spec);
  if (location.parts) {
    if (field.type !== 'wall-time') throw new MappingFieldError(`${pointer}/parts`, 'only a date can have parts');
    return datePartsAccessor(location.parts, pointer, location.clearWith);
  }
  const { at = '', json, clearWith } = location;
  const path = parsePathOrThrow(at, typeof spec === 'string' ? pointer : `${pointer}/at`);
  const { name, codec: definition, options } = selectCodec(location.as, field, `${pointer}/as`);
  if (definition.createAccessor) {
    const unfit = (['json', 'clearWith'] as const).find((key) => location[key] !== undefined);
    if (unfit) throw new MappingFieldError(`${pointer}/${unfit}`, `does not go with the codec "${name}"`);
    const accessor = definition.createAccessor(path, options, pointer);
    return isWritablePath(path) ? accessor : readOnlyAccessor(accessor);
  }
  const codec = definition.create!(options, { field, pointer: `${pointer}/as`, writeOnly });
  const jsonPath = json === undefined ? undefined : parsePathOrThrow(json, `${pointer}/json`);
  const accessor = valueAccessor(path, jsonPath, codec, field.type, clearWith);
  return [path, jsonPath ?? []].every(isWritablePath) ? accessor : readOnlyAccessor(accessor);
}

/** @param jsonPath where the value is in the JSON text at `path`; absent: the value is all that is at `path` */
function valueAccessor(
  path: Path,
  jsonPath: Path | undefined,
  codec: Codec,
  type: FieldType,
  clearWith: unknown,
): FieldAccessor {
  return {
    read: (cmsRecord, zones) => {
      const stored = readAt(cmsRecord, path);
      return codec.read(jsonPath ? readAt(parseStoredJson(stored), jsonPath) : stored, zones);
    },
    write: (value, target) => {
      const clears = clearWith !== undefined && isEmpty(value, type);
      const stored = clears ? clearWith : codec.write(value, target.zones);
      if (jsonPath) mergeJson(target, path, jsonPath, stored);
      else setAt(target.body, path, stored);
    },
    selectedPaths: [selectorOf(path)],
    storedPaths: [path.join('.')],
    needsZone: codec.needsZone === true,
    needsCurrent: jsonPath !== undefined,
    isPartOfText: jsonPath !== undefined,
    isStoredAsNumber: codec.isStoredAsNumber === true,
  };
}

/** What `clearWith` replaces. An id, such as that of the image, is 0 if there is none. */
function isEmpty(value: unknown, type: FieldType): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === '' || value === null || (type === 'id' && value === 0);
}

function parseStoredJson(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : text;
  } catch {
    return undefined;
  }
}

/**
 * Replaces one value in a JSON text and keeps the others: the end in `{"start":"19:00","end":"22:00"}`. Starts from the
 * text that this write has already put into the body, if another field is in the same text.
 * @throws UnrepresentableValue if the text has a list where the path needs an object
 */
function mergeJson({ body, current }: WriteTarget, path: Path, jsonPath: Path, value: unknown): void {
  // Not by `readAt`, which cuts a long text: what this writes would lack the rest.
  const text = valueIn(body, path) ?? valueIn(current, path);
  if (typeof text === 'string' && text.length > MAX_READ_CHARACTERS)
    throw new UnrepresentableValue('the text that the CMS has here is too long to be changed');
  const stored = parseStoredJson(text);
  if (jsonPath.some((_, index) => Array.isArray(readAt(stored, jsonPath.slice(0, index)))))
    throw new UnrepresentableValue('the CMS has a list here, in which nothing can be stored');
  const object: CmsRecord = isObject(stored) ? structuredClone(stored) : {};
  setAt(object, jsonPath, value);
  setAt(body, path, JSON.stringify(object));
}

/** Formats of two digits for each letter. */
const TWO_DIGIT_LETTERS = /^[ymdHhis]+$/;

/** The formats, joined by line feeds, make one date format. A stored text with a line feed does not match. */
const formatOf = (parts: readonly DatePartSpec[]) => parseDateFormat(parts.map((part) => part.format).join('\n'));

/** A write of an empty date puts `clearWith` into each key. @throws MappingFieldError */
function datePartsAccessor(parts: DatePartSpec[], pointer: string, clearWith: unknown = ''): FieldAccessor {
  const format = formatOf(parts);
  if (typeof format === 'string') throw new MappingFieldError(`${pointer}/parts`, format);
  if (format.whyWriteOnly !== undefined) throw new MappingFieldError(`${pointer}/parts`, format.whyWriteOnly);
  const codec = dateTimeCodec(format, 'event');
  const paths = parts.map((part, index) => parseWritablePath(part.at, `${pointer}/parts/${index}/at`));
  // The first part that says a whole day, `Ymd`. Parts such as `H:i` are left out: they say none.
  const [dayPart] = parts.flatMap((part, index) => {
    const dayFormat = parseDateFormat(part.format);
    const isWholeDay = typeof dayFormat !== 'string' && dayFormat.whyWriteOnly === undefined;
    return isWholeDay ? { index, codec: dateTimeCodec(dayFormat, 'event') } : [];
  });
  return {
    read: (cmsRecord, zones) => {
      const texts = paths.map((path, index) => readPart(cmsRecord, path, parts[index]!.format));
      // A day without a time, `20270501` and a blank text, reads as midnight.
      return codec.read(texts.join('\n'), zones) ?? dayPart?.codec.read(texts[dayPart.index], zones);
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

/** True for a day with `half past seven` as its time. The gateway then reads the day alone. */
export function hasUnreadableTime(parts: readonly DatePartSpec[], cmsRecord: CmsRecord): boolean {
  const whole = formatOf(parts);
  const texts = parts.map(({ at, format }) => readPart(cmsRecord, parseWritablePath(at, ''), format));
  return typeof whole !== 'string' && !texts.includes('') && whole.read(texts.join('\n')) === undefined;
}

/** A CMS that stores a number has 930 for 09:30 in the format `Hi`: that is read as `0930`, and blank as `0000`. */
function readPart(cmsRecord: CmsRecord, path: Path, format: string): string {
  const text = textAt(cmsRecord, path).trim();
  return TWO_DIGIT_LETTERS.test(format) ? text.padStart(2 * format.length, '0') : text;
}

/**
 * Returns `end` as it is, unless the end has a time of its own and the day of the start, as here:
 *
 *   start   "parts": [{ "at": "meta.day", "format": "Ymd" }, { "at": "meta.from", "format": "H:i" }]
 *   end     "parts": [{ "at": "meta.day", "format": "Ymd" }, { "at": "meta.until", "format": "H:i" }]
 *
 * Then a `meta.until` before `meta.from` is a time of the next day. Of an event that starts on May 1 at 20:00:
 *
 *   meta.until    end
 *   22:00         May 1, 22:00
 *   01:00         May 2, 01:00
 *   none          undefined: nobody knows it
 */
export function endOnDayOfStart(start: FieldAccessor, end: FieldAccessor): FieldAccessor {
  const ownPaths = end.selectedPaths.filter((path) => !start.selectedPaths.includes(path));
  const hasDayOfStart = end.selectedPaths.some((path) => start.selectedPaths.includes(path));
  if (!hasDayOfStart || ownPaths.length === 0) return end;
  const read: FieldAccessor['read'] = (cmsRecord, zones) => {
    const [from, to] = [start.read(cmsRecord, zones), end.read(cmsRecord, zones)];
    if (typeof from !== 'string' || typeof to !== 'string' || to >= from) return to;
    // Without `meta.until` the end reads as the midnight at which the day begins (`datePartsAccessor`).
    const hasTime = ownPaths.some((path) => readAt(cmsRecord, path.split('.')));
    return hasTime ? wallAfter(to, DAY_MS) : undefined;
  };
  const write: FieldAccessor['write'] = (value, target) => {
    // The start is in the body: it is written before the end, and sent along with it (`sendDependentTogether`).
    const from = start.read(target.body, target.zones);
    // `from` is May 1, 20:00, and `value` May 2, 01:00: stored is `dayBefore`, May 1, 01:00, with the day of the start.
    const dayBefore = wallAfter(String(value), -DAY_MS);
    const isDayOfStart = typeof from === 'string' && dayBefore.slice(0, 10) === from.slice(0, 10);
    end.write?.(isDayOfStart && dayBefore < from ? dayBefore : value, target);
  };
  return { ...end, read, ...(end.write && { write }) };
}
