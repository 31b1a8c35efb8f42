// A WordPress in memory that lists, counts, dates and deletes records as the real one does, for tests of the
// sync.

import { type CallOptions, type Cms, type Detail, type ListRequest, plainCollection } from '../../src/cms/port.ts';
import { readLogin } from '../../src/cms/wordpress/login.ts';
import { gatewayId, nativeId } from '../../src/cms/wordpress/normalize.ts';
import { WORDPRESS_RECORDS } from '../../src/cms/wordpress/record-form.ts';
import { CmsUnavailable } from '../../src/errors.ts';
import type { ImageRecord, Site } from '../../src/model/records.ts';
import { createResponses, type FakeResponses, refuse, TERM_BASES } from './fake-cms-responses.ts';

export interface FakePost {
  id: number;
  base: string;
  status: string;
  title: string;
  slug: string;
  author: number;
  /** Publication and modification, seconds since 1970. */
  dateS: number;
  modifiedS: number;
  featured: number;
  meta: Record<string, unknown>;
  /** A plugin hides it from anonymous readers. */
  hiddenFromPublic?: boolean;
  /** The event is a series: start and end of every occurrence that the companion plugin sends. */
  occurrences?: { start: string; end: string }[];
  /** By the collection of the taxonomy. */
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

/** One request for a list or a record, or for images; `anonymous`: without credentials. */
export interface FakeRequest extends Partial<Omit<ListRequest, 'detail'>> {
  base: string;
  detail?: Detail | undefined;
  anonymous?: boolean;
}

export const SERVICE = 'Basic c3luYzpzZWNyZXQ=';
export const AUTHOR = 'Basic YXV0aG9yOnNlY3JldA==';
export const AUTHOR_ID = 7;

/** The part of a post's content that the CMS shows to members only. */
export const membersOnlyText = ({ id }: Pick<FakePost, 'id'>): string => `members only ${id}`;

export interface FakeCms extends Cms, Pick<FakeResponses, 'postResponse' | 'termResponse'> {
  posts: Map<number, FakePost>;
  terms: Map<number, FakeTerm>;
  media: Map<number, FakeMedia>;
  requests: FakeRequest[];
  siteFacts: Site;
  /** The CMS's clock, which may differ from the gateway's. */
  clockMs: number;
  /** Runs before the response to a request: for changes between two pages, and for failures. */
  beforeRequest: ((request: FakeRequest) => void | Promise<void>) | undefined;
  /** Runs after the response was built and before it arrives: a change makes it outdated. */
  afterRequest: ((request: FakeRequest) => void | Promise<void>) | undefined;
  /** The service account is an editor, is refused, or is an author whose lists have holes. */
  serviceRole: 'editor' | 'refused' | 'author';
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
  createPost(base: string, post?: Partial<FakePost>): FakePost;
  edit(id: number, fields: Partial<FakePost>): void;
  /** As PHP code may, without touching `modified`. */
  editSilently(id: number, fields: Partial<FakePost>): void;
  trashPost(id: number): void;
  erase(id: number): void;
  /** Publishes scheduled posts that are due, as WordPress's cron does. */
  runCron(): void;
  createTerm(base: string, term?: Partial<FakeTerm>): FakeTerm;
  /** Removes the term from its posts; `into` replaces it. */
  deleteTerm(id: number, into?: number): void;
  createMedia(): FakeMedia;
  replaceMedia(id: number): void;
  /** As the image editor of wp-admin does: changes the files and keeps `modified`. */
  cropMedia(id: number): void;
  deleteMedia(id: number): void;
  image(media: FakeMedia): ImageRecord;
}

/** An empty site; its clock is at the start of 2026. */
export function createFakeCms(): FakeCms {
  const posts = new Map<number, FakePost>();
  const terms = new Map<number, FakeTerm>();
  const media = new Map<number, FakeMedia>();
  let lastId = 0;

  const nowS = () => Math.floor(cms.clockMs / 1000);

  const image = ({ id, revision }: FakeMedia): ImageRecord => ({
    ...{ id, url: `${cms.siteFacts.url}/${id}-${revision}.jpg`, extension: 'jpg' },
    ...{ width: 10, height: 10, filesizeBytes: 100 + revision, sizes: {} },
  });

  function limitSize(response: unknown): void {
    const { length } = JSON.stringify(response);
    if (cms.maxBytes !== undefined && length > cms.maxBytes)
      throw new CmsUnavailable('too-large', `The CMS answered with more than ${cms.maxBytes} bytes.`);
  }

  const unsupported = () => {
    throw new Error('the fake CMS does not support this call');
  };

  async function receive(request: FakeRequest, options: CallOptions | undefined): Promise<void> {
    options?.signal?.throwIfAborted();
    cms.requests.push(request);
    await cms.beforeRequest?.(request);
  }

  const cms: FakeCms = {
    posts,
    terms,
    media,
    requests: [],
    siteFacts: { url: 'https://cms.example', name: 'Fake', timezone: '+02:00' },
    clockMs: Date.UTC(2026, 0, 1),
    beforeRequest: undefined,
    afterRequest: undefined,
    serviceRole: 'editor',
    closedToPublic: new Set(),
    removed: new Set(),
    unrouted: new Set(),
    repeats: () => 1,
    schemaFields: undefined,
    maxBytes: undefined,
    omitted: undefined,
    postResponse: (post, as) => responses.postResponse(post, as),
    termResponse: (term) => responses.termResponse(term),
    image,
    async site(options) {
      await receive({ base: '' }, options);
      return { ...cms.siteFacts };
    },
    async list(spec, request, options = {}) {
      const received = { base: spec.collection, anonymous: options.credentials === undefined, ...request };
      await receive(received, options);
      if (cms.removed.has(spec.collection) || cms.unrouted.has(spec.collection))
        refuse('no-collection', 404, 'rest_no_route');
      const page = responses.createPage(spec, request, options);
      limitSize(page.records);
      await cms.afterRequest?.(received);
      return page;
    },
    async images(ids, options) {
      await receive({ base: 'media', ids }, options);
      return ids.flatMap((id) => {
        const item = media.get(id);
        return item ? [image(item)] : [];
      });
    },
    account: unsupported,
    readLogin,
    maxPageSize: 100,
    builtIn: plainCollection('posts', 'posts'),
    recordForm: WORDPRESS_RECORDS,
    gatewayId,
    apiUrl: (site, { collection }, id) => `${site.url}/wp-json/wp/v2/${collection}${id === undefined ? '' : `/${id}`}`,
    accountExists: unsupported,
    findImage: unsupported,
    async collectionInfo({ collection: base }) {
      await receive({ base }, undefined);
      return { statuses: [], permissions: undefined, writableFields: undefined, fields: cms.schemaFields };
    },
    async hasCollection({ collection: base }) {
      await receive({ base: 'types' }, undefined);
      return !cms.removed.has(base);
    },
    async read(spec, gatewayId, { view, detail }, options = {}) {
      const { collection: base } = spec;
      const id = nativeId(spec, gatewayId);
      await receive({ base, view, detail }, options);
      if (cms.removed.has(base)) refuse('no-collection', 404, 'rest_no_route');
      const term = terms.get(id);
      if (TERM_BASES.includes(base))
        return term?.base === base ? responses.termResponse(term) : refuse('not-found', 404, 'rest_term_invalid');
      const item = media.get(id);
      if (base === 'media')
        return item ? responses.mediaResponse(item) : refuse('not-found', 404, 'rest_post_invalid_id');
      const post = posts.get(id);
      if (post?.base !== base) return refuse('not-found', 404, 'rest_post_invalid_id');
      const reads = options.credentials === SERVICE || post.status === 'publish';
      return reads ? responses.postResponse(post) : refuse('hidden', 401, 'rest_forbidden');
    },
    create: unsupported,
    update: unsupported,
    trash: unsupported,
    delete: unsupported,
    upload: unsupported,
    exists: unsupported,
    isUnusedTerm: unsupported,
    findCreated: unsupported,
    close: async () => {},
    createPost(base, fields = {}) {
      lastId += 1;
      const dateS = fields.dateS ?? nowS();
      const post: FakePost = {
        ...{ id: lastId, base, status: 'publish', title: `Post ${lastId}`, slug: `post-${lastId}`, author: 1 },
        // WordPress sets the modification of a new post to its publication date, past or future.
        ...{ dateS, modifiedS: dateS, featured: 0, meta: {}, terms: {} },
        ...fields,
      };
      posts.set(post.id, post);
      return post;
    },
    edit(id, fields) {
      const post = posts.get(id);
      if (post) Object.assign(post, fields, { modifiedS: nowS() });
    },
    editSilently(id, fields) {
      const post = posts.get(id);
      if (post) Object.assign(post, fields);
    },
    trashPost(id) {
      const post = posts.get(id);
      if (post && post.status !== 'trash') cms.edit(id, { status: 'trash', slug: `${post.slug}__trashed` });
    },
    erase: (id) => void posts.delete(id),
    runCron() {
      for (const post of posts.values()) if (post.status === 'future' && post.dateS <= nowS()) post.status = 'publish';
    },
    createTerm(base, fields = {}) {
      lastId += 1;
      const term = { id: lastId, base, name: `Term ${lastId}`, slug: `term-${lastId}`, parent: 0, ...fields };
      terms.set(term.id, term);
      return term;
    },
    deleteTerm(id, into) {
      const term = terms.get(id);
      if (!term) return;
      terms.delete(id);
      for (const child of terms.values()) if (child.parent === id) child.parent = term.parent;
      for (const post of posts.values()) {
        const ids = post.terms[term.base];
        if (!ids?.includes(id)) continue;
        const others = ids.filter((other) => other !== id);
        post.terms[term.base] = into === undefined ? others : [...new Set([...others, into])];
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
    cropMedia(id) {
      const item = media.get(id);
      if (item) item.revision += 1;
    },
    deleteMedia(id) {
      media.delete(id);
      for (const post of posts.values()) if (post.featured === id) post.featured = 0;
    },
  };
  const responses = createResponses(cms);
  return cms;
}

/** What the port throws while the CMS is down. */
export function unavailable(): never {
  throw new CmsUnavailable('refused', 'connect ECONNREFUSED');
}
