// Kinds of plain values: counts, flags, words, texts, statuses, addresses.

import type { ValueKind } from './value-kind.ts';
import { boolean, empty, isUrl, list, positiveInteger, truthy } from './values.ts';

const STATUSES = ['publish', 'draft', 'pending', 'private', 'future', 'trash'];
const LISTED_STATUSES = [...STATUSES, 'auto-draft', 'inherit'];

/** A count from one: `page`, `per_page`. */
export const count: ValueKind = {
  schema: { type: 'integer' },
  accepts: (value) => positiveInteger(value) !== undefined,
  read: positiveInteger,
};

export const looseFlag: ValueKind = { schema: { type: 'boolean' }, read: truthy };
/** A loose flag that may not be left blank: `strict_dates`. */
export const strictFlag: ValueKind = {
  schema: { type: 'boolean' },
  accepts: (value) =>
    (typeof value === 'string' && value !== '') || typeof value === 'boolean' || typeof value === 'number',
  read: truthy,
};
export const flag: ValueKind = { schema: { type: 'boolean' }, typed: 'boolean', read: boolean };

/** Needs the ticket extension: switched off it is no filter, switched on it is refused (interface-behaviour 3.2). */
export const tickets: ValueKind = {
  schema: { type: 'boolean' },
  found: (value) =>
    truthy(value) ? { code: 'event-tickets-not-active', message: 'Event Tickets plugin is not activated.' } : true,
  typed: 'boolean',
  read: boolean,
};

export const anything: ValueKind = { schema: {} };
export const coordinate: ValueKind = { schema: { type: 'number' } };

export const text: ValueKind = {
  schema: { type: 'string' },
  accepts: (value) => typeof value === 'string' && !empty(value),
  typed: 'string',
};
/** A text that may be cleared with `''`: the fields of venues and organizers. */
export const blankableText: ValueKind = {
  schema: { type: 'string' },
  accepts: (value) => typeof value === 'string',
  typed: 'string',
};
/** A venue's switches are texts (interface-behaviour 5.7). */
export const textFlag: ValueKind = { schema: { type: 'string' }, typed: 'string', read: truthy };

/** Which statuses a list is asked for: staff may name any registered ones, others only `publish` (interface-behaviour 3.3), nobody none (departures). */
export const listedStatus: ValueKind = {
  schema: { type: 'string' },
  accepts: (value) => list(value).length > 0,
  found: (value, { staff }) =>
    staff ? list(value).every((status) => LISTED_STATUSES.includes(String(status))) : value === 'publish',
  read: (value) => list(value).map(String),
};

export const status: ValueKind = {
  schema: { type: 'string', enum: STATUSES },
  accepts: (value) => typeof value === 'string' && STATUSES.includes(value),
  typed: 'string',
};

/** One of these words, which are in lower case; it may be sent in any. */
export function oneOf(words: readonly string[]): ValueKind {
  return {
    schema: { type: 'string', enum: words },
    accepts: (value) => typeof value === 'string' && words.includes(value.toLowerCase()),
    read: (value) => String(value).toLowerCase(),
  };
}

/** An event's address: a URL, or anything empty for none; an update keeps the text `0` (interface-behaviour 1.1). */
export const website: ValueKind = {
  schema: { type: 'string', format: 'uri' },
  accepts: (value) => empty(value) || (typeof value === 'string' && isUrl(value)),
  read: (value) => (value === 0 || value === '0' ? '0' : empty(value) ? '' : value),
};

/** A venue's or organizer's address: only `''` and `'0'` mean none. */
export const linkedWebsite: ValueKind = {
  schema: { type: 'string', format: 'uri' },
  accepts: (value) => typeof value === 'string' && (empty(value) || isUrl(value)),
  typed: 'string',
  read: (value) => (empty(value) ? '' : value),
};
