// The lists of the fake CMS: filters, order, pages and totals as in WordPress, and what plugins do to them.

import type { CallOptions, CmsPage, CollectionSpec, ListRequest } from '../../src/cms/port.ts';
import { normalize } from '../../src/cms/wordpress/record-form.ts';
import { canSee, type FakeAccount, refuse } from './fake-accounts.ts';
import type { FakeCms } from './fake-cms.ts';
import { type FakePost, type FakeRecord, POST_BASES, TERM_BASES } from './fake-records.ts';
import { fieldSelector } from './fake-responses.ts';

const STATUSES = ['publish', 'draft', 'pending', 'private', 'future', 'trash', 'expired'];

/** A listed record; records with equal keys come in the order of `tie`. */
interface Row {
  record: FakeRecord;
  key: number;
  tie: number;
}

const secondsOf = (utc: string) => Date.parse(`${utc.replace(' ', 'T')}Z`) / 1000;

/** Creates the condition of a request's bound, which has the resolution of WordPress: a second. */
function isWithin({ modifiedAfterUtc }: ListRequest): (record: { modifiedS: number }) => boolean {
  const afterS = modifiedAfterUtc === undefined ? Number.NEGATIVE_INFINITY : secondsOf(modifiedAfterUtc);
  return ({ modifiedS }) => Math.floor(modifiedS) > afterS;
}

const withTotal = (rows: Row[]) => ({ rows, total: rows.length });

/** @param postReader the caller's account for posts; undefined: an anonymous caller */
export function createFakeLists(
  cms: FakeCms,
  postReader: (options: CallOptions) => FakeAccount | undefined,
): (spec: CollectionSpec, request: ListRequest, options: CallOptions) => CmsPage {
  /** As in MariaDB, records of the same second have another order in every request; deterministic for a test. */
  let random = 1;
  const randomOrder = () => {
    random = (random * 48_271) % 2_147_483_647;
    return random;
  };

  function matchingPosts(base: string, request: ListRequest, reader: FakeAccount | undefined): FakePost[] {
    const { view, statuses = ['publish'], ids, slug, author } = request;
    const wanted =
      typeof statuses === 'string' ? STATUSES.filter((each) => statuses === 'all' || each !== 'trash') : statuses;
    if (wanted.some((status) => !STATUSES.includes(status))) refuse('invalid', 400, 'rest_invalid_param');
    const mayEdit = reader?.may('edit', base) ?? false;
    if (!mayEdit && wanted.some((status) => status !== 'publish'))
      refuse('invalid', 400, 'rest_forbidden_status', { fields: ['status'] });
    if (!mayEdit && view === 'editor') refuse('forbidden', 401, 'rest_forbidden_context');
    const isInBounds = isWithin(request);
    return [...cms.posts.values()].filter(
      (post) =>
        post.base === base &&
        wanted.includes(post.status) &&
        (!ids || ids.includes(post.id)) &&
        (slug === undefined || post.slug === slug) &&
        (author === undefined || post.author === author) &&
        isInBounds(post) &&
        (reader !== undefined || !post.hiddenFromPublic) &&
        !(base === 'events' && cms.omitted?.(post.id)),
    );
  }

  /** The total counts posts that the caller may not see: holes in the list. */
  function listPosts(base: string, request: ListRequest, options: CallOptions): { rows: Row[]; total: number } {
    const { view, order = '-date' } = request;
    const reader = postReader(options);
    const matching = matchingPosts(base, request, reader);
    const byId = order.endsWith('id');
    const key = (post: FakePost) => (byId ? post.id : order === '-modified' ? post.modifiedS : post.dateS);
    const visible = matching
      .filter((post) => canSee(reader, post, view))
      .map((post) => ({ record: post, key: key(post), tie: byId ? 0 : randomOrder() }));
    const rows =
      base === 'events' ? visible.flatMap((row): Row[] => Array(cms.repeats(row.record.id)).fill(row)) : visible;
    return { rows, total: rows.length + matching.length - visible.length };
  }

  function listTerms(base: string, { ids, slug, offset }: ListRequest): Row[] {
    if (offset !== undefined) throw new Error('terms have no offset');
    return [...cms.terms.values()]
      .filter((term) => term.base === base && (!ids || ids.includes(term.id)) && (slug ?? term.slug) === term.slug)
      .map((term) => ({ record: term, key: term.id, tie: 0 }));
  }

  function listMedia(request: ListRequest): Row[] {
    const byId = request.order === 'id';
    return [...cms.media.values()]
      .filter(isWithin(request))
      .map((item) => ({ record: item, key: byId ? item.id : item.modifiedS, tie: byId ? 0 : randomOrder() }));
  }

  return (spec, request, options) => {
    const { collection: base } = spec;
    const { view, order = '-date', limit = 10, detail } = request;
    if (options.credentials === undefined && cms.closedToPublic.has(base))
      refuse('forbidden', 401, 'rest_login_required');
    if (limit < 1 || limit > 100) refuse('invalid', 400, 'rest_invalid_param', { fields: ['per_page'] });
    const isPosts = POST_BASES.includes(base);
    if (!isPosts && !TERM_BASES.includes(base) && base !== 'media') refuse('no-collection', 404, 'rest_no_route');
    const { rows, total } = isPosts
      ? listPosts(base, request, options)
      : withTotal(base === 'media' ? listMedia(request) : listTerms(base, request));
    const sign = order.startsWith('-') ? -1 : 1;
    rows.sort((a, b) => sign * (a.key - b.key) || a.tie - b.tie);
    const offset = request.offset ?? ((request.page ?? 1) - 1) * limit;
    const select = fieldSelector(spec, detail);
    return {
      records: rows
        .slice(offset, offset + limit)
        .map(({ record }) => normalize(spec, structuredClone(select(cms.response(record, { ...options, view }))))),
      total: isPosts && request.page !== undefined && offset >= total ? 0 : total,
      cmsTimeMs: Math.floor(cms.nowMs() / 1000) * 1000,
    };
  };
}
