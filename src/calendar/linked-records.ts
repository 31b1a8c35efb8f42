// The use cases of venues and organizers, which differ only in their fields. A create, also of a record in the body of
// an event, uses an existing record with the same data instead of creating another.

import { couldNotCreate, invalidParam } from '../interface/errors.ts';
import { copiedFields } from '../interface/fields.ts';
import type { Input } from '../interface/parameter.ts';
import type { LinkedKind, LinkedRecord, OrganizerFields, VenueFields } from '../model/records.ts';
import { type LinkedFilter, listLinked } from '../store/lists.ts';
import { htmlText } from '../text/html.ts';
import { formatWallTime } from '../time/wall-time.ts';
import { customFieldCondition } from './custom-fields.ts';
import { modifiedAfterBound } from './dates.ts';
import { findDuplicate } from './duplicates.ts';
import { type ListAccess, type ListPage, listResponse, requestedPage } from './list-response.ts';
import { asActorSees, singlePost } from './read-post.ts';
import type { ApiResponse } from './request.ts';
import { linkedSearchWords } from './search-words.ts';
import type { ApiRequest, Services } from './services.ts';
import { beginWrite, checkWrite, imageField, type PostWrite, postFields, save, trashPost } from './write-post.ts';

/** Each use case throws `ApiError` and `CmsUnavailable`. */
export const linkedRecords = (kind: LinkedKind) => ({
  list: (input: Input, request: ApiRequest): Promise<ApiResponse> =>
    listResponse({ kind, usedKinds: ['event'] }, input, request, (access) =>
      findPage(kind, input, request.services, access),
    ),

  read: (id: number, input: Input, request: ApiRequest): Promise<ApiResponse> => singlePost(kind, id, input, request),

  async create(input: Input, request: ApiRequest): Promise<ApiResponse> {
    const createOrReuse = await prepareLinked(kind, input, request);
    return { status: 201, body: await asActorSees(await createOrReuse(), request, { unlocked: true }) };
  },

  async update(id: number, input: Input, request: ApiRequest): Promise<ApiResponse> {
    const write = await beginWrite(kind, input, request, id);
    const { title } = input.byProperty;
    if (typeof title === 'string' && title.trim() === '') throw invalidParam(kind);
    const fields = await fieldsOf(write);
    // As in The Events Calendar, an empty description changes nothing.
    if (fields.description === '') delete fields.description;
    await checkWrite(write, fields);
    const record = await save(write, { ...fields, ...(await imageField(write)) });
    return { status: 200, body: await asActorSees(record, request, { unlocked: true }) };
  },

  async delete(id: number, _input: Input, request: ApiRequest): Promise<ApiResponse> {
    return { status: 200, body: await asActorSees(await trashPost(kind, id, request), request, {}) };
  },
});

function findPage(
  kind: LinkedKind,
  { values, raw }: Input,
  { lists, mapping, nowMs }: Services,
  { visible, statuses, status, isPublic }: ListAccess,
): ListPage {
  const page = requestedPage(values, lists);
  const onlyUpcoming = values.only_with_upcoming === true;
  const modifiedAfter = modifiedAfterBound(values.modified_after, nowMs());
  const filter: Required<LinkedFilter> = {
    statuses,
    limit: page.limit,
    offset: page.offset,
    words: values.search === undefined ? undefined : linkedSearchWords(String(values.search)),
    event: values.event === undefined ? undefined : Number(values.event),
    hasEvents: values.has_events === undefined ? undefined : values.has_events === true,
    modifiedAfter: modifiedAfter.utc,
    customFields: customFieldCondition(mapping, kind, values.custom_fields),
    upcomingFromUtc: onlyUpcoming ? formatWallTime(nowMs()) : undefined,
  };
  const { ids, total } = listLinked(visible, kind, filter);
  const urlValues = { ...raw, event: values.event, page: page.number, per_page: page.limit, status };
  const validUntilMs = onlyUpcoming ? nowMs() + 1000 : modifiedAfter.validUntilMs;
  return { kind, ids, total, page, urlValues, validUntilMs, visible, isPublic };
}

/** The fields that a body sets, without the image. */
async function fieldsOf(write: PostWrite<LinkedKind>): Promise<Partial<VenueFields & OrganizerFields>> {
  const { kind, input } = write;
  const { byProperty } = input;
  const fields: Record<string, unknown> = await postFields(write);
  // As in The Events Calendar, whose PHP takes '0' for empty. Events and terms refuse both.
  if (fields.description === '0') fields.description = '';
  for (const [, { property }] of copiedFields(kind)) {
    const value = byProperty[property];
    // WordPress removes tags and repeated blanks when it saves plain text, and keeps a no-break space.
    const clean = typeof value === 'string' ? (htmlText(value).match(/[^\r\n\t ]+/g) ?? []).join(' ') : value;
    if (clean !== undefined) fields[property] = clean;
  }
  // `{ country: 'Canada', province: 'Ontario' }` sets `stateprovince` to `Ontario`. A body without a region leaves it.
  const hasRegion = ['country', 'province', 'state', 'stateprovince'].some((name) => byProperty[name] !== undefined);
  if (kind === 'venue' && hasRegion) fields.stateprovince ||= stateProvince(fields);
  return fields;
}

/**
 * Checks all of a new record that the gateway can know, and writes nothing. The result is a function, which creates the
 * record, or returns an existing one with the same data.
 */
export async function prepareLinked(
  kind: LinkedKind,
  input: Input,
  request: ApiRequest,
): Promise<() => Promise<LinkedRecord>> {
  const write = await beginWrite(kind, input, request);
  if (String(input.byProperty.title ?? '').trim() === '') throw couldNotCreate(kind);
  const fields = await fieldsOf(write);
  await checkWrite(write, fields);
  return async () => {
    // First the image: `findDuplicate` compares its id. A new upload is the image of no other venue.
    Object.assign(fields, await imageField(write));
    // `findDuplicate` only now: an earlier item of the body may have created the same venue.
    return (await findDuplicate(write, fields)) ?? save(write, fields);
  };
}

/** Default of `stateprovince`: the state in the United States or without a country, otherwise the province. */
function stateProvince(fields: Record<string, unknown>): string {
  const { country = '', state = '', province = '' } = fields as Record<string, string>;
  const isAmerican = country === '' || country === 'US' || country === 'United States';
  return isAmerican ? state || province : province;
}
