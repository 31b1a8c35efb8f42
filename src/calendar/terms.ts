// The use cases of categories and tags: list, read, create, update and delete.

import { plainCollection } from '../cms/port.ts';
import { invalidParam, tagHasNoParent } from '../interface/errors.ts';
import type { Input } from '../interface/parameter.ts';
import type { TermOrder } from '../interface/parameters.ts';
import type { JsonObject } from '../model/json.ts';
import { PLURALS, type TermFields, type TermKind, type TermRecord } from '../model/records.ts';
import { listTerms, type TermFilter } from '../store/lists.ts';
import { categoriesWithDescendants, getRecord, getRecords } from '../store/records.ts';
import { withApiErrors } from './cms-errors.ts';
import { modifiedAfterBound } from './dates.ts';
import { type ListAccess, type ListPage, listResponse, requestedPage } from './list-response.ts';
import { findRendered, renderPublic, singleResponse } from './rendered-records.ts';
import { type ApiResponse, writableMapping } from './request.ts';
import { type Audience, serializeTerm } from './serializer.ts';
import type { ApiRequest, Services } from './services.ts';

/** In characters: the column of WordPress. */
const MAX_NAME = 200;

/** Terms are public. Writes and lists of the terms of an event depend on the actor. */
const audienceOf = (request: ApiRequest): Audience => ({ ...request, visible: request.services.replica.db });

const serializeSingle = (record: TermRecord, request: ApiRequest): JsonObject => ({
  ...serializeTerm(record, audienceOf(request)),
  _links: cmsLinks(record, request.services),
});

/** Hypermedia links into the CMS, as The Events Calendar sends them. */
function cmsLinks({ kind, id, parent }: TermRecord, { mapping, cms, site }: Services): JsonObject {
  const collection = mapping.kinds[kind] ?? plainCollection(PLURALS[kind], 'terms');
  const apiUrl = (id?: number): string => cms.apiUrl(site(), collection, id);
  return {
    self: [{ href: apiUrl(id), targetHints: { allow: ['GET'] } }],
    collection: [{ href: apiUrl() }],
    ...(parent ? { up: [{ embeddable: true, href: apiUrl(parent) }] } : {}),
    curies: [{ name: 'wp', href: 'https://api.w.org/{rel}', templated: true }],
  };
}

/** The parent in the CMS's short form, for `_embed`. */
function parentLinks(record: TermRecord, request: ApiRequest): JsonObject {
  const parent = getRecord(request.services.replica.db, record.kind, record.parent);
  if (!parent) return {};
  const { id, url, name, slug, taxonomy } = serializeTerm(parent, audienceOf(request));
  return { _embedded: { up: [{ id, link: url, name, slug, taxonomy, _links: cmsLinks(parent, request.services) }] } };
}

function findPage(
  kind: TermKind,
  { values, raw }: Input,
  { lists, nowMs }: Services,
  visible: ListAccess['visible'],
): ListPage {
  const page = requestedPage(values, lists);
  const event = values.event ?? values.post;
  const { utc, validUntilMs } = modifiedAfterBound(values.modified_after, nowMs());
  const { ids, total } = listTerms(visible, {
    kind,
    limit: page.limit,
    offset: page.offset,
    orderBy: (values.orderby ?? 'name') as TermOrder,
    descending: values.order === 'desc',
    hideEmpty: values.hide_empty !== false,
    search: values.search === undefined ? undefined : String(values.search),
    include: values.include as number[] | undefined,
    // Beside `include`, `exclude` has no effect in the original.
    exclude: values.include === undefined ? (values.exclude as number[] | undefined) : undefined,
    parent: values.parent === undefined ? undefined : Number(values.parent),
    event: event === undefined ? undefined : Number(event),
    slug: values.slug === undefined ? undefined : String(values.slug),
    noticedFrom: utc, // terms have no date: see "noticed" in docs/glossary.md
  } satisfies Required<TermFilter>);
  // Unlike in other lists, `rest_url` has no page.
  return { kind, ids, total, page, urlValues: { ...raw, page: undefined }, validUntilMs, visible, isPublic: true };
}

async function saveTerm(
  kind: TermKind,
  id: number | undefined,
  { raw, byProperty }: Input,
  request: ApiRequest,
): Promise<TermRecord> {
  const { permissions, cmsRecords } = request.services;
  await permissions.demand('manageTerms', kind, request.actor);
  if (kind === 'tag' && (raw.parent ?? null) !== null) throw tagHasNoParent();
  const { writtenPathsByProperty } = writableMapping<TermKind>(request.services, kind, id);
  const fields: Partial<TermFields> = { ...byProperty };
  // As in the original, a category as its own parent is no error.
  if (fields.parent !== undefined && fields.parent === id) delete fields.parent;
  if (fields.name !== undefined && fields.name.length > MAX_NAME) throw invalidParam('name', 'The name is too long.');
  if (fields.name?.trim() === '') throw invalidParam('name', 'A name is required for this term.');
  // A mapping of Payload may have the name at `title`: what the CMS says of `title` is about the parameter `name`.
  const parametersAt = (path: string) => (writtenPathsByProperty.get('name')?.includes(path) ? [{ name: 'name' }] : []);
  return withApiErrors({ kind, id, parametersAt }, () =>
    id === undefined ? cmsRecords.create(kind, fields, request) : cmsRecords.update(kind, id, fields, request),
  );
}

function createdResponse(record: TermRecord, request: ApiRequest): ApiResponse {
  const headers = { Location: `${request.baseUrl}/${PLURALS[record.kind]}/${record.id}` };
  return { status: 201, body: serializeSingle(record, request), headers };
}

/** Each use case throws `ApiError` and `CmsUnavailable`. */
export const terms = (kind: TermKind) => ({
  /** Only the terms of one event depend on what the actor may see: the event may be a draft. */
  list(input: Input, request: ApiRequest): Promise<ApiResponse> {
    const isOfEvent = input.values.event !== undefined || input.values.post !== undefined;
    return listResponse({ kind, usedKinds: isOfEvent ? ['event'] : [] }, input, request, ({ visible }) =>
      findPage(kind, input, request.services, visible),
    );
  },

  async read(id: number, { raw }: Input, request: ApiRequest): Promise<ApiResponse> {
    const audience = audienceOf(request);
    const record = getRecord(request.services.replica.db, kind, id);
    if (!record) throw invalidParam('id');
    if (raw._embed !== undefined)
      return { status: 200, body: { ...serializeSingle(record, request), ...parentLinks(record, request) } };
    const render = () => renderPublic(record, audience, 'single', serializeSingle(record, request));
    return singleResponse(findRendered(kind, id, audience, 'single') ?? render());
  },

  async create(input: Input, request: ApiRequest): Promise<ApiResponse> {
    return createdResponse(await saveTerm(kind, undefined, input, request), request);
  },

  async readForReplay(id: number, request: ApiRequest): Promise<ApiResponse> {
    writableMapping(request.services, kind);
    const { record } = await request.services.cmsRecords.read(kind, id, request, { view: 'editor' });
    return createdResponse(record, request);
  },

  async update(id: number, input: Input, request: ApiRequest): Promise<ApiResponse> {
    return { status: 200, body: serializeSingle(await saveTerm(kind, id, input, request), request) };
  },

  /** Deletes the term permanently. As in the CMS, its children move up to its parent. */
  async delete(id: number, _input: Input, request: ApiRequest): Promise<ApiResponse> {
    const { services } = request;
    const { db } = services.replica;
    await services.permissions.demand('manageTerms', kind, request.actor);
    const record = getRecord(db, kind, id);
    if (!record) throw invalidParam('id');
    writableMapping(services, kind, id);
    const body = serializeTerm(record, audienceOf(request));
    const below = kind === 'category' ? categoriesWithDescendants(db, [id]) : [];
    const moved = [...getRecords(db, kind, below).values()].filter(({ parent }) => parent === id);
    await withApiErrors({ kind, id }, () => services.cmsRecords.delete(kind, id, request, moved));
    return { status: 200, body };
  },
});
