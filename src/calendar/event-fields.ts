// The record fields that the body of an event sets: its times, cost and flags, and the terms, venues,
// organizers and image it refers to.

import { copiedFields } from '../interface/fields.ts';
import type { Input } from '../interface/input.ts';
import type { EventFields, EventRecord, LinkedKind } from '../model/records.ts';
import { encodeCost, normalizeCost, numericCost } from './cost.ts';
import { eventTimes, toUtc } from './dates.ts';
import type { LinkedRecords } from './linked-records.ts';
import { type FieldsContext, imageField, postFields } from './post-fields.ts';
import { resolveLinked, resolveTerms } from './resolve-references.ts';
import { type Services, zoneOf } from './services.ts';

const COPIED_FIELDS = copiedFields('event').map(([, field]) => field);
const TIMES = ['start', 'end', 'timezone', 'allDay'] as const;

export function createEventFields(services: Services, linkedRecords: Record<LinkedKind, LinkedRecords>) {
  /** Resolves or creates what the body refers to. `stored` is absent on create. */
  async function fieldsOf(
    input: Input,
    stored: EventRecord | undefined,
    context: FieldsContext,
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
    for (const [field, kind] of [
      ['categories', 'category'],
      ['tags', 'tag'],
    ] as const) {
      const items = sent[field] as unknown[] | null | undefined;
      if (items) fields[field] = await resolveTerms(services, kind, items, request, rollback);
    }
    for (const [field, kind] of [
      ['venues', 'venue'],
      ['organizers', 'organizer'],
    ] as const) {
      if (sent[field] === undefined) continue;
      const items = (sent[field] ?? []) as unknown[];
      fields[field] = await resolveLinked(services, kind, linkedRecords, items, request, rollback);
    }
    Object.assign(fields, await imageField(input, context));
    return fields;
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
