// The fake CMS: a WordPress in memory with users, posts, terms, media, paging, trash and errors, as recorded
// from the real one (contract.ts). Tests inject failures into its writes.

import {
  type Action,
  type ActionPermissions,
  type CallOptions,
  type Cms,
  type CmsRecord,
  type CollectionSpec,
  type Detail,
  plainCollection,
} from '../../src/cms/port.ts';
import { readLogin } from '../../src/cms/wordpress/login.ts';
import { WORDPRESS_RECORDS } from '../../src/cms/wordpress/record-form.ts';
import { CmsRejected, type RejectionKind, type RejectionOptions } from '../../src/errors.ts';
import type { ImageRecord } from '../../src/model/records.ts';

export const ROLES = ['subscriber', 'contributor', 'author', 'editor', 'admin'] as const;
export type Role = (typeof ROLES)[number];

const ACTIONS: readonly Action[] = [
  ...(['edit', 'publish', 'editPublished', 'manageTerms', 'deleteTerms'] as const),
  ...(['editOthers', 'editPrivate', 'readPrivate', 'delete'] as const),
];
/** Every action needs the permission of its own name, in every collection. */
export const SAME_NAMES = Object.fromEntries(ACTIONS.map((action) => [action, action])) as ActionPermissions & object;
const PERMISSIONS: Record<Role, readonly Action[]> = {
  subscriber: [],
  contributor: ['edit'],
  author: ACTIONS.slice(0, 5),
  editor: ACTIONS,
  admin: ACTIONS,
};
const mayUpload = (role: Role): boolean => PERMISSIONS[role].includes('publish');

/** The `Authorization` of each role. */
export const CREDENTIALS = Object.fromEntries(
  ROLES.map((role) => [role, `Basic ${Buffer.from(`${role}:x`).toString('base64')}`]),
) as Record<Role, string>;

/** The user id of each role: 1 for the first. */
export const userIdOf = (role: Role): number => ROLES.indexOf(role) + 1;

export interface WriteCall {
  method: 'create' | 'update' | 'remove' | 'upload';
  base: string;
}

export interface FakeCms extends Cms {
  /** All posts, terms and media by id. */
  records: Map<number, CmsRecord & { base: string }>;
  /** Received writes, in order. */
  writes: WriteCall[];
  /** Runs before a write and, with `inserted`, again after it; throws the CMS's error. */
  onWrite: ((write: WriteCall, inserted: boolean, body: CmsRecord) => void | Promise<void>) | undefined;
  /** Received DELETE requests, in order. */
  deletes: { base: string; id: number; force: boolean }[];
  /** Installs the companion plugin, which names the inserted records with every rejected create. */
  hasCompanion: boolean;
  /** Changes a record directly in the CMS, as an editor. */
  edit(id: number, fields: CmsRecord): void;
}

const POSTS = ['events', 'venues', 'organizers'];
const TERMS = ['event_categories', 'tags'];
const STATUSES = ['publish', 'future', 'draft', 'pending', 'private'];
const TEXTS = ['title', 'content', 'excerpt'];
const FIELDS: Record<Exclude<Detail, 'mapped'>, string[]> = {
  id: ['id'],
  time: ['id', 'modified_gmt', 'modifiedUtc'],
  stamp: ['id', 'modified_gmt', 'modifiedUtc', 'status'],
  slug: ['id', 'slug'],
};

/** Creates an empty CMS. */
export function createFakeCms(nowMs: () => number): FakeCms {
  const records: FakeCms['records'] = new Map();
  let lastId = 0;
  const utc = () => new Date(nowMs()).toISOString().slice(0, 19);
  const rendered = (text: unknown) => ({ raw: String(text ?? ''), rendered: String(text ?? ''), protected: false });
  const slugOf = (text: unknown) =>
    String(text ?? '')
      .normalize('NFKD')
      .toLowerCase()
      .replace(/\p{M}|[^\w\s-]/gu, '')
      .replace(/\s+/g, '-');

  function reject(kind: RejectionKind, options: RejectionOptions = {}): never {
    throw new CmsRejected(kind, `Rejected: ${kind}`, options);
  }

  function roleOf({ credentials }: CallOptions): Role {
    const role = ROLES.find((name) => CREDENTIALS[name] === credentials);
    return role ?? reject('unauthenticated');
  }

  /** Throws unless the caller may do this. */
  function authorize(options: CallOptions, isAllowed: (role: Role) => boolean): void {
    if (options.credentials === undefined) reject('forbidden', { status: 401 });
    if (!isAllowed(roleOf(options))) reject('forbidden');
  }

  function existing(base: string, id: number): CmsRecord & { base: string } {
    const record = records.get(id);
    return record?.base === base ? record : reject('not-found');
  }

  function validate(base: string, body: CmsRecord): void {
    if (TERMS.includes(base)) {
      const same = [...records.values()].find((record) => record.base === base && record.name === body.name);
      if (same) reject('conflict', { fields: ['name'], existingId: Number(same.id) });
      return;
    }
    if (body.status !== undefined && !STATUSES.includes(String(body.status))) reject('invalid', { fields: ['status'] });
    if (!TEXTS.some((name) => body[name])) reject('invalid', { fields: ['title'] });
  }

  const selectFields = ({ ...record }: CmsRecord, spec: CollectionSpec, detail: Detail | undefined): CmsRecord => {
    if (detail === undefined) return record;
    const mapped = spec.selectedFields.split(',').map((path) => path.split('.', 1)[0]!);
    const names = detail === 'mapped' ? [...mapped, 'modifiedUtc'] : FIELDS[detail];
    return Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name)));
  };

  function written(base: string, body: CmsRecord, before: CmsRecord): CmsRecord {
    const { title, content, excerpt, meta, ...rest } = body;
    return {
      ...before,
      ...rest,
      ...(title === undefined ? {} : { title: rendered(title) }),
      ...(content === undefined ? {} : { content: rendered(content) }),
      ...(excerpt === undefined ? {} : { excerpt: rendered(excerpt) }),
      ...(meta === undefined ? {} : { meta: { ...(before.meta as CmsRecord), ...(meta as CmsRecord) } }),
      ...(TERMS.includes(base) ? {} : { modified: utc(), modified_gmt: utc(), modifiedUtc: utc().replace('T', ' ') }),
    };
  }

  function blank(base: string, body: CmsRecord, options: CallOptions): CmsRecord {
    const id = ++lastId;
    const link = `https://cms.example/${base}/${id}/`;
    if (TERMS.includes(base)) return { id, slug: slugOf(body.name), description: '', parent: 0, link };
    const texts = { title: rendered(''), content: rendered(''), excerpt: rendered('') };
    const dates = { date: utc(), date_gmt: utc() };
    const author = userIdOf(roleOf(options));
    return {
      id,
      ...texts,
      ...dates,
      slug: slugOf(body.title),
      author,
      link,
      featured_media: 0,
      meta: {},
      event_categories: [],
      tags: [],
    };
  }

  const cms: FakeCms = {
    records,
    writes: [],
    onWrite: undefined,
    deletes: [],
    hasCompanion: false,
    edit: (id, fields) =>
      void records.set(id, {
        ...written(records.get(id)!.base, fields, records.get(id)!),
        base: records.get(id)!.base,
      }),
    site: async () => ({ url: 'https://cms.example', name: 'Fake', timezone: 'America/New_York' }),
    readLogin,
    async account(options) {
      if (readLogin(options.credentials ?? '')?.kind === 'token') reject('unknown-scheme');
      const role = roleOf(options);
      return {
        userId: userIdOf(role),
        roles: [role],
        permissions: new Set(PERMISSIONS[role]),
        mayUpload: mayUpload(role),
      };
    },
    hasCollection: async ({ collection }) => [...POSTS, ...TERMS].includes(collection),
    maxPageSize: 100,
    builtIn: plainCollection('posts', 'posts'),
    recordForm: WORDPRESS_RECORDS,
    accountExists: async (id) => id <= ROLES.length,
    gatewayId: (_spec, ownId) => ownId,
    apiUrl: (site, { collection }, id) => `${site.url}/wp-json/wp/v2/${collection}${id === undefined ? '' : `/${id}`}`,
    collectionInfo: async ({ collection: base }) => {
      if (![...POSTS, ...TERMS].includes(base)) reject('no-collection');
      return { statuses: [], permissions: SAME_NAMES, writableFields: undefined };
    },
    async list(spec, request, options) {
      const { collection: base } = spec;
      if (![...POSTS, ...TERMS, 'media'].includes(base)) reject('no-collection');
      const { view, statuses, detail, order, limit = 10, ids, slug, author, modifiedAfterUtc } = request;
      if (limit > 100) reject('invalid', { fields: ['per_page'] });
      const isAnonymous = options?.credentials === undefined;
      const isPosts = POSTS.includes(base);
      const mayEdit = !isAnonymous && PERMISSIONS[roleOf(options)].includes('edit');
      if (isPosts && view === 'editor' && !mayEdit) reject('forbidden');
      if (isPosts && statuses !== undefined && !mayEdit) reject('invalid', { fields: ['status'] });
      const hasStatus = ({ status }: CmsRecord) => {
        if (!isPosts || statuses === 'all') return true;
        if (!statuses) return status === 'publish';
        return statuses === 'any' ? status !== 'trash' : statuses.includes(String(status));
      };
      const matching = [...records.values()].filter(
        (record) =>
          record.base === base &&
          hasStatus(record) &&
          (slug === undefined || record.slug === slug) &&
          (author === undefined || record.author === author) &&
          (modifiedAfterUtc === undefined || String(record.modifiedUtc) > modifiedAfterUtc) &&
          (!ids || ids.includes(Number(record.id))),
      );
      const key = (record: CmsRecord): string =>
        `${order === '-modified' ? record.modifiedUtc : ''} ${String(record.id).padStart(9, '0')}`;
      matching.sort((a, b) => (key(a) < key(b) ? -1 : 1));
      if (order?.startsWith('-') ?? isPosts) matching.reverse();
      const offset = request.offset ?? ((request.page ?? 1) - 1) * limit;
      return {
        records: matching.slice(offset, offset + limit).map((record) => selectFields(record, spec, detail)),
        total: isPosts && offset >= matching.length ? 0 : matching.length,
        cmsTimeMs: nowMs(),
      };
    },
    async findCreated(key) {
      if (!cms.hasCompanion) return undefined;
      return [...records.values()].flatMap(({ base: collection, id, key: own }) =>
        own === key ? [{ collection, id: Number(id) }] : [],
      );
    },
    async isUnusedTerm({ collection: base }, id) {
      return ![...records.values()].some(
        (record) =>
          record.status !== 'trash' && ((record[base] as number[] | undefined)?.includes(id) || record.parent === id),
      );
    },
    async read(spec, id, { view, detail }, options = {}) {
      const record = existing(spec.collection, id);
      if (POSTS.includes(spec.collection)) {
        const mayEdit = options.credentials !== undefined && PERMISSIONS[roleOf(options)].includes('edit');
        if (view === 'editor' && !mayEdit) reject('forbidden');
        if (record.status !== 'publish' && !mayEdit) reject('hidden');
      }
      return selectFields(record, spec, detail);
    },
    async create({ collection }, body, options) {
      const write: WriteCall = { method: 'create', base: collection };
      cms.writes.push(write);
      const inserted: { collection: string; id: number }[] = [];
      try {
        await cms.onWrite?.(write, false, body);
        authorize(options, (role) => PERMISSIONS[role].includes(TERMS.includes(collection) ? 'manageTerms' : 'edit'));
        validate(collection, body);
        const cmsRecord: CmsRecord & { base: string } = {
          ...written(collection, body, blank(collection, body, options)),
          base: collection,
        };
        if (cms.hasCompanion && options.creationKey !== undefined) cmsRecord.key = options.creationKey;
        records.set(Number(cmsRecord.id), cmsRecord);
        inserted.push({ collection, id: Number(cmsRecord.id) });
        await cms.onWrite?.(write, true, body);
        return { ...cmsRecord };
      } catch (error) {
        if (!(cms.hasCompanion && error instanceof CmsRejected)) throw error;
        throw new CmsRejected(error.kind, error.message, { ...error, inserted, written: inserted[0] ? 'yes' : 'no' });
      }
    },
    async update({ collection: base }, id, body) {
      const write: WriteCall = { method: 'update', base };
      cms.writes.push(write);
      await cms.onWrite?.(write, false, body);
      records.set(id, { ...written(base, body, existing(base, id)), base });
      await cms.onWrite?.(write, true, body);
      return { ...existing(base, id) };
    },
    async delete({ collection: base }, id) {
      existing(base, id);
      cms.deletes.push({ base, id, force: true });
      records.delete(id);
    },
    async trash({ collection: base }, id) {
      const record = existing(base, id);
      if (!POSTS.includes(base)) reject('no-trash');
      cms.deletes.push({ base, id, force: false });
      if (record.status === 'trash') reject('gone');
      const write: WriteCall = { method: 'remove', base };
      cms.writes.push(write);
      await cms.onWrite?.(write, false, {});
      Object.assign(record, { status: 'trash', slug: `${record.slug}__trashed` });
      await cms.onWrite?.(write, true, {});
      return { ...record };
    },
    findImage: async (url) => Number(/\/(\d+)\.png$/.exec(url)?.[1]) || undefined,
    images: async (ids) => ids.flatMap((id) => (records.get(id)?.base === 'media' ? [image(id)] : [])),
    async upload({ mimeType }, options) {
      const write: WriteCall = { method: 'upload', base: 'media' };
      cms.writes.push(write);
      await cms.onWrite?.(write, false, {});
      authorize(options, mayUpload);
      if (!mimeType.startsWith('image/')) reject('failed');
      const id = ++lastId;
      records.set(id, { id, base: 'media' });
      await cms.onWrite?.(write, true, {});
      return image(id);
    },
    exists: async (id) => records.has(id),
    close: async () => {},
  };
  return cms;
}

const image = (id: number): ImageRecord => ({
  id,
  url: `https://cms.example/${id}.png`,
  extension: 'png',
  width: 1,
  height: 1,
  filesizeBytes: 1,
  sizes: {},
});
