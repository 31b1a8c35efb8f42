// Infers codecs from sample values: the format of a date or time, the two values of a boolean, the form of ids.

import type { CodecSpec } from '../../mapping/codecs/codec.ts';
import { parseDateFormat } from '../../mapping/date-format.ts';
import { isObject } from '../../model/json.ts';
import { idsIn, type SourceField } from './probe.ts';

export interface InferredDate {
  /** The codec in the mapping; undefined for the default format. */
  as: CodecSpec | undefined;
  /** As in PHP's `date()`; `unix` for seconds since 1970. */
  format: string;
  hasTime: boolean;
  /** The same with day and month exchanged, if that fits every sample too. */
  alternative?: InferredDate;
}

const DEFAULT_FORMAT = 'Y-m-d H:i:s';
const PLAIN_FORMATS = [
  DEFAULT_FORMAT,
  'Y-m-d H:i',
  'Y-m-d\\TH:i:s',
  'Y-m-d\\TH:i',
  'Y-m-d',
  'Ymd',
  'j.n.Y H:i',
  'j.n.Y',
];
const SLASHED_FORMATS = ['j/n/Y g:i a', 'n/j/Y g:i a', 'j/n/Y H:i', 'n/j/Y H:i', 'j/n/Y', 'n/j/Y'];
const MONTH_NAME_FORMATS = ['F j, Y g:i a', 'F j, Y', 'j F Y H:i', 'j F Y'];
const UTC_FORMATS = ['Y-m-d\\TH:i:s\\Z', 'Y-m-d\\TH:i:s.000\\Z', 'Y-m-d\\TH:i:s+00:00'];
const TIME_FORMATS = ['H:i:s', 'H:i', 'g:i a', 'g:ia'];
const ANY_DAY = '2027-05-01';

/** Seconds since 1970, in the years 2000 to 2100. */
const isUnix = (value: unknown): boolean =>
  /^\d{9,10}$/.test(String(value)) && Number(value) > 946_684_800 && Number(value) < 4_102_444_800;

/** The format that fits every sample; undefined if none does, or without samples. */
export function inferDate(values: readonly unknown[]): InferredDate | undefined {
  if (values.length === 0) return undefined;
  if (values.every(isUnix)) {
    const asText = values.every((value) => typeof value === 'string');
    return { as: asText ? { unix: { asText } } : 'unix', format: 'unix', hasTime: true };
  }
  if (!values.every((value) => typeof value === 'string')) return undefined;
  const texts = values as string[];
  const utc = UTC_FORMATS.find((format) => matchesAll(format, texts));
  if (utc !== undefined) return { as: { 'utc-datetime': utc }, format: utc, hasTime: true };
  const matches = [...PLAIN_FORMATS, ...SLASHED_FORMATS, ...MONTH_NAME_FORMATS]
    .filter((format) => matchesAll(format, texts))
    .map((format) => inferredDate(matchStyle(format, texts)));
  const [first, second] = matches;
  if (!first) return undefined;
  return second && first.format.includes('/') && second.hasTime === first.hasTime
    ? { ...first, alternative: second }
    : first;
}

function matchesAll(format: string, texts: readonly string[]): boolean {
  const compiled = parseDateFormat(format);
  return typeof compiled !== 'string' && texts.every((text) => compiled.read(text) !== undefined);
}

/** Adapts leading zeros and capitals to the samples, so that written values look like the existing ones. */
function matchStyle(format: string, texts: readonly string[]): string {
  const padded = format.replace('j', 'd').replace('n', 'm');
  const wide = /[jn]/.test(format) && matchesAll(padded, texts) && !/F/.test(format) ? padded : format;
  const capital = texts.some((text) => /[AP]M/.test(text)) ? wide.replace(/a$/, 'A') : wide;
  return texts.some((text) => /\b0\d:\d\d ?[ap]m/i.test(text)) ? capital.replace('g', 'h') : capital;
}

function inferredDate(format: string): InferredDate {
  return {
    as: format === DEFAULT_FORMAT ? undefined : { 'local-datetime': format },
    format,
    hasTime: /[Hg]/i.test(format),
  };
}

/** The format of a time of day, as in PHP's `date()`. */
export function inferTimeFormat(values: readonly unknown[]): string | undefined {
  if (values.length === 0 || !values.every((value) => typeof value === 'string')) return undefined;
  const texts = (values as string[]).map((text) => `${ANY_DAY} ${text}`);
  const format = TIME_FORMATS.find((each) => matchesAll(`Y-m-d ${each}`, texts));
  return format && matchStyle(`Y-m-d ${format}`, texts).slice('Y-m-d '.length);
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
