// How long each value of a request may be: one table for all parameters and fields, applied before anything reads a value.

import { invalidParams } from '../calendar/refusals.ts';
import { isObject } from './values.ts';

/** Characters are UTF-16 units. A list or an object counts all that it holds, its keys and a comma for each element. */
export interface Limit {
  characters: number;
  /** Of a value that is one text, where a list or an object may be longer. */
  text?: number;
  /** Of each element of a list, also of one written with commas. */
  element?: number;
  /** Of the value in UTF-8, where a column of the CMS counts so. */
  bytes?: number;
}

const FLAG = { characters: 100 };
const NUMBER = { characters: 100 };
const DATE = { characters: 200 };
const LINE = { characters: 1000 };
const ADDRESS = { characters: 2000 };
const IDS = { characters: 20_000, element: 100 };
const TERMS = { characters: 20_000, element: 200 };
/** WordPress's column for slugs. */
const SLUG = { characters: 200 };
/** WordPress's columns of the type TEXT. */
const TEXT = { characters: 65_535, bytes: 65_535 };
/** As much as the word index takes in without a noticeable pause; WordPress's columns of the type LONGTEXT hold more. */
const LONG_TEXT = { characters: 100_000 };
/** As large as a body may be; each record in it has the limits of its own fields. */
const RECORDS = { characters: 1_048_576, text: 20_000 };

/** By the name of the parameter, for every route that has it; where one name stands for different things, by another name. */
export const LIMITS = {
  // Lists.
  page: NUMBER,
  per_page: NUMBER,
  starts_before: DATE,
  starts_after: DATE,
  ends_before: DATE,
  ends_after: DATE,
  strict_dates: FLAG,
  search: { characters: 200 },
  'filter by categories': TERMS,
  'filter by tags': TERMS,
  'filter by venue': IDS,
  'filter by organizer': IDS,
  geoloc: FLAG,
  geoloc_lat: NUMBER,
  geoloc_lng: NUMBER,
  include: TERMS,
  exclude: TERMS,
  post_parent: NUMBER,
  ticketed: FLAG,
  event: NUMBER,
  post: NUMBER,
  has_events: FLAG,
  only_with_upcoming: FLAG,
  order: FLAG,
  orderby: FLAG,
  hide_empty: FLAG,
  parent: LINE,
  // What names a record.
  id: LINE,
  slug: SLUG,
  password: { characters: 255 },
  // The namespace.
  namespace: SLUG,
  context: SLUG,
  // What is written.
  author: NUMBER,
  date: DATE,
  date_utc: DATE,
  title: TEXT,
  description: LONG_TEXT,
  excerpt: TEXT,
  status: { characters: 200 },
  timezone: FLAG,
  all_day: FLAG,
  start_date: DATE,
  end_date: DATE,
  image: ADDRESS,
  cost: { characters: 500 },
  website: ADDRESS,
  show_map: FLAG,
  show_map_link: FLAG,
  hide_from_listings: FLAG,
  sticky: FLAG,
  featured: FLAG,
  categories: { characters: 50_000, element: 1000 },
  tags: { characters: 50_000, element: 1000 },
  venue: RECORDS,
  organizer: RECORDS,
  'name of a venue': TEXT,
  'name of an organizer': TEXT,
  name: LINE,
  address: LINE,
  city: LINE,
  country: LINE,
  province: LINE,
  state: LINE,
  zip: LINE,
  phone: LINE,
  stateprovince: LINE,
  email: LINE,
} as const satisfies Record<string, Limit>;

/** A row of the table: a parameter without one does not compile. */
export type LimitName = keyof typeof LIMITS;

/** What a query may say on any route, beside the route's own parameters. */
export const GLOBAL_LIMITS: Readonly<Record<string, Limit>> = {
  _fields: { characters: 4000 },
  _envelope: FLAG,
  _jsonp: FLAG,
  _method: FLAG,
  _wpnonce: FLAG,
  rest_route: ADDRESS,
  // Every read of a protected record takes it, though not every route declares it.
  password: LIMITS.password,
};

/** Characters of headers that are read; what is longer counts as not sent. All headers together are bounded by `limits.headerBytes`. */
export const HEADER_CHARACTERS = { acceptEncoding: 500, methodOverride: 20, ifNoneMatch: 4096, forwardedFor: 2000 };

/** A parameter that no route declares: it is carried along, and never looked at. */
export const UNDECLARED: Limit = { characters: 65_536 };
/** Names of a query or body, declared or not, and how long each may be. */
export const MAX_NAMES = 500;
export const MAX_NAME_CHARACTERS = 200;

/** Bodies of requests that only read. */
export const READ_BODY_BYTES = 8192;
/** Texts, numbers, lists and objects in one JSON body. */
export const MAX_BODY_VALUES = 20_000;
/** Parameters of a query or form that are read, and parts of a multipart body that are accepted. */
export const MAX_PARAMETERS = 2000;
/** Header lines of all parts of a multipart body. */
export const MAX_PART_HEADER_BYTES = 65_536;

/** Whether a value is longer than its limit. Looks at no more of it than that. */
export function isTooLong(value: unknown, limit: Limit): boolean {
  const { characters, text = characters, element = characters, bytes = Infinity } = limit;
  if (typeof value === 'string') {
    if (value.length > text || (value.length * 3 > bytes && Buffer.byteLength(value) > bytes)) return true;
    return element < characters && value.length > element && value.split(',').some((one) => one.length > element);
  }
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value) && value.some((one) => typeof one === 'string' && one.length > element)) return true;
  return lengthOf(value, characters) > characters;
}

/** Characters of a value, counted until there are more than `most`. */
function lengthOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return String(value).length;
  let length = 0;
  for (const [key, one] of Object.entries(value)) {
    length += lengthOf(one, most - length) + 1 + (Array.isArray(value) ? 0 : key.length);
    if (length > most) break;
  }
  return length;
}

/** The table's rows of an endpoint's parameters; `fields` are those of a record that a value describes (a venue in an event). */
export interface Limited {
  limit: Limit;
  fields?: Limits | undefined;
}
export type Limits = ReadonlyMap<string, Limited>;

/** Values that are too long, each with the message for the caller. A field of a record inside another record is named in the message. */
function* tooLong(values: Record<string, unknown>, limits: Limits): Generator<{ name: string; message: string }> {
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
    const known = limits.get(name);
    const value = values[name];
    const limit = known?.limit ?? GLOBAL_LIMITS[name] ?? UNDECLARED;
    if (isTooLong(value, limit)) yield { name, message: `The value is too long: ${inWords(limit)}.` };
    else if (known?.fields && typeof value === 'object') {
      const [field] = fieldsTooLong(value, known.fields);
      if (field) yield { name, message: `${field.name}: ${field.message}` };
    }
  }
}

/** A limit as a message tells it. */
function inWords({ characters, text, element, bytes }: Limit): string {
  const asText = text === undefined ? '' : `, ${text} as one text`;
  const ofElement = element === undefined ? '' : `, ${element} in one element`;
  const inBytes = bytes === undefined ? '' : `, ${bytes} bytes of UTF-8`;
  return `at most ${characters} characters${asText}${ofElement}${inBytes}`;
}

/** The fields that are too long, of a record or of a list of records. */
function* fieldsTooLong(value: object | null, fields: Limits): ReturnType<typeof tooLong> {
  const records = isObject(value) ? [value, ...Object.values(value)] : Object.values(value ?? {});
  for (const one of records) if (isObject(one)) yield* tooLong(one, fields);
}

/**
 * Refuses values that are longer than the table allows, before anything reads them.
 * @throws GatewayError 400 `rest_invalid_param` that names them and their limits
 */
export function refuseTooLong(sources: readonly Record<string, unknown>[], limits: Limits): void {
  let found: Map<string, { name: string; message: string }> | undefined;
  for (const values of sources) {
    for (const one of tooLong(values, limits)) {
      found ??= new Map();
      if (!found.has(one.name)) found.set(one.name, one);
    }
  }
  if (found) throw invalidParams([...found.values()]);
}
