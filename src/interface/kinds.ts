// The kinds of value a parameter can have: what each accepts, how it is documented, and how it is read.

import type { Kind, PostKind, TermKind } from '../records.ts';
import { parsePhpDate, plainDay, unixSeconds } from '../time/php-dates.ts';
import { parseZone, utcZone } from '../time/zones.ts';
import { boolean, empty, isObject, isUrl, list, numeric, positiveInteger, truthy } from './values.ts';

/** What a check may ask about the world: the records, the caller and the uploads. Answers may come from the CMS. */
export interface Lookups {
  /** Whether the caller may edit own records, that is, sees more than the public does. */
  staff: boolean;
  exists(kind: Kind, id: number): Promise<boolean>;
  slug(kind: PostKind, slug: string): Promise<boolean>;
  /** Id of the term with this slug, id or name, in that order. */
  term(kind: TermKind, text: string): Promise<number | undefined>;
  user(id: number): Promise<boolean>;
  /** Whether the caller may use this as an image: the id of an uploaded image, or the URL of an image. */
  image(value: string | number): Promise<boolean>;
}

/** A refusal that says more than "Invalid parameter." */
export interface NamedRefusal {
  code: string;
  message: string;
}

export interface ValueKind {
  /** JSON Schema of the value as the documentation shows it. */
  schema: { type?: string | string[]; items?: object; format?: string; enum?: readonly string[]; oneOf?: object[] };
  /** First stage: a value that fails is an "Invalid parameter." `null` is left to the second stage. */
  accepts?: (value: unknown) => boolean;
  /** Still the first stage, asked once `accepts` agreed. */
  found?: (value: unknown, lookups: Lookups) => boolean | NamedRefusal | Promise<boolean>;
  /** Second stage: the JSON type, as WordPress checks it. */
  typed?: 'string' | 'boolean' | 'integer';
  /** Accepted value -> what the operation gets. Absent: the value itself. */
  read?: (value: unknown) => unknown;
}

const STATUSES = ['publish', 'draft', 'pending', 'private', 'future', 'trash'];
const LISTED_STATUSES = [...STATUSES, 'auto-draft', 'inherit'];

const nonEmptyText = (value: unknown): boolean => typeof value === 'string' && !empty(value);
const readableDate = (value: unknown): boolean => {
  if (typeof value === 'number') return Number.isFinite(value) && value !== 0;
  if (typeof value !== 'string' || value === '') return false;
  return (
    plainDay(value) !== undefined ||
    unixSeconds(value) !== undefined ||
    parsePhpDate(value, { nowMs: Date.now(), zone: utcZone }) !== undefined
  );
};

async function every<T>(values: T[], holds: (value: T) => boolean | Promise<boolean>): Promise<boolean> {
  for (const value of values) if (!(await holds(value))) return false;
  return true;
}

/** A count from one: `page`, `per_page`. */
export const count: ValueKind = {
  schema: { type: 'integer' },
  accepts: (value) => positiveInteger(value) !== undefined,
  read: positiveInteger,
};

/** A bound of a list: any date text that PHP reads, or Unix seconds (interface-behaviour 3.1). */
export const dateBound: ValueKind = {
  schema: { type: 'string' },
  accepts: (value) => readableDate(value) || value === '0' || value === 0,
  read: (value) => String(value),
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
export const anything: ValueKind = { schema: {} };
export const coordinate: ValueKind = { schema: { type: 'number' } };

export const text: ValueKind = { schema: { type: 'string' }, accepts: nonEmptyText, typed: 'string' };
/** A text that may be cleared with `''`: the fields of venues and organizers. */
export const blankableText: ValueKind = {
  schema: { type: 'string' },
  accepts: (value) => typeof value === 'string',
  typed: 'string',
};
/** A venue's switches are texts (interface-behaviour 5.7). */
export const textFlag: ValueKind = { schema: { type: 'string' }, typed: 'string', read: truthy };

/** Which statuses a list is asked for: staff may name any registered ones, others only `publish` (interface-behaviour 3.3). */
export const listedStatus: ValueKind = {
  schema: { type: 'string' },
  accepts: (value) => typeof value === 'string' || Array.isArray(value),
  found: (value, { staff }) =>
    staff ? list(value).every((status) => LISTED_STATUSES.includes(String(status))) : value === 'publish',
  read: (value) => list(value).map(String),
};

export const status: ValueKind = {
  schema: { type: 'string', enum: STATUSES },
  accepts: (value) => typeof value === 'string' && STATUSES.includes(value),
  typed: 'string',
};

const idList = { oneOf: [{ type: 'array', items: { type: 'integer' } }, { type: 'string' }, { type: 'integer' }] };

/** Ids of one post kind: a list, CSV or one. */
export function ids(kind: PostKind): ValueKind {
  return {
    schema: idList,
    accepts: (value) => list(value).length > 0 && list(value).every((id) => positiveInteger(id) !== undefined),
    found: (value, lookups) => every(list(value), (id) => lookups.exists(kind, positiveInteger(id)!)),
    read: (value) => list(value).map(positiveInteger),
  };
}

/** Ids that need not exist: `include` of the event list. */
export const anyIds: ValueKind = {
  schema: idList,
  accepts: (value) => list(value).length > 0 && list(value).every((id) => positiveInteger(id) !== undefined),
  read: (value) => [...new Set(list(value).map((id) => positiveInteger(id)!))],
};

/** The id in a path, which may have leading zeros and be longer than any id can be. */
export const pathId = (value: unknown): number => Math.min(Number(value), Number.MAX_SAFE_INTEGER);

/** The slug of one existing record. */
export function slug(kind: PostKind): ValueKind {
  return { ...text, found: (value, lookups) => lookups.slug(kind, String(value)) };
}

/** The id of one existing record. */
export function id(kind: Kind): ValueKind {
  return {
    schema: { type: 'integer' },
    accepts: (value) => positiveInteger(value) !== undefined,
    found: (value, lookups) => lookups.exists(kind, positiveInteger(value)!),
    read: positiveInteger,
  };
}

/** Terms by id, slug or name, all of which must exist. Read as texts: which term is meant is the replica's to say. */
export function terms(kind: TermKind): ValueKind {
  return {
    schema: {
      oneOf: [{ type: 'array', items: { type: ['integer', 'string'] } }, { type: 'string' }, { type: 'integer' }],
    },
    accepts: (value) => list(value).length > 0 && list(value).every((item) => typeof item !== 'object' && !empty(item)),
    found: (value, lookups) =>
      every(list(value), async (item) => (await lookups.term(kind, String(item))) !== undefined),
    read: (value) => list(value).map(String),
  };
}

/** The parent to list the children of: an existing category; a slug or a list of existing ones is a wrong type (interface-behaviour 3.6). */
export const parentFilter: ValueKind = {
  schema: { type: 'integer' },
  accepts: (value) => list(value).length > 0 && list(value).every((item) => typeof item !== 'object' && !empty(item)),
  found: (value, lookups) =>
    every(list(value), async (item) => (await lookups.term('category', String(item))) !== undefined),
  typed: 'integer',
  read: positiveInteger,
};

/** The parent of a new category. */
export const parentTerm: ValueKind = {
  schema: { type: 'integer' },
  accepts: (value) => (typeof value === 'string' && !empty(value)) || typeof value === 'number',
  found: async (value, lookups) => (await lookups.term('category', String(value))) !== undefined,
  typed: 'integer',
  read: numeric,
};

/** The parent of a category that is changed: `0` puts it back at the top. */
export const movedTo: ValueKind = {
  ...parentTerm,
  accepts: (value) => numeric(value) === 0 || parentTerm.accepts!(value),
  found: (value, lookups) => numeric(value) === 0 || parentTerm.found!(value, lookups),
};

export function oneOf(words: readonly string[]): ValueKind {
  return {
    schema: { type: 'string', enum: words },
    accepts: (value) => typeof value === 'string' && words.includes(value.toLowerCase()),
    read: (value) => String(value).toLowerCase(),
  };
}

/** Needs the ticket extension: switched off it is no filter, switched on it is refused (interface-behaviour 3.2). */
export const tickets: ValueKind = {
  schema: { type: 'boolean' },
  found: (value) =>
    truthy(value) ? { code: 'event-tickets-not-active', message: 'Event Tickets plugin is not activated.' } : true,
  typed: 'boolean',
  read: boolean,
};

export const author: ValueKind = {
  schema: { type: 'integer' },
  accepts: (value) => (numeric(value) ?? 0) >= 1,
  found: (value, lookups) => lookups.user(Math.trunc(numeric(value)!)),
  typed: 'integer',
  read: numeric,
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

/** Id of an uploaded image as text, or the URL of an image. A JSON number of an image is a wrong type (interface-behaviour 5.1). */
export const image: ValueKind = {
  schema: { type: 'string' },
  accepts: (value) => (typeof value === 'string' && !empty(value)) || typeof value === 'number',
  found: (value, lookups) => lookups.image(value as string | number),
  typed: 'string',
};

/** As `image`, and `''` takes it away: venues and organizers. */
export const clearableImage: ValueKind = {
  ...image,
  accepts: (value) => typeof value === 'string' || typeof value === 'number',
  found: (value, lookups) => value === '' || lookups.image(value as string | number),
};

/** An event's address: a URL, or anything empty for none. */
export const website: ValueKind = {
  schema: { type: 'string', format: 'uri' },
  accepts: (value) => empty(value) || (typeof value === 'string' && isUrl(value)),
  read: (value) => (empty(value) ? '' : value),
};

/** A venue's or organizer's address: only `''` and `'0'` mean none. */
export const linkedWebsite: ValueKind = {
  schema: { type: 'string', format: 'uri' },
  accepts: (value) => typeof value === 'string' && (empty(value) || isUrl(value)),
  typed: 'string',
  read: (value) => (empty(value) ? '' : value),
};

/** Terms to attach, by id, slug or name; new names are created. Objects are no terms. */
export const attachedTerms: ValueKind = {
  schema: {
    oneOf: [{ type: 'array', items: { type: ['integer', 'string'] } }, { type: 'string' }, { type: 'integer' }],
  },
  accepts: (value) => list(value).every((item) => typeof item !== 'object' || item === null),
  read: list,
};

/**
 * Venues or organizers of an event: an id, a list or CSV of ids, one object, a list of objects, or a mix. `fits` says whether an
 * object can be created from, by the parameters of the record's own create route.
 */
export function linked(
  kind: 'venue' | 'organizer',
  fits: (data: Record<string, unknown>, lookups: Lookups) => Promise<boolean>,
): ValueKind {
  const item = async (value: unknown, lookups: Lookups): Promise<boolean> => {
    if (isObject(value) && value.id === undefined) return fits(value, lookups);
    const number = positiveInteger(isObject(value) ? value.id : value);
    return number !== undefined && lookups.exists(kind, number);
  };
  return {
    schema: {
      oneOf: [
        { type: 'integer' },
        { type: 'string' },
        { type: 'object' },
        { type: 'array', items: { type: ['integer', 'string', 'object'] } },
      ],
    },
    found: (value, lookups) => every(linkedItems(value), (one) => item(one, lookups)),
    read: linkedItems,
  };
}

/** The elements of `venue` or `organizer` in an event's body, empty ones left out. */
export function linkedItems(value: unknown): unknown[] {
  const items = isObject(value) && !isNumbered(value) ? [value] : list(value);
  return items.filter((one) => !empty(one));
}

/** `organizer[0][organizer]=..&organizer[1]=..` arrives as an object with the keys 0, 1, ... */
function isNumbered(value: Record<string, unknown>): boolean {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => /^\d+$/.test(key));
}
