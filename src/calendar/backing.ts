// What the operations stand on: the copy, the CMS, and the mapping between them.

import { setTimeout as sleep } from 'node:timers/promises';
import type { LRUCache } from 'lru-cache';
import { ReplicaFailure } from '../errors.ts';
import type { Kinds, Mapping } from '../mapping/mapping.ts';
import type { Observe } from '../observe/events.ts';
import { type CalendarRecord, FIRST_INLINE_ID, type Kind, type LinkedKind, type Site } from '../records.ts';
import { isTermRecord } from '../replica/answers.ts';
import { applyChange, type Change } from '../replica/commit.ts';
import type { Replica } from '../replica/store.ts';
import type { Sync } from '../replica/sync.ts';
import { incomplete } from '../replica/whole-rows.ts';
import type { Zone } from '../time/zones.ts';
import type { ImageFetches } from '../upstream/image-fetches.ts';
import type { Credentials, Native, Upstream } from '../upstream/port.ts';
import type { Input } from './asked.ts';
import { siteZone } from './dates.ts';
import type { PasswordTries } from './password-tries.ts';
import type { Present } from './present.ts';
import type { References } from './references.ts';
import { readOnly } from './refusals.ts';
import type { Unknown } from './unknown.ts';

export interface ListSettings {
  /** Page size when none is asked for, and the largest there is. */
  perPage: number;
  maxPerPage: number;
}

/** How what the CMS answered gets into the copy; of several gateways into the copies of all, before it resolves. */
export interface Keeping {
  /** A moment to ask the CMS at. */
  moment(): number;
  /** What was answered to a question of that moment. */
  keep(change: Change, moment: number): Promise<void>;
  /** What a write of that moment made: no older answer undoes it. */
  wrote(change: Change, moment: number): Promise<void>;
  /** Reads a written record again, whose public rendering the CMS did not give. Waits 5 s at most. Never rejects. */
  readAgain(kind: Kind, id: number): Promise<void>;
}

/** The longest that a write waits for its record to be read again. */
const READ_AGAIN_MS = 5000;

/** The way of a gateway that stands alone: at once. */
export const keepingAlone = (replica: Replica, sync: Sync, mapping: Mapping): Keeping => ({
  moment: () => 0,
  async keep(change) {
    applyChange(replica, change);
  },
  async wrote(change) {
    applyChange(replica, change);
    for (const { kind, id } of change.put ?? []) sync.wrote(kind, id);
    for (const { kind, ids } of change.remove ?? []) if (kind !== 'image') for (const id of ids) sync.wrote(kind, id);
  },
  async readAgain(kind, id) {
    sync.wrote(kind, id);
    const read = sync.changed([{ collection: mapping.kinds[kind]!.base, id }]).catch(() => undefined);
    await Promise.race([read, sleep(READ_AGAIN_MS, undefined, { ref: false })]);
  },
});

/**
 * Stores records without failing if the replica cannot be written (a full disk): what the CMS has answered or accepted stands. Calls
 * `readLater` with what the CMS accepted and the replica could not store. An answer to a read that is older than the replica's record
 * (from a cache or a lagging database before the CMS) does not replace it: the sync reads the record again and decides.
 */
export function keepingDespite(keeping: Keeping, replica: Replica, readLater: (change: Change) => void): Keeping {
  function isOlder(record: CalendarRecord): boolean {
    if (isTermRecord(record)) return false;
    const held = replica.get(record.kind, record.id);
    return held !== undefined && held.modifiedUtc > record.modifiedUtc;
  }

  /** Without the records that are older, and what lies inside them. */
  function onlyNewer(change: Change): Change {
    const older = (change.put ?? []).filter(isOlder);
    if (older.length === 0) return change;
    const inside = (record: CalendarRecord) => !isTermRecord(record) && record.id >= FIRST_INLINE_ID;
    readLater({ put: older.filter((record) => !inside(record)) });
    return { ...change, put: (change.put ?? []).filter((record) => !older.includes(record) && !inside(record)) };
  }

  async function unlessFailed(store: () => Promise<void>, failed?: () => void): Promise<void> {
    try {
      await store();
    } catch (error) {
      if (!(error instanceof ReplicaFailure)) throw error;
      failed?.();
    }
  }
  return {
    moment: () => keeping.moment(),
    keep: (change, moment) => unlessFailed(() => keeping.keep(onlyNewer(change), moment)),
    wrote: (change, moment) =>
      unlessFailed(
        () => keeping.wrote(change, moment),
        () => readLater(change),
      ),
    readAgain: (kind, id) => keeping.readAgain(kind, id),
  };
}

/** The other gateways, where there are any: what an answer was made at, and waiting until this gateway got there. */
export interface Others {
  version(): string;
  reached(version: string, withinMs: number): Promise<boolean | undefined>;
}

export interface Backing {
  replica: Replica;
  keeping: Keeping;
  others?: Others;
  upstream: Upstream;
  mapping: Mapping;
  sync: Sync;
  present: Present;
  /** Calls to the CMS for records that the replica lacks. */
  unknown: Unknown;
  /** Passwords of protected records, as anonymous callers try them. */
  passwordTries: PasswordTries;
  /** Brings in images by URL, a bounded number at once. */
  imageFetches: ImageFetches;
  /** The service account; without one only public records are copied. */
  service: Credentials;
  lists: ListSettings;
  /** Reads the data of a venue or organizer inside an event's body as its create route would. */
  readFields(kind: LinkedKind, data: Record<string, unknown>): Input;
  site(): Site;
  nowMs(): number;
  observe: Observe;
  /** Records that requests in flight refer to. */
  references: References;
  /** Records that requests of this gateway created recently, as the CMS answered: `event 12`. */
  acknowledged: LRUCache<string, true>;
  /** Polls under way after failed writes that may have left something in the CMS, by user id: reads of that user wait for them. */
  unsettled: Map<number, Promise<unknown>>;
}

/** The zone that dates without one are in: the site's, as the CMS names it now; UTC where it names one that is unknown here. */
export const zoneOf = (backing: Backing): Zone => siteZone(backing.site().timezone);

/**
 * Returns the native record if it has all fields that records of its kind have.
 * @param wrote the record answers a write, so the CMS carried that out
 * @throws UpstreamAway `incomplete`
 */
export function whole(backing: Backing, kind: Kind, native: Native, wrote = false): Native {
  const lacking = backing.sync.lackOf(kind, native);
  if (lacking === undefined) return native;
  throw incomplete(backing.mapping.kinds[kind]?.base ?? kind, [lacking], Number(native.id) || 0, wrote);
}

/** The kind's mapping for a write. Throws `GatewayError` when the CMS has no such kind or the mapping may only read it. */
export function writableKind<K extends Kind>(backing: Backing, kind: K): NonNullable<Kinds[K]> {
  const found = backing.mapping.kinds[kind];
  if (!found || found.readOnly) throw readOnly(kind);
  return found as NonNullable<Kinds[K]>;
}
