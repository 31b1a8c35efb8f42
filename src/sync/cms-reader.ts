// Owns the sync's requests for pages, whole lists and records by id: counted, numbered, checked for missing fields.

import {
  type CallOptions,
  CMS_STATUS,
  type CmsPage,
  type CmsRecord,
  type CmsView,
  type CollectionSpec,
  type Detail,
  type ListRequest,
} from '../cms/port.ts';
import { CmsRejected, CmsUnavailable } from '../errors.ts';
import type { ImageRecord, Kind } from '../model/records.ts';
import type { RecordStamp } from '../store/records.ts';
import { idOf, recordsPerPage, stampOf } from './collections.ts';
import { STATE_KEYS, type SyncContext } from './context.ts';

/** A page, and the read mark of its request. */
export interface MarkedPage extends CmsPage {
  readMark: number;
}

/** A part of a list. `readPage` adds the view. */
export type PageRequest = Omit<ListRequest, 'view'> & { detail: Detail; limit: number };

/** A page of a whole list: its number, from 1, and whether it is the last one. */
type NumberedPage = MarkedPage & { page: number; isLast: boolean };

/** How the sync calls the CMS: as a visitor, past the caches in front of it. */
export const visitorOptions = ({ visitorCredentials, signal, memory }: SyncContext): CallOptions => ({
  credentials: visitorCredentials,
  signal,
  uncached: `${memory.startedMs.toString(36)}-${memory.lastReadMark}`,
});

export const imageOptions = (context: SyncContext): CallOptions => ({
  ...visitorOptions(context),
  credentials: context.imageReader,
});

/** With `readAs: account`, a `reader`: it may list posts that visitors do not get (`CMS_STATUS`). Images are public. */
const viewOf = ({ visitorCredentials }: SyncContext, { kind }: CollectionSpec): CmsView =>
  kind !== undefined && visitorCredentials !== undefined ? 'reader' : 'public';

async function list(context: SyncContext, spec: CollectionSpec, request: ListRequest, options: CallOptions) {
  const { cms, memory, tally, clockMs } = context;
  memory.lastReadMark += 1;
  tally.requests += 1;
  const [readMark, sentMs] = [memory.lastReadMark, clockMs()];
  const page = await cms.list(spec, request, options);
  memory.cmsClock = { timeMs: page.cmsTimeMs, sentMs };
  return { ...page, readMark };
}

/** One page of a list. If it is too large, each record is read alone, and left out if it alone is too large too. */
async function listInParts(
  context: SyncContext,
  spec: CollectionSpec,
  request: ListRequest & { limit: number },
  options: CallOptions,
): Promise<MarkedPage> {
  try {
    return await list(context, spec, request, options);
  } catch (error) {
    if (!isTooLargeError(error) || request.detail !== 'mapped') throw error;
  }
  const { offset: _offset, page: _page, ...unpaged } = request;
  const page = await list(context, spec, { ...request, detail: 'stamp' }, options);
  const stamps = new Map(page.records.map((stamp) => [idOf(stamp), stamp]));
  const records: CmsRecord[] = [];
  for (const [id, stamp] of stamps) {
    try {
      records.push(...(await list(context, spec, { ...unpaged, ids: [id], limit: 1 }, options)).records);
    } catch (error) {
      if (!isTooLargeError(error)) throw error;
      leaveOut(context, spec, stampOf(stamp));
    }
  }
  return { ...page, records };
}

/** Keeps the record out of the replica. Until it changes or a scan begins, polls do not read it (`findDiffering`). */
function leaveOut({ memory, observe }: SyncContext, { kind, collection }: CollectionSpec, stamp: RecordStamp): void {
  const tooLarge = kind && memory.kinds[kind].tooLarge;
  const message = `record ${stamp.id} of "${collection}" is larger than 5 MB: the gateway leaves it out`;
  if (!tooLarge?.has(stamp.id)) observe({ type: 'message', level: 'warn', message });
  tooLarge?.set(stamp.id, stamp);
}

/**
 * One page of a list. It may have fewer records than its total says: WordPress counts posts that a plugin hides, and
 * `listInParts` leaves out a record that is too large. Throws what the CMS throws, and as `checkAndLearn`.
 */
export async function readPage(
  context: SyncContext,
  spec: CollectionSpec,
  request: PageRequest,
  options = visitorOptions(context),
): Promise<MarkedPage> {
  const page = await listInParts(context, spec, { view: viewOf(context, spec), ...request }, options);
  checkAndLearn(context, spec, request.detail, page.records);
  return page;
}

/** The pages of a whole collection in the order of ids; see {@link paginate}. */
export function readAll(
  context: SyncContext,
  spec: CollectionSpec,
  { detail, ...options }: { detail: Detail; start?: number; concurrency?: number },
): AsyncGenerator<NumberedPage> {
  const limit = detail === 'mapped' ? recordsPerPage(spec, context.pageSize) : context.pageSize;
  // By offset if it can be: after the last record WordPress sends the total 0 for a page, the true one for an offset.
  const at = (page: number) => (spec.storedAs === 'posts' ? { offset: (page - 1) * limit } : { page });
  const read = (page: number) => readPage(context, spec, { order: 'id', detail, limit, ...at(page) });
  return paginate(read, { pageSize: limit, ...options });
}

/**
 * Yields the pages of a list that is in the order of ids. If the CMS deletes a record of an earlier page meanwhile, all
 * later records move up by one: the first record of the next page is then on no page that was read. So a record that
 * was on no page must be read by id before it is deleted. `concurrency`: requests at a time. Throws as `readPage`.
 */
export async function* paginate(
  readNumbered: (page: number) => Promise<MarkedPage>,
  { start = 1, pageSize, concurrency = 1 }: { start?: number; pageSize: number; concurrency?: number },
): AsyncGenerator<NumberedPage> {
  const pending: Promise<MarkedPage>[] = [];
  let total = 0;
  for (let page = start; ; page += 1) {
    const nextPage = () => page + pending.length;
    // Not before the first response: until then the total is 0.
    const readsAhead = () => pending.length < concurrency && (nextPage() - 1) * pageSize < total;
    while (pending.length === 0 || readsAhead()) {
      const request = readNumbered(nextPage());
      // If the consumer stops, nothing awaits a page that was requested ahead: its failure must not end the process.
      request.catch(() => {});
      pending.push(request);
    }
    const response = await pending.shift()!;
    total = response.total;
    const isLast = page * pageSize >= total;
    yield { ...response, page, isLast };
    if (isLast) return;
  }
}

/**
 * One record with the fields that the mapping names. It has no read mark of its own: `readByIds` stores it under that
 * of the list that lacked it, and no other caller stores it. Throws what the CMS throws.
 */
export function readRecord(context: SyncContext, spec: CollectionSpec, id: number): Promise<CmsRecord> {
  context.tally.requests += 1;
  return context.cms.read(spec, id, { view: viewOf(context, spec), detail: 'mapped' }, visitorOptions(context));
}

/**
 * All records with these ids, which may repeat, and the read mark of the first request. What the list counts and leaves
 * out, which may be all of it, is read by id. Throws as {@link readPage}.
 */
export async function readByIds(context: SyncContext, spec: CollectionSpec, ids: readonly number[]) {
  const { pageSize } = context;
  const records: CmsRecord[] = [];
  let [readMark, total, isLast] = [0, 0, false];
  for (let page = 1; !isLast; page += 1) {
    const response = await readPage(context, spec, { ids, limit: pageSize, page, detail: 'mapped' });
    readMark ||= response.readMark;
    total = response.total;
    records.push(...response.records);
    isLast = response.records.length === 0 || page * pageSize >= total;
  }
  if (records.length < total) records.push(...(await readHoles(context, spec, ids, new Set(records.map(idOf)))));
  return { records, readMark };
}

/**
 * Records that the list counted and left out: of the ids 11, 12 and 13 it sent 11 and 13, and the total 3. Not those
 * that `readPage` left out because they are too large.
 */
async function readHoles(context: SyncContext, spec: CollectionSpec, ids: readonly number[], sent: Set<number>) {
  const tooLarge = spec.kind && context.memory.kinds[spec.kind].tooLarge;
  const holes = [...new Set(ids)].filter((id) => !sent.has(id) && !tooLarge?.has(id));
  const found: CmsRecord[] = [];
  for (const id of holes) {
    try {
      const record = await readRecord(context, spec, id);
      // A record with a plugin's status is no hole: a list that leaves it out does not count it.
      if (record[CMS_STATUS] === undefined) found.push(record);
    } catch (error) {
      // A plugin may deny to anonymous readers that a record exists.
      if (!(error instanceof CmsRejected && [401, 403, 404].includes(error.status))) throw error;
    }
  }
  return found;
}

export function readImages(context: SyncContext, ids: readonly number[]): Promise<ImageRecord[]> {
  context.tally.requests += 1;
  return context.cms.images(ids, imageOptions(context));
}

/**
 * Throws `CmsUnavailable`, with the names of what is missing, unless every record has the fields that are
 *
 *   certain    what the CMS sends of every record: `id`, `modified_gmt`
 *   known      required fields that all records of a page have had before: `meta.start_date`
 *
 * Example: the companion plugin is deactivated, and WordPress no longer sends the key that hides an event.
 * Then learns further fields from the records (`learnFields`).
 */
function checkAndLearn(context: SyncContext, spec: CollectionSpec, detail: Detail, records: readonly CmsRecord[]) {
  const certain = context.cms.recordForm.certainPaths(spec, detail);
  const known = spec.kind && detail === 'mapped' ? context.memory.kinds[spec.kind].knownFields : undefined;
  for (const record of records) assertHasPaths(context, spec, record, [...certain, ...(known ?? [])]);
  if (known && records.length > 0) learnFields(context, spec, records, known);
}

/** The required fields that all of these records have are known from now on. */
function learnFields(
  { cms, replica }: SyncContext,
  { kind, requiredPaths, recordParams = {} }: CollectionSpec,
  records: readonly CmsRecord[],
  known: Set<string>,
): void {
  const allHave = (path: string) => records.every((record) => cms.recordForm.hasPath(record, path));
  const learned = [...requiredPaths, ...Object.keys(recordParams)].filter((path) => !known.has(path) && allHave(path));
  if (learned.length === 0) return;
  for (const path of learned) known.add(path);
  replica.apply({ state: { [STATE_KEYS.fields(kind!)]: JSON.stringify([...known]) } });
}

function assertHasPaths(
  { cms: { recordForm } }: SyncContext,
  spec: CollectionSpec,
  record: CmsRecord,
  paths: readonly string[],
  isWritten = false,
): void {
  const missing = paths.filter((path) => !recordForm.hasPath(record, path));
  if (missing.length === 0) return;
  const which = idOf(record) > 0 ? `record ${idOf(record)} of ${spec.collection}` : `a record of ${spec.collection}`;
  const message = `The CMS's response is incomplete: ${which} lacks ${missing.join(', ')}.`;
  throw new CmsUnavailable('incomplete', message, { outcomeUnknown: isWritten });
}

/**
 * Checks a record that a caller's request read or wrote. `isWritten`: it is the response to a write, which the CMS has
 * carried out. Throws `CmsUnavailable` `incomplete` if it lacks a field that records of its kind have.
 */
export function assertHasFields(context: SyncContext, kind: Kind, record: CmsRecord, isWritten: boolean): void {
  const spec = context.mapping.kinds[kind];
  if (!spec) return;
  const paths = new Set([...context.cms.recordForm.certainPaths(spec), ...context.memory.kinds[kind].knownFields]);
  // A write does not ask for the occurrences of a series.
  if (isWritten) for (const path of Object.keys(spec.recordParams ?? {})) paths.delete(path);
  assertHasPaths(context, spec, record, [...paths], isWritten);
}

export const isTooLargeError = (error: unknown): boolean =>
  error instanceof CmsUnavailable && error.reason === 'too-large';
