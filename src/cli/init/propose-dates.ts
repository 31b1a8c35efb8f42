// Proposes which fields of a post type hold the start and the end of its events.

import { ConfigError } from '../../errors.ts';
import type { FieldSpec } from '../../mapping/mapping-file.ts';
import { isObject } from '../../model/json.ts';
import { formatSample } from '../field-samples.ts';
import {
  DATE_WORDS,
  END_WORDS,
  fieldWords,
  nameScore,
  normalizedName,
  START_WORDS,
  TIME_WORDS,
  UNRELATED_DATE_WORDS,
  UTC_WORDS,
} from './field-synonyms.ts';
import { type InferredDate, inferDate, inferTimeFormat } from './infer-codecs.ts';
import type { SourceField } from './probe.ts';

/** Names of a flag that have a word for a date in them. */
const ALL_DAY_WORDS = fieldWords('event', 'all_day');

export interface ProposedDate {
  source: string | FieldSpec;
  reason: string;
}

/** What samples may leave open. */
export interface DateDecisions {
  /** Of `01/02/2027`. */
  dateOrder?: 'dmy' | 'mdy' | undefined;
  /** Seconds since 1970 count the instant (`utc`), or the local time as if it were in UTC (`wall`). */
  seconds?: 'wall' | 'utc' | undefined;
  /** As in PHP's `date()`, for values whose form `init` does not find. */
  dateFormat?: string | undefined;
}

export type DateQuestion = 'dateOrder' | 'seconds';

export interface ProposedDates {
  /** Holds the date of the start. */
  startField: SourceField;
  start: ProposedDate;
  end: ProposedDate;
  openQuestions: DateQuestion[];
}

/**
 * Returns undefined if no field looks like the start of an event.
 * @param named the start, if the operator named it: perhaps a field that the site does not show yet
 */
export function proposeDates(
  fields: readonly SourceField[],
  decisions: DateDecisions = {},
  named?: string,
): ProposedDates | undefined {
  const related = fields.filter(({ path }) => !UNRELATED_DATE_WORDS.test(normalizedName(path)));
  const dates = related.filter((field) => isDateField(field, decisions));
  const found =
    named === undefined
      ? bestField(
          dates.filter(({ path }) => !isEnd(path)),
          ({ path }) => nameScore(path, START_WORDS) * 2 || nameScore(path, DATE_WORDS),
        )
      : fieldAt(splitDate(named).date, fields);
  // No name tells the start: the only date is one.
  const filled = dates.filter(({ values }) => values.length > 0);
  const startField = found ?? (filled.length === 1 ? filled[0] : undefined);
  if (!startField) return undefined;
  const isGuess = named === undefined && startField.values.length === 0;
  if (isGuess && unreadableFields(related, decisions).length > 0) return undefined;
  const endField = bestField(
    dates.filter((field) => field !== startField && isEnd(field.path)),
    (field) => nameScore(field.path, END_WORDS) + similarity(field, startField),
  );
  const inferred = inferDate(startField.values, decisions.dateFormat);
  const openQuestions: ProposedDates['openQuestions'] = [];
  if (inferred?.alternative && decisions.dateOrder === undefined) openQuestions.push('dateOrder');
  if (inferred?.format === 'unix' && decisions.seconds === undefined) openQuestions.push('seconds');
  const start =
    (named === undefined ? undefined : namedDate(named, fields, decisions)) ??
    proposeDate(startField, START_WORDS, fields, decisions);
  const end = endField
    ? proposeDate(endField, END_WORDS, fields, decisions)
    : endWithoutDate(startField, start, fields, decisions);
  return { startField, start, end, openQuestions };
}

/**
 * The date that the operator named, in the format of its values: `meta.start`, or `meta.day,meta.time` for a
 * date and a time of day. Returns undefined for one field that shows no values that are dates.
 */
export function namedDate(
  named: string,
  fields: readonly SourceField[],
  decisions: DateDecisions,
): ProposedDate | undefined {
  const { date, time } = splitDate(named);
  const field = fieldAt(date, fields);
  const inferred = decided(field, decisions);
  if (time !== undefined) {
    if (inferred?.hasTime && !field.values.every(isMidnight))
      throw new ConfigError(
        '--field',
        `"${date}" has a time of day itself`,
        'Name that field alone, without a second one.',
      );
    const timeField = fieldAt(time, fields);
    const isSeen = inferred !== undefined && inferTimeFormat(timeField.values) !== undefined;
    return {
      source: dateAndTime(date, inferred?.format ?? 'Y-m-d', timeField),
      reason: isSeen
        ? `reads as ${formatSample(field.values[0])} ${formatSample(timeField.values[0])}`
        : 'no record shows a value yet, so the usual formats are assumed',
    };
  }
  if (inferred === undefined) return undefined;
  const proposed = proposeDate(field, isEnd(date) ? END_WORDS : START_WORDS, fields, decisions);
  const hasTime = inferred.hasTime || (typeof proposed.source === 'object' && proposed.source.parts !== undefined);
  const hint = hasTime ? '' : `; if the time of day is in another field, name both: ${date},PATH`;
  return { ...proposed, reason: proposed.reason + hint };
}

/** Fields that are named like a start, and have texts of which no form of a date is known. */
export const unreadableFields = (fields: readonly SourceField[], decisions: DateDecisions = {}): SourceField[] =>
  fields.filter(
    ({ path, values }) =>
      nameScore(path, START_WORDS) > 0 &&
      values.some((value) => /\d/.test(String(value))) &&
      inferDate(values, decisions.dateFormat) === undefined &&
      inferTimeFormat(values) === undefined,
  );

/** The field of a date that the operator named of whose values none can be read. */
export function unreadableNamed(
  named: string,
  fields: readonly SourceField[],
  { dateFormat }: DateDecisions,
): SourceField | undefined {
  const { date, time = '' } = splitDate(named);
  const [dateField, timeField] = [fieldAt(date, fields), fieldAt(time, fields)];
  if (dateField.values.length > 0 && !inferDate(dateField.values, dateFormat)) return dateField;
  return timeField.values.length > 0 && !inferTimeFormat(timeField.values) ? timeField : undefined;
}

function splitDate(named: string): { date: string; time: string | undefined } {
  const [date = '', time] = named.split(',');
  return { date, time };
}

const fieldAt = (path: string, fields: readonly SourceField[]): SourceField =>
  fields.find((each) => each.path === path) ?? { path, type: undefined, values: [] };

const isEnd = (path: string): boolean => END_WORDS.test(normalizedName(path));

/** By its values; without values, by its name. */
function isDateField({ values, type, path }: SourceField, { dateFormat }: DateDecisions): boolean {
  if (values.length > 0) return inferDate(values, dateFormat) !== undefined;
  const name = normalizedName(path);
  return (
    /^(string|integer)$/.test(type ?? 'string') &&
    (DATE_WORDS.test(name) || /date/.test(name) || /(^|_)(starts?|begins?|ends?)$/.test(name)) &&
    !ALL_DAY_WORDS.test(name) &&
    (!TIME_WORDS.test(name) || START_WORDS.test(name) || END_WORDS.test(name)) &&
    !/zone/.test(name)
  );
}

function decided({ values }: SourceField, decisions: DateDecisions): InferredDate | undefined {
  const { dateOrder, seconds, dateFormat } = decisions;
  const inferred = inferDate(values, dateFormat);
  if (inferred?.format === 'unix' && seconds === 'wall') {
    const unix = isObject(inferred.as) && isObject(inferred.as.unix) ? inferred.as.unix : {};
    return { ...inferred, as: { unix: { wallClockAsUtc: true, ...unix } } };
  }
  return dateOrder === 'mdy' && inferred?.alternative ? inferred.alternative : inferred;
}

function proposeDate(
  field: SourceField,
  words: RegExp,
  fields: readonly SourceField[],
  decisions: DateDecisions,
): ProposedDate {
  const { path, values } = field;
  const inferred = decided(field, decisions);
  if (!inferred)
    return { source: path, reason: 'has a similar name; no record has a value yet, so the usual format is assumed' };
  const { format, unit, hasTime, alternative } = inferred;
  const reason = `reads as ${unit ? `${unit} since 1970` : `a date (${format})`}: ${formatSample(values[0])}`;
  const time = hasTime ? undefined : findTimeField(words, fields);
  if (time)
    return {
      source: dateAndTime(path, format, time),
      reason: `${reason}; the time is in ${time.path}: ${formatSample(time.values[0])}`,
    };
  const isUtc = UTC_WORDS.test(normalizedName(path)) && hasTime && format !== 'unix';
  const as = isUtc ? { 'utc-datetime': format } : inferred.as;
  const isAssumed = alternative && decisions.dateOrder === undefined;
  return {
    source: as === undefined ? path : { at: path, as },
    reason: isAssumed ? `${reason}; day first is assumed` : reason,
  };
}

/** Many plugins store a day as the midnight at which it begins. */
const isMidnight = (value: unknown): boolean => typeof value === 'string' && /[ T]00:00(?::00)?$/.test(value);

const dateAndTime = (path: string, format: string, time: SourceField): FieldSpec => ({
  parts: [
    { at: path, format },
    { at: time.path, format: inferTimeFormat(time.values) ?? 'H:i' },
  ],
});

function findTimeField(words: RegExp, fields: readonly SourceField[]): SourceField | undefined {
  const times = fields.filter(({ values }) => inferTimeFormat(values) !== undefined);
  const named = bestField(times, ({ path }) => nameScore(path, words));
  if (named || words === END_WORDS) return named;
  return bestField(
    times.filter(({ path }) => !isEnd(path)),
    ({ path }) => nameScore(path, TIME_WORDS),
  );
}

/** The end is a time on the day of the start, or the start itself. */
function endWithoutDate(
  startField: SourceField,
  start: ProposedDate,
  fields: readonly SourceField[],
  decisions: DateDecisions,
): ProposedDate {
  const inferred = decided(startField, decisions);
  const time = inferred && !inferred.hasTime ? findTimeField(END_WORDS, fields) : undefined;
  if (inferred && time)
    return {
      source: dateAndTime(startField.path, inferred.format, time),
      reason: `on the day of the start, at the time in ${time.path}: ${formatSample(time.values[0])}`,
    };
  return {
    source: { ...(typeof start.source === 'string' ? { at: start.source } : start.source), readOnly: true },
    reason: 'no field looks like an end: events end when they start, and the gateway stores no end',
  };
}

/** Pairs `event_start` with `event_end`, by their common words. */
function similarity(a: SourceField, b: SourceField): number {
  const [first, second] = [normalizedName(a.path).split('_'), normalizedName(b.path).split('_')];
  const common = first.filter((word) => second.includes(word)).length;
  return (2 * common) / (first.length + second.length) + (a.path.split('.')[0] === b.path.split('.')[0] ? 0.5 : 0);
}

/** Prefers a field with values, and a local date to the same date in UTC. */
function bestField(fields: readonly SourceField[], score: (field: SourceField) => number): SourceField | undefined {
  const scored = fields.map((field) => {
    const bonus = (field.values.length > 0 ? 2 : 0) - (UTC_WORDS.test(normalizedName(field.path)) ? 4 : 0);
    return { field, score: score(field) && score(field) + bonus };
  });
  return scored.filter((each) => each.score > 0).sort((a, b) => b.score - a.score)[0]?.field;
}
