// The use cases of events: list, read, create, update and delete.

import { ApiError } from '../errors.ts';
import { invalidParam } from '../interface/errors.ts';
import type { Input } from '../interface/parameter.ts';
import type { JsonObject } from '../model/json.ts';
import { type EventFields, type EventRecord, type LinkedKind, PLURALS } from '../model/records.ts';
import { type DateParameter, dateWindow, instantBound, zoneOf } from './dates.ts';
import { createEventFields } from './event-fields.ts';
import { eventFilter, eventLinks } from './event-list.ts';
import type { LinkedRecords } from './linked-records.ts';
import { extraRequests, listAccess, listResponse, requestedPage } from './list-response.ts';
import { exceedsPublic, isPublicOnly, visibilitiesFor } from './permissions.ts';
import { readPost } from './read-post.ts';
import { findRendered, renderRecord, singleResponse } from './rendered-records.ts';
import type { ApiResponse, RequestContext, Rollback } from './request-context.ts';
import { createRollback } from './rollback.ts';
import type { Audience } from './serializer.ts';
import type { Services } from './services.ts';
import {
  authorizeWrite,
  checkWrite,
  createPost,
  type PostTarget,
  readCreated,
  readEditable,
  readForUpdate,
  trashCreated,
  trashPost,
  updatePost,
} from './write-post.ts';

/** Venues of a filter, which `geoloc` finds by the thousand, that cost about as much as one request. */
const VENUES_PER_REQUEST = 200;

export type Events = ReturnType<typeof createEvents>;

/**
 * Each use case throws `ApiError` and `CmsUnavailable`. `linkedRecords` creates the venues and organizers in
 * an event's body.
 */
export function createEvents(services: Services, linkedRecords: Record<LinkedKind, LinkedRecords>) {
  const { serializer, replica } = services;
  const { fieldsOf, combinesTimes } = createEventFields(services, linkedRecords);
  const serializeEntry = (record: EventRecord, audience: Audience): JsonObject => serializer.event(record, audience);
  const serializeSingle = (record: EventRecord, audience: Audience): JsonObject =>
    serializer.event(record, audience, { single: true });
  const postTarget = ({ parameterOf }: Input): PostTarget<'event'> => ({
    kind: 'event',
    parameterOf: (field) => parameterOf[field],
  });

  const audienceOf = async (request: RequestContext): Promise<Audience> => ({
    baseUrl: request.baseUrl,
    visibilities: await visibilitiesFor(services, request),
  });

  /** The events of one page of a list, whose size `lists` limits. */
  async function find(input: Input, request: RequestContext, lists = services.lists) {
    const { values, sent } = input;
    const { baseUrl } = request;
    const access = await listAccess(services, ['event', 'venue', 'organizer'], input, request);
    const page = requestedPage(values, lists);
    // `include` switches the date filters off.
    const hasDates = values.include === undefined;
    const { bounds, effective, ...window } = dateWindow(
      hasDates ? (values as Partial<Record<DateParameter, string>>) : {},
      {
        strict: values.strict_dates === true,
        nowMs: services.nowMs(),
        zone: zoneOf(services),
        withDefaults: hasDates,
      },
    );
    const modifiedAfter = instantBound('modified_after', values.modified_after, services.nowMs());
    const filter = eventFilter(services, values, access.visibilities);
    const { visibility } = access;
    const { limit, offset } = page;
    const listed = () =>
      replica.listEvents({ ...filter, modifiedAfter: modifiedAfter.utc, visibility, bounds, limit, offset });
    const password = exceedsPublic(access.visibilities.event) ? sent.password : undefined;
    const unlocking = typeof password === 'string' && password !== '';
    const serialize = unlocking ? await unlockingSerializer(listed().ids, password, request) : serializeEntry;
    // Only now: while the CMS checked the password, an event may have become one that the actor may not see.
    const { ids, total } = listed();
    const links = eventLinks(input, { status: access.status, effective, page, total, baseUrl });
    const validUntilMs = Math.min(window.validUntilMs, modifiedAfter.validUntilMs);
    const cost = { extraRequests: extraRequests((filter.venues ?? filter.notVenues ?? []).length, VENUES_PER_REQUEST) };
    const name = PLURALS.event;
    const listPage = { kind: 'event', name, ids, total, page, links, serialize, validUntilMs, ...cost } as const;
    return { listPage, access };
  }

  async function list(input: Input, request: RequestContext): Promise<ApiResponse> {
    return listResponse<'event'>(services, () => find(input, request), request.baseUrl);
  }

  /**
   * Staff who send a password with a list see the events with this password in full. Other protected events
   * are blanked.
   */
  async function unlockingSerializer(
    ids: number[],
    password: string,
    request: RequestContext,
  ): Promise<typeof serializeEntry> {
    const unlocked = new Map<number, EventRecord>();
    for (const event of replica.getMany('event', ids).values()) {
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
    const audience = await audienceOf(request);
    const isPlain = isPublicOnly(audience.visibilities) && !password;
    const rendered = isPlain ? findRendered(services, 'event', id, audience, 'single') : undefined;
    if (rendered) return singleResponse(rendered);
    const { record, unlocked } = await readPost(services, 'event', id, request, { password, editing });
    // Only the replica's record is rendered for all actors: the CMS may have shown this actor more in
    // `record`.
    const shared = isPlain ? replica.get('event', id) : undefined;
    if (shared?.status === 'publish' && !shared.protected) {
      return singleResponse(renderRecord<'event'>(services, shared, audience, 'single', serializeSingle));
    }
    return { status: 200, body: serializer.event(record, audience, { single: true, unlocked }) };
  }

  /**
   * As in The Events Calendar, which saves a sticky event twice, its `modified` is now; that of others is the
   * sent publication date.
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
    find,
    list,
    read,
    async create(input: Input, request: RequestContext): Promise<ApiResponse> {
      const { mayPublish } = await authorizeWrite(services, 'event', request);
      assertNotBlank(input);
      // Before the write, so that nothing can fail between the write and its response.
      const audience = await audienceOf(request);
      const rollback = createRollback(services, request);
      const record = await rollback.run(async () => {
        const check = async (fields: Partial<EventFields>) =>
          void (await checkWrite(services, postTarget(input), undefined, fields, request));
        const fields = await fieldsOf(input, undefined, { request, mayPublish, isCreate: true, rollback, check });
        const created = await createAndTouch(fields, input, request, rollback);
        if (input.fields.status !== 'trash') return created;
        const slug = String(fields.slug ?? fields.title);
        return trashCreated(services, postTarget(input), created, slug, request, rollback);
      });
      return { status: 201, body: serializer.event(record, audience, { unlocked: true }) };
    },
    /** The response to a repeated `create` of an event, as far as the actor may see it now. */
    async created(id: number, request: RequestContext): Promise<ApiResponse> {
      const { record, unlocked } = await readCreated(services, 'event', id, request);
      return { status: 201, body: serializer.event(record, await audienceOf(request), { unlocked }) };
    },
    async update(id: number, input: Input, request: RequestContext): Promise<ApiResponse> {
      const { mayPublish } = await authorizeWrite(services, 'event', request);
      const stored = await readEditable(services, 'event', id, request);
      assertNotBlank(input);
      const audience = await audienceOf(request);
      const rollback = createRollback(services, request);
      const record = await rollback.run(async () => {
        // The replica may be older than the CMS.
        const current = combinesTimes(input) ? await readForUpdate(services, 'event', id, request) : undefined;
        let cmsRecord = current?.cmsRecord;
        const check = async (fields: Partial<EventFields>) => {
          if (Object.keys(fields).length > 0)
            cmsRecord = (await checkWrite(services, postTarget(input), id, fields, request, cmsRecord)) ?? cmsRecord;
        };
        const context = { request, mayPublish, isCreate: false, rollback, check };
        const fields = await fieldsOf(input, current?.record ?? stored, context);
        const hasChanges = Object.keys(fields).length > 0;
        const updated = hasChanges
          ? await updatePost(services, postTarget(input), id, fields, request, cmsRecord)
          : stored;
        return input.fields.status === 'trash' && updated.status !== 'trash'
          ? trashPost(services, 'event', updated, request)
          : updated;
      });
      return { status: 200, body: serializer.event(record, audience, { unlocked: true }) };
    },
    async remove(id: number, _input: Input, request: RequestContext): Promise<ApiResponse> {
      const record = await readEditable(services, 'event', id, request);
      const audience = await audienceOf(request);
      const rollback = createRollback(services, request);
      const trashed = await rollback.run(() => trashPost(services, 'event', record, request));
      return { status: 200, body: serializer.event(trashed, audience, { unlocked: true }) };
    },
  };
}
