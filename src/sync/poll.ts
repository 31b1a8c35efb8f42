// Owns the poll: what a poll reads in each collection and in the media library, and the loop that runs one
// poll at a time, at intervals and on request.

import { formatWallTime } from '../time/wall-time.ts';
import {
  absenceReason,
  isAbsent,
  readPage,
  refusalReason,
  sentAtMs,
  unlessAbsent,
  unlessRefused,
  visitorOptions,
} from './cms-reader.ts';
import { type Collection, stampOf } from './collections.ts';
import { restartResync, resyncState, STATE_KEYS, type SyncContext, UNKNOWN_SITE } from './context.ts';
import { confirmedDeletions, suspensionReason } from './deletion-guard.ts';
import { hasWriteSince } from './dirty-records.ts';
import { fetchDirty, fetchDirtyAndUnsettled, fetchRecords, ingestRecords } from './ingest.ts';
import { refreshLinkTables } from './link-tables.ts';
import { fetchMissingImages, pollMedia } from './media-sync.ts';
import { isWatermarkSettled, type MarkedPage, modifiedSince, updateWatermarkAge } from './paginate.ts';
import { matchesTotal, reconcile } from './reconcile.ts';
import { findDiffering } from './replica-records.ts';

/**
 * The list of all terms is read at every poll up to this many pages; longer lists are read a few pages at
 * each poll.
 */
const TERM_PAGES_PER_POLL = 5;

/**
 * Brings the replica up to date, and resolves with undefined. It resolves with a reason if the replica still has records
 * that the CMS's lists leave out: until their deletion is confirmed, the replica keeps them.
 * Throws what the CMS throws.
 */
export async function poll(context: SyncContext): Promise<string | undefined> {
  const { memory, collections, commit } = context;
  if (!memory.isSiteRead || memory.refused.has('site'))
    await unlessRefused(context, 'site', () => refreshSite(context));
  for (const collection of collections) {
    await unlessRefused(context, collection.name, async () => {
      if (collection.kind === 'event') await refreshLinkTables(context);
      await unlessAbsent(context, collection, () => pollCollection(context, collection));
    });
  }
  const isReadable = (collection: Collection) => !isAbsent(context, collection) && !memory.refused.has(collection.name);
  const present = collections.filter(isReadable);
  await unlessRefused(context, 'media', () => pollMedia(context));
  // A deleted term or image marks the records that refer to it dirty: they are read again now.
  for (const collection of present) await fetchDirty(context, collection);
  if (!memory.refused.has('media')) await fetchMissingImages(context);
  const watermarks = Object.fromEntries(
    Object.entries(memory.kinds).map(([kind, { watermarkUtc }]) => [kind, watermarkUtc]),
  );
  await commit(() => ({ state: { [STATE_KEYS.watermarks]: JSON.stringify(watermarks) } }));
  for (const collection of present) {
    const ids = await confirmedDeletions(context, collection);
    if (ids.length > 0)
      await fetchRecords(context, collection, ids, { reason: 'their deletion is confirmed', isConfirmed: true });
  }
  return (
    [refusalReason(context), suspensionReason(context), absenceReason(context)]
      .filter((reason) => reason !== undefined)
      .join('; ') || undefined
  );
}

async function pollCollection(context: SyncContext, collection: Collection): Promise<void> {
  await fetchDirtyAndUnsettled(context, collection);
  const { total, readMark } = collection.isStoredAsPosts
    ? await pollPosts(context, collection)
    : await pollTerms(context, collection);
  if (matchesTotal(context, collection, total) || hasWriteSince(context.memory, collection.kind, readMark)) return;
  await reconcile(context, collection);
}

/** Reads the site's facts. If they changed, every record must be read again. Throws what the CMS throws. */
export async function refreshSite(context: SyncContext): Promise<void> {
  const { cms, replica, commit, memory } = context;
  const site = await cms.site(visitorOptions(context));
  memory.isSiteRead = true;
  if (JSON.stringify(site) === JSON.stringify(memory.site)) return;
  // Times and addresses of every record depend on them.
  if (memory.site !== UNKNOWN_SITE) restartResync(memory);
  await commit(() => ({ state: { [STATE_KEYS.site]: JSON.stringify(site), ...resyncState(memory) } }));
  memory.site = site;
  replica.clearRendered();
}

type PollResult = Pick<MarkedPage, 'total' | 'readMark'>;

/** Fetches what was modified since the last poll. */
async function pollPosts(context: SyncContext, collection: Collection): Promise<PollResult> {
  const { pageSize } = context;
  const memory = context.memory.kinds[collection.kind];
  const { watermarkUtc, isPolled } = memory;
  const differing = new Set<number>();
  let newestUtc = watermarkUtc;
  let result: PollResult | undefined;
  const pages = modifiedSince((request) => readPage(context, collection, request), {
    watermarkUtc,
    isSettled: isWatermarkSettled(memory.watermarkAge, watermarkUtc),
    detail: 'stamp',
    pageSize,
    site: context.memory.site,
  });
  for await (const page of pages) {
    result ??= page;
    const nowUtc = formatWallTime(page.cmsTimeMs);
    const stamps = page.records.map(stampOf).filter(({ id }) => id !== 0);
    for (const id of findDiffering(context, collection, stamps)) differing.add(id);
    for (const { id, modifiedUtc } of stamps) {
      // A previous process may not have seen the second change within the second of the watermark.
      if (!isPolled && modifiedUtc >= watermarkUtc) differing.add(id);
      // The modification time of a record that was created with a future date is that date.
      if (modifiedUtc > newestUtc && modifiedUtc <= nowUtc) newestUtc = modifiedUtc;
    }
  }
  const { total, readMark } = result ?? { total: 0, readMark: 0 };
  await fetchRecords(context, collection, [...differing], { reason: 'the list of changes differs' });
  memory.watermarkUtc = newestUtc;
  memory.isPolled = true;
  memory.watermarkAge = updateWatermarkAge(memory.watermarkAge, newestUtc, sentAtMs(context, readMark));
  return { total, readMark };
}

/** Terms have no modification time: the poller reads their lists. */
async function pollTerms(context: SyncContext, collection: Collection): Promise<PollResult> {
  const { pageSize } = context;
  const memory = context.memory.kinds[collection.kind];
  const firstPage = memory.nextTermPage;
  let result: PollResult | undefined;
  let page = firstPage;
  for (let pagesRead = 0; pagesRead < TERM_PAGES_PER_POLL; pagesRead += 1) {
    const response = await readPage(context, collection, { order: 'id', limit: pageSize, page, detail: 'mapped' });
    result ??= response;
    await ingestRecords(context, collection, response.records, response.readMark);
    const isLast = page * pageSize >= response.total;
    page = isLast ? 1 : page + 1;
    if (page === firstPage || (isLast && firstPage === 1)) break;
  }
  memory.nextTermPage = page;
  return result ?? { total: 0, readMark: 0 };
}

export interface PollLoop {
  start(): void;
  /** Resolves when the running poll has ended. */
  stop(): Promise<void>;
  /**
   * Starts a poll, or another one after the running one. Resolves with its result; false if the loop is not
   * running.
   */
  pollNow(): Promise<boolean>;
  /** Ends the present pause. */
  wake(): void;
  /** Starts another poll immediately after the running one. */
  pollAgain(): void;
}

export interface PollLoopOptions {
  /** `isRequested`: somebody asked for this poll. Never rejects. */
  poll: (isRequested: boolean) => Promise<boolean>;
  /** Pause after a poll that took `durationMs`. */
  pauseMs: (durationMs: number) => number;
  clockMs: () => number;
  signal: AbortSignal;
}

export function createPollLoop({ poll, pauseMs, clockMs, signal }: PollLoopOptions): PollLoop {
  let running: Promise<void> | undefined;
  /** The poll that callers of `pollNow` wait for. */
  let requested: PromiseWithResolvers<boolean> | undefined;
  let isRequestedAgain = false;
  let endPause: (() => void) | undefined;

  async function pause(ms: number): Promise<void> {
    if (requested || isRequestedAgain || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    endPause = resolve;
    await promise;
    clearTimeout(timer);
    endPause = undefined;
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const current = requested;
      const isRequested = current !== undefined || isRequestedAgain;
      requested = undefined;
      isRequestedAgain = false;
      const startedMs = clockMs();
      const result = await poll(isRequested);
      current?.resolve(result);
      await pause(pauseMs(clockMs() - startedMs));
    }
    requested?.resolve(false);
  }

  return {
    start() {
      running ??= run();
    },
    async stop() {
      endPause?.();
      await running;
    },
    async pollNow() {
      if (!running || signal.aborted) return false;
      requested ??= Promise.withResolvers<boolean>();
      endPause?.();
      return requested.promise;
    },
    wake: () => endPause?.(),
    pollAgain() {
      isRequestedAgain = true;
      endPause?.();
    },
  };
}
