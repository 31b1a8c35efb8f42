// The parameter types: of plain values, dates, and references to records, terms, users and images; and the spellings of
// values that The Events Calendar accepts. The first and the second stage are those of `ParamType`.

import { isObject, type JsonObject } from '../model/json.ts';
import type { Kind, LinkedKind, PostKind, TermKind } from '../model/records.ts';
import { INTERNAL_STATUSES, MAX_FILTERED_CHARACTERS, STATUSES } from '../model/records.ts';
import { NUMBER, parsePhpDate, parseUnixSeconds } from '../time/php-dates.ts';
import { parseZone, utcZone } from '../time/zones.ts';
import type { Parameter, ParamType, ReferenceChecks } from './parameter.ts';

// Plain values

export const count: ParamType = {
  schema: { type: 'integer' },
  hint: 'Write a whole number of at least 1.',
  accepts: (value) => parsePositiveInteger(value) !== undefined,
  parse: parsePositiveInteger,
};

/**
 * The flags, in any letter case. A venue's `show_map` is a `textFlag`, because The Events Calendar takes it as text.
 *
 *                    true                            false              refused
 *     flag           true, 1                         false, 0           all else
 *     looseFlag      true 1 yes y on enable enabled  all else           nothing
 *     nonBlankFlag   as looseFlag                    all else           '', a list
 *     textFlag       as looseFlag                    all other texts    what is no text
 */
export const flag: ParamType = { schema: { type: 'boolean' }, jsonType: 'boolean', parse: parseBoolean };

export const looseFlag: ParamType = { schema: { type: 'boolean' }, parse: isTruthy };

export const nonBlankFlag: ParamType = {
  ...looseFlag,
  hint: 'Write true or false.',
  accepts: (value) => value !== '' && ['string', 'boolean', 'number'].includes(typeof value),
};

export const textFlag: ParamType = { schema: { type: 'string' }, jsonType: 'string', parse: isTruthy };

/** Needs the plugin Event Tickets: true is an error, false filters nothing. */
export const tickets: ParamType = {
  ...flag,
  accepts: (value) => !isTruthy(value),
  error: { code: 'event-tickets-not-active', message: 'Event Tickets plugin is not activated.' },
};

export const anyValue: ParamType = { schema: {} };

const numberBetween = (min: number, max: number): ParamType => ({
  schema: { type: 'number' },
  hint: `Write a number from ${min} to ${max}.`,
  accepts: (value) => {
    const number = parseNumber(value);
    return number !== undefined && number >= min && number <= max;
  },
  parse: parseNumber,
});

export const latitude = numberBetween(-90, 90);
export const longitude = numberBetween(-180, 180);
/** At most half the way around the Earth, rounded up: no place is further away. */
export const distanceKm = numberBetween(0, 20_038);

/** A coordinate of a venue: `''` and null remove it. */
const clearable = (coordinate: ParamType): ParamType => ({
  ...coordinate,
  accepts: (value) => value === '' || coordinate.accepts!(value),
  parse: (value) => parseNumber(value) ?? null,
});
export const clearableLatitude = clearable(latitude);
export const clearableLongitude = clearable(longitude);

export const text: ParamType = {
  schema: { type: 'string' },
  hint: 'Write a text that is not empty.',
  accepts: (value) => typeof value === 'string' && !isEmpty(value),
  jsonType: 'string',
};

/**
 * A text that `''` clears: the fields of venues and organizers. The other values that PHP takes for
 * empty (`false`, `0`, `{}`) become `''`: within an event's body nothing later would refuse them.
 */
export const clearableText: ParamType = {
  schema: { type: 'string' },
  hint: 'Write a text.',
  accepts: (value) => typeof value === 'string' || isEmpty(value),
  jsonType: 'string',
  parse: (value) => (typeof value === 'string' ? value : ''),
};

export const status: ParamType = {
  schema: { type: 'string', enum: STATUSES },
  accepts: (value) => typeof value === 'string' && STATUSES.includes(value),
  jsonType: 'string',
};

/** Statuses of a list. Staff may name every registered status, others only `publish`. */
export const listedStatus: ParamType = {
  schema: { type: 'string' },
  hint: 'Write publish. Who may edit may also write draft, pending, private, future or trash.',
  // Blanks may stand only beside commas: `draft, pending`, and not ` draft`.
  accepts(value) {
    const items = Array.isArray(value) ? value : String(value).split(/(?<!\s)\s*,\s*/);
    return parseList(value).length > 0 && !items.some((item) => /^\s|\s$/.test(String(item)));
  },
  verify(value, { isStaff }) {
    const statuses = parseList(value).map(String);
    if (!isStaff) return statuses.join() === 'publish';
    return statuses.every((one) => STATUSES.includes(one) || INTERNAL_STATUSES.includes(one));
  },
  parse: (value) => parseList(value).map(String),
};

/** One of these lower-case words, in any letter case. */
export const oneOf = (words: readonly string[]): ParamType => ({
  schema: { type: 'string', enum: words },
  accepts: (value) => typeof value === 'string' && words.includes(value.toLowerCase()),
  parse: (value) => String(value).toLowerCase(),
});

/** One of these words, or `''`, which removes the word from the record. */
export function clearableWord(words: readonly string[]): ParamType {
  const word = oneOf(words);
  return { ...word, accepts: (value) => value === '' || word.accepts!(value) };
}

export function someOf(words: readonly string[]): ParamType {
  const isOne = (word: unknown) => words.includes(String(word));
  const others = (value: unknown) => parseList(value).filter((word) => !isOne(word));
  return {
    schema: { type: 'array', items: { type: 'string', enum: words } },
    hint: (value) => `Not possible: ${others(value).join(', ')}. Write one or several of: ${words.join(', ')}.`,
    isList: true,
    accepts: isListOf(isOne),
    parse: parseList,
  };
}

const SOURCE_NAME = /^[a-z0-9-]{1,40}$/;

/** Names of sources. A name that no source has matches no event. */
export const sourceNames: ParamType = {
  schema: { type: 'array', items: { type: 'string', pattern: SOURCE_NAME.source } },
  hint: 'Write one or several names of sources, such as library.',
  isList: true,
  accepts: isListOf((name) => SOURCE_NAME.test(String(name))),
  parse: (value) => parseList(value).map(String),
};

/** One of these lower-case words, in any letter case. Any other word has no effect, as in the original. */
export const knownWord = (words: readonly string[]): ParamType => ({
  schema: { type: 'string', enum: words },
  parse: (value) => words.find((word) => typeof value === 'string' && word === value.toLowerCase()),
});

/** Website of an event: a URL, or an empty value for none. `0` stays, because an update stores it. */
export const website: ParamType = {
  schema: { type: 'string', format: 'uri' },
  hint: 'Write a URL such as https://www.example.org/, or nothing.',
  accepts: (value) => isEmpty(value) || (typeof value === 'string' && isUrl(value)),
  parse: (value) => (isEmpty(value) && String(value) !== '0' ? '' : String(value)),
};

/** Website of a venue or organizer: a URL, or `''` or `'0'` for none. */
export const linkedWebsite: ParamType = {
  ...website,
  jsonType: 'string',
  parse: (value) => (isEmpty(value) ? '' : value),
};

/** Texts by name: the custom fields by which a list filters. The use case knows the names. */
export const textsByName: ParamType = {
  schema: { type: 'object', additionalProperties: { type: 'string' } },
  hint: 'Write texts by name: custom_fields[last_bus]=19:00.',
  accepts: (value) =>
    isObject(value) &&
    Object.values(value).every(
      (text) => typeof text === 'string' && text !== '' && text.length <= MAX_FILTERED_CHARACTERS,
    ),
};

/** Values of custom fields by name, in a body. The use case knows the names and the types. */
export const valuesByName: ParamType = { schema: { type: 'object', additionalProperties: {} } };

const DATE_HINT = 'This is no date. Write 2027-05-01, 2027-05-01 19:30, today or +1 week.';

const isReadableDate = (value: unknown): boolean => {
  if (typeof value === 'number') return value !== 0 && parseUnixSeconds(String(value)) !== undefined;
  if (typeof value !== 'string' || value === '') return false;
  return (parseUnixSeconds(value) ?? parsePhpDate(value, { nowMs: Date.now(), zone: utcZone })) !== undefined;
};

/**
 * A date of a list. All types of dates take every text that PHP's `strtotime` reads. What they make of zeros and Unix
 * seconds, or which stage of parameter.ts refuses them:
 *
 *                                  0              '0'           1809190800     '1809190800'
 *   dateBound                      today          today         a Unix time    a Unix time
 *   dateBound, `strict_dates`      1970           1970          a Unix time    a Unix time
 *   instant                        first stage    1970          a Unix time    a Unix time
 *   date                           second stage   first stage   second stage   a Unix time
 */
export const dateBound: ParamType = {
  schema: { type: 'string' },
  hint: DATE_HINT,
  examples: ['2027-05-01', '2027-05-01 19:00:00', '2027-05-01T19:00:00Z', 'today', 'saturday', '+6 months'],
  accepts: (value) => value === 0 || isReadableDate(value),
  parse: String,
};

/** An instant, which is in UTC if the text names no zone. */
export const instant: ParamType = {
  ...dateBound,
  examples: ['2027-05-01 19:00:00', '2027-05-01T19:00:00+02:00', '1809190800', '-1 day'],
  accepts: isReadableDate,
};

/** A date of a record. */
export const date: ParamType = {
  schema: { type: 'string' },
  hint: DATE_HINT,
  accepts: (value) => value === 0 || (isReadableDate(value) && value !== '0'),
  jsonType: 'string',
};

/** Of `/changes`: the key of the site, and a `JournalPosition` (src/store/change-journal.ts). */
const CHANGE_TOKEN = /^([\w-]{8})\.([\w-]{12})\.(\d{1,15})\.(\d{1,15})$/;

export const changeToken: ParamType = {
  schema: { type: 'string' },
  hint: 'Write the next_token of an earlier response.',
  accepts: (value) => typeof value === 'string' && CHANGE_TOKEN.test(value),
  parse(value) {
    const [, siteKey = '', epoch = '', number, scanS] = CHANGE_TOKEN.exec(String(value)) ?? [];
    return { siteKey, epoch, number: Number(number), scanS: Number(scanS) };
  },
};

/** As PHP's DateTimeZone: it takes ` Europe/Paris`, and no line break. */
const zoneName = (text: string): string => text.replace(/^[ \t]+/, '');

/** A time zone, or `''` or `'0'` for that of the site. */
export const timeZone: ParamType = {
  schema: { type: 'string' },
  hint: 'Write a time zone such as Europe/Berlin or UTC+2.',
  accepts: (value) => isEmpty(value) || (typeof value === 'string' && parseZone(zoneName(value)) !== undefined),
  jsonType: 'string',
  parse: (value) => (isEmpty(value) ? '' : zoneName(String(value))),
};

// Records, users and images

export const existingId = (kind: Kind): ParamType => ({
  ...count,
  hint: `There is no such ${kind}. Write the id of one that exists.`,
  verify: (value, checks) => checks.exists(kind, parsePositiveInteger(value)!),
  jsonType: 'integer',
});

/** Ids that need not exist: `include` of the event list. The URLs of the pages repeat `7,7` as it was sent. */
export const uncheckedIds: ParamType = {
  schema: { oneOf: [{ type: 'array', items: { type: 'integer' } }, { type: 'string' }, { type: 'integer' }] },
  hint: 'Write ids: 7,9.',
  isList: true,
  accepts: isListOf(count.accepts!),
  parse: (value) => parseList(value).map(parsePositiveInteger),
};

export const existingIds = (kind: PostKind): ParamType => ({
  ...uncheckedIds,
  hint: `There is no such ${kind}. Write ids that exist, such as 4,7.`,
  verify: (value, checks) => everyAsync(parseList(value), (id) => checks.exists(kind, parsePositiveInteger(id)!)),
});

/** Parses the id in a path, which may have leading zeros and more digits than an id can have. */
export const parsePathId = (value: unknown): number => Math.min(Number(value), Number.MAX_SAFE_INTEGER);

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

/** The id of an uploaded image, as text, or the URL of an image. A JSON number fails in the second stage. */
export const image: ParamType = {
  schema: { type: 'string' },
  hint: 'Write the id of an uploaded image, or the URL of an image that this gateway can reach.',
  accepts: (value) => (typeof value === 'string' && !isEmpty(value)) || typeof value === 'number',
  verify: (value, checks) => checks.fetchImageIfUsable(value as string | number),
  jsonType: 'string',
};

/** An image that `''` or `'0'` removes: venues and organizers. */
export const clearableImage: ParamType = {
  ...image,
  accepts: (value) => typeof value === 'string' || typeof value === 'number' || isEmpty(value),
  verify: (value, checks) => isEmpty(value) || checks.fetchImageIfUsable(value as string | number),
  parse: (value) => (isEmpty(value) ? '' : value),
};

/**
 * Venues or organizers of an event, in the forms of `parseLinkedItems`.
 * @param inline the parameters of a create of the kind, for an object from which the record would be created
 */
export function linkedRecords(kind: LinkedKind, inline: readonly Parameter[]): ParamType {
  const isValid = async (value: unknown, checks: ReferenceChecks): Promise<boolean> => {
    if (isObject(value) && isEmpty(value.id)) return isCreatable(inline, value, checks);
    const id = parsePositiveInteger(isObject(value) ? value.id : value);
    return id !== undefined && checks.exists(kind, id);
  };
  const oneRecord = [{ type: 'integer' }, { type: 'string' }, { type: 'object' }];
  return {
    hint: `Write the id of an existing ${kind}, several ids, or an object with the name of a new ${kind} in "${kind}".`,
    schema: { oneOf: [...oneRecord, { type: 'array', items: { oneOf: oneRecord } }] },
    isList: true,
    inline,
    verify: (value, checks) => everyAsync(parseLinkedItems(value), (item) => isValid(item, checks)),
    parse: parseLinkedItems,
  };
}

/**
 * Whether a record could be created from an object. The object gets no second stage: `parseInline` only parses it.
 *
 *   { city: 'Berlin' }      no: its name is required
 *   { venue: '' }           yes, as in The Events Calendar; `prepareLinked` refuses it
 *   { organizer: '' }       no
 */
async function isCreatable(inline: readonly Parameter[], data: JsonObject, checks: ReferenceChecks): Promise<boolean> {
  for (const { name, type, required } of inline) {
    const value = data[name] ?? undefined;
    if (value === undefined && required) return false;
    const isBlankVenue = name === 'venue' && value === '';
    if (value === undefined || isBlankVenue) continue;
    if (type.accepts && !type.accepts(value)) return false;
    if (type.verify && !(await type.verify(value, checks))) return false;
  }
  return true;
}

/**
 * The elements of `venue` or `organizer` in a body:
 *
 *   { venue: 'New' }, ' '                [{ venue: 'New' }], [' ']: validation refuses ' '
 *   [12, { venue: 'New' }], ['', 12]     the same: validation refuses ''
 *   12, '12,13'                          [12], ['12', '13']
 *   { 0: 12, 2: 13 }                     [12, 13]: so PHP sends a list whose second element `array_filter` has removed
 *   '', {}, ['', 0]                      []
 */
export function parseLinkedItems(value: unknown): unknown[] {
  const isOneRecord = isObject(value) && Object.keys(value).some((key) => !/^\d+$/.test(key));
  const isBlank = typeof value === 'string' && /^\s+$/.test(value);
  if (isOneRecord || isBlank) return [value];
  const items = Array.isArray(value) ? value : parseList(value);
  return items.every(isEmpty) ? [] : items;
}

// Terms

const INTEGER_OR_TEXT = { oneOf: [{ type: 'integer' }, { type: 'string' }] };
const TERM_LIST = { oneOf: [{ type: 'array', items: INTEGER_OR_TEXT }, { type: 'string' }, { type: 'integer' }] };

const isTermList = isListOf((item) => typeof item !== 'object' && !isEmpty(item));

/** Whether a category can be meant as a parent. `7` is an id, also if a category has it as its slug. */
async function isCategory(value: unknown, checks: ReferenceChecks): Promise<boolean> {
  const id = parsePositiveInteger(value);
  if (id === undefined) return (await checks.findTerm('category', String(value))) !== undefined;
  // `7.0` and `7e0` are numbers, and no ids.
  return /^[\s\d+]+$/.test(String(value)) && checks.exists('category', id);
}

export function existingTerms(kind: TermKind): ParamType {
  return {
    schema: TERM_LIST,
    hint: `There is no such ${kind}. Write ids or slugs that exist, such as 4,music.`,
    isList: true,
    accepts: isTermList,
    async resolve(value, checks) {
      const ids: number[] = [];
      for (const item of parseList(value)) {
        const id = await checks.findTerm(kind, String(item));
        if (id === undefined) return undefined;
        ids.push(id);
      }
      return ids;
    },
  };
}

/**
 * The parent of a category: the id of an existing one. If 4, 7 and `music` exist, a value is taken, or is refused in
 * the stage that the table names (in the second by the `jsonType` of `existingId`):
 *
 *                                 4, '4'   'music'        '4,7'          0, '0'
 *   parentFilter (of a list)      taken    second stage   second stage   first stage
 *   parentTerm (of a create)      taken    second stage   first stage    first stage
 *   newParentTerm (an update)     taken    second stage   first stage    taken: the top level
 */
export const parentFilter: ParamType = {
  ...existingId('category'),
  accepts: isTermList,
  verify: (value, checks) => everyAsync(parseList(value), (item) => isCategory(item, checks)),
};

export const parentTerm: ParamType = {
  ...parentFilter,
  accepts: (value) => (typeof value === 'string' && !isEmpty(value)) || typeof value === 'number',
  verify: isCategory,
  parse: parseNumber,
};

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

// Spellings of values

/** A number, or a text that PHP's `is_numeric` accepts (` 3`, `2.0`, `1e1`). */
export function parseNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : undefined;
}

/** The original refuses a number that is not an integer of PHP. */
const PHP_INT_END = 2 ** 63;

/** An integer of at least 1 in any numeric spelling. */
function parsePositiveInteger(value: unknown): number | undefined {
  const number = parseNumber(value);
  return number !== undefined && Number.isInteger(number) && number > 0 && number < PHP_INT_END ? number : undefined;
}

/** `true` and `false` in any letter case, `1`, `0`, JSON booleans. */
export function parseBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).toLowerCase();
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
}

/** For loose flags: the table is at `flag`. */
export function isTruthy(value: unknown): boolean {
  return /^(true|1|yes|y|on|enabled?)$/i.test(String(value));
}

/** True for the values that PHP's `empty` accepts. PHP decodes `{}` to an empty array. */
export function isEmpty(value: unknown): boolean {
  return !value || value === '0' || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** A list sent as CSV, as `name[]` or as one value. Trims texts, leaves out the empty ones, and keeps other values. */
export function parseList(value: unknown): unknown[] {
  if (typeof value === 'string') return parseList(value.split(','));
  if (Array.isArray(value))
    return value.map((item) => (typeof item === 'string' ? item.trim() : item)).filter((item) => item !== '');
  if (isObject(value)) return Object.values(value);
  return value === undefined || value === null ? [] : [value];
}

/** Whether a value is a list of at least one element, each of which is valid. */
function isListOf(isValid: (item: unknown) => boolean): (value: unknown) => boolean {
  return (value) => parseList(value).length > 0 && parseList(value).every(isValid);
}

/** `//user:password@host:port`, with the host and the port to be read. The host may be `[::1]`. */
const AUTHORITY =
  /^\/\/(?:(?:[\w.~!$&'()*+,;=:-]|%[\da-f]{2})*@)?(\[[^/?#@]*\]|[^:/?#@]+)(?::(\d[^:/?#@]{0,4})?)?(?=[/?#]|$)/i;

/** `mailto:a@example.org`, `file:///a`, and not `mailto://a` or `news:119`, which have an authority or a port. */
const HAS_NO_HOST = /^(?:(?:mailto|news|file):(?!\/\/|\d{1,5}(?:\/|$))|file:\/\/\/)/;

/**
 * As PHP's FILTER_VALIDATE_URL: an ASCII text with a scheme, and with a host if the scheme has one. In `http` and
 * `https` alone the host must be a possible one: `ftp://a_b/` is a URL, `http://a_b/` is none.
 */
function isUrl(text: string): boolean {
  const [, scheme = '', rest = ''] = /^([a-z0-9+.-]+):([\x21-\x7e]*)$/i.exec(text) ?? [];
  if (scheme === '') return false;
  if (HAS_NO_HOST.test(text)) return true;
  const [, host = '', port = '0'] = AUTHORITY.exec(rest) ?? [];
  if (host === '' || Number.parseInt(port, 10) > 65_535) return false;
  if (!/^https?$/i.test(scheme)) return true;
  if (host.startsWith('[')) return URL.canParse(`http://${host}`);
  return /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.|$))+$/i.test(host);
}
