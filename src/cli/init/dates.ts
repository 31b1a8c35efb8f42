// Which fields of a collection hold the start and the end of its events: by their names, and by what their values say.

import { ConfigError } from '../../errors.ts';
import type { FieldSpec } from '../../mapping/mapping-file.ts';
import { isObject } from '../../model/json.ts';
import { likeness, plainName, similarity } from '../names.ts';
import { formatSample } from '../samples.ts';
import { type InferredDate, inferDate, inferTimeFormat } from './sample-values.ts';
import { fieldAt, type SourceField } from './site.ts';

type Source = string | FieldSpec;

/** What the operator says of dates, by options or in answers. */
export interface DateDecisions {
  /** Of `01/02/2027`. */
  dateOrder?: 'dmy' | 'mdy' | undefined;
  /** Seconds since 1970 count the instant (`utc`), or the local time as if it were in UTC (`wall`). */
  seconds?: 'wall' | 'utc' | undefined;
  /** As in PHP's `date()`, for values whose form `init` does not find. */
  dateFormat?: string | undefined;
  /** `event.start_date` -> path; `none` leaves the field out. */
  fields?: Record<string, string> | undefined;
}

export interface ProposedDates {
  /** Holds the date of the start. */
  startField: SourceField;
  start: Source;
  end: Source;
  /** What the samples leave open, and what is assumed then. */
  assumed: string[];
}

type End = 'start_date' | 'end_date';

const DAY_FIRST = 'that the day comes before the month in dates; else add --date-order mdy --force';
const INSTANTS = 'that seconds since 1970 count the instant; else add --seconds wall --force';
const noTime = (path: string) =>
  `that events begin at midnight, because ${path} has no time of day; if another field has it, name both: --field event.start_date=${path},PATH --force`;
const NO_END =
  'that events end when they start, because no field looks like an end, and the gateway stores none; else add --field event.end_date=PATH --force';

/** Dates that are not the start or end of an event. */
const UNRELATED =
  /creat|modif|updat|publish|expir|deadline|registration|booking|sales?(_|$)|door|reminder|seconds|import/;

/**
 * Returns undefined if no field looks like the start of an event. Throws `ConfigError` if the operator named a field of
 * whose values none can be read.
 */
export function proposeDates(fields: readonly SourceField[], decisions: DateDecisions = {}): ProposedDates | undefined {
  const named = decisions.fields ?? {};
  const related = fields.filter(({ path }) => !UNRELATED.test(plainName(path)));
  const dates = related.filter((field) => isDate(field, decisions));
  const times = related.filter(({ values }) => inferTimeFormat(values) !== undefined);
  const [namedStart, namedEnd] = [named['event.start_date'], named['event.end_date']];
  const startField = namedStart === undefined ? findStart(dates, decisions) : splitNamed(namedStart, fields).date;
  if (!startField) return undefined;
  // A start without values beside one whose values cannot be read: the latter is likelier, and not understood.
  if (namedStart === undefined && startField.values.length === 0 && unreadableFields(related, decisions).length > 0)
    return undefined;
  const endField = findEnd(dates, startField, decisions);
  const start =
    namedStart === undefined
      ? momentOf(startField, findTime('start_date', times), decisions)
      : namedMoment('start_date', namedStart, fields, times, decisions);
  const inferred = inferDecided(startField, decisions);
  const assumed: string[] = [];
  if (inferred?.alternative && decisions.dateOrder === undefined) assumed.push(DAY_FIRST);
  if (inferred?.format === 'unix' && decisions.seconds === undefined) assumed.push(INSTANTS);
  if (inferred && !inferred.hasTime && (typeof start === 'string' || start.parts === undefined))
    assumed.push(noTime(startField.path));
  const end = (): Source => {
    if (namedEnd !== undefined) return namedMoment('end_date', namedEnd, fields, times, decisions);
    if (endField) return momentOf(endField, findTime('end_date', times), decisions);
    // A time on the day of the start.
    const time = inferred && !inferred.hasTime ? findTime('end_date', times) : undefined;
    if (inferred && time) return inParts(startField.path, inferred.format, time);
    assumed.push(NO_END);
    return { ...(typeof start === 'string' ? { at: start } : start), readOnly: true };
  };
  return { startField, start, end: end(), assumed };
}

/** Fields that are named like a start, and have texts of which no form of a date is known. */
export const unreadableFields = (fields: readonly SourceField[], decisions: DateDecisions = {}): SourceField[] =>
  fields.filter(
    ({ path, values }) =>
      likeness(path, 'start_date') > 0 &&
      values.some((value) => /\d/.test(String(value))) &&
      inferDate(values, decisions.dateFormat) === undefined &&
      inferTimeFormat(values) === undefined,
  );

/** By its values; without values, by its name. */
function isDate({ values, type, path }: SourceField, { dateFormat }: DateDecisions): boolean {
  if (values.length > 0) return inferDate(values, dateFormat) !== undefined;
  const isNamed = likeness(path, 'start_date') > 0 || likeness(path, 'end_date') > 0 || likeness(path, 'date') > 0;
  const isOther = likeness(path, 'all_day') > 0 || likeness(path, 'timezone') > 0;
  return /^(string|integer)$/.test(type ?? 'string') && isNamed && !isOther;
}

/** By the name; else the only date, or the earlier one of two. */
function findStart(dates: readonly SourceField[], decisions: DateDecisions): SourceField | undefined {
  const isEnd = ({ path }: SourceField): boolean => likeness(path, 'end_date') > 0;
  const score = ({ path }: SourceField): number => likeness(path, 'start_date') * 2 || likeness(path, 'date');
  const named = best(
    dates.filter((each) => !isEnd(each)),
    score,
  );
  const [first, second, third] = dates.filter(({ values }) => values.length > 0);
  if (named || !first || third) return named;
  if (!second) return first;
  if (isEnd(first) || isNeverBefore(first, second, decisions)) return second;
  return isEnd(second) || isNeverBefore(second, first, decisions) ? first : undefined;
}

/** By the name; else the only other date, if it is never before the start. */
function findEnd(dates: readonly SourceField[], start: SourceField, decisions: DateDecisions): SourceField | undefined {
  const others = dates.filter((field) => field !== start);
  const isBesideStart = (path: string) => (path.split('.')[0] === start.path.split('.')[0] ? 0.5 : 0);
  const named = best(others, ({ path }) => {
    const score = likeness(path, 'end_date');
    // Pairs `event_start` with `event_end`.
    return score && score + isBesideStart(path) + similarity(plainName(path), plainName(start.path));
  });
  const [only, another] = others.filter(({ values }) => values.length > 0);
  if (named || !only || another || likeness(only.path, 'utc') > 0) return named;
  return isNeverBefore(only, start, decisions) ? only : undefined;
}

/** Prefers a field with values, and a local date to the same date in UTC. */
function best(fields: readonly SourceField[], score: (field: SourceField) => number): SourceField | undefined {
  const scored = fields.map((field) => {
    const bonus = (field.values.length > 0 ? 1 : 0) - (likeness(field.path, 'utc') > 0 ? 2 : 0);
    return { field, score: score(field) && score(field) + bonus };
  });
  return scored.filter((each) => each.score !== 0).sort((a, b) => b.score - a.score)[0]?.field;
}

/** Record by record; false if one of the fields is not in every record that has the other. */
function isNeverBefore(late: SourceField, early: SourceField, decisions: DateDecisions): boolean {
  const [a, b] = [late, early].map(({ values }) => {
    const read = inferDate(values, decisions.dateFormat)?.read;
    return read ? values.map((value) => read(value)) : [];
  });
  return a!.length > 0 && a!.length === b!.length && a!.every((each, at) => each >= b![at]!);
}

/**
 * The time of day of a start or end: by the name; else the only one is that of the start, or of two the later that of
 * the end.
 */
function findTime(end: End, times: readonly SourceField[]): SourceField | undefined {
  const isStart = end === 'start_date';
  const free = times.filter(({ path }) => likeness(path, isStart ? 'end_date' : 'start_date') === 0);
  const named =
    best(free, ({ path }) => likeness(path, end)) ?? (isStart && best(free, ({ path }) => likeness(path, 'time')));
  const [first, second, third] = free;
  if (named || !first || third) return named || undefined;
  if (!second) return isStart ? first : undefined;
  const onAnyDay = ({ values }: SourceField) => values.map((value) => `2027-05-01 ${String(value)}`);
  const [one, other] = [first, second].map((field) => ({ ...field, values: onAnyDay(field) }));
  return isNeverBefore(other!, one!, {}) === isStart ? first : second;
}

/** With what the operator decided of it. */
function inferDecided({ values }: SourceField, decisions: DateDecisions): InferredDate | undefined {
  const { dateOrder, seconds, dateFormat } = decisions;
  const inferred = inferDate(values, dateFormat);
  if (inferred?.format === 'unix' && seconds === 'wall') {
    const unix = isObject(inferred.as) && isObject(inferred.as.unix) ? inferred.as.unix : {};
    return { ...inferred, as: { unix: { wallClockAsUtc: true, ...unix } } };
  }
  return dateOrder === 'mdy' && inferred?.alternative ? inferred.alternative : inferred;
}

function momentOf(field: SourceField, time: SourceField | undefined, decisions: DateDecisions): Source {
  const { path } = field;
  const inferred = inferDecided(field, decisions);
  if (!inferred) return path;
  const { format, hasTime } = inferred;
  if (time && !hasTime) return inParts(path, format, time);
  const isUtc = likeness(path, 'utc') > 0 && hasTime && format !== 'unix';
  const as = isUtc ? { 'utc-datetime': format } : inferred.as;
  return as === undefined ? path : { at: path, as };
}

const inParts = (path: string, format: string, time: SourceField): FieldSpec => ({
  parts: [
    { at: path, format },
    { at: time.path, format: inferTimeFormat(time.values) ?? 'H:i' },
  ],
});

/** `meta.start`, or `meta.day,meta.time` for a date and a time of day. */
function splitNamed(named: string, fields: readonly SourceField[]) {
  const [date = '', time] = named.split(',');
  return { date: fieldAt(date, fields), time: time === undefined ? undefined : fieldAt(time, fields) };
}

/** Many plugins store a day as the midnight at which it begins. */
const isMidnight = (value: unknown): boolean => typeof value === 'string' && /[ T]00:00(?::00)?$/.test(value);

/** The date that the operator named, in the format of its values: perhaps a field that the site does not show yet. */
function namedMoment(
  end: End,
  named: string,
  fields: readonly SourceField[],
  times: readonly SourceField[],
  decisions: DateDecisions,
): Source {
  const { date, time } = splitNamed(named, fields);
  const inferred = inferDecided(date, decisions);
  const isTimeRead = time === undefined || inferTimeFormat(time.values) !== undefined;
  const unread = [...(inferred ? [] : [date]), ...(isTimeRead || !time ? [] : [time])];
  const unreadable = unread.find(({ values }) => values.length > 0);
  if (unreadable)
    throw new ConfigError(
      `--field event.${end}=${named}`,
      `${unreadable.path} has no value that init can read: ${unreadable.values.slice(0, 3).map(formatSample).join(', ')}`,
      `If it holds the date, say its form: --field event.${end}=${named} --date-format 'd/m/Y H:i' (letters: docs/mapping.md, Dates). If not, name another field.`,
    );
  if (time) {
    if (inferred?.hasTime && !date.values.every(isMidnight))
      throw new ConfigError(
        '--field',
        `"${date.path}" has a time of day itself`,
        'Name that field alone, without a second one.',
      );
    return inParts(date.path, inferred?.format ?? 'Y-m-d', time);
  }
  return momentOf(date, findTime(end, times), decisions);
}
