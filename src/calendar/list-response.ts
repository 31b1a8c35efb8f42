// What lists share: the records that the actor may list, the requested page, the URLs of this page, the next and the
// previous one, and the response, whose steps are `responseSteps`; a feed has its own.

import type { Config } from '../config-schema.ts';
import { notReady, pageNotFound } from '../interface/errors.ts';
import type { Input } from '../interface/parameter.ts';
import { LIST_PARAMETERS } from '../interface/parameters.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { ANY_STATUS, isPostKind, type Kind, PLURALS, type PostKind } from '../model/records.ts';
import type { VisibleRecords } from '../store/database.ts';
import type { PageWindow } from '../store/lists.ts';
import { byteLength } from '../text/bytes.ts';
import { identityOfList, listItems, RenderedList } from './rendered-records.ts';
import { type ApiResponse, unpublishedScopes } from './request.ts';
import type { ApiRequest, Services } from './services.ts';
import { runInOneTurn, runInTurns, type Steps, withSlot } from './turns.ts';

export interface ListAccess {
  /** The public records, for staff with their unpublished ones. */
  visible: VisibleRecords;
  /** The requested statuses; undefined for the public. */
  statuses: readonly string[] | undefined;
  /** The `status` in the URLs of the pages. */
  status: string;
  /** The actor sees only what the public sees, so the response is the same for all such actors. */
  isPublic: boolean;
  /** Makes `visible` show these records with the images that only the actor sees. */
  addImagesOf(recordIds: readonly number[]): Promise<void>;
}

/** Throws 503 until the initial sync is complete: a part would look like all. Cached responses do not pass here. */
export function assertServable({ sync }: Pick<Services, 'sync'>): void {
  if (!sync.state().complete) throw notReady(sync.status().percent);
}

/** The kind of a list, and the other kinds of posts that its filters and its response use. */
interface ListedKinds {
  kind: Kind;
  usedKinds: readonly PostKind[];
}

/** Runs `use` with what a list may show to the actor. For staff it first reads unpublished records from the CMS. */
async function withAccess<T>(
  { kind, usedKinds }: ListedKinds,
  input: Input,
  request: ApiRequest,
  use: (access: ListAccess) => Promise<T>,
): Promise<T> {
  const { services } = request;
  const { replica, unpublishedRecords } = services;
  assertServable(services);
  const scopes = await unpublishedScopes(services, isPostKind(kind) ? [kind, ...usedKinds] : usedKinds, request);
  // Terms have no status, and all of them are public.
  const isStaff = isPostKind(kind) && scopes[kind] !== undefined;
  const sent = input.values.status as string[] | undefined;
  const statuses = isStaff ? (sent ?? ANY_STATUS) : undefined;
  const status = sent?.join(',') ?? (isStaff ? 'any' : 'publish');
  if (Object.keys(scopes).length === 0)
    return use({ visible: replica.db, isPublic: true, statuses, status, async addImagesOf() {} });
  return unpublishedRecords.use(request, scopes, ({ records: visible, addImagesOf }) =>
    use({ visible, isPublic: false, statuses, status, addImagesOf }),
  );
}

export interface ListPage extends Pick<ListAccess, 'isPublic' | 'visible'> {
  kind: Kind;
  ids: number[];
  total: number;
  page: RequestedPage;
  /** What the URLs of the pages repeat, by parameter; undefined for none. */
  urlValues: Record<string, unknown>;
  validUntilMs: number;
}

/** Throws 404 for a page of posts after the last one. Page 1 of an empty list exists. Terms have no last page. */
export function assertPageExists({ kind, total, page }: Pick<ListPage, 'kind' | 'total' | 'page'>): void {
  if (isPostKind(kind) && page.number > Math.max(totalPages(total, page.limit), 1)) throw pageNotFound(kind);
}

/**
 * Finds the page of a list and builds its response, in several turns of the event loop if that takes long. A page shows
 * one state: if event 12 is edited when half of the page is built, the page is found again, and built in one turn.
 * @throws ApiError 503 until the initial sync is complete, 404 for a page after the last one; CmsUnavailable
 */
export const listResponse = (
  kinds: ListedKinds,
  input: Input,
  request: ApiRequest,
  find: (access: ListAccess) => ListPage,
  build: (page: ListPage, request: ApiRequest) => Steps<ApiResponse> = responseSteps,
): Promise<ApiResponse> =>
  withAccess(kinds, input, request, async (access) => {
    const { account, network = '' } = request.actor;
    const caller = account ? String(account.userId) : network;
    // While the images are read, a record may become one that the actor may not see: the page is found again after it.
    const addImages = async () => {
      if (!access.isPublic && isPostKind(kinds.kind)) await access.addImagesOf(find(access).ids);
    };
    await addImages();
    // The page is of this version. `runInTurns` gives up if the records change, also while the list waits for a slot.
    const page = find(access);
    const { version } = page.visible;
    const response = await withSlot(caller, () => runInTurns(page.visible, version, build(page, request)));
    if (response !== undefined) return response;
    await addImages();
    // Then the page is built in one turn. That needs no slot: slots bound how many lists are half built at a time.
    return runInOneTurn(build(find(access), request));
  });

/** The response to the public may be cached; that to staff is the actor's own. */
function* responseSteps(listPage: ListPage, request: ApiRequest): Steps<ApiResponse> {
  assertPageExists(listPage);
  const { kind, total, page, isPublic, validUntilMs } = listPage;
  const name = PLURALS[kind];
  const pages = totalPages(total, page.limit);
  const rest = { ...pageUrls(listPage, request.baseUrl), total, total_pages: pages };
  const items = yield* listItems(listPage, request);
  const bytes = items.map((item) => item.bytes);
  // All items were read at this version: had it changed meanwhile, `runInTurns` would have given up.
  const replicaVersion = request.services.replica.version;
  return {
    status: 200,
    body: new RenderedList(name, bytes, rest),
    headers: { 'X-TEC-Total': String(total), 'X-TEC-TotalPages': String(pages) },
    chargedBytes: byteLength(bytes),
    ...(isPublic && { ...identityOfList(name, items, rest), validUntilMs, replicaVersion }),
  };
}

type RequestedPage = PageWindow & { number: number };

export type PageSizes = Pick<Config['lists'], 'perPage' | 'maxPerPage'>;

/** The requested page, which may be after the last one. The page size is at most `maxPerPage`. */
export function requestedPage(values: Record<string, unknown>, { perPage, maxPerPage }: PageSizes): RequestedPage {
  const number = Number(values.page ?? 1);
  const limit = Math.min(Number(values.per_page ?? perPage), maxPerPage);
  // SQLite requires an integer. All pages this far after the last one are equally empty.
  const offset = Math.min((number - 1) * limit, Number.MAX_SAFE_INTEGER);
  return { number, limit, offset };
}

export const totalPages = (total: number, perPage: number): number => Math.ceil(total / perPage);

/** `custom_fields[room]=A` for an object, `include=7,9` for a list, `featured=1` for true; none for undefined. */
export function urlParams(name: string, value: unknown): [string, string][] {
  if (value === undefined) return [];
  return isObject(value)
    ? Object.entries(value).flatMap(([key, item]) => urlParams(`${name}[${key}]`, item))
    : [[name, value === true ? '1' : String(value)]];
}

/** The Events Calendar's order in URLs of pages. Parameters that it does not repeat follow as they are declared. */
const URL_ORDER = `page per_page event has_events start_date end_date search geoloc geoloc_lat geoloc_lng status
  post_parent include starts_before starts_after ends_before ends_after venue organizer featured`.split(/\s+/);
const placeInUrl = (name: string) => (URL_ORDER.includes(name) ? URL_ORDER.indexOf(name) : URL_ORDER.length);
const namesInUrl = (kind: Kind): string[] =>
  LIST_PARAMETERS[kind].map(({ name }) => name).sort((a, b) => placeInUrl(a) - placeInUrl(b));

/** The URLs of a page, the next and the previous one. The last two end with `page=2`; that of page 1 has no `page`. */
export function pageUrls(
  { kind, urlValues, page: { number, limit }, total }: Pick<ListPage, 'kind' | 'urlValues' | 'page' | 'total'>,
  baseUrl: string,
): JsonObject {
  const params = namesInUrl(kind).flatMap((name) => urlParams(name, urlValues[name]));
  const others = params.filter(([name]) => name !== 'page');
  const urlWith = (pairs: [string, string][]): string =>
    `${baseUrl}/${PLURALS[kind]}/${pairs.length > 0 ? '?' : ''}${new URLSearchParams(pairs)}`;
  const urlOf = (page: number): string => urlWith(page === 1 ? others : [...others, ['page', String(page)]]);
  return {
    rest_url: urlWith(params),
    ...(number < totalPages(total, limit) ? { next_rest_url: urlOf(number + 1) } : {}),
    ...(number > 1 ? { previous_rest_url: urlOf(number - 1) } : {}),
  };
}
