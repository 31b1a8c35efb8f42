// The use cases of categories and tags: list, read, create, update and delete.

import { plainCollection } from '../cms/port.ts';
import { forbidden, invalidParam, notReady, tagHasNoParent } from '../interface/errors.ts';
import { isEmpty } from '../interface/param-types.ts';
import type { Input } from '../interface/parameter.ts';
import type { TermOrder } from '../interface/parameters.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { PLURALS, type TermFields, type TermKind, type TermRecord } from '../model/records.ts';
import { listTerms } from '../store/lists.ts';
import { getRecord, getRecords, withDescendants } from '../store/records.ts';
import { MAX_TERM_NAME, withApiErrors } from './cms-errors.ts';
import { instantBound } from './dates.ts';
import {
  type FoundPage,
  type ListAccess,
  listResponse,
  pageLinkOrder,
  pageLinkParams,
  pageLinks,
  type RequestedPage,
  requestedPage,
  withAccess,
} from './list-response.ts';
import { findRendered, renderRecord } from './rendered-records.ts';
import type { ApiResponse, RequestContext } from './request.ts';
import { can, permissionsFor, permissionsForWrite, writableMapping } from './request.ts';
import { type Audience, shownIn } from './serializer.ts';
import type { Services } from './services.ts';

const FIELDS = ['name', 'description', 'slug', 'parent'] as const;
/**
 * Parameters in the links of a list. A list of tags ignores `parent`, but its links repeat it. No route of terms
 * declares `context`.
 */
const LINK_PARAMS = [...pageLinkOrder('category', []).filter((name) => name !== 'page'), 'context'];
/** Properties of a term with `context=embed`. */
const EMBED_PROPERTIES = new Set(['id', 'name', 'slug', 'taxonomy', 'url', 'urls', '_links']);

const isWholeTerm = (context: unknown): boolean => isEmpty(context) || context === 'view';

/**
 * The properties that a `context` shows: all, a short form without the parent, or only links for an unknown
 * context.
 */
function inContext(term: JsonObject, context: unknown): JsonObject | [] {
  if (isWholeTerm(context) || context === 'edit') return term;
  const isShown = (key: string) => (context === 'embed' ? EMBED_PROPERTIES.has(key) : key === '_links');
  const shown = Object.fromEntries(Object.entries(term).filter(([key]) => isShown(key)));
  if (isObject(shown.urls)) {
    const { up: _up, ...urls } = shown.urls;
    return { ...shown, urls };
  }
  return Object.keys(shown).length > 0 ? shown : [];
}

export type Terms = ReturnType<typeof createTerms>;

/**
 * Terms are public. Writes, `context=edit` and lists of the terms of an event depend on the actor. Each use
 * case throws `ApiError` and `CmsUnavailable`.
 */
export function createTerms(services: Services, kind: TermKind) {
  const { serializer, replica } = services;
  const plural = PLURALS[kind];
  const audienceOf = ({ baseUrl }: RequestContext): Audience => ({ baseUrl, shown: shownIn(replica.db) });
  const serializeItem = (record: TermRecord, audience: Audience): JsonObject => serializer.term(record, audience);
  const serializeSingle = (record: TermRecord, audience: Audience): JsonObject => ({
    ...serializer.term(record, audience),
    _links: cmsLinks(record),
  });

  /** Hypermedia links into the CMS, as The Events Calendar sends them. */
  function cmsLinks(record: TermRecord): JsonObject {
    const spec = services.mapping.kinds[kind] ?? plainCollection(plural, 'terms');
    const addressOf = (id?: number): string => services.cms.apiUrl(services.site(), spec, id);
    return {
      self: [{ href: addressOf(record.id), targetHints: { allow: ['GET'] } }],
      collection: [{ href: addressOf() }],
      ...(record.parent ? { up: [{ embeddable: true, href: addressOf(record.parent) }] } : {}),
      curies: [{ name: 'wp', href: 'https://api.w.org/{rel}', templated: true }],
    };
  }

  /** The parent in the CMS's short form, if `_embed` names the link relation `up`. */
  function parentLinks(record: TermRecord, embed: unknown): JsonObject {
    const relations = ['', 'true', '1'].includes(String(embed ?? '')) ? ['up'] : String(embed).split(/[\s,]+/);
    const parent = embed !== undefined && relations.includes('up') && getRecord(replica.db, kind, record.parent);
    if (!parent) return {};
    const { id, url, name, slug, taxonomy } = serializer.term(parent, { baseUrl: '', shown: shownIn(replica.db) });
    return { _embedded: { up: [{ id, link: url, name, slug, taxonomy, _links: cmsLinks(parent) }] } };
  }

  async function find(input: Input, request: RequestContext, view: ListAccess['view']): Promise<FoundPage<TermKind>> {
    const { values } = input;
    const { context } = input.sent;
    const page = requestedPage(values, services.lists);
    const event = values.event ?? values.post;
    const modifiedAfter = instantBound('modified_after', values.modified_after, services.nowMs());
    const { ids, total } = listTerms(view, {
      kind,
      limit: page.limit,
      offset: page.offset,
      orderBy: (values.orderby ?? 'name') as TermOrder,
      descending: values.order === 'desc',
      hideEmpty: values.hide_empty !== false,
      search: values.search === undefined ? undefined : String(values.search),
      include: values.include as number[] | undefined,
      exclude: values.include === undefined ? (values.exclude as number[] | undefined) : undefined,
      parent: values.parent === undefined ? undefined : Number(values.parent),
      event: event === undefined ? undefined : Number(event),
      slug: values.slug === undefined ? undefined : String(values.slug),
      noticedFrom: modifiedAfter.utc,
    });
    const isPublic = isWholeTerm(context);
    const serializeInContext: typeof serializeItem = (record, audience) =>
      inContext(serializeItem(record, audience), context) as JsonObject;
    const isShown = context !== 'edit' || (await mayManage(request));
    const listPage = {
      kind,
      ids: isShown ? ids : [],
      total,
      page,
      links: listLinks(input, total, page, request),
      serialize: isPublic ? serializeItem : serializeInContext,
      validUntilMs: modifiedAfter.validUntilMs,
    };
    return { listPage, access: { isPublic, view } };
  }

  /** Only the terms of one event depend on what the actor may see. */
  async function list(input: Input, request: RequestContext): Promise<ApiResponse> {
    const { sync } = services;
    const respond = (view: ListAccess['view']) =>
      listResponse<TermKind>(services, () => find(input, request, view), request);
    if (input.values.event !== undefined || input.values.post !== undefined)
      return withAccess(services, ['event'], input, request, ({ view }) => respond(view));
    if (!sync.state().complete) throw notReady(sync.status().percent);
    return respond(replica.db);
  }

  /** Unlike in other lists, `rest_url` has no page. */
  function listLinks(
    { sent }: Input,
    total: number,
    { page, perPage }: RequestedPage,
    { baseUrl }: RequestContext,
  ): Record<string, string> {
    const params = LINK_PARAMS.flatMap((name) => (sent[name] === undefined ? [] : pageLinkParams(name, sent[name])));
    return pageLinks(`${baseUrl}/${plural}/`, params, { page, perPage, total });
  }

  function read(id: number, { sent }: Input, request: RequestContext): ApiResponse {
    const audience = audienceOf(request);
    const record = getRecord(replica.db, kind, id);
    if (!record) throw invalidParam('id');
    if (!isWholeTerm(sent.context) || sent._embed !== undefined) {
      const term = inContext(serializeSingle(record, audience), sent.context);
      return { status: 200, body: { ...term, ...parentLinks(record, sent._embed) } };
    }
    const { bytes, etag } =
      findRendered(services, kind, id, audience, 'single') ??
      renderRecord<TermKind>(services, record, audience, 'single', serializeSingle);
    const cacheTags = [`${kind}-${id}`];
    return { status: 200, body: bytes, etag, cacheTags, validUntilMs: Number.POSITIVE_INFINITY };
  }

  /** Whether the CMS lets the actor manage the taxonomy. */
  async function mayManage({ actor }: RequestContext, read = permissionsFor): Promise<boolean> {
    return can(actor, 'manageTerms', await read(services, kind, actor));
  }

  async function assertMayManage(request: RequestContext): Promise<void> {
    if (!request.actor.account) throw forbidden(true);
    if (!(await mayManage(request, permissionsForWrite))) throw forbidden(false);
  }

  /** Validates the fields of a body. `id` is absent on create. */
  function fieldsOf(input: Input, id: number | undefined): Partial<TermFields> {
    if (kind === 'tag' && (input.sent.parent ?? null) !== null) throw tagHasNoParent();
    writableMapping(services, kind);
    const fields: Partial<TermFields> = {};
    for (const name of FIELDS)
      if (input.fields[name] !== undefined) Object.assign(fields, { [name]: input.fields[name] });
    if (fields.parent !== undefined && fields.parent === id) delete fields.parent;
    if (fields.name !== undefined && fields.name.trim() === '')
      throw invalidParam('name', 'A name is required for this term.');
    if (fields.name !== undefined && fields.name.length > MAX_TERM_NAME)
      throw invalidParam('name', 'The name is too long.');
    return fields;
  }

  function createdResponse(record: TermRecord, request: RequestContext): ApiResponse {
    const headers = { Location: `${request.baseUrl}/${plural}/${record.id}` };
    return { status: 201, body: serializeSingle(record, audienceOf(request)), headers };
  }

  return {
    list,
    read: async (id: number, input: Input, request: RequestContext): Promise<ApiResponse> => read(id, input, request),
    async create(input: Input, request: RequestContext): Promise<ApiResponse> {
      await assertMayManage(request);
      const fields = fieldsOf(input, undefined);
      const { name, description } = fields;
      const record = await withApiErrors({ kind, anonymous: false, texts: { name, description } }, () =>
        services.cmsRecords.create(kind, fields, request),
      );
      return createdResponse(record, request);
    },
    /** The response to a repeated `create` of a term. */
    async readForReplay(id: number, request: RequestContext): Promise<ApiResponse> {
      writableMapping(services, kind);
      return createdResponse(await services.cmsRecords.read(kind, id, request, { view: 'editor' }), request);
    },
    async update(id: number, input: Input, request: RequestContext): Promise<ApiResponse> {
      await assertMayManage(request);
      const fields = fieldsOf(input, id);
      const { name, description } = fields;
      const record = await withApiErrors({ kind, id, anonymous: false, texts: { name, description } }, () =>
        services.cmsRecords.update(kind, id, fields, request),
      );
      return { status: 200, body: serializeSingle(record, audienceOf(request)) };
    },
    /** Deletes the term permanently. As in the CMS, its children move up to its parent. */
    async delete(id: number, _input: Input, request: RequestContext): Promise<ApiResponse> {
      await assertMayManage(request);
      const record = getRecord(replica.db, kind, id);
      if (!record) throw invalidParam('id');
      writableMapping(services, kind);
      const body = serializer.term(record, audienceOf(request));
      const children = [...getRecords(replica.db, kind, withDescendants(replica.db, [id])).values()];
      const moved = children.filter(({ parent }) => parent === id);
      await withApiErrors({ kind, id, anonymous: false }, () => services.cmsRecords.delete(kind, id, request, moved));
      return { status: 200, body };
    },
  };
}
