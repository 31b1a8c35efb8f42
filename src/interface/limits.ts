// Length limits of request values. The gateway checks them before anything else reads a value.

import { isObject } from '../model/json.ts';
import { invalidParams } from './errors.ts';

/**
 * Characters are UTF-16 code units. Those of a list or object include its keys and one comma for each
 * element.
 */
export interface Limit {
  characters: number;
  /** For a value that is one text, if it is lower than for a list or object. */
  textCharacters?: number;
  /** For each element of a list, including lists as CSV. */
  elementCharacters?: number;
  /** For the value in UTF-8, if a column of the CMS has a limit in bytes. */
  bytes?: number;
}

/** The limits that parameters and fields choose from. */
export const SIZES = {
  flag: { characters: 100 },
  number: { characters: 100 },
  timeZone: { characters: 100 },
  date: { characters: 200 },
  search: { characters: 200 },
  status: { characters: 200 },
  /** WordPress's column for slugs. */
  slug: { characters: 200 },
  password: { characters: 255 },
  cost: { characters: 500 },
  line: { characters: 1000 },
  url: { characters: 2000 },
  ids: { characters: 20_000, elementCharacters: 100 },
  terms: { characters: 20_000, elementCharacters: 200 },
  newTerms: { characters: 50_000, elementCharacters: 1000 },
  /** WordPress's columns of type TEXT. */
  text: { characters: 65_535, bytes: 65_535 },
  /**
   * The full-text index adds a text of this length without a noticeable pause. WordPress's columns of type
   * LONGTEXT hold more.
   */
  longText: { characters: 100_000 },
  /** Custom fields by name: of a filter, and of a body. */
  customFilters: { characters: 10_000 },
  customFields: { characters: 100_000 },
  /** As large as a body may be. The fields of each embedded record have limits of their own. */
  embeddedRecords: { characters: 1_048_576, textCharacters: 20_000 },
} as const satisfies Record<string, Limit>;

/** Query parameters that every route accepts, besides its own. */
export const GLOBAL_LIMITS: Readonly<Record<string, Limit>> = {
  _fields: { characters: 4000 },
  _envelope: SIZES.flag,
  _jsonp: SIZES.flag,
  _method: SIZES.flag,
  _wpnonce: SIZES.flag,
  rest_route: SIZES.url,
  // Every read of a protected record accepts it, though not every route declares it.
  password: SIZES.password,
};

/** A longer header counts as absent. `limits.headerBytes` bounds all headers together. */
export const MAX_HEADER_CHARACTERS = {
  acceptEncoding: 500,
  methodOverride: 20,
  ifNoneMatch: 4096,
  forwardedFor: 2000,
};

/** For a parameter that no route declares. It is kept for links, but never parsed. */
export const UNDECLARED_LIMIT: Limit = { characters: 65_536 };
/** Names in a query or body, declared or not. */
export const MAX_NAMES = 500;
export const MAX_NAME_CHARACTERS = 200;

/** Body of a request that only reads. */
export const READ_BODY_BYTES = 8192;
/** Texts, numbers, lists and objects in one JSON body. */
export const MAX_BODY_VALUES = 20_000;
/** Parsed parameters of a query or form, and accepted parts of a multipart body. */
export const MAX_PARAMETERS = 2000;
/** Header lines of all parts of a multipart body together. */
export const MAX_PART_HEADER_BYTES = 65_536;

/** Reads no more of the value than its limit. */
export function isTooLong(value: unknown, limit: Limit): boolean {
  const { characters, textCharacters = characters, elementCharacters = characters, bytes = Infinity } = limit;
  if (typeof value === 'string') {
    // UTF-8 needs at most 3 bytes for a UTF-16 code unit.
    const isOverBytes = value.length * 3 > bytes && Buffer.byteLength(value) > bytes;
    if (value.length > textCharacters || isOverBytes) return true;
    if (elementCharacters === characters || value.length <= elementCharacters) return false;
    return value.split(',').some((element) => element.length > elementCharacters);
  }
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value) && value.some((item) => typeof item === 'string' && item.length > elementCharacters))
    return true;
  return countCharacters(value, characters) > characters;
}

/** Stops counting above `max`. */
function countCharacters(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return String(value).length;
  let count = 0;
  for (const [key, item] of Object.entries(value)) {
    count += countCharacters(item, max - count) + 1 + (Array.isArray(value) ? 0 : key.length);
    if (count > max) break;
  }
  return count;
}

/**
 * The limits of an endpoint's parameters, by name. `fields` has those of an embedded record (a venue in an
 * event).
 */
export type Limits = ReadonlyMap<string, { limit: Limit; fields?: Limits | undefined }>;

interface LengthError {
  name: string;
  message: string;
}

function* findTooLong(values: Record<string, unknown>, limits: Limits): Generator<LengthError> {
  let names = 0;
  for (const name in values) {
    names += 1;
    if (names > MAX_NAMES || name.length > MAX_NAME_CHARACTERS) {
      const message =
        names > MAX_NAMES
          ? `There are more than ${MAX_NAMES} parameters.`
          : `The name of this parameter is longer than ${MAX_NAME_CHARACTERS} characters.`;
      yield { name: name.slice(0, MAX_NAME_CHARACTERS), message };
      return;
    }
    const declared = limits.get(name);
    const value = values[name];
    const limit = declared?.limit ?? GLOBAL_LIMITS[name] ?? UNDECLARED_LIMIT;
    if (isTooLong(value, limit)) yield { name, message: `The value is too long: ${describeLimit(limit)}.` };
    else if (declared?.fields && typeof value === 'object' && value !== null) {
      const [field] = findTooLongFields(value, declared.fields);
      if (field) yield { name, message: `${field.name}: ${field.message}` };
    }
  }
}

function describeLimit({ characters, textCharacters, elementCharacters, bytes }: Limit): string {
  const asText = textCharacters === undefined ? '' : `, ${textCharacters} as one text`;
  const inElement = elementCharacters === undefined ? '' : `, ${elementCharacters} in one element`;
  const inBytes = bytes === undefined ? '' : `, ${bytes} bytes of UTF-8`;
  return `at most ${characters} characters${asText}${inElement}${inBytes}`;
}

/** `value` is an embedded record or a list of them. */
function* findTooLongFields(value: object, fields: Limits): Generator<LengthError> {
  const records = isObject(value) ? [value, ...Object.values(value)] : Object.values(value);
  for (const record of records) if (isObject(record)) yield* findTooLong(record, fields);
}

/** @throws ApiError 400 `rest_invalid_param` that names the values over their limits */
export function checkLengths(sources: readonly Record<string, unknown>[], limits: Limits): void {
  const errors = new Map<string, LengthError>();
  for (const values of sources)
    for (const error of findTooLong(values, limits)) if (!errors.has(error.name)) errors.set(error.name, error);
  if (errors.size > 0) throw invalidParams([...errors.values()]);
}
