// Owns the sync's requests to the CMS: counted, numbered by read marks, and checked for completeness; lists page by
// page, whole or from a time; and which of the mapping's collections the site does not have at present.

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
import type { KindMapping } from '../mapping/mapping.ts';
import type { ImageRecord, Kind } from '../model/records.ts';
import type { RecordStamp } from '../store/records.ts';
import { formatWallTime } from '../time/wall-time.ts';
import { idOf, recordsPerPage, stampOf } from './collections.ts';
import { collectionOf, countRecords, STATE_KEYS, type SyncContext } from './context.ts';
import { READ_AS } from './sync-state.ts';

/** How the sync calls the CMS: as a visitor, past the caches in front of it. */
export const visitorOptions = ({ visitorCredentials, signal, memory }: SyncContext): CallOptions => ({
  credentials: visitorCredentials,
  signal,
  uncached: `${memory.startedMs.toString(36)}-${memory.lastMark}`,
});

export const imageOptions = (context: SyncContext): CallOptions => ({
  ...visitorOptions(context),
  credentials: context.imageReader,
});

/** The account that stands for every visitor may read what it reads; the media library shows all of them the same. */
const viewOf = ({ visitorCredentials }: SyncContext, { kind }: CollectionSpec): CmsView =>
  kind !== undefined && visitorCredentials !== undefined ? 'reader' : 'public';

/** By how much the CMS's clock may be ahead of the gateway's, before its first response. */
const MAX_SKEW_S = 3600;

/**
 * The CMS's clock in seconds, as it is now or later: it sends whole seconds, and may have read its clock as soon as the
 * request was sent.
 */
export function latestCmsTimeS({ memory: { cmsClock }, clockMs, nowMs }: SyncContext): number {
  if (cmsClock === undefined) return Math.ceil(nowMs() / 1000) + MAX_SKEW_S;
  return Math.ceil((cmsClock.timeMs + 1000 + clockMs() - cmsClock.sentMs) / 1000);
}

async function list(
  context: SyncContext,
  spec: CollectionSpec,
  request: ListRequest,
  options: CallOptions,
): Promise<MarkedPage> {
  const { cms, memory, clockMs } = context;
  memory.lastMark += 1;
  memory.tally.requests += 1;
  const [readMark, sentMs] = [memory.lastMark, clockMs()];
  const page = await cms.list(spec, request, options);
  memory.cmsClock = { timeMs: page.cmsTimeMs, sentMs };
  return { ...page, readMark };
}

/**
 * One page of a list. If it is too large for one response, its records are read one at a time, without those that are
 * too large alone.
 */
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

/** Until it changes, or a scan begins, polls take the record for one that is known. The replica gets none. */
function leaveOut({ memory, observe }: SyncContext, { kind, collection }: CollectionSpec, stamp: RecordStamp): void {
  const tooLarge = kind && memory.kinds[kind].tooLarge;
  const message = `record ${stamp.id} of "${collection}" is larger than 5 MB: the gateway leaves it out`;
  if (!tooLarge?.has(stamp.id)) observe({ type: 'message', level: 'warn', message });
  tooLarge?.set(stamp.id, stamp);
}

/**
 * One page of a list. It may show fewer records than its total counts: WordPress counts posts that a plugin hides, and
 * a record that is too large alone is left out. Throws `CmsUnavailable` if records lack what the request asked for, and
 * what the CMS throws.
 */
export async function readPage(
  context: SyncContext,
  spec: CollectionSpec,
  request: PageRequest,
  options = visitorOptions(context),
): Promise<MarkedPage> {
  const page = await listInParts(context, spec, { view: viewOf(context, spec), ...request }, options);
  checkFields(context, spec, request.detail, page.records);
  return page;
}

/** The pages of a whole collection in the order of ids; see {@link paginate}. */
export function readAll(
  context: SyncContext,
  spec: CollectionSpec,
  { detail, ...options }: { detail: Detail; start?: number; concurrency?: number },
): AsyncGenerator<NumberedPage> {
  const limit = detail === 'mapped' ? recordsPerPage(spec, context.pageSize) : context.pageSize;
  // WordPress counts no records on a page after the last one, and all of them at an offset after the last record.
  const at = (page: number) => (spec.storedAs === 'posts' ? { offset: (page - 1) * limit } : { page });
  const read = (page: number) => readPage(context, spec, { order: 'id', detail, limit, ...at(page) });
  return paginate(read, { pageSize: limit, ...options });
}

/** One record with the fields that the mapping names. Throws what the CMS throws. */
export function readRecord(context: SyncContext, spec: CollectionSpec, id: number): Promise<CmsRecord> {
  context.memory.tally.requests += 1;
  return context.cms.read(spec, id, { view: viewOf(context, spec), detail: 'mapped' }, visitorOptions(context));
}

/**
 * All records with these ids, which may repeat, and the read mark of the first request. What the list counts and
 * leaves out is read by id: an empty page with a total is no answer. Throws as {@link readPage}.
 */
export async function readByIds(
  context: SyncContext,
  spec: CollectionSpec,
  ids: readonly number[],
): Promise<{ records: CmsRecord[]; readMark: number }> {
  const { pageSize } = context;
  const records: CmsRecord[] = [];
  let readMark = 0;
  for (let page = 1; ; page += 1) {
    const request: PageRequest = { ids, limit: pageSize, page, detail: 'mapped' };
    const response = await readPage(context, spec, request);
    readMark ||= response.readMark;
    records.push(...response.records);
    if (page * pageSize < response.total && response.records.length > 0) continue;
    if (records.length < response.total) records.push(...(await readHoles(context, spec, ids, records)));
    return { records, readMark };
  }
}

async function readHoles(
  context: SyncContext,
  spec: CollectionSpec,
  ids: readonly number[],
  records: readonly CmsRecord[],
): Promise<CmsRecord[]> {
  const known = new Set(records.map(idOf));
  const { kind } = spec;
  if (kind) for (const id of context.memory.kinds[kind].tooLarge.keys()) known.add(id);
  const holes = [...new Set(ids)].filter((id) => !known.has(id));
  const found: CmsRecord[] = [];
  for (const id of holes) {
    try {
      const record = await readRecord(context, spec, id);
      // Lists do not count a record with a status of a plugin: it is no hole.
      if (record[CMS_STATUS] === undefined) found.push(record);
    } catch (error) {
      // A plugin may deny to anonymous readers that a record exists.
      if (!(error instanceof CmsRejected && [401, 403, 404].includes(error.status))) throw error;
    }
  }
  return found;
}

export function readImages(context: SyncContext, ids: readonly number[]): Promise<ImageRecord[]> {
  context.memory.tally.requests += 1;
  return context.cms.images(ids, imageOptions(context));
}

/**
 * Throws `CmsUnavailable`, with the names of what is missing, unless every record has what the CMS sends of every
 * record, and the required fields that records of the collection have had until now. Example: the companion plugin is
 * deactivated, and WordPress no longer sends the key that hides an event.
 */
function checkFields(context: SyncContext, spec: CollectionSpec, detail: Detail, records: readonly CmsRecord[]): void {
  const { recordForm } = context.cms;
  const certain = recordForm.certainPaths(spec, detail);
  const { kind, requiredPaths, recordParams = {} } = spec;
  const known = kind && detail === 'mapped' ? context.memory.kinds[kind].knownFields : new Set<string>();
  for (const record of records) assertHasPaths(context, spec, record, [...certain, ...known]);
  if (!kind || detail !== 'mapped' || records.length === 0) return;
  // The occurrences of a series come with a parameter of the request, and no field of the mapping names them.
  const required = [...requiredPaths, ...Object.keys(recordParams)];
  const added = required.filter(
    (path) => !known.has(path) && records.every((record) => recordForm.hasPath(record, path)),
  );
  if (added.length === 0) return;
  for (const path of added) known.add(path);
  context.replica.apply({ state: { [STATE_KEYS.fields(kind)]: JSON.stringify([...known]) } });
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
 * Checks a record that a caller's request read or wrote. `isWritten`: it is the response to a write, which
 * the CMS has carried out. Throws `CmsUnavailable` `incomplete` if it lacks a field that records of its kind
 * have.
 */
export function assertHasFields(context: SyncContext, kind: Kind, record: CmsRecord, isWritten: boolean): void {
  const spec = collectionOf(context, kind);
  if (!spec) return;
  const paths = new Set([...context.cms.recordForm.certainPaths(spec), ...context.memory.kinds[kind].knownFields]);
  // A write does not ask for the occurrences of a series.
  if (isWritten) for (const path of Object.keys(spec.recordParams ?? {})) paths.delete(path);
  assertHasPaths(context, spec, record, [...paths], isWritten);
}

/** True if the response exceeded the limit of bytes (`maxBytes` in src/fixed-limits.ts). */
export const isTooLargeError = (error: unknown): boolean =>
  error instanceof CmsUnavailable && error.reason === 'too-large';

/**
 * Runs a step that reads something as a visitor. Resolves with undefined if it cannot be read at present, and the
 * replica keeps what it has: the site has no such collection, or refuses all visitors of it, for members only or
 * during maintenance. An account that the site refuses is another matter, which fails the poll. Throws what the CMS
 * throws otherwise.
 * @param spec of a collection, which the site may lack: it must say so itself, because a 404 of a proxy or of a plugin
 * that hides a route is a failure like any other
 */
export async function noteIfUnreadable<T>(
  context: SyncContext,
  name: string,
  step: () => Promise<T>,
  spec?: CollectionSpec,
): Promise<T | undefined> {
  const { cms, memory, observe, visitorCredentials } = context;
  try {
    const result = await step();
    memory.unreadable.delete(name);
    return result;
  } catch (error) {
    if (!(error instanceof CmsRejected)) throw error;
    if (visitorCredentials === undefined && [401, 403].includes(error.status)) {
      memory.unreadable.set(name, { isAbsent: false, words: `${error.status} ${error.code}` });
      return undefined;
    }
    if (!spec || error.kind !== 'no-collection') throw error;
    memory.tally.requests += 1;
    if (await cms.hasCollection(spec, visitorOptions(context))) throw error;
    const message = `the site has no collection "${name}": the gateway serves what it has read of it before`;
    if (!isAbsent(context, name)) observe({ type: 'message', level: 'warn', message });
    memory.unreadable.set(name, { isAbsent: true, words: error.message });
    return undefined;
  }
}

export const isAbsent = ({ memory }: SyncContext, name: string): boolean =>
  memory.unreadable.get(name)?.isAbsent === true;

/** Fails the initial sync of a site. */
export function unreadableError(context: SyncContext, { collection: name }: KindMapping): CmsRejected {
  const { isAbsent = true, words = '' } = context.memory.unreadable.get(name) ?? {};
  if (!isAbsent) return new CmsRejected('forbidden', `"${name}" (${words}).`);
  const remedy = 'Activate the plugin that has it, or correct the mapping; the command "check" says more.';
  return new CmsRejected('no-collection', `the site has no collection "${name}". ${remedy}`);
}

/**
 * What the site refuses to show to visitors; and which records the replica keeps although the site no longer has their
 * collection. The collection of events is named without records too. A plugin may be inactive for a minute only, so
 * that no absence ever deletes a record.
 */
export function unreadableReasons(context: SyncContext): string[] {
  const { memory, collections } = context;
  const refused = [...memory.unreadable].filter(([, { isAbsent }]) => !isAbsent);
  const named = refused.map(([name, { words }]) => `"${name}" (${words})`).join(', ');
  const kept = collections.flatMap((spec) => {
    if (!isAbsent(context, spec.collection)) return [];
    const count = countRecords(context, spec);
    if (count === 0 && spec.kind !== 'event') return [];
    return `"${spec.collection}", of which the replica keeps ${count} records`;
  });
  return [
    ...(refused.length > 0 ? [`the site refuses visitors ${named}: the gateway keeps what it has. ${READ_AS}`] : []),
    ...(kept.length > 0 ? [`the site no longer has ${kept.join(', ')}`] : []),
  ];
}

/** A page, and the number of its request: it grows with every list and every write. */
export interface MarkedPage extends CmsPage {
  readMark: number;
}

/** A part of a list. `readPage` adds the view. */
export type PageRequest = Omit<ListRequest, 'view'> & { detail: Detail; limit: number };

/** A page of a whole list: its number, from 1, and whether it is the last one. */
export type NumberedPage = MarkedPage & { page: number; isLast: boolean };

/**
 * Yields the pages of a list that is in the order of ids. If the CMS deletes a record of an earlier page meanwhile, all
 * later records move up by one: the first record of the next page is then on no page that was read. So a record that
 * was on no page must be read by id before it is deleted. `concurrency`: requests at a time. Throws what `readPage`
 * throws.
 */
export async function* paginate(
  readPage: (page: number) => Promise<MarkedPage>,
  { start = 1, pageSize, concurrency = 1 }: { start?: number; pageSize: number; concurrency?: number },
): AsyncGenerator<NumberedPage> {
  const pending: Promise<MarkedPage>[] = [];
  let total = 0;
  for (let page = start; ; page += 1) {
    const isAhead = () => pending.length < concurrency && (page + pending.length - 1) * pageSize < total;
    while (pending.length === 0 || isAhead()) {
      const request = readPage(page + pending.length);
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
 * A CMS such as WordPress sets the modification time of a record before it saves it: on a busy site a record
 * may appear after others that were modified later. Each poll lists what was modified since so long before the last.
 */
const LATE_COMMIT_MS = 30_000;
/**
 * Records whose modification lies further ahead are not listed again at every poll: a CMS such as WordPress
 * gives a new record its publication date as modification. Longer than the hour that clocks show twice.
 */
const AHEAD_MS = 2 * 3_600_000;

/**
 * The CMS's `modified` has a resolution of one second: two changes within it look the same. Each poll reads again what
 * was modified after the last one began, or so shortly before.
 */
const SAME_SECOND_MS = 2_000;

/** True if the record may have changed since the last poll although its `modified` is known. */
function mayHaveChanged({ modifiedUtc }: RecordStamp, polledMs: number | undefined, nowMs: number): boolean {
  // The modification time of a record that was created with a future date is that date.
  return modifiedUtc >= formatWallTime((polledMs ?? 0) - SAME_SECOND_MS) && modifiedUtc <= formatWallTime(nowMs);
}

/**
 * Lists the newest modifications. If they do not reach back to the last poll, it lists everything modified since then
 * in the order of ids: databases order equal times differently for every page (MariaDB does), so that pages ordered by
 * time would miss some records. `polledMs`: when that poll began, by the CMS's clock; undefined lists all records.
 * Throws what `readPage` throws. Resolves with the stamps, among them perhaps older ones; `recentIds`, those that may
 * have changed since that poll although their `modified` is known; the total of the whole list; and the CMS's clock
 * when the first page was read.
 *
 * Modifications far ahead of the CMS's clock are on the first page only: changes of such records are dated
 * now, and new and deleted ones change the total. A CMS that cannot filter by the modification time lists the
 * whole collection, which takes longer and is as correct.
 */
export async function listModified(
  readPage: (request: PageRequest) => Promise<MarkedPage>,
  { polledMs, detail, pageSize }: { polledMs: number | undefined; detail: Detail; pageSize: number },
) {
  const first = await readPage({ order: '-modified', limit: pageSize, detail, offset: 0 });
  const { total, cmsTimeMs } = first;
  const stamps = first.records.map(stampOf);
  const range: Pick<PageRequest, 'modifiedAfterUtc' | 'modifiedBeforeUtc'> = {};
  if (polledMs !== undefined) range.modifiedAfterUtc = formatWallTime(polledMs - LATE_COMMIT_MS);
  const aheadUtc = formatWallTime(cmsTimeMs + AHEAD_MS);
  if (polledMs !== undefined && (stamps[0]?.modifiedUtc ?? '') > aheadUtc) range.modifiedBeforeUtc = aheadUtc;
  const reachesBack = (stamps.at(-1)?.modifiedUtc ?? '') < (range.modifiedAfterUtc ?? '');
  if (total > pageSize && !reachesBack) {
    const read = (page: number) =>
      readPage({ order: 'id', detail, ...range, limit: pageSize, offset: (page - 1) * pageSize });
    for await (const { records } of paginate(read, { pageSize })) stamps.push(...records.map(stampOf));
  }
  const listed = stamps.filter(({ id }) => id !== 0);
  const recent = listed.filter((stamp) => mayHaveChanged(stamp, polledMs, cmsTimeMs));
  return { stamps: listed, recentIds: new Set(recent.map(({ id }) => id)), total, cmsTimeMs };
}
