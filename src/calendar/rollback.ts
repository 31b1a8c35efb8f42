// Rolls back a failed request: removes the records that it provably created, unless they have changed or something
// refers to them, such as another request in flight, and names in the error those that stay in the CMS.

import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { CmsRecord } from '../cms/port.ts';
import { ApiError, CmsRejected, CmsUnavailable } from '../errors.ts';
import { createLargeCache } from '../large-cache.ts';
import {
  type EventRecord,
  isTermKind,
  type KindOrImage,
  type LinkedKind,
  type PostKind,
  type PostRecord,
  type RecordOf,
  recordKey,
  type TermKind,
  type TermRecord,
} from '../model/records.ts';
import { eventIdsShowing, withDescendants } from '../store/records.ts';
import { cmsToApiError, unavailableError } from './cms-errors.ts';
import { callOptions } from './cms-records.ts';
import type { RequestContext, Rollback } from './request-context.ts';
import type { RequestHandle, Services, UsedRecords } from './services.ts';

/** A record in an error's `data.created`. */
export interface CreatedRecord {
  kind: KindOrImage;
  id: number;
}

/** A record in an error's `data.possibly_created`. Without an id, the gateway could not look for orphans. */
export interface PossiblyCreated {
  kind: KindOrImage;
  id?: number;
}

interface OrphanSearch {
  kind: KindOrImage;
  find: () => Promise<number[]>;
}

/**
 * The longest that a failed write waits for its poll, and for its search for orphans if the CMS does not
 * respond.
 */
const WAIT_LIMIT_MS = 3000;

/** The rollback of one request: each request that writes needs its own. */
export function createRollback(services: Services, request: RequestContext): Rollback {
  const handle = {};
  const { usedRecords, recentlyCreated, pendingPolls } = services;
  const created = new Map<string, CreatedRecord & { record: object | undefined }>();
  const searches: OrphanSearch[] = [];

  /** Removes what it can, newest first. Resolves with the records that stay. */
  async function removeAll(): Promise<CreatedRecord[]> {
    const orphans: CreatedRecord[] = [];
    for (const { kind, id, record } of [...created.values()].reverse()) {
      // A peer may be about to refer to the record, which this gateway cannot see. Nothing refers to events.
      const mayBeShared = kind !== 'event' && services.peers !== undefined;
      const remove = () => removeCreated(services, kind, id, record!, request);
      const isRemoved = record && !mayBeShared && (await usedRecords.removeUnused(handle, kind, id, remove));
      if (!isRemoved) orphans.unshift({ kind, id });
    }
    return orphans;
  }

  /**
   * A CMS that rejected the write responds at its own pace. One that did not respond may stay silent, so the
   * search has a time limit.
   */
  async function search({ kind, find }: OrphanSearch, isSilent: boolean): Promise<PossiblyCreated[]> {
    const search = find().catch(() => undefined);
    const ids = await (isSilent ? withinLimit(search) : search);
    return ids ? ids.map((id) => ({ kind, id })) : [{ kind }];
  }

  /** Requests of this user wait until the poll is complete. */
  function poll(): Promise<unknown> {
    const userId = request.actor.account?.userId ?? 0;
    const pending = services.sync.poll();
    pendingPolls.set(userId, pending);
    return pending.finally(() => {
      if (pendingPolls.get(userId) === pending) pendingPolls.delete(userId);
    });
  }

  /** Rolls back, and resolves with the error of the request. */
  async function rollBack(error: unknown): Promise<unknown> {
    const isUnknown = error instanceof CmsUnavailable && error.outcomeUnknown;
    const orphans = isUnknown ? [...created.values()].map(({ kind, id }) => ({ kind, id })) : await removeAll();
    const candidates = (await Promise.all(searches.map((entry) => search(entry, isUnknown)))).flat();
    if (!isUnknown && orphans.length === 0 && candidates.length === 0) return error;
    // So that the actor's next read shows what the CMS has.
    await withinLimit(poll());
    // By now the CMS may have responded to another request that created one of the candidates.
    const possibleOrphans = candidates.filter(
      ({ kind, id }) => id === undefined || !recentlyCreated.has(recordKey(kind, id)),
    );
    const apiError = toApiError(error);
    if (orphans.length > 0) apiError.data.created = orphans;
    if (possibleOrphans.length > 0) apiError.data.possibly_created = possibleOrphans;
    const names = [...orphans, ...possibleOrphans].map(({ kind, id = 'of unknown id' }) => `${kind} ${id}`);
    if (names.length > 0) {
      const message = `a failed write left records in the CMS, or may have: ${names.join(', ')}`;
      services.observe({ type: 'message', level: 'warn', message });
    }
    return apiError;
  }

  return {
    created(kind, id, record) {
      usedRecords.markCreated(handle, kind, id);
      recentlyCreated.set(recordKey(kind, id), true);
      created.set(recordKey(kind, id), { kind, id, record });
    },
    assertCreated(kind, id) {
      if (created.get(recordKey(kind, id))?.record) return;
      const message = 'The CMS answered a create with a record that was there before.';
      throw new CmsUnavailable('incomplete', message, { outcomeUnknown: true });
    },
    mayHaveCreated: (kind, find) => void searches.push({ kind, find }),
    use: (kind, id) => usedRecords.use(handle, kind, id),
    async run(steps) {
      try {
        return await steps();
      } catch (error) {
        throw await rollBack(error);
      } finally {
        usedRecords.release(handle);
      }
    },
  };
}

/** `data` of the result can name records. */
function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof CmsUnavailable) return unavailableError(error);
  if (error instanceof CmsRejected) return cmsToApiError(error, { kind: 'event', anonymous: false }) as ApiError;
  const message = 'The gateway could not complete this request.';
  return new ApiError(500, 'internal_server_error', message, { cause: error });
}

const withinLimit = <T>(work: Promise<T>): Promise<T | undefined> =>
  Promise.race([work, sleep(WAIT_LIMIT_MS, undefined, { ref: false })]);

/**
 * Moves a post to the trash, or deletes a term. Resolves with false and removes nothing if the record has
 * changed since, if something refers to it, or if the CMS does not show that. An image always stays: it has
 * no trash, and WordPress does not say what shows it. Throws what the CMS throws.
 * @param created the record as the CMS described it after the create
 */
async function removeCreated(
  services: Services,
  kind: KindOrImage,
  id: number,
  created: object,
  request: RequestContext,
): Promise<boolean> {
  if (kind === 'image') return false;
  if (isTermKind(kind)) return removeTerm(services, kind, created as TermRecord, request);
  // A venue that the CMS stores as a term could only be deleted permanently.
  const isPost = services.mapping.kinds[kind]!.storedAs === 'posts';
  return isPost && removePost(services, kind, id, created as PostRecord, request);
}

async function removePost(
  services: Services,
  kind: PostKind,
  id: number,
  created: PostRecord,
  request: RequestContext,
): Promise<boolean> {
  const { cmsRecords } = services;
  const { record } = await cmsRecords.readForEditing(kind, id, request);
  // The last step of the request moved it to the trash.
  if (record.status === 'trash') return true;
  if (!isDeepStrictEqual(withoutRendered(record), withoutRendered(created))) return false;
  if (kind !== 'event' && (await isReferredTo(services, kind, id, created, request))) return false;
  try {
    await cmsRecords.trash(kind, id, request);
  } catch (error) {
    if (!(error instanceof CmsRejected) || error.kind !== 'no-trash') throw error;
    await cmsRecords.delete(kind, id, request);
  }
  return true;
}

async function removeTerm(
  services: Services,
  kind: TermKind,
  created: TermRecord,
  request: RequestContext,
): Promise<boolean> {
  const { cms, cmsRecords, mapping, replica } = services;
  const { id } = created;
  const { record } = await cmsRecords.readForEditing(kind, id, request);
  if (!isDeepStrictEqual({ ...record }, { ...created })) return false;
  if (hasEvents(services, kind, id) || withDescendants(replica.db, [id]).length > 1) return false;
  if (!(await cms.isUnusedTerm(mapping.kinds[kind]!, id, callOptions(request)))) return false;
  await cmsRecords.delete(kind, id, request);
  return true;
}

/** Two reads may render the same text differently. */
function withoutRendered(record: PostRecord | RecordOf[PostKind]): object {
  const { description: _description, excerpt: _excerpt, ...rest } = record;
  return rest;
}

/** Whether an event in the replica refers to the record. */
function hasEvents({ replica }: Services, kind: LinkedKind | TermKind, id: number): boolean {
  return eventIdsShowing(replica.db, kind, id).length > 0;
}

/**
 * Whether an event refers to the venue or organizer: one in the replica, or one in the CMS that was created
 * or changed since the record was created. True if the CMS does not show all of those.
 */
async function isReferredTo(
  services: Services,
  kind: LinkedKind,
  id: number,
  created: PostRecord,
  request: RequestContext,
): Promise<boolean> {
  const { cms, serviceCredentials, sync } = services;
  if (hasEvents(services, kind, id)) return true;
  const events = services.mapping.kinds.event;
  if (events.linkFields.some((field) => field.kind === kind)) await sync.refreshLinkTables();
  const call = serviceCredentials === undefined ? callOptions(request) : { credentials: serviceCredentials };
  const limit = cms.maxPageSize;
  const toEvent = (cmsRecord: CmsRecord): EventRecord => events.read(cmsRecord, services.site(), sync.linkTables());
  const field = kind === 'venue' ? 'venues' : 'organizers';
  const isOlder = {
    '-id': (event: EventRecord) => event.id < id,
    '-modified': (event: EventRecord) => event.modifiedUtc < created.modifiedUtc,
  };
  for (const order of ['-id', '-modified'] as const) {
    const page = await cms.list(events, { view: 'editor', statuses: 'any', order, limit, detail: 'mapped' }, call);
    const newest = page.records.map(toEvent);
    if (newest.some((event) => event[field].includes(id))) return true;
    const reachesBack = newest.length === page.total || newest.some(isOlder[order]);
    // The total includes records that the CMS does not show to the caller.
    if (!reachesBack || newest.length < Math.min(page.total, limit)) return true;
  }
  return false;
}

interface CreatedEntry {
  creator: RequestHandle;
  /** Another request refers to the record. */
  isShared: boolean;
  removal?: Promise<boolean> | undefined;
}

/** A request may have checked an id long before it uses the record. */
const REMOVED_TTL_MS = 5 * 60_000;
const MAX_REMOVED = 10_000;

/** Knows which records the requests in flight refer to. Its size is bounded by their number. */
export function createUsedRecords(): UsedRecords {
  const created = new Map<string, CreatedEntry>();
  const used = new Map<RequestHandle, Set<string>>();
  const removed = createLargeCache<string, true>(MAX_REMOVED, { ttl: REMOVED_TTL_MS });
  const isUsedByOthers = (request: RequestHandle, key: string) =>
    [...used].some(([other, keys]) => other !== request && keys.has(key));

  return {
    markCreated(request, kind, id) {
      const key = recordKey(kind, id);
      if (created.get(key)?.creator === request) return;
      // Another request may have learned the id from the CMS first.
      created.set(key, { creator: request, isShared: isUsedByOthers(request, key) });
    },
    async use(request, kind, id) {
      const key = recordKey(kind, id);
      const entry = created.get(key);
      await entry?.removal;
      if (removed.has(key)) return false;
      const keys = used.get(request) ?? new Set();
      used.set(request, keys.add(key));
      if (entry && entry.creator !== request) entry.isShared = true;
      return true;
    },
    async removeUnused(request, kind, id, remove) {
      const key = recordKey(kind, id);
      const entry = created.get(key);
      if (entry?.creator !== request || entry.isShared) return false;
      let isCertain = true;
      entry.removal = remove().catch((error: unknown) => {
        isCertain = error instanceof CmsRejected;
        return false;
      });
      const isRemoved = await entry.removal;
      if (isRemoved || !isCertain) removed.set(key, true);
      entry.removal = undefined;
      return isRemoved;
    },
    release(request) {
      used.delete(request);
      for (const [key, { creator }] of created) if (creator === request) created.delete(key);
    },
  };
}
