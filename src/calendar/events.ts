// The use cases of events. Writes resolve what a body refers to (terms by id, slug or name;
// venues and organizers by id or data), check all, and then create what is missing.

import { ApiError, CmsRejected } from '../errors.ts';
import { alreadyTrashed, couldNotCreate, invalidParam } from '../interface/errors.ts';
import { copiedFields, FIELDS } from '../interface/fields.ts';
import type { Input } from '../interface/parameter.ts';
import { parseInline } from '../interface/validate.ts';
import { isEmpty, parseNumber } from '../interface/value-types.ts';
import { type EventFields, FIRST_SOURCE_ID, type LinkedKind, PLURALS, type TermKind } from '../model/records.ts';
import { type Cost, decodeCost, encodeCost } from '../text/cost.ts';
import { escapeHtmlOnce, htmlText } from '../text/html.ts';
import { cmsToApiError } from './cms-errors.ts';
import { normalizeCost, numericCost, serializeCost } from './cost.ts';
import { eventTimes, zoneOf } from './dates.ts';
import { eventList } from './event-reads.ts';
import { prepareLinked } from './linked-records.ts';
import { asActorSees, existingTermIds, findTermByText, singlePost } from './read-post.ts';
import { type ApiResponse, writableMapping } from './request.ts';
import type { ApiRequest, Services } from './services.ts';
import { soloTurn } from './turns.ts';
import { beginWrite, checkWrite, imageField, type PostWrite, postFields, save, trashPost } from './write-post.ts';

/** Each use case throws `ApiError` and `CmsUnavailable`. */
export const events = {
  list: (input: Input, request: ApiRequest): Promise<ApiResponse> => eventList(input, request, request.services.lists),

  read: (id: number, input: Input, request: ApiRequest): Promise<ApiResponse> =>
    singlePost('event', id, input, request),

  async create(input: Input, request: ApiRequest): Promise<ApiResponse> {
    const write = await beginWrite('event', input, request);
    const checked = await checkedFields(write);
    if (request.isDryRun) return dryRunResult('create', checked, input);
    const fields = await createTargets(write, checked);
    const created = await save(write, fields);
    // WordPress makes a sent publication date the `modified` of a new event. The Events Calendar saves a sticky event a
    // second time, after which `modified` is now. This saves such an event again, so that `modified` is now here too.
    const needsSecondSave = fields.sticky && (fields.date ?? fields.dateUtc) !== undefined;
    const record = needsSecondSave ? await save({ ...write, stored: created }, { sticky: true }) : created;
    return { status: 201, body: await asActorSees(record, request, { unlocked: true }) };
  },

  async update(id: number, input: Input, request: ApiRequest): Promise<ApiResponse> {
    const write = await beginWrite('event', input, request, id);
    const checked = await checkedFields(write);
    if (request.isDryRun) return dryRunResult('update', checked, input);
    const record = await save(write, await createTargets(write, checked));
    return { status: 200, body: await asActorSees(record, request, { unlocked: true }) };
  },

  async delete(id: number, input: Input, request: ApiRequest): Promise<ApiResponse> {
    if (request.isDryRun) return tryDelete(await beginWrite('event', input, request, id));
    const trashed = await trashPost('event', id, request);
    return { status: 200, body: await asActorSees(trashed, request, { unlocked: true }) };
  },
};

/** An event needs a title, a description or an excerpt. WordPress would refuse it only after its venue was created. */
function assertNotBlank({ byProperty }: Input): void {
  const isBlank = (value: unknown) => value === undefined || String(value).trim() === '';
  if (byProperty.title !== undefined && [byProperty.title, byProperty.description, byProperty.excerpt].every(isBlank))
    throw invalidParam('title');
}

const TIMES = ['start', 'end', 'timezone', 'allDay'] as const;
type TargetProperty = 'categories' | 'tags' | 'venues' | 'organizers';
const TARGET_PROPERTIES = Object.values(FIELDS.event).flatMap(({ property, targetKind }) =>
  targetKind ? [[property as TargetProperty, targetKind] as const] : [],
);

/**
 * The id of a record that the event will link, or a function that finds or creates the record and resolves with its id:
 * `venue: [12, { venue: 'New' }]` gives a number and a function.
 */
type TargetId = number | (() => Promise<number>);
type TargetIds = Partial<Record<TargetProperty, TargetId[]>>;

interface CheckedFields {
  fields: Partial<EventFields>;
  targets: TargetIds;
}

/** Checks all of a body, and writes nothing. */
async function checkedFields(write: PostWrite<'event'>): Promise<CheckedFields> {
  assertNotBlank(write.input);
  const common = await postFields(write);
  const fields = { ...common, ...timesOf(write), ...plainFieldsOf(write), ...costOf(write), ...websiteOf(write) };
  const targets = await targetsOf(write);
  await checkWrite(write, { ...fields, ...targetsWithPlaceholders(write.request.services, targets) });
  return { fields, targets };
}

function costOf(write: PostWrite<'event'>): Pick<Partial<EventFields>, 'cost'> {
  const { services } = write.request;
  const sent = write.input.byProperty.cost;
  if (sent === undefined) return {};
  const cost = normalizeCost(sent);
  if (isShownCost(write, cost)) return {};
  if (!services.mapping.kinds.event.storedAsNumber.has('cost')) return { cost: encodeCost(cost) };
  return { cost: encodeCost(numericCost(cost, services.defaultCurrency, services.site().settings)) };
}

/** As in The Events Calendar, a create takes `website: "0"` for none, and an update stores it. */
function websiteOf({ input, stored }: PostWrite<'event'>): Pick<Partial<EventFields>, 'website'> {
  const { website } = input.byProperty;
  const isCreateWithoutIt = !stored && (!website || website === '0');
  return website === undefined || isCreateWithoutIt ? {} : { website: htmlText(String(website ?? '')) };
}

async function targetsOf({ input, request }: PostWrite<'event'>): Promise<TargetIds> {
  const targets: TargetIds = {};
  for (const [property, kind] of TARGET_PROPERTIES) {
    const items = input.byProperty[property] as unknown[] | null | undefined;
    // `venue: null` removes all venues (docs/differences.md). `tags: null` changes nothing, as in the original.
    if (kind === 'venue' || kind === 'organizer') {
      if (items !== undefined) targets[property] = await prepareLinkedTargets(kind, items ?? [], request);
    } else if (items) targets[property] = await prepareTerms(kind, items, request);
    if (targets[property]?.some((target) => typeof target === 'number' && target >= FIRST_SOURCE_ID))
      throw invalidParam(input.parameterOf[property]!, 'It comes from a source, which the site does not know.');
  }
  return targets;
}

/** Creates the targets that are missing, and uploads the image. Resolves with the fields, and the ids of all these. */
async function createTargets(write: PostWrite<'event'>, { fields, targets }: CheckedFields) {
  const links: Partial<Record<TargetProperty, number[]>> = {};
  const writable: ReadonlySet<string> = writableMapping(write.request.services, 'event').writable;
  for (const [property, ofProperty] of Object.entries(targets)) {
    const ids = new Set<number>();
    for (const target of ofProperty)
      if (typeof target === 'number') ids.add(target);
      // Where the mapping has no place for the link, nothing would refer to a new record.
      else if (writable.has(property)) ids.add(await target());
    links[property as TargetProperty] = [...ids];
  }
  return { ...fields, ...links, ...(await imageField(write)) };
}

/** What a write would do, by the names of the API. `new`: a record that it would create, unless the same exists. */
function dryRunResult(
  would: 'create' | 'update',
  { fields, targets }: CheckedFields,
  { byProperty }: Input,
): ApiResponse {
  const linked = Object.entries(targets).map(([property, ofProperty]) => [
    property,
    ofProperty.map((target) => (typeof target === 'number' ? target : 'new')),
  ]);
  const values: Record<string, unknown> = { ...fields, ...Object.fromEntries(linked) };
  // `fields` has no image, which is uploaded later, and no `trash`, which is a step of its own.
  if (byProperty.image !== undefined) values.image = byProperty.image;
  if (byProperty.status === 'trash') values.status = 'trash';
  const named = Object.entries(FIELDS.event).flatMap(([name, { property }]) =>
    property in values ? [[name, values[property]]] : [],
  );
  return { status: 200, body: { would, event: Object.fromEntries(named) } };
}

function tryDelete({ stored }: PostWrite<'event'>): ApiResponse {
  if (stored!.status === 'trash') throw alreadyTrashed('event');
  return { status: 200, body: { would: 'delete', event: { id: stored!.id, title: stored!.title } } };
}

/** A client sends back what it read: `$5 – $10` does not replace a stored `5-10`. */
function isShownCost({ request, stored }: PostWrite<'event'>, cost: Cost): boolean {
  if (!stored || typeof cost !== 'string' || cost === '') return false;
  const { services } = request;
  const shown = serializeCost(decodeCost(stored.cost), services.defaultCurrency, services.site().settings);
  return escapeHtmlOnce(cost) === shown.fields.cost;
}

/** The fields in the body that responses show as they are stored, such as `featured` and `event_status`. */
function plainFieldsOf({ input: { byProperty } }: PostWrite<'event'>): Partial<EventFields> {
  const values: Record<string, unknown> = {};
  for (const [, { property, type, empty }] of copiedFields('event')) {
    const sent = byProperty[property];
    if (sent !== undefined) values[property] = type === 'boolean' ? sent === true : (sent ?? empty);
  }
  return values;
}

/**
 * `checkWrite` needs ids. A new record has none, and gets a negative one: `[12, () => ...]` gives `[12, -2]`. A link
 * table would refuse a negative id: a field with a link table and a new record is left out.
 */
function targetsWithPlaceholders({ mapping }: Services, targets: TargetIds): Partial<EventFields> {
  const { linkFields } = mapping.kinds.event;
  const checkable = Object.entries(targets).flatMap(([field, ofField]) => {
    const ids = ofField.map((target, n) => (typeof target === 'number' ? target : -n - 1));
    const hasLinkTable = linkFields.some((link) => link.field === field);
    return hasLinkTable && ids.some((id) => id < 0) ? [] : [[field, [...new Set(ids)]]];
  });
  return Object.fromEntries(checkable);
}

/** Returns start, end and zone if the body has any of them; an update returns only those that change. */
function timesOf({ request, input, stored }: PostWrite<'event'>): Partial<EventFields> {
  const { services } = request;
  const { byProperty } = input;
  if (stored && TIMES.every((name) => byProperty[name] === undefined)) return {};
  const zone = zoneOf(services);
  const { timezone: zoneName, settings } = services.site();
  const site = { zone, zoneName, dayStarts: settings?.dayStarts, nowMs: services.nowMs() };
  const times = eventTimes(byProperty, stored, site);
  if (!stored) return times;
  const changed = TIMES.filter((name) => byProperty[name] !== undefined || times[name] !== stored[name]);
  return Object.fromEntries(changed.map((name) => [name, times[name]]));
}

/**
 * A term in a body, as in PHP.
 *
 *   12, '-12.5'                    12, an id
 *   ' Jazz ', true                 `Jazz`, `1`: a slug or name
 *   '', 0, null, false             undefined: none
 */
function parseTerm(item: unknown): number | string | undefined {
  if (item === true) return '1';
  const text = item === null || item === undefined || item === false ? '' : String(item).trim();
  const number = parseNumber(text);
  const term = number === undefined ? text : Math.trunc(Math.abs(number));
  return term === 0 || term === '' ? undefined : term;
}

/** The terms in a body. An unknown id is ignored; an unknown slug or name becomes a new term. */
async function prepareTerms(kind: TermKind, items: unknown[], request: ApiRequest): Promise<TargetId[]> {
  const { services } = request;
  const sent = items.map(parseTerm).filter((term) => term !== undefined);
  const ids = sent.filter((term) => typeof term === 'number');
  const existing = await existingTermIds(kind, ids, request);
  const targets: TargetId[] = [];
  for (const term of sent) {
    // Lets other requests run between two of possibly a thousand items.
    await soloTurn();
    if (typeof term === 'number') {
      if (existing.has(term)) targets.push(term);
      continue;
    }
    // It looks again: an earlier item may have created the term by then, under another spelling of its name.
    const createOrReuse = async () => siteTerm(services, kind, term) ?? createTerm(kind, term, request);
    targets.push(siteTerm(services, kind, term) ?? createOrReuse);
  }
  return targets;
}

/** The id of the site's term with this text. A term that only a source has is none: the site does not know its id. */
function siteTerm(services: Services, kind: TermKind, text: string): number | undefined {
  const id = findTermByText(services, kind, text);
  return id !== undefined && id < FIRST_SOURCE_ID ? id : undefined;
}

/** Creates a term, or resolves with the term in the CMS that has the name already. */
async function createTerm(kind: TermKind, name: string, request: ApiRequest): Promise<number> {
  try {
    return (await request.services.cmsRecords.create(kind, { name }, request)).id;
  } catch (error) {
    if (!(error instanceof CmsRejected) || error.existingId === undefined)
      throw cmsToApiError(error, { kind, parametersAt: () => [{ name: PLURALS[kind] }] });
    // The response shows the term from the replica. If the replica lacks the term, `existingTermIds` reads it.
    await existingTermIds(kind, [error.existingId], request);
    return error.existingId;
  }
}

/** The venues or organizers in a body: ids, and data, which may be that of an existing record (`prepareLinked`). */
async function prepareLinkedTargets(kind: LinkedKind, items: unknown[], request: ApiRequest): Promise<TargetId[]> {
  const targets: TargetId[] = [];
  for (const item of items) {
    const data = typeof item === 'object' && item !== null ? (item as Record<string, unknown>) : { id: item };
    if (!isEmpty(data.id)) {
      targets.push(Number(data.id));
      continue;
    }
    await soloTurn();
    const createOrReuse = await withLinkedErrors(kind, () => prepareLinked(kind, parseInline(kind, data), request));
    targets.push(async () => (await withLinkedErrors(kind, createOrReuse)).id);
  }
  return targets;
}

/** One error for all invalid data of a venue or organizer; other errors as they are. */
async function withLinkedErrors<T>(kind: LinkedKind, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const isInvalid = error instanceof ApiError && error.status === 400 && error.code === 'rest_invalid_param';
    throw isInvalid ? couldNotCreate(kind, error) : error;
  }
}
