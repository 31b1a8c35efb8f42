// What the operations on events mean: lists out of the copy, single reads, and writes with their linked records, terms and images.

import { GatewayError } from '../errors.ts';
import type { EventFields, EventRecord, LinkedKind } from '../records.ts';
import type { Answer, Asked, Input, Rollback } from './asked.ts';
import { attachLinked, attachTerms } from './attach.ts';
import { type Backing, zoneOf } from './backing.ts';
import { visibilitiesFor } from './capabilities.ts';
import { encodeCost, normaliseCost } from './cost.ts';
import { type DateParameter, dateWindow, eventTimes, utcOf } from './dates.ts';
import { eventFilter, eventLinks } from './event-list.ts';
import type { Linked } from './linked.ts';
import { listAnswer, viewing } from './listing.ts';
import { pageOf } from './paging.ts';
import { imageField, postFields } from './post-fields.ts';
import { readPost } from './posts.ts';
import type { Audience, Json } from './present.ts';
import { kept, ready, singleAnswer } from './ready.ts';
import { invalidParam } from './refusals.ts';
import { createRollback } from './rollback.ts';
import { isPublicOnly, seesMore } from './visibility.ts';
import {
  createPost,
  editable,
  mayWrite,
  readCreated,
  readForUpdate,
  trashNew,
  trashPost,
  updatePost,
  type Writer,
} from './writes.ts';

const FLAGS = ['showMap', 'showMapLink', 'hidden', 'sticky', 'featured'] as const;
const TIMES = ['start', 'end', 'timezone', 'allDay'] as const;

export type Events = ReturnType<typeof createEvents>;

/**
 * What the routes of events do (interface-behaviour 2 to 6). `linked` makes the venues and organizers that an event's body describes.
 * Each operation throws `GatewayError` with the interface's refusal, and `UpstreamAway`; a write that fails takes back what it made on its way.
 */
export function createEvents(backing: Backing, linked: Record<LinkedKind, Linked>) {
  const { present } = backing;
  const entry = (record: EventRecord, audience: Audience): Json => present.event(record, audience);
  const single = (record: EventRecord, audience: Audience): Json => present.event(record, audience, { single: true });
  const writer = ({ parameterOf }: Input): Writer<'event'> => ({
    kind: 'event',
    parameterOf: (field) => parameterOf[field],
  });

  const audienceOf = async (asked: Asked): Promise<Audience> => ({
    base: asked.base,
    visibility: await visibilitiesFor(backing, asked),
  });

  async function list(input: Input, asked: Asked): Promise<Answer> {
    const { values } = input;
    const viewer = await viewing(backing, ['event', 'venue', 'organizer'], input, asked);
    const page = pageOf(values, backing.lists);
    const window = dateWindow(values.include === undefined ? (values as Partial<Record<DateParameter, string>>) : {}, {
      strict: values.strict_dates === true,
      nowMs: backing.nowMs(),
      zone: zoneOf(backing),
      withDefaults: values.include === undefined,
    });
    const { ids, total } = backing.replica.events({
      ...eventFilter(backing, values, viewer.whole),
      visibility: viewer.visibility,
      bounds: window.bounds,
      ...page,
    });
    const links = eventLinks(input, { status: viewer.status, shown: window.shown, page, total, base: asked.base });
    const listed = {
      kind: 'event' as const,
      name: 'events',
      ids,
      total,
      page,
      links,
      show: await showing(ids, seesMore(viewer.whole.event) ? input.sent.password : undefined, asked),
      validUntilMs: window.validUntilMs,
    };
    return listAnswer(backing, listed, viewer, asked.base);
  }

  /** Staff who send a password with a list see in full what it opens (3.4); everybody else sees protected events blanked. */
  async function showing(ids: number[], password: unknown, asked: Asked): Promise<typeof entry> {
    if (typeof password !== 'string' || password === '') return entry;
    const open = new Map<number, EventRecord>();
    for (const { id, protected: locked } of backing.replica.getMany('event', ids).values()) {
      if (!locked) continue;
      const opened = await readPost(backing, 'event', id, asked, { password }).catch((error: unknown) => {
        if (error instanceof GatewayError) return undefined;
        throw error;
      });
      if (opened) open.set(id, opened.record);
    }
    return (record, audience) =>
      present.event(open.get(record.id) ?? record, audience, { unlocked: open.has(record.id) });
  }

  async function read(id: number, input: Input, asked: Asked): Promise<Answer> {
    const how = {
      password: (input.values.password ?? input.sent.password) as string | undefined,
      editing: input.sent.context === 'edit',
    };
    const audience = await audienceOf(asked);
    const plain = isPublicOnly(audience.visibility) && !how.password;
    const done = plain ? kept(backing, 'event', id, audience, 'single') : undefined;
    if (done) return singleAnswer(done);
    const { record, unlocked } = await readPost(backing, 'event', id, asked, how);
    // What is kept for everybody is what the replica has: the CMS may have rendered `record` for this caller.
    const shared = plain ? backing.replica.get('event', id) : undefined;
    if (shared?.status === 'publish' && !shared.protected) {
      return singleAnswer(ready<'event'>(backing, shared, audience, 'single', single));
    }
    return { status: 200, body: present.event(record, audience, { single: true, unlocked }) };
  }

  /** The fields that a body sets, with what it names resolved or created. `before` is absent on create. */
  async function fieldsOf(
    input: Input,
    before: EventRecord | undefined,
    how: { asked: Asked; publisher: boolean; rollback: Rollback },
  ): Promise<Partial<EventFields>> {
    const sent = input.fields;
    const { asked, rollback } = how;
    const fields: Partial<EventFields> = await postFields(backing, 'event', input, { ...how, creating: !before });
    Object.assign(fields, timesOf(sent, before));
    for (const flag of FLAGS) if (sent[flag] !== undefined) fields[flag] = sent[flag] === true;
    if (sent.cost !== undefined) fields.cost = encodeCost(normaliseCost(sent.cost));
    // Of an event that never had one, `"0"` says nothing either (interface-behaviour 1.1).
    const hasWebsite = before ? sent.website !== undefined : sent.website && sent.website !== '0';
    if (hasWebsite) fields.website = String(sent.website ?? '');
    const attached = (value: unknown): unknown[] | undefined =>
      value === undefined || value === null ? undefined : (value as unknown[]);
    const categories = attached(sent.categories);
    const tags = attached(sent.tags);
    if (categories) fields.categories = await attachTerms(backing, 'category', categories, asked, rollback);
    if (tags) fields.tags = await attachTerms(backing, 'tag', tags, asked, rollback);
    if (sent.venues !== undefined)
      fields.venues = await attachLinked(backing, 'venue', linked, attached(sent.venues) ?? [], asked, rollback);
    if (sent.organizers !== undefined)
      fields.organizers = await attachLinked(
        backing,
        'organizer',
        linked,
        attached(sent.organizers) ?? [],
        asked,
        rollback,
      );
    Object.assign(fields, await imageField(input, asked, rollback));
    return fields;
  }

  /** Start, end and zone when any of them was sent; on update only what is not as before. */
  function timesOf(sent: Record<string, unknown>, before: EventRecord | undefined): Partial<EventFields> {
    if (before && TIMES.every((name) => sent[name] === undefined)) return {};
    const zone = zoneOf(backing);
    const { timezone: zoneName } = backing.site();
    const times = eventTimes(sent, before, { zone, zoneName, nowMs: backing.nowMs() });
    const utc = { startUtc: utcOf(times.start, times.timezone, zone), endUtc: utcOf(times.end, times.timezone, zone) };
    if (!before) return { ...times, ...utc };
    const changed: Partial<EventFields> = Object.fromEntries(
      TIMES.filter((name) => sent[name] !== undefined || times[name] !== before[name]).map((name) => [
        name,
        times[name],
      ]),
    );
    // The UTC of a side goes with that side, and both with the zone that they are computed in.
    const isRezoned = changed.timezone !== undefined;
    if (isRezoned || changed.start !== undefined) changed.startUtc = utc.startUtc;
    if (isRezoned || changed.end !== undefined) changed.endUtc = utc.endUtc;
    return changed;
  }

  /** Whether an update combines times that were sent with stored ones, which must not come from a replica that is behind. */
  const combinesTimes = ({ fields: sent }: Input): boolean =>
    TIMES.some((name) => sent[name] !== undefined) && TIMES.some((name) => sent[name] === undefined);

  /** A sticky event is saved twice by the original: its `modified` is now, where that of others is the publication date that was sent. */
  async function createAndTouch(
    fields: Partial<EventFields>,
    input: Input,
    asked: Asked,
    rollback: Rollback,
  ): Promise<EventRecord> {
    const created = await createPost(backing, writer(input), fields, asked, rollback);
    if (!fields.sticky || (fields.date ?? fields.dateUtc) === undefined) return created;
    rollback.assertOwn('event', created.id);
    const touched = await updatePost(backing, writer(input), created.id, { sticky: true }, asked);
    rollback.created('event', touched.id, touched);
    return touched;
  }

  /** Blank all over is no event. The original's own check comes from WordPress, and only after records on the way were made. */
  function refuseBlank({ fields }: Input): void {
    const blank = (value: unknown) => value === undefined || String(value).trim() === '';
    if (fields.title !== undefined && blank(fields.title) && blank(fields.description) && blank(fields.excerpt))
      throw invalidParam('title');
  }

  return {
    list,
    read,
    async create(input: Input, asked: Asked): Promise<Answer> {
      const { publisher } = await mayWrite(backing, 'event', asked);
      refuseBlank(input);
      // Looked up before the write, so that nothing can fail between the write and its answer.
      const audience = await audienceOf(asked);
      const rollback = createRollback(backing, asked);
      const record = await rollback.guard(async () => {
        const fields = await fieldsOf(input, undefined, { asked, publisher, rollback });
        const created = await createAndTouch(fields, input, asked, rollback);
        if (input.fields.status !== 'trash') return created;
        const slug = String(fields.slug ?? fields.title);
        return trashNew(backing, writer(input), created, slug, asked, rollback);
      });
      return { status: 201, body: present.event(record, audience, { unlocked: true }) };
    },
    /** What `create` answers, for an event that was created before: as much of it as the actor may see now. */
    async created(id: number, asked: Asked): Promise<Answer> {
      const { record, unlocked } = await readCreated(backing, 'event', id, asked);
      return { status: 201, body: present.event(record, await audienceOf(asked), { unlocked }) };
    },
    async update(id: number, input: Input, asked: Asked): Promise<Answer> {
      const { publisher } = await mayWrite(backing, 'event', asked);
      const before = await editable(backing, 'event', id, asked);
      refuseBlank(input);
      const audience = await audienceOf(asked);
      const rollback = createRollback(backing, asked);
      const record = await rollback.guard(async () => {
        const now = combinesTimes(input) ? await readForUpdate(backing, 'event', id, asked) : undefined;
        const fields = await fieldsOf(input, now?.record ?? before, { asked, publisher, rollback });
        const changed =
          Object.keys(fields).length > 0
            ? await updatePost(backing, writer(input), id, fields, asked, now?.native)
            : before;
        return input.fields.status === 'trash' && changed.status !== 'trash'
          ? trashPost(backing, 'event', changed, asked)
          : changed;
      });
      return { status: 200, body: present.event(record, audience, { unlocked: true }) };
    },
    async remove(id: number, _input: Input, asked: Asked): Promise<Answer> {
      const record = await editable(backing, 'event', id, asked);
      const audience = await audienceOf(asked);
      const rollback = createRollback(backing, asked);
      const trashed = await rollback.guard(() => trashPost(backing, 'event', record, asked));
      return { status: 200, body: present.event(trashed, audience, { unlocked: true }) };
    },
  };
}
