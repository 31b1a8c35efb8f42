// Makes the body of a CMS request from changed fields: converts dates to the clock of the CMS, sends other fields along
// if the CMS takes them only together, and refuses what the CMS cannot store.

import { isDeepStrictEqual } from 'node:util';
import type { CmsRecord } from '../cms/port.ts';
import { invalidParams } from '../interface/errors.ts';
import type { Field } from '../interface/fields.ts';
import type { EventRecord, Kind, RecordOf, Site } from '../model/records.ts';
import { validWallTime } from '../time/wall-time.ts';
import { parseZone } from '../time/zones.ts';
import { convertWallTime, eventZone } from './codecs/datetime.ts';
import type { CompiledField } from './compile-field.ts';
import type { CustomFields } from './custom-fields.ts';
import type { WriteTarget, Zones } from './field-accessor.ts';
import { readAt, UnrepresentableValue } from './paths.ts';
import { zonesOf } from './read-record.ts';
import { type LinkField, type LinkTables, storedIds } from './references.ts';

export interface WriteContext {
  site: Site;
  /** The CMS record before the write. `needsCurrent` says when it is required. */
  current?: CmsRecord | undefined;
  linkTables?: LinkTables | undefined;
}

/** By the record's property. */
type Values = Readonly<Record<string, unknown>>;

/**
 * For example, with the mapping `"fields": { "start_date": "meta.start", "cost": "meta.fee" }`:
 *
 *   changed       { title: 'Fair', start: '2027-05-01 19:00:00', cost: '' }
 *   CMS request   { "title": "Fair", "meta": { "start": "2027-05-01 19:00:00", "fee": "" } }
 *
 * One long function: its parts share the compiled fields of the kind.
 */
export function createWriter(
  fields: readonly CompiledField[],
  writable: readonly CompiledField[],
  customFields: CustomFields,
  linkFields: readonly LinkField[],
  read: (cmsRecord: CmsRecord, site: Site, linkTables?: LinkTables) => RecordOf[Kind],
) {
  const zoneField = fields.find(({ name }) => name === 'timezone');

  function write(changed: object, { site, current, linkTables }: WriteContext): CmsRecord {
    const before: Values = current ? { ...read(current, site, linkTables) } : {};
    const storedZones = zonesOf(zoneField, current, site);
    const values: Values = { ...valuesSentAlong(changed, before, current, storedZones), ...changed };
    const { zones, convert } = clockOf(values, before, storedZones);
    const target: WriteTarget = { body: {}, current, zones };
    const storedAt: StoredAt = new Map();
    const asStored = ({ property, type }: Field, value: unknown): unknown => {
      if (type === 'wall-time') return convert(value);
      const link = linkFields.find((one) => one.field === property);
      return link ? storedIds(value as number[], link, linkTables) : value;
    };
    for (const { name, field, accessor } of writable) {
      const value = values[field.property];
      if (value === undefined) continue;
      orInvalid(name, () => accessor.write?.(asStored(field, value), target));
      // Of fields that share a JSON text, each has its own part of it.
      if (!accessor.isPartOfText) refuseSecondValues(name, accessor.storedPaths, target.body, storedAt);
    }
    for (const [name, value] of Object.entries(customValuesOf(changed)))
      orInvalid('custom_fields', () => customFields.get(name)?.accessor.write?.(value, target));
    return target.body;
  }

  /**
   * The values of the `fieldsSentAlong`, as the API shows them. GatherPress takes start, end and zone only together:
   * with a new end, the start and the zone are sent. If the CMS has no start, none is sent. If the CMS has no zone, the
   * site's is sent.
   */
  function valuesSentAlong(changed: object, before: Values, current: CmsRecord | undefined, zones: Zones): Values {
    if (!current) return {};
    const isStored = ({ accessor }: CompiledField): boolean => (accessor.read(current, zones) ?? '') !== '';
    const sent = fieldsSentAlong(changed).filter((one) => one === zoneField || isStored(one));
    return Object.fromEntries(sent.map(({ field: { property } }) => [property, before[property]]));
  }

  /** Unchanged fields that go with a changed one: with a new end the start (`sentWith: ["end_date", "timezone"]`). */
  function fieldsSentAlong(changed: object): CompiledField[] {
    const changedNames = fields.filter((one) => isChanged(one, changed)).map(({ name }) => name);
    const unchanged = writable.filter(({ name }) => !changedNames.includes(name));
    return unchanged.filter(({ sentWith }) => sentWith.some((name) => changedNames.includes(name)));
  }

  /**
   * The zones to write with, and what converts the dates to them. The client sends 19:00 in Europe/Berlin for an event
   * that the CMS has in Europe/London, or in a site there:
   *
   *                                 event's zone    its start
   *   the mapping writes the zone   Europe/Berlin   19:00
   *   it does not                   Europe/London   18:00: the same instant
   *   ... and the event is all-day  Europe/London   19:00: its days are the same in every zone
   */
  function clockOf({ timezone, allDay }: Values, before: Values, stored: Zones) {
    const requested = typeof timezone === 'string' && timezone !== '' ? timezone : stored.event;
    const zones = writable.some((one) => one === zoneField) ? { ...stored, event: requested } : stored;
    const isAllDay = (allDay ?? before.allDay) === true;
    if (requested === zones.event || isAllDay) return { zones, convert: (wall: unknown) => wall };
    return { zones, convert: (wall: unknown) => convertToZone(wall, requested, zones) };
  }

  function needsCurrent(changed: object): boolean {
    if (fieldsSentAlong(changed).length > 0) return true;
    const ofFields = writable.filter((one) => isChanged(one, changed)).map(({ accessor }) => accessor);
    const ofCustomFields = Object.keys(customValuesOf(changed)).map((name) => customFields.get(name)?.accessor);
    // For a part of a JSON text: the write repeats the other parts as they are.
    if ([...ofFields, ...ofCustomFields].some((accessor) => accessor?.needsCurrent)) return true;
    // For a date on the site's clock, if the event's zone is not sent: the current record has it.
    const isZoneKnown = zoneField === undefined || isChanged(zoneField, changed);
    return !isZoneKnown && ofFields.some(({ needsZone }) => needsZone);
  }

  return { write, needsCurrent };
}

const isChanged = ({ field }: CompiledField, changed: object): boolean => Object.hasOwn(changed, field.property);

const customValuesOf = (changed: object): Values => (changed as Partial<EventRecord>).customFields ?? {};

/** By path: what this write has stored there, and the name of the field. */
type StoredAt = Map<string, { name: string; stored: unknown }>;

/**
 * Two fields may have one path, as start and end that share the day in `meta.day`. An event on one day is stored. One
 * over two days is refused, with both names.
 */
function refuseSecondValues(name: string, paths: readonly string[], body: CmsRecord, storedAt: StoredAt): void {
  for (const path of paths) {
    const stored = readAt(body, path.split('.'));
    const other = storedAt.get(path);
    if (other && !isDeepStrictEqual(other.stored, stored))
      throw invalid([other.name, name], `both are stored in "${path}", which cannot have two values`);
    storedAt.set(path, { name, stored });
  }
}

function convertToZone(wall: unknown, from: string, zones: Zones): unknown {
  const valid = validWallTime(wall);
  const fromZone = parseZone(from);
  return valid !== undefined && fromZone ? convertWallTime(valid, fromZone, eventZone(zones)) : wall;
}

/** Writes the value of a parameter. @throws ApiError 400 if the CMS's stored form cannot express the value */
function orInvalid(name: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof UnrepresentableValue)) throw error;
    throw invalid([name], error.message, error);
  }
}

function invalid(names: string[], reason: string, cause?: unknown) {
  const params = names.map((name) => ({ name, message: `${reason}.` }));
  return invalidParams(params, { cause });
}

/**
 * Adds to `sentWith` what the mapping need not name:
 *
 *   a start that shares `meta.day` with the end   end_date: only with both values the writer sees whether they fit
 *   a start that is stored as an instant          timezone: when the zone changes, the wall time stays
 */
export function sendDependentTogether(
  fields: readonly CompiledField[],
  isWritable: (field: CompiledField) => boolean,
): CompiledField[] {
  const writable = fields.filter(isWritable);
  const hasZone = writable.some(({ name }) => name === 'timezone');
  // Start and end always fit if each is a part of its own of one JSON text.
  const exclusive = writable.filter(({ accessor }) => !accessor.isPartOfText);
  return fields.map((field) => {
    if (!isWritable(field)) return field;
    const zone = hasZone && field.accessor.needsZone ? ['timezone'] : [];
    const others = exclusive.includes(field) ? exclusive.filter((other) => other !== field) : [];
    const sharing = others.filter(({ accessor }) =>
      accessor.storedPaths.some((path) => field.accessor.storedPaths.includes(path)),
    );
    return { ...field, sentWith: [...field.sentWith, ...zone, ...sharing.map(({ name }) => name)] };
  });
}
