// Ingests the CMS's responses to the requests of callers: the public view of a record, with its image.

import type { CallOptions, CmsRecord, Credentials } from '../cms/port.ts';
import { kindMappingOf } from '../mapping/mapping.ts';
import { seriesIdOf } from '../model/occurrences.ts';
import { type CalendarRecord, type Kind, type RecordOf, WITHHELD } from '../model/records.ts';
import type { WriteThrough } from '../sync/peers.ts';
import type { CreateDependencies } from './create-attempt.ts';

export interface IngestDependencies extends Omit<CreateDependencies, 'recentlyCreated'> {
  /** The service account, for images. */
  serviceCredentials: Credentials;
  writeThrough: WriteThrough;
}

export interface Origin {
  readMark: number;
  /** The record is the response to a write. */
  isWritten?: boolean;
  /** How the CMS was called. Undefined for a record from a public list, which is the public view already. */
  call: CallOptions | undefined;
}

export function createIngest({
  cms,
  mapping,
  replica,
  serviceCredentials,
  site,
  sync,
  writeThrough,
}: IngestDependencies) {
  /**
   * Stores the public view of a record, with its image. If the CMS does not send the public view, the replica
   * withholds a written record and does not change one that was read; in both cases it is re-read at once.
   * @param record as the CMS sent it
   */
  async function ingest<K extends Kind>(
    kind: K,
    cmsRecord: CmsRecord,
    record: RecordOf[K],
    origin: Origin,
  ): Promise<void> {
    const { readMark, isWritten = false, call } = origin;
    const kindMapping = kindMappingOf(mapping, kind)!;
    // The sync stores a series with all its occurrences, unless the replica has it as it is.
    if (kindMapping.occurrences) {
      const isListed = serviceCredentials !== undefined || cmsRecord.status === 'publish';
      const isNew = !hasSameVersion(replica.get(kind, record.id), record);
      if (isListed && isNew) void sync.fetchChanged([{ collection: kindMapping.collection, id: record.id }]);
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
    if (isWritten) await writeThrough.storeWritten(changes, readMark);
    else await writeThrough.storeRead(changes, readMark);
    if (view === withheld) void writeThrough.reread(kind, record.id);
    if ('image' in record) await storeImage(record.image, origin);
  }

  /** The next poll fetches an image that cannot be read now. The record does not wait for it. */
  async function storeImage(id: number, { readMark, isWritten }: Origin): Promise<void> {
    if (!id || replica.getImage(id)) return;
    const call: CallOptions = { credentials: serviceCredentials, bulkhead: isWritten ? 'callers' : 'anonymous' };
    const images = await cms.images([id], call).catch(() => []);
    if (images.length > 0) await writeThrough.storeRead({ images }, readMark);
  }

  /**
   * Deletes a record that the CMS says it does not have. Some CMSs say so too of records that this caller may not see:
   * one that is not public is read again by the sync.
   */
  async function forget(kind: Kind, id: number, readMark: number): Promise<void> {
    const held = replica.get(kind, id);
    const isHidden = held !== undefined && 'status' in held && held.status !== 'publish';
    if (isHidden && serviceCredentials !== undefined) await writeThrough.reread(kind, seriesIdOf(id));
    else await writeThrough.storeRead({ deletes: [{ kind, ids: [id] }] }, readMark);
  }

  return { ingest, forget };
}

/** Terms have no versions. */
const hasSameVersion = (stored: CalendarRecord | undefined, record: CalendarRecord): boolean =>
  stored !== undefined &&
  'modifiedUtc' in stored &&
  'modifiedUtc' in record &&
  stored.modifiedUtc === record.modifiedUtc;
