// Finds where a type of a site keeps the begin and the end of its events.

import type { FieldSource, PartSource } from '../mapping/source.ts';
import type { Place } from './probe.ts';
import { type DateGuess, guessDate, guessTime } from './recognise.ts';
import { END, nameScore, OTHER_DATE, plainName, START, shown, TIME, UTC_TWIN, WHEN } from './words.ts';

export interface DateLine {
  line: string | FieldSource;
  reason: string;
  /** The place that holds the day. */
  place: Place;
  guess: DateGuess | undefined;
}

/** What only the operator may know. */
export interface DateAnswers {
  /** For `01/02/2027`. */
  dateOrder?: 'dmy' | 'mdy';
  /** For seconds since 1970: the clock on the wall counted as UTC, or the instant. */
  seconds?: 'wall' | 'utc';
}

export interface Dates {
  start: DateLine | undefined;
  end: DateLine | undefined;
  /** What could not be found out from the samples. */
  open: (keyof DateAnswers)[];
}

/** The lines for `start_date` and `end_date` that a type's places suggest. */
export function proposeDates(places: readonly Place[], answers: DateAnswers = {}): Dates {
  const days = places.filter((place) => !OTHER_DATE.test(plainName(place.path)) && isDay(place));
  const start = best(days, (place) =>
    END.test(plainName(place.path)) ? 0 : nameScore(place, START) * 2 || nameScore(place, WHEN),
  );
  if (!start) return { start: undefined, end: undefined, open: [] };
  const end = best(
    days,
    (place) => (place === start ? 0 : nameScore(place, END) + likeness(place, start)),
    (place) => END.test(plainName(place.path)),
  );
  const guess = answered(guessDate(start.values), answers);
  const open: Dates['open'] = [];
  if (guess?.other && answers.dateOrder === undefined) open.push('dateOrder');
  if (guess?.format === 'unix' && answers.seconds === undefined) open.push('seconds');
  return { start: lineOf(start, START, places, answers), end: endLine(end, start, places, answers), open };
}

function answered(guess: DateGuess | undefined, { dateOrder, seconds }: DateAnswers): DateGuess | undefined {
  if (guess?.format === 'unix' && seconds === 'wall') {
    const asText = typeof guess.as === 'object' && guess.as.unix?.asText === true;
    return { ...guess, as: { unix: { wallClockAsUtc: true, ...(asText ? { asText } : {}) } } };
  }
  return dateOrder === 'mdy' && guess?.other ? guess.other : guess;
}

/** Values that are days, or none yet and a name that says so. */
function isDay({ values, type, path }: Place): boolean {
  if (values.length > 0) return guessDate(values) !== undefined;
  const name = plainName(path);
  if (type !== undefined && type !== 'string' && type !== 'integer') return false;
  return (
    (WHEN.test(name) || /date/.test(name)) &&
    (!TIME.test(name) || START.test(name) || END.test(name)) &&
    !/zone/.test(name)
  );
}

function lineOf(day: Place, words: RegExp, places: readonly Place[], answers: DateAnswers): DateLine {
  const guess = answered(guessDate(day.values), answers);
  const example = day.values[0];
  if (!guess)
    return {
      line: day.path,
      place: day,
      guess,
      reason: 'named like it; no record has a value yet, so the usual spelling is assumed',
    };
  const seen = `reads as ${guess.format === 'unix' ? 'seconds since 1970' : `a date (${guess.format})`}: ${shown(example)}`;
  const time = guess.hasTime ? undefined : timeFor(words, places);
  if (time)
    return {
      place: day,
      guess,
      ...split(day, guess, time),
      reason: `${seen}; the time is beside it: ${shown(time.values[0])}`,
    };
  const ambiguous = guess.other && answers.dateOrder === undefined ? '; day first is assumed' : '';
  const clock = UTC_TWIN.test(plainName(day.path)) && guess.hasTime && guess.format !== 'unix';
  const as = clock ? { 'utc-datetime': guess.format } : guess.as;
  return { line: as === undefined ? day.path : { at: day.path, as }, place: day, guess, reason: seen + ambiguous };
}

function split(day: Place, guess: DateGuess, time: Place): { line: FieldSource } {
  const parts: PartSource[] = [
    { at: day.path, format: guess.format },
    { at: time.path, format: guessTime(time.values) ?? 'H:i' },
  ];
  return { line: { parts } };
}

function timeFor(words: RegExp, places: readonly Place[]): Place | undefined {
  const times = places.filter((place) => guessTime(place.values) !== undefined);
  return (
    best(times, (place) => nameScore(place, words)) ??
    (words === START
      ? best(times, (place) => (END.test(plainName(place.path)) ? 0 : nameScore(place, TIME)))
      : undefined)
  );
}

function endLine(end: Place | undefined, start: Place, places: readonly Place[], answers: DateAnswers): DateLine {
  if (end) return lineOf(end, END, places, answers);
  const guess = answered(guessDate(start.values), answers);
  const time = guess && !guess.hasTime ? timeFor(END, places) : undefined;
  if (guess && time)
    return {
      place: start,
      guess,
      ...split(start, guess, time),
      reason: `on the day of the begin, at the time of ${time.path}: ${shown(time.values[0])}`,
    };
  const { line } = lineOf(start, START, places, answers);
  const at = typeof line === 'string' ? { at: line } : line;
  return {
    line: { ...at, readOnly: true },
    place: start,
    guess,
    reason: 'no end was found: events end when they begin, and an end is not stored',
  };
}

/** The name that differs least from the other's goes with it: `event_start`, `event_end`. */
function likeness(one: Place, other: Place): number {
  const [a, b] = [plainName(one.path).split('_'), plainName(other.path).split('_')];
  const same = a.filter((word) => b.includes(word)).length;
  return (2 * same) / (a.length + b.length) + (one.path.split('.')[0] === other.path.split('.')[0] ? 0.5 : 0);
}

function best(
  places: readonly Place[],
  score: (place: Place) => number,
  allowed: (place: Place) => boolean = () => true,
): Place | undefined {
  const scored = places
    .filter(allowed)
    // A date with a value counts before one without, a local one before its twin in UTC.
    .map((place) => ({
      place,
      score:
        score(place) &&
        score(place) + (place.values.length > 0 ? 2 : 0) - (UTC_TWIN.test(plainName(place.path)) ? 4 : 0),
    }))
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score);
  return scored[0]?.place;
}
