// The WordPress in memory with a clock that runs, which can be written to through the port of the gateways, and held or cut for each of them.

import { UpstreamAway, UpstreamRefused } from '../../src/errors.ts';
import type { Account, CallOptions, Native, Upstream } from '../../src/upstream/port.ts';
import { type FakePost, type FakeWordPress, fakeWordPress, SERVICE } from '../replica/fake-wordpress.ts';

export interface WritableCms {
  fake: FakeWordPress;
  /** Whom every caller is. */
  editor: Account;
  /** Requests that arrived, from all gateways. */
  requests: number;
  /** Gives every title that is written the number of its change, in the order in which the CMS accepted them. */
  numbered: boolean;
  /** The next title, where they are numbered. */
  nextTitle(): string;
  /** What one gateway sees of it. */
  link(): Link;
}

export interface Link {
  upstream: Upstream;
  requests: number;
  /** Whether this gateway reaches it. */
  isCut: boolean;
  /** Runs before a request of this gateway is answered, and after the answer is made. */
  before: ((what: string) => void | Promise<void>) | undefined;
  after: ((what: string) => void | Promise<void>) | undefined;
}

const ALL = ['read', 'edit_posts', 'publish_posts', 'edit_published_posts', 'edit_others_posts', 'delete_posts'];
const EDITOR: Account = {
  userId: 1,
  roles: ['administrator'],
  capabilities: new Set([...ALL, 'read_private_posts', 'upload_files', 'manage_categories']),
};
const TERMS = ['event_categories', 'tags'];

/** A CMS whose service account is also the caller of every write. */
export function writableCms(): WritableCms {
  const fake = fakeWordPress();
  Object.defineProperty(fake, 'clockMs', { get: () => Date.now() });

  let titles = 0;

  const fieldsOf = (body: Native): Partial<FakePost> => {
    const fields: Partial<FakePost> = {};
    if (typeof body.title === 'string') fields.title = cms.numbered ? cms.nextTitle() : body.title;
    if (typeof body.slug === 'string') fields.slug = body.slug;
    if (typeof body.status === 'string') fields.status = body.status;
    if (typeof body.meta === 'object') fields.meta = body.meta as Record<string, unknown>;
    const terms = Object.fromEntries(
      TERMS.filter((base) => Array.isArray(body[base])).map((base) => [base, body[base]]),
    );
    if (Object.keys(terms).length > 0) fields.terms = terms as Record<string, number[]>;
    return fields;
  };

  const whole: Upstream = {
    ...fake,
    account: async () => EDITOR,
    facts: async () => ({ statuses: [], capabilities: { edit_posts: 'edit_posts' }, writable: undefined }),
    async read(base, id, query, options) {
      const post = fake.posts.get(id);
      if (post?.base !== base) throw new UpstreamRefused(404, 'rest_post_invalid_id', 'No.');
      const isOpen = post.status === 'publish' && !post.hiddenFromPublic;
      if (!isOpen && options?.credentials === undefined) throw new UpstreamRefused(401, 'rest_forbidden', 'No.');
      return fake.nativePost(post, { ...options, ...query });
    },
    async create(base, body, options) {
      if (TERMS.includes(base)) return fake.nativeTerm(fake.createTerm(base, { name: String(body.name) }));
      return fake.nativePost(fake.create(base, fieldsOf(body)), { ...options, context: 'edit' });
    },
    async update(base, id, body, options) {
      const post = fake.posts.get(id);
      if (post?.base !== base) throw new UpstreamRefused(404, 'rest_post_invalid_id', 'No.');
      const fields = fieldsOf(body);
      fake.edit(id, { ...fields, ...(fields.meta ? { meta: { ...post.meta, ...fields.meta } } : {}) });
      return fake.nativePost(fake.posts.get(id)!, { ...options, context: 'edit' });
    },
    async remove(base, id, { force }, options) {
      if (TERMS.includes(base)) {
        const term = fake.terms.get(id);
        if (!term) throw new UpstreamRefused(404, 'rest_term_invalid', 'No.');
        fake.eraseTerm(id);
        return fake.nativeTerm(term);
      }
      const post = fake.posts.get(id);
      if (post?.base !== base) throw new UpstreamRefused(404, 'rest_post_invalid_id', 'No.');
      if (force) fake.erase(id);
      else fake.trash(id);
      return fake.nativePost(post, { ...options, context: 'edit' });
    },
    exists: async () => false,
    isUnusedTerm: async () => false,
    createdWith: async () => undefined,
    close: async () => {},
  };

  const cms: WritableCms = {
    fake,
    editor: EDITOR,
    requests: 0,
    numbered: false,
    nextTitle: () => `t${++titles}`,
    link() {
      const link: Link = { upstream: whole, requests: 0, isCut: false, before: undefined, after: undefined };
      const guarded = (name: string, call: (...args: unknown[]) => Promise<unknown>) =>
        async function through(...args: unknown[]): Promise<unknown> {
          const options = args.at(-1) as CallOptions | undefined;
          options?.signal?.throwIfAborted?.();
          cms.requests += 1;
          link.requests += 1;
          await link.before?.(name);
          if (link.isCut) throw new UpstreamAway('refused', 'connect ECONNREFUSED');
          const answer = await call(...args);
          await link.after?.(name);
          return answer;
        };
      link.upstream = Object.fromEntries(
        Object.entries(whole).map(([name, value]) => [
          name,
          typeof value === 'function' && name !== 'close' ? guarded(name, value.bind(whole) as never) : value,
        ]),
      ) as unknown as Upstream;
      return link;
    },
  };
  return cms;
}

export { SERVICE };

/** Holds the next request of this name, before the CMS is asked or while its answer is on its way, until it is let go. */
export function holdNext(link: Link, when: 'before' | 'after', name: string): { isHeld(): boolean; letGo(): void } {
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  link[when] = async (what) => {
    if (what !== name || isHeld) return;
    isHeld = true;
    await held.promise;
  };
  return {
    isHeld: () => isHeld,
    letGo() {
      link[when] = undefined;
      held.resolve();
    },
  };
}
