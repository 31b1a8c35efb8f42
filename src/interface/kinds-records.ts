// Kinds that name records, users and images: by id, by slug, or by the data of a record that is to be made.

import type { Kind, LinkedKind, PostKind } from '../records.ts';
import { text } from './kinds-plain.ts';
import { every, type Lookups, type ValueKind } from './value-kind.ts';
import { empty, isObject, list, numeric, positiveInteger } from './values.ts';

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

export const author: ValueKind = {
  schema: { type: 'integer' },
  accepts: (value) => (numeric(value) ?? 0) >= 1,
  found: (value, lookups) => lookups.user(Math.trunc(numeric(value)!)),
  typed: 'integer',
  read: numeric,
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

/**
 * Venues or organizers of an event: an id, a list or CSV of ids, one object, a list of objects, or a mix. `fits` says whether an
 * object can be created from, by the parameters of the record's own create route.
 */
export function linked(
  kind: LinkedKind,
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
function linkedItems(value: unknown): unknown[] {
  const items = isObject(value) && !isNumbered(value) ? [value] : list(value);
  return items.filter((one) => !empty(one));
}

/** `organizer[0][organizer]=..&organizer[1]=..` arrives as an object with the keys 0, 1, ... */
function isNumbered(value: Record<string, unknown>): boolean {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => /^\d+$/.test(key));
}
