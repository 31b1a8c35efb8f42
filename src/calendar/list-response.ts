// What lists share: the records that the actor may list, the words of a search, the requested page, the links to this
// page, the next and the previous one, and the response.

import type { Config } from '../config-schema.ts';
import { invalidParam, notReady, pageNotFound } from '../interface/errors.ts';
import type { Input } from '../interface/parameter.ts';
import { LIST_PARAMETERS } from '../interface/parameters.ts';
import { isObject } from '../model/json.ts';
import { ANY_STATUS, isPostKind, type Kind, PLURALS, type PostKind } from '../model/records.ts';
import type { VisibleRecords } from '../store/database.ts';
import { isSoughtInTexts } from '../store/list-events.ts';
import type { PageWindow } from '../store/lists.ts';
import type { SearchWord } from '../store/sql.ts';
import { trimCharacters } from '../text/text.ts';
import { identityOfList, listItems, RenderedList, runInOneTurn, runInTurns, type Steps } from './rendered-records.ts';
import { type ApiResponse, type RequestContext, unpublishedParts } from './request.ts';
import type { Audience } from './serializer.ts';
import type { Services } from './services.ts';
import { createPlaces } from './shared-work.ts';

export interface ListAccess {
  /** The public records, for staff with their unpublished ones. */
  visible: VisibleRecords;
  /** The requested statuses; undefined for the public. */
  statuses: readonly string[] | undefined;
  /** The `status` in the links. */
  status: string;
  /** The actor sees only what the public sees, so the response is the same for all such actors. */
  isPublic: boolean;
  /** Makes the view show these records with the images that only the actor sees. */
  addImages(ids: readonly number[]): Promise<void>;
}

/**
 * Runs `use` with what a list may show to the actor. For staff this first reads their unpublished records from the CMS.
 * @param kinds the kind of the list, then the kinds that its filters and its responses use
 * @throws ApiError 503 until the initial sync is complete; CmsUnavailable
 */
export async function withAccess<T>(
  services: Services,
  kinds: [PostKind, ...PostKind[]],
  input: Input,
  request: RequestContext,
  use: (access: ListAccess) => Promise<T>,
): Promise<T> {
  const { sync, replica, ownRecords } = services;
  if (!sync.state().complete) throw notReady(sync.status().percent);
  const parts = await unpublishedParts(services, kinds, request);
  const isStaff = parts[kinds[0]] !== undefined;
  const sent = input.values.status as string[] | undefined;
  const rest = {
    statuses: isStaff ? (sent ?? ANY_STATUS) : undefined,
    status: sent ? sent.join(',') : isStaff ? 'any' : 'publish',
  };
  if (Object.keys(parts).length === 0)
    return use({ visible: replica.db, isPublic: true, ...rest, async addImages() {} });
  return ownRecords.use(request, parts, ({ records: visible, addImages }) =>
    use({ visible, isPublic: false, addImages, ...rest }),
  );
}

export interface ListPage<K extends Kind> {
  kind: K;
  ids: number[];
  total: number;
  page: RequestedPage;
  links: Record<string, string>;
  validUntilMs: number;
}

/** Throws 404 for a page of posts after the last one. Page 1 of an empty list exists. Terms have no last page. */
export function assertPageExists({ kind, total, page }: Pick<ListPage<Kind>, 'kind' | 'total' | 'page'>): void {
  if (isPostKind(kind) && page.page > Math.max(totalPages(total, page.limit), 1)) throw pageNotFound(kind);
}

export interface FoundPage<K extends Kind> {
  listPage: ListPage<K>;
  access: Pick<ListAccess, 'isPublic' | 'visible'>;
}

/**
 * Finds the page of a list and builds its response. Throws 404 for a page after the last one, and 400
 * `calendar_list_too_large`.
 */
export const listResponse = <K extends Kind>(
  services: Services,
  find: () => Promise<FoundPage<K>>,
  request: RequestContext,
): Promise<ApiResponse> => buildFound(request, find, (found) => responseSteps(services, found, request.baseUrl));

/** For lists that are being built: each holds a few records and what is rendered, together up to 9 MB. */
const buildInPlace = createPlaces(4);

/**
 * Builds a response from the page of a list, in several turns of the event loop if that takes long. If what
 * it shows changes meanwhile, the page is found again and built in one turn: a page belongs to one state.
 */
export async function buildFound<Found extends { access: Pick<ListAccess, 'visible'> }>(
  { actor: { account, network = '' } }: RequestContext,
  find: () => Promise<Found>,
  build: (found: Found) => Steps<ApiResponse>,
): Promise<ApiResponse> {
  const found = await find();
  const response = await buildInPlace(account ? String(account.userId) : network, () =>
    runInTurns(found.access.visible, build(found)),
  );
  return response ?? runInOneTurn(build(await find()));
}

/** The response to the public may be cached; that to staff is the actor's own. */
export function* responseSteps<K extends Kind>(
  services: Services,
  { listPage, access: { isPublic, visible } }: FoundPage<K>,
  baseUrl: string,
): Steps<ApiResponse> {
  assertPageExists(listPage);
  const { kind, validUntilMs } = listPage;
  const name = PLURALS[kind];
  const audience: Audience = { baseUrl, visible };
  const { links, total, page } = listPage;
  const pages = totalPages(total, page.limit);
  const rest = { ...links, total, total_pages: pages };
  const items = yield* listItems<K>(services.replica.rendered, services.serializer, listPage, audience, isPublic);
  const bytes = items.map((item) => item.bytes);
  const replicaVersion = services.replica.version;
  return {
    status: 200,
    body: new RenderedList(name, bytes, rest),
    headers: { 'X-TEC-Total': String(total), 'X-TEC-TotalPages': String(pages) },
    builtBytes: bytes.reduce((sum, { byteLength }) => sum + byteLength, 0),
    ...(isPublic && { ...identityOfList(name, items, rest), validUntilMs, replicaVersion }),
  };
}

export interface RequestedPage extends PageWindow {
  page: number;
}

/** The size of a page without `per_page`, and the largest. */
export type PageSizes = Pick<Config['lists'], 'perPage' | 'maxPerPage'>;

/** The requested page, which may be after the last one. The page size is at most `maxPerPage`. */
export function requestedPage(values: Record<string, unknown>, { perPage, maxPerPage }: PageSizes): RequestedPage {
  const page = Number(values.page ?? 1);
  const size = Math.min(Number(values.per_page ?? perPage), maxPerPage);
  // SQLite requires an integer. All pages this far after the last one are equally empty.
  const offset = Math.min((page - 1) * size, Number.MAX_SAFE_INTEGER);
  return { page, limit: size, offset };
}

/** The number of pages, 0 for an empty list. */
export const totalPages = (total: number, perPage: number): number => Math.ceil(total / perPage);

/** A parameter as sent. Each property of an object becomes a parameter of its own; commas join a list. */
export function linkParams(name: string, value: unknown): [string, string][] {
  if (value === undefined) return [];
  return isObject(value)
    ? Object.entries(value).flatMap(([key, item]) => linkParams(`${name}[${key}]`, item))
    : [[name, value === true ? '1' : String(value)]];
}

/** The Events Calendar's order in links. Parameters that it does not repeat follow as they are declared. */
const LINK_ORDER = [
  ['page', 'per_page', 'event', 'has_events', 'start_date', 'end_date', 'search'],
  ['geoloc', 'geoloc_lat', 'geoloc_lng', 'status', 'post_parent', 'include'],
  ['starts_before', 'starts_after', 'ends_before', 'ends_after', 'venue', 'organizer', 'featured'],
].flat();
const placeInLinks = (name: string) => (LINK_ORDER.includes(name) ? LINK_ORDER.indexOf(name) : LINK_ORDER.length);

/**
 * The three links of a page. The links to other pages end with `page`, which the link to the first page lacks.
 * @param shown the values that the links do not repeat as sent; undefined for none
 */
export function pageLinks(
  kind: Kind,
  sent: Record<string, unknown>,
  shown: Record<string, unknown>,
  { page, total, limit }: RequestedPage & { total: number },
  baseUrl: string,
): Record<string, string> {
  const values = { ...sent, ...shown };
  const names = LIST_PARAMETERS[kind].map(({ name }) => name).sort((a, b) => placeInLinks(a) - placeInLinks(b));
  const params = names.flatMap((name) => linkParams(name, values[name]));
  const others = params.filter(([name]) => name !== 'page');
  const linkWith = (pairs: [string, string][]): string =>
    `${baseUrl}/${PLURALS[kind]}/${pairs.length > 0 ? '?' : ''}${new URLSearchParams(pairs)}`;
  const linkTo = (number: number): string => linkWith(number === 1 ? others : [...others, ['page', String(number)]]);
  return {
    rest_url: linkWith(params),
    ...(page < totalPages(total, limit) ? { next_rest_url: linkTo(page + 1) } : {}),
    ...(page > 1 ? { previous_rest_url: linkTo(page - 1) } : {}),
  };
}

/** WordPress's default stop words (`get_search_stopwords`). */
const STOP_WORDS = new Set(
  `about an are as at be by com for from how in is it of on or that the this to was what when where who will with
  www a`.split(/\s+/),
);
const MAX_WORDS = 9;
/** Each of them costs a search in all texts: 10 ms on a site of 5,000 events. */
const MAX_SOUGHT_IN_TEXTS = 3;
/** The limit of a replica query. WordPress has none. */
const MAX_LINKED_WORDS = 40;
/** A phrase ends with its closing quote or at the end of the text. */
const WORDS_AND_PHRASES = /"[^"]*(?:"|$)|[^\s",+]+/g;

/** Ignored beside other words. */
const isStopWord = (word: string): boolean =>
  /^[a-z]$/i.test(word) || word === '-' || STOP_WORDS.has(word.toLowerCase());

/**
 * Parses a search text for venues and organizers. Every run of letters, digits and hyphens must occur, so `@b.example`
 * finds `a@www.b.example`, and `-b` finds `a-b`. There are no stop words, phrases or exclusions.
 */
export function linkedSearchWords(text: string): SearchWord[] {
  const words = new Set(text.split(/[^\p{L}\p{M}\p{N}-]+/u).filter((word) => word !== ''));
  const whole = text.trim();
  if (words.size === 0) return whole === '' ? [] : [{ text: whole, not: false }];
  return [...words].slice(0, MAX_LINKED_WORDS).map((word) => ({ text: word, not: false }));
}

/** Removes quotes, apostrophes and spaces at both ends. A phrase with a closing quote keeps its spaces. */
const unquote = (part: string): string => trimCharacters(part, /^"[^"]+"$/.test(part) ? `"'` : `"' `);

/**
 * Parses a search text for events. A leading dash excludes a word. Stop words are dropped. Both apply inside
 * quotes too.
 * @returns no words for a blank text, which matches everything
 * @throws ApiError 400 for many words that no index has
 */
export function searchWords(text: string): SearchWord[] {
  const whole = text.trim();
  if (whole === '') return [];
  const words: SearchWord[] = [];
  for (const [part] of whole.matchAll(WORDS_AND_PHRASES)) {
    const word = unquote(part);
    if (word === '' || isStopWord(word)) continue;
    const not = word.startsWith('-');
    words.push({ text: not ? word.slice(1) : word, not });
  }
  if (words.length === 0 || words.length > MAX_WORDS) return [{ text: whole, not: false }];
  if (words.filter(isSoughtInTexts).length > MAX_SOUGHT_IN_TEXTS)
    throw invalidParam('search', `At most ${MAX_SOUGHT_IN_TEXTS} words may have one or two letters.`);
  return words;
}
