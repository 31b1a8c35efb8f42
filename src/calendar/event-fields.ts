// The record fields that the body of an event sets: its times, cost and flags, and the terms, venues,
// organizers and image it refers to.

import { copiedFields } from '../interface/fields.ts';
import type { Input } from '../interface/parameter.ts';
import type { EventFields, EventRecord, LinkedKind } from '../model/records.ts';
import { encodeCost, normalizeCost, numericCost } from './cost.ts';
import { eventTimes, toUtc, zoneOf } from './dates.ts';
import type { LinkedRecords } from './linked-records.ts';
import { type ResolvedReferences, resolveLinked, resolveTerms } from './resolve-references.ts';
import type { Services } from './services.ts';
import { type FieldsContext, imageField, postFields, withAnyImage } from './write-post.ts';

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

export function createEventFields(services: Services, linkedRecords: Record<LinkedKind, LinkedRecords>) {
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
    for (const { key, type } of COPIED_FIELDS)
      if (sent[key] !== undefined) Reflect.set(fields, key, type === 'boolean' ? sent[key] === true : sent[key]);
    if (sent.cost !== undefined) {
      const cost = normalizeCost(sent.cost);
      const isNumber = services.mapping.kinds.event.numeric.has('cost');
      fields.cost = encodeCost(isNumber ? numericCost(cost, services.cost) : cost);
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
    await context.check({ ...withAnyImage(fields, input), ...knownReferences(references) });
    for (const [field, { create }] of Object.entries(references)) Reflect.set(fields, field, await create());
    Object.assign(fields, await imageField(input, context));
    return fields;
  }

  /** The references as far as they can be checked: records that will be created have no id yet, and no entry in a link table. */
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
    const { timezone: zoneName } = services.site();
    const times = eventTimes(sent, stored, { zone, zoneName, nowMs: services.nowMs() });
    const utc = {
      startUtc: toUtc(times.start, times.timezone, zone),
      endUtc: toUtc(times.end, times.timezone, zone),
    };
    if (!stored) return { ...times, ...utc };
    const changed = TIMES.filter((name) => sent[name] !== undefined || times[name] !== stored[name]);
    const fields: Partial<EventFields> = Object.fromEntries(changed.map((name) => [name, times[name]]));
    // Each UTC time depends on its local time and on the zone.
    if (changed.includes('timezone') || changed.includes('start')) fields.startUtc = utc.startUtc;
    if (changed.includes('timezone') || changed.includes('end')) fields.endUtc = utc.endUtc;
    return fields;
  }

  /** Whether an update combines sent times with stored ones, which must then come from the CMS. */
  const combinesTimes = ({ fields: sent }: Input): boolean =>
    TIMES.some((name) => sent[name] !== undefined) && TIMES.some((name) => sent[name] === undefined);

  return { fieldsOf, combinesTimes };
}
