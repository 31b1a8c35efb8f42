// Reads and writes records in the CMS for the use cases: calls the CMS with the caller's credentials, and maps the
// response. The replica gets what a visitor gets of them.

import type { CallOptions, CmsRecord, ReadRequest } from '../cms/port.ts';
import { CmsRejected } from '../errors.ts';
import type { LinkTables } from '../mapping/link-fields.ts';
import { type KindMapping, kindMappingOf } from '../mapping/mapping.ts';
import {
  type FieldsOf,
  type ImageRecord,
  isOccurrenceId,
  isTermKind,
  type Kind,
  type RecordOf,
  seriesIdOf,
} from '../model/records.ts';
import { getRecord, occurrenceIds } from '../store/records.ts';
import type { WrittenRecord } from '../sync/sync.ts';
import { type CreateDependencies, startCreate } from './create-attempt.ts';
import { writableMapping } from './permissions.ts';
import type { RequestContext, Rollback } from './request-context.ts';
import type { WriteThrough } from './write-through.ts';

type Caller = Pick<RequestContext, 'actor' | 'requestId'>;

/**
 * Options of CMS calls for a request. The actor's own credentials let the CMS decide about permissions.
 * Accounts and anonymous callers have separate bulkheads, and each user or network a part of them.
 */
export function callOptions({ actor, requestId }: Caller): CallOptions {
  const { credentials, account, network } = actor;
  return account
    ? { credentials, bulkhead: 'callers', fairnessKey: String(account.userId), requestId }
    : { credentials, bulkhead: 'anonymous', fairnessKey: network, requestId };
}

/** A record with the CMS record that it was mapped from. */
export interface CmsResult<K extends Kind> {
  record: RecordOf[K];
  cmsRecord: CmsRecord;
}

/**
 * Unless a method says otherwise, it calls the CMS with the actor's own credentials, and returns the record as the CMS
 * shows it to the actor. A write resolves when the replica shows what visitors get of it. It throws `CmsUnavailable` and
 * `CmsRejected`.
 */
export interface CmsRecords {
  /** If the replica lacks a published record, the sync fetches it. */
  read<K extends Kind>(kind: K, id: number, request: Caller, how?: ReadRequest): Promise<RecordOf[K]>;
  /** Reads the published records with these ids, a page per call. Resolves with the ids of those that there are. */
  readMany(kind: Kind, ids: readonly number[], request: Caller): Promise<number[]>;
  /** The record as its editor sees it. */
  readForEditing<K extends Kind>(kind: K, id: number, request: Caller): Promise<CmsResult<K>>;
  /** With a password, or as its editor. */
  readProtected<K extends Kind>(kind: K, id: number, request: Caller, how: ReadRequest): Promise<RecordOf[K]>;
  /** `asEditor`: in any status. */
  findBySlug<K extends Kind>(
    kind: K,
    slug: string,
    request: Caller,
    asEditor: boolean,
  ): Promise<RecordOf[K] | undefined>;
  /** Brings the newest records of a kind into the replica that it lacks. Never rejects. */
  readNewest(kind: Kind): Promise<void>;
  /**
   * Creates a record. If the mapping says so (`touchAfterCreate`), an update follows. `rollback` learns what
   * it created, and what a failed create may have left.
   */
  create<K extends Kind>(
    kind: K,
    fields: Partial<FieldsOf[K]>,
    request: RequestContext,
    rollback: Rollback,
  ): Promise<RecordOf[K]>;
  /** @param current the CMS record, if the caller has just read it for this update */
  update<K extends Kind>(
    kind: K,
    id: number,
    fields: Partial<FieldsOf[K]>,
    request: Caller,
    current?: CmsRecord,
  ): Promise<RecordOf[K]>;
  trash<K extends Kind>(kind: K, id: number, request: Caller): Promise<RecordOf[K]>;
  /** Deletes the record permanently. `changed`: other records that change with it. */
  delete(kind: Kind, id: number, request: Caller, changed?: readonly WrittenRecord[]): Promise<void>;
  readImage(id: number, request: Caller): Promise<ImageRecord | undefined>;
  /**
   * Throws what a create (without `id`) or update would throw before its write. Resolves with the CMS record,
   * if an update needs it.
   */
  check<K extends Kind>(
    kind: K,
    id: number | undefined,
    fields: Partial<FieldsOf[K]>,
    request: Caller,
    current?: CmsRecord,
  ): Promise<CmsRecord | undefined>;
  /** Returns the new image's id. */
  uploadImage(
    image: { bytes: Uint8Array; mimeType: string; filename: string },
    request: Caller,
    rollback: Rollback,
  ): Promise<number>;
}

/**
 * Renews the claim on the idempotency key. The key goes with the record that the route creates, not with its
 * linked records. Throws 409.
 */
async function creationKeyOptions(
  { creationKey }: RequestContext,
  kind: Kind,
): Promise<Pick<CallOptions, 'creationKey'>> {
  if (creationKey?.kind !== kind) return {};
  await creationKey.renew();
  return { creationKey: creationKey.key };
}

type Dependencies = CreateDependencies & { writeThrough: WriteThrough };

/** How many of the newest records `readNewest` reads: enough for the changes of the last seconds. */
const NEWEST = 20;

export function createCmsRecords(dependencies: Dependencies): CmsRecords {
  const { cms, mapping, replica, site, sync, writeThrough } = dependencies;
  /** The kind's mapping; the caller has checked that there is one. */
  const mappingOf = <K extends Kind>(kind: K) => kindMappingOf(mapping, kind)!;
  const writable = <K extends Kind>(kind: K) => writableMapping(dependencies, kind);

  function toRecord<K extends Kind>(kind: K, cmsRecord: CmsRecord, isWritten = false): RecordOf[K] {
    sync.assertComplete(kind, cmsRecord, isWritten);
    return mappingOf(kind).read(cmsRecord, site(), sync.linkTables());
  }

  /** The sync fetches published records that a caller got and the replica lacks, such as one of the last seconds. */
  const fetchUnknown = (kind: Kind, cmsRecords: readonly CmsRecord[]): Promise<boolean> => {
    const { collection } = mappingOf(kind);
    const published = cmsRecords.filter(({ status }) => status === undefined || status === 'publish');
    const ids = published.map(({ id }) => Number(id)).filter((id) => !getRecord(replica.db, kind, id));
    return ids.length === 0 ? Promise.resolve(true) : sync.fetchChanged(ids.map((id) => ({ collection, id })));
  };

  /** The record that a write returned, after the replica has what visitors get of it. */
  async function written<K extends Kind>(kind: K, cmsRecord: CmsRecord): Promise<RecordOf[K]> {
    const record = toRecord(kind, cmsRecord, true);
    await writeThrough({ kind, id: record.id, isTrashed: 'status' in record && record.status === 'trash' });
    return record;
  }

  /**
   * The CMS has an occurrence in the record of its series. `record` is read from `cmsRecord`. Throws
   * `CmsRejected` if `id` is an occurrence that the series lacks.
   */
  function pickOccurrence<K extends Kind>(kind: K, id: number, cmsRecord: CmsRecord, record: RecordOf[K]): RecordOf[K] {
    if (kind !== 'event' || !isOccurrenceId(id)) return record;
    const occurrences = mappingOf(kind).occurrences?.(cmsRecord, site(), sync.linkTables());
    const occurrence = occurrences?.find((each) => each.id === id);
    if (!occurrence) throw new CmsRejected('not-found', `Series ${record.id} has no occurrence ${id}.`);
    return occurrence as RecordOf[K];
  }

  /** Refreshes the link tables if they lack a linked record, which this request may have created. */
  async function linkTablesFor<K extends Kind>(
    { linkFields }: KindMapping<K>,
    fields: Partial<FieldsOf[K]>,
  ): Promise<LinkTables> {
    const linked = fields as { venues?: number[]; organizers?: number[] };
    const isMissing = linkFields.some(({ field }) =>
      linked[field]?.some((id) => sync.linkTables()[field]?.storedIdOf.has(id) !== true),
    );
    if (isMissing) await sync.refreshLinkTables();
    return sync.linkTables();
  }

  /** The body of an update, and the CMS record if it depends on that. */
  async function updateBody<K extends Kind>(
    kind: K,
    id: number,
    sent: Partial<FieldsOf[K]>,
    request: Caller,
    current?: CmsRecord,
  ): Promise<{ body: CmsRecord; current: CmsRecord | undefined }> {
    const kindMapping = writable(kind);
    const fields = { ...sent };
    // A series reads as hidden, because its occurrences are listed instead. A client that sends that back hides nothing.
    if (kind === 'event' && occurrenceIds(replica.db, id).length > 0) delete (fields as { hidden?: boolean }).hidden;
    const before = kindMapping.needsCurrent(fields)
      ? (current ?? (await cms.read(kindMapping, id, { view: 'editor' }, callOptions(request))))
      : undefined;
    const linkTables = await linkTablesFor(kindMapping, fields);
    return { body: kindMapping.write(fields, { site: site(), linkTables, current: before }), current: before };
  }

  async function createBody<K extends Kind>(kind: K, fields: Partial<FieldsOf[K]>): Promise<CmsRecord> {
    const kindMapping = writable(kind);
    return kindMapping.write(fields, { site: site(), linkTables: await linkTablesFor(kindMapping, fields) });
  }

  return {
    async read(kind, id, request, how = { view: 'public' }) {
      const cmsRecord = await cms.read(mappingOf(kind), seriesIdOf(id), how, callOptions(request));
      const fetched = fetchUnknown(kind, [cmsRecord]);
      // A response shows an event's terms as the replica has them.
      if (isTermKind(kind)) await fetched;
      return pickOccurrence(kind, id, cmsRecord, toRecord(kind, cmsRecord));
    },

    async readMany(kind, ids, request) {
      const found: CmsRecord[] = [];
      for (let from = 0; from < ids.length; from += cms.maxPageSize) {
        const page = ids.slice(from, from + cms.maxPageSize);
        const list = { view: 'public', ids: page, limit: page.length, detail: 'mapped' } as const;
        found.push(...(await cms.list(mappingOf(kind), list, callOptions(request))).records);
      }
      await fetchUnknown(kind, found);
      return found.map(({ id }) => Number(id));
    },

    async readForEditing(kind, id, request) {
      const kindMapping = mappingOf(kind);
      const cmsRecord = await cms.read(kindMapping, id, { view: 'editor' }, callOptions(request));
      return { cmsRecord, record: kindMapping.read(cmsRecord, site(), sync.linkTables()) };
    },

    async readProtected(kind, id, request, how) {
      const cmsRecord = await cms.read(mappingOf(kind), seriesIdOf(id), how, callOptions(request));
      return pickOccurrence(kind, id, cmsRecord, toRecord(kind, cmsRecord));
    },

    async findBySlug(kind, slug, request, asEditor) {
      const scope = asEditor ? ({ view: 'editor', statuses: 'all' } as const) : ({ view: 'public' } as const);
      const { records } = await cms.list(mappingOf(kind), { ...scope, slug }, callOptions(request));
      void fetchUnknown(kind, records.slice(0, 1));
      return records[0] && toRecord(kind, records[0]);
    },

    async readNewest(kind) {
      const kindMapping = mapping.kinds[kind];
      if (!kindMapping) return;
      const order = kindMapping.storedAs === 'posts' ? '-modified' : '-id';
      const newest = { view: 'public', order, limit: NEWEST, detail: 'id' } as const;
      try {
        await fetchUnknown(kind, (await cms.list(kindMapping, newest, { bulkhead: 'anonymous' })).records);
      } catch {
        // The gateway then responds from the replica as it is.
      }
    },

    async create(kind, fields, request, rollback) {
      const kindMapping = writable(kind);
      const body = await createBody(kind, fields);
      const call = callOptions(request);
      const { author = request.actor.account?.userId } = fields as { author?: number };
      const attempt = startCreate(dependencies, { kind, author, call, rollback });
      let cmsRecord: CmsRecord;
      try {
        const key = await creationKeyOptions(request, kind);
        cmsRecord = await cms.create(kindMapping, body, { ...call, ...key, creationId: attempt.creationId });
      } catch (error) {
        await attempt.failed(error);
        throw error;
      }
      const { id } = attempt.succeeded(Number(cmsRecord.id), () => toRecord(kind, cmsRecord, true));
      const touchBody = cms.touchAfterCreate?.(kindMapping, body);
      if (touchBody) {
        rollback.assertCreated(kind, id);
        cmsRecord = await cms.update(kindMapping, id, touchBody, call);
      }
      return written(kind, cmsRecord);
    },

    async update(kind, id, fields, request, current) {
      const call = callOptions(request);
      const { body } = await updateBody(kind, id, fields, request, current);
      return written(kind, await cms.update(writable(kind), id, body, call));
    },

    async check(kind, id, fields, request, current) {
      if (id !== undefined) return (await updateBody(kind, id, fields, request, current)).current;
      await createBody(kind, fields);
      return undefined;
    },

    async trash(kind, id, request) {
      return written(kind, await cms.trash(writable(kind), id, callOptions(request)));
    },

    async delete(kind, id, request, changed = []) {
      await cms.delete(writable(kind), id, callOptions(request));
      await writeThrough({ kind, id }, ...changed);
    },

    async readImage(id, request) {
      return (await cms.images([id], callOptions(request)))[0];
    },

    async uploadImage(image, request, rollback) {
      const call = callOptions(request);
      const attempt = startCreate(dependencies, { kind: 'image', call, rollback });
      try {
        const upload = await cms.upload(image, { ...call, creationId: attempt.creationId });
        rollback.created('image', upload.id);
        return upload.id;
      } catch (error) {
        await attempt.failed(error);
        throw error;
      }
    },
  };
}
