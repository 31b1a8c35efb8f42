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
  refuse: ((step: Step, inserted: boolean) => void) | undefined;
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
    site: async () => ({ url: 'https://cms.example', name: 'Fake', timezone: 'America/New_York' }),
    async account(options) {
      const role = roleOf(options);
      return { userId: userIdOf(role), roles: [role], capabilities: new Set(CAPABILITIES[role]) };
    },
    facts: async (base) => ({ statuses: [], capabilities: { ...RIGHTS_OF[base] }, writable: undefined }),
    async list(base, query) {
      const items = [...stored.values()].filter(
        (one) =>
          one.base === base &&
          (query.slug === undefined || one.slug === query.slug) &&
          (query.author === undefined || one.author === query.author),
      );
      if (query.order === 'desc') items.reverse();
      return { items, total: items.length, totalPages: 1, serverTimeMs: nowMs() };
    },
    read: async (base, id) => (base === 'users' && id <= ROLES.length ? { id } : { ...found(base, id) }),
    async create(base, body, options) {
      const step: Step = { method: 'create', base };
      cms.steps.push(step);
      cms.refuse?.(step, false);
      const native: Native & { base: string } = { ...written(base, body, blank(base, body, options)), base };
      stored.set(Number(native.id), native);
      cms.refuse?.(step, true);
      return { ...native };
    },
    async update(base, id, body) {
      const step: Step = { method: 'update', base };
      cms.steps.push(step);
      cms.refuse?.(step, false);
      stored.set(id, { ...written(base, body, found(base, id)), base });
      return { ...found(base, id) };
    },
    async remove(base, id, { force }) {
      const native = found(base, id);
      if (force || TERMS.includes(base) || base === 'media') {
        stored.delete(id);
        return native;
      }
      const step: Step = { method: 'remove', base };
      cms.steps.push(step);
      cms.refuse?.(step, false);
      Object.assign(native, { status: 'trash', slug: `${native.slug}__trashed` });
      return { ...native };
    },
    images: async (ids) => ids.flatMap((id) => (stored.get(id)?.base === 'media' ? [image(id)] : [])),
    async upload() {
      const step: Step = { method: 'upload', base: 'media' };
      cms.steps.push(step);
      cms.refuse?.(step, false);
      const id = ++lastId;
      stored.set(id, { id, base: 'media' });
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
