// The use cases of venues and organizers, which differ only in their fields: list, read, create, update and
// delete. A create, also of a record in the body of an event, uses an existing record with the same data instead of
// creating another.

import { couldNotCreate, invalidParam } from '../interface/errors.ts';
import { copiedFields } from '../interface/fields.ts';
import type { Input } from '../interface/parameter.ts';
import { isEmpty } from '../interface/value-types.ts';
import { kindMappingOf } from '../mapping/mapping.ts';
import {
  FIRST_SOURCE_ID,
  type LinkedKind,
  type LinkedRecord,
  type OrganizerFields,
  type VenueFields,
} from '../model/records.ts';
import type { VisibleRecords } from '../store/database.ts';
import { listLinked } from '../store/lists.ts';
import { getRecord } from '../store/records.ts';
import { decodeEntities, htmlText, undoTypography } from '../text/html.ts';
import { formatWallTime } from '../time/wall-time.ts';
import { utcToWall } from '../time/zones.ts';
import { customFieldCondition, customFieldsOf } from './custom-fields.ts';
import { instantBound, zoneOf } from './dates.ts';
import { type ListAccess, type ListPage, listResponse, requestedPage, withAccess } from './list-response.ts';
import { asActorSees, singlePost } from './read-post.ts';
import { type ApiResponse, type RequestContext, unpublishedParts } from './request.ts';
import { linkedSearchWords } from './search-words.ts';
import type { Services } from './services.ts';
import { beginWrite, checkWrite, imageField, type PostWrite, postFields, save, trashPost } from './write-post.ts';

const keysOf = (kind: LinkedKind): string[] => copiedFields(kind).map(([, { key }]) => key);

/** Besides those that all posts have. */
const OWN_FIELDS = { venue: keysOf('venue'), organizer: keysOf('organizer') };

const MAX_CANDIDATES = 200;
/** Of titles and descriptions of candidates. The search ends there, as if there were no duplicate. */
const MAX_COMPARED_CHARACTERS = 400_000;

/** Each use case throws `ApiError` and `CmsUnavailable`. */
export class LinkedRecords {
  readonly #services: Services;
  readonly kind: LinkedKind;

  constructor(services: Services, kind: LinkedKind) {
    this.#services = services;
    this.kind = kind;
  }

  async #find({ values, raw }: Input, access: ListAccess): Promise<ListPage> {
    const page = requestedPage(values, this.#services.lists);
    const onlyUpcoming = values.only_with_upcoming === true;
    const modifiedAfter = instantBound('modified_after', values.modified_after, this.#services.nowMs());
    const filter = {
      statuses: access.statuses,
      limit: page.limit,
      offset: page.offset,
      words: values.search === undefined ? undefined : linkedSearchWords(String(values.search)),
      event: values.event === undefined ? undefined : Number(values.event),
      hasEvents: values.has_events === undefined ? undefined : values.has_events === true,
      modifiedAfter: modifiedAfter.utc,
      customFields: customFieldCondition(customFieldsOf(this.#services.mapping, this.kind), values.custom_fields),
      upcomingFromUtc: onlyUpcoming ? formatWallTime(this.#services.nowMs()) : undefined,
    };
    const listed = () => listLinked(access.visible, this.kind, filter);
    if (!access.isPublic) await access.addImages(listed().ids);
    // Only now: while the CMS was asked, a record may have become one that the actor may not see.
    const { ids, total } = listed();
    const linkValues = { ...raw, page: page.page, per_page: page.limit, status: access.status };
    const validUntilMs = onlyUpcoming ? this.#services.nowMs() + 1000 : modifiedAfter.validUntilMs;
    const { visible, isPublic } = access;
    return { kind: this.kind, ids, total, page, linkValues, validUntilMs, visible, isPublic };
  }

  readonly list = (input: Input, request: RequestContext): Promise<ApiResponse> =>
    withAccess(this.#services, [this.kind, 'event'], input, request, (access) =>
      listResponse(this.#services, () => this.#find(input, access), request),
    );

  read(id: number, input: Input, request: RequestContext): Promise<ApiResponse> {
    return singlePost(this.#services, this.kind, id, input, request);
  }

  /** The fields that a body sets, without the image. */
  async #fieldsOf(write: PostWrite<LinkedKind>): Promise<Partial<VenueFields & OrganizerFields>> {
    const { byField } = write.input;
    const fields: Record<string, unknown> = await postFields(write);
    // As in The Events Calendar, whose PHP takes '0' for empty. Events and terms refuse both.
    if (fields.description === '0') fields.description = '';
    for (const name of OWN_FIELDS[this.kind]) {
      const value = byField[name];
      // WordPress removes tags and repeated spaces when it saves plain text.
      const clean = typeof value === 'string' ? htmlText(value).replace(/\s+/g, ' ').trim() : value;
      if (clean !== undefined) fields[name] = clean;
    }
    const hasRegion = ['country', 'province', 'state', 'stateprovince'].some((name) => byField[name] !== undefined);
    if (this.kind === 'venue' && hasRegion) fields.stateprovince ||= stateProvince(fields);
    return fields;
  }

  /**
   * Checks all of a new record that the gateway can know, and writes nothing. The result creates it, or
   * returns an existing record with the same data. For records in an event's body too.
   */
  async prepare(input: Input, request: RequestContext): Promise<() => Promise<LinkedRecord>> {
    const write = await beginWrite(this.#services, this.kind, input, request);
    if (String(input.byField.title ?? '').trim() === '') throw couldNotCreate(this.kind);
    const fields = await this.#fieldsOf(write);

    // If the mapping makes venues read-only, an event can still link a venue that exists: `checkWrite` throws 403 for
    // any other. If venues can be written, the search comes last: an earlier item of the body may create the same
    // venue.
    const isReadOnly = kindMappingOf(this.#services.mapping, this.kind)?.readOnly !== false;
    const known = isReadOnly && isEmpty(input.byField.image) ? await findDuplicate(write, fields) : undefined;
    if (known) return async () => known;
    await checkWrite(write, fields);
    return async () => {
      Object.assign(fields, await imageField(write));
      return (await findDuplicate(write, fields)) ?? save(write, fields);
    };
  }

  async create(input: Input, request: RequestContext): Promise<ApiResponse> {
    const createOrReuse = await this.prepare(input, request);
    const body = await asActorSees(this.#services, await createOrReuse(), request, { unlocked: true });
    return { status: 201, body };
  }

  async update(id: number, input: Input, request: RequestContext): Promise<ApiResponse> {
    const write = await beginWrite(this.#services, this.kind, input, request, id);
    const { title } = input.byField;
    if (typeof title === 'string' && title.trim() === '') throw invalidParam(this.kind);
    const fields = await this.#fieldsOf(write);
    // As in The Events Calendar, an empty description changes nothing.
    if (fields.description === '') delete fields.description;
    await checkWrite(write, fields);
    Object.assign(fields, await imageField(write));
    const record = await save(write, fields);
    return { status: 200, body: await asActorSees(this.#services, record, request, { unlocked: true }) };
  }

  async delete(id: number, _input: Input, request: RequestContext): Promise<ApiResponse> {
    const trashed = await trashPost(this.#services, this.kind, id, request);
    return { status: 200, body: await asActorSees(this.#services, trashed, request, {}) };
  }
}

/** The state of an address in the United States or without a country, otherwise the province. */
function stateProvince(fields: Record<string, unknown>): string {
  const { country = '', state = '', province = '' } = fields as Record<string, string>;
  const isAmerican = country === '' || country === 'US' || country === 'United States';
  return isAmerican ? state || province : province;
}

/**
 * Without tags, entities, typography, letter case and repeated spaces, so that sent and rendered text compare
 * equal.
 */
export function comparableText(html: string): string {
  const text = undoTypography(decodeEntities(htmlText(html)));
  return text.replace(/-{2,}/g, '-').replace(/\s+/g, ' ').trim().toLowerCase();
}

/**
 * The lowest id of a record with the same title that differs in no sent field. Never a protected record:
 * guesses would reveal what its password hides.
 */
async function findDuplicate(
  { services, kind, input, request }: PostWrite<LinkedKind>,
  fields: Record<string, unknown>,
): Promise<LinkedRecord | undefined> {
  const { byField } = input;
  const name = comparableText(String(byField.title));
  const longestWord = (name.match(/[\p{L}\p{N}]+/gu) ?? []).sort((a, b) => b.length - a.length)[0];
  if (!longestWord) return undefined;
  const { replica, unpublishedRecords } = services;
  const isSame = (record: LinkedRecord) =>
    comparableText(record.title) === name && !differs(services, record, byField, fields);
  // A record that is not published can only be one of the actor's own unpublished ones.
  const mayBePublished = fields.status === 'publish' && (fields.date ?? fields.dateUtc) === undefined;
  const parts = mayBePublished ? {} : await unpublishedParts(services, [kind], request);
  if (Object.keys(parts).length === 0) return findSame(replica.db, kind, longestWord, isSame);
  return unpublishedRecords.use(request, parts, async ({ records }) => findSame(records, kind, longestWord, isSame));
}

function findSame(
  visible: VisibleRecords,
  kind: LinkedKind,
  word: string,
  isSame: (record: LinkedRecord) => boolean,
): LinkedRecord | undefined {
  const { ids } = listLinked(visible, kind, { words: [{ text: word, not: false }], limit: MAX_CANDIDATES, offset: 0 });
  let remaining = MAX_COMPARED_CHARACTERS;
  for (const id of ids.toSorted((a, b) => a - b)) {
    const record = getRecord(visible, kind, id);
    // The site does not know the records of sources.
    if (!record || id >= FIRST_SOURCE_ID) continue;
    remaining -= record.title.length + record.description.length;
    if (remaining < 0) return undefined;
    if (record.status !== 'trash' && !record.protected && isSame(record)) return record;
  }
  return undefined;
}

/**
 * Whether the record differs in a sent field besides its title. A field that the mapping cannot write does not count: a
 * new record would not have it either. If the mapping makes the kind read-only, all fields but date and status count.
 * @param fields what a new record would get
 */
function differs(
  services: Services,
  record: LinkedRecord,
  sent: Record<string, unknown>,
  fields: Record<string, unknown>,
): boolean {
  const mapping = kindMappingOf(services.mapping, record.kind);
  const writable: ReadonlySet<string> | undefined = mapping?.readOnly === false ? mapping.writable : undefined;
  const stored: Record<string, unknown> = { ...record };
  const isDifferent = (name: string) => sent[name] !== undefined && fields[name] !== stored[name];
  if ([...OWN_FIELDS[record.kind], 'author'].some((name) => writable?.has(name) !== false && isDifferent(name)))
    return true;
  if (fields.image && fields.image !== record.image) return true;
  const customFields = Object.entries((fields.customFields as LinkedRecord['customFields']) ?? {});
  if (customFields.some(([name, value]) => (value || '') !== (record.customFields?.[name] || ''))) return true;
  const description = String(fields.description ?? '');
  if (description !== '' && comparableText(description) !== comparableText(record.description)) return true;
  const date = fields.date ?? (fields.dateUtc && utcToWall(String(fields.dateUtc), zoneOf(services)));
  if (date !== undefined && writable?.has('date') && date !== record.date) return true;
  if (sent.status === undefined || !writable?.has('status')) return false;
  // With a date in the future the CMS stores `future`. What a contributor publishes becomes `pending`.
  const scheduled = date !== undefined && fields.status === 'publish' ? ['future'] : [];
  // No record in the trash is used again.
  return sent.status === 'trash' || ![sent.status, fields.status, ...scheduled].includes(record.status);
}
