// Write-through: stores in the replica what the CMS responded to the use cases' calls, as the public view of a record
// with its image, and tells the other gateways what was written.

import { setTimeout as sleep } from 'node:timers/promises';
import type { CallOptions, CmsRecord, Credentials } from '../cms/port.ts';
import { ReplicaError } from '../errors.ts';
import { kindMappingOf, type Mapping } from '../mapping/mapping.ts';
import { isSeries } from '../mapping/occurrences.ts';
import {
  type CalendarRecord,
  FIRST_EMBEDDED_ID,
  isTermRecord,
  type Kind,
  type KindOrImage,
  type RecordOf,
  seriesIdOf,
  WITHHELD,
} from '../model/records.ts';
import type { ChangeSet } from '../store/change-set.ts';
import type { Replica } from '../store/replica.ts';
import { changedRecords } from '../sync/fetch-changed.ts';
import type { Sync } from '../sync/sync.ts';
import type { CreateDependencies } from './create-attempt.ts';
import type { Peers } from './peers.ts';

/** Stores CMS responses to the use cases' calls. */
export interface WriteThrough {
  /** Take it before the CMS call whose response is stored: it shows later which changes happened during the call. */
  changeMark(): number;
  /** Stores the response to a read. */
  storeRead(changes: ChangeSet, changeMark: number): Promise<void>;
  /** Stores the response to a write. No older response replaces it. */
  storeWritten(changes: ChangeSet, changeMark: number): Promise<void>;
  /** Re-reads a written record that the response does not show as the public sees it. Waits 5 s at most. Never rejects. */
  reread(kind: Kind, id: number): Promise<void>;
}

export interface ResponseStoreDependencies extends Omit<CreateDependencies, 'recentlyCreated'> {
  /** The service account, for images. */
  serviceCredentials: Credentials;
  writeThrough: WriteThrough;
}

export interface Origin {
  /** Taken before the CMS was called: a response that was read before a later write is outdated. */
  changeMark: number;
  /** The record is the response to a write. */
  isWritten?: boolean;
  /** How the CMS was called. Undefined for a record from a public list, which is the public view already. */
  call: CallOptions | undefined;
}

export function createResponseStore({
  cms,
  mapping,
  replica,
  serviceCredentials,
  site,
  sync,
  writeThrough,
}: ResponseStoreDependencies) {
  /**
   * Stores the public view of a record, with its image. Without a usable public view the record is re-read at once.
   * If the call for it failed, the replica withholds a written record meanwhile; one that was read stays as it was.
   * @param record as the CMS sent it
   */
  async function storeResponse<K extends Kind>(
    kind: K,
    cmsRecord: CmsRecord,
    record: RecordOf[K],
    origin: Origin,
  ): Promise<void> {
    const { changeMark, isWritten = false, call } = origin;
    const kindMapping = kindMappingOf(mapping, kind)!;
    // The sync stores a series with all its occurrences, unless the replica has it as it is. The response to a write has none.
    if (kindMapping.occurrences && (isSeries(cmsRecord) || replica.occurrenceIds(record.id).length > 0)) {
      if (isWritten) return writeThrough.reread(kind, record.id);
      const isListed = serviceCredentials !== undefined || cmsRecord.status === 'publish';
      const isNew = !hasSameVersion(replica.get(kind, record.id), record);
      if (isListed && isWritten) await writeThrough.reread(kind, record.id);
      else if (isListed && isNew) void sync.fetchChanged([{ collection: kindMapping.collection, id: record.id }]);
      return;
    }
    // Without this, other actors would see a written record as it was before the write.
    const withheld = isWritten ? { ...cmsRecord, status: WITHHELD } : undefined;
    const view = call ? await sync.readPublicView(kind, cmsRecord, call).catch(() => withheld) : cmsRecord;
    if (!view) {
      if (isWritten) await writeThrough.reread(kind, record.id);
      else void sync.fetchChanged([{ collection: kindMapping.collection, id: record.id }]);
      return;
    }
    const embedded = Object.values(kindMapping.embedded).flatMap((read) => read(view) ?? []);
    const upserts = [kindMapping.read(view, site(), sync.linkTables()), ...embedded];
    // Without a service account the poller does not see records that the public does not see, and could never
    // delete them.
    const isStaffOnly = view.status === WITHHELD && serviceCredentials === undefined;
    const changes = isStaffOnly ? { deletes: [{ kind, ids: [record.id] }] } : { upserts };
    if (isWritten) await writeThrough.storeWritten(changes, changeMark);
    else await writeThrough.storeRead(changes, changeMark);
    if (view === withheld) void writeThrough.reread(kind, record.id);
    if ('image' in record) await storeImage(record.image, origin);
  }

  /** The next poll fetches an image that cannot be read now. The record does not wait for it. */
  async function storeImage(id: number, { changeMark, isWritten }: Origin): Promise<void> {
    if (!id || replica.getImage(id)) return;
    const call: CallOptions = { credentials: serviceCredentials, bulkhead: isWritten ? 'callers' : 'anonymous' };
    const images = await cms.images([id], call).catch(() => []);
    if (images.length > 0) await writeThrough.storeRead({ images }, changeMark);
  }

  /**
   * Deletes a record that the CMS says it does not have. Some CMSs say so too of records that this caller may not see:
   * one that is not public is read again by the sync.
   */
  async function forget(kind: Kind, id: number, changeMark: number): Promise<void> {
    const stored = replica.get(kind, id);
    const isNotPublic = stored !== undefined && 'status' in stored && stored.status !== 'publish';
    if (isNotPublic && serviceCredentials !== undefined) await writeThrough.reread(kind, seriesIdOf(id));
    else await writeThrough.storeRead({ deletes: [{ kind, ids: [id] }] }, changeMark);
  }

  return { storeResponse, forget };
}

/** Terms have no versions. */
const hasSameVersion = (stored: CalendarRecord | undefined, record: CalendarRecord): boolean =>
  stored !== undefined &&
  'modifiedUtc' in stored &&
  'modifiedUtc' in record &&
  stored.modifiedUtc === record.modifiedUtc;

/** The longest that a write waits until its record is re-read. */
const REREAD_MS = 5000;

/** For a gateway that is alone. */
export const localWriteThrough = (replica: Replica, sync: Sync, mapping: Mapping): WriteThrough => ({
  changeMark: () => 0,
  async storeRead(changes) {
    replica.apply(changes);
  },
  async storeWritten(changes) {
    replica.apply(changes);
    for (const { kind, id } of changes.upserts ?? []) sync.recordWrite(kind, id);
    for (const { kind, ids } of changes.deletes ?? [])
      if (kind !== 'image') for (const id of ids) sync.recordWrite(kind, id);
  },
  async reread(kind, id) {
    sync.recordWrite(kind, id);
    const fetched = sync.fetchChanged([{ collection: mapping.kinds[kind]!.collection, id }]).catch(() => undefined);
    await Promise.race([fetched, sleep(REREAD_MS, undefined, { ref: false })]);
  },
});

const keysOf = ({ upserts = [], images = [], deletes = [] }: ChangeSet): { kind: KindOrImage; id: number }[] => [
  ...upserts,
  ...images.map(({ id }) => ({ kind: 'image' as const, id })),
  ...deletes.flatMap(({ kind, ids }) => ids.map((id) => ({ kind, id }))),
];

/**
 * For one of several gateways: it tells its peers what was written. What a peer has named since the call may be newer
 * than its response, which is not stored: a written record is read again instead.
 */
export function sharedWriteThrough(local: WriteThrough, peers: Peers, mapping: Mapping): WriteThrough {
  const publish = (records: readonly { kind: KindOrImage; id: number }[]) =>
    peers.publish(changedRecords(mapping, records));

  function split(changes: ChangeSet, changeMark: number) {
    const isOutdated = (record: { kind: KindOrImage; id: number }) =>
      changedRecords(mapping, [record]).some((changed) => peers.isNamedSince(changed, changeMark));
    const { upserts = [], deletes = [] } = changes;
    const current: ChangeSet = {
      ...changes,
      upserts: upserts.filter((record) => !isOutdated(record)),
      deletes: deletes.map(({ kind, ids }) => ({ kind, ids: ids.filter((id) => !isOutdated({ kind, id })) })),
    };
    return { current, outdated: upserts.filter(isOutdated) };
  }

  return {
    changeMark: () => peers.changeMark(),
    storeRead: (changes, changeMark) => local.storeRead(split(changes, changeMark).current, changeMark),
    async storeWritten(changes, changeMark) {
      const { current, outdated } = split(changes, changeMark);
      try {
        await local.storeWritten({ ...current, deletes: changes.deletes ?? [] }, changeMark);
        for (const { kind, id } of outdated) await local.reread(kind, id);
      } finally {
        await publish(keysOf(changes));
      }
    },
    async reread(kind, id) {
      await local.reread(kind, id);
      await publish([{ kind, id }]);
    },
  };
}

/**
 * Does not fail if the replica cannot be written (a full disk): the CMS has responded or accepted the write
 * all the same. Passes accepted changes that the replica could not store to `rereadLater`. A response to a
 * read that is older than the replica's record, from a cache or a delayed database in front of the CMS, does
 * not replace the record: `rereadLater` lets the sync decide.
 */
export function tolerantWriteThrough(
  writeThrough: WriteThrough,
  replica: Replica,
  rereadLater: (changes: ChangeSet) => void,
): WriteThrough {
  function isOutdated(record: CalendarRecord): boolean {
    if (isTermRecord(record)) return false;
    const stored = replica.get(record.kind, record.id);
    return stored !== undefined && stored.modifiedUtc > record.modifiedUtc;
  }

  /** Removes outdated records and the records embedded in them. */
  function onlyNewer(changes: ChangeSet): ChangeSet {
    const { upserts = [] } = changes;
    const outdated = upserts.filter(isOutdated);
    if (outdated.length === 0) return changes;
    const isEmbedded = (record: CalendarRecord) => !isTermRecord(record) && record.id >= FIRST_EMBEDDED_ID;
    rereadLater({ upserts: outdated.filter((record) => !isEmbedded(record)) });
    return { ...changes, upserts: upserts.filter((record) => !outdated.includes(record) && !isEmbedded(record)) };
  }

  async function tolerate(store: () => Promise<void>, onFailure?: () => void): Promise<void> {
    try {
      await store();
    } catch (error) {
      if (!(error instanceof ReplicaError)) throw error;
      onFailure?.();
    }
  }

  return {
    changeMark: () => writeThrough.changeMark(),
    storeRead: (changes, changeMark) => tolerate(() => writeThrough.storeRead(onlyNewer(changes), changeMark)),
    storeWritten: (changes, changeMark) =>
      tolerate(
        () => writeThrough.storeWritten(changes, changeMark),
        () => rereadLater(changes),
      ),
    reread: (kind, id) => writeThrough.reread(kind, id),
  };
}
