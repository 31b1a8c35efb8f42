// Reads and writes records in the CMS for the use cases: calls the CMS with the caller's credentials, and maps the
// response. What the CMS sent to the writer never enters the replica: after a write the gateway reads the record again
// as a visitor, and tells the other gateways of the site.

import { randomBytes } from 'node:crypto';
import type { Cms, CmsRecord, ReadRequest } from '../cms/port.ts';
import { ApiError, CmsRejected, ifRejected } from '../errors.ts';
import { internalError } from '../interface/errors.ts';
import type { KindMapping, Mapping } from '../mapping/mapping.ts';
import type { LinkTables } from '../mapping/references.ts';
import {
  type FieldsOf,
  isOccurrenceId,
  isTermKind,
  type Kind,
  type RecordOf,
  type Site,
  seriesIdOf,
} from '../model/records.ts';
import type { Observe } from '../observability/observations.ts';
import { getRecord, occurrenceIds } from '../store/records.ts';
import type { Replica } from '../store/replica.ts';
import type { ChangedRecord } from '../sync/poll.ts';
import type { Sync } from '../sync/sync.ts';
import { unmappedToApiError } from './cms-errors.ts';
import type { PeersPort } from './peers-port.ts';
import { type CallContext, callOptions, type RequestContext, writableMapping } from './request.ts';

/** The key that the companion plugin stores with a new record. Throws 409 if another gateway has taken over. */
async function creationKeyFor({ keyedCreate }: RequestContext, kind: Kind): Promise<string> {
  if (keyedCreate?.kind !== kind) return randomBytes(32).toString('hex');
  await keyedCreate.renewClaim();
  return keyedCreate.creationKey;
}

interface CmsRecordsParts {
  cms: Cms;
  mapping: Mapping;
  replica: Replica;
  sync: Sync;
  site(): Site;
  peers?: PeersPort | undefined;
}

/**
 * Unless it says otherwise, a method calls the CMS with the actor's own credentials, and returns the record as the CMS
 * shows it to the actor. A write resolves when the replica shows what visitors get of it. Each throws `CmsUnavailable`
 * and `CmsRejected`. A read in the default view, `public`, finds an account's private posts too (`CmsView`).
 */
export class CmsRecords {
  readonly #parts: CmsRecordsParts;

  constructor(parts: CmsRecordsParts) {
    this.#parts = parts;
  }

  /** The kind's mapping; the caller has checked that there is one. */
  readonly #mappingOf = <K extends Kind>(kind: K) => this.#parts.mapping.kinds[kind] as KindMapping<K>;
  readonly #writable = <K extends Kind>(kind: K) => writableMapping({ mapping: this.#parts.mapping }, kind);

  #toRecord<K extends Kind>(kind: K, cmsRecord: CmsRecord, isWritten = false): RecordOf[K] {
    this.#parts.sync.assertHasFields(kind, cmsRecord, isWritten);
    return this.#mappingOf(kind).read(cmsRecord, this.#parts.site(), this.#parts.sync.linkTables());
  }

  /**
   * Starts the sync's fetch of the published records that the replica lacks. The promise never rejects. If the replica
   * is damaged, there is no promise: this function throws, which makes the request a 503.
   */
  #fetchUnknown(kind: Kind, cmsRecords: readonly CmsRecord[]): Promise<unknown> {
    const published = cmsRecords.filter(({ status }) => status === undefined || status === 'publish');
    const ids = published.map(({ id }) => Number(id)).filter((id) => !getRecord(this.#parts.replica.db, kind, id));
    return ids.length === 0 ? Promise.resolve() : this.#parts.sync.fetchChanged(ids.map((id) => ({ kind, id })));
  }

  /** Resolves when the replica shows what visitors get of the written records, or withholds them. Never rejects. */
  async #readAsVisitor(...written: readonly ChangedRecord[]): Promise<void> {
    const { sync, peers } = this.#parts;
    const read = () => sync.fetchWritten(written);
    await (peers ? peers.tell(written, read) : read());
  }

  /** Lets the replica read, as a visitor, the record that a write returned. Resolves with that record. */
  async #afterWrite<K extends Kind>(kind: K, cmsRecord: CmsRecord): Promise<RecordOf[K]> {
    const record = this.#toRecord(kind, cmsRecord, true);
    await this.#readAsVisitor({ kind, id: record.id, isTrashed: 'status' in record && record.status === 'trash' });
    return record;
  }

  /** The CMS has an occurrence in the record of its series. Throws `CmsRejected` if the series lacks it. */
  #pickOccurrence<K extends Kind>(kind: K, id: number, cmsRecord: CmsRecord, record: RecordOf[K]): RecordOf[K] {
    if (kind !== 'event' || !isOccurrenceId(id)) return record;
    const { site, sync } = this.#parts;
    const occurrences = this.#mappingOf(kind).occurrences?.(cmsRecord, site(), sync.linkTables());
    const occurrence = occurrences?.find((each) => each.id === id);
    if (!occurrence) throw new CmsRejected('not-found', `Series ${record.id} has no occurrence ${id}.`);
    return occurrence as RecordOf[K];
  }

  /** Refreshes the link tables if they lack a linked record, which this request may have created. */
  async #linkTablesFor<K extends Kind>(
    { linkFields }: KindMapping<K>,
    fields: Partial<FieldsOf[K]>,
  ): Promise<LinkTables> {
    const linked = fields as { venues?: number[]; organizers?: number[] };
    const lacksOne = linkFields.some(({ field }) =>
      linked[field]?.some((id) => this.#parts.sync.linkTables()[field]?.storedIdOf.has(id) !== true),
    );
    if (lacksOne) await this.#parts.sync.refreshLinkTables();
    return this.#parts.sync.linkTables();
  }

  /**
   * The body of a create (without `id`) or of an update. Throws what the mapping refuses, such as a text that a number
   * field cannot store: `checkWrite` calls it for that alone.
   * @param current the CMS record, if the caller has just read it for this update
   */
  async bodyOf<K extends Kind>(
    kind: K,
    id: number | undefined,
    sent: Partial<FieldsOf[K]>,
    request: CallContext,
    current?: CmsRecord,
  ): Promise<CmsRecord> {
    const kindMapping = this.#writable(kind);
    const fields = { ...sent };
    // A series reads as hidden: its occurrences are listed instead. A client that sends that back hides nothing.
    if (kind === 'event' && id !== undefined && occurrenceIds(this.#parts.replica.db, id).length > 0)
      delete (fields as { hidden?: boolean }).hidden;
    let before: CmsRecord | undefined;
    if (id !== undefined && kindMapping.needsCurrent(fields))
      before = current ?? (await this.#parts.cms.read(kindMapping, id, { view: 'editor' }, callOptions(request)));
    const linkTables = await this.#linkTablesFor(kindMapping, fields);
    return kindMapping.write(fields, { site: this.#parts.site(), linkTables, current: before });
  }

  /** The record that a create with this key made. `isKnown`: the companion plugin has answered. */
  async findCreated(kind: Kind, creationKey: string, request: CallContext): Promise<{ isKnown: boolean; id?: number }> {
    const { cms, mapping } = this.#parts;
    const records = await cms.findCreated(creationKey, callOptions(request));
    const kindMapping = mapping.kinds[kind];
    const created = records?.find(({ collection }) => collection === kindMapping?.collection);
    if (!kindMapping || !created) return { isKnown: records !== undefined };
    return { isKnown: true, id: cms.gatewayId(kindMapping, created.id) };
  }

  async read<K extends Kind>(
    kind: K,
    id: number,
    request: CallContext,
    how: ReadRequest = { view: 'public' },
  ): Promise<{ record: RecordOf[K]; cmsRecord: CmsRecord }> {
    const cmsRecord = await this.#parts.cms.read(this.#mappingOf(kind), seriesIdOf(id), how, callOptions(request));
    const fetched = this.#fetchUnknown(kind, [cmsRecord]);
    // A response to a write of an event shows the event's terms from the replica.
    if (isTermKind(kind)) await fetched;
    return { record: this.#pickOccurrence(kind, id, cmsRecord, this.#toRecord(kind, cmsRecord)), cmsRecord };
  }

  /** Reads the published records with these ids, a page per call. Resolves with the ids that exist. */
  async readMany(kind: Kind, ids: readonly number[], request: CallContext): Promise<number[]> {
    const found: CmsRecord[] = [];
    for (let from = 0; from < ids.length; from += this.#parts.cms.maxPageSize) {
      const page = ids.slice(from, from + this.#parts.cms.maxPageSize);
      const list = { view: 'public', ids: page, limit: page.length, detail: 'mapped' } as const;
      found.push(...(await this.#parts.cms.list(this.#mappingOf(kind), list, callOptions(request))).records);
    }
    await this.#fetchUnknown(kind, found);
    return found.map(({ id }) => Number(id));
  }

  /** `asEditor`: in any status. */
  async findBySlug<K extends Kind>(
    kind: K,
    slug: string,
    request: CallContext,
    asEditor: boolean,
  ): Promise<RecordOf[K] | undefined> {
    const scope = asEditor ? ({ view: 'editor', statuses: 'all' } as const) : ({ view: 'public' } as const);
    const { records } = await this.#parts.cms.list(this.#mappingOf(kind), { ...scope, slug }, callOptions(request));
    return records[0] && this.#toRecord(kind, records[0]);
  }

  /** Creates a record, and adds it to `request.created`. */
  async create<K extends Kind>(kind: K, fields: Partial<FieldsOf[K]>, request: RequestContext): Promise<RecordOf[K]> {
    const kindMapping = this.#writable(kind);
    const body = await this.bodyOf(kind, undefined, fields, request);
    const call = callOptions(request);
    const creationKey = await creationKeyFor(request, kind);
    // refused before the insert    `written` is `no`: there is no record
    // refused after it             WordPress checks terms and meta then, and keeps the record: it is noted as created
    // no answer from the CMS       the error says that the outcome is unknown: this is not called
    const noteInserted = async (rejection: CmsRejected): Promise<never> => {
      if (rejection.written !== 'no') {
        const { id } = await this.findCreated(kind, creationKey, request).catch(() => ({ id: undefined }));
        if (id !== undefined) request.created?.push({ kind, id });
      }
      throw rejection;
    };
    const creating = this.#parts.cms.create(kindMapping, body, { ...call, creationKey });
    const created = await creating.catch(ifRejected(noteInserted));
    const id = Number(created.id);
    request.created?.push({ kind, id });
    // The Events Calendar fills its tables of dates, which its own pages read, only when an existing event is saved:
    // its mapping lets the start be sent a second time.
    const sentAgain = this.#parts.cms.resendAfterCreate?.(kindMapping, body);
    return this.#afterWrite(kind, sentAgain ? await this.#parts.cms.update(kindMapping, id, sentAgain, call) : created);
  }

  async update<K extends Kind>(
    kind: K,
    id: number,
    fields: Partial<FieldsOf[K]>,
    request: CallContext,
    current?: CmsRecord,
  ): Promise<RecordOf[K]> {
    const call = callOptions(request);
    const body = await this.bodyOf(kind, id, fields, request, current);
    return this.#afterWrite(kind, await this.#parts.cms.update(this.#writable(kind), id, body, call));
  }

  async trash<K extends Kind>(kind: K, id: number, request: CallContext): Promise<RecordOf[K]> {
    return this.#afterWrite(kind, await this.#parts.cms.trash(this.#writable(kind), id, callOptions(request)));
  }

  /** Deletes the record permanently. `changed`: other records that change with it. */
  async delete(kind: Kind, id: number, request: CallContext, changed: readonly ChangedRecord[] = []): Promise<void> {
    await this.#parts.cms.delete(this.#writable(kind), id, callOptions(request));
    await this.#readAsVisitor({ kind, id }, ...changed);
  }
}

/**
 * Runs the steps of a write. If they fail, the error has `request.created` as `data.created`. If the CMS refused an
 * event after its venue was created, that is `[{ kind: 'venue', id: 12 }]`: a repeated request finds it by its name.
 */
export async function withCreatedInError<T>(
  { created = [] }: RequestContext,
  observe: Observe,
  steps: () => Promise<T>,
): Promise<T> {
  try {
    return await steps();
  } catch (error) {
    if (created.length === 0) throw error;
    const names = created.map(({ kind, id }) => `${kind} ${id}`).join(', ');
    observe({ type: 'message', level: 'warn', message: `a failed write left records in the CMS: ${names}` });
    const known = unmappedToApiError(error);
    const apiError = known instanceof ApiError ? known : internalError('complete', error);
    apiError.data.created = created;
    throw apiError;
  }
}
