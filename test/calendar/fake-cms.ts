// A CMS in memory that keeps what is written to it, and refuses a step when a test says so.

import { UpstreamRefused } from '../../src/errors.ts';
import type { ImageRecord } from '../../src/records.ts';
import type { CallOptions, Native, Upstream } from '../../src/upstream/port.ts';

export const ROLES = ['subscriber', 'contributor', 'author', 'editor', 'admin'] as const;
export type Role = (typeof ROLES)[number];

const EDITS = ['edit_posts', 'read'];
const PUBLISHES = [...EDITS, 'publish_posts', 'edit_published_posts', 'upload_files', 'manage_categories'];
const ALL = [...PUBLISHES, 'edit_others_posts', 'edit_private_posts', 'read_private_posts'];
const CAPABILITIES: Record<Role, string[]> = {
  ...{ subscriber: ['read'], contributor: EDITS, author: PUBLISHES, editor: ALL, admin: ALL },
};

/** What each collection calls its rights: the general names, and other ones where a test says so. */
const general = () => Object.fromEntries(ALL.map((name) => [name, name]));
const RIGHTS_OF: Record<string, Record<string, string>> = {
  ...{ events: general(), venues: general(), organizers: general() },
  ...{ event_categories: { manage_terms: 'manage_categories' }, tags: { manage_terms: 'manage_categories' } },
};

/** The `Authorization` of each role. */
export const AS = Object.fromEntries(
  ROLES.map((role) => [role, `Basic ${Buffer.from(`${role}:x`).toString('base64')}`]),
) as Record<Role, string>;

/** The user id of each role: 1 for the first. */
export const userIdOf = (role: Role): number => ROLES.indexOf(role) + 1;

export interface Step {
  method: 'create' | 'update' | 'remove' | 'upload';
  base: string;
}

export interface FakeCms extends Upstream {
  /** Everything that is there, by id: posts, terms and uploads. */
  stored: Map<number, Native & { base: string }>;
  /** Writes in the order in which they arrived. */
  steps: Step[];
  /** Throws what the CMS refuses a write with. `inserted`: asked again once a create has left its record behind. */
  refuse: ((step: Step, inserted: boolean, body: Native) => void | Promise<void>) | undefined;
  /** Every DELETE that arrived, in order. */
  deletes: { base: string; id: number; force: boolean }[];
  /** Whether the companion plugin is there: it says with every refused create what the request inserted. */
  companion: boolean;
  /** An editor changes a record directly in the CMS. */
  edit(id: number, fields: Native): void;
}

const TERMS = ['event_categories', 'tags'];

export function fakeCms(nowMs: () => number): FakeCms {
  const stored: FakeCms['stored'] = new Map();
  let lastId = 0;
  const utc = () => new Date(nowMs()).toISOString().slice(0, 19);
  const rendered = (text: unknown) => ({ raw: String(text ?? ''), rendered: String(text ?? ''), protected: false });
  const plain = (text: unknown) =>
    String(text ?? '')
      .toLowerCase()
      .replace(/\W+/g, '-');

  function roleOf({ credentials }: CallOptions): Role {
    const role = ROLES.find((one) => AS[one] === credentials);
    if (!role) throw new UpstreamRefused(401, 'incorrect_password', 'No.');
    return role;
  }

  function found(base: string, id: number): Native & { base: string } {
    const native = stored.get(id);
    if (native?.base !== base)
      throw new UpstreamRefused(404, TERMS.includes(base) ? 'rest_term_invalid' : 'rest_post_invalid_id', 'No.');
    return native;
  }

  function written(base: string, body: Native, before: Native): Native {
    const { title, content, excerpt, meta, ...rest } = body;
    return {
      ...before,
      ...rest,
      ...(title === undefined ? {} : { title: rendered(title) }),
      ...(content === undefined ? {} : { content: rendered(content) }),
      ...(excerpt === undefined ? {} : { excerpt: rendered(excerpt) }),
      ...(meta === undefined ? {} : { meta: { ...(before.meta as Native), ...(meta as Native) } }),
      ...(TERMS.includes(base) ? {} : { modified: utc(), modified_gmt: utc() }),
    };
  }

  function blank(base: string, body: Native, options: CallOptions): Native {
    const id = ++lastId;
    const link = `https://cms.example/${base}/${id}/`;
    if (TERMS.includes(base)) return { id, slug: plain(body.name), description: '', parent: 0, link };
    const texts = { title: rendered(''), content: rendered(''), excerpt: rendered('') };
    const dates = { date: utc(), date_gmt: utc() };
    const author = userIdOf(roleOf(options));
    return {
      id,
      ...texts,
      ...dates,
      slug: plain(body.title),
      author,
      link,
      featured_media: 0,
      meta: {},
      event_categories: [],
      tags: [],
    };
  }

  const cms: FakeCms = {
    stored,
    steps: [],
    refuse: undefined,
    deletes: [],
    companion: false,
    edit: (id, fields) =>
      void stored.set(id, { ...written(stored.get(id)!.base, fields, stored.get(id)!), base: stored.get(id)!.base }),
    site: async () => ({ url: 'https://cms.example', name: 'Fake', timezone: 'America/New_York' }),
    async account(options) {
      const role = roleOf(options);
      return { userId: userIdOf(role), roles: [role], capabilities: new Set(CAPABILITIES[role]) };
    },
    facts: async (base) => ({ statuses: [], capabilities: { ...RIGHTS_OF[base] }, writable: undefined }),
    async list(base, query) {
      const listed = (name: string) => query[name] !== undefined && String(query[name]).split(',');
      const statuses = listed('status');
      const included = listed('include');
      const items = [...stored.values()].filter(
        (one) =>
          one.base === base &&
          (query.slug === undefined || one.slug === query.slug) &&
          (query.author === undefined || one.author === query.author) &&
          (!included || included.includes(String(one.id))) &&
          (!statuses || (statuses[0] === 'any' ? one.status !== 'trash' : statuses.includes(String(one.status)))) &&
          TERMS.every((name) => query[name] === undefined || (one[name] as number[]).includes(Number(query[name]))),
      );
      const key = (one: Native): string =>
        `${query.orderby === 'modified' ? one.modified_gmt : ''} ${String(one.id).padStart(9, '0')}`;
      items.sort((one, other) => (key(one) < key(other) ? -1 : 1));
      if (query.order === 'desc') items.reverse();
      const size = Number(query.per_page ?? 10);
      const from = query.offset === undefined ? (Number(query.page ?? 1) - 1) * size : Number(query.offset);
      const total = items.length;
      return {
        items: items.slice(from, from + size),
        total,
        totalPages: Math.ceil(total / size),
        serverTimeMs: nowMs(),
      };
    },
    async createdWith(key) {
      if (!cms.companion) return undefined;
      return [...stored.values()].flatMap(({ base, id, key: own }) =>
        own === key ? [{ collection: base, id: Number(id) }] : [],
      );
    },
    async isUnusedTerm(base, id) {
      return ![...stored.values()].some(
        (one) => one.status !== 'trash' && ((one[base] as number[] | undefined)?.includes(id) || one.parent === id),
      );
    },
    read: async (base, id) => (base === 'users' && id <= ROLES.length ? { id } : { ...found(base, id) }),
    async create(base, body, options) {
      const step: Step = { method: 'create', base };
      cms.steps.push(step);
      const inserted: { collection: string; id: number }[] = [];
      try {
        await cms.refuse?.(step, false, body);
        const native: Native & { base: string } = { ...written(base, body, blank(base, body, options)), base };
        if (cms.companion && options.createKey !== undefined) native.key = options.createKey;
        stored.set(Number(native.id), native);
        inserted.push({ collection: base, id: Number(native.id) });
        await cms.refuse?.(step, true, body);
        return { ...native };
      } catch (error) {
        if (cms.companion && error instanceof UpstreamRefused)
          Object.assign(error.data, { calendar_created: inserted, calendar_create: options.createId });
        throw error;
      }
    },
    async update(base, id, body) {
      const step: Step = { method: 'update', base };
      cms.steps.push(step);
      await cms.refuse?.(step, false, body);
      stored.set(id, { ...written(base, body, found(base, id)), base });
      await cms.refuse?.(step, true, body);
      return { ...found(base, id) };
    },
    async remove(base, id, { force }) {
      const native = found(base, id);
      cms.deletes.push({ base, id, force });
      if (force || TERMS.includes(base) || base === 'media') {
        stored.delete(id);
        return native;
      }
      const step: Step = { method: 'remove', base };
      cms.steps.push(step);
      await cms.refuse?.(step, false, {});
      Object.assign(native, { status: 'trash', slug: `${native.slug}__trashed` });
      await cms.refuse?.(step, true, {});
      return { ...native };
    },
    images: async (ids) => ids.flatMap((id) => (stored.get(id)?.base === 'media' ? [image(id)] : [])),
    async upload() {
      const step: Step = { method: 'upload', base: 'media' };
      cms.steps.push(step);
      await cms.refuse?.(step, false, {});
      const id = ++lastId;
      stored.set(id, { id, base: 'media' });
      await cms.refuse?.(step, true, {});
      return image(id);
    },
    exists: async (id) => stored.has(id),
    close: async () => {},
  };
  return cms;
}

const image = (id: number): ImageRecord => ({
  ...{ id, url: `https://cms.example/${id}.png`, extension: 'png', width: 1, height: 1, filesizeBytes: 1, sizes: {} },
});
