// What lists share: the statuses that the actor may list, the requested page, the links to this page, the next
// and the previous one, and the response.

import { notReady, pageNotFound } from '../interface/errors.ts';
import type { Input } from '../interface/parameter.ts';
import { LIST_PARAMETERS } from '../interface/parameters.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import type { Kind, PostKind, RecordOf } from '../model/records.ts';
import { type PageWindow, PUBLIC_VISIBILITY, type Visibilities, type Visibility } from '../store/filters.ts';
import { ANY_STATUS, exceedsPublic, isPublicOnly, restrictTo, visibilitiesFor } from './permissions.ts';
import { joinRendered, renderEntries, renderEntriesInTurns, type Serialize } from './rendered-records.ts';
import type { ApiResponse, RequestContext } from './request-context.ts';
import type { Audience } from './serializer.ts';
import type { ListSettings, Services } from './services.ts';

export interface ListScope {
  /** The requested statuses, as far as the actor may see them. */
  visibility: Visibility;
  /**
   * The events that a list of venues or organizers takes into account: all that the actor may see, except the
   * trash.
   */
  eventVisibility: Visibility;
  /** The actor's visibility of each kind, for linked records. */
  visibilities: Visibilities;
  /** The `status` in the links. */
  status: string;
  /** The actor sees only what the public sees, so the response is the same for all such actors. */
  isPublic: boolean;
}

/**
 * The scope of a list for the actor. Without a service account the replica has only public records. In that
 * case this first reads from the CMS what else the actor may see.
 * @param kinds the kind of the list, then the kinds that its filters use
 * @throws ApiError 503 until the initial sync is complete
 */
export async function listScope(
  services: Services,
  kinds: [PostKind, ...PostKind[]],
  input: Input,
  request: RequestContext,
): Promise<ListScope> {
  const { sync } = services;
  if (!sync.state().complete) throw notReady(sync.status().percent);
  const visibilities = await visibilitiesFor(services, request);
  const actorVisibility = visibilities[kinds[0]];
  const isStaff = exceedsPublic(actorVisibility);
  const sent = input.values.status as string[] | undefined;
  const { credentials } = request.actor;
  const requestId = request.requestId ? { requestId: request.requestId } : {};
  for (const kind of kinds)
    if (exceedsPublic(visibilities[kind]))
      await sync.fetchStaffRecords({ credentials, visibility: visibilities[kind], ...requestId }, [kind]);
  const defaultStatus = isStaff ? 'any' : 'publish';
  return {
    visibility: isStaff ? restrictTo(actorVisibility, sent ?? ANY_STATUS) : PUBLIC_VISIBILITY,
    eventVisibility: restrictTo(visibilities.event, ANY_STATUS),
    visibilities,
    status: sent ? sent.join(',') : defaultStatus,
    isPublic: isPublicOnly(visibilities),
  };
}

export interface ListPage<K extends PostKind> {
  kind: K;
  /** The key of the entries in the response. */
  name: string;
  ids: number[];
  total: number;
  page: Page;
  links: Record<string, string>;
  serialize: Serialize<K>;
  validUntilMs: number;
  /** What finding the page cost beyond one request. */
  extraRequests?: number;
}

/** How many requests beyond the first the rate limit charges for a list of this size. */
export const extraRequests = (records: number, recordsPerRequest: number): number =>
  Math.max(0, Math.ceil(records / recordsPerRequest) - 1);

/** Records of a JSON list that cost about as much as one request. */
const RECORDS_PER_REQUEST = 50;

/** Throws 404 for a page after the last one. An empty list has one page. */
export function assertPageExists(kind: PostKind, total: number, { page, perPage }: Page): void {
  if (page > Math.max(totalPages(total, perPage), 1)) throw pageNotFound(kind);
}

/**
 * Finds the page of a list and builds its response: joins rendered records for the public, or serializes the records for staff. Throws 404
 * for a page after the last one. A page that takes long is built in several turns of the event loop; if the replica changes meanwhile, once
 * more in one turn, because a page belongs to one state.
 */
export async function listResponse<K extends PostKind>(
  services: Services,
  find: () => Promise<{ listPage: ListPage<K>; scope: ListScope }>,
  baseUrl: string,
): Promise<ApiResponse> {
  for (const render of [renderEntriesInTurns<K>, renderEntries<K>]) {
    const { listPage, scope } = await find();
    const { kind, name, ids, total, page, links, serialize, validUntilMs, extraRequests: toFind = 0 } = listPage;
    assertPageExists(kind, total, page);
    const pages = totalPages(total, page.perPage);
    const rest: JsonObject = { ...links, total, total_pages: pages };
    const headers = { 'X-TEC-Total': String(total), 'X-TEC-TotalPages': String(pages) };
    const audience: Audience = { baseUrl, visibilities: scope.visibilities };
    const cost = { extraRequests: toFind + extraRequests(ids.length, RECORDS_PER_REQUEST) };
    if (!scope.isPublic) {
      const records = services.replica.getMany(kind, ids) as Map<number, RecordOf[K]>;
      const entries = ids.flatMap((id) => {
        const record = records.get(id);
        return record ? [serialize(record, audience)] : [];
      });
      return { status: 200, body: { [name]: entries, ...rest }, headers, ...cost };
    }
    const replicaVersion = services.replica.version;
    const entries = await render(services, kind, ids, audience, serialize);
    if (!entries) continue;
    const { parts, etag, tags } = joinRendered(name, entries, rest);
    return { status: 200, body: parts, etag, headers, cacheTags: tags, validUntilMs, replicaVersion, ...cost };
  }
  throw new Error('unreachable: without pauses nothing changes meanwhile');
}

export interface Page extends PageWindow {
  page: number;
  perPage: number;
}

/** The requested page, which may be after the last one. The page size is at most `maxPerPage`. */
export function pageOf(values: Record<string, unknown>, { perPage, maxPerPage }: ListSettings): Page {
  const page = Number(values.page ?? 1);
  const size = Math.min(Number(values.per_page ?? perPage), maxPerPage);
  // SQLite requires an integer. All pages this far after the last one are equally empty.
  const offset = Math.min((page - 1) * size, Number.MAX_SAFE_INTEGER);
  return { page, perPage: size, limit: size, offset };
}

/** The number of pages, 0 for an empty list. */
export const totalPages = (total: number, perPage: number): number => Math.ceil(total / perPage);

/** A parameter in a link. `csv`: the value is not encoded, because of its commas. */
export interface LinkParam {
  name: string;
  value: string;
  csv?: boolean;
}

/** The parameters of a list in the order of its links. Those that `order` does not name follow. */
export function linkOrder(kind: Kind, order: readonly string[]): string[] {
  const others = LIST_PARAMETERS[kind].map(({ name }) => name).filter((name) => !order.includes(name));
  return [...order, ...others];
}

/** Encoding does not change such a text. */
const UNRESERVED = /^[\w.~-]*$/;
const encode = (text: string): string =>
  UNRESERVED.test(text)
    ? text
    : encodeURIComponent(text)
        .replaceAll('%20', '+')
        .replace(/[!'()*]/g, percent);
const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** A parameter as sent: an object becomes a parameter for each of its entries. */
export const linkParams = (name: string, value: unknown): LinkParam[] =>
  isObject(value)
    ? Object.entries(value).map(([key, item]) => ({ name: `${name}[${key}]`, value: String(item) }))
    : [{ name, value: String(value) }];

const queryString = (params: LinkParam[]): string =>
  params.map(({ name, value, csv }) => `${encode(name)}=${csv ? value : encode(value)}`).join('&');

/**
 * The three links of a page, encoded alike. The links to other pages end with `page`, which the link to the
 * first page lacks.
 */
export function pageLinks(
  address: string,
  params: LinkParam[],
  { page, total, perPage }: { page: number; total: number; perPage: number },
): Record<string, string> {
  const self = queryString(params);
  const withoutPage = queryString(params.filter(({ name }) => name !== 'page'));
  const linkTo = (number: number): string => {
    const parts = [withoutPage, number === 1 ? '' : `page=${number}`].filter((part) => part !== '');
    return parts.length > 0 ? `${address}?${parts.join('&')}` : address;
  };
  return {
    rest_url: self === '' ? address : `${address}?${self}`,
    ...(page < totalPages(total, perPage) ? { next_rest_url: linkTo(page + 1) } : {}),
    ...(page > 1 ? { previous_rest_url: linkTo(page - 1) } : {}),
  };
}
