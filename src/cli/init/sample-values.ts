// What sample values say: the format of a date or time, the two values of a boolean, the form of ids.

import type { CodecSpec } from '../../mapping/codecs/codec.ts';
import { parseDateFormat } from '../../mapping/date-format.ts';
import { isObject } from '../../model/json.ts';
import type { SourceField } from './site.ts';

export interface InferredDate {
  /** The codec in the mapping; undefined for the default format. */
  as: CodecSpec | undefined;
  /** As in PHP's `date()`; `unix` for a count since 1970. */
  format: string;
  /** Of a count since 1970. */
  unit?: 'seconds' | 'milliseconds';
  hasTime: boolean;
  /** The value as a text that sorts by time. */
  read(value: unknown): string;
  /** The same with day and month exchanged, if that fits every sample too. */
  alternative?: InferredDate;
}

const DEFAULT_FORMAT = 'Y-m-d H:i:s';
const ANY_DAY = '2027-05-01';
const LONGEST_DATE = 60;
/** The numbers of a date, in the orders in which sites write them; beside a month by name. */
const DATE_ORDERS = ['Ynj', 'jnY', 'njY', 'jny', 'njy'];
const NAMED_MONTH_ORDERS = ['jY', 'Yj', 'jy'];
const TIME_ORDERS = ['', 'Hi', 'His', 'Hisv', 'Hisu'];
const TWELVE_HOUR_ORDERS = ['g', 'gi', 'gis'];
/** How many digits a letter has, if not one or two. */
const DIGITS: Readonly<Record<string, number>> = { Y: 4, v: 3, u: 6 };
const MONTH = /^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;
/** Words of a date that say nothing more. Any other makes a text unreadable: `EST`, `p.m.` */
const FILLER = /^(T|Z|UTC|GMT|h|Uhr|um|at|de|[à年月日時分])$/i;

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
  if (named !== undefined && texts.some((text) => matchesAll(named, [text]))) return inferredDate(named, texts);
  if (values.length === 0) return undefined;
  const asText = texts.length === values.length;
  const isUnix = values.every((value) => isCount(value, 1));
  if (isUnix || values.every((value) => isCount(value, 1000))) {
    const options = { ...(asText && { asText }), ...(!isUnix && { milliseconds: true }) };
    const as = Object.keys(options).length > 0 ? { unix: options } : 'unix';
    const read = (value: unknown) => String(value).padStart(13, '0');
    return { as, format: 'unix', unit: isUnix ? 'seconds' : 'milliseconds', hasTime: true, read };
  }
  if (!asText) return undefined;
  const formats = candidateFormats(texts[0] ?? '').filter((format) => matchesAll(format, texts));
  const [first] = formats;
  if (first === undefined) return undefined;
  const exchanged = first.replace(/[jn]/g, (letter) => (letter === 'j' ? 'n' : 'j'));
  // Before a dot the day comes first: 03.04.2027. Otherwise only a sample beyond the twelfth tells.
  const isOpen = exchanged !== first && formats.includes(exchanged) && !/[jn]\./.test(first);
  const inferred = inferredDate(matchStyle(first, texts), texts);
  return isOpen ? { ...inferred, alternative: inferredDate(matchStyle(exchanged, texts), texts) } : inferred;
}

/**
 * The formats that a sample may have: its words say what they are (`May`, `pm`), its numbers are tried in each order.
 */
function candidateFormats(sample: string): string[] {
  if (sample.length > LONGEST_DATE) return [];
  // Not `10:00-12:00`, which is a span.
  const [, dated = sample.trim(), offset = ''] =
    /^(.*(?:T\d\d:?\d\d|:\d\d:\d\d|T\d{6})(?:\.\d{1,6})? ?)([+-]\d\d:?\d\d)$/.exec(sample.trim()) ?? [];
  const tokens = dated.match(/\d+|[a-z]+|[^a-z\d]/gi) ?? [];
  const times = tokens.some((token) => /^[ap]m$/i.test(token)) ? TWELVE_HOUR_ORDERS : TIME_ORDERS;
  const dates = tokens.some((token) => MONTH.test(token)) ? NAMED_MONTH_ORDERS : DATE_ORDERS;
  const orders = dates.flatMap((date) => times.flatMap((time) => [date + time, time + date]));
  const formats = ['F', 'M'].flatMap((month) => orders.flatMap((order) => formatIn(order, tokens, month) ?? []));
  const offsetLetter = offset.includes(':') ? 'P' : 'O';
  return formats.map((format) => (offset === '' ? format : format + offsetLetter));
}

/** Gives each number of the sample its letters of an order: `jnY` and `14.04.2027` make `j.n.Y`. */
function formatIn(order: string, tokens: readonly string[], month: string): string | undefined {
  let rest = order;
  let format = '';
  for (const token of tokens) {
    let letters = '';
    for (let width = 0; /\d/.test(token) && width < token.length && rest !== ''; rest = rest.slice(1)) {
      letters += rest.charAt(0);
      width += DIGITS[rest.charAt(0)] ?? 2;
    }
    // Several in one number: 20270414, 193000.
    if (letters.length > 1 && !/^(Ynj|His)/.test(letters)) return undefined;
    const part = letters || wordFormat(token, month);
    if (part === undefined) return undefined;
    format += part;
  }
  // What follows an hour tells it from a day or month: 19:30, 19.30, 19h30, 7 pm.
  return rest === '' && !/[Hg](?!:|\.|\\h|i|時| ?[aA])/.test(format) ? format : undefined;
}

/** A word or a mark of a date, as in a format; undefined for a word that may change what the date means. */
function wordFormat(token: string, month: string): string | undefined {
  if (/^[ap]m$/i.test(token)) return token === token.toUpperCase() ? 'A' : 'a';
  if (MONTH.test(token)) return month;
  if (FILLER.test(token)) return token.replace(/[a-z]/gi, '\\$&');
  return /^[\s!-/:-@[\]_|~]$/.test(token) ? token : undefined;
}

function readerOf(format: string): (text: unknown) => string {
  const compiled = parseDateFormat(format);
  return (text) => (typeof compiled === 'string' || compiled.writeOnly ? '' : (compiled.read(String(text)) ?? ''));
}

function matchesAll(format: string, texts: readonly string[]): boolean {
  const read = readerOf(format);
  return texts.every((text) => read(text) > '1970' && read(text) < '2100');
}

/** Adapts leading zeros to the samples, so that written values look like the existing ones. */
function matchStyle(format: string, texts: readonly string[]): string {
  const padded = format.replace('j', 'd').replace('n', 'm');
  const isPadded =
    matchesAll(padded, texts) && (!/[FM]/.test(format) || texts.some((text) => /\b0\d\b(?!:)/.test(text)));
  const wide = isPadded ? padded : format;
  return texts.some((text) => /\b0\d:\d\d ?[ap]m/i.test(text)) ? wide.replace('g', 'h') : wide;
}

function inferredDate(format: string, texts: readonly string[]): InferredDate {
  const compiled = parseDateFormat(format);
  const isUtc = /\\(Z|C|G\\M\\T)$/.test(format) || texts.every((text) => /\+00:?00$/.test(text));
  const as = isUtc ? { 'utc-datetime': format } : { 'local-datetime': format };
  const hasTime = typeof compiled !== 'string' && compiled.hasTime;
  return { as: format === DEFAULT_FORMAT ? undefined : as, format, hasTime, read: readerOf(format) };
}

/** The format of a time of day, as in PHP's `date()`. */
export function inferTimeFormat(values: readonly unknown[]): string | undefined {
  if (!values.every((value) => typeof value === 'string' && /\D/.test(value))) return undefined;
  const format = inferDate(values.map((value) => `${ANY_DAY} ${String(value)}`))?.format;
  return format?.startsWith('Y-m-d ') && !/[PO]$/.test(format) ? format.slice('Y-m-d '.length) : undefined;
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
