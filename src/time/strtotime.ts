/** Owns the one call into locutus' `strtotime`, made independent of the zone the process runs in. */

import { strtotime } from 'locutus/php/datetime/strtotime';

/**
 * Reads a date text by a UTC clock. locutus computes with the local getters of `Date`, so for the length of the call the
 * process is put into UTC (this costs nothing when it runs there already, and has no effect inside a worker thread).
 *
 * @param text a date text without a zone
 * @param nowMs what "now" is, milliseconds since 1970
 * @returns milliseconds since 1970 in whole seconds, or `undefined` when it cannot be read
 */
export function strtotimeUtc(text: string, nowMs: number): number | undefined {
  const before = process.env.TZ;
  if (before !== 'UTC') process.env.TZ = 'UTC';
  try {
    const seconds = strtotime(text, Math.floor(nowMs / 1000));
    return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds * 1000 : undefined;
  } finally {
    if (before === undefined) delete process.env.TZ;
    else if (before !== 'UTC') process.env.TZ = before;
  }
}

// These words read as a moment of 1970-01-01 too, so the probe below would take them for zones.
const NO_ZONES = new Set(['now', 'today', 'noon', 'ago', 'thu']);
const MOST_MINUTES = 14 * 60;

/**
 * The offset of a zone abbreviation as PHP's own table has it (`EST`, `cest`, the military letters), any case.
 * The table is the one inside locutus, asked by reading a date with that zone.
 *
 * @returns minutes east of UTC, or `undefined` when the word is no abbreviation
 */
export function abbreviationMinutes(word: string): number | undefined {
  if (!/^[a-z]{1,6}$/i.test(word) || NO_ZONES.has(word.toLowerCase())) return undefined;
  const ms = strtotimeUtc(`1970-01-01 00:00:00 ${word}`, 0);
  if (ms === undefined) return undefined;
  const minutes = Math.round(-ms / 60_000);
  return Math.abs(minutes) <= MOST_MINUTES ? minutes + 0 : undefined;
}
