// Converts changed fields of a record to the body of a CMS request.

import type { CmsRecord } from '../cms/port.ts';
import { ApiError } from '../errors.ts';
import type { EventRecord, Kind, RecordOf, Site } from '../model/records.ts';
import { parseWallTime } from '../time/wall-time.ts';
import { parseZone } from '../time/zones.ts';
import { convertWallTime, eventZone } from './codecs/clock.ts';
import { UnrepresentableValue } from './codecs/codec.ts';
import type { CompiledField } from './compile-field.ts';
import { type CustomFields, writeCustomFields } from './custom-fields.ts';
import type { Zones } from './field-accessor.ts';
import { type LinkField, type LinkTables, storedIds } from './link-fields.ts';
import type { WriteContext } from './mapping.ts';
import { zonesOf } from './read-record.ts';

type Values = Record<string, unknown>;

export function createWriter(
  fields: CompiledField[],
  writable: CompiledField[],
  customFields: CustomFields,
  read: (cmsRecord: CmsRecord, site: Site) => RecordOf[Kind],
  linkFields: LinkField[],
) {
  const zoneField = fields.find(({ name }) => name === 'timezone');
  const canWriteZone = zoneField !== undefined && writable.includes(zoneField);
  const dates = writable.filter(({ field }) => field.type === 'wall-time');
  const zoneDependent = dates.filter(({ accessor }) => accessor.needsZone);

  function write(changed: object, { site, current, linkTables }: WriteContext): CmsRecord {
    const values: Values = { ...storedCompanions(changed, site, current), ...changed };
    const zones = adjustDates(values, site, current);
    const body: CmsRecord = {};
    for (const { name, field, accessor } of writable) {
      const value = values[field.key];
      if (value === undefined) continue;
      try {
        accessor.write?.(toStoredIds(field.key, value, linkTables), { body, current, zones });
      } catch (error) {
        if (error instanceof UnrepresentableValue) throw invalidValue(name, error);
        throw error;
      }
    }
    try {
      writeCustomFields(customFields, customValuesOf(changed), { body, current, zones });
    } catch (error) {
      if (error instanceof UnrepresentableValue) throw invalidValue('custom_fields', error);
      throw error;
    }
    return body;
  }

  /** The stored values of unchanged fields that go along with changed ones (`sentWith`). */
  function storedCompanions(changed: object, site: Site, current: CmsRecord | undefined): Values {
    const companions = companionsOf(changed);
    if (companions.length === 0 || !current) return {};
    const record: Values = { ...read(current, site) };
    const stored = companions.map(({ field: { key } }) => [key, record[key]] as const);
    return Object.fromEntries(stored.filter(([, value]) => value !== undefined && value !== ''));
  }

  function companionsOf(changed: object): CompiledField[] {
    const names = fields.filter(({ field }) => Object.hasOwn(changed, field.key)).map(({ name }) => name);
    return writable.filter(
      ({ name, sentWith }) => !names.includes(name) && sentWith.some((one) => names.includes(one)),
    );
  }

  /** Adds or converts the dates that depend on a zone that changes. Returns the zones to write with. */
  function adjustDates(values: Values, site: Site, current: CmsRecord | undefined): Zones {
    const stored = zonesOf(zoneField, current, site);
    const requested = typeof values.timezone === 'string' && values.timezone !== '' ? values.timezone : stored.event;
    if (canWriteZone) {
      if ('timezone' in values && current) {
        // The wall time stays when the zone changes, so dates that are stored as instants must be written
        // again.
        const record: Values = { ...read(current, site) };
        for (const { field } of zoneDependent) if (!(field.key in values)) values[field.key] = record[field.key];
      }
      return { event: requested, site: site.timezone };
    }
    // The CMS knows one zone only: convert to its clock to keep the instant. Whole days are the same in every
    // zone.
    const isAllDay = values.allDay ?? (current && (read(current, site) as Partial<EventRecord>).allDay);
    if (requested !== stored.event && !isAllDay)
      for (const { field } of dates) values[field.key] = convertToZone(values[field.key], requested, stored);
    return { event: stored.event, site: site.timezone };
  }

  function toStoredIds(key: string, value: unknown, tables: LinkTables | undefined): unknown {
    const link = linkFields.find(({ field }) => field === key);
    if (!link) return value;
    const ids = storedIds(value as number[], tables?.[link.field]);
    if (!ids) throw new UnrepresentableValue(`the CMS cannot link this ${link.kind} (is it published?)`);
    return ids;
  }

  function needsCurrent(changed: object): boolean {
    const isChanged = ({ field }: CompiledField): boolean => Object.hasOwn(changed, field.key);
    if (writable.some((one) => one.accessor.needsCurrent && isChanged(one))) return true;
    if (companionsOf(changed).length > 0) return true;
    if (Object.keys(customValuesOf(changed)).some((name) => customFields.get(name)?.accessor.needsCurrent)) return true;
    if (!zoneField || zoneDependent.length === 0) return false;
    return isChanged(zoneField) ? !zoneDependent.every(isChanged) : zoneDependent.some(isChanged);
  }

  return { write, needsCurrent };
}

const customValuesOf = (changed: object): Readonly<Record<string, unknown>> =>
  (changed as Partial<EventRecord>).customFields ?? {};

function convertToZone(wall: unknown, from: string, zones: Zones): unknown {
  const fromZone = parseZone(from);
  if (typeof wall !== 'string' || parseWallTime(wall) === undefined || !fromZone) return wall;
  return convertWallTime(wall, fromZone, eventZone(zones));
}

function invalidValue(name: string, error: UnrepresentableValue): ApiError {
  return new ApiError(400, 'rest_invalid_param', `Invalid parameter(s): ${name}`, {
    data: { params: { [name]: `${error.message}.` } },
    cause: error,
  });
}
