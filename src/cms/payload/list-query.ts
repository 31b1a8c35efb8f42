// Translates a list request into Payload's query: conditions, order, fields and page. What a query may name depends on
// what the collection has: drafts, a trash, and which fields.

import { CmsRejected } from '../../errors.ts';
import { percentDecoded } from '../../text/text.ts';
import type { RestCall } from '../client.ts';
import type { CallOptions, CollectionSpec, Detail, ListRequest, Query } from '../port.ts';
import type { Ids } from './ids.ts';
import { DETAIL_FIELDS, idSpaceOf, payloadStatusOf, siteStatusField } from './records.ts';

/** What the site has switched on for a collection. */
type Features = typeof NO_FEATURES;
export const NO_FEATURES = { drafts: false, trash: false };

/**
 * Reads the features once per collection and process: a site restarts to switch them. A collection has one if Payload
 * accepts a condition on the field of the feature.
 */
export function createFeatures(call: RestCall) {
  const known = new Map<string, Features>();
  return async ({ collection }: CollectionSpec, options: CallOptions): Promise<Features> => {
    const found = known.get(collection);
    if (found) return found;
    const has = (condition: Query) => canBeQueried(call, collection, condition, options);
    const [drafts, trash] = await Promise.all([
      has({ 'where[_status][equals]': 'draft' }),
      has({ 'where[deletedAt][exists]': true, trash: true }),
    ]);
    known.set(collection, { drafts, trash });
    return { drafts, trash };
  };
}

/**
 * Whether Payload accepts the condition. It refuses (`QueryError`) a field that the collection does not have or does
 * not show to the caller. It accepts a virtual field, and that of a related collection (observed on 3.90.2).
 */
export async function canBeQueried(call: RestCall, slug: string, condition: Query, options: CallOptions) {
  try {
    await call('GET', slug, { query: { ...condition, limit: 1, depth: 0, 'select[id]': true } }, options);
    return true;
  } catch (error) {
    if (error instanceof CmsRejected && error.code === 'QueryError') return false;
    throw error;
  }
}

const DEFAULT_LIMIT = 10;

const SORTS: Readonly<Record<NonNullable<ListRequest['order']>, string>> = {
  id: 'id',
  '-id': '-id',
  date: 'createdAt',
  '-date': '-createdAt',
  '-modified': '-updatedAt',
};

/** For ids that are texts, which get numbers as lists bring them. In this order numbers grow nearly with the time. */
const TEXT_SORTS: typeof SORTS = {
  ...SORTS,
  id: 'createdAt,id',
  '-id': '-createdAt,-id',
};

/**
 * The query of a Payload page that has the requested records: `take` ones after `skip` others. Undefined if no record
 * can match: Payload would answer some of these requests with 500.
 */
export function listQuery(ids: Ids, spec: CollectionSpec, request: ListRequest, features: Features) {
  const { statuses, detail, order, ids: wanted, slug, author, modifiedAfterUtc } = request;
  const ofStatus = statusQuery(spec, statuses, features);
  if (!ofStatus) return undefined;
  const conditions = [...ofStatus.conditions];
  if (wanted !== undefined) {
    const cmsIds = wanted.flatMap((id) => ids.toPayload(idSpaceOf(spec), id) ?? []);
    if (cmsIds.length === 0) return undefined;
    conditions.push({ '[id][in]': cmsIds.join(',') });
  }
  if (slug !== undefined) {
    const path = spec.paths.get('slug');
    if (path === undefined) return undefined;
    // The API percent-encodes letters beyond ASCII in slugs, and Payload does not.
    conditions.push({ [`[${path}][equals]`]: percentDecoded(slug) });
  }
  if (author !== undefined) {
    const [path, cmsId] = [spec.paths.get('author'), ids.toPayload('account', author)];
    if (path === undefined || cmsId === undefined) return undefined;
    conditions.push({ [`[${path}][equals]`]: cmsId });
  }
  if (modifiedAfterUtc !== undefined)
    conditions.push({ '[updatedAt][greater_than_equal]': nextSecond(modifiedAfterUtc) });
  const { limit, page, skip, take } = payloadPage(request);
  const query: Query = {
    limit,
    page,
    ...spec.recordParams,
    // Each condition has an index of its own, since two may be about the same field.
    ...numbered('where[and]', conditions),
    ...ofStatus.parameters,
    ...(order !== undefined && { sort: (ids.areTexts() ? TEXT_SORTS : SORTS)[order] }),
    ...selectOf(spec, detail),
  };
  return { query, skip, take };
}

/**
 * The parameters that make Payload send only the fields of a detail. `mapped` has none: Payload makes some fields out
 * of others, such as HTML out of rich text, and a selection would have to name both.
 */
export function selectOf(spec: CollectionSpec, detail: Detail | undefined): Query {
  if (detail === undefined || detail === 'mapped') return {};
  const ofMapping = detail === 'slug' ? [spec.paths.get('slug') ?? 'slug'] : [];
  // The site's own field tells a pending record from a draft.
  const ofStatus = detail === 'stamp' ? [siteStatusField(spec) ?? []].flat() : [];
  const fields = [...DETAIL_FIELDS[detail], ...ofMapping, ...ofStatus];
  return Object.fromEntries(fields.map((field) => [`select[${field.replaceAll('.', '][')}]`, true]));
}

/**
 * What a query says about statuses; undefined if no record of the collection can have one of these. Payload has one
 * word, `draft`, for several statuses: the list may have records of other ones (`ListRequest.statuses`).
 *
 *     statuses            with drafts and trash                without both
 *     'any'               no condition, without the trash      no condition
 *     'all'               no condition, the trash too          no condition
 *     undefined           `_status` is `published`             no condition: what is saved is published
 *     ['pending']         `_status` is `draft`: every draft    undefined
 *     ['draft', 'trash']  `_status` is `draft`, or deleted     undefined
 */
function statusQuery(
  spec: CollectionSpec,
  statuses: ListRequest['statuses'],
  { drafts, trash }: Features,
): { conditions: Query[]; parameters: Query } | undefined {
  if (statuses === 'any') return { conditions: [], parameters: {} };
  const withTrashed = trash && (statuses === 'all' || statuses?.includes('trash') === true);
  const parameters = withTrashed ? { trash: true } : {};
  if (statuses === 'all') return { conditions: [], parameters };
  const wanted = statuses ?? ['publish'];
  // Without drafts, all that is saved is published.
  if (!drafts && wanted.includes('publish')) return { conditions: [], parameters };
  const stored = new Set(drafts ? wanted.flatMap((status) => payloadStatusOf(spec, status) ?? []) : []);
  const alternatives: Query[] = [];
  if (stored.size > 0) alternatives.push({ '[_status][in]': [...stored].join(',') });
  if (withTrashed) alternatives.push({ '[deletedAt][exists]': true });
  if (alternatives.length === 0) return undefined;
  return { conditions: alternatives.length === 1 ? alternatives : [numbered('[or]', alternatives)], parameters };
}

/** Of `[or]` and two conditions makes `{'[or][0][_status][in]': 'draft', '[or][1][deletedAt][exists]': true}`. */
const numbered = (prefix: string, conditions: readonly Query[]): Query =>
  Object.fromEntries(
    conditions.flatMap((rules, n) => Object.entries(rules).map(([path, value]) => [`${prefix}[${n}]${path}`, value])),
  );

/**
 * Payload knows pages only. So ten records from offset 15 are asked for as the second page of 13, without the first two
 * of it: the smallest page that has them all. With two requests, the list could change in between.
 */
export function payloadPage(request: Pick<ListRequest, 'limit' | 'offset' | 'page'>) {
  const { limit = DEFAULT_LIMIT, offset, page = 1 } = request;
  if (offset === undefined) return { limit, page, skip: 0, take: limit };
  let size = limit;
  while ((offset % size) + limit > size) size += 1;
  return { limit: size, page: Math.floor(offset / size) + 1, skip: offset % size, take: limit };
}

/** `2027-01-10 15:00:00` -> `2027-01-10T15:00:01.000Z`: the filter excludes its own second. */
const nextSecond = (utc: string): string => new Date(Date.parse(`${utc.replace(' ', 'T')}Z`) + 1000).toISOString();
