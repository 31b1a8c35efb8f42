// The fake CMS: a WordPress in memory with accounts, posts, terms, media, paging, trash and errors, as observed on
// the real one (contract.ts). Tests let it fail, delay it, and change its records while it responds.

import type { CallOptions, Cms, CmsRecord, CollectionSpec, Detail, ListRequest } from '../../src/cms/port.ts';
import { cmsIdOf, gatewayId, normalize, WORDPRESS_RECORDS } from '../../src/cms/wordpress/record-form.ts';
import { readLogin } from '../../src/cms/wordpress/wordpress.ts';
import { CmsUnavailable } from '../../src/errors.ts';
import type { Site } from '../../src/model/records.ts';
import {
  ACTIONS,
  accountOf,
  canEdit,
  canSee,
  type FakeAccount,
  mayUpload,
  ROLE_ACCOUNTS,
  type Role,
  refuse,
  SAME_NAMES,
} from './fake-accounts.ts';
import { createFakeLists } from './fake-lists.ts';
import {
  createFakeRecords,
  type FakeRecord,
  type FakeRecords,
  type FakeTerm,
  POST_BASES,
  TERM_BASES,
} from './fake-records.ts';
import { createFakeResponses, type FakeResponses, fieldSelector, postFields } from './fake-responses.ts';

export * from './fake-accounts.ts';
export * from './fake-records.ts';

export interface WriteCall {
  method: 'create' | 'update' | 'remove' | 'upload';
  base: string;
}

/** One request for a list or a record, or for images; `anonymous`: without credentials. */
export interface ReadCall extends Partial<Omit<ListRequest, 'detail'>> {
  base: string;
  detail?: Detail | undefined;
  anonymous?: boolean;
}

export interface FakeCms extends Cms, FakeRecords, FakeResponses {
  siteFacts: Site;
  /** Default: one per role. */
  accounts: readonly FakeAccount[];
  /** The CMS's clock, which may differ from the gateway's. */
  nowMs(): number;

  /** Received requests that read, in order. */
  requests: ReadCall[];
  /** Runs before the response to a request that reads: for changes between two pages, and for failures. */
  beforeRequest: ((request: ReadCall) => void | Promise<void>) | undefined;
  /** Runs after a response was built and before it arrives: a change makes it outdated. */
  afterRequest: ((request: ReadCall) => void | Promise<void>) | undefined;

  /** Received writes, in order. */
  writes: WriteCall[];
  /** Received deletions, in order. */
  deletes: { base: string; id: number; force: boolean }[];
  /** Runs before a write, whose body it may change, and with `inserted` again after it; throws the CMS's error. */
  onWrite: ((write: WriteCall, inserted: boolean, body: CmsRecord) => void | Promise<void>) | undefined;

  /** The companion plugin is installed: it finds a record by the key of its create. */
  hasCompanion: boolean;
  /** What the service account may do with posts: the holes in an author's lists are the others' records. */
  serviceRole: Role | 'refused';
  /** Collections whose lists a plugin refuses to anonymous readers. */
  closedToPublic: Set<string>;
  /** Collections of an inactive plugin. */
  removed: Set<string>;
  /** Collections whose routes a firewall or another plugin hides. */
  unrouted: Set<string>;
  /** Events that a broken plugin omits from every list. */
  omitted: ((id: number) => boolean) | undefined;
  /** The fields in the schema of a collection; undefined if the CMS shows none. */
  schemaFields: string[] | undefined;
  /** Of one response; a longer one is too large. */
  maxBytes: number | undefined;
  /** How often the list of events has this record, as with a plugin that lists occurrences. */
  repeats: (id: number) => number;
}

const WRITABLE_STATUSES = ['publish', 'draft', 'pending', 'private', 'future'];
const BASES = [...POST_BASES, ...TERM_BASES];

/** What the port throws while the CMS is down. */
export function unavailable(): never {
  throw new CmsUnavailable('refused', 'connect ECONNREFUSED');
}

const slugOf = (text: unknown) =>
  String(text ?? '')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}|[^\w\s-]/gu, '')
    .replace(/\s+/g, '-');

/** Creates an empty CMS. */
export function createFakeCms(
  nowMs: () => number,
  { timezone = 'America/New_York', accounts = ROLE_ACCOUNTS } = {},
): FakeCms {
  const records = createFakeRecords(nowMs);
  const { posts, terms, media } = records;
  const responses = createFakeResponses(records, () => cms.siteFacts);

  function limitSize(response: unknown): void {
    if (cms.maxBytes !== undefined && JSON.stringify(response).length > cms.maxBytes)
      throw new CmsUnavailable('too-large', `The CMS answered with more than ${cms.maxBytes} bytes.`);
  }

  const callerOf = ({ credentials }: CallOptions) => accountOf(cms.accounts, credentials);

  /** The caller's account for posts, of which the service account may see less. */
  function postReader(options: CallOptions): FakeAccount | undefined {
    const caller = callerOf(options);
    if (caller?.name !== 'admin') return caller;
    if (cms.serviceRole === 'refused') refuse('forbidden', 401, 'rest_forbidden_context');
    return cms.accounts.find(({ name }) => name === cms.serviceRole);
  }

  async function receive(request: ReadCall, options: CallOptions | undefined): Promise<void> {
    options?.signal?.throwIfAborted();
    cms.requests.push(request);
    await cms.beforeRequest?.(request);
  }

  function recordOf({ collection }: CollectionSpec, id: number): FakeRecord {
    const record = posts.get(id) ?? terms.get(id) ?? media.get(id);
    if (record?.base === collection) return record;
    return refuse('not-found', 404, TERM_BASES.includes(collection) ? 'rest_term_invalid' : 'rest_post_invalid_id');
  }

  const written = (spec: CollectionSpec, record: FakeRecord, { credentials }: CallOptions): CmsRecord =>
    normalize(spec, structuredClone(responses.response(record, { credentials, view: 'editor' })));

  /** Throws as WordPress does before it inserts the record. */
  function checkCreate(base: string, body: CmsRecord, options: CallOptions): void {
    const caller = callerOf(options) ?? refuse('forbidden', 401, 'rest_cannot_create');
    if (!caller.may(TERM_BASES.includes(base) ? 'manageTerms' : 'edit', base))
      refuse('forbidden', 403, 'rest_cannot_create');
    if (TERM_BASES.includes(base)) {
      const same = [...terms.values()].find((term) => term.base === base && term.name === body.name);
      if (same) refuse('conflict', 400, 'term_exists', { fields: ['name'], existingId: same.id });
      return;
    }
    if (body.status !== undefined && !WRITABLE_STATUSES.includes(String(body.status)))
      refuse('invalid', 400, 'rest_invalid_param', { fields: ['status'] });
    if (!body.title && !body.content && !body.excerpt) refuse('invalid', 400, 'empty_content', { fields: ['title'] });
  }

  function insert(base: string, body: CmsRecord, options: CallOptions): FakeRecord {
    const { creationKey } = options;
    const key = cms.hasCompanion && creationKey !== undefined ? { creationKey } : {};
    if (TERM_BASES.includes(base)) {
      return records.createTerm(base, { slug: slugOf(body.name), ...(body as Partial<FakeTerm>), ...key });
    }
    const author = callerOf(options)?.userId ?? 1;
    const slug = slugOf(body.title);
    return records.createPost(base, {
      ...{ author, slug, title: '' },
      ...postFields(body, cms.siteFacts),
      ...key,
    });
  }

  const cms: FakeCms = {
    ...records,
    ...responses,
    siteFacts: { url: 'https://cms.example', name: 'Fake', timezone },
    accounts,
    nowMs,
    ...{ requests: [], beforeRequest: undefined, afterRequest: undefined },
    ...{ writes: [], deletes: [], onWrite: undefined, hasCompanion: false },
    serviceRole: 'admin',
    closedToPublic: new Set(),
    removed: new Set(),
    unrouted: new Set(),
    ...{ omitted: undefined, schemaFields: undefined, maxBytes: undefined, repeats: () => 1 },

    maxPageSize: 100,
    recordForm: WORDPRESS_RECORDS,
    readLogin,
    gatewayId,
    apiUrl: (site, { collection }, id) => `${site.url}/wp-json/wp/v2/${collection}${id === undefined ? '' : `/${id}`}`,
    async site(options) {
      await receive({ base: '' }, options);
      return { ...cms.siteFacts };
    },
    async account({ credentials }) {
      if (readLogin(credentials ?? '')?.kind === 'token') refuse('unknown-scheme', 401, 'rest_not_logged_in');
      const login = callerOf({ credentials }) ?? refuse('unauthenticated', 401, 'rest_not_logged_in');
      const caller = cms.serviceRole === 'refused' ? login : postReader({ credentials })!;
      // Permissions are the same in every collection.
      const permissions = new Set<string>(ACTIONS.filter((action) => caller.may(action, 'events')));
      return { userId: caller.userId, roles: [caller.name], permissions, mayUpload: mayUpload(caller) };
    },
    accountExists: async (id) => id <= cms.accounts.length,
    async hasCollection({ collection }) {
      await receive({ base: 'types' }, undefined);
      return BASES.includes(collection) && !cms.removed.has(collection);
    },
    async collectionInfo({ collection: base }) {
      await receive({ base }, undefined);
      if (!BASES.includes(base)) refuse('no-collection', 404, 'rest_no_route');
      return { statuses: [], permissions: SAME_NAMES, writableFields: undefined, fields: cms.schemaFields };
    },
    async list(spec, request, options = {}) {
      const { collection: base } = spec;
      const received = { base, anonymous: options.credentials === undefined, ...request };
      await receive(received, options);
      if (cms.removed.has(base) || cms.unrouted.has(base)) refuse('no-collection', 404, 'rest_no_route');
      const page = list(spec, request, options);
      limitSize(page.records);
      await cms.afterRequest?.(received);
      return page;
    },
    async read(spec, id, { view, detail, password }, options = {}) {
      const { collection: base } = spec;
      await receive({ base, view, detail }, options);
      if (cms.removed.has(base)) refuse('no-collection', 404, 'rest_no_route');
      const record = recordOf(spec, cmsIdOf(spec, id));
      if ('terms' in record) {
        const reader = postReader(options);
        const status = reader === undefined ? 401 : 403;
        if (view === 'editor' && !canEdit(reader, record)) refuse('forbidden', status, 'rest_forbidden_context');
        if (!canSee(reader, record, view)) refuse('not-visible', status, 'rest_forbidden');
        if (password !== undefined && record.password !== undefined && password !== record.password)
          refuse('forbidden', 403, 'rest_post_incorrect_password');
      }
      const select = fieldSelector(spec, detail);
      const response = normalize(
        spec,
        structuredClone(select(responses.response(record, { ...options, view, password }))),
      );
      await cms.afterRequest?.({ base, view, detail });
      return response;
    },
    async create(spec, sent, options) {
      const [write, body] = [{ method: 'create', base: spec.collection } as const, { ...sent }];
      cms.writes.push(write);
      await cms.onWrite?.(write, false, body);
      checkCreate(spec.collection, body, options);
      const record = insert(spec.collection, body, options);
      await cms.onWrite?.(write, true, body);
      return written(spec, record, options);
    },
    async update(spec, id, sent, options) {
      const [write, body] = [{ method: 'update', base: spec.collection } as const, { ...sent }];
      cms.writes.push(write);
      await cms.onWrite?.(write, false, body);
      const record = recordOf(spec, cmsIdOf(spec, id));
      if ('terms' in record) {
        const { meta, terms: termIds, ...fields } = postFields(body, cms.siteFacts);
        const merged = { meta: { ...record.meta, ...meta }, terms: { ...record.terms, ...termIds } };
        cms.edit(record.id, { ...fields, ...merged });
      } else Object.assign(record, body);
      await cms.onWrite?.(write, true, body);
      return written(spec, record, options);
    },
    async delete(spec, id) {
      const { id: cmsId, base } = recordOf(spec, cmsIdOf(spec, id));
      cms.deletes.push({ base, id: cmsId, force: true });
      cms.erase(cmsId);
      cms.deleteTerm(cmsId);
      cms.deleteMedia(cmsId);
    },
    async trash(spec, id, options) {
      const { collection: base } = spec;
      const record = recordOf(spec, cmsIdOf(spec, id));
      if (!('terms' in record)) return refuse('no-trash', 501, 'rest_trash_not_supported');
      cms.deletes.push({ base, id: record.id, force: false });
      if (record.status === 'trash') refuse('in-trash', 410, 'rest_already_trashed');
      const write: WriteCall = { method: 'remove', base };
      cms.writes.push(write);
      await cms.onWrite?.(write, false, {});
      cms.trashPost(record.id);
      await cms.onWrite?.(write, true, {});
      return written(spec, record, options);
    },
    async images(ids, options) {
      await receive({ base: 'media', ids }, options);
      const images = ids.flatMap((id) => media.get(id) ?? []).map(cms.image);
      await cms.afterRequest?.({ base: 'media', ids });
      return images;
    },
    findImage: async (url) => [...media.values()].find((item) => cms.image(item).url === url)?.id,
    async upload({ mimeType }, options) {
      const write: WriteCall = { method: 'upload', base: 'media' };
      cms.writes.push(write);
      await cms.onWrite?.(write, false, {});
      const caller = callerOf(options);
      if (!caller || !mayUpload(caller)) refuse('forbidden', caller ? 403 : 401, 'rest_cannot_create');
      if (!mimeType.startsWith('image/')) refuse('failed', 500, 'rest_upload_unknown_error');
      const image = cms.image(cms.createMedia());
      await cms.onWrite?.(write, true, {});
      return image;
    },
    isIdTaken: async (id) => cms.all().some((record) => record.id === id),
    async findCreated(key) {
      if (!cms.hasCompanion) return undefined;
      return cms
        .all()
        .filter((record) => 'creationKey' in record && record.creationKey === key)
        .map(({ base: collection, id }) => ({ collection, id }));
    },
    close: async () => {},
  };
  const list = createFakeLists(cms, postReader);
  return cms;
}
