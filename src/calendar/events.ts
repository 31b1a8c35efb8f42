// The use cases of events. Writes resolve what a body refers to (terms by id, slug or name;
// venues and organizers by id or data), check all, and then create what is missing.

import { CmsRejected } from '../errors.ts';
import { invalidParam } from '../interface/errors.ts';
import { copiedFields } from '../interface/fields.ts';
import { isEmpty } from '../interface/param-types.ts';
import type { Input } from '../interface/parameter.ts';
import { parseInline } from '../interface/validate.ts';
import type { JsonObject } from '../model/json.ts';
import type { EventFields, EventRecord, LinkedKind, TermKind } from '../model/records.ts';
import { getRecord } from '../store/records.ts';
import { type Cost, decodeCost, encodeCost } from '../text/cost.ts';
import { escapeHtmlOnce } from '../text/html.ts';
import { normalizeUnicode } from '../text/text.ts';
import { cmsToApiError } from './cms-errors.ts';
import { normalizeCost, numericCost, serializeCost } from './cost.ts';
import { eventTimes, zoneOf } from './dates.ts';
import { listEvents, readEvent } from './event-reads.ts';
import { ownTurn } from './limits.ts';
import { comparableText, type LinkedRecords, linkedCreateError } from './linked-records.ts';
import { shownWith } from './own-records.ts';
import { existingTermIds, findTermByText, NUMBER, termExists } from './read-post.ts';
import type { ApiResponse, RequestContext } from './request.ts';
import type { Services } from './services.ts';
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

export type Events = ReturnType<typeof createEvents>;

/**
 * Each use case throws `ApiError` and `CmsUnavailable`. `linkedRecords` creates the venues and organizers in
 * an event's body.
 */
export function createEvents(services: Services, linkedRecords: Record<LinkedKind, LinkedRecords>) {
  const { serializer } = services;
  const postTarget = ({ parameterOf }: Input): PostTarget<'event'> => ({ kind: 'event', parameterOf });

  /** The JSON of a record that the actor has written, or that they may read. */
  async function serialized(record: EventRecord, request: RequestContext, unlocked: boolean): Promise<JsonObject> {
    const audience = { baseUrl: request.baseUrl, shown: await shownWith(services, record, request) };
    return serializer.event(record, audience, { unlocked });
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
  ): Promise<EventRecord> {
    const created = await createPost(services, postTarget(input), fields, request);
    if (!fields.sticky || (fields.date ?? fields.dateUtc) === undefined) return created;
    return updatePost(services, postTarget(input), created.id, { sticky: true }, request);
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
    list: (input: Input, request: RequestContext) => listEvents(services, input, request),
    read: (id: number, input: Input, request: RequestContext) => readEvent(services, id, input, request),
    async create(input: Input, request: RequestContext): Promise<ApiResponse> {
      const { mayPublish } = await authorizeWrite(services, 'event', request);
      assertNotBlank(input);
      const check = async (fields: Partial<EventFields>) =>
        void (await checkWrite(services, postTarget(input), undefined, fields, request));
      const fields = await fieldsOf(services, linkedRecords, input, undefined, {
        request,
        mayPublish,
        isCreate: true,
        check,
      });
      const created = await createAndTouch(fields, input, request);
      const slug = String(fields.slug ?? fields.title);
      const isTrash = input.fields.status === 'trash';
      const record = isTrash ? await trashCreated(services, postTarget(input), created, slug, request) : created;
      const body = await serialized(record, request, true);
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
      let { cmsRecord } = stored;
      const check = async (fields: Partial<EventFields>) => {
        if (Object.keys(fields).length > 0)
          cmsRecord = (await checkWrite(services, postTarget(input), id, fields, request, cmsRecord)) ?? cmsRecord;
      };
      const context = { request, mayPublish, isCreate: false, check };
      const fields = await fieldsOf(services, linkedRecords, input, stored.record, context);
      const hasChanges = Object.keys(fields).length > 0;
      const updated = hasChanges
        ? await updatePost(services, postTarget(input), id, fields, request, cmsRecord)
        : stored.record;
      const isToTrash = input.fields.status === 'trash' && updated.status !== 'trash';
      const record = isToTrash ? await trashPost(services, 'event', updated.id, request) : updated;
      return { status: 200, body: await serialized(record, request, true) };
    },
    async delete(id: number, _input: Input, request: RequestContext): Promise<ApiResponse> {
      await authorizeWrite(services, 'event', request);
      const trashed = await trashPost(services, 'event', id, request);
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

/** Resolves what the body refers to, checks all, and then creates what is missing. `stored` is absent on create. */
async function fieldsOf(
  services: Services,
  linkedRecords: Record<LinkedKind, LinkedRecords>,
  input: Input,
  stored: EventRecord | undefined,
  context: EventFieldsContext,
): Promise<Partial<EventFields>> {
  const sent = input.fields;
  const { request } = context;
  const fields: Partial<EventFields> = await postFields(services, 'event', input, context);
  Object.assign(fields, timesOf(services, sent, stored));
  Object.assign(fields, copiedOf(services, input, stored));
  const cost = normalizeCost(sent.cost);
  if (sent.cost !== undefined && !isShownCost(services, cost, stored)) {
    const isNumber = services.mapping.kinds.event.numeric.has('cost');
    fields.cost = encodeCost(isNumber ? numericCost(cost, services.cost, services.site().settings) : cost);
  }
  // A new event without a website may have `"0"` in the body, as in The Events Calendar.
  const hasWebsite = stored ? sent.website !== undefined : sent.website && sent.website !== '0';
  if (hasWebsite) fields.website = String(sent.website ?? '');
  const references: Partial<Record<ReferenceField, ResolvedReferences>> = {};
  for (const [field, kind] of TERM_FIELDS) {
    const items = sent[field] as unknown[] | null | undefined;
    if (items) references[field] = await resolveTerms(services, kind, items, request);
  }
  for (const [field, kind] of LINKED_FIELDS) {
    if (sent[field] === undefined) continue;
    const items = (sent[field] ?? []) as unknown[];
    references[field] = await resolveLinked(services, kind, linkedRecords, items, request);
  }
  await context.check({ ...withPlaceholderImage(fields, input), ...knownReferences(services, references) });
  for (const [field, { createMissing }] of Object.entries(references))
    Reflect.set(fields, field, await createMissing());
  Object.assign(fields, await imageField(input, context));
  return fields;
}

/** A client sends back what it read: `$5 – $10` does not replace a stored `5-10`. */
function isShownCost(services: Services, cost: Cost, stored: EventRecord | undefined): boolean {
  if (!stored || typeof cost !== 'string' || cost === '') return false;
  const shown = serializeCost(decodeCost(stored.cost), services.cost, services.site().settings);
  return escapeHtmlOnce(cost) === shown.fields.cost;
}

/**
 * The values that are stored as they were sent.
 * @throws ApiError 400 for a value that the original lacks, if the mapping cannot store it
 */
function copiedOf(
  services: Services,
  { fields: sent, parameterOf }: Input,
  stored: EventRecord | undefined,
): Partial<EventFields> {
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
function knownReferences(
  services: Services,
  references: Partial<Record<ReferenceField, ResolvedReferences>>,
): Partial<EventFields> {
  const { linkFields } = services.mapping.kinds.event;
  const known = Object.entries(references).flatMap(([field, { existing, newCount }]) => {
    if (newCount > 0 && linkFields.some((link) => link.field === field)) return [];
    const placeholders = Array.from({ length: newCount }, (_, n) => n + 1);
    return [[field, [...existing, ...placeholders]] as const];
  });
  return Object.fromEntries(known);
}

/** Returns start, end and zone if the body has any of them; an update returns only those that change. */
function timesOf(
  services: Services,
  sent: Record<string, unknown>,
  stored: EventRecord | undefined,
): Partial<EventFields> {
  if (stored && TIMES.every((name) => sent[name] === undefined)) return {};
  const zone = zoneOf(services);
  const { timezone: zoneName, settings } = services.site();
  const site = { zone, zoneName, dayStarts: settings?.dayStarts, nowMs: services.nowMs() };
  const times = eventTimes(sent, stored, site);
  if (!stored) return times;
  const changed = TIMES.filter((name) => sent[name] !== undefined || times[name] !== stored[name]);
  return Object.fromEntries(changed.map((name) => [name, times[name]]));
}

/** What a list in a body refers to, before anything is created. */
export interface ResolvedReferences {
  existing: number[];
  /** At least this many records will be created. */
  newCount: number;
  /** Creates the missing records. Resolves with all ids, in order, each once. */
  createMissing(): Promise<number[]>;
}

/** Equal for names that the CMS may take for one: as slugs, or without accents. */
export const nameKey = (name: string): string =>
  normalizeUnicode(comparableText(name), 'NFKD').replace(/[^\p{L}\p{N}]/gu, '');

/**
 * A term in a body. A number is an id, without its fraction and sign. Another text is a slug or name; `true`
 * is the name `1`. Undefined for none.
 */
function parseTerm(item: unknown): number | string | undefined {
  if (item === true) return '1';
  const text = item === null || item === undefined || item === false ? '' : String(item).trim();
  const term = NUMBER.test(text) ? Math.trunc(Math.abs(Number(text))) : text;
  return term === 0 || term === '' ? undefined : term;
}

/**
 * The terms in a body. An unknown id is ignored; an unknown slug or name becomes a new term.
 */
export async function resolveTerms(
  services: Services,
  kind: TermKind,
  items: unknown[],
  request: RequestContext,
): Promise<ResolvedReferences> {
  const sent = items.map(parseTerm).filter((term) => term !== undefined);
  const ids = sent.filter((term) => typeof term === 'number');
  const existing = await existingTermIds(services, kind, ids, request);
  /** Ids, and names of terms to create. */
  const terms: (number | string)[] = [];
  for (const term of sent) {
    // Lets other requests run between two of possibly a thousand items.
    await ownTurn();
    if (typeof term === 'string') terms.push(findTermByText(services, kind, term) ?? term);
    else if (existing.has(term)) terms.push(term);
  }
  const names = terms.filter((term) => typeof term === 'string');
  return {
    existing: [...new Set(terms.filter((term) => typeof term === 'number'))],
    newCount: new Set(names.map(nameKey)).size,
    async createMissing() {
      const ids = new Set<number>();
      for (const term of terms) {
        if (typeof term === 'number') ids.add(term);
        else {
          // An earlier item may have created the term, under another spelling of its name.
          const id = findTermByText(services, kind, term);
          ids.add(id ?? (await createTerm(services, kind, term, request)));
        }
      }
      return [...ids];
    },
  };
}

/** Of an event, which name terms. */
const PARAMETERS: Readonly<Record<TermKind, string>> = { category: 'categories', tag: 'tags' };

/** Creates a term, or resolves with the term in the CMS that has the name already. */
async function createTerm(services: Services, kind: TermKind, name: string, request: RequestContext): Promise<number> {
  try {
    return (await services.cmsRecords.create(kind, { name }, request)).id;
  } catch (error) {
    if (!(error instanceof CmsRejected) || error.existingId === undefined)
      throw cmsToApiError(error, { kind, anonymous: false, texts: { [PARAMETERS[kind]]: name } });
    const id = error.existingId;
    await termExists(services, kind, id, request);
    return id;
  }
}

/**
 * The venues or organizers in a body. Data describes a new record or a duplicate of an existing one; it is
 * checked as far as the gateway can.
 */
export async function resolveLinked(
  services: Services,
  kind: LinkedKind,
  linkedRecords: Record<LinkedKind, LinkedRecords>,
  items: unknown[],
  request: RequestContext,
): Promise<ResolvedReferences> {
  const existing: number[] = [];
  const names: string[] = [];
  const steps: (() => Promise<number>)[] = [];
  for (const item of items) {
    const data = typeof item === 'object' && item !== null ? (item as Record<string, unknown>) : { id: item };
    if (!isEmpty(data.id)) {
      const id = Number(data.id);
      existing.push(id);
      steps.push(async () => id);
      continue;
    }
    await ownTurn();
    const input = parseInline(kind, data);
    const create = await withLinkedErrors(kind, () => linkedRecords[kind].prepare(input, request));
    names.push(String(input.fields.title));
    steps.push(async () => (await withLinkedErrors(kind, create)).id);
  }
  return {
    existing: [...new Set(existing)],
    newCount: minimumNew(services, kind, existing, names),
    async createMissing() {
      const ids = new Set<number>();
      for (const step of steps) ids.add(await step());
      return [...ids];
    },
  };
}

/**
 * The number of records that will be created at least. Data with the name of an existing record may mean that
 * record.
 */
function minimumNew(
  services: Services,
  kind: LinkedKind,
  existing: readonly number[],
  names: readonly string[],
): number {
  const titles = existing.map((id) => getRecord(services.replica.db, kind, id)?.title);
  if (titles.includes(undefined)) return 0;
  const known = new Set(titles.map((title) => nameKey(title!)));
  return new Set(names.map(nameKey).filter((name) => !known.has(name))).size;
}

async function withLinkedErrors<T>(kind: LinkedKind, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw linkedCreateError(kind, error);
  }
}
