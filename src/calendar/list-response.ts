// What lists share: the records that the actor may list, the requested page, the links to this page, the next and
// the previous one, and the response. A list runs `withAccess`, and in it `buildFound`: that finds the page, then runs
// the steps of its response (`responseSteps`; a feed has its own), and begins again if the replica changes meanwhile.

import type { Config } from '../config-schema.ts';
import { notReady, pageNotFound } from '../interface/errors.ts';
import type { Input } from '../interface/parameter.ts';
import { LIST_PARAMETERS } from '../interface/parameters.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { ANY_STATUS, isPostKind, KINDS, type Kind, PLURALS, type PostKind } from '../model/records.ts';
import type { VisibleRecords } from '../store/database.ts';
import type { PageWindow } from '../store/lists.ts';
import { byteLength } from '../text/bytes.ts';
import { identityOfList, listItems, RenderedList } from './rendered-records.ts';
import { type ApiResponse, type RequestContext, unpublishedParts } from './request.ts';
import type { Services } from './services.ts';
import { runInOneTurn, runInTurns, type Steps, withSlot } from './turns.ts';

export interface ListAccess {
  /** The public records, for staff with their unpublished ones. */
  visible: VisibleRecords;
  /** The requested statuses; undefined for the public. */
  statuses: readonly string[] | undefined;
  /** The `status` in the links. */
  status: string;
  /** The actor sees only what the public sees, so the response is the same for all such actors. */
  isPublic: boolean;
  /** Makes `visible` show these records with the images that only the actor sees. */
  addImages(ids: readonly number[]): Promise<void>;
}

/**
 * Throws 503 until the initial sync is complete: a list of some records would look like a complete one. What a cache
 * answers does not pass here.
 */
export function assertServable({ sync }: Pick<Services, 'sync'>): void {
  if (!sync.state().complete) throw notReady(sync.status().percent);
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
  const { replica, unpublishedRecords } = services;
  assertServable(services);
  const parts = await unpublishedParts(services, kinds, request);
  const isStaff = parts[kinds[0]] !== undefined;
  const sent = input.values.status as string[] | undefined;
  const rest = {
    statuses: isStaff ? (sent ?? ANY_STATUS) : undefined,
    status: sent ? sent.join(',') : isStaff ? 'any' : 'publish',
  };
  if (Object.keys(parts).length === 0)
    return use({ visible: replica.db, isPublic: true, ...rest, async addImages() {} });
  return unpublishedRecords.use(request, parts, ({ records: visible, addImages }) =>
    use({ visible, isPublic: false, addImages, ...rest }),
  );
}

/** The requested page of a list, and the records that its response shows. */
export interface ListPage extends Pick<ListAccess, 'isPublic' | 'visible'> {
  kind: Kind;
  ids: number[];
  total: number;
  page: RequestedPage;
  /** What the links repeat, by parameter; undefined for none. */
  linkValues: Record<string, unknown>;
  validUntilMs: number;
}

/** Throws 404 for a page of posts after the last one. Page 1 of an empty list exists. Terms have no last page. */
export function assertPageExists({ kind, total, page }: Pick<ListPage, 'kind' | 'total' | 'page'>): void {
  if (isPostKind(kind) && page.page > Math.max(totalPages(total, page.limit), 1)) throw pageNotFound(kind);
}

/**
 * Finds the page of a list and builds its response. Throws 404 for a page after the last one, and 400
 * `calendar_list_too_large`.
 */
export const listResponse = (
  services: Services,
  find: () => Promise<ListPage>,
  request: RequestContext,
): Promise<ApiResponse> => buildFound(request, find, (page) => responseSteps(services, page, request.baseUrl));

/**
 * Builds a response from the page of a list, in several turns of the event loop if that takes long. If what
 * it shows changes meanwhile, the page is found again and built in one turn: a page belongs to one state.
 */
export async function buildFound(
  { actor: { account, network = '' } }: RequestContext,
  find: () => Promise<ListPage>,
  build: (page: ListPage) => Steps<ApiResponse>,
): Promise<ApiResponse> {
  const page = await find();
  const response = await withSlot(account ? String(account.userId) : network, () =>
    runInTurns(page.visible, build(page)),
  );
  // Without a slot: in this turn no other list is built.
  return response ?? runInOneTurn(build(await find()));
}

/** The response to the public may be cached; that to staff is the actor's own. */
export function* responseSteps(services: Services, listPage: ListPage, baseUrl: string): Steps<ApiResponse> {
  assertPageExists(listPage);
  const { kind, total, page, isPublic, visible, validUntilMs } = listPage;
  const name = PLURALS[kind];
  const pages = totalPages(total, page.limit);
  const rest = { ...pageLinks(listPage, baseUrl), total, total_pages: pages };
  const items = yield* listItems(services, listPage, { baseUrl, visible }, isPublic);
  const bytes = items.map((item) => item.bytes);
  // That at which the items were read: `runInTurns` begins again if it changes. The response cache asks for this one.
  const replicaVersion = services.replica.version;
  return {
    status: 200,
    body: new RenderedList(name, bytes, rest),
    headers: { 'X-TEC-Total': String(total), 'X-TEC-TotalPages': String(pages) },
    builtBytes: byteLength(bytes),
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
const linkNames = (kind: Kind): string[] =>
  LIST_PARAMETERS[kind].map(({ name }) => name).sort((a, b) => placeInLinks(a) - placeInLinks(b));
const LINK_NAMES = new Map(KINDS.map((kind) => [kind, linkNames(kind)]));

/** The three links of a page. The links to other pages end with `page`, which the link to the first page lacks. */
export function pageLinks(
  { kind, linkValues, page: { page, limit }, total }: Pick<ListPage, 'kind' | 'linkValues' | 'page' | 'total'>,
  baseUrl: string,
): JsonObject {
  const params = LINK_NAMES.get(kind)!.flatMap((name) => linkParams(name, linkValues[name]));
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
