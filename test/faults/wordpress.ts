// A small WordPress over HTTP: enough of wp/v2 for a whole gateway to copy it and to write to it, with a secret in every record that is not public.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerJson, type StandIn, startStandIn } from './cms.ts';

export const PASSWORD = 'abcd EFGH 1234 ijkl MNOP 5678';
export const USERS = ['subscriber', 'contributor', 'author', 'author2', 'editor', 'admin'] as const;
export type User = (typeof USERS)[number];

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
/** The `Authorization` of a user. */
export const as = (user: User): string => basic(user, PASSWORD);

const OWN = ['read', 'edit_posts'];
const PUBLISH = [...OWN, 'publish_posts', 'edit_published_posts', 'upload_files'];
const ALL = [...PUBLISH, 'edit_others_posts', 'edit_private_posts', 'read_private_posts', 'manage_categories'];
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
}

export interface WordPressStandIn extends StandIn {
  posts: Map<number, Post>;
  /** Runs before an answer is made; true: it has taken the answer upon itself. */
  before:
    | ((request: IncomingMessage, response: ServerResponse, right: unknown) => boolean | Promise<boolean>)
    | undefined;
  /** Writes that have arrived. */
  writes(): number;
}

type Answer = { status: number; body: unknown; headers?: Record<string, string> };
const refusal = (status: number, code: string): Answer => ({
  status,
  body: { code, message: `No: ${code}`, data: { status } },
});
const POSTS = ['events', 'venues', 'organizers'];
const typeOf = (base: string) => ({
  rest_base: base,
  capabilities: Object.fromEntries(ALL.map((name) => [name, name])),
});
const TIME = '2026-01-02T03:04:05';
const NEXT_YEAR = new Date().getUTCFullYear() + 1;

/** `hidden-12`: found in the answers of those alone who may see record 12. */
export const markOf = ({ id, status }: Pick<Post, 'id' | 'status'>): string =>
  `${status === 'publish' ? 'open' : 'hidden'}-${id}-mark`;

/** Public and other records of several authors, in every status. */
export async function startWordPress(): Promise<WordPressStandIn> {
  const standIn = await startStandIn();
  const posts = new Map<number, Post>();
  let lastId = 0;

  function add(base: string, status: string, author: User): void {
    const id = ++lastId;
    const day = String((id % 27) + 1).padStart(2, '0');
    const meta =
      base === 'events'
        ? { start_date: `${NEXT_YEAR}-03-${day} 10:00:00`, end_date: `${NEXT_YEAR}-03-${day} 11:00:00` }
        : {};
    const post = { id, base, status, author: USERS.indexOf(author) + 1, title: '', meta };
    posts.set(id, { ...post, title: markOf(post) });
  }
  for (const base of POSTS) {
    for (const author of ['contributor', 'author', 'author2', 'editor'] as const) {
      for (const status of ['publish', 'draft', 'private']) add(base, status, author);
    }
    add(base, 'pending', 'author');
    add(base, 'trash', 'author2');
  }
  // A public event that names a hidden venue and a hidden organizer.
  const hiddenOf = (base: string) =>
    [...posts.values()].find((post) => post.base === base && post.status === 'draft')!.id;
  Object.assign(posts.get(1)!.meta, { venue_ids: [hiddenOf('venues')], organizer_ids: [hiddenOf('organizers')] });

  function userOf({ headers }: IncomingMessage): User | undefined | 'wrong' {
    if (headers.authorization === undefined) return undefined;
    return USERS.find((user) => as(user) === headers.authorization) ?? 'wrong';
  }

  function native(post: Post): Record<string, unknown> {
    const text = { raw: post.title, rendered: post.title, protected: false };
    const slug = post.status === 'trash' ? `${post.title}__trashed` : post.title;
    const times = { date: TIME, date_gmt: TIME, modified: TIME, modified_gmt: TIME };
    const links = {
      link: `${standIn.url.href}${post.base}/${slug}/`,
      featured_media: 0,
      event_categories: [],
      tags: [],
    };
    const { id, status, author, meta } = post;
    return { ...{ id, status, author, meta, slug }, ...times, ...links, title: text, content: text, excerpt: text };
  }

  function mayRead(user: User | undefined, post: Post): boolean {
    if (post.status === 'publish') return true;
    if (user === undefined) return false;
    const capabilities = CAPABILITIES[user];
    return (
      capabilities.includes('edit_others_posts') ||
      (capabilities.includes('edit_posts') && post.author === USERS.indexOf(user) + 1)
    );
  }

  function listed(base: string, query: URLSearchParams, user: User | undefined): Answer {
    const statuses = (query.get('status') ?? 'publish').split(',');
    if (!user && statuses.some((status) => status !== 'publish')) return refusal(400, 'rest_invalid_param');
    if (!user && query.get('context') === 'edit') return refusal(401, 'rest_forbidden_context');
    const include = query.get('include')?.split(',').map(Number);
    const wanted = [...posts.values()]
      .filter((post) => post.base === base && (statuses.includes(post.status) || statuses.includes('any')))
      .filter((post) => mayRead(user, post) && (include?.includes(post.id) ?? true))
      .sort((a, b) => (query.get('order') === 'asc' ? a.id - b.id : b.id - a.id));
    const size = Number(query.get('per_page') ?? 10);
    const from = Number(query.get('offset') ?? (Number(query.get('page') ?? 1) - 1) * size);
    return {
      status: 200,
      body: wanted.slice(from, from + size).map(native),
      headers: { 'x-wp-total': String(wanted.length), 'x-wp-totalpages': String(Math.ceil(wanted.length / size)) },
    };
  }

  function one(post: Post | undefined, method: string, user: User | undefined, sent: Record<string, unknown>): Answer {
    if (!post) return refusal(404, 'rest_post_invalid_id');
    if (method === 'GET')
      return mayRead(user, post) ? { status: 200, body: native(post) } : refusal(401, 'rest_forbidden');
    if (!user) return refusal(401, 'rest_cannot_edit');
    if (method === 'DELETE') post.status = 'trash';
    else take(post, sent);
    return { status: 200, body: native(post) };
  }

  function take(post: Post, { title, status, meta }: Record<string, unknown>): void {
    if (typeof title === 'string') post.title = title;
    if (typeof status === 'string') post.status = status;
    Object.assign(post.meta, meta);
  }

  function answer(request: IncomingMessage): Answer {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', standIn.url);
    const user = userOf(request);
    const method = request.method ?? 'GET';
    if (user === 'wrong') return refusal(401, 'incorrect_password');
    if (method === 'HEAD') return { status: 200, body: '' };
    const route = pathname.replace(/^\/wp-json\/?/, '').replace(/^wp\/v2\//, '');
    if (route === '') {
      const site = { name: 'Stand-in', url: standIn.url.origin, home: standIn.url.origin, timezone_string: 'UTC' };
      return { status: 200, body: { ...site, namespaces: ['wp/v2'] } };
    }
    if (route === 'users/me') {
      if (!user) return refusal(401, 'rest_not_logged_in');
      const capabilities = Object.fromEntries(CAPABILITIES[user].map((name) => [name, true]));
      return { status: 200, body: { id: USERS.indexOf(user) + 1, roles: [user], capabilities } };
    }
    const [base = '', id] = route.split('/');
    if (base === 'types') return { status: 200, body: Object.fromEntries(POSTS.map((one) => [one, typeOf(one)])) };
    if (base === 'taxonomies') return { status: 200, body: {} };
    if (method === 'OPTIONS') return { status: 200, body: { endpoints: [] } };
    if (['event_categories', 'tags', 'media', 'search'].includes(base)) {
      if (id !== undefined) return refusal(404, 'rest_term_invalid');
      return { status: 200, body: [], headers: { 'x-wp-total': '0', 'x-wp-totalpages': '0' } };
    }
    if (!POSTS.includes(base)) return refusal(404, 'rest_no_route');
    const sent = JSON.parse(standIn.seen.at(-1)?.body || '{}') as Record<string, unknown>;
    if (id !== undefined) {
      const post = posts.get(Number(id));
      return one(post?.base === base ? post : undefined, method, user, sent);
    }
    if (method !== 'POST') return listed(base, query, user);
    if (!user) return refusal(401, 'rest_cannot_create');
    const made: Post = { id: ++lastId, base, status: 'draft', author: USERS.indexOf(user) + 1, title: '', meta: {} };
    take(made, sent);
    posts.set(made.id, made);
    return { status: 201, body: native(made) };
  }

  const wordpress: WordPressStandIn = Object.assign(standIn, {
    posts,
    before: undefined,
    writes: () => standIn.seen.filter(({ method }) => !['GET', 'HEAD', 'OPTIONS'].includes(method)).length,
  });
  standIn.answer = async (request, response) => {
    // What was sent is the newest only until another request comes.
    const made = answer(request);
    if (await wordpress.before?.(request, response, made.body)) return;
    answerJson(response, made.status, made.body, made.headers);
  };
  return wordpress;
}
