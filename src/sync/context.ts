// Owns what every step of the sync gets: the replica, the CMS, the settings, and the memory. The memory holds
// everything that the sync remembers; a start loads it from the replica.

import { LRUCache } from 'lru-cache';
import type { Cms, Credentials } from '../cms/port.ts';
import type { KindMapping, Mapping } from '../mapping/mapping.ts';
import type { LinkField, LinkTables } from '../mapping/references.ts';
import { KINDS, type Kind, type KindOrImage, type Site, UNKNOWN_SITE } from '../model/records.ts';
import type { Observe } from '../observability/observations.ts';
import { type RecordStamp, recordCount } from '../store/records.ts';
import type { Replica } from '../store/replica.ts';
import { getState } from '../store/state.ts';
import { initialSyncState } from './sync-state.ts';

export interface SyncContext {
  readonly replica: Replica;
  readonly cms: Cms;
  readonly mapping: Mapping;
  /** As whom the sync reads: undefined for an anonymous visitor, or an account that stands for every visitor. */
  readonly visitorCredentials: Credentials;
  /** An account may read images that WordPress hides because they were uploaded to a draft. */
  readonly imageReader: Credentials;
  readonly collections: readonly KindMapping[];
  /** Records per request. */
  readonly pageSize: number;
  /** Between the starts of two scans. */
  readonly scanIntervalMs: number;
  readonly observe: Observe;
  /** The wall clock: for times that are saved or shown. An operator or NTP may set it. */
  readonly nowMs: () => number;
  /** A monotonic clock: for durations within this process. */
  readonly clockMs: () => number;
  readonly signal: AbortSignal;
  readonly memory: SyncMemory;
  /**
   * What was asked of the CMS and changed in the replica since the last observed round, also by webhooks, writes and
   * peers. To count one step apart, call it with `{ ...context, tally: newTally() }`, and add that tally to this one.
   */
  readonly tally: Tally;
}

export type Tally = ReturnType<typeof newTally>;

export const newTally = () => ({ requests: 0, changed: 0, removed: 0 });

/** Logs a decision about records at level debug: `logDecision(context, 'events', 'delete', { ids, total })`. */
export const logDecision = ({ observe }: SyncContext, collection: string, decision: string, values: object): void =>
  observe({ type: 'sync-decision', collection, decision, values });

export const countRecords = ({ replica }: SyncContext, { kind }: KindMapping): number => recordCount(replica.db, kind);

export const STATE_KEYS = {
  site: 'sync.site',
  /** `Polled`, as JSON. */
  polled: 'sync.polled',
  /** `1` once the initial sync was complete. */
  complete: 'sync.complete',
  caughtUp: 'sync.lastCaughtUpMs',
  linkTables: 'sync.linkTables',
  /** The required fields that records of a kind have had until now. */
  fields: (kind: Kind) => `sync.fields.${kind}`,
};

export const NOT_STARTED = { done: 0, total: 0, nextPage: 1, isFinished: false };

/** By the CMS's clock in milliseconds, when the last complete poll of each began; and how many media there were. */
type Polled = Partial<Record<KindOrImage | 'mediaTotal', number>>;

/** A scan lists every record again, a few pages at each poll. */
export interface Scan {
  remaining: KindMapping[];
  /** Of the first of the remaining collections. */
  nextPage: number;
  /** The ids of that collection until now. */
  seen: Set<number>;
  lastImageId: number;
  /** The second of the CMS's clock at which it began; 0 if no list has told that clock yet. */
  beganS: number;
}

export type SyncMemory = ReturnType<typeof loadMemory>;

/** Makes records dirty: the next poll re-reads them by id. */
export function markDirty({ kinds }: SyncMemory, kind: Kind, ids: Iterable<number>): void {
  for (const id of ids) kinds[kind].dirty.add(id);
}

/** More records than change while one request is under way. */
const MAX_MARKS = 10_000;

// Read marks: a response may be older than what the replica has of a record. So requests and changes are numbered
// together (`lastReadMark`), and `latestMarks` has the latest number of each record. Example:
//
//   what happens                                           its number     latest mark of event 12
//   a list is requested                                    7
//   this gateway writes event 12, or a webhook names it    8              8 (`outdateResponses`)
//   the response to 7 comes, with event 12                                8: this is outdated, and not stored
//   a list of the ids 12 and 15 is requested               9
//   the response to 9 comes                                               9 (`acceptIfCurrent`): this is stored

/** Outdates the responses to earlier requests: this gateway, a webhook or another gateway says the record changed. */
export function outdateResponses(memory: SyncMemory, kind: KindOrImage, id: number): void {
  memory.lastReadMark += 1;
  memory.latestMarks.set(`${kind} ${id}`, memory.lastReadMark);
  if (kind !== 'image') memory.kinds[kind].linkRevision += 1;
}

/** True if a response to the request with this read mark is older than what is known of the record. */
export const isOutdated = ({ latestMarks }: SyncMemory, kind: KindOrImage, id: number, readMark: number): boolean =>
  (latestMarks.peek(`${kind} ${id}`) ?? 0) > readMark;

/** False: the response is outdated. True: it is stored now, and this outdates the responses to earlier requests. */
export function acceptIfCurrent(memory: SyncMemory, kind: KindOrImage, id: number, readMark: number): boolean {
  if (isOutdated(memory, kind, id, readMark)) return false;
  memory.latestMarks.set(`${kind} ${id}`, readMark);
  return true;
}

export const isComplete = (replica: Replica): boolean => getState(replica.db, STATE_KEYS.complete) === '1';

export const loadCaughtUpMs = (replica: Replica): number | undefined =>
  readState<number | undefined>(replica, STATE_KEYS.caughtUp, undefined);

type SavedTable = [field: LinkField['field'], idOf: [number, number][], storedIdOf: [number, number][]];

function loadLinkTables(replica: Replica): LinkTables {
  const tables = readState<SavedTable[]>(replica, STATE_KEYS.linkTables, []);
  const loaded = tables.map(([field, idOf, storedIdOf]) => {
    return [field, { idOf: new Map(idOf), storedIdOf: new Map(storedIdOf), notFound: new Set<number>() }] as const;
  });
  return Object.fromEntries(loaded);
}

export function linkTablesState(tables: LinkTables): Record<string, string> {
  const saved = Object.entries(tables).map(([field, { idOf, storedIdOf }]) => [field, [...idOf], [...storedIdOf]]);
  return { [STATE_KEYS.linkTables]: JSON.stringify(saved) };
}

const newKindMemory = (replica: Replica, kind: Kind) => ({
  /** Grows with each change of a record of the kind, and each report of one: link tables are built again. */
  linkRevision: 0,
  /** Records to re-read by id, such as the events of a term that was deleted. */
  dirty: new Set<number>(),
  /** Stamps of records that are left out because the CMS's response with one alone is too large; until a scan. */
  tooLarge: new Map<number, RecordStamp>(),
  /**
   * The CMS's total minus the records of the replica, when all ids were last compared. Example: 2, because the total
   * counts two that a plugin hides, or two rows that repeat records (`dedupe`). If a poll finds another difference,
   * something is missing. Undefined: the list changed during the comparison, which the next poll repeats.
   */
  extraInTotal: 0 as number | undefined,
  /** Missing records whose deletion waits until the CMS has confirmed it, by id: since when, by `clockMs`. */
  suspended: new Map<number, number>(),
  /** A suspended record that the CMS still has when asked by id: so the CMS has not confirmed the deletion. */
  existingId: undefined as number | undefined,
  /** Records that this gateway or a webhook saw in the trash, until they are deleted here: calendars say CANCELLED. */
  trashed: new Set<number>(),
  /**
   * Required fields that all records of a page had once, such as `meta.start_date`; none is ever removed. A page with a
   * record that lacks one of them is refused: the plugin that adds the field may have been switched off.
   */
  knownFields: new Set(readState<string[]>(replica, STATE_KEYS.fields(kind), [])),
});

/** Loads what earlier processes left in the replica. Everything else starts empty: the first polls find it again. */
export function loadMemory(replica: Replica, nowMs: number) {
  const kinds = Object.fromEntries(KINDS.map((kind) => [kind, newKindMemory(replica, kind)]));
  return {
    /** Such as `live`, or `stale` with the reason. */
    state: initialSyncState(nowMs),
    /** As the CMS last described itself: `Europe/Berlin`. Kept over restarts. */
    site: readState<Site>(replica, STATE_KEYS.site, UNKNOWN_SITE),
    /** False until this process has read it: the site may have moved while the gateway was off. */
    isSiteRead: false,
    /** The next poll lists what was modified since. Kept over restarts. */
    polled: readState<Polled>(replica, STATE_KEYS.polled, {}),
    kinds: kinds as Record<Kind, ReturnType<typeof newKindMemory>>,
    media: {
      /** Images to re-read by id: modified since the last poll, or named by a webhook. */
      toRead: new Set<number>(),
      /** Images that records refer to and the CMS does not have. */
      notInCms: new Set<number>(),
      /** Polls in a row whose list of images came, and not the images. */
      failures: 0,
    },
    /** Collections that the site lacks, or refuses to show to visitors, and its answer: `events`, `401 closed`. */
    unreadable: new Map<string, { isAbsent: boolean; answer: string }>(),
    /** How far it is: 300 of 1,200 events, page 4 next. Another process begins again. */
    initialSync: {} as Partial<Record<Kind, typeof NOT_STARTED>>,
    /**
     * By `clockMs`, when the next scan begins. 0: with the next poll, because this process has not read everything yet,
     * or because something changed that every record depends on, such as the site's time zone.
     */
    scanDueMs: 0,
    scan: undefined as Scan | undefined,
    /** When the last scan that ended began, by the CMS's clock in seconds. `journalEndedScan` takes it. */
    endedScanBeganS: undefined as number | undefined,
    /** Why the last pages of the scan failed. */
    scanProblem: undefined as string | undefined,
    /** Venue 12 is the term 7 that events store. Kept over restarts. */
    linkTables: loadLinkTables(replica),
    /** Fingerprint of the lists that a table was built from. */
    linksBuiltFrom: new Map<LinkField, string>(),
    /** Refreshes run one after another: an older response must not replace a newer table. */
    linksRefreshed: Promise.resolve(),
    /** The number of the latest request for a list or for images, or of the latest `outdateResponses`. */
    lastReadMark: 0,
    /** The latest read mark of each record, by kind and id: `event 12` -> 9. */
    latestMarks: new LRUCache<string, number>({ max: MAX_MARKS }),
    /** The time that the CMS's latest response says; `sentMs`: when it was requested, by `clockMs`. */
    cmsClock: undefined as { timeMs: number; sentMs: number } | undefined,
    /** Sent with each request, beside the latest read mark: so no cache in front of the CMS knows the request. */
    startedMs: nowMs,
  };
}

/** The next scan starts with the next poll; that of another process starts with its first poll. */
export function restartScan(memory: SyncMemory): void {
  memory.scan = undefined;
  memory.scanDueMs = 0;
}

/** The value under `key`, or `fallback` if there is none, or no JSON: a disk may have changed it. */
function readState<T>({ db }: Replica, key: string, fallback: T): T {
  try {
    return (JSON.parse(getState(db, key) ?? 'null') as T | null) ?? fallback;
  } catch {
    return fallback;
  }
}
