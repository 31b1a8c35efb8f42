// The responses of the fake CMS: records as WordPress sends them, and pages of lists.

import type {
  CallOptions,
  CmsPage,
  CmsRecord,
  CollectionSpec,
  Credentials,
  Detail,
  ListRequest,
  View,
} from '../../src/cms/port.ts';
import { normalize } from '../../src/cms/wordpress/normalize.ts';
import { WORDPRESS_RECORDS } from '../../src/cms/wordpress/record-form.ts';
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
const gmt = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19);

const utc = (seconds: number) => gmt(seconds).replace('T', ' ');

const isAfter = ({ modifiedS }: { modifiedS: number }, { modifiedAfterUtc }: ListRequest) =>
  modifiedAfterUtc === undefined || utc(modifiedS) > modifiedAfterUtc;

/** @param code WordPress's own, for the fake over HTTP */
export function refuse(kind: RejectionKind, status: number, code: string): never {
  throw new CmsRejected(kind, `Refused: ${code}`, { status, code });
}

/** Creates the function that leaves the requested fields of a record. */
function fieldSelector(spec: CollectionSpec, detail: Detail | undefined): (cmsRecord: CmsRecord) => CmsRecord {
  if (detail === undefined) return (cmsRecord) => cmsRecord;
  const names = new Set(WORDPRESS_RECORDS.requestedPaths(spec, detail).map((path) => path.split('.', 1)[0]));
  if (names.has('modified_gmt')) names.add('modifiedUtc');
  return (cmsRecord) => Object.fromEntries(Object.entries(cmsRecord).filter(([name]) => names.has(name)));
}

export interface FakeResponses {
  /**
   * The response to this reader: members get more of the content than the public, and the source as editors.
   */
  postResponse(post: FakePost, as?: { credentials?: Credentials; view?: View }): CmsRecord;
  termResponse(term: FakeTerm): CmsRecord;
  mediaResponse(item: FakeMedia): CmsRecord;
  createPage(spec: CollectionSpec, request: ListRequest, options: CallOptions): CmsPage;
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

  function postResponse(post: FakePost, { credentials, view }: { credentials?: Credentials; view?: View } = {}) {
    const secret = credentials === undefined ? '' : membersOnlyText(post);
    const text = (rendered: string, raw: string) => ({
      ...(view === 'editor' ? { raw } : {}),
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
      modifiedUtc: utc(post.modifiedS),
      link: `${cms.siteFacts.url}/${post.base}/${post.slug}/`,
      title: text(post.title, post.title),
      content: text(`<p>${post.title}</p>\n${secret}`, `${post.title}\n[members]${membersOnlyText(post)}[/members]`),
      excerpt: text('', ''),
      featured_media: post.featured,
      meta: metaOf(post),
      calendar_occurrences: post.occurrences ?? null,
      ...(post.base === 'events' ? Object.fromEntries(TERM_BASES.map((base) => [base, []])) : {}),
      ...Object.fromEntries(Object.entries(post.terms).map(([base, ids]) => [base, [...ids]])),
    };
  }

  function termResponse(term: FakeTerm): CmsRecord {
    const count = [...posts.values()].filter((post) => post.terms[term.base]?.includes(term.id)).length;
    const { id, name, slug, parent, base } = term;
    return { id, name, slug, parent, description: '', count, link: `${cms.siteFacts.url}/${base}/${slug}/` };
  }

  const mediaResponse = (item: FakeMedia): CmsRecord => ({
    ...{ id: item.id, modified_gmt: gmt(item.modifiedS), modifiedUtc: utc(item.modifiedS) },
  });

  function visiblePosts(
    base: string,
    request: ListRequest,
    options: CallOptions,
  ): { visible: FakePost[]; hidden: number } {
    const { view, ids, author } = request;
    const sent = request.statuses ?? ['publish'];
    const statuses =
      typeof sent === 'string' ? STATUSES.filter((status) => sent === 'all' || status !== 'trash') : sent;
    if (statuses.some((status) => !STATUSES.includes(status))) refuse('invalid', 400, 'rest_invalid_param');
    const { credentials } = options;
    const service = credentials === SERVICE ? cms.serviceRole : 'anonymous';
    if (credentials === SERVICE && service === 'refused') refuse('forbidden', 401, 'rest_forbidden_context');
    if (credentials === undefined && statuses.some((status) => status !== 'publish'))
      refuse('invalid', 400, 'rest_forbidden_status');
    if (credentials === undefined && view === 'editor') refuse('forbidden', 401, 'rest_forbidden_context');
    const editor = service === 'editor';
    const own = (post: FakePost) => credentials === AUTHOR && post.author === AUTHOR_ID;
    const matching = [...posts.values()].filter(
      (post) =>
        post.base === base &&
        statuses.includes(post.status) &&
        (!ids || ids.includes(post.id)) &&
        (author === undefined || post.author === author) &&
        isAfter(post, request) &&
        !(base === 'events' && cms.omitted?.(post.id)),
    );
    const readable = (post: FakePost) => editor || own(post) || (post.status === 'publish' && view !== 'editor');
    const visible = matching.filter(readable);
    return { visible, hidden: matching.length - visible.length };
  }

  function createPage(spec: CollectionSpec, request: ListRequest, options: CallOptions): CmsPage {
    const { collection: base } = spec;
    const { view, ids, order = '-date', limit = 10, detail } = request;
    if (options.credentials === undefined && cms.closedToPublic.has(base))
      refuse('forbidden', 401, 'rest_login_required');
    if (limit < 1 || limit > 100) refuse('invalid', 400, 'rest_invalid_param');
    let rows: { record: CmsRecord; key: number; tie: number }[];
    let hidden = 0;
    const isIncluded = (id: number) => !ids || ids.includes(id);
    if (POST_BASES.includes(base)) {
      const visible = visiblePosts(base, request, options);
      hidden = visible.hidden;
      const key = (post: FakePost) =>
        order.endsWith('id') ? post.id : order === '-modified' ? post.modifiedS : post.dateS;
      rows = visible.visible
        .filter(({ id }) => isIncluded(id))
        .filter((post) => options.credentials !== undefined || !post.hiddenFromPublic)
        .map((post) => ({ record: postResponse(post, { ...options, view }), key: key(post), tie: randomOrder() }));
      if (base === 'events') rows = rows.flatMap((row) => Array(cms.repeats(Number(row.record.id))).fill(row));
    } else if (TERM_BASES.includes(base)) {
      if (request.offset !== undefined) throw new Error('terms have no offset');
      rows = [...terms.values()]
        .filter((term) => term.base === base && isIncluded(term.id))
        .map((term) => ({ record: termResponse(term), key: term.id, tie: 0 }));
    } else if (base === 'media') {
      rows = [...media.values()]
        .filter((item) => isAfter(item, request))
        .map((item) => ({
          record: mediaResponse(item),
          ...(order === 'id' ? { key: item.id, tie: 0 } : { key: item.modifiedS, tie: randomOrder() }),
        }));
    } else refuse('no-collection', 404, 'rest_no_route');
    const select = fieldSelector(spec, detail);
    const sign = order.startsWith('-') ? -1 : 1;
    rows.sort((a, b) => sign * (a.key - b.key) || a.tie - b.tie);
    const offset = request.offset ?? ((request.page ?? 1) - 1) * limit;
    const total = rows.length + hidden;
    return {
      records: rows
        .slice(offset, offset + limit)
        .map(({ record: cmsRecord }) => normalize(spec, structuredClone(select(cmsRecord)))),
      total: POST_BASES.includes(base) && request.page !== undefined && offset >= total ? 0 : total,
      cmsTimeMs: Math.floor(cms.clockMs / 1000) * 1000,
    };
  }

  return { postResponse, termResponse, mediaResponse, createPage };
}
