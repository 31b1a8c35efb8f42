// Payload's collections of events, venues, organizers, categories and tags: lists, reads and writes.

import { randomBytes } from 'node:crypto';
import { CmsRejected, ifRejected } from '../../errors.ts';
import { textOrEmpty } from '../../model/json.ts';
import { normalizeUnicode } from '../../text/text.ts';
import type { RestCall } from '../client.ts';
import { type CallOptions, type Cms, type CmsRecord, type CollectionSpec, MEDIA, type Query } from '../port.ts';
import { type CmsResponse, objectOf } from '../response.ts';
import type { Accounts } from './accounts.ts';
import type { PayloadId } from './ids.ts';
import { createFeatures, listQuery, NO_FEATURES, selectOf } from './list-query.ts';
import {
  idSpaceOf,
  isPostCollection,
  type PayloadSite,
  statusOfBody,
  toGatewayRecord,
  toPayloadBody,
  writtenStatusPath,
} from './records.ts';
import { listOf, MAX_PAGE_SIZE, writtenOf } from './rest-calls.ts';

type Collections = Pick<
  Cms,
  | ('maxPageSize' | 'apiUrl' | 'gatewayId' | 'list' | 'read' | 'create' | 'update' | 'trash' | 'delete')
  | ('hasCollection' | 'findCreated' | 'isIdTaken')
>;

/** Terms whose names contain that of a new one. */
const MAX_SIMILAR = 1000;

/** One long function: the operations of the port share the calls, the site and its accounts, and call each other. */
export function createCollections(call: RestCall, site: PayloadSite, accounts: Accounts): Collections {
  const { ids, media, siteUrl, recordQuery, nowMs } = site;
  const collectionNameOf = (spec: CollectionSpec) => (spec === MEDIA ? media : spec.collection);
  const featuresOf = createFeatures(call);

  /** Throws `not-found` for an id that no record of Payload has, which Payload would answer with 500. */
  function routeOf(spec: CollectionSpec, id: number): string {
    const cmsId = ids.toPayload(idSpaceOf(spec), id);
    if (cmsId === undefined) throw new CmsRejected('not-found', `"${spec.collection}" has no record ${id}.`);
    return `${collectionNameOf(spec)}/${encodeURIComponent(cmsId)}`;
  }

  /** The query of a request for records: in the site's `locale`, with ids in the place of linked records (`depth`). */
  const queryOf = (parts: Query = {}): Query => ({ ...recordQuery, depth: 0, ...parts });

  /** Payload finds a trashed record only with `trash`: without it GET, PATCH and DELETE of that record are a 404. */
  const trashedToo = queryOf({ trash: true });

  const getList = (spec: CollectionSpec, parts: Query, callOptions?: CallOptions): Promise<CmsResponse> =>
    call('GET', collectionNameOf(spec), { query: queryOf(parts) }, callOptions);

  async function patch(spec: CollectionSpec, id: number, query: Query, json: CmsRecord, callOptions: CallOptions) {
    return toGatewayRecord(ids, spec, writtenOf(await call('PATCH', routeOf(spec, id), { query, json }, callOptions)));
  }

  const collections: Collections = {
    maxPageSize: MAX_PAGE_SIZE,
    gatewayId: (spec, cmsId) => ids.toGateway(idSpaceOf(spec), cmsId) ?? 0,
    apiUrl: (_site, spec, id) => `${siteUrl}/api/${id === undefined ? collectionNameOf(spec) : routeOf(spec, id)}`,

    async list(spec, request, callOptions = {}) {
      const isPosts = isPostCollection(spec);
      // Payload refuses no list: it leaves out the drafts that the caller may not read. Refused are here
      //   the view `editor`                 to a caller who may not edit
      //   any view, if it names statuses    to a caller without credentials, whom `assertMayEdit` always refuses
      const asksAnonymously = request.statuses !== undefined && callOptions.credentials === undefined;
      if (isPosts && (request.view === 'editor' || asksAnonymously)) await accounts.assertMayEdit(spec, callOptions);
      // Terms have neither drafts nor a trash: `any` sets no condition.
      const plan = isPosts
        ? listQuery(ids, spec, request, await featuresOf(spec, callOptions))
        : listQuery(ids, spec, { ...request, statuses: 'any' }, NO_FEATURES);
      if (!plan) return { records: [], total: 0, cmsTimeMs: nowMs() };
      const response = await getList(spec, plan.query, callOptions);
      const { docs, total } = listOf(response);
      const wanted = docs.slice(plan.skip, plan.skip + plan.take);
      // A record with an id that the gateway cannot serve must not stop the sync of all others.
      const hasId = ({ id }: CmsRecord) => ids.toGateway(idSpaceOf(spec), id) !== undefined;
      const readWanted = () => wanted.filter(hasId).map((doc) => toGatewayRecord(ids, spec, doc, request.detail));
      return { records: ids.batch(readWanted), total, cmsTimeMs: Date.parse(response.headers.date ?? '') || nowMs() };
    },

    async read(spec, id, { view, detail }, callOptions = {}) {
      const isEditor = view === 'editor' && isPostCollection(spec);
      if (isEditor) await accounts.assertMayEdit(spec, callOptions);
      const query = queryOf({ ...spec.recordParams, ...(isEditor && { trash: true }), ...selectOf(spec, detail) });
      try {
        const doc = objectOf(await call('GET', routeOf(spec, id), { query }, callOptions));
        return toGatewayRecord(ids, spec, doc, detail);
      } catch (error) {
        const isMissing = error instanceof CmsRejected && error.status === 404;
        const mayBeEditor = !isEditor && isPostCollection(spec) && callOptions.credentials !== undefined;
        if (!isMissing || !mayBeEditor) throw error;
        // An editor finds a trashed record in any view. Payload needs `trash` for that, which the view `editor` sends.
        const asEditor = { view: 'editor', ...(detail && { detail }) } as const;
        const record = await collections.read(spec, id, asEditor, callOptions).catch(ifRejected(() => undefined));
        if (!record) throw error;
        return record;
      }
    },

    async create(spec, body, callOptions) {
      const json = toPayloadBody(ids, spec, body);
      if (isPostCollection(spec)) await assertStatus(spec, body, callOptions);
      else await assertNewTerm(spec, json, callOptions);
      const post = async (unique: CmsRecord) =>
        writtenOf(await call('POST', collectionNameOf(spec), { query: queryOf(), json: unique }, callOptions));
      return toGatewayRecord(ids, spec, await createUnique(spec, json, post));
    },

    async update(spec, id, body, callOptions) {
      const json = toPayloadBody(ids, spec, body);
      if (isPostCollection(spec)) {
        await assertStatus(spec, body, callOptions);
        await assertNoPendingDraft(spec, id, callOptions);
      }
      return patch(spec, id, trashedToo, json, callOptions);
    },

    async trash(spec, id, callOptions) {
      const hasTrash = isPostCollection(spec) && (await featuresOf(spec, callOptions)).trash;
      if (!hasTrash) throw new CmsRejected('no-trash', `"${spec.collection}" has no trash.`);
      await assertNoPendingDraft(spec, id, callOptions);
      try {
        return await patch(spec, id, queryOf(), { deletedAt: new Date(nowMs()).toISOString() }, callOptions);
      } catch (error) {
        if (!(error instanceof CmsRejected) || error.kind !== 'not-found') throw error;
        const { status } = await collections.read(spec, id, { view: 'editor' }, callOptions);
        throw status === 'trash' ? new CmsRejected('in-trash', 'The record is in the trash.') : error;
      }
    },

    async delete(spec, id, callOptions) {
      writtenOf(await call('DELETE', routeOf(spec, id), { query: trashedToo }, callOptions));
    },

    async hasCollection(spec, callOptions) {
      const query = { ...recordQuery, limit: 1, 'select[id]': true };
      const answer = call('GET', collectionNameOf(spec), { query }, callOptions);
      return await answer.then(() => true).catch(ifRejected(({ kind }) => kind !== 'no-collection'));
    },

    findCreated: async () => undefined,
    isIdTaken: async () => false,
  };

  /** Payload stores any text as a status, and ignores the status of a collection without drafts, which publishes it. */
  async function assertStatus(spec: CollectionSpec, body: CmsRecord, callOptions: CallOptions): Promise<void> {
    const status = statusOfBody(spec, body);
    if (status === undefined || status === 'publish' || (await featuresOf(spec, callOptions)).drafts) return;
    throw new CmsRejected('invalid', `"${spec.collection}" has no drafts.`, { fields: [writtenStatusPath(spec)] });
  }

  /**
   * Throws if an editor has saved changes of a published record as a draft in the admin panel. An update would be
   * applied to these changes: Payload would publish them, or unpublish the record.
   */
  async function assertNoPendingDraft(spec: CollectionSpec, id: number, callOptions: CallOptions): Promise<void> {
    if (!(await featuresOf(spec, callOptions)).drafts) return;
    const statusOf = async (version: Query): Promise<unknown> => {
      const query = queryOf({ ...version, trash: true, 'select[_status]': true });
      return objectOf(await call('GET', routeOf(spec, id), { query }, callOptions))._status;
    };
    // `draft: true` finds the newest version; without it Payload answers with the one that readers see.
    const isNewestDraft = (await statusOf({ draft: true })) === 'draft';
    const isPendingDraft = isNewestDraft && (await statusOf({})) === 'published';
    if (!isPendingDraft) return;
    const message = 'The record has changes in Payload that are not published: publish or discard them first.';
    throw new CmsRejected('failed', message, { status: 409, code: 'unpublished-changes' });
  }

  /** Terms have unique names whatever their case, below one parent. Payload has no such rule. */
  async function assertNewTerm(spec: CollectionSpec, json: CmsRecord, callOptions: CallOptions): Promise<void> {
    const [name, parent] = [spec.paths.get('name') ?? '', spec.paths.get('parent')];
    if (typeof json[name] !== 'string') return;
    const ofParent: Query = {};
    if (parent !== undefined && json[parent]) ofParent[`where[${parent}][equals]`] = json[parent] as PayloadId;
    else if (parent !== undefined) ofParent[`where[${parent}][exists]`] = false;
    const wanted = json[name].toLowerCase();
    // `contains` finds a name in any case, and `equals` in the same case only.
    const similar = { [`where[${name}][contains]`]: json[name], ...ofParent, limit: MAX_SIMILAR };
    const { docs } = listOf(await getList(spec, similar, callOptions));
    const same = docs.find((doc) => String(doc[name]).toLowerCase() === wanted);
    const existingId = same && ids.toGateway(idSpaceOf(spec), same.id);
    if (existingId !== undefined)
      throw new CmsRejected('conflict', 'A term with this name exists.', { fields: [name], existingId });
  }

  return collections;
}

const MAX_SLUG_LENGTH = 150;
/** `yoga-2` to `yoga-5`; then eight random characters. */
const MAX_SLUG_NUMBER = 5;

/** Creates a record, with another slug if its own is taken: such a create Payload rejects before it writes. */
async function createUnique(spec: CollectionSpec, body: CmsRecord, create: (body: CmsRecord) => Promise<CmsRecord>) {
  const path = spec.paths.get('slug');
  // A slug in a group of fields is the site's own business.
  if (path === undefined || path.includes('.')) return create(body);
  const title = body[spec.paths.get(isPostCollection(spec) ? 'title' : 'name') ?? ''];
  const slug = textOrEmpty(body[path]) || slugFrom(textOrEmpty(title));
  if (slug === '') return create(body);
  for (let number = 1; number <= MAX_SLUG_NUMBER; number += 1) {
    try {
      return await create({ ...body, [path]: number === 1 ? slug : `${slug}-${number}` });
    } catch (error) {
      const isInvalid = error instanceof CmsRejected && error.code === 'ValidationError';
      if (!isInvalid || error.fields.join() !== path) throw error;
    }
  }
  return create({ ...body, [path]: `${slug}-${randomBytes(4).toString('hex')}` });
}

/** `Käse & Wein` -> `kase-wein`. */
function slugFrom(title: string): string {
  const words = normalizeUnicode(title.slice(0, MAX_SLUG_LENGTH), 'NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return (words.match(/[\p{L}\p{N}]+/gu) ?? []).join('-');
}
