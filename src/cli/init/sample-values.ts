// What sample values say: the format of a date or time, the two values of a boolean, the form of ids.

import type { CodecSpec } from '../../mapping/codecs/codec.ts';
import { type DateFormat, parseDateFormat } from '../../mapping/date-format.ts';
import { isObject } from '../../model/json.ts';
import type { SourceField } from './site.ts';

export interface InferredDate {
  /** The codec in the mapping; undefined for the default format. */
  as: CodecSpec | undefined;
  /** As in PHP's `date()`; `unix` for a count since 1970. */
  format: string;
  hasTime: boolean;
  /** The value as a text that sorts by time. */
  read(value: unknown): string;
  /** The format with day and month exchanged, if that fits every sample too. */
  alternative?: string;
}

const DEFAULT_FORMAT = 'Y-m-d H:i:s';
const ANY_DAY = '2027-05-01';

/** The forms that are tried, the likelier first. For any other the operator names its form: `--date-format`. */
const DAYS = [
  ...['Y-m-d', 'Ymd', 'Y/m/d', 'd.m.Y', 'j.n.Y', 'd.m.y', 'd-m-Y', 'm-d-Y'],
  ...['d/m/Y', 'm/d/Y', 'j/n/Y', 'n/j/Y', 'F j, Y', 'j F Y', 'M j, Y', 'j M Y'],
];
const TIMES = ['H:i', 'H:i:s', 'g:i a', 'g:i A', 'h:i a', 'h:i A'];
const ISO = ['Y-m-d\\TH:i', 'Y-m-d\\TH:i:s', 'Y-m-d\\TH:i:s\\Z', 'Y-m-d\\TH:i:sP', 'Y-m-d\\TH:i:s.v\\Z'];
const FORMATS = [...DAYS, ...DAYS.flatMap((day) => TIMES.map((time) => `${day} ${time}`)), ...ISO].flatMap(compiled);

/** A count since 1970, in the years 2000 to 2100. */
const isCount = (value: unknown, perSecond: number): boolean =>
  /^\d{9,13}$/.test(String(value)) &&
  Number(value) > 946_684_800 * perSecond &&
  Number(value) < 4_102_444_800 * perSecond;

/**
 * The format that fits every sample; undefined if none does, or without samples.
 * @param named the format that the operator named: it has to fit one sample
 */
export function inferDate(values: readonly unknown[], named?: string): InferredDate | undefined {
  const texts = values.filter((value) => typeof value === 'string');
  const [chosen] = named === undefined ? [] : compiled(named);
  if (chosen && texts.some((text) => isRead(chosen, text))) return inferredDate(chosen, texts);
  if (values.length === 0) return undefined;
  const asText = texts.length === values.length;
  const isUnix = values.every((value) => isCount(value, 1));
  if (isUnix || values.every((value) => isCount(value, 1000))) {
    const options = { ...(asText && { asText }), ...(!isUnix && { milliseconds: true }) };
    const as = Object.keys(options).length > 0 ? { unix: options } : 'unix';
    return { as, format: 'unix', hasTime: true, read: (value) => String(value).padStart(13, '0') };
  }
  if (!asText) return undefined;
  const fitting = FORMATS.filter((format) => texts.every((text) => isRead(format, text)));
  // `d/m/Y` and `j/n/Y` both read 01/05/2027, and only the former writes it so.
  const written = (format: DateFormat) => texts.filter((text) => format.write(format.read(text) ?? '') === text).length;
  const [best] = fitting.toSorted((a, b) => written(b) - written(a));
  if (!best) return undefined;
  const exchanged = best.text.replace(/[djmn]/g, (letter) => ({ d: 'm', j: 'n', m: 'd', n: 'j' })[letter] ?? letter);
  const other = fitting.find(({ text }) => text === exchanged);
  return { ...inferredDate(best, texts), ...(other && { alternative: other.text }) };
}

function compiled(text: string): DateFormat[] {
  const format = parseDateFormat(text);
  return typeof format === 'string' || format.writeOnly ? [] : [format];
}

function isRead(format: DateFormat, text: string): boolean {
  const wall = format.read(text) ?? '';
  return wall > '1970' && wall < '2100';
}

function inferredDate(format: DateFormat, texts: readonly string[]): InferredDate {
  const { text, hasTime } = format;
  const isUtc = text.endsWith('\\Z') || texts.every((each) => /\+00:?00$/.test(each));
  const as = isUtc ? { 'utc-datetime': text } : { 'local-datetime': text };
  const read = (value: unknown) => format.read(String(value)) ?? '';
  return { as: text === DEFAULT_FORMAT ? undefined : as, format: text, hasTime, read };
}

/** The format of a time of day, as in PHP's `date()`. */
export function inferTimeFormat(values: readonly unknown[]): string | undefined {
  if (!values.every((value) => typeof value === 'string')) return undefined;
  const format = inferDate(values.map((value) => `${ANY_DAY} ${value}`))?.format;
  return format?.startsWith('Y-m-d ') ? format.slice('Y-m-d '.length) : undefined;
}

const BOOLEAN_PAIRS: readonly (readonly [unknown, unknown])[] = [
  ['yes', 'no'],
  ['on', 'off'],
  ['true', 'false'],
  ['1', '0'],
  [1, 0],
];

/** The codec of a boolean: `null` for the default one, `undefined` if the values are not booleans. */
export function inferBoolean({ values, type }: SourceField): CodecSpec | null | undefined {
  if (type === 'boolean' || (values.length > 0 && values.every((value) => typeof value === 'boolean'))) return null;
  if (values.length === 0) return type === 'integer' ? { boolean: [1, 0] } : undefined;
  const pair = BOOLEAN_PAIRS.find(([yes, no]) => values.every((value) => value === yes || value === no));
  return pair && { boolean: [pair[0], pair[1]] };
}

export interface InferredIds {
  /** Undefined for an array of ids. */
  as: CodecSpec | undefined;
  ids: number[];
}

/** The integers of a value that may be ids of records. */
export function idsIn(value: unknown): number[] {
  if (Array.isArray(value)) return value.flatMap(idsIn);
  if (isObject(value)) return idsIn(value.ID ?? value.id);
  if (typeof value === 'string' && /^\d{1,9}(,\s*\d{1,9})*$/.test(value)) return value.split(',').map(Number);
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value < 1e9 ? [value] : [];
}

/** The form of the ids in a field; undefined if a value is not an id. */
export function inferIds({ values: allValues, type }: SourceField): InferredIds | undefined {
  // Pods sends false for an empty relation.
  const values = allValues.filter((value) => value !== false);
  const ids = values.flatMap(idsIn);
  if (values.length === 0 && type === 'integer') return { as: { ids: 'one' }, ids };
  if (values.length === 0) return type === 'array' ? { as: undefined, ids } : undefined;
  if (!values.every((value) => idsIn(value).length > 0)) return undefined;
  const object = values.flat().find(isObject);
  if (object) return { as: { ids: { objects: 'ID' in object ? 'ID' : 'id' } }, ids };
  if (values.every((value) => Array.isArray(value))) return { as: undefined, ids };
  // A site with a text field refuses numbers.
  return { as: { ids: values.every((value) => typeof value === 'string') ? 'csv' : 'one' }, ids };
}
