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
import { findRendered, renderRecord, type Serialize, singleResponse } from './rendered-records.ts';
import type { ApiResponse, RequestContext } from './request.ts';
import { writableMapping } from './request.ts';
import type { Audience } from './serializer.ts';
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

/**
 * Terms are public. Writes, `context=edit` and lists of the terms of an event depend on the actor. Each use
 * case throws `ApiError` and `CmsUnavailable`.
 */
export class Terms {
  readonly #services: Services;
  readonly #kind: TermKind;

  constructor(services: Services, kind: TermKind) {
    this.#services = services;
    this.#kind = kind;
  }

  readonly #audienceOf = ({ baseUrl }: RequestContext): Audience => ({
    baseUrl,
    view: this.#services.replica.db,
  });
  readonly #serializeItem = (record: TermRecord, audience: Audience): JsonObject =>
    this.#services.serializer.term(record, audience);
  readonly #serializeSingle = (record: TermRecord, audience: Audience): JsonObject => ({
    ...this.#services.serializer.term(record, audience),
    _links: this.#cmsLinks(record),
  });

  /** Hypermedia links into the CMS, as The Events Calendar sends them. */
  #cmsLinks(record: TermRecord): JsonObject {
    const spec = this.#services.mapping.kinds[this.#kind] ?? plainCollection(PLURALS[this.#kind], 'terms');
    const addressOf = (id?: number): string => this.#services.cms.apiUrl(this.#services.site(), spec, id);
    return {
      self: [{ href: addressOf(record.id), targetHints: { allow: ['GET'] } }],
      collection: [{ href: addressOf() }],
      ...(record.parent ? { up: [{ embeddable: true, href: addressOf(record.parent) }] } : {}),
      curies: [{ name: 'wp', href: 'https://api.w.org/{rel}', templated: true }],
    };
  }

  /** The parent in the CMS's short form, if `_embed` names the link relation `up`. */
  #parentLinks(record: TermRecord, embed: unknown): JsonObject {
    const relations = ['', 'true', '1'].includes(String(embed ?? '')) ? ['up'] : String(embed).split(/[\s,]+/);
    const parent =
      embed !== undefined &&
      relations.includes('up') &&
      getRecord(this.#services.replica.db, this.#kind, record.parent);
    if (!parent) return {};
    const { id, url, name, slug, taxonomy } = this.#services.serializer.term(parent, {
      baseUrl: '',
      view: this.#services.replica.db,
    });
    return { _embedded: { up: [{ id, link: url, name, slug, taxonomy, _links: this.#cmsLinks(parent) }] } };
  }

  async #find(input: Input, request: RequestContext, view: ListAccess['view']): Promise<FoundPage<TermKind>> {
    const { values } = input;
    const { context } = input.sent;
    const page = requestedPage(values, this.#services.lists);
    const event = values.event ?? values.post;
    const modifiedAfter = instantBound('modified_after', values.modified_after, this.#services.nowMs());
    const { ids, total } = listTerms(view, {
      kind: this.#kind,
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
    const serializeInContext: Serialize<TermKind> = (record, audience) =>
      inContext(this.#serializeItem(record, audience), context) as JsonObject;
    const isShown = context !== 'edit' || (await this.#mayManage(request));
    const listPage = {
      kind: this.#kind,
      ids: isShown ? ids : [],
      total,
      page,
      links: this.#listLinks(input, total, page, request),
      serialize: isPublic ? this.#serializeItem : serializeInContext,
      validUntilMs: modifiedAfter.validUntilMs,
    };
    return { listPage, access: { isPublic, view } };
  }

  /** Only the terms of one event depend on what the actor may see. */
  async list(input: Input, request: RequestContext): Promise<ApiResponse> {
    const { sync } = this.#services;
    const respond = (view: ListAccess['view']) =>
      listResponse<TermKind>(this.#services, () => this.#find(input, request, view), request);
    if (input.values.event !== undefined || input.values.post !== undefined)
      return withAccess(this.#services, ['event'], input, request, ({ view }) => respond(view));
    if (!sync.state().complete) throw notReady(sync.status().percent);
    return respond(this.#services.replica.db);
  }

  /** Unlike in other lists, `rest_url` has no page. */
  #listLinks(
    { sent }: Input,
    total: number,
    { page, perPage }: RequestedPage,
    { baseUrl }: RequestContext,
  ): Record<string, string> {
    const params = LINK_PARAMS.flatMap((name) => (sent[name] === undefined ? [] : pageLinkParams(name, sent[name])));
    return pageLinks(`${baseUrl}/${PLURALS[this.#kind]}/`, params, { page, perPage, total });
  }

  async read(id: number, { sent }: Input, request: RequestContext): Promise<ApiResponse> {
    const audience = this.#audienceOf(request);
    const record = getRecord(this.#services.replica.db, this.#kind, id);
    if (!record) throw invalidParam('id');
    if (!isWholeTerm(sent.context) || sent._embed !== undefined) {
      const term = inContext(this.#serializeSingle(record, audience), sent.context);
      return { status: 200, body: { ...term, ...this.#parentLinks(record, sent._embed) } };
    }
    return singleResponse(
      findRendered(this.#services, this.#kind, id, audience, 'single') ??
        renderRecord<TermKind>(this.#services, record, audience, 'single', this.#serializeSingle),
    );
  }

  /** Whether the CMS lets the actor manage the taxonomy. */
  #mayManage({ actor }: RequestContext): Promise<boolean> {
    return this.#services.permissions.allow('manageTerms', this.#kind, actor);
  }

  async #assertMayManage(request: RequestContext): Promise<void> {
    if (!request.actor.account) throw forbidden(true);
    if (!(await this.#mayManage(request))) throw forbidden(false);
  }

  /** Validates the fields of a body. `id` is absent on create. */
  #fieldsOf(input: Input, id: number | undefined): Partial<TermFields> {
    if (this.#kind === 'tag' && (input.sent.parent ?? null) !== null) throw tagHasNoParent();
    writableMapping(this.#services, this.#kind);
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

  #createdResponse(record: TermRecord, request: RequestContext): ApiResponse {
    const headers = { Location: `${request.baseUrl}/${PLURALS[this.#kind]}/${record.id}` };
    return { status: 201, body: this.#serializeSingle(record, this.#audienceOf(request)), headers };
  }

  /** Creates a term, or updates that with this id. */
  async #save(id: number | undefined, input: Input, request: RequestContext): Promise<TermRecord> {
    const kind = this.#kind;
    const { cmsRecords } = this.#services;
    await this.#assertMayManage(request);
    const fields = this.#fieldsOf(input, id);
    return withApiErrors({ kind, id, anonymous: false }, () =>
      id === undefined ? cmsRecords.create(kind, fields, request) : cmsRecords.update(kind, id, fields, request),
    );
  }

  async create(input: Input, request: RequestContext): Promise<ApiResponse> {
    return this.#createdResponse(await this.#save(undefined, input, request), request);
  }

  /** The response to a repeated `create` of a term. */
  async readForReplay(id: number, request: RequestContext): Promise<ApiResponse> {
    writableMapping(this.#services, this.#kind);
    const { record } = await this.#services.cmsRecords.read(this.#kind, id, request, { view: 'editor' });
    return this.#createdResponse(record, request);
  }

  async update(id: number, input: Input, request: RequestContext): Promise<ApiResponse> {
    const record = await this.#save(id, input, request);
    return { status: 200, body: this.#serializeSingle(record, this.#audienceOf(request)) };
  }

  /** Deletes the term permanently. As in the CMS, its children move up to its parent. */
  async delete(id: number, _input: Input, request: RequestContext): Promise<ApiResponse> {
    await this.#assertMayManage(request);
    const record = getRecord(this.#services.replica.db, this.#kind, id);
    if (!record) throw invalidParam('id');
    writableMapping(this.#services, this.#kind);
    const body = this.#services.serializer.term(record, this.#audienceOf(request));
    const { db } = this.#services.replica;
    const descendants = getRecords(db, this.#kind, withDescendants(db, [id])).values();
    const moved = [...descendants].filter(({ parent }) => parent === id);
    await withApiErrors({ kind: this.#kind, id, anonymous: false }, () =>
      this.#services.cmsRecords.delete(this.#kind, id, request, moved),
    );
    return { status: 200, body };
  }
}
