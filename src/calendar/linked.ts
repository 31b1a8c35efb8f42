// Venues and organizers: one code, configured twice. Lists, single reads and writes, and creating one from the data in an event's body.

import { GatewayError } from '../errors.ts';
import type { LinkedKind, LinkedRecord, OrganizerFields, RecordOf, VenueFields } from '../records.ts';
import { PUBLIC, PUBLIC_ONLY } from '../replica/filters.ts';
import { withoutScripts } from '../text/html.ts';
import { formatWall } from '../time/wall.ts';
import type { Answer, Asked, Input, Rollback } from './asked.ts';
import type { Backing } from './backing.ts';
import { capabilityNames } from './capabilities.ts';
import { listAnswer, viewing } from './listing.ts';
import { type Echo, links, pageOf } from './paging.ts';
import { plainText } from './plain-text.ts';
import { imageField, postFields } from './post-fields.ts';
import { readPost } from './posts.ts';
import type { Audience, Json } from './present.ts';
import { kept, ready, singleAnswer } from './ready.ts';
import { couldNotCreate } from './refusals.ts';
import { createRollback } from './rollback.ts';
import { linkedSearchWords } from './search.ts';
import { shows, visibilityOf } from './visibility.ts';
import { createPost, editable, mayWrite, readCreated, trashNew, trashPost, updatePost, type Writer } from './writes.ts';

const COLLECTION = { venue: 'venues', organizer: 'organizers' } as const;
const TEXTS = {
  venue: ['address', 'city', 'country', 'province', 'state', 'zip', 'phone', 'website', 'showMap', 'showMapLink'],
  organizer: ['phone', 'website', 'email'],
} as const satisfies { venue: readonly (keyof VenueFields)[]; organizer: readonly (keyof OrganizerFields)[] };

/** Longer names and descriptions, in characters, never count as equal to those of a new record. */
const MAX_COMPARED = 400_000;

export type Linked = ReturnType<typeof createLinked>;

/**
 * What the routes of one of the two kinds do (interface-behaviour 3.5, 4, 5.7, 6). `make` creates one from an event's body as well, or
 * answers its twin. All throw `GatewayError` with the interface's refusal, and `UpstreamAway`.
 */
export function createLinked(backing: Backing, kind: LinkedKind) {
  const { present } = backing;
  const entry = (record: LinkedRecord): Json => present.linked(record);
  const single = (record: LinkedRecord): Json => present.linked(record, { single: true });
  const writer = ({ parameterOf }: Input): Writer<LinkedKind> => ({ kind, parameterOf: (field) => parameterOf[field] });

  async function list(input: Input, asked: Asked): Promise<Answer> {
    const { values, sent } = input;
    const viewer = await viewing(backing, [kind, 'event'], input, asked);
    const page = pageOf(values, backing.lists);
    const upcoming = values.only_with_upcoming === true;
    const { ids, total } = backing.replica.linked(kind, {
      visibility: viewer.visibility,
      events: viewer.events,
      limit: page.limit,
      offset: page.offset,
      ...(values.search === undefined ? {} : { words: linkedSearchWords(String(values.search)) }),
      ...(values.event === undefined ? {} : { event: Number(values.event) }),
      ...(values.has_events === undefined ? {} : { hasEvents: values.has_events === true }),
      ...(upcoming ? { upcomingFromUtc: formatWall(backing.nowMs()) } : {}),
    });
    const echoes: Echo[] = [
      { name: 'page', value: String(page.page) },
      { name: 'per_page', value: String(page.perPage) },
      ...['event', 'has_events'].filter((name) => name in sent).map((name) => ({ name, value: String(sent[name]) })),
      { name: 'status', value: viewer.status },
      ...['search', 'only_with_upcoming']
        .filter((name) => name in sent)
        .map((name) => ({ name, value: String(sent[name]) })),
    ];
    const address = `${asked.base}/${COLLECTION[kind]}/`;
    const validUntilMs = upcoming ? backing.nowMs() + 1000 : Number.POSITIVE_INFINITY;
    const listed = { kind, name: COLLECTION[kind], ids, total, page, show: entry, validUntilMs };
    return listAnswer(backing, { ...listed, links: links(address, echoes, { ...page, total }) }, viewer, asked.base);
  }

  async function read(id: number, input: Input, asked: Asked): Promise<Answer> {
    const how = { password: input.sent.password as string | undefined, editing: input.sent.context === 'edit' };
    // Nothing is shown inside a venue or organizer.
    const audience: Audience = { base: asked.base, visibility: PUBLIC_ONLY };
    const plain = !how.password && !how.editing;
    const done = plain ? kept(backing, kind, id, audience, 'single') : undefined;
    if (done) return singleAnswer(done);
    const { record, unlocked } = await readPost(backing, kind, id, asked, how);
    // What is kept for everybody is what the replica has: the CMS may have rendered `record` for this caller.
    const shared = plain ? backing.replica.get(kind, id) : undefined;
    if (shared?.status === 'publish') {
      return singleAnswer(ready<LinkedKind>(backing, shared, audience, 'single', single));
    }
    return { status: 200, body: present.linked(record, { single: true, unlocked }) };
  }

  /** The fields of a body; `stateprovince` is found from the others unless it is sent (interface-behaviour 1.2). */
  async function fieldsOf(
    input: Input,
    how: Parameters<typeof postFields>[3] & { rollback: Rollback },
  ): Promise<Partial<VenueFields & OrganizerFields>> {
    const fields: Record<string, unknown> = await postFields(backing, kind, input, how);
    for (const name of TEXTS[kind]) {
      const value = input.fields[name];
      if (value !== undefined) fields[name] = typeof value === 'string' ? cleaned(value) : value;
    }
    if (kind === 'venue') {
      const sent = cleaned(String(input.fields.stateprovince ?? ''));
      const found = stateProvince(fields);
      const touched = ['country', 'province', 'state', 'stateprovince'].some(
        (name) => input.fields[name] !== undefined,
      );
      if (touched) fields.stateprovince = sent || found;
    }
    Object.assign(fields, await imageField(input, how.asked, how.rollback));
    return fields;
  }

  async function make(input: Input, asked: Asked, rollback: Rollback): Promise<RecordOf[LinkedKind]> {
    const { publisher } = await mayWrite(backing, kind, asked);
    const title = String(input.fields.title ?? '');
    if (title.trim() === '') throw couldNotCreate(kind);
    const fields = await fieldsOf(input, { asked, publisher, creating: true, rollback });
    const twin = await findTwin(title, fields, asked);
    if (twin && (await rollback.use(kind, twin.id))) return twin;
    const record = await createPost(backing, writer(input), fields, asked, rollback);
    return input.fields.status === 'trash'
      ? trashNew(backing, writer(input), record, record.slug, asked, rollback)
      : record;
  }

  /**
   * A record with the same name that differs in nothing from what was sent: the gateway answers with it instead of creating one. Never a protected one:
   * guesses would show what its password hides.
   */
  async function findTwin(
    title: string,
    fields: Record<string, unknown>,
    asked: Asked,
  ): Promise<RecordOf[LinkedKind] | undefined> {
    const name = plainText(title);
    const word = (name.match(/[\p{L}\p{N}]+/gu) ?? []).sort((a, b) => b.length - a.length)[0];
    if (!word) return undefined;
    const names = await capabilityNames(backing, kind, asked.caller);
    const visibility = visibilityOf(asked.caller, names);
    const { ids } = backing.replica.linked(kind, {
      visibility,
      events: PUBLIC,
      words: [{ text: word, not: false }],
      limit: 200,
      offset: 0,
    });
    let left = MAX_COMPARED;
    for (const id of ids.toSorted((a, b) => a - b)) {
      const record = backing.replica.get(kind, id);
      if (!record) continue;
      left -= record.title.length + record.description.length;
      if (left < 0) return undefined;
      if (
        shows(visibility, record) &&
        !record.protected &&
        plainText(record.title) === name &&
        !differs(record, fields)
      )
        return record;
    }
    return undefined;
  }

  function differs(record: LinkedRecord, fields: Record<string, unknown>): boolean {
    if (fields.image && fields.image !== record.image) return true;
    const stored = record as unknown as Record<string, unknown>;
    if (TEXTS[kind].some((name) => fields[name] !== undefined && fields[name] !== stored[name])) return true;
    const description = String(fields.description ?? '');
    return description !== '' && plainText(description) !== plainText(record.description);
  }

  return {
    list,
    read,
    make,
    async create(input: Input, asked: Asked): Promise<Answer> {
      await mayWrite(backing, kind, asked);
      const rollback = createRollback(backing, asked);
      const record = await rollback.guard(() => make(input, asked, rollback));
      return { status: 201, body: present.linked(record, { unlocked: true }) };
    },
    /** What `create` answers, for a record that was created before: as much of it as the actor may see now. */
    async created(id: number, asked: Asked): Promise<Answer> {
      const { record, unlocked } = await readCreated(backing, kind, id, asked);
      return { status: 201, body: present.linked(record, { unlocked }) };
    },
    async update(id: number, input: Input, asked: Asked): Promise<Answer> {
      const before = await editable(backing, kind, id, asked);
      const { publisher } = await mayWrite(backing, kind, asked);
      const title = input.fields.title;
      if (typeof title === 'string' && title.trim() === '') throw couldNotCreate(kind);
      const rollback = createRollback(backing, asked);
      const record = await rollback.guard(async () => {
        const fields = await fieldsOf(input, { asked, publisher, creating: false, rollback });
        // An empty description is no change, as in the original (5.7).
        if (fields.description === '') delete fields.description;
        const changed =
          Object.keys(fields).length > 0 ? await updatePost(backing, writer(input), id, fields, asked) : before;
        return input.fields.status === 'trash' && changed.status !== 'trash'
          ? trashPost(backing, kind, changed, asked)
          : changed;
      });
      return { status: 200, body: present.linked(record, { unlocked: true }) };
    },
    async remove(id: number, _input: Input, asked: Asked): Promise<Answer> {
      const record = await editable(backing, kind, id, asked);
      const rollback = createRollback(backing, asked);
      const trashed = await rollback.guard(() => trashPost(backing, kind, record, asked));
      return { status: 200, body: present.linked(trashed) };
    },
  };
}

/** State for an address in the United States or without a country, else the province (1.2). */
function stateProvince(fields: Record<string, unknown>): string {
  const { country = '', state = '', province = '' } = fields as Record<string, string>;
  const american = country === '' || country === 'US' || country === 'United States';
  return american ? state || province : province;
}

/** Plain text fields are cleaned as they are saved: no tags, no runs of blanks (1.7). */
function cleaned(text: string): string {
  return withoutScripts(text)
    .replace(/<\/?[a-z!][^<>]*>/gi, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** What an event's writer is told when its venue or organizer could not be made: wrong data by one word for all of it (5.6), the rest as it is. */
export const failedLink = (kind: LinkedKind, error: unknown): unknown =>
  error instanceof GatewayError && error.status === 400 && error.code === 'rest_invalid_param'
    ? couldNotCreate(kind, error)
    : error;
