// A filled fake CMS over HTTP: public and non-public records of several authors, with a secret in every non-public one.

import type { Action } from '../../src/cms/port.ts';
import { createAccounts, createFakeCms, type FakePost, PERMISSIONS, POST_BASES } from '../cms/fake-cms.ts';
import { type FakeCmsServer, serveFakeCms } from '../cms/fake-cms-server.ts';

export const PASSWORD = 'abcd EFGH 1234 ijkl MNOP 5678';
export const USERS = ['subscriber', 'contributor', 'author', 'author2', 'editor', 'admin'] as const;
export type User = (typeof USERS)[number];

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
/** The `Authorization` of a user. */
export const authorization = (user: string): string => basic(user, PASSWORD);

export interface FakeWordPress extends FakeCmsServer {
  posts: Map<number, FakePost>;
}

/** What each account may do in a collection. */
export type Rights = Record<string, (collection: string) => readonly Action[]>;

const roleOf = (user: User) => (user === 'author2' ? 'author' : user);
const WORDPRESS_ROLES: Rights = Object.fromEntries(USERS.map((user) => [user, () => PERMISSIONS[roleOf(user)]]));

/** Of all records at the start: long before the first poll. */
const WRITTEN_S = Date.UTC(2026, 0, 2, 3, 4, 5) / 1000;
const NEXT_YEAR = new Date().getUTCFullYear() + 1;

/** `hidden-12`: appears only in responses to users who may see record 12. */
export const secretOf = ({ id, status }: Pick<FakePost, 'id' | 'status'>): string =>
  `${status === 'publish' ? 'open' : 'hidden'}-${id}-mark`;

/** Starts an empty site. Default: WordPress's roles. */
export async function startEmptyWordPress(rights: Rights = WORDPRESS_ROLES): Promise<FakeWordPress> {
  const cms = createFakeCms(Date.now, { timezone: 'UTC', accounts: createAccounts(rights, PASSWORD) });
  const server = await serveFakeCms(cms);
  cms.siteFacts.url = server.url.origin;
  return Object.assign(server, { posts: cms.posts });
}

/** Starts a site with records of several authors, in every status. */
export async function startFakeWordPress(): Promise<FakeWordPress> {
  const wordpress = await startEmptyWordPress();
  const { cms, posts } = wordpress;
  function add(base: string, status: string, author: User): void {
    const day = String(((posts.size + 1) % 27) + 1).padStart(2, '0');
    const meta =
      base === 'events'
        ? { start_date: `${NEXT_YEAR}-03-${day} 10:00:00`, end_date: `${NEXT_YEAR}-03-${day} 11:00:00` }
        : {};
    const post = cms.createPost(base, { status, author: USERS.indexOf(author) + 1, meta, dateS: WRITTEN_S });
    const secret = secretOf(post);
    Object.assign(post, { title: secret, content: secret, slug: status === 'trash' ? `${secret}__trashed` : secret });
  }
  for (const base of POST_BASES) {
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
  return wordpress;
}
