// A WordPress in memory that lists, counts, dates and forgets as the real one does (upstream-wordpress 6), for tests of the copy.

import { UpstreamAway, UpstreamRefused } from '../../src/errors.ts';
import type { ImageRecord, Site } from '../../src/records.ts';
import type { CallOptions, Credentials, Native, NativePage, Query, Upstream } from '../../src/upstream/port.ts';

export interface FakePost {
  id: number;
  base: string;
  status: string;
  title: string;
  slug: string;
  author: number;
  /** Publication and change, seconds since 1970. */
  dateS: number;
  modifiedS: number;
  featured: number;
  meta: Record<string, unknown>;
  /** A plugin leaves it out of what anonymous readers are shown. */
  hiddenFromPublic?: boolean;
  /** By the taxonomy's base. */
  terms: Record<string, number[]>;
}

export interface FakeTerm {
  id: number;
  base: string;
  name: string;
  slug: string;
  parent: number;
}

export interface FakeMedia {
  id: number;
  modifiedS: number;
  revision: number;
}

/** One request as it arrived. */
export interface Request {
  base: string;
  query: Query;
}

export const SERVICE = 'Basic c3luYzpzZWNyZXQ=';
export const AUTHOR = 'Basic YXV0aG9yOnNlY3JldA==';
export const AUTHOR_ID = 7;
const POST_BASES = ['events', 'venues', 'organizers'];
const TERM_BASES = ['event_categories', 'tags'];
const STATUSES = ['publish', 'draft', 'pending', 'private', 'future', 'trash', 'expired'];

/** What the content of a post shows to members alone. */
export const secretOf = ({ id }: Pick<FakePost, 'id'>): string => `members only ${id}`;

const gmt = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19);

export interface FakeWordPress extends Upstream {
  posts: Map<number, FakePost>;
  terms: Map<number, FakeTerm>;
  media: Map<number, FakeMedia>;
  requests: Request[];
  siteFacts: Site;
  /** Its own clock, which need not be the gateway's. */
  clockMs: number;
  /** Runs before a request is answered: changes in the middle of a walk, faults. */
  before: ((request: Request) => void | Promise<void>) | undefined;
  /** Runs when the answer is made and not yet there: what happens on its way makes it old. */
  after: ((request: Request) => void | Promise<void>) | undefined;
  /** What the service account is: an editor, refused, or an author who sees holes. */
  serviceIs: 'editor' | 'refused' | 'author';
  /** Collections whose lists a plugin refuses to anonymous readers. */
  closedToPublic: Set<string>;
  /** Events that a broken plugin leaves out of every list. */
  leftOut: ((id: number) => boolean) | undefined;
  /** The fields that its schema names; undefined where it shows none. */
  described: string[] | undefined;
  /** How many rows of this collection one record has: a plugin that lists occurrences. */
  repeats: number;
  create(base: string, post?: Partial<FakePost>): FakePost & Promise<Native>;
  edit(id: number, fields: Partial<FakePost>): void;
  /** From PHP, without touching `modified`. */
  quietly(id: number, fields: Partial<FakePost>): void;
  trash(id: number): void;
  erase(id: number): void;
  /** Publishes what is due, as WordPress' cron does. */
  cron(): void;
  createTerm(base: string, term?: Partial<FakeTerm>): FakeTerm;
  /** A deleted term goes out of its posts; `into` takes them over. */
  eraseTerm(id: number, into?: number): void;
  createMedia(): FakeMedia;
  replaceMedia(id: number): void;
  /** As wp-admin's image editor does: other files under the old `modified`. */
  cutMedia(id: number): void;
  eraseMedia(id: number): void;
  /** As this reader is answered: members are shown more of the content than the public, and the source with `context=edit`. */
  nativePost(post: FakePost, as?: { credentials?: Credentials; context?: unknown }): Native;
  nativeTerm(term: FakeTerm): Native;
  image(media: FakeMedia): ImageRecord;
}

/** A site with nothing in it, at the beginning of 2026 by its own clock. */
export function fakeWordPress(): FakeWordPress {
  const posts = new Map<number, FakePost>();
  const terms = new Map<number, FakeTerm>();
  const media = new Map<number, FakeMedia>();
  let lastId = 0;

  /** Rows of the same second come in another order with every request, as MariaDB has them; the same in every run of a test. */
  let drawn = 1;
  const anyOrder = () => {
    drawn = (drawn * 48_271) % 2_147_483_647;
    return drawn;
  };
  const isAfter = ({ modifiedS }: { modifiedS: number }, { modified_after }: Query) =>
    modified_after === undefined || modifiedS * 1000 > Date.parse(String(modified_after));

  const nowS = () => Math.floor(cms.clockMs / 1000);
  const offsetS = () => (cms.siteFacts.timezone === '+02:00' ? 7200 : 0);

  function refuse(status: number, code: string): never {
    throw new UpstreamRefused(status, code, `Refused: ${code}`);
  }

  /** Keys are registered for a type: every record shows all of them. */
  const keys = new Map<string, Set<string>>();
  function metaOf({ base, meta }: FakePost): Native {
    const known = keys.get(base) ?? new Set(base === 'events' ? ['start_date', 'end_date', 'venue_ids'] : []);
    keys.set(base, known);
    for (const key of Object.keys(meta)) known.add(key);
    return { ...Object.fromEntries([...known].map((key) => [key, key.endsWith('ids') ? [] : ''])), ...meta };
  }

  function nativePost(post: FakePost, { credentials, context }: { credentials?: Credentials; context?: unknown } = {}) {
    const secret = credentials === undefined ? '' : secretOf(post);
    const text = (rendered: string, raw: string) => ({
      ...(context === 'edit' ? { raw } : {}),
      ...{ rendered, protected: false },
    });
    return {
      id: post.id,
      status: post.status,
      slug: post.slug,
      author: post.author,
      date: gmt(post.dateS + offsetS()),
      date_gmt: gmt(post.dateS),
      modified: gmt(post.modifiedS + offsetS()),
      modified_gmt: gmt(post.modifiedS),
      link: `${cms.siteFacts.url}/${post.base}/${post.slug}/`,
      title: text(post.title, post.title),
      content: text(`<p>${post.title}</p>\n${secret}`, `${post.title}\n[members]${secretOf(post)}[/members]`),
      excerpt: text('', ''),
      featured_media: post.featured,
      meta: metaOf(post),
      ...(post.base === 'events' ? Object.fromEntries(TERM_BASES.map((base) => [base, []])) : {}),
      ...Object.fromEntries(Object.entries(post.terms).map(([base, ids]) => [base, [...ids]])),
    };
  }

  function nativeTerm(term: FakeTerm): Native {
    const count = [...posts.values()].filter((post) => post.terms[term.base]?.includes(term.id)).length;
    const { id, name, slug, parent, base } = term;
    return { id, name, slug, parent, description: '', count, link: `${cms.siteFacts.url}/${base}/${slug}/` };
  }

  const nativeMedia = (item: FakeMedia): Native => ({ id: item.id, modified_gmt: gmt(item.modifiedS) });

  function cut(native: Native, fields: unknown): Native {
    if (typeof fields !== 'string') return native;
    const names = new Set(fields.split(',').map((name) => name.split('.')[0]));
    return Object.fromEntries(Object.entries(native).filter(([name]) => names.has(name)));
  }

  function visiblePosts(base: string, query: Query, options: CallOptions): { shown: FakePost[]; hidden: number } {
    const asked = typeof query.status === 'string' ? query.status.split(',') : ['publish'];
    if (asked.some((status) => !STATUSES.includes(status))) refuse(400, 'rest_invalid_param');
    const who = options.credentials;
    const service = who === SERVICE ? cms.serviceIs : 'nobody';
    if (who === SERVICE && service === 'refused') refuse(401, 'rest_forbidden_context');
    if (who === undefined && asked.some((status) => status !== 'publish')) refuse(400, 'rest_forbidden_status');
    if (who === undefined && query.context === 'edit') refuse(401, 'rest_forbidden_context');
    const editor = service === 'editor';
    const own = (post: FakePost) => who === AUTHOR && post.author === AUTHOR_ID;
    const matching = [...posts.values()].filter(
      (post) =>
        post.base === base &&
        asked.includes(post.status) &&
        (typeof query.include !== 'string' || query.include.split(',').includes(String(post.id))) &&
        (query.author === undefined || post.author === Number(query.author)) &&
        isAfter(post, query) &&
        !(base === 'events' && cms.leftOut?.(post.id)),
    );
    const readable = (post: FakePost) => editor || own(post) || (post.status === 'publish' && query.context !== 'edit');
    const shown = matching.filter(readable);
    return { shown: matching.filter((post) => readable(post)), hidden: matching.length - shown.length };
  }

  const KNOWN = new Set([
    'include',
    'orderby',
    'order',
    'per_page',
    'page',
    'offset',
    'modified_after',
    '_fields',
    'context',
    'status',
    'author',
  ]);

  function answer(base: string, query: Query, options: CallOptions): NativePage {
    for (const name of Object.keys(query))
      if (!KNOWN.has(name)) throw new Error(`The test's WordPress does not know ${name}`);
    const perPage = Number(query.per_page ?? 10);
    if (options.credentials === undefined && cms.closedToPublic.has(base)) refuse(401, 'rest_login_required');
    if (perPage < 1 || perPage > 100) refuse(400, 'rest_invalid_param');
    let rows: { native: Native; key: number; tie: number }[];
    let hidden = 0;
    const included = typeof query.include === 'string' ? query.include.split(',').map(Number) : undefined;
    const isIncluded = (id: number) => included === undefined || included.includes(id);
    if (POST_BASES.includes(base)) {
      const visible = visiblePosts(base, query, options);
      hidden = visible.hidden;
      const by = query.orderby ?? 'date';
      const key = (post: FakePost) => (by === 'id' ? post.id : by === 'modified' ? post.modifiedS : post.dateS);
      rows = visible.shown
        .filter(({ id }) => isIncluded(id))
        .filter((post) => options.credentials !== undefined || !post.hiddenFromPublic)
        .map((post) => ({ native: nativePost(post, { ...options, ...query }), key: key(post), tie: anyOrder() }));
      if (base === 'events' && cms.repeats > 1) rows = rows.flatMap((row) => Array(cms.repeats).fill(row));
    } else if (TERM_BASES.includes(base)) {
      if (query.offset !== undefined) throw new Error('no offset for terms');
      if (query.context === 'edit' && options.credentials !== SERVICE) refuse(401, 'rest_forbidden_context');
      rows = [...terms.values()]
        .filter((term) => term.base === base && isIncluded(term.id))
        .map((term) => ({ native: nativeTerm(term), key: term.id, tie: 0 }));
    } else if (base === 'media') {
      rows = [...media.values()]
        .filter((item) => isAfter(item, query))
        .map((item) => ({
          native: nativeMedia(item),
          ...(query.orderby === 'id' ? { key: item.id, tie: 0 } : { key: item.modifiedS, tie: anyOrder() }),
        }));
    } else refuse(404, 'rest_no_route');
    const sign = query.order === 'asc' ? 1 : -1;
    rows.sort((a, b) => sign * (a.key - b.key) || a.tie - b.tie);
    const page = Number(query.page ?? 1);
    const offset = query.offset === undefined ? (page - 1) * perPage : Number(query.offset);
    const total = rows.length + hidden;
    if (POST_BASES.includes(base) && page > Math.max(1, Math.ceil(total / perPage)))
      refuse(400, 'rest_post_invalid_page_number');
    return {
      items: rows.slice(offset, offset + perPage).map(({ native }) => structuredClone(cut(native, query._fields))),
      total,
      totalPages: Math.ceil(total / perPage),
      serverTimeMs: nowS() * 1000,
    };
  }

  const image = ({ id, revision }: FakeMedia): ImageRecord => ({
    ...{ id, url: `${cms.siteFacts.url}/${id}-${revision}.jpg`, extension: 'jpg' },
    ...{ width: 10, height: 10, filesizeBytes: 100 + revision, sizes: {} },
  });

  const missing = () => {
    throw new Error('not in this test');
  };

  async function arrive(request: Request, options: CallOptions | undefined): Promise<void> {
    options?.signal?.throwIfAborted();
    cms.requests.push(request);
    await cms.before?.(request);
  }

  const cms: FakeWordPress = {
    posts,
    terms,
    media,
    requests: [],
    siteFacts: { url: 'https://cms.example', name: 'Fake', timezone: '+02:00' },
    clockMs: Date.UTC(2026, 0, 1),
    before: undefined,
    after: undefined,
    serviceIs: 'editor',
    closedToPublic: new Set(),
    repeats: 1,
    described: undefined,
    leftOut: undefined,
    nativePost,
    nativeTerm,
    image,
    async site(options) {
      await arrive({ base: '', query: {} }, options);
      return { ...cms.siteFacts };
    },
    async list(base, query, options = {}) {
      await arrive({ base, query }, options);
      const made = answer(base, query, options);
      await cms.after?.({ base, query });
      return made;
    },
    async images(ids, options) {
      await arrive({ base: 'media', query: { include: ids.join(',') } }, options);
      return ids.flatMap((id) => {
        const item = media.get(id);
        return item ? [image(item)] : [];
      });
    },
    account: missing,
    async facts(base) {
      await arrive({ base, query: {} }, undefined);
      return { statuses: [], capabilities: {}, writable: undefined, fields: cms.described };
    },
    async read(base, id, query, options = {}) {
      await arrive({ base, query }, options);
      const term = terms.get(id);
      if (TERM_BASES.includes(base)) return term?.base === base ? nativeTerm(term) : refuse(404, 'rest_term_invalid');
      const item = media.get(id);
      if (base === 'media') return item ? nativeMedia(item) : refuse(404, 'rest_post_invalid_id');
      const post = posts.get(id);
      if (post?.base !== base) return refuse(404, 'rest_post_invalid_id');
      const reads = options.credentials === SERVICE || post.status === 'publish';
      return reads ? nativePost(post) : refuse(401, 'rest_forbidden');
    },
    update: missing,
    remove: missing,
    upload: missing,
    exists: missing,
    isUnusedTerm: missing,
    createdWith: missing,
    close: async () => {},
    create(base, fields = {}) {
      lastId += 1;
      const dateS = fields.dateS ?? nowS();
      const post: FakePost = {
        ...{ id: lastId, base, status: 'publish', title: `Post ${lastId}`, slug: `post-${lastId}`, author: 1 },
        // WordPress dates a new post's change by its publication, past or to come.
        ...{ dateS, modifiedS: dateS, featured: 0, meta: {}, terms: {} },
        ...fields,
      };
      posts.set(post.id, post);
      return post as FakePost & Promise<Native>;
    },
    edit(id, fields) {
      const post = posts.get(id);
      if (post) Object.assign(post, fields, { modifiedS: nowS() });
    },
    quietly(id, fields) {
      const post = posts.get(id);
      if (post) Object.assign(post, fields);
    },
    trash(id) {
      const post = posts.get(id);
      if (post && post.status !== 'trash') cms.edit(id, { status: 'trash', slug: `${post.slug}__trashed` });
    },
    erase: (id) => void posts.delete(id),
    cron() {
      for (const post of posts.values()) if (post.status === 'future' && post.dateS <= nowS()) post.status = 'publish';
    },
    createTerm(base, fields = {}) {
      lastId += 1;
      const term = { id: lastId, base, name: `Term ${lastId}`, slug: `term-${lastId}`, parent: 0, ...fields };
      terms.set(term.id, term);
      return term;
    },
    eraseTerm(id, into) {
      const term = terms.get(id);
      if (!term) return;
      terms.delete(id);
      for (const child of terms.values()) if (child.parent === id) child.parent = term.parent;
      for (const post of posts.values()) {
        const ids = post.terms[term.base];
        if (!ids?.includes(id)) continue;
        const rest = ids.filter((one) => one !== id);
        post.terms[term.base] = into === undefined ? rest : [...new Set([...rest, into])];
      }
    },
    createMedia() {
      lastId += 1;
      const item = { id: lastId, modifiedS: nowS(), revision: 1 };
      media.set(item.id, item);
      return item;
    },
    replaceMedia(id) {
      const item = media.get(id);
      if (item) Object.assign(item, { revision: item.revision + 1, modifiedS: nowS() });
    },
    cutMedia(id) {
      const item = media.get(id);
      if (item) item.revision += 1;
    },
    eraseMedia(id) {
      media.delete(id);
      for (const post of posts.values()) if (post.featured === id) post.featured = 0;
    },
  };
  return cms;
}

/** As a CMS that is down. */
export function away(): never {
  throw new UpstreamAway('refused', 'connect ECONNREFUSED');
}
