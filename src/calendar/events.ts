// The use cases of events: list, read, create, update and delete, and the record fields that their bodies set.

import { ApiError } from '../errors.ts';
import { invalidParam } from '../interface/errors.ts';
import { copiedFields } from '../interface/fields.ts';
import type { Input } from '../interface/parameter.ts';
import type { JsonObject } from '../model/json.ts';
import type { EventFields, EventRecord, LinkedKind } from '../model/records.ts';
import { listEvents } from '../store/list-events.ts';
import { getRecord, getRecords } from '../store/records.ts';
import { type Cost, decodeCost, encodeCost } from '../text/cost.ts';
import { escapeHtmlOnce } from '../text/html.ts';
import { normalizeCost, numericCost, serializeCost } from './cost.ts';
import { type DateParameter, dateWindow, eventTimes, instantBound, zoneOf } from './dates.ts';
import { eventFilter, eventPageLinks } from './event-list.ts';
import type { LinkedRecords } from './linked-records.ts';
import {
  extraRequests,
  type ListAccess,
  listResponse,
  type PageSizes,
  requestedPage,
  withAccess,
} from './list-response.ts';
import { readPost } from './read-post.ts';
import { findRendered, renderRecord, singleResponse } from './rendered-records.ts';
import type { ApiResponse, RequestContext, Rollback } from './request-context.ts';
import { type ResolvedReferences, resolveLinked, resolveTerms } from './resolve-references.ts';
import { createRollback } from './rollback.ts';
import { type Audience, shownIn } from './serializer.ts';
import type { Services } from './services.ts';
import { seesUnpublished, shownWith } from './shown-records.ts';
import {
  authorizeWrite,
  checkWrite,
  createPost,
  editableRecord,
  type FieldsContext,
  imageField,
  type PostTarget,
  postFields,
  readCreated,
  trashCreated,
  trashPost,
  updatePost,
  withPlaceholderImage,
} from './write-post.ts';

/** Filtering by this many venues costs about as much as one request; `geoloc` may find thousands. */
const VENUES_PER_REQUEST = 200;

export type Events = ReturnType<typeof createEvents>;

/**
 * Each use case throws `ApiError` and `CmsUnavailable`. `linkedRecords` creates the venues and organizers in
 * an event's body.
 */
export function createEvents(services: Services, linkedRecords: Record<LinkedKind, LinkedRecords>) {
  const { serializer, replica } = services;
  const { fieldsOf } = createEventFields(services, linkedRecords);
  const serializeItem = (record: EventRecord, audience: Audience): JsonObject => serializer.event(record, audience);
  const serializeSingle = (record: EventRecord, audience: Audience): JsonObject =>
    serializer.event(record, audience, { single: true });
  const postTarget = ({ parameterOf }: Input): PostTarget<'event'> => ({ kind: 'event', parameterOf });

  const audienceOf = async (record: EventRecord, request: RequestContext): Promise<Audience> => ({
    baseUrl: request.baseUrl,
    shown: await shownWith(services, record, request),
  });

  /** The JSON of a record that the actor has written, or that they may read. */
  async function serialized(record: EventRecord, request: RequestContext, unlocked: boolean): Promise<JsonObject> {
    return serializer.event(record, await audienceOf(record, request), { unlocked });
  }

  const withEvents = <T>(input: Input, request: RequestContext, use: (access: ListAccess) => Promise<T>): Promise<T> =>
    withAccess(services, ['event', 'venue', 'organizer'], input, request, use);

  /** The events of one page of a list, whose size `pageSizes` limits. */
  async function find(
    input: Input,
    request: RequestContext,
    access: ListAccess,
    pageSizes: PageSizes = services.lists,
  ) {
    const { values, sent } = input;
    const { baseUrl } = request;
    const page = requestedPage(values, pageSizes);
    // `include` switches the date filters off; the links keep them.
    const hasDates = values.include === undefined;
    const { effective, ...window } = dateWindow(values as Partial<Record<DateParameter, string>>, {
      strict: values.strict_dates === true,
      nowMs: services.nowMs(),
      zone: zoneOf(services),
      dayStarts: services.site().settings?.dayStarts,
      withDefaults: hasDates,
    });
    const bounds = hasDates ? window.bounds : [];
    const modifiedAfter = instantBound('modified_after', values.modified_after, services.nowMs());
    const { view, statuses } = access;
    const filter = eventFilter(services, values, view);
    const { limit, offset } = page;
    const listed = () =>
      listEvents(view, { ...filter, modifiedAfter: modifiedAfter.utc, statuses, bounds, limit, offset });
    const password = statuses === undefined ? undefined : sent.password;
    const unlocking = typeof password === 'string' && password !== '';
    const serialize = unlocking ? await unlockingSerializer(listed().ids, password, request) : serializeItem;
    if (!access.isPublic) await access.addImages(listed().ids);
    // Only now: while the CMS was asked, an event may have become one that the actor may not see.
    const { ids, total } = listed();
    const links = eventPageLinks(input, { status: access.status, effective, page, total, baseUrl });
    const validUntilMs = Math.min(window.validUntilMs, modifiedAfter.validUntilMs);
    const filteredVenues = filter.venues ?? filter.notVenues ?? [];
    const listPage = {
      kind: 'event',
      ids,
      total,
      page,
      links,
      serialize,
      validUntilMs,
      extraRequests: extraRequests(filteredVenues.length, VENUES_PER_REQUEST),
    } as const;
    return { listPage, access };
  }

  async function list(input: Input, request: RequestContext): Promise<ApiResponse> {
    return withEvents(input, request, (access) =>
      listResponse<'event'>(services, () => find(input, request, access), request),
    );
  }

  /**
   * Staff who send a password with a list see the events with this password in full. Other protected events
   * are blanked.
   */
  async function unlockingSerializer(
    ids: number[],
    password: string,
    request: RequestContext,
  ): Promise<typeof serializeItem> {
    const unlocked = new Map<number, EventRecord>();
    for (const event of getRecords(replica.db, 'event', ids).values()) {
      if (!event.protected) continue;
      try {
        unlocked.set(event.id, (await readPost(services, 'event', event.id, request, { password })).record);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
      }
    }
    return (record, audience) =>
      serializer.event(unlocked.get(record.id) ?? record, audience, { unlocked: unlocked.has(record.id) });
  }

  async function read(id: number, input: Input, request: RequestContext): Promise<ApiResponse> {
    const password = (input.values.password ?? input.sent.password) as string | undefined;
    const editing = input.sent.context === 'edit';
    const isPlain = !password && !(await seesUnpublished(services, ['event', 'venue', 'organizer'], request));
    const audience: Audience = { baseUrl: request.baseUrl, shown: shownIn(replica.db) };
    const rendered = isPlain ? findRendered(services, 'event', id, audience, 'single') : undefined;
    if (rendered) return singleResponse(rendered);
    const { record, unlocked } = await readPost(services, 'event', id, request, { password, editing });
    // Only the replica's record is rendered for all actors: the CMS may have shown this actor more in
    // `record`.
    const shared = isPlain ? getRecord(replica.db, 'event', id) : undefined;
    if (shared && !shared.protected) {
      return singleResponse(renderRecord<'event'>(services, shared, audience, 'single', serializeSingle));
    }
    const own = await audienceOf(record, request);
    return { status: 200, body: serializer.event(record, own, { single: true, unlocked }) };
  }

  /**
   * Creates the event. One that is sent with a publication date gets this date as `modified`, unless it is
   * sticky: The Events Calendar saves a sticky event a second time, which sets its `modified` to now. An
   * update after the create does the same here.
   */
  async function createAndTouch(
    fields: Partial<EventFields>,
    input: Input,
    request: RequestContext,
    rollback: Rollback,
  ): Promise<EventRecord> {
    const created = await createPost(services, postTarget(input), fields, request, rollback);
    if (!fields.sticky || (fields.date ?? fields.dateUtc) === undefined) return created;
    rollback.assertCreated('event', created.id);
    const touched = await updatePost(services, postTarget(input), created.id, { sticky: true }, request);
    rollback.created('event', touched.id, touched);
    return touched;
  }

  /**
   * An event without title, description and excerpt is invalid. WordPress would say so only after the linked
   * records are created.
   */
  function assertNotBlank({ fields }: Input): void {
    const isBlank = (value: unknown) => value === undefined || String(value).trim() === '';
    if (fields.title !== undefined && [fields.title, fields.description, fields.excerpt].every(isBlank))
      throw invalidParam('title');
  }

  return {
    withEvents,
    find,
    list,
    read,
    async create(input: Input, request: RequestContext): Promise<ApiResponse> {
      const { mayPublish } = await authorizeWrite(services, 'event', request);
      assertNotBlank(input);
      const rollback = createRollback(services, request);
      const body = await rollback.run(async () => {
        const check = async (fields: Partial<EventFields>) =>
          void (await checkWrite(services, postTarget(input), undefined, fields, request));
        const fields = await fieldsOf(input, undefined, { request, mayPublish, isCreate: true, rollback, check });
        const created = await createAndTouch(fields, input, request, rollback);
        const slug = String(fields.slug ?? fields.title);
        const isTrash = input.fields.status === 'trash';
        const record = isTrash
          ? await trashCreated(services, postTarget(input), created, slug, request, rollback)
          : created;
        return serialized(record, request, true);
      });
      return { status: 201, body };
    },
    /** The response to a repeated `create` of an event, as far as the actor may see it now. */
    async readForReplay(id: number, request: RequestContext): Promise<ApiResponse> {
      const { record, unlocked } = await readCreated(services, 'event', id, request);
      return { status: 201, body: await serialized(record, request, unlocked) };
    },
    async update(id: number, input: Input, request: RequestContext): Promise<ApiResponse> {
      const { mayPublish } = await authorizeWrite(services, 'event', request);
      const stored = await editableRecord(services, 'event', id, request);
      assertNotBlank(input);
      const rollback = createRollback(services, request);
      const record = await rollback.run(async () => {
        let { cmsRecord } = stored;
        const check = async (fields: Partial<EventFields>) => {
          if (Object.keys(fields).length > 0)
            cmsRecord = (await checkWrite(services, postTarget(input), id, fields, request, cmsRecord)) ?? cmsRecord;
        };
        const context = { request, mayPublish, isCreate: false, rollback, check };
        const fields = await fieldsOf(input, stored.record, context);
        const hasChanges = Object.keys(fields).length > 0;
        const updated = hasChanges
          ? await updatePost(services, postTarget(input), id, fields, request, cmsRecord)
          : stored.record;
        return input.fields.status === 'trash' && updated.status !== 'trash'
          ? trashPost(services, 'event', updated.id, request)
          : updated;
      });
      return { status: 200, body: await serialized(record, request, true) };
    },
    async delete(id: number, _input: Input, request: RequestContext): Promise<ApiResponse> {
      await authorizeWrite(services, 'event', request);
      const rollback = createRollback(services, request);
      const trashed = await rollback.run(() => trashPost(services, 'event', id, request));
      return { status: 200, body: await serialized(trashed, request, true) };
    },
  };
}

const COPIED_FIELDS = copiedFields('event').map(([, field]) => field);
const TERM_FIELDS = [
  ['categories', 'category'],
  ['tags', 'tag'],
] as const;
const LINKED_FIELDS = [
  ['venues', 'venue'],
  ['organizers', 'organizer'],
] as const;
type ReferenceField = (typeof TERM_FIELDS | typeof LINKED_FIELDS)[number][0];

interface EventFieldsContext extends FieldsContext {
  /** Throws what the write of these fields would throw before it. */
  check(fields: Partial<EventFields>): Promise<void>;
}

const TIMES = ['start', 'end', 'timezone', 'allDay'] as const;

function createEventFields(services: Services, linkedRecords: Record<LinkedKind, LinkedRecords>) {
  /** Resolves what the body refers to, checks all, and then creates what is missing. `stored` is absent on create. */
  async function fieldsOf(
    input: Input,
    stored: EventRecord | undefined,
    context: EventFieldsContext,
  ): Promise<Partial<EventFields>> {
    const sent = input.fields;
    const { request, rollback } = context;
    const fields: Partial<EventFields> = await postFields(services, 'event', input, context);
    Object.assign(fields, timesOf(sent, stored));
    Object.assign(fields, copiedOf(input, stored));
    const cost = normalizeCost(sent.cost);
    if (sent.cost !== undefined && !isShownCost(cost, stored)) {
      const isNumber = services.mapping.kinds.event.numeric.has('cost');
      fields.cost = encodeCost(isNumber ? numericCost(cost, services.cost, services.site().settings) : cost);
    }
    // A new event without a website may have `"0"` in the body, as in The Events Calendar.
    const hasWebsite = stored ? sent.website !== undefined : sent.website && sent.website !== '0';
    if (hasWebsite) fields.website = String(sent.website ?? '');
    const references: Partial<Record<ReferenceField, ResolvedReferences>> = {};
    for (const [field, kind] of TERM_FIELDS) {
      const items = sent[field] as unknown[] | null | undefined;
      if (items) references[field] = await resolveTerms(services, kind, items, request, rollback);
    }
    for (const [field, kind] of LINKED_FIELDS) {
      if (sent[field] === undefined) continue;
      const items = (sent[field] ?? []) as unknown[];
      references[field] = await resolveLinked(services, kind, linkedRecords, items, request, rollback);
    }
    await context.check({ ...withPlaceholderImage(fields, input), ...knownReferences(references) });
    for (const [field, { createMissing }] of Object.entries(references))
      Reflect.set(fields, field, await createMissing());
    Object.assign(fields, await imageField(input, context));
    return fields;
  }

  /** A client sends back what it read: `$5 – $10` does not replace a stored `5-10`. */
  function isShownCost(cost: Cost, stored: EventRecord | undefined): boolean {
    if (!stored || typeof cost !== 'string' || cost === '') return false;
    const shown = serializeCost(decodeCost(stored.cost), services.cost, services.site().settings);
    return escapeHtmlOnce(cost) === shown.fields.cost;
  }

  /**
   * The values that are stored as they were sent.
   * @throws ApiError 400 for a value that the original lacks, if the mapping cannot store it
   */
  function copiedOf({ fields: sent, parameterOf }: Input, stored: EventRecord | undefined): Partial<EventFields> {
    const { writable } = services.mapping.kinds.event;
    const values = COPIED_FIELDS.flatMap(({ key, type, empty, optional }) => {
      if (sent[key] === undefined) return [];
      const value = type === 'boolean' ? sent[key] === true : (sent[key] ?? empty);
      // A client may send back what a response has shown.
      const isKept = value === (stored ? Reflect.get(stored, key) : empty);
      if (optional && !isKept && !writable.has(key as keyof EventFields))
        throw invalidParam(parameterOf[key]!, 'This calendar cannot store it.');
      return [[key, value] as const];
    });
    return Object.fromEntries(values);
  }

  /**
   * The references as far as they can be checked: records that will be created have no id yet, and no entry
   * in a link table.
   */
  function knownReferences(references: Partial<Record<ReferenceField, ResolvedReferences>>): Partial<EventFields> {
    const { linkFields } = services.mapping.kinds.event;
    const known = Object.entries(references).flatMap(([field, { existing, newCount }]) => {
      if (newCount > 0 && linkFields.some((link) => link.field === field)) return [];
      const placeholders = Array.from({ length: newCount }, (_, n) => n + 1);
      return [[field, [...existing, ...placeholders]] as const];
    });
    return Object.fromEntries(known);
  }

  /** Returns start, end and zone if the body has any of them; an update returns only those that change. */
  function timesOf(sent: Record<string, unknown>, stored: EventRecord | undefined): Partial<EventFields> {
    if (stored && TIMES.every((name) => sent[name] === undefined)) return {};
    const zone = zoneOf(services);
    const { timezone: zoneName, settings } = services.site();
    const site = { zone, zoneName, dayStarts: settings?.dayStarts, nowMs: services.nowMs() };
    const times = eventTimes(sent, stored, site);
    if (!stored) return times;
    const changed = TIMES.filter((name) => sent[name] !== undefined || times[name] !== stored[name]);
    return Object.fromEntries(changed.map((name) => [name, times[name]]));
  }

  return { fieldsOf };
}
