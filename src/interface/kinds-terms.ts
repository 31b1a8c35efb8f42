// Kinds that name categories and tags: by id, slug or name.

import type { TermKind } from '../records.ts';
import { every, type ValueKind } from './value-kind.ts';
import { empty, list, numeric, positiveInteger } from './values.ts';

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

/** Terms to attach, by id, slug or name; new names are created. Objects are no terms. */
export const attachedTerms: ValueKind = {
  schema: {
    oneOf: [{ type: 'array', items: { type: ['integer', 'string'] } }, { type: 'string' }, { type: 'integer' }],
  },
  accepts: (value) => list(value).every((item) => typeof item !== 'object' || item === null),
  read: list,
};
