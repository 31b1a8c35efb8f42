// Owns the public view of published records: the replica gets what the CMS shows an anonymous reader. It gets what
// the CMS shows the service account only if the site refuses all anonymous readers.

import { type CallOptions, CMS_STATUS, type CmsRecord, type CollectionSpec } from '../cms/port.ts';
import { type CmsRejected, CmsUnavailable } from '../errors.ts';
import { WITHHELD } from '../model/records.ts';
import type { RecordStamp } from '../store/record-queries.ts';
import {
  asTooLarge,
  isRefusal,
  isTooLarge,
  isTooLargeError,
  isWithheld,
  readByIds,
  readPage,
  readUnlessRefused,
} from './cms-reader.ts';
import { type Collection, idOf, PUBLIC_SCOPE, stampOf } from './collections.ts';
import { decided, type PublicViewMode, restartResync, resyncState, STATE_KEYS, type SyncContext } from './context.ts';
import { markDirty } from './dirty-records.ts';

/**
 * The gateway changes the mode of a site that was public after the site has refused anonymous readers for
 * this long.
 */
const REFUSAL_GRACE_MS = 10 * 60_000;
/** Within this many full resyncs each record with a plugin's own status is read again. */
const RESYNCS_PER_PLUGIN_RECORD = 12;
/** The longest that a write waits for the public view of the record. */
const WRITE_TIMEOUT_MS = 5_000;

const anonymousOptions = ({ signal }: SyncContext): CallOptions => ({ signal });

const modeOf = ({ memory }: SyncContext, { kind }: Collection): PublicViewMode =>
  memory.publicView.modes[kind] ?? 'public';

/**
 * Turns records that the service account received, which may repeat, into those that may enter the replica: each
 * published one becomes its public view. `byId`: they were requested by id. A record whose public view is outdated
 * is left out, and the next poll reads it again. Throws `CmsUnavailable` if the CMS does not send the public view,
 * and what the CMS throws.
 */
export async function readPublicViews(
  context: SyncContext,
  collection: Collection,
  received: readonly CmsRecord[],
  { byId }: { byId: boolean },
): Promise<CmsRecord[]> {
  const distinct = new Map(received.map((record) => [idOf(record), record]));
  distinct.delete(0);
  const records = [...distinct.values()];
  if (context.serviceCredentials === undefined || !collection.isStoredAsPosts) return records;
  const published = records.filter((record) => record.status === 'publish' && !isTooLarge(record));
  const skipped = byId ? new Set<number>() : skippedPluginRecords(context, collection, published);
  const wanted = published.filter((record) => !skipped.has(idOf(record)));
  const viewsOrMode =
    wanted.length > 0 ? await readAnonymouslyOrDecide(context, collection, wanted) : modeOf(context, collection);
  if (viewsOrMode === 'account') return records;
  return records.flatMap((record) => {
    if (record.status !== 'publish' || isTooLarge(record)) return [record];
    const id = idOf(record);
    if (skipped.has(id) && viewsOrMode !== 'withheld') return [];
    const view = mergePublicView(
      context,
      collection,
      record,
      typeof viewsOrMode === 'string' ? undefined : viewsOrMode.get(id),
    );
    // A delayed database in front of the CMS may not have the record yet: the next poll reads it again.
    const isNewlyWithheld =
      view?.status === WITHHELD && viewsOrMode !== 'withheld' && !isWithheld(context, collection.spec, id);
    if (!view) decided(context, collection.name, 'refuse: the public view is older', { id });
    if (isNewlyWithheld) decided(context, collection.name, 'withhold: visitors do not get it', { id });
    if (!view || isNewlyWithheld) markDirty(context.memory, collection.kind, [id]);
    return view ? [view] : [];
  });
}

/**
 * Records with a plugin's own status cost one request each. Of those that are public and have not changed, a full
 * resync reads only some, unless it was restarted.
 */
function skippedPluginRecords(
  context: SyncContext,
  collection: Collection,
  records: readonly CmsRecord[],
): ReadonlySet<number> {
  const { started, progress } = context.memory.resync;
  if (progress?.readsEverything !== false) return new Set();
  const stamps = records
    .filter((record) => record[CMS_STATUS] !== undefined)
    .map(stampOf)
    .filter(({ id }) => id % RESYNCS_PER_PLUGIN_RECORD !== started % RESYNCS_PER_PLUGIN_RECORD);
  const stored = context.replica.stampsById(
    collection.kind,
    stamps.map(({ id }) => id),
  );
  const isStored = ({ id, modifiedUtc, status }: RecordStamp) =>
    stored.get(id)?.status === status && stored.get(id)?.modifiedUtc === modifiedUtc;
  return new Set(stamps.filter(isStored).map(({ id }) => id));
}

/**
 * The public view of one record that a caller received. Undefined: the CMS's public view is older than the
 * record. Where the site refuses anonymous readers, the service account's view of the record is used: the
 * caller's own never enters the replica. Throws what the CMS throws.
 */
export async function readPublicView(
  context: SyncContext,
  collection: Collection,
  record: CmsRecord,
  { credentials: _callers, ...call }: CallOptions,
): Promise<CmsRecord | undefined> {
  if (record.status !== 'publish' || !collection.isStoredAsPosts) return record;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(WRITE_TIMEOUT_MS)]);
  const options: CallOptions = { ...call, signal };
  const mode = modeOf(context, collection);
  if (mode === 'withheld') return mergePublicView(context, collection, record, undefined);
  if (mode === 'public') {
    const views = await readAnonymously(context, collection, [record], options);
    return unlessTooLarge(mergePublicView(context, collection, record, views.get(idOf(record))));
  }
  const asService = { ...options, credentials: context.serviceCredentials };
  return unlessTooLarge((await readByIds(context, collection, [idOf(record)], asService)).records[0]);
}

const unlessTooLarge = (view: CmsRecord | undefined): CmsRecord | undefined =>
  view && isTooLarge(view) ? undefined : view;

/**
 * Checks whether the CMS now shows anonymous readers a kind that it refused them before. If so, every record must be
 * read again. Throws what the CMS throws.
 */
export async function recheckPublicViews(context: SyncContext): Promise<void> {
  for (const collection of context.collections) {
    if (modeOf(context, collection) === 'public') continue;
    if (await isOpen(context, collection.spec)) {
      restartResync(context.memory);
      await setMode(context, collection, 'public');
    } else warnIfNotPublic(context, collection);
  }
  context.memory.publicView.isRead = true;
}

async function setMode({ memory, commit }: SyncContext, { kind }: Collection, mode: PublicViewMode): Promise<void> {
  const { publicView } = memory;
  if (mode === 'public') {
    memory.kinds[kind].refusedSinceMs = undefined;
    publicView.refusedSinceMs = undefined;
  }
  if (publicView.modes[kind] === mode) return;
  publicView.modes = { ...publicView.modes, [kind]: mode };
  await commit(() => ({
    state: { [STATE_KEYS.publicView]: JSON.stringify(publicView.modes), ...resyncState(memory) },
  }));
}

function warnIfNotPublic(context: SyncContext, collection: Collection): void {
  const warn = (message: string) => context.observe({ type: 'message', level: 'warn', message });
  const { name } = collection;
  const mode = modeOf(context, collection);
  if (mode === 'account')
    warn(
      `the CMS refuses anonymous readers: everybody gets "${name}" as the CMS shows it to the service account (see SECURITY.md)`,
    );
  if (mode === 'withheld')
    warn(`the CMS refuses anonymous readers of "${name}" only: its records are shown to staff only (see SECURITY.md)`);
}

/** The records as the CMS shows them to an anonymous reader, by id. */
async function readAnonymously(
  context: SyncContext,
  collection: Collection,
  records: readonly CmsRecord[],
  options: CallOptions,
): Promise<Map<number, CmsRecord>> {
  const listed = records.filter((record) => record[CMS_STATUS] === undefined).map(idOf);
  const publicPart = { ...collection, scope: PUBLIC_SCOPE };
  const views = listed.length > 0 ? (await readByIds(context, publicPart, listed, options)).records : [];
  // The CMS shows a record with a plugin's own status to an anonymous reader by id, but not in lists.
  for (const record of records) {
    if (record[CMS_STATUS] === undefined) continue;
    const read = readUnlessRefused(context, collection.spec, idOf(record), 'public', options);
    const view = await read.catch((error: unknown) => {
      if (!isTooLargeError(error)) throw error;
      return asTooLarge(record);
    });
    if (view) views.push(view);
  }
  return new Map(views.map((view) => [idOf(view), view]));
}

async function isOpen(context: SyncContext, spec: CollectionSpec): Promise<boolean> {
  const part = { spec, scope: PUBLIC_SCOPE };
  try {
    await readPage(context, part, { limit: 1, detail: 'id' }, anonymousOptions(context));
    return true;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return false;
  }
}

/**
 * Decides the mode of a collection after the CMS refused its anonymous readers, by whether it refuses them every
 * collection or this one only.
 */
async function decideAfterRefusal(
  context: SyncContext,
  collection: Collection,
  error: CmsRejected,
): Promise<PublicViewMode> {
  const { cms, memory, clockMs } = context;
  const others = context.collections.filter(({ isStoredAsPosts, kind }) => isStoredAsPosts && kind !== collection.kind);
  const probes = [...others.map(({ spec }) => spec), ...(cms.builtIn ? [cms.builtIn] : [])];
  let mode: PublicViewMode = 'account';
  for (const spec of probes) if (await isOpen(context, spec)) mode = 'withheld';
  if (memory.publicView.modes[collection.kind] === 'public') {
    const refusal = mode === 'account' ? memory.publicView : memory.kinds[collection.kind];
    refusal.refusedSinceMs ??= clockMs();
    const reason = `the CMS refuses anonymous readers of "${collection.name}" (${error.status} ${error.code})`;
    if (clockMs() - refusal.refusedSinceMs < REFUSAL_GRACE_MS)
      throw new CmsUnavailable('status', reason, { status: error.status });
  }
  await setMode(context, collection, mode);
  warnIfNotPublic(context, collection);
  return mode;
}

async function readAnonymouslyOrDecide(
  context: SyncContext,
  collection: Collection,
  records: readonly CmsRecord[],
): Promise<Map<number, CmsRecord> | PublicViewMode> {
  const mode = modeOf(context, collection);
  if (mode !== 'public') return mode;
  try {
    const views = await readAnonymously(context, collection, records, anonymousOptions(context));
    await setMode(context, collection, 'public');
    return views;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return decideAfterRefusal(context, collection, error);
  }
}

/** Undefined: the public view is older than the record, as that of a cache in front of the CMS is. */
function mergePublicView(
  { cms, serviceCredentials }: SyncContext,
  { spec }: Collection,
  record: CmsRecord,
  view: CmsRecord | undefined,
): CmsRecord | undefined {
  if (view === undefined) return { ...record, status: WITHHELD };
  if (isTooLarge(view)) return view;
  const viewUtc = stampOf(view).modifiedUtc;
  const isOlder = viewUtc !== '' && viewUtc < stampOf(record).modifiedUtc;
  if (isOlder) return undefined;
  // Without a service account this is what the next poll reads, and a caller's own view would differ from it.
  return serviceCredentials === undefined ? view : cms.recordForm.publicView(spec, record, view);
}
