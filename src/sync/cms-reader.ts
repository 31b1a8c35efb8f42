// Owns the sync's requests to the CMS: counted, numbered by read marks, and checked for completeness; and which of
// the mapping's collections the site does not have, because a plugin is inactive or has switched them off.

import {
  type CallOptions,
  CMS_STATUS,
  type CmsRecord,
  type CollectionSpec,
  type Detail,
  type ListRequest,
  MEDIA,
} from '../cms/port.ts';
import { CmsRejected, CmsUnavailable } from '../errors.ts';
import type { ImageRecord, Kind } from '../model/records.ts';
import { type Collection, type CollectionPart, idOf, PUBLIC_SCOPE } from './collections.ts';
import { collectionOf, STATE_KEYS, type SyncContext } from './context.ts';
import { nextReadMark } from './dirty-records.ts';
import type { MarkedPage, PageRequest } from './paginate.ts';
import { countRecords } from './replica-records.ts';
import { readState } from './saved-state.ts';
import { READ_AS } from './sync-state.ts';

/** Records that one warning names, records that all warnings are about, and characters of an id. */
const [MAX_NAMED, MAX_OMITTED, MAX_ID_LENGTH] = [10, 1000, 100];

/** How the sync calls the CMS: as a visitor, past the caches in front of it. */
export const visitorOptions = ({ visitor, signal, memory }: SyncContext): CallOptions => ({
  credentials: visitor,
  signal,
  uncached: memory.reads.uncached,
});

const imageOptions = (context: SyncContext): CallOptions => ({
  ...visitorOptions(context),
  credentials: context.imageReader,
});

/** `clockMs` when the request with this read mark was sent. */
export const sentAtMs = ({ memory, clockMs }: SyncContext, readMark: number): number =>
  memory.reads.sentMs.get(readMark) ?? clockMs();

/** By how much the CMS's clock may be ahead of the gateway's, before its first response. */
const MAX_SKEW_S = 3600;

/**
 * The CMS's clock in seconds, as it is now or later: it sends whole seconds, and may have read its clock as soon as the
 * request was sent.
 */
export function latestCmsTimeS({ memory: { reads }, clockMs, nowMs }: SyncContext): number {
  if (reads.cmsTimeMs === 0) return Math.ceil(nowMs() / 1000) + MAX_SKEW_S;
  return Math.ceil((reads.cmsTimeMs + 1000 + clockMs() - reads.cmsSentMs) / 1000);
}

async function list(
  context: SyncContext,
  spec: CollectionSpec,
  request: ListRequest,
  options: CallOptions,
): Promise<MarkedPage> {
  const { cms, memory, clockMs } = context;
  const readMark = nextReadMark(memory);
  const sentMs = clockMs();
  memory.reads.sentMs.set(readMark, sentMs);
  memory.tally.requests += 1;
  const page = await cms.list(spec, request, options);
  memory.reads.cmsTimeMs = page.cmsTimeMs;
  memory.reads.cmsSentMs = sentMs;
  return { ...page, readMark };
}

/** One page of a list. If it is too large for one response, its records are read by id, in parts. */
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
  const page = await list(context, spec, { ...request, detail: 'stamp' }, options);
  if (page.records.length === 1) return { ...page, records: page.records.map(asTooLarge) };
  const stamps = new Map(page.records.map((record) => [idOf(record), record]));
  const { offset: _offset, page: _page, ...unpaged } = request;
  const records = await readInParts([...stamps.values()], async (part) => {
    try {
      const limit = part.length === 1 ? 1 : request.limit;
      const response = await list(context, spec, { ...unpaged, ids: part.map(idOf), limit }, options);
      // A list that repeats records may need more than one page for them.
      return part.length > 1 && response.total > limit ? undefined : response.records;
    } catch (error) {
      if (!isTooLargeError(error)) throw error;
      return undefined;
    }
  });
  const byId = new Map(records.map((record) => [idOf(record), record]));
  const inOrder = [...stamps.keys()].map((id) => byId.get(id)).filter((record) => record !== undefined);
  return { ...page, records: inOrder };
}

/**
 * One page of a list. A record that is too large alone comes as its stamp. The page may show fewer records than its total
 * counts: WordPress counts posts that a plugin hides. Throws `CmsUnavailable` if records lack what the request asked
 * for, and what the CMS throws.
 */
export async function readPage(
  context: SyncContext,
  { spec, scope }: CollectionPart,
  request: PageRequest,
): Promise<MarkedPage> {
  const page = await listInParts(context, spec, { ...scope, ...request }, visitorOptions(context));
  warnOfOmitted(context, spec, page.omittedIds ?? []);
  const wholeRecords = page.records.filter((record) => !isTooLarge(record));
  await checkComplete(context, spec, request.detail, wholeRecords);
  return page;
}

/** Warns once of each record that the adapter leaves out, up to `MAX_OMITTED`. */
function warnOfOmitted({ memory, observe }: SyncContext, { collection }: CollectionSpec, ids: readonly unknown[]) {
  const texts = ids.map((id) => String(JSON.stringify(id)).slice(0, MAX_ID_LENGTH));
  const unknown = texts
    .filter((id) => !memory.omitted.has(`${collection} ${id}`))
    .slice(0, MAX_OMITTED - memory.omitted.size);
  if (unknown.length === 0) return;
  for (const id of unknown) memory.omitted.add(`${collection} ${id}`);
  const named = unknown.slice(0, MAX_NAMED).join(', ');
  const more = unknown.length > MAX_NAMED ? ` and ${unknown.length - MAX_NAMED} more` : '';
  const message = `the gateway cannot serve these ids of "${collection}", and leaves out their records: ${named}${more}`;
  observe({ type: 'message', level: 'warn', message });
}

/** One record with the fields that the mapping names. Throws what the CMS throws. */
export function readRecord(context: SyncContext, { spec, scope }: CollectionPart, id: number): Promise<CmsRecord> {
  context.memory.tally.requests += 1;
  return context.cms.read(spec, id, { view: scope.view, detail: 'mapped' }, visitorOptions(context));
}

/** 401 and 403; a plugin may also deny to anonymous readers that a record exists. */
const isRefusal = (error: unknown): error is CmsRejected =>
  error instanceof CmsRejected && [401, 403, 404].includes(error.status);

/** As {@link readRecord}; undefined if the CMS refuses this record. */
const readUnlessRefused = (...read: Parameters<typeof readRecord>): Promise<CmsRecord | undefined> =>
  readRecord(...read).catch((error: unknown) => {
    if (!isRefusal(error)) throw error;
    return undefined;
  });

/**
 * All records with these ids, which may repeat, and the read mark of the first request. What the list counts and
 * leaves out is read by id: an empty page with a total is no answer. Throws as {@link readPage}.
 */
export async function readByIds(
  context: SyncContext,
  part: CollectionPart,
  ids: readonly number[],
): Promise<{ records: CmsRecord[]; readMark: number }> {
  const { pageSize } = context;
  const records: CmsRecord[] = [];
  let readMark = 0;
  for (let page = 1; ; page += 1) {
    const request: PageRequest = { ids, limit: pageSize, page, detail: 'mapped' };
    const response = await readPage(context, part, request);
    readMark ||= response.readMark;
    records.push(...response.records);
    if (page * pageSize < response.total && response.records.length > 0) continue;
    if (records.length < response.total) records.push(...(await readHoles(context, part, ids, records)));
    return { records, readMark };
  }
}

async function readHoles(
  context: SyncContext,
  part: CollectionPart,
  ids: readonly number[],
  records: readonly CmsRecord[],
): Promise<CmsRecord[]> {
  const listed = new Set(records.map(idOf));
  const holes = [...new Set(ids)].filter((id) => !listed.has(id));
  const found: CmsRecord[] = [];
  for (const id of holes) {
    const record = await readUnlessRefused(context, part, id);
    // Lists do not count a record with a status of a plugin.
    if (record && record[CMS_STATUS] === undefined) found.push(record);
  }
  return found;
}

/** One page of the CMS's media. Throws `CmsUnavailable` if an item lacks a field, and what the CMS throws. */
export async function readMediaPage(context: SyncContext, request: PageRequest): Promise<MarkedPage> {
  const page = await list(context, MEDIA, { ...PUBLIC_SCOPE, ...request }, imageOptions(context));
  await checkComplete(context, MEDIA, request.detail, page.records);
  return page;
}

export function readImages(context: SyncContext, ids: readonly number[]): Promise<ImageRecord[]> {
  context.memory.tally.requests += 1;
  return context.cms.images(ids, imageOptions(context));
}

/** Fails a poll, or the request of a caller. */
function incompleteError(name: string, missing: readonly string[], id: number, outcomeUnknown = false): CmsUnavailable {
  const which = id > 0 ? `record ${id} of ${name}` : `a record of ${name}`;
  const message = `The CMS's response is incomplete: ${which} lacks ${missing.join(', ')}.`;
  return new CmsUnavailable('incomplete', message, { outcomeUnknown });
}

/**
 * Throws `CmsUnavailable`, with the names of what is missing, unless every record has what the CMS sends of every
 * record, and the required fields that records of the collection have had until now. Example: the companion plugin is
 * deactivated, and WordPress no longer sends the key that hides an event.
 */
async function checkComplete(
  context: SyncContext,
  spec: CollectionSpec,
  detail: Detail,
  records: readonly CmsRecord[],
): Promise<void> {
  const { recordForm } = context.cms;
  const requested = recordForm.requestedPaths(spec, detail);
  const roots = new Set(requested.map((path) => path.split('.', 1)[0]));
  const certain = recordForm.certainPaths(spec).filter((path) => roots.has(path));
  const { kind, requiredPaths, recordParams = {} } = spec;
  const known = kind && detail === 'mapped' ? knownFields(context, kind) : new Set<string>();
  for (const record of records) assertHasPaths(context, spec, record, [...certain, ...known]);
  if (!kind || detail !== 'mapped' || records.length === 0) return;
  // The occurrences of a series come with a parameter of the request, and no field of the mapping names them.
  const isRequired = (path: string) => requiredPaths.includes(path) || Object.hasOwn(recordParams, path);
  const hasPath = (path: string) => records.every((record) => recordForm.hasPath(spec, record, path));
  const added = requested.filter((path) => isRequired(path) && !known.has(path) && hasPath(path));
  if (added.length === 0) return;
  for (const path of added) known.add(path);
  await context.commit(() => ({ state: { [STATE_KEYS.fields(kind)]: JSON.stringify([...known]) } }));
}

function assertHasPaths(
  { cms: { recordForm } }: SyncContext,
  spec: CollectionSpec,
  record: CmsRecord,
  paths: readonly string[],
  isWritten = false,
): void {
  const missing = paths.filter((path) => !recordForm.hasPath(spec, record, path));
  if (missing.length > 0) throw incompleteError(spec.collection, missing, idOf(record), isWritten);
}

/**
 * Checks a record that a caller's request read or wrote. `isWritten`: it is the response to a write, which
 * the CMS has carried out. Throws `CmsUnavailable` `incomplete` if it lacks a field that records of its kind
 * have.
 */
export function assertComplete(context: SyncContext, kind: Kind, record: CmsRecord, isWritten: boolean): void {
  const spec = collectionOf(context, kind)?.spec;
  if (!spec) return;
  const paths = new Set([...context.cms.recordForm.certainPaths(spec), ...knownFields(context, kind)]);
  // A write does not ask for the occurrences of a series.
  if (isWritten) for (const path of Object.keys(spec.recordParams ?? {})) paths.delete(path);
  assertHasPaths(context, spec, record, [...paths], isWritten);
}

function knownFields(context: SyncContext, kind: Kind): Set<string> {
  const memory = context.memory.kinds[kind];
  memory.knownFields ??= new Set(readState<string[]>(context, 'fields', STATE_KEYS.fields(kind), []));
  return memory.knownFields;
}

/** Key of a record of which only the stamp could be read. */
const TOO_LARGE = 'calendar_gateway_too_large';

export const isTooLarge = (record: CmsRecord): boolean => record[TOO_LARGE] === true;

const asTooLarge = (stamp: CmsRecord): CmsRecord => ({ ...stamp, [TOO_LARGE]: true });

/** True if the response exceeded the limit of bytes (`maxBytes` in src/limits.ts). */
export const isTooLargeError = (error: unknown): boolean =>
  error instanceof CmsUnavailable && error.reason === 'too-large';

/**
 * Reads records whose common response was too large, in halves. `readPart` resolves with undefined if its
 * response is too large or does not hold all of these records. A record that is too large alone comes as its
 * stamp, for which {@link isTooLarge} is true. Throws what `readPart` throws.
 */
async function readInParts(
  stamps: readonly CmsRecord[],
  readPart: (stamps: readonly CmsRecord[]) => Promise<readonly CmsRecord[] | undefined>,
): Promise<CmsRecord[]> {
  const half = Math.ceil(stamps.length / 2);
  const records: CmsRecord[] = [];
  for (const part of [stamps.slice(0, half), stamps.slice(half)]) {
    if (part.length === 0) continue;
    const read = await readPart(part);
    records.push(...(read ?? (part.length > 1 ? await readInParts(part, readPart) : part.map(asTooLarge))));
  }
  return records;
}

/**
 * Runs a step that reads the collection. Resolves with undefined if the site itself says that it has no such
 * collection: a 404 of a proxy or of a plugin that hides a route is a failure like any other. Throws what the
 * CMS throws.
 */
export async function unlessAbsent<T>(
  context: SyncContext,
  { kind, name, spec }: Collection,
  step: () => Promise<T>,
): Promise<T | undefined> {
  const { cms, memory, observe } = context;
  const log = (message: string) => observe({ type: 'message', level: 'warn', message });
  try {
    const result = await step();
    if (memory.absent.delete(kind)) log(`the site has the collection "${name}" again`);
    return result;
  } catch (error) {
    if (!(error instanceof CmsRejected) || error.kind !== 'no-collection') throw error;
    memory.tally.requests += 1;
    if (await cms.hasCollection(spec, visitorOptions(context))) throw error;
    if (!memory.absent.has(kind))
      log(`the site has no collection "${name}": the gateway serves no record of it that it has not read before`);
    memory.absent.add(kind);
    return undefined;
  }
}

export const isAbsent = ({ memory }: SyncContext, { kind }: Pick<Collection, 'kind'>): boolean =>
  memory.absent.has(kind);

/** Whether the CMS refuses visitors as such, and not one record. */
const isClosed = (error: unknown): error is CmsRejected =>
  error instanceof CmsRejected && [401, 403].includes(error.status);

/**
 * Runs a step that reads something as a visitor. If the site refuses all visitors of it, for members only or during
 * maintenance, the replica keeps what it has: then this resolves with undefined. An account that the site refuses is
 * another matter, which fails the poll. Throws what the CMS throws otherwise.
 */
export async function unlessRefused<T>(
  context: SyncContext,
  name: string,
  step: () => Promise<T>,
): Promise<T | undefined> {
  const { visitor, memory } = context;
  try {
    const result = await step();
    memory.refused.delete(name);
    return result;
  } catch (error) {
    if (visitor !== undefined || !isClosed(error)) throw error;
    memory.refused.set(name, `${error.status} ${error.code}`);
    return undefined;
  }
}

/** What the site refuses to show to visitors; undefined if nothing. */
export function refusalReason({ memory: { refused } }: SyncContext): string | undefined {
  if (refused.size === 0) return undefined;
  const named = [...refused].map(([name, words]) => `"${name}" (${words})`).join(', ');
  return `the site refuses visitors ${named}: the gateway keeps what it has. ${READ_AS}`;
}

/** Fails the initial sync of a site that shows no visitor its events. */
export function refusedEventsError({ name }: Collection, { refused }: SyncContext['memory']): CmsRejected {
  return new CmsRejected('forbidden', `"${name}" (${refused.get(name)}).`);
}

/**
 * Fails the initial sync of a site without the collection of events: it would serve an empty calendar as if
 * the site had no events.
 */
export function noEventsError({ name }: Collection): CmsRejected {
  const remedy = 'Activate the plugin that has it, or correct the mapping; the command "check" says more.';
  return new CmsRejected('no-collection', `the site has no collection "${name}" of events. ${remedy}`);
}

/**
 * Which records the replica keeps although the site no longer has their collection; undefined if there are
 * none. The collection of events is named without records too. A plugin may be inactive for a minute only, so
 * that no absence ever deletes a record.
 */
export function absenceReason(context: SyncContext): string | undefined {
  const kept = context.collections.flatMap((collection) => {
    if (!isAbsent(context, collection)) return [];
    const count = countRecords(context, collection);
    return count > 0 || collection.kind === 'event'
      ? `"${collection.name}", of which the replica keeps ${count} records`
      : [];
  });
  return kept.length === 0 ? undefined : `the site no longer has ${kept.join(', ')}`;
}
