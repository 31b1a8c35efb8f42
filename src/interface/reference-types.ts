// The parameter types of references to records, terms, users and images.

import { isObject } from '../model/json.ts';
import type { Kind, LinkedKind, PostKind, TermKind } from '../model/records.ts';
import { isEmpty, parseList, parseNumber, parsePositiveInteger, text } from './param-types.ts';
import type { Parameter, ParamType, ReferenceChecks } from './parameter.ts';

// Records, users and images

const ID_LIST = { oneOf: [{ type: 'array', items: { type: 'integer' } }, { type: 'string' }, { type: 'integer' }] };

const isIdList = (value: unknown): boolean =>
  parseList(value).length > 0 && parseList(value).every((id) => parsePositiveInteger(id) !== undefined);

/** The id of an existing record. */
export function existingId(kind: Kind): ParamType {
  return {
    schema: { type: 'integer' },
    hint: `There is no such ${kind}. Write the id of one that exists.`,
    accepts: (value) => parsePositiveInteger(value) !== undefined,
    verify: (value, checks) => checks.exists(kind, parsePositiveInteger(value)!),
    parse: parsePositiveInteger,
  };
}

/** Ids of existing records: a list, CSV or one id. */
export function existingIds(kind: PostKind): ParamType {
  return {
    schema: ID_LIST,
    hint: `There is no such ${kind}. Write ids of existing ones: 4,7.`,
    isList: true,
    accepts: isIdList,
    verify: (value, checks) => everyAsync(parseList(value), (id) => checks.exists(kind, parsePositiveInteger(id)!)),
    parse: (value) => parseList(value).map(parsePositiveInteger),
  };
}

/** Ids that need not exist: `include` of the event list. */
export const uncheckedIds: ParamType = {
  schema: ID_LIST,
  hint: 'Write ids: 7,9.',
  isList: true,
  accepts: isIdList,
  parse: (value) => [...new Set(parseList(value).map((id) => parsePositiveInteger(id)!))],
};

/** Parses the id in a path, which may have leading zeros and more digits than an id can have. */
export const parsePathId = (value: unknown): number => Math.min(Number(value), Number.MAX_SAFE_INTEGER);

/** The slug of an existing record. */
export function existingSlug(kind: PostKind): ParamType {
  const hint = `There is no ${kind} with this slug.`;
  return { ...text, hint, verify: (value, checks) => checks.slugExists(kind, String(value)) };
}

export const author: ParamType = {
  schema: { type: 'integer' },
  hint: 'Write the id of an account of the CMS.',
  accepts: (value) => (parseNumber(value) ?? 0) >= 1,
  verify: (value, checks) => checks.userExists(Math.trunc(parseNumber(value)!)),
  jsonType: 'integer',
  parse: parseNumber,
};

/**
 * The id of an uploaded image, as text, or the URL of an image. A JSON number passes the first stage but not
 * the second.
 */
export const image: ParamType = {
  schema: { type: 'string' },
  hint: 'Write the id of an uploaded image, or the URL of an image that this gateway can reach.',
  accepts: (value) => (typeof value === 'string' && !isEmpty(value)) || typeof value === 'number',
  verify: (value, checks) => checks.isUsableImage(value as string | number),
  jsonType: 'string',
};

/** An image that `''` or `'0'` removes: venues and organizers. */
export const clearableImage: ParamType = {
  ...image,
  accepts: (value) => typeof value === 'string' || typeof value === 'number' || isEmpty(value),
  verify: (value, checks) => isEmpty(value) || checks.isUsableImage(value as string | number),
  parse: (value) => (isEmpty(value) ? '' : value),
};

/**
 * Venues or organizers of an event: an id, a list or CSV of ids, an object, a list of objects, or a mix.
 * @param parameters of the create route of the kind, for an object from which the record would be created
 */
export function linkedRecords(kind: LinkedKind, parameters: readonly Parameter[]): ParamType {
  /**
   * As in The Events Calendar, the blank name of a venue passes here and fails when the venue is created;
   * that of an organizer fails here.
   */
  async function isCreatable(data: Record<string, unknown>, checks: ReferenceChecks): Promise<boolean> {
    for (const { name, type, required } of parameters) {
      const value = data[name];
      if (value === undefined || value === null) {
        if (required) return false;
        continue;
      }
      if (required && kind === 'venue' && value === '') continue;
      if (type.accepts && !type.accepts(value)) return false;
      if (type.verify && (await type.verify(value, checks)) !== true) return false;
    }
    return true;
  }

  const isValid = async (value: unknown, checks: ReferenceChecks): Promise<boolean> => {
    if (isObject(value) && isEmpty(value.id)) return isCreatable(value, checks);
    const id = parsePositiveInteger(isObject(value) ? value.id : value);
    return id !== undefined && checks.exists(kind, id);
  };
  return {
    hint: `Write the id of an existing ${kind}, several ids, or an object with the name of a new ${kind} in "${kind}".`,
    schema: {
      oneOf: [
        { type: 'integer' },
        { type: 'string' },
        { type: 'object' },
        { type: 'array', items: { type: ['integer', 'string', 'object'] } },
      ],
    },
    isList: true,
    verify: (value, checks) => everyAsync(parseLinkedItems(value), (item) => isValid(item, checks)),
    parse: parseLinkedItems,
  };
}

/**
 * The elements of `venue` or `organizer` in an event's body: none if all are empty. An empty one beside
 * others is no record.
 */
function parseLinkedItems(value: unknown): unknown[] {
  if (isObject(value) && !isNumbered(value)) return isEmpty(value) ? [] : [value];
  const items = Array.isArray(value) ? value : parseList(value);
  return items.every(isEmpty) ? [] : items;
}

/** The form field `organizer[0][organizer]` arrives as an object with the keys 0, 1, ... */
function isNumbered(value: Record<string, unknown>): boolean {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => /^\d+$/.test(key));
}

// Terms

const TERM_LIST = {
  oneOf: [{ type: 'array', items: { type: ['integer', 'string'] } }, { type: 'string' }, { type: 'integer' }],
};

const isTermList = (value: unknown): boolean =>
  parseList(value).length > 0 && parseList(value).every((item) => typeof item !== 'object' && !isEmpty(item));

/** Whether a category can be meant as a parent. A number is an id, also where a category has it as its slug. */
async function isCategory(value: unknown, checks: ReferenceChecks): Promise<boolean> {
  const id = parsePositiveInteger(value);
  return id === undefined
    ? (await checks.findTerm('category', String(value))) !== undefined
    : checks.exists('category', id);
}

/** Existing terms by id, slug or name. Parses to ids. */
export function existingTerms(kind: TermKind): ParamType {
  return {
    schema: TERM_LIST,
    hint: `There is no such ${kind}. Write ids or slugs of existing ones: 4,music.`,
    isList: true,
    accepts: isTermList,
    async verify(value, checks) {
      const ids: number[] = [];
      for (const item of parseList(value)) {
        const id = await checks.findTerm(kind, String(item));
        if (id === undefined) return false;
        ids.push(id);
      }
      return { parsed: ids };
    },
  };
}

/**
 * Parent in a list of categories: the id of an existing one. A slug or a list of existing ones fails in the
 * second stage.
 */
export const parentFilter: ParamType = {
  schema: { type: 'integer' },
  hint: 'There is no such category. Write the id of one that exists.',
  accepts: isTermList,
  verify: (value, checks) => everyAsync(parseList(value), (item) => isCategory(item, checks)),
  jsonType: 'integer',
  parse: parsePositiveInteger,
};

/** The parent of a new category. */
export const parentTerm: ParamType = {
  schema: { type: 'integer' },
  hint: 'There is no such category. Write the id of one that exists.',
  accepts: (value) => (typeof value === 'string' && !isEmpty(value)) || typeof value === 'number',
  verify: isCategory,
  jsonType: 'integer',
  parse: parseNumber,
};

/** The parent in an update of a category. `0` moves the category to the top level. */
export const newParentTerm: ParamType = {
  ...parentTerm,
  accepts: (value) => parseNumber(value) === 0 || parentTerm.accepts!(value),
  verify: (value, checks) => parseNumber(value) === 0 || parentTerm.verify!(value, checks),
};

/** Terms of an event by id, slug or name. New names are created. */
export const termsToAttach: ParamType = {
  schema: TERM_LIST,
  hint: 'Write ids, slugs or names: 4,music.',
  isList: true,
  accepts: (value) => parseList(value).every((item) => typeof item !== 'object' || item === null),
  parse: parseList,
};

/** Calls `test` for one value after the other, because it may call the CMS. Stops at the first false. */
async function everyAsync<T>(values: T[], test: (value: T) => boolean | Promise<boolean>): Promise<boolean> {
  for (const value of values) if (!(await test(value))) return false;
  return true;
}
