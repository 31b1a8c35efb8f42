// Fake WordPress over HTTP: enough of wp/v2 for sync and writes, with a secret in every non-public record.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { type StubCms, sendJson, startStubCms } from './stub-cms.ts';

export const PASSWORD = 'abcd EFGH 1234 ijkl MNOP 5678';
export const USERS = ['subscriber', 'contributor', 'author', 'author2', 'editor', 'admin'] as const;
export type User = (typeof USERS)[number];

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
/** The `Authorization` of a user. */
export const authorization = (user: string): string => basic(user, PASSWORD);

const OWN = ['read', 'edit_posts'];
const PUBLISH = [...OWN, 'publish_posts', 'edit_published_posts', 'upload_files'];
const MORE = ['edit_others_posts', 'edit_private_posts', 'read_private_posts', 'manage_categories'];
const ALL = [...PUBLISH, ...MORE];
const CAPABILITIES: Record<User, string[]> = {
  ...{ subscriber: ['read'], contributor: OWN, author: PUBLISH, author2: PUBLISH, editor: ALL, admin: ALL },
};

export interface Post {
  id: number;
  base: string;
  status: string;
  author: number;
  title: string;
  meta: Record<string, unknown>;
  /** Default: the title. */
  content?: string;
  slug?: string;
  password?: string;
  /** Term ids by collection. */
  terms?: Record<string, number[]>;
}

export interface Term {
  id: number;
  name: string;
  slug: string;
}

/** Accounts and capabilities other than WordPress's default roles. */
export interface FakeWordPressOptions {
  /** Capabilities by account, in the order of the account ids from 1. */
  accounts?: Record<string, readonly string[]>;
  /** A collection's capability names by WordPress's general name. */
  capabilitiesOf?: (base: string) => Record<string, string>;
}

export interface FakeWordPress extends StubCms {
  posts: Map<number, Post>;
  /** Terms by collection. */
  terms: Record<string, Term[]>;
  /** Runs before a response; returns true if it has sent the response itself. */
  before:
    | ((request: IncomingMessage, response: ServerResponse, valid: unknown) => boolean | Promise<boolean>)
    | undefined;
  /** Number of received writes. */
  writes(): number;
}

type Answer = { status: number; body: unknown; headers?: Record<string, string> };
const restError = (status: number, code: string): Answer => ({
  status,
  body: { code, message: `No: ${code}`, data: { status } },
});
const POSTS = ['events', 'venues', 'organizers'];
const generalRights = () => Object.fromEntries(ALL.map((name) => [name, name]));
const TIME = '2026-01-02T03:04:05';
const NEXT_YEAR = new Date().getUTCFullYear() + 1;

/** `hidden-12`: appears only in responses to users who may see record 12. */
export const secretOf = ({ id, status }: Pick<Post, 'id' | 'status'>): string =>
  `${status === 'publish' ? 'open' : 'hidden'}-${id}-mark`;

/** Starts a site with public and non-public records of several authors, in every status. */
export async function startFakeWordPress({
  accounts = CAPABILITIES,
  capabilitiesOf = generalRights,
}: FakeWordPressOptions = {}): Promise<FakeWordPress> {
  const stub = await startStubCms();
  const posts = new Map<number, Post>();
  const terms: Record<string, Term[]> = { event_categories: [], tags: [] };
  const names = Object.keys(accounts);
  const idOf = (user: string) => names.indexOf(user) + 1;
  const can = (user: string, capability: string, base: string) =>
    accounts[user]!.includes(capabilitiesOf(base)[capability] ?? capability);
  let lastId = 0;

  function add(base: string, status: string, author: User): void {
    const id = ++lastId;
    const day = String((id % 27) + 1).padStart(2, '0');
    const meta =
      base === 'events'
        ? { start_date: `${NEXT_YEAR}-03-${day} 10:00:00`, end_date: `${NEXT_YEAR}-03-${day} 11:00:00` }
        : {};
    const post = { id, base, status, author: USERS.indexOf(author) + 1, title: '', meta };
    posts.set(id, { ...post, title: secretOf(post) });
  }
  for (const base of POSTS) {
    for (const author of ['contributor', 'author', 'author2', 'editor'] as const) {
      for (const status of ['publish', 'draft', 'private']) add(base, status, author);
    }
    add(base, 'pending', 'author');
    add(base, 'trash', 'author2');
  }
  // A public event with a hidden venue and a hidden organizer.
  const hiddenOf = (base: string) =>
    [...posts.values()].find((post) => post.base === base && post.status === 'draft')!.id;
  Object.assign(posts.get(1)!.meta, { venue_ids: [hiddenOf('venues')], organizer_ids: [hiddenOf('organizers')] });

  function userOf({ headers }: IncomingMessage): string | undefined {
    // As in WordPress, other schemes are ignored.
    if (!headers.authorization?.startsWith('Basic ')) return undefined;
    return names.find((user) => authorization(user) === headers.authorization) ?? 'wrong';
  }

  /** As in WordPress, a key of any post of a type appears on all of them, with an empty value. */
  const registered = new Map<string, Record<string, unknown>>();
  function register({ base, meta }: Post): void {
    const blanks: Record<string, unknown> = { boolean: false, number: 0, string: '' };
    const keys = Object.entries(meta).map(([key, value]) => [key, Array.isArray(value) ? [] : blanks[typeof value]]);
    registered.set(base, { ...registered.get(base), ...Object.fromEntries(keys) });
  }
  for (const post of posts.values()) register(post);

  /**
   * `open`: the caller sent the password or may edit the post. Otherwise, as in WordPress, the content is
   * empty.
   */
  function native(post: Post, open = post.password === undefined): Record<string, unknown> {
    const text = { raw: post.title, rendered: post.title, protected: false };
    const isProtected = post.password !== undefined;
    const source = post.content ?? post.title;
    const content = open
      ? { raw: source, rendered: source, protected: isProtected }
      : { rendered: '', protected: isProtected };
    const named = post.slug ?? post.title;
    const slug = post.status === 'trash' ? `${named}__trashed` : named;
    const times = { date: TIME, date_gmt: TIME, modified: TIME, modified_gmt: TIME };
    const links = {
      link: `${stub.url.href}${post.base}/${slug}/`,
      featured_media: 0,
      ...{ event_categories: [], tags: [], ...post.terms },
    };
    const { id, status, author, meta } = post;
    const shownMeta = { ...registered.get(post.base), ...meta };
    return {
      ...{ id, status, author, meta: shownMeta, slug },
      ...times,
      ...links,
      title: text,
      content,
      excerpt: content,
    };
  }

  const nativeTerm = (base: string, { id, name, slug }: Term) => ({
    ...{ id, name, slug, description: '', parent: 0, count: 0, link: `${stub.url.href}${base}/${slug}/` },
  });

  const mayEdit = (user: string | undefined, post: Post): boolean =>
    user !== undefined &&
    (can(user, 'edit_others_posts', post.base) || (can(user, 'edit_posts', post.base) && post.author === idOf(user)));

  const mayRead = (user: string | undefined, post: Post): boolean => post.status === 'publish' || mayEdit(user, post);

  function listed(base: string, query: URLSearchParams, user: string | undefined): Answer {
    const statuses = (query.get('status') ?? 'publish').split(',');
    if (!user && statuses.some((status) => status !== 'publish')) return restError(400, 'rest_invalid_param');
    if (!user && query.get('context') === 'edit') return restError(401, 'rest_forbidden_context');
    const include = query.get('include')?.split(',').map(Number);
    const matching = [...posts.values()]
      .filter((post) => post.base === base && (statuses.includes(post.status) || statuses.includes('any')))
      .filter((post) => mayRead(user, post) && (include?.includes(post.id) ?? true))
      .sort((a, b) => (query.get('order') === 'asc' ? a.id - b.id : b.id - a.id));
    const size = Number(query.get('per_page') ?? 10);
    const from = Number(query.get('offset') ?? (Number(query.get('page') ?? 1) - 1) * size);
    return {
      status: 200,
      body: matching.slice(from, from + size).map((post) => native(post, isOpen(post, query, user))),
      headers: { 'x-wp-total': String(matching.length), 'x-wp-totalpages': String(Math.ceil(matching.length / size)) },
    };
  }

  const isOpen = (post: Post, query: URLSearchParams, user: string | undefined): boolean =>
    post.password === undefined ||
    query.get('password') === post.password ||
    (query.get('context') === 'edit' && mayEdit(user, post));

  interface Sent {
    method: string;
    query: URLSearchParams;
    user: string | undefined;
    fields: Record<string, unknown>;
  }

  function single(post: Post | undefined, { method, query, user, fields: sent }: Sent): Answer {
    if (!post) return restError(404, 'rest_post_invalid_id');
    if (method === 'GET') {
      if (!mayRead(user, post)) return restError(401, 'rest_forbidden');
      const wrong = query.has('password') && query.get('password') !== post.password;
      if (post.password !== undefined && wrong) return restError(403, 'rest_post_incorrect_password');
      if (query.get('context') === 'edit' && !mayEdit(user, post)) return restError(403, 'rest_forbidden_context');
      return { status: 200, body: native(post, isOpen(post, query, user)) };
    }
    if (!user) return restError(401, 'rest_cannot_edit');
    if (method === 'DELETE') post.status = 'trash';
    else assign(post, sent);
    return { status: 200, body: native(post) };
  }

  function assign(post: Post, { title, content, status, meta }: Record<string, unknown>): void {
    if (typeof content === 'string') post.content = content;
    if (typeof title === 'string') post.title = title;
    if (typeof status === 'string') post.status = status;
    Object.assign(post.meta, meta);
    register(post);
  }

  function respond(request: IncomingMessage): Answer {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', stub.url);
    const user = userOf(request);
    const method = request.method ?? 'GET';
    if (user === 'wrong') return restError(401, 'incorrect_password');
    if (method === 'HEAD') return { status: 200, body: '' };
    const route = pathname.replace(/^\/wp-json\/?/, '').replace(/^wp\/v2\//, '');
    if (route === '') {
      const site = { name: 'Fake', url: stub.url.origin, home: stub.url.origin, timezone_string: 'UTC' };
      return { status: 200, body: { ...site, namespaces: ['wp/v2'] } };
    }
    if (route === 'users/me') {
      if (!user) return restError(401, 'rest_not_logged_in');
      const capabilities = Object.fromEntries(accounts[user]!.map((name) => [name, true]));
      return { status: 200, body: { id: idOf(user), roles: [user], capabilities } };
    }
    const [base = '', id] = route.split('/');
    if (base === 'types') {
      // As in WordPress, only types whose posts the caller may edit.
      const visible = POSTS.filter((type) => user !== undefined && can(user, 'edit_posts', type));
      const types = visible.map((type) => [type, { rest_base: type, capabilities: capabilitiesOf(type) }]);
      return { status: 200, body: Object.fromEntries(types) };
    }
    if (base === 'taxonomies') return { status: 200, body: {} };
    if (method === 'OPTIONS') return { status: 200, body: { endpoints: [] } };
    if (['event_categories', 'tags', 'media', 'search'].includes(base)) {
      const all = (terms[base] ?? []).map((term) => nativeTerm(base, term));
      const found = all.find((term) => term.id === Number(id));
      if (id !== undefined) return found ? { status: 200, body: found } : restError(404, 'rest_term_invalid');
      return { status: 200, body: all, headers: { 'x-wp-total': String(all.length), 'x-wp-totalpages': '1' } };
    }
    if (!POSTS.includes(base)) return restError(404, 'rest_no_route');
    const fields = JSON.parse(stub.requests.at(-1)?.body || '{}') as Record<string, unknown>;
    if (id !== undefined) {
      const post = posts.get(Number(id));
      return single(post?.base === base ? post : undefined, { method, query, user, fields: fields });
    }
    if (method !== 'POST') return listed(base, query, user);
    if (!user) return restError(401, 'rest_cannot_create');
    const made: Post = { id: ++lastId, base, status: 'draft', author: idOf(user), title: '', meta: {} };
    assign(made, fields);
    posts.set(made.id, made);
    return { status: 201, body: native(made) };
  }

  const wordpress: FakeWordPress = Object.assign(stub, {
    ...{ posts, terms },
    before: undefined,
    writes: () => stub.requests.filter(({ method }) => !['GET', 'HEAD', 'OPTIONS'].includes(method)).length,
  });
  stub.respond = async (request, response) => {
    // The last recorded request is this one only until another arrives.
    const reply = respond(request);
    if (await wordpress.before?.(request, response, reply.body)) return;
    sendJson(response, reply.status, reply.body, reply.headers);
  };
  return wordpress;
}
