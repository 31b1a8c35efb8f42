// Which fields of a collection hold the start and the end of its events: by their names, and by what their values say.
//
//   fields and values                                        what is proposed
//   start_date: 2031-05-01 19:30:00, end_date: ...           these two
//   gig_start: 25/04/2031 7:30 pm, no end                    gig_start in the format d/m/Y g:i a; the end is the start
//   desde: 2031-05-01 19:30:00, hasta: 2031-05-01 22:00:00   the end is the one that is never before the other
//   date: 2031-05-01, start_time: 19:30, end_time: 22:00     start and end in two parts: the day and a time of day
//   start_local, start_utc                                   the local one
//   start: 03/04/2031                                        d/m/Y, which is an assumption: it may be m/d/Y
//   start: 1935430200                                        seconds since 1970, and the assumption that they are UTC
//   created_date, booking_deadline                           nothing: dates of something else than the event

import { ConfigError } from '../../errors.ts';
import { type DateFormat, parseDateFormat } from '../../mapping/date-format.ts';
import { type FieldSpec, fieldSpecOf } from '../../mapping/mapping-file.ts';
import { formatSample } from '../open-site.ts';
import { type FieldLocation, likeness, plainName } from './infer.ts';
import type { SomeOptions } from './options.ts';
import { fieldAt, type SiteField } from './site.ts';

type DateDecisions = SomeOptions<'seconds' | 'dateFormat' | 'fields'>;

const dayFirst = (format: string) =>
  `that the day comes before the month in dates; else add --date-format '${format}' --force`;
const INSTANTS = 'that seconds since 1970 count the instant; else add --seconds wall --force';
const noTime = (path: string) =>
  `that events begin at midnight, because ${path} has no time of day; if another field has it, name ` +
  `both: --field event.start_date=${path},PATH --force`;
const NO_END =
  'that events end when they start, because no field looks like an end, and the gateway stores ' +
  'none; else add --field event.end_date=PATH --force';

/** Dates that are not the start or end of an event. */
const UNRELATED =
  /creat|modif|updat|publish|expir|deadline|registration|booking|sales?(_|$)|door|reminder|seconds|import/;

/**
 * Where the start and the end are. `startField` holds the date of the start, and `assumed` says what the samples leave
 * open. Returns undefined if no field looks like the start of an event. Throws `ConfigError` if the operator named a
 * field of whose values none can be read.
 */
export function proposeDates(fields: readonly SiteField[], decisions: DateDecisions = {}) {
  const namedStart = namedByOperator('start_date', fields, decisions);
  const namedEnd = namedByOperator('end_date', fields, decisions);
  const related = fields.filter(({ path }) => !UNRELATED.test(plainName(path)));
  const dateFields = related.filter((field) => isDate(field, decisions));
  const dates = startAndEnd(dateFields, (values) => readAll(values, decisions), namedStart?.date);
  // Fields with times of day: which holds that of the start, and which that of the end.
  const timeFields = related.filter(({ values }) => inferTimeFormat(values) !== undefined);
  const times = startAndEnd(timeFields, (values) => readAll(onAnyDay(values)));
  const startField = namedStart?.date ?? dates.start;
  if (!startField) return undefined;
  const form = inferDate(startField.values, decisions);
  const isDayAlone = form?.hasTime === false;
  const start = momentOf(startField, namedStart?.time ?? times.start, decisions);
  // `date: 2031-05-01, end_time: 22:00`: the end is on the day of the start.
  const endField = namedEnd?.date ?? dates.end ?? (isDayAlone && times.end ? startField : undefined);
  const end: FieldLocation = endField
    ? momentOf(endField, namedEnd?.time ?? times.end, decisions)
    : { ...fieldSpecOf(start), readOnly: true };
  const assumed: string[] = [];
  if (form?.alternative) assumed.push(dayFirst(form.alternative));
  if (form?.format === 'unix' && decisions.seconds === undefined) assumed.push(INSTANTS);
  if (isDayAlone && !fieldSpecOf(start).parts) assumed.push(noTime(startField.path));
  if (!endField) assumed.push(NO_END);
  return { startField, start, end, assumed };
}

/** Judges a field by its values; without values, by its name. */
function isDate({ values, type, path }: SiteField, decisions: DateDecisions): boolean {
  if (values.length > 0) return inferDate(values, decisions) !== undefined;
  const isNamed = ['start_date', 'end_date', 'date'].some((name) => likeness(path, name) > 0);
  return /^(string|integer)$/.test(type ?? 'string') && isNamed && likeness(path, 'timezone') === 0;
}

/**
 * Finds the start and the end among dates or times of day by their names, and if these do not tell, by their values:
 *
 *   fields with values       start                                       end
 *   start_date, end_date     start_date                                  end_date
 *   start_date, b, c         start_date                                  none: `b` or `c`?
 *   a, b, c                  none                                        none: which two are meant?
 *   start_date, b            start_date                                  b, if it is never before start_date
 *   a, end_date              a, if end_date is never before it           end_date
 *   a, b                     a, if b is never before it; or vice versa   the other one
 *   a                        a                                           none
 * @param read the values of a field as texts that sort by time
 * @param chosen the start that the operator named
 */
function startAndEnd(
  fields: readonly SiteField[],
  read: (values: readonly unknown[]) => string[],
  chosen?: SiteField | undefined,
): { start?: SiteField | undefined; end?: SiteField | undefined } {
  // Times of day too: `end_time` is like `end_date`, of which `end` is another name (`OTHER_NAMES`).
  const endByName = best(fields, 'end_date');
  const noEnds = fields.filter(({ path }) => likeness(path, 'end_date') === 0);
  const startByName = chosen ?? best(noEnds, 'start_date') ?? best(noEnds, 'date');
  const withValues = fields.filter(({ values, path }) => values.length > 0 && !isUtc(path));
  if ((startByName && endByName) || withValues.length > 2) return { start: startByName, end: endByName };
  // Compares the nth values. If one record lacks `a`, and another `b`, values of two records are compared, unnoticed.
  const isNeverBefore = (late: SiteField, early: SiteField): boolean => {
    const [lateTexts, earlyTexts] = [read(late.values), read(early.values)];
    const areAsMany = lateTexts.length > 0 && lateTexts.length === earlyTexts.length;
    return areAsMany && lateTexts.every((text, index) => text >= earlyTexts[index]!);
  };
  const unnamed = withValues.filter((each) => each !== endByName && each !== startByName);
  const isEarliest = (each: SiteField) => withValues.every((late) => late === each || isNeverBefore(late, each));
  const start = startByName ?? unnamed.find(isEarliest);
  const end = endByName ?? (start && unnamed.find((each) => each !== start && isNeverBefore(each, start)));
  return { start, end };
}

const isUtc = (path: string): boolean => likeness(path, 'utc') > 0;

/** Prefers a field with values, and a local date to the same date in UTC. */
function best(fields: readonly SiteField[], name: string): SiteField | undefined {
  const score = ({ path, values }: SiteField) =>
    likeness(path, name) + (values.length > 0 ? 1 : 0) - (isUtc(path) ? 2 : 0);
  return fields.filter(({ path }) => likeness(path, name) > 0).sort((a, b) => score(b) - score(a))[0];
}

/**
 * Where the mapping reads a date, and in which form:
 *
 *   meta.day              meta.time   in the mapping
 *   2031-05-01            19:30       parts: meta.day as Y-m-d, meta.time as H:i
 *   2031-05-01 00:00:00   19:30       parts: meta.day as Y-m-d 00:00:00, meta.time as H:i (`isDay`)
 *   2031-05-01 19:30:00   any         meta.day: it has the time of day itself
 *   01.05.2031 19:30      none        meta.day, as local-datetime
 */
function momentOf(date: SiteField, time: SiteField | undefined, decisions: DateDecisions): FieldLocation {
  const form = inferDate(date.values, decisions);
  if (time && (!form?.hasTime || isDay(date)))
    return {
      parts: [
        { at: date.path, format: (form?.format ?? 'Y-m-d').replace(/H:i$/, '00:00').replace(/H:i:s$/, '00:00:00') },
        { at: time.path, format: inferTimeFormat(time.values) ?? 'H:i' },
      ],
    };
  if (form === undefined) return date.path;
  // `start_utc: 2031-05-01 17:30:00`: its values do not say that they are UTC (`textForm`), only its name does.
  const isUtcByName = isUtc(date.path) && form.hasTime && form.format !== 'unix';
  const as = isUtcByName ? { 'utc-datetime': form.format } : form.as;
  return as === undefined ? date.path : { at: date.path, as };
}

/** Many plugins store a day as the midnight that begins it. Writes keep it: `Y-m-d H:i:s` becomes `Y-m-d 00:00:00`. */
const isDay = ({ values }: SiteField): boolean =>
  values.every((value) => typeof value === 'string' && /[ T]00:00(?::00)?$/.test(value));

/** The date that the operator named: `meta.start`, or `meta.day,meta.time`. Throws `ConfigError` if unreadable. */
function namedByOperator(name: 'start_date' | 'end_date', fields: readonly SiteField[], decisions: DateDecisions) {
  const option = decisions.fields?.[`event.${name}`];
  if (option === undefined) return undefined;
  const [datePath = '', timePath] = option.split(',');
  const date = fieldAt(datePath, fields);
  const time = timePath === undefined ? undefined : fieldAt(timePath, fields);
  const unreadDate = inferDate(date.values, decisions) === undefined ? [date] : [];
  const unreadTime = time && inferTimeFormat(time.values) === undefined ? [time] : [];
  // A field without values may be one that the site does not show yet.
  const unread = [...unreadDate, ...unreadTime].find(({ values }) => values.length > 0);
  if (unread)
    throw new ConfigError(
      `--field event.${name}=${option}`,
      `${unread.path} has no value that init can read: ${unread.values.slice(0, 3).map(formatSample).join(', ')}`,
      `If it holds the date, say its form: --field event.${name}=${option} --date-format 'd/m/Y H:i' ` +
        '(letters: docs/mapping.md, Dates). If not, name another field.',
    );
  return { date, time };
}

/** What the values of a field have in common. */
interface DateForm {
  /** The codec in the mapping; undefined for the default format. */
  as: FieldSpec['as'];
  /** As in PHP's `date()`; `unix` for a count since 1970. */
  format: string;
  hasTime: boolean;
  /** The value as a text that sorts by time. */
  read(value: unknown): string;
  /** The format with day and month exchanged, if that fits every sample too. */
  alternative?: string;
}

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
 * The form that fits every sample; undefined if none does, or without samples. A format that the operator named has to
 * fit one sample. `25/04/2031` is d/m/Y; `03/04/2031` is too, with the alternative m/d/Y; `1935430200` is `unix`.
 */
export function inferDate(
  values: readonly unknown[],
  { dateFormat, seconds }: DateDecisions = {},
): DateForm | undefined {
  const texts = values.filter((value) => typeof value === 'string');
  const areTexts = texts.length === values.length;
  const [chosen] = dateFormat === undefined ? [] : compiled(dateFormat);
  if (chosen && texts.some((text) => isRead(chosen, text))) return textForm(chosen, texts);
  if (values.length === 0) return undefined;
  const countsSeconds = values.every((value) => isCount(value, 1));
  if (countsSeconds || values.every((value) => isCount(value, 1000))) {
    const options = {
      ...(seconds === 'wall' && { wallClockAsUtc: true }),
      ...(areTexts && { asText: true }),
      ...(!countsSeconds && { milliseconds: true }),
    };
    const as = Object.keys(options).length > 0 ? { unix: options } : 'unix';
    return { as, format: 'unix', hasTime: true, read: (value) => String(value).padStart(13, '0') };
  }
  return areTexts ? inferText(texts) : undefined;
}

/** Texts that sort by time. */
function readAll(values: readonly unknown[], decisions: DateDecisions = {}): string[] {
  const form = inferDate(values, decisions);
  return values.map((value) => form?.read(value) ?? '');
}

function inferText(texts: readonly string[]): DateForm | undefined {
  const fitting = FORMATS.filter((format) => texts.every((text) => isRead(format, text)));
  // `d/m/Y` and `j/n/Y` both read 01/05/2027, and only the former writes it so.
  const written = (format: DateFormat) => texts.filter((text) => format.write(format.read(text) ?? '') === text).length;
  const [best] = fitting.toSorted((a, b) => written(b) - written(a));
  if (!best) return undefined;
  const exchanged = best.text.replace(/[djmn]/g, (letter) => ({ d: 'm', j: 'n', m: 'd', n: 'j' })[letter] ?? letter);
  const other = fitting.find(({ text }) => text === exchanged);
  return { ...textForm(best, texts), ...(other && { alternative: other.text }) };
}

function textForm(format: DateFormat, texts: readonly string[]): DateForm {
  const { text, hasTime } = format;
  const isInUtc = text.endsWith('\\Z') || texts.every((each) => /\+00:?00$/.test(each));
  const as = isInUtc ? { 'utc-datetime': text } : { 'local-datetime': text };
  const read = (value: unknown) => format.read(String(value)) ?? '';
  return { as: text === 'Y-m-d H:i:s' ? undefined : as, format: text, hasTime, read };
}

function compiled(text: string): DateFormat[] {
  const format = parseDateFormat(text);
  return typeof format === 'string' || format.whyWriteOnly ? [] : [format];
}

function isRead(format: DateFormat, text: string): boolean {
  const wall = format.read(text) ?? '';
  return wall > '1970' && wall < '2100';
}

/** The format of a time of day, as in PHP's `date()`. */
export function inferTimeFormat(values: readonly unknown[]): string | undefined {
  const format = inferDate(onAnyDay(values))?.format;
  return format?.startsWith('Y-m-d ') ? format.slice('Y-m-d '.length) : undefined;
}

/** `19:30` is read as `2027-05-01 19:30`: every format that is tried has a day. */
const onAnyDay = (times: readonly unknown[]): string[] => times.map((time) => `2027-05-01 ${time}`);
