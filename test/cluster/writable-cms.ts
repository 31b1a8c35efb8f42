// The fake CMS with a running clock and writes, and one link per gateway that a test can delay or cut.

import type { Account, CallOptions, Cms, CmsRecord, CollectionSpec } from '../../src/cms/port.ts';
import { CmsRejected, CmsUnavailable } from '../../src/errors.ts';
import { SAME_NAMES } from '../cms/fake-cms.ts';
import { createFakeCms, type FakeCms, type FakePost, SERVICE } from '../sync/fake-cms.ts';

export interface WritableCms {
  fake: FakeCms;
  /** The account of every caller. */
  editor: Account;
  /** Requests of all gateways. */
  requests: number;
  /** Replaces every written title by the number of the change, in the order in which the CMS accepts them. */
  numbered: boolean;
  /** The next numbered title. */
  nextTitle(): string;
  /** The connection of one gateway. */
  link(): CmsLink;
}

export interface CmsLink {
  upstream: Cms;
  requests: number;
  /** Whether this gateway cannot reach the CMS. */
  isCut: boolean;
  /** Run before the CMS handles a request of this gateway, and after it computed the response. */
  before: ((what: string) => void | Promise<void>) | undefined;
  after: ((what: string) => void | Promise<void>) | undefined;
}

const EDITOR: Account = {
  userId: 1,
  roles: ['administrator'],
  permissions: new Set(Object.values(SAME_NAMES)),
  mayUpload: true,
};
const TERMS = ['event_categories', 'tags'];
/** The methods that make no request. */
const LOCAL = ['close', 'readLogin', 'apiUrl', 'gatewayId'];

/** A CMS whose service account is also the caller of every write. */
export function writableCms(): WritableCms {
  const fake = createFakeCms();
  Object.defineProperty(fake, 'clockMs', { get: () => Date.now() });

  let titles = 0;

  const fieldsOf = (body: CmsRecord): Partial<FakePost> => {
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

  const postOf = ({ collection }: CollectionSpec, id: number): FakePost => {
    const post = fake.posts.get(id);
    if (post?.base !== collection) throw new CmsRejected('not-found', 'No.');
    return post;
  };

  const whole: Cms = {
    ...fake,
    account: async () => EDITOR,
    collectionInfo: async () => ({ statuses: [], permissions: SAME_NAMES, writableFields: undefined }),
    async read(spec, id, { view }, options) {
      const post = postOf(spec, id);
      const isOpen = post.status === 'publish' && !post.hiddenFromPublic;
      if (!isOpen && options?.credentials === undefined) throw new CmsRejected('hidden', 'No.', { status: 401 });
      return fake.postResponse(post, { ...options, view });
    },
    async create({ collection: base }, body, options) {
      if (TERMS.includes(base)) return fake.termResponse(fake.createTerm(base, { name: String(body.name) }));
      return fake.postResponse(fake.createPost(base, fieldsOf(body)), { ...options, view: 'editor' });
    },
    async update(spec, id, body, options) {
      const { meta } = postOf(spec, id);
      const fields = fieldsOf(body);
      fake.edit(id, { ...fields, ...(fields.meta ? { meta: { ...meta, ...fields.meta } } : {}) });
      return fake.postResponse(fake.posts.get(id)!, { ...options, view: 'editor' });
    },
    async trash(spec, id, options) {
      const post = postOf(spec, id);
      fake.trashPost(id);
      return fake.postResponse(post, { ...options, view: 'editor' });
    },
    async delete(spec, id) {
      if (!TERMS.includes(spec.collection)) fake.erase(postOf(spec, id).id);
      else if (fake.terms.has(id)) fake.deleteTerm(id);
      else throw new CmsRejected('not-found', 'No.');
    },
    exists: async () => false,
    isUnusedTerm: async () => false,
    findCreated: async () => undefined,
    close: async () => {},
  };

  const cms: WritableCms = {
    fake,
    editor: EDITOR,
    requests: 0,
    numbered: false,
    nextTitle: () => `t${++titles}`,
    link() {
      const link: CmsLink = { upstream: whole, requests: 0, isCut: false, before: undefined, after: undefined };
      const guarded = (name: string, call: (...args: unknown[]) => Promise<unknown>) =>
        async function through(...args: unknown[]): Promise<unknown> {
          const options = args.at(-1) as CallOptions | undefined;
          options?.signal?.throwIfAborted?.();
          cms.requests += 1;
          link.requests += 1;
          await link.before?.(name);
          if (link.isCut) throw new CmsUnavailable('refused', 'connect ECONNREFUSED');
          const response = await call(...args);
          await link.after?.(name);
          return response;
        };
      link.upstream = Object.fromEntries(
        Object.entries(whole).map(([name, value]) => [
          name,
          typeof value === 'function' && !LOCAL.includes(name) ? guarded(name, value.bind(whole) as never) : value,
        ]),
      ) as unknown as Cms;
      return link;
    },
  };
  return cms;
}

export { SERVICE };

/**
 * Holds the next call of this method, before the CMS handles it or after it computed the response, until
 * `release`.
 */
export function holdNext(
  link: CmsLink,
  when: 'before' | 'after',
  name: string,
): { isHeld(): boolean; release(): void } {
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  link[when] = async (what) => {
    if (what !== name || isHeld) return;
    isHeld = true;
    await held.promise;
  };
  return {
    isHeld: () => isHeld,
    release() {
      link[when] = undefined;
      held.resolve();
    },
  };
}
