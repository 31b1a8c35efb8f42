// Owns what every step of the sync gets: the replica, the CMS, the settings, and the memory. The memory holds
// everything that the sync remembers; a start loads it from the replica.

import type { Cms, Credentials } from '../cms/port.ts';
import type { LinkField, LinkTables } from '../mapping/link-fields.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { KINDS, type Kind, type Site } from '../model/records.ts';
import type { Observe } from '../observability/observations.ts';
import type { ChangeSet } from '../store/changes.ts';
import type { RecordStamp } from '../store/records.ts';
import type { Replica } from '../store/replica.ts';
import { getState } from '../store/state.ts';
import type { Collection } from './collections.ts';
import type { Cursor, WatermarkAge } from './paginate.ts';
import { readState } from './saved-state.ts';
import { initialSyncState, type SyncState } from './sync-state.ts';

export interface SyncContext {
  readonly replica: Replica;
  /** Applies what `build` makes of the replica's present contents. Resolves with the number of changed records. */
  readonly commit: (build: () => ChangeSet) => Promise<number>;
  readonly cms: Cms;
  readonly mapping: Mapping;
  /** As whom the sync reads: undefined for an anonymous visitor, or an account that stands for every visitor. */
  readonly visitor: Credentials;
  /** An account may read images that WordPress hides because they were uploaded to a draft. */
  readonly imageReader: Credentials;
  readonly collections: readonly Collection[];
  readonly pageSize: number;
  readonly resyncIntervalMs: number;
  readonly observe: Observe;
  /** The wall clock: for times that are saved or shown. An operator or NTP may set it. */
  readonly nowMs: () => number;
  /** A monotonic clock: for durations within this process. */
  readonly clockMs: () => number;
  readonly signal: AbortSignal;
  readonly memory: SyncMemory;
}

/** Logs a decision about records at level debug: `decided(context, 'events', 'delete', { ids, total })`. */
export const decided = ({ observe }: SyncContext, collection: string, decision: string, values: object): void =>
  observe({ type: 'sync-decision', collection, decision, values });

/** The site's facts before the first read of the CMS. */
export const UNKNOWN_SITE: Site = { url: '', name: '', timezone: 'UTC' };

export const collectionOf = ({ collections }: SyncContext, kind: Kind): Collection | undefined =>
  collections.find((collection) => collection.kind === kind);

/** Keys of the replica's state table. */
export const STATE_KEYS = {
  site: 'sync.site',
  /** The newest `modified` of each kind, as JSON. */
  watermarks: 'sync.watermarks',
  /** `1` once the initial sync was complete. */
  complete: 'sync.complete',
  initialSync: 'sync.initialSync',
  caughtUp: 'sync.lastCaughtUpMs',
  media: 'sync.media',
  linkTables: 'sync.linkTables',
  /** When the next full resync is due, and how far the present one is, as JSON. */
  resync: 'sync.resync',
  /** The required fields that records of a kind have had until now. */
  fields: (kind: Kind) => `sync.fields.${kind}`,
};

/** How far the initial sync of one collection is. Kept in the replica, so that a restart continues it. */
export interface CollectionProgress {
  done: number;
  total: number;
  isFinished: boolean;
  cursor?: Cursor;
  /** The poller continues from this modification time afterwards. */
  watermarkUtc: string;
}

export type SyncProgress = Partial<Record<Kind, CollectionProgress>>;

/** Missing records whose deletion waits until the CMS has confirmed it. */
export interface SuspendedDeletions {
  /** By id: since when it waits, by `clockMs`. */
  sinceMs: Map<number, number>;
  reason: string;
}

/**
 * What the sync remembers of one record kind. Read marks number the requests to the CMS in the order in which
 * they are sent.
 */
export interface KindMemory {
  /**
   * The newest modification that the poller has read; `''` before the first poll. `watermarkAge` says whether
   * it knows everything before.
   */
  watermarkUtc: string;
  watermarkAge: WatermarkAge | undefined;
  /**
   * False until this process has polled the kind: until then it cannot know which of the newest records
   * changed a second time.
   */
  isPolled: boolean;
  /** Grows with every change of the kind's records in the replica. */
  revision: number;

  /** Records to re-read by id. */
  dirty: Set<number>;
  /**
   * Records whose second of `modified` may not be over: polls re-read them. id -> `clockMs` when that `modified`
   * was first read.
   */
  unsettled: Map<number, number>;
  /**
   * id -> read mark. The replica's record is as new as this request; responses to earlier requests are
   * outdated.
   */
  readMarks: Map<number, number>;
  /** The read mark of the latest change that did not come from a poll. */
  lastWriteMark: number;
  /** Stamps of records that are left out because the CMS's response with one alone is too large. */
  tooLarge: Map<number, RecordStamp>;

  /**
   * The CMS's total minus the records that it listed last: 2 if it counts two that a plugin hides, and more with
   * `dedupe`, where it counts the dates of an event.
   */
  usualExcess: number;
  /** Long lists of terms are read a few pages at each poll. */
  nextTermPage: number;

  suspended: SuspendedDeletions | undefined;
  recentDeletions: { atMs: number; count: number }[];

  /** Events that this gateway or a webhook saw in the trash, until they are deleted here. */
  trashed: Set<number>;
  /** Required fields that every record had until now, such as `meta.start_date`. Loaded at the first use. */
  knownFields: Set<string> | undefined;
}

export interface MediaMemory {
  /** Of the initial sync. */
  progress: { done: number; total: number };
  /** Images of records that were read since the last poll, if they may have changed, and of webhooks. */
  toRead: Set<number>;
  /** Images that records refer to and the CMS does not have. */
  notInCms: Set<number>;
  /** The newest media. `isSettled`: read again after the second of their `modified` was over. */
  recent: Map<number, { modifiedUtc: string; seenMs: number; isSettled: boolean }>;
  watermarkUtc: string;
  watermarkAge: WatermarkAge | undefined;
  /** Of the CMS's list at the last poll that then read the images by id, or gave up. */
  total: number | undefined;
  /** Polls in a row that could not read the images by id. */
  failures: number;
  /** Version of the replica in which no image is missing but those of `notInCms`. */
  completeAtVersion: number | undefined;
}

/** A full resync lists every record again, a few pages at each poll. */
export interface ResyncProgress {
  remaining: Collection[];
  /** Within the first of the remaining collections. */
  cursor: Cursor | undefined;
  /** The ids of that collection until now; undefined if another process read its first pages. */
  seen: Set<number> | undefined;
  lastImageId: number;
  /** The second of the CMS's clock at which it began; undefined if it began in another process. */
  beganS: number | undefined;
}

/** As the replica keeps it. */
interface SavedResync {
  dueMs?: number;
  progress?: { remaining: Kind[]; cursor?: Cursor; lastImageId: number };
}

export interface SyncMemory {
  state: SyncState;
  site: Site;
  isSiteRead: boolean;
  kinds: Record<Kind, KindMemory>;
  /** Kinds whose collection the site does not have at present. */
  absent: Set<Kind>;
  /** Records that the adapter leaves out, each as its collection and its id: the gateway has warned of them. */
  omitted: Set<string>;
  media: MediaMemory;
  initialSync: SyncProgress;
  resync: {
    /** Undefined: there was no initial sync yet. 0: due now, because something changed that every record depends on. */
    dueMs: number | undefined;
    progress: ResyncProgress | undefined;
    savedMs: number;
    /** When the last one began, by the CMS's clock in seconds, if it has ended since the last poll. */
    endedS: number | undefined;
    /** Undefined unless its last pages failed. `atMs`: the first `clockMs` for the next try. */
    retry: { failures: number; atMs: number; reason: string } | undefined;
  };
  links: {
    tables: LinkTables;
    /** Fingerprint of the lists that a table was built from. */
    builtFrom: Map<LinkField, string>;
    /** Refreshes run one after another: an older response must not replace a newer table. */
    refreshed: Promise<unknown>;
  };
  /** Collections that the site refuses to show to visitors at present, and its words. */
  refused: Map<string, string>;
  reads: {
    lastMark: number;
    /** Read mark -> `clockMs` when the request was sent. */
    sentMs: Map<number, number>;
    /** The CMS's clock in its latest response; 0 before the first. */
    cmsTimeMs: number;
    /** `clockMs` when the request was sent that it answered. */
    cmsSentMs: number;
    /** Steps in progress whose responses a later read mark may outdate. Without any, the read marks are dropped. */
    retained: number;
    /** Sent with each request, so that no cache in front of the CMS answers it; another one in each poll. */
    uncached: string;
  };
  tally: { requests: number; changed: number; removed: number };
  recordCounts: { version: number; kinds: Partial<Record<Kind, number>> };
}

/** Where saved state comes from, and who gets the warnings about it. */
type Saved = Pick<SyncContext, 'replica' | 'observe'>;

export const isComplete = (replica: Replica): boolean => getState(replica.db, STATE_KEYS.complete) === '1';

export const loadInitialSync = (saved: Saved): SyncProgress =>
  readState(saved, 'initialSync', STATE_KEYS.initialSync, {});

/** When the replica was last current. */
export const loadCaughtUpMs = (saved: Saved): number | undefined =>
  readState(saved, 'caughtUp', STATE_KEYS.caughtUp, undefined);

const loadSite = (saved: Saved): Site => readState(saved, 'site', STATE_KEYS.site, UNKNOWN_SITE);

type SavedTable = [field: LinkField['field'], idOf: [number, number][], storedIdOf: [number, number][]];

function loadLinkTables(saved: Saved): LinkTables {
  const tables = readState<SavedTable[]>(saved, 'linkTables', STATE_KEYS.linkTables, []);
  return Object.fromEntries(
    tables.map(([field, idOf, storedIdOf]) => [
      field,
      { idOf: new Map(idOf), storedIdOf: new Map(storedIdOf), missing: new Set<number>() },
    ]),
  );
}

export function linkTablesState(tables: LinkTables): Record<string, string> {
  const saved = Object.entries(tables).map(([field, { idOf, storedIdOf }]) => [field, [...idOf], [...storedIdOf]]);
  return { [STATE_KEYS.linkTables]: JSON.stringify(saved) };
}

/** A replica without a saved time is due. */
function loadResync(saved: Saved, collections: readonly Collection[]): SyncMemory['resync'] {
  const { dueMs, progress } = readState<SavedResync>(saved, 'resync', STATE_KEYS.resync, {});
  const resync = {
    ...{ dueMs, progress: undefined, savedMs: Number.NEGATIVE_INFINITY },
    ...{ endedS: undefined, retry: undefined },
  };
  if (!progress) return resync;
  const { cursor, lastImageId } = progress;
  const remaining = collections.filter(({ kind }) => progress.remaining.includes(kind));
  const seen = cursor ? undefined : new Set<number>();
  return { ...resync, progress: { remaining, cursor, seen, lastImageId, beganS: undefined } };
}

/** Another process continues the full resync from there. */
export function resyncState({ resync: { dueMs, progress } }: SyncMemory): Record<string, string> {
  const saved = progress && {
    ...progress,
    remaining: progress.remaining.map(({ kind }) => kind),
    seen: undefined,
    beganS: undefined,
  };
  return { [STATE_KEYS.resync]: JSON.stringify({ dueMs, progress: saved }) };
}

const newKindMemory = (watermarkUtc = ''): KindMemory => ({
  watermarkUtc,
  watermarkAge: undefined,
  isPolled: false,
  revision: 0,
  dirty: new Set(),
  unsettled: new Map(),
  readMarks: new Map(),
  lastWriteMark: 0,
  tooLarge: new Map(),
  usualExcess: 0,
  nextTermPage: 1,
  suspended: undefined,
  recentDeletions: [],
  trashed: new Set(),
  knownFields: undefined,
});

/**
 * Loads what earlier processes left in the replica. Everything else starts empty: the first polls find it again.
 */
export function loadMemory(saved: Saved, nowMs: number, collections: readonly Collection[]): SyncMemory {
  const watermarks = readState<Partial<Record<Kind, string>>>(saved, 'watermarks', STATE_KEYS.watermarks, {});
  const media = readState<{ watermarkUtc?: string; total?: number }>(saved, 'media', STATE_KEYS.media, {});
  return {
    state: initialSyncState(nowMs),
    site: loadSite(saved),
    isSiteRead: false,
    kinds: Object.fromEntries(KINDS.map((kind) => [kind, newKindMemory(watermarks[kind])])) as SyncMemory['kinds'],
    absent: new Set(),
    omitted: new Set(),
    media: {
      progress: { done: 0, total: 0 },
      toRead: new Set(),
      notInCms: new Set(),
      recent: new Map(),
      watermarkUtc: media.watermarkUtc ?? '',
      watermarkAge: undefined,
      total: media.total,
      failures: 0,
      completeAtVersion: undefined,
    },
    initialSync: loadInitialSync(saved),
    resync: loadResync(saved, collections),
    links: { tables: loadLinkTables(saved), builtFrom: new Map(), refreshed: Promise.resolve() },
    refused: new Map(),
    reads: { lastMark: 0, sentMs: new Map(), cmsTimeMs: 0, cmsSentMs: 0, retained: 0, uncached: '' },
    tally: { requests: 0, changed: 0, removed: 0 },
    recordCounts: { version: -1, kinds: {} },
  };
}

/**
 * Starts the next full resync immediately. Save the reason together with `resyncState`: a killed process
 * would know the reason alone.
 */
export function restartResync({ resync }: SyncMemory): void {
  resync.progress = undefined;
  resync.dueMs = 0;
}
