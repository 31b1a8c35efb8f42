// Calls locutus's `strtotime` independently of the process's time zone, and reads zone abbreviations from its
// table.

import { strtotime } from 'locutus/php/datetime/strtotime';

/**
 * Reads a date text without a zone as UTC. Returns milliseconds since 1970, in whole seconds, or `undefined`
 * if the text is not a date. `nowMs` is the time that relative texts refer to.
 *
 * locutus uses the local getters of `Date`, so the process is set to UTC during the call. A process that runs
 * in UTC already is not changed. Inside a worker thread the setting has no effect.
 */
export function strtotimeUtc(text: string, nowMs: number): number | undefined {
  const zone = process.env.TZ;
  if (zone !== 'UTC') process.env.TZ = 'UTC';
  try {
    const seconds = strtotime(text, Math.floor(nowMs / 1000));
    return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds * 1000 : undefined;
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else if (zone !== 'UTC') process.env.TZ = zone;
  }
}

// After `1970-01-01 00:00:00` these words are valid too, but they are not zones.
const NOT_ZONES = new Set(['now', 'today', 'noon', 'ago', 'thu']);
const MAX_OFFSET_MINUTES = 14 * 60;

/**
 * The offset of a zone abbreviation in PHP's table (`EST`, `cest`, the military letters), in any letter case:
 * minutes east of UTC, or `undefined` if the word is not an abbreviation. Reading a date with the zone
 * reveals the offset in locutus's copy of that table.
 */
export function abbreviationMinutes(word: string): number | undefined {
  if (!/^[a-z]{1,6}$/i.test(word) || NOT_ZONES.has(word.toLowerCase())) return undefined;
  const ms = strtotimeUtc(`1970-01-01 00:00:00 ${word}`, 0);
  if (ms === undefined) return undefined;
  const minutes = Math.round(-ms / 60_000);
  // Adding 0 turns -0 into 0.
  return Math.abs(minutes) <= MAX_OFFSET_MINUTES ? minutes + 0 : undefined;
}
