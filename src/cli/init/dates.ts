// Which fields of a collection hold the start and the end of its events: by their names, and by what their values say.

import { ConfigError } from '../../errors.ts';
import type { FieldSpec } from '../../mapping/mapping-file.ts';
import { isObject } from '../../model/json.ts';
import { likeness, plainName, similarity } from '../names.ts';
import { formatSample } from '../samples.ts';
import { type InferredDate, inferDate, inferTimeFormat } from './sample-values.ts';
import { fieldAt, type SourceField } from './site.ts';

export interface Moment {
  source: string | FieldSpec;
  reason: string;
}

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
  start: Moment;
  end: Moment;
  /** What the samples leave open. */
  open: ('dateOrder' | 'seconds')[];
}

type End = 'start_date' | 'end_date';

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
  const end = (): Moment => {
    if (namedEnd !== undefined) return namedMoment('end_date', namedEnd, fields, times, decisions);
    if (endField) return momentOf(endField, findTime('end_date', times), decisions);
    return endWithoutDate(startField, start, times, decisions);
  };
  const inferred = inferDate(startField.values, decisions.dateFormat);
  const open: ProposedDates['open'] = [];
  if (inferred?.alternative && decisions.dateOrder === undefined) open.push('dateOrder');
  if (inferred?.format === 'unix' && decisions.seconds === undefined) open.push('seconds');
  return { startField, start, end: end(), open };
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

/** The time of day of a start or end: by the name; else the only one is that of the start, or of two the later that of the end. */
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

function momentOf(field: SourceField, time: SourceField | undefined, decisions: DateDecisions): Moment {
  const { path, values } = field;
  const inferred = inferDecided(field, decisions);
  if (!inferred)
    return { source: path, reason: 'has a similar name; no record has a value yet, so the usual format is assumed' };
  const { format, unit, hasTime, alternative } = inferred;
  const reason = `reads as ${unit ? `${unit} since 1970` : `a date (${format})`}: ${formatSample(values[0])}`;
  if (time && !hasTime)
    return {
      source: inParts(path, format, time),
      reason: `${reason}; the time is in ${time.path}: ${formatSample(time.values[0])}`,
    };
  const isUtc = likeness(path, 'utc') > 0 && hasTime && format !== 'unix';
  const as = isUtc ? { 'utc-datetime': format } : inferred.as;
  const isAssumed = alternative && decisions.dateOrder === undefined;
  return {
    source: as === undefined ? path : { at: path, as },
    reason: isAssumed ? `${reason}; day first is assumed` : reason,
  };
}

const inParts = (path: string, format: string, time: SourceField): FieldSpec => ({
  parts: [
    { at: path, format },
    { at: time.path, format: inferTimeFormat(time.values) ?? 'H:i' },
  ],
});

/** The end is a time on the day of the start, or the start itself. */
function endWithoutDate(
  startField: SourceField,
  start: Moment,
  times: readonly SourceField[],
  decisions: DateDecisions,
): Moment {
  const inferred = inferDecided(startField, decisions);
  const time = inferred && !inferred.hasTime ? findTime('end_date', times) : undefined;
  if (inferred && time)
    return {
      source: inParts(startField.path, inferred.format, time),
      reason: `on the day of the start, at the time in ${time.path}: ${formatSample(time.values[0])}`,
    };
  return {
    source: { ...(typeof start.source === 'string' ? { at: start.source } : start.source), readOnly: true },
    reason: 'no field looks like an end: events end when they start, and the gateway stores no end',
  };
}

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
): Moment {
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
    return {
      source: inParts(date.path, inferred?.format ?? 'Y-m-d', time),
      reason:
        inferred && isTimeRead && time.values.length > 0
          ? `you named it; reads as ${formatSample(date.values[0])} ${formatSample(time.values[0])}`
          : 'you named it; no record shows a value yet, so the usual formats are assumed',
    };
  }
  if (!inferred) return { source: date.path, reason: 'you named it' };
  const { source, reason } = momentOf(date, findTime(end, times), decisions);
  const hasTime = inferred.hasTime || (typeof source === 'object' && source.parts !== undefined);
  const hint = hasTime ? '' : `; if the time of day is in another field, name both: ${date.path},PATH`;
  return { source, reason: `you named it; ${reason}${hint}` };
}
