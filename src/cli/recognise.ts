// Guesses what a value is by looking at samples of it: which spelling of a date, a time, a yes or no, a list of ids.

import { parseDateFormat } from '../mapping/date-format.ts';
import { isObject } from '../mapping/paths.ts';
import type { CodecSource } from '../mapping/source.ts';
import { idsIn, type Place } from './probe.ts';

export interface DateGuess {
  /** How it is said in a mapping; undefined for the usual spelling. */
  as: CodecSource | undefined;
  /** In PHP's letters; `unix` for seconds. */
  format: string;
  hasTime: boolean;
  /** Day and month could be the other way round in every sample: the other way. */
  other?: DateGuess;
}

const USUAL = 'Y-m-d H:i:s';
const PLAIN = [USUAL, 'Y-m-d H:i', 'Y-m-d\\TH:i:s', 'Y-m-d\\TH:i', 'Y-m-d', 'Ymd', 'j.n.Y H:i', 'j.n.Y'];
const SLASHED = ['j/n/Y g:i a', 'n/j/Y g:i a', 'j/n/Y H:i', 'n/j/Y H:i', 'j/n/Y', 'n/j/Y'];
const NAMED = ['F j, Y g:i a', 'F j, Y', 'j F Y H:i', 'j F Y'];
const IN_UTC = ['Y-m-d\\TH:i:s\\Z', 'Y-m-d\\TH:i:s.000\\Z', 'Y-m-d\\TH:i:s+00:00'];
const TIMES = ['H:i:s', 'H:i', 'g:i a', 'g:ia'];
const SOME_DAY = '2027-05-01';

/** Seconds since 1970 of the years 2000 to 2100. */
const isUnix = (value: unknown): boolean =>
  /^\d{9,10}$/.test(String(value)) && Number(value) > 946_684_800 && Number(value) < 4_102_444_800;

/** The spelling that fits every sample; `undefined` without samples, or where one fits none. */
export function guessDate(values: readonly unknown[]): DateGuess | undefined {
  if (values.length === 0) return undefined;
  if (values.every(isUnix)) {
    const asText = values.every((value) => typeof value === 'string');
    return { as: asText ? { unix: { asText } } : 'unix', format: 'unix', hasTime: true };
  }
  if (!values.every((value) => typeof value === 'string')) return undefined;
  const texts = values as string[];
  const utc = IN_UTC.find((format) => fits(format, texts));
  if (utc !== undefined) return { as: { 'utc-datetime': utc }, format: utc, hasTime: true };
  const found = [...PLAIN, ...SLASHED, ...NAMED]
    .filter((format) => fits(format, texts))
    .map((format) => guess(spelled(format, texts)));
  const [first, second] = found;
  if (!first) return undefined;
  return second && first.format.includes('/') && second.hasTime === first.hasTime ? { ...first, other: second } : first;
}

function fits(format: string, texts: readonly string[]): boolean {
  const compiled = parseDateFormat(format);
  return typeof compiled !== 'string' && texts.every((text) => compiled.read(text) !== undefined);
}

/** With the zeros before, and the capitals, that the samples have: what is written has to look like what is there. */
function spelled(format: string, texts: readonly string[]): string {
  const padded = format.replace('j', 'd').replace('n', 'm');
  const wide = /[jn]/.test(format) && fits(padded, texts) && !/F/.test(format) ? padded : format;
  const capital = texts.some((text) => /[AP]M/.test(text)) ? wide.replace(/a$/, 'A') : wide;
  return texts.some((text) => /\b0\d:\d\d ?[ap]m/i.test(text)) ? capital.replace('g', 'h') : capital;
}

function guess(format: string): DateGuess {
  return { as: format === USUAL ? undefined : { 'local-datetime': format }, format, hasTime: /[Hg]/i.test(format) };
}

/** The spelling of a time of day, in PHP's letters. */
export function guessTime(values: readonly unknown[]): string | undefined {
  if (values.length === 0 || !values.every((value) => typeof value === 'string')) return undefined;
  const texts = (values as string[]).map((text) => `${SOME_DAY} ${text}`);
  const found = TIMES.find((format) => fits(`Y-m-d ${format}`, texts));
  return found && spelled(`Y-m-d ${found}`, texts).slice('Y-m-d '.length);
}

const PAIRS: readonly (readonly [unknown, unknown])[] = [
  ['yes', 'no'],
  ['on', 'off'],
  ['true', 'false'],
  ['1', '0'],
  [1, 0],
];

/** The codec for a yes or no: `null` where the usual one fits, `undefined` where it is none. */
export function guessBoolean({ values, type }: Place): CodecSource | null | undefined {
  if (type === 'boolean' || (values.length > 0 && values.every((value) => typeof value === 'boolean'))) return null;
  if (values.length === 0) return type === 'integer' ? { boolean: [1, 0] } : undefined;
  const pair = PAIRS.find(([yes, no]) => values.every((value) => value === yes || value === no));
  return pair && { boolean: [pair[0], pair[1]] };
}

export interface IdsGuess {
  /** Undefined for a plain list. */
  as: CodecSource | undefined;
  ids: number[];
}

/** How ids of records are written down in a place; `undefined` where something in it is no id. */
export function guessIds({ values: given, type }: Place): IdsGuess | undefined {
  // Pods answers an empty relation with false.
  const values = given.filter((value) => value !== false);
  const ids = values.flatMap(idsIn);
  if (values.length === 0)
    return type === 'integer' ? { as: { ids: 'one' }, ids } : type === 'array' ? { as: undefined, ids } : undefined;
  if (!values.every((value) => idsIn(value).length > 0)) return undefined;
  const whole = values.flat().find(isObject);
  if (whole) return { as: { ids: { objects: 'ID' in whole ? 'ID' : 'id' } }, ids };
  if (values.every((value) => Array.isArray(value))) return { as: undefined, ids };
  // A text stays a text: a site that registered one refuses numbers.
  return { as: { ids: values.every((value) => typeof value === 'string') ? 'csv' : 'one' }, ids };
}
