// Kinds of dates and time zones (interface-behaviour 3.1).

import { parsePhpDate, plainDay, unixSeconds } from '../time/php-dates.ts';
import { parseZone, utcZone } from '../time/zones.ts';
import type { ValueKind } from './value-kind.ts';

const readableDate = (value: unknown): boolean => {
  if (typeof value === 'number') return value !== 0 && unixSeconds(String(value)) !== undefined;
  if (typeof value !== 'string' || value === '') return false;
  return (
    plainDay(value) !== undefined ||
    unixSeconds(value) !== undefined ||
    parsePhpDate(value, { nowMs: Date.now(), zone: utcZone }) !== undefined
  );
};

/** A bound of a list: any date text that PHP reads, or Unix seconds (interface-behaviour 3.1). */
export const dateBound: ValueKind = {
  schema: { type: 'string' },
  accepts: (value) => readableDate(value) || value === '0' || value === 0,
  read: (value) => String(value),
};

/** A publication date: date text, not a number. */
export const publicationDate: ValueKind = {
  schema: { type: 'string' },
  accepts: (value) => readableDate(value) && value !== '0',
  typed: 'string',
};

/** Start or end of an event: date text or Unix seconds as text. */
export const eventDate: ValueKind = { ...publicationDate };

export const zone: ValueKind = {
  schema: { type: 'string' },
  accepts: (value) => typeof value === 'string' && (value === '' || parseZone(value) !== undefined),
  typed: 'string',
};
