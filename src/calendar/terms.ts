// The use cases of categories and tags: list, read, create, update and delete.

import { plainCollection } from '../cms/port.ts';
import { invalidParam, tagHasNoParent } from '../interface/errors.ts';
import type { Input } from '../interface/parameter.ts';
import type { TermOrder } from '../interface/parameters.ts';
import type { JsonObject } from '../model/json.ts';
import { PLURALS, type TermFields, type TermKind, type TermRecord } from '../model/records.ts';
import { listTerms } from '../store/lists.ts';
import { getRecord, getRecords, withDescendants } from '../store/records.ts';
import { withApiErrors } from './cms-errors.ts';
import { instantBound } from './dates.ts';
import {
  assertServable,
  type ListAccess,
  type ListPage,
  listResponse,
  requestedPage,
  withAccess,
} from './list-response.ts';
import { findRendered, renderPublic, singleResponse } from './rendered-records.ts';
import { type ApiResponse, type RequestContext, writableMapping } from './request.ts';
import type { Audience } from './serializer.ts';
import type { Services } from './services.ts';

/** In characters: the column of WordPress. */
const MAX_NAME = 200;
const FIELDS = ['name', 'description', 'slug', 'parent'] as const;
/**
 * Terms are public. Writes and lists of the terms of an event depend on the actor. Each use case throws `ApiError` and
 * `CmsUnavailable`.
 */
export class Terms {
  readonly #services: Services;
  readonly #kind: TermKind;

  constructor(services: Services, kind: TermKind) {
    this.#services = services;
    this.#kind = kind;
  }

  readonly #audienceOf = ({ baseUrl }: RequestContext): Audience => ({ baseUrl, visible: this.#services.replica.db });
  readonly #serializeSingle = (record: TermRecord, audience: Audience): JsonObject => ({
    ...this.#services.serializer.term(record, audience),
    _links: this.#cmsLinks(record),
  });

  /** Hypermedia links into the CMS, as The Events Calendar sends them. */
  #cmsLinks(record: TermRecord): JsonObject {
    const spec = this.#services.mapping.kinds[this.#kind] ?? plainCollection(PLURALS[this.#kind], 'terms');
    const apiUrl = (id?: number): string => this.#services.cms.apiUrl(this.#services.site(), spec, id);
    return {
      self: [{ href: apiUrl(record.id), targetHints: { allow: ['GET'] } }],
      collection: [{ href: apiUrl() }],
      ...(record.parent ? { up: [{ embeddable: true, href: apiUrl(record.parent) }] } : {}),
      curies: [{ name: 'wp', href: 'https://api.w.org/{rel}', templated: true }],
    };
  }

  /** The parent in the CMS's short form, for `_embed`. */
  #parentLinks(record: TermRecord, audience: Audience): JsonObject {
    const parent = getRecord(this.#services.replica.db, this.#kind, record.parent);
    if (!parent) return {};
    const { id, url, name, slug, taxonomy } = this.#services.serializer.term(parent, audience);
    return { _embedded: { up: [{ id, link: url, name, slug, taxonomy, _links: this.#cmsLinks(parent) }] } };
  }

  async #find({ values, raw }: Input, visible: ListAccess['visible']): Promise<ListPage> {
    const page = requestedPage(values, this.#services.lists);
    const event = values.event ?? values.post;
    const modifiedAfter = instantBound('modified_after', values.modified_after, this.#services.nowMs());
    const { ids, total } = listTerms(visible, {
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
    // Unlike in other lists, `rest_url` has no page.
    const urlValues = { ...raw, page: undefined };
    const { validUntilMs } = modifiedAfter;
    return { kind: this.#kind, ids, total, page, urlValues, validUntilMs, visible, isPublic: true };
  }

  /** Only the terms of one event depend on what the actor may see. */
  async list(input: Input, request: RequestContext): Promise<ApiResponse> {
    const respond = (visible: ListAccess['visible']) =>
      listResponse(this.#services, () => this.#find(input, visible), request);
    if (input.values.event !== undefined || input.values.post !== undefined)
      return withAccess(this.#services, 'event', [], input, request, ({ visible }) => respond(visible));
    assertServable(this.#services);
    return respond(this.#services.replica.db);
  }

  async read(id: number, { raw }: Input, request: RequestContext): Promise<ApiResponse> {
    const audience = this.#audienceOf(request);
    const { db, rendered } = this.#services.replica;
    const record = getRecord(db, this.#kind, id);
    if (!record) throw invalidParam('id');
    if (raw._embed !== undefined) {
      const body = { ...this.#serializeSingle(record, audience), ...this.#parentLinks(record, audience) };
      return { status: 200, body };
    }
    return singleResponse(
      findRendered(rendered, this.#kind, id, audience, 'single') ??
        renderPublic(rendered, record, audience, 'single', this.#serializeSingle(record, audience)),
    );
  }

  /** `id` is absent on create. */
  #fieldsOf(input: Input, id: number | undefined): Partial<TermFields> {
    if (this.#kind === 'tag' && (input.raw.parent ?? null) !== null) throw tagHasNoParent();
    writableMapping(this.#services, this.#kind, id);
    const fields: Partial<TermFields> = {};
    for (const name of FIELDS)
      if (input.byField[name] !== undefined) Object.assign(fields, { [name]: input.byField[name] });
    if (fields.parent !== undefined && fields.parent === id) delete fields.parent;
    if (fields.name !== undefined && fields.name.length > MAX_NAME) throw invalidParam('name', 'The name is too long.');
    if (fields.name?.trim() === '') throw invalidParam('name', 'A name is required for this term.');
    return fields;
  }

  #createdResponse(record: TermRecord, request: RequestContext): ApiResponse {
    const headers = { Location: `${request.baseUrl}/${PLURALS[this.#kind]}/${record.id}` };
    return { status: 201, body: this.#serializeSingle(record, this.#audienceOf(request)), headers };
  }

  async #save(id: number | undefined, input: Input, request: RequestContext): Promise<TermRecord> {
    const kind = this.#kind;
    const { cmsRecords, permissions } = this.#services;
    await permissions.demand('manageTerms', kind, request.actor);
    const fields = this.#fieldsOf(input, id);
    return withApiErrors({ kind, id, anonymous: false }, () =>
      id === undefined ? cmsRecords.create(kind, fields, request) : cmsRecords.update(kind, id, fields, request),
    );
  }

  async create(input: Input, request: RequestContext): Promise<ApiResponse> {
    return this.#createdResponse(await this.#save(undefined, input, request), request);
  }

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
    await this.#services.permissions.demand('manageTerms', this.#kind, request.actor);
    const record = getRecord(this.#services.replica.db, this.#kind, id);
    if (!record) throw invalidParam('id');
    writableMapping(this.#services, this.#kind, id);
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
