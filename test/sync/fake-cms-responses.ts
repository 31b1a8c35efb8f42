// The responses of the fake CMS: records as WordPress sends them, and pages of lists.

import type { CallOptions, CmsPage, CmsRecord, Credentials, Query } from '../../src/cms/port.ts';
import { CmsRejected, type RejectionKind } from '../../src/errors.ts';
import {
  AUTHOR,
  AUTHOR_ID,
  type FakeCms,
  type FakeMedia,
  type FakePost,
  type FakeTerm,
  membersOnlyText,
  SERVICE,
} from './fake-cms.ts';

export const POST_BASES = ['events', 'venues', 'organizers'];
export const TERM_BASES = ['event_categories', 'tags'];
const STATUSES = ['publish', 'draft', 'pending', 'private', 'future', 'trash', 'expired'];
const SUPPORTED_PARAMS = new Set([
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

const gmt = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19);

const isAfter = ({ modifiedS }: { modifiedS: number }, { modified_after }: Query) =>
  modified_after === undefined || modifiedS * 1000 > Date.parse(String(modified_after));

/** @param code WordPress's own, for the fake over HTTP */
export function refuse(kind: RejectionKind, status: number, code: string): never {
  throw new CmsRejected(kind, `Refused: ${code}`, { status, code });
}

function selectFields(cmsRecord: CmsRecord, fields: unknown): CmsRecord {
  if (typeof fields !== 'string') return cmsRecord;
  const names = new Set(fields.split(',').map((name) => name.split('.')[0]));
  return Object.fromEntries(Object.entries(cmsRecord).filter(([name]) => names.has(name)));
}

export interface FakeResponses {
  /**
   * The response to this reader: members get more of the content than the public, and the source with
   * `context=edit`.
   */
  postResponse(post: FakePost, as?: { credentials?: Credentials; context?: unknown }): CmsRecord;
  termResponse(term: FakeTerm): CmsRecord;
  mediaResponse(item: FakeMedia): CmsRecord;
  createPage(base: string, query: Query, options: CallOptions): CmsPage;
}

export function createResponses(cms: FakeCms): FakeResponses {
  const { posts, terms, media } = cms;

  /**
   * As in MariaDB, records of the same second have another order in every request; deterministic for a test.
   */
  let random = 1;
  const randomOrder = () => {
    random = (random * 48_271) % 2_147_483_647;
    return random;
  };
  const offsetS = () => (cms.siteFacts.timezone === '+02:00' ? 7200 : 0);

  /** Meta keys are registered for a type: every record has all of them. */
  const metaKeys = new Map<string, Set<string>>();
  function metaOf({ base, meta }: FakePost): CmsRecord {
    const known = metaKeys.get(base) ?? new Set(base === 'events' ? ['start_date', 'end_date', 'venue_ids'] : []);
    metaKeys.set(base, known);
    for (const key of Object.keys(meta)) known.add(key);
    return { ...Object.fromEntries([...known].map((key) => [key, key.endsWith('ids') ? [] : ''])), ...meta };
  }

  function postResponse(
    post: FakePost,
    { credentials, context }: { credentials?: Credentials; context?: unknown } = {},
  ) {
    const secret = credentials === undefined ? '' : membersOnlyText(post);
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
      content: text(`<p>${post.title}</p>\n${secret}`, `${post.title}\n[members]${membersOnlyText(post)}[/members]`),
      excerpt: text('', ''),
      featured_media: post.featured,
      meta: metaOf(post),
      ...(post.base === 'events' ? Object.fromEntries(TERM_BASES.map((base) => [base, []])) : {}),
      ...Object.fromEntries(Object.entries(post.terms).map(([base, ids]) => [base, [...ids]])),
    };
  }

  function termResponse(term: FakeTerm): CmsRecord {
    const count = [...posts.values()].filter((post) => post.terms[term.base]?.includes(term.id)).length;
    const { id, name, slug, parent, base } = term;
    return { id, name, slug, parent, description: '', count, link: `${cms.siteFacts.url}/${base}/${slug}/` };
  }

  const mediaResponse = (item: FakeMedia): CmsRecord => ({ id: item.id, modified_gmt: gmt(item.modifiedS) });

  function visiblePosts(base: string, query: Query, options: CallOptions): { visible: FakePost[]; hidden: number } {
    const statuses = typeof query.status === 'string' ? query.status.split(',') : ['publish'];
    if (statuses.some((status) => !STATUSES.includes(status))) refuse('invalid', 400, 'rest_invalid_param');
    const { credentials } = options;
    const service = credentials === SERVICE ? cms.serviceRole : 'anonymous';
    if (credentials === SERVICE && service === 'refused') refuse('forbidden', 401, 'rest_forbidden_context');
    if (credentials === undefined && statuses.some((status) => status !== 'publish'))
      refuse('invalid', 400, 'rest_forbidden_status');
    if (credentials === undefined && query.context === 'edit') refuse('forbidden', 401, 'rest_forbidden_context');
    const editor = service === 'editor';
    const own = (post: FakePost) => credentials === AUTHOR && post.author === AUTHOR_ID;
    const matching = [...posts.values()].filter(
      (post) =>
        post.base === base &&
        statuses.includes(post.status) &&
        (typeof query.include !== 'string' || query.include.split(',').includes(String(post.id))) &&
        (query.author === undefined || post.author === Number(query.author)) &&
        isAfter(post, query) &&
        !(base === 'events' && cms.omitted?.(post.id)),
    );
    const readable = (post: FakePost) => editor || own(post) || (post.status === 'publish' && query.context !== 'edit');
    const visible = matching.filter(readable);
    return { visible, hidden: matching.length - visible.length };
  }

  function createPage(base: string, query: Query, options: CallOptions): CmsPage {
    for (const name of Object.keys(query))
      if (!SUPPORTED_PARAMS.has(name)) throw new Error(`The fake CMS does not support ${name}`);
    const perPage = Number(query.per_page ?? 10);
    if (options.credentials === undefined && cms.closedToPublic.has(base))
      refuse('forbidden', 401, 'rest_login_required');
    if (perPage < 1 || perPage > 100) refuse('invalid', 400, 'rest_invalid_param');
    let rows: { record: CmsRecord; key: number; tie: number }[];
    let hidden = 0;
    const included = typeof query.include === 'string' ? query.include.split(',').map(Number) : undefined;
    const isIncluded = (id: number) => included === undefined || included.includes(id);
    if (POST_BASES.includes(base)) {
      const visible = visiblePosts(base, query, options);
      hidden = visible.hidden;
      const by = query.orderby ?? 'date';
      const key = (post: FakePost) => (by === 'id' ? post.id : by === 'modified' ? post.modifiedS : post.dateS);
      rows = visible.visible
        .filter(({ id }) => isIncluded(id))
        .filter((post) => options.credentials !== undefined || !post.hiddenFromPublic)
        .map((post) => ({ record: postResponse(post, { ...options, ...query }), key: key(post), tie: randomOrder() }));
      if (base === 'events' && cms.repeats > 1) rows = rows.flatMap((row) => Array(cms.repeats).fill(row));
    } else if (TERM_BASES.includes(base)) {
      if (query.offset !== undefined) throw new Error('terms have no offset');
      if (query.context === 'edit' && options.credentials !== SERVICE)
        refuse('forbidden', 401, 'rest_forbidden_context');
      rows = [...terms.values()]
        .filter((term) => term.base === base && isIncluded(term.id))
        .map((term) => ({ record: termResponse(term), key: term.id, tie: 0 }));
    } else if (base === 'media') {
      rows = [...media.values()]
        .filter((item) => isAfter(item, query))
        .map((item) => ({
          record: mediaResponse(item),
          ...(query.orderby === 'id' ? { key: item.id, tie: 0 } : { key: item.modifiedS, tie: randomOrder() }),
        }));
    } else refuse('no-collection', 404, 'rest_no_route');
    const sign = query.order === 'asc' ? 1 : -1;
    rows.sort((a, b) => sign * (a.key - b.key) || a.tie - b.tie);
    const page = Number(query.page ?? 1);
    const offset = query.offset === undefined ? (page - 1) * perPage : Number(query.offset);
    const total = rows.length + hidden;
    if (POST_BASES.includes(base) && page > Math.max(1, Math.ceil(total / perPage)))
      refuse('invalid', 400, 'rest_post_invalid_page_number');
    return {
      records: rows
        .slice(offset, offset + perPage)
        .map(({ record: cmsRecord }) => structuredClone(selectFields(cmsRecord, query._fields))),
      total,
      totalPages: Math.ceil(total / perPage),
      cmsTimeMs: Math.floor(cms.clockMs / 1000) * 1000,
    };
  }

  return { postResponse, termResponse, mediaResponse, createPage };
}
