// Owns the sync's requests to the CMS: counted, numbered by read marks, and checked for completeness.

import type { CallOptions, CmsRecord, Query } from '../cms/port.ts';
import { CmsRejected } from '../errors.ts';
import type { ImageRecord } from '../model/records.ts';
import { type Collection, idOf } from './collections.ts';
import { checkComplete, incompleteError, MEDIA_FIELDS, missingPaths } from './complete-records.ts';
import type { SyncContext } from './context.ts';
import { nextReadMark } from './dirty-records.ts';
import type { MarkedPage } from './paginate.ts';

/** A list of the CMS. The records of a list without a kind are not checked for completeness. */
export type ListTarget = Pick<Collection, 'base' | 'scope' | 'isPosts' | 'dedupe'> & { kind?: Collection['kind'] };

/** Parameters and credentials of a request that is not made for the service account. */
export interface ReadAs {
  scope: Query;
  options: CallOptions;
}

/**
 * Some databases count a list a moment after they read it: a record that was created in between is no hole,
 * and missing only once.
 */
const MAX_ATTEMPTS = 3;

/** With the service account's credentials, or anonymously if there is none. */
export const serviceOptions = ({ service, signal }: SyncContext): CallOptions => ({ credentials: service, signal });

/** The gateway's clock when the request with this read mark was sent. */
export const sentAtMs = ({ memory, nowMs }: SyncContext, readMark: number): number =>
  memory.reads.sentMs.get(readMark) ?? nowMs();

async function list(context: SyncContext, base: string, query: Query, options: CallOptions): Promise<MarkedPage> {
  const { cms, memory, nowMs, signal } = context;
  const readMark = nextReadMark(memory);
  memory.reads.sentMs.set(readMark, nowMs());
  memory.counts.requests += 1;
  const page = await cms.list(base, query, { signal, ...options });
  memory.reads.cmsTimeMs = page.cmsTimeMs;
  return { ...page, readMark };
}

/**
 * One page of a list. Throws `CmsRejected` if the service account gets fewer records than the total promises,
 * `CmsUnavailable` if records lack what the query requested, and what the CMS throws.
 */
export async function readPage(
  context: SyncContext,
  target: ListTarget,
  query: Query,
  as?: ReadAs,
): Promise<MarkedPage> {
  const allParams = { ...(as?.scope ?? target.scope), ...query };
  const mayHaveHoles = !as && context.service !== undefined && target.isPosts && !target.dedupe;
  for (let attempt = 1; ; attempt += 1) {
    const page = await list(context, target.base, allParams, as?.options ?? serviceOptions(context));
    const expected = mayHaveHoles ? expectedRecords(query, page.total) : 0;
    if (page.records.length >= expected) {
      await checkComplete(context, target, query, page.records);
      return page;
    }
    if (attempt === MAX_ATTEMPTS) throw holesError(target.base, page.records.length, expected);
  }
}

/** One record with the fields of the replica. Throws what the CMS throws. */
export function readRecord(
  context: SyncContext,
  { base, fields }: Pick<Collection, 'base' | 'fields'>,
  id: number,
  query: Query,
  options: CallOptions,
): Promise<CmsRecord> {
  context.memory.counts.requests += 1;
  return context.cms.read(base, id, { ...query, _fields: fields }, options);
}

/**
 * All records with these ids, which may repeat, and the read mark of the first request. Throws as {@link
 * readPage}.
 */
export async function readByIds(
  context: SyncContext,
  collection: Collection,
  ids: readonly number[],
  as?: ReadAs,
): Promise<{ records: CmsRecord[]; readMark: number }> {
  const { pageSize } = context;
  const records: CmsRecord[] = [];
  let readMark = 0;
  for (let page = 1; ; page += 1) {
    const query = { include: ids.join(','), per_page: pageSize, page, _fields: collection.fields };
    const response = await readPage(context, collection, query, as);
    readMark ||= response.readMark;
    records.push(...response.records);
    if (page * pageSize >= response.total || response.records.length === 0) return { records, readMark };
  }
}

/** One page of the CMS's media. Throws `CmsUnavailable` if an item lacks a field, and what the CMS throws. */
export async function readMediaPage(context: SyncContext, query: Query): Promise<MarkedPage> {
  const page = await list(context, 'media', query, serviceOptions(context));
  for (const item of page.records) {
    const missing = missingPaths(item, MEDIA_FIELDS.split(','));
    if (missing.length > 0) throw incompleteError('media', missing, idOf(item));
  }
  return page;
}

export function readImages(context: SyncContext, ids: readonly number[]): Promise<ImageRecord[]> {
  context.memory.counts.requests += 1;
  return context.cms.images([...ids], serviceOptions(context));
}

/** Number of records on this page of a list without holes. */
function expectedRecords({ per_page, page, offset }: Query, total: number): number {
  const size = Number(per_page);
  const before = offset === undefined ? (Number(page ?? 1) - 1) * size : Number(offset);
  return Math.max(0, Math.min(size, total - before));
}

/**
 * An account that may not edit others' records gets lists with holes, although WordPress's totals count what
 * it leaves out. The sync must not take what the account does not see for deleted.
 */
function holesError(base: string, received: number, expected: number): CmsRejected {
  const seen = `${received} of ${expected} records of ${base}`;
  return new CmsRejected('forbidden', `it is shown only ${seen}; it needs the right to edit all of them`);
}
