// A site with records of every kind and status, with and without passwords, of several authors, and a unique word
// in each text; and what each account may see of it.

import { expect } from 'chai';
import type { Action } from '../../src/cms/port.ts';
import type { FakePost } from '../cms/fake-cms.ts';
import { authorization, type FakeWordPress, type Rights, startEmptyWordPress } from '../faults/fake-wordpress.ts';
import type { SocketGateway } from '../start-gateway.ts';

const POSTS = ['events', 'venues', 'organizers'] as const;
export type Base = (typeof POSTS)[number];

const CONTRIBUTOR: readonly Action[] = ['edit', 'readOwn'];
const AUTHOR: readonly Action[] = [...CONTRIBUTOR, 'publish', 'editPublished'];
const EDITOR: readonly Action[] = [...AUTHOR, 'editOthers', 'readOthers', 'readPrivate'];

/**
 * What each account may do in a collection. `blogger` edits posts and no events; `curator` edits venues and
 * nothing else.
 */
const RIGHTS: Rights = {
  subscriber: () => [],
  contributor: () => CONTRIBUTOR,
  author: () => AUTHOR,
  author2: () => AUTHOR,
  editor: () => EDITOR,
  admin: () => EDITOR,
  blogger: (base) => (base === 'posts' ? EDITOR : []),
  curator: (base) => (base === 'venues' ? EDITOR : []),
};
export const ACCOUNTS = Object.keys(RIGHTS);
const AUTHORS = ['contributor', 'author', 'author2', 'editor'];
const STATUSES = ['publish', 'draft', 'pending', 'private', 'future', 'trash'];

const FIELDS = ['title', 'content', 'slug', 'address', 'city', 'phone', 'site', 'email', 'cost'] as const;
/** The unique word of a field of a record. */
export const wordOf = (id: number, field: (typeof FIELDS)[number]): string => `q${id}${field}q`;
const WORD = new RegExp(`q([1-9]\\d{2,})(${FIELDS.join('|')})q`, 'g');
/** The word of this field of every record: a search for it finds all records that are found by the field. */
export const commonWordOf = (field: (typeof FIELDS)[number]): string => `every${field}`;
const textOf = (id: number, field: (typeof FIELDS)[number]) => `${wordOf(id, field)} ${commonWordOf(field)}`;
/** The unique words in a text, with their records. Letters of a random id or ETag, such as `q0hq`, do not match. */
export const wordsIn = (text: string): { word: string; id: number; field: string }[] =>
  [...text.matchAll(WORD)].map(([word, id, field]) => ({ word, id: Number(id), field: field! }));

export interface FixturePost extends FakePost {
  base: Base;
  hidden: boolean;
}

export interface VisibilityFixture {
  wordpress: FakeWordPress;
  posts: FixturePost[];
  of(base: Base): FixturePost[];
  /** Whether the CMS shows this account (undefined: anonymous) the record, apart from its password. */
  maySee(account: string | undefined, post: FixturePost): boolean;
}

export async function startVisibilityFixture(): Promise<VisibilityFixture> {
  const wordpress = await startEmptyWordPress(RIGHTS);
  const { cms } = wordpress;
  for (const id of [1, 2, 3, 4, 5]) cms.createTerm('event_categories', { name: `Category ${id}`, slug: `c${id}` });
  for (const id of [6, 7, 8, 9]) cms.createTerm('tags', { name: `Tag ${id}`, slug: `t${id}` });
  const posts: FixturePost[] = [];

  function add(
    base: Base,
    state: Pick<FakePost, 'status'> & { locked: boolean; hidden?: boolean },
    meta: object,
  ): void {
    const id = 100 + posts.length;
    const texts = { title: textOf(id, 'title'), content: textOf(id, 'content') };
    const author = ACCOUNTS.indexOf(AUTHORS[id % AUTHORS.length]!) + 1;
    const { status, locked, hidden = false } = state;
    const filled = Object.fromEntries(
      Object.entries(meta).map(([key, value]) => [key, typeof value === 'function' ? value(id) : value]),
    );
    const slug = `${wordOf(id, 'slug')}${status === 'trash' ? '__trashed' : ''}`;
    const fields = { id, status, author, slug, meta: filled, ...texts, ...(locked ? { password: 'sesame' } : {}) };
    posts.push(Object.assign(cms.createPost(base, fields), { base, hidden }));
  }
  const word = (field: (typeof FIELDS)[number]) => (id: number) => textOf(id, field);
  const site = (id: number) => `https://${wordOf(id, 'site')}.example`;
  for (const locked of [false, true]) {
    for (const status of STATUSES) {
      add(
        'venues',
        { status, locked },
        { address: word('address'), city: word('city'), phone: word('phone'), website: site },
      );
      add('organizers', { status, locked }, { phone: word('phone'), email: word('email'), website: site });
    }
  }
  const of = (base: Base) => posts.filter((post) => post.base === base);
  const [venues, organizers] = [of('venues'), of('organizers')];
  const pick = (among: FixturePost[], ...places: number[]) => places.map((place) => among[place % among.length]!.id);
  const year = new Date().getUTCFullYear() + 1;
  let n = 0;
  // Each status twice, so that events of each status have venues and organizers of several statuses.
  for (const _ of [1, 2]) {
    for (const locked of [false, true]) {
      for (const hidden of [false, true]) {
        for (const status of STATUSES) {
          n += 1;
          const day = `${year}-04-${String((n % 28) + 1).padStart(2, '0')}`;
          add(
            'events',
            { status, locked, hidden },
            {
              ...{ start_date: `${day} 10:00:00`, end_date: `${day} 11:00:00`, hide_from_listings: hidden },
              ...{ featured: n % 3 === 0, cost: word('cost'), website: site },
              ...{ venue_ids: pick(venues, n, n * 5 + 3), organizer_ids: pick(organizers, n * 7, n + 5) },
            },
          );
          posts.at(-1)!.terms = { event_categories: [1 + (n % 4)], tags: [6 + (n % 3)] };
        }
      }
    }
  }
  // A public event with a protected venue and organizer, and one with a draft venue.
  const linkedTo = (status: string, locked: boolean) => ({
    venue_ids: [venues.find((item) => item.status === status && (item.password !== undefined) === locked)!.id],
    organizer_ids: [organizers.find((item) => item.status === status && (item.password !== undefined) === locked)!.id],
  });
  const open = of('events').filter((item) => item.status === 'publish' && !item.hidden && item.password === undefined);
  Object.assign(open[0]!.meta, linkedTo('publish', true));
  Object.assign(open[1]!.meta, linkedTo('draft', false));

  return {
    ...{ wordpress, posts, of },
    maySee(account, { base, status, author }) {
      if (status === 'publish') return true;
      if (account === undefined) return false;
      const actions = RIGHTS[account]!(base);
      return (
        actions.includes('readOthers') || (actions.includes('readOwn') && author === ACCOUNTS.indexOf(account) + 1)
      );
    },
  };
}

type Json = Record<string, unknown>;

/** What single reads show one account: lists, searches and counts may show no more. */
export interface Seen {
  account: string | undefined;
  headers: Record<string, string>;
  /** Records of successful single reads, by id. */
  shown: Map<number, Json>;
  /** Password-protected events: lists show them without their content. */
  locked: Set<number>;
}

export const idsIn = (value: unknown): number[] =>
  [value].flat().flatMap((item) => (item && typeof item === 'object' ? [(item as { id: number }).id] : []));

/** Reads every record by its id as this account. */
export async function readEach(
  gateway: SocketGateway,
  posts: readonly FixturePost[],
  account: string | undefined,
): Promise<Seen> {
  const observed: Seen = {
    account,
    headers: account ? { authorization: authorization(account) } : {},
    shown: new Map(),
    locked: new Set(),
  };
  for (const { id, base } of posts) {
    const { status, text } = await gateway.request(`/${base}/${id}`, { headers: observed.headers });
    const body = JSON.parse(text) as Json;
    if (status === 200) observed.shown.set(id, body);
    else if (body.code === 'event-password-protected') observed.locked.add(id);
  }
  return observed;
}

const allowedWords = new WeakMap<Seen, Set<string>>();

/** Words that this account may see: those of its single reads, and title and slug of protected events. */
export function wordsFor(observed: Seen): Set<string> {
  const words = [...observed.shown.values()].flatMap((record) =>
    wordsIn(JSON.stringify(record)).map(({ word }) => word),
  );
  return new Set([...words, ...[...observed.locked].flatMap((id) => [wordOf(id, 'title'), wordOf(id, 'slug')])]);
}

/**
 * Ids of all pages of a list. Checks the total, the caching headers, and that the list shows nothing that
 * single reads hide.
 */
export async function readList(gateway: SocketGateway, observed: Seen, path: string): Promise<number[]> {
  const { account, headers } = observed;
  const ids: number[] = [];
  for (let page = 1; ; page += 1) {
    const reply = await gateway.request(`${path}${path.includes('?') ? '&' : '?'}per_page=50&page=${page}`, {
      headers,
    });
    expect(reply.status, `${account} ${path}`).to.equal(200);
    const allowed = allowedWords.get(observed) ?? wordsFor(observed);
    allowedWords.set(observed, allowed);
    const requested = decodeURIComponent(path);
    for (const { word } of wordsIn(reply.text + JSON.stringify(reply.headers)))
      expect(allowed.has(word) || requested.includes(word), `${account} ${path} tells ${word}`).to.equal(true);
    expect(reply.headers['cache-control'], `${account} ${path}`).to.match(account ? /no-store, private$/ : /^public/);
    const body = JSON.parse(reply.text) as Json;
    ids.push(...idsIn(Object.values(body).find(Array.isArray)));
    if (ids.length >= (body.total as number)) {
      expect(ids.length, `${account} ${path}`).to.equal(body.total);
      expect(reply.headers['x-tec-total']).to.equal(String(body.total));
      return ids.sort((a, b) => a - b);
    }
  }
}
