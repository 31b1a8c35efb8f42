// Length limits of request values. `validate.ts` checks them before anything else reads a value.

/**
 * Characters are UTF-16 code units. `{ characters: 500, textCharacters: 200, elementCharacters: 10 }` refuses
 *
 *   '4,music'         over 200, or an element (`music`) over 10
 *   ['4', 'music']    over 500 as JSON, or an element over 10
 *   { id: 4 }         over 500 as JSON
 */
export interface Limit {
  characters: number;
  /** Default: `characters`. The same for `elementCharacters`. */
  textCharacters?: number;
  elementCharacters?: number;
}

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
  /** WordPress's columns of type TEXT hold 65,535 bytes of UTF-8, which needs at most three for each of these. */
  text: { characters: 20_000 },
  /** Such a text is read and stored, and its beginning indexed, without a noticeable pause. WordPress holds more. */
  longText: { characters: 100_000 },
  /** Custom fields by name: of a filter, and of a body. */
  customFilters: { characters: 10_000 },
  customFields: { characters: 100_000 },
  /** As large as a body may be. The fields of each record in it have limits of their own. */
  inlineRecords: { characters: 1_048_576, textCharacters: 20_000 },
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

/** A longer header counts as absent. `headerBytes` of src/fixed-limits.ts bounds all headers together. */
export const MAX_HEADER_CHARACTERS = {
  acceptEncoding: 500,
  ifNoneMatch: 4096,
  forwardedFor: 2000,
};

/** For a parameter that no route declares. Some use cases read `context` and `_embed` of `Input.raw`. */
export const UNDECLARED_LIMIT: Limit = { characters: 65_536 };

/** Names in a query or body, declared or not: validation takes 3 ms for a thousand. */
export const MAX_NAMES = 500;

/** Of the body of a GET, HEAD or OPTIONS. */
export const READ_BODY_BYTES = 8192;
/** Texts, numbers, lists and objects in one JSON body. */
export const MAX_BODY_VALUES = 20_000;
/** Parsed parameters of a query or form, and accepted parts of a multipart body. */
export const MAX_PARAMETERS = 2000;
/** Header lines of all parts of a multipart body together. */
export const MAX_PART_HEADER_BYTES = 65_536;
