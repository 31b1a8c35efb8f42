// Converts between CMS records and records with the compiled fields of a mapping: reads the single fields and what
// several determine together, and makes the body of a CMS request of changed fields.

import { isDeepStrictEqual } from 'node:util';
import type { CmsRecord } from '../cms/port.ts';
import type { ApiError } from '../errors.ts';
import { invalidParams } from '../interface/errors.ts';
import { emptyRecord, FIELDS, type Field } from '../interface/fields.ts';
import { MAX_READ_CHARACTERS, SIZES } from '../interface/value-lengths.ts';
import {
  type EventRecord,
  isPostKind,
  type Kind,
  NO_TIME,
  type PostFields,
  placeAt,
  type RecordOf,
  type Site,
  type WallTime,
} from '../model/records.ts';
import { searchableText } from '../text/html.ts';
import { cutHtml } from '../text/text.ts';
import { endOfDay, parseWallTime, startOfDay } from '../time/wall-time.ts';
import { parseZone, utcToWall, wallToUtc, zoneOrUtc } from '../time/zones.ts';
import { convertWallTime, eventZone } from './codecs/datetime.ts';
import type { CompiledField, CustomFields } from './compile-field.ts';
import { UnrepresentableValue, valueAt, type Zones } from './field-accessor.ts';
import { type LinkField, type LinkTables, linkedIds, storedIds } from './references.ts';

interface ReaderOptions {
  storedAs: 'posts' | 'terms';
  /** The excerpt is WordPress's own, which WordPress generates from the content if it is blank. */
  usesCoreExcerpt: boolean;
  /** The companion plugin keeps the UTC date of a draft blank. Without it WordPress derives one from the local date. */
  hasTrueDraftDates: boolean;
}

export function createReader(
  kind: Kind,
  fields: CompiledField[],
  customFields: CustomFields,
  linkFields: LinkField[],
  options: ReaderOptions,
): (cmsRecord: CmsRecord, site: Site, linkTables?: LinkTables) => RecordOf[Kind] {
  const zoneField = fields.find(({ name }) => name === 'timezone');
  return (cmsRecord, site, linkTables = {}) => {
    const values = emptyRecord(kind, Number(cmsRecord.id) || 0);
    // No mapping has the parent of a tag, but a term record has the property.
    if (kind === 'tag') values.parent = 0;
    const zones = zonesOf(zoneField, cmsRecord, site);
    for (const { field, accessor } of fields) {
      const value = accessor.read(cmsRecord, zones);
      if (value !== undefined) values[field.key] = typeof value === 'string' ? cutHtml(value, maxRead(field)) : value;
    }
    for (const { field } of linkFields) values[field] = linkedIds(values[field] as number[], linkTables[field]);
    const custom = readCustomFields(customFields, cmsRecord, zones);
    if (custom) values.customFields = custom;
    if (options.storedAs === 'posts') completePost(values, cmsRecord, options);
    // The field table has a row for each property of the type.
    const record = values as unknown as RecordOf[Kind];
    if (record.kind === 'event') completeEvent(record, site);
    if (record.kind === 'venue') Object.assign(record, placeAt(record.latitude, record.longitude));
    if (isPostKind(kind)) values.searchText = searchTextOf(kind, values);
    return record;
  };
}

/** Twice what a client may write, and at least two lines: the page's address, which no client writes, is as long. */
const maxRead = ({ parameter }: Field): number =>
  2 * Math.max(SIZES.line.characters, parameter?.limit.characters ?? SIZES.url.characters);

/** The zones in which the dates of a stored event are read: its own, if the CMS stores one, and the site's. */
function zonesOf(zoneField: CompiledField | undefined, cmsRecord: CmsRecord | undefined, site: Site): Zones {
  const zones = { event: site.timezone, site: site.timezone };
  const stored = cmsRecord && zoneField?.accessor.read(cmsRecord, zones);
  return typeof stored === 'string' && stored !== '' ? { event: stored, site: site.timezone } : zones;
}

const DRAFT_STATUSES = new Set(['draft', 'pending', 'auto-draft']);

function completePost(values: Record<string, unknown>, cmsRecord: CmsRecord, options: ReaderOptions): void {
  if (!options.hasTrueDraftDates && DRAFT_STATUSES.has(String(values.status))) values.dateUtc = NO_TIME;
  // If the raw excerpt is known and blank, the rendered one is generated.
  const raw = valueAt(cmsRecord, ['excerpt', 'raw']);
  if (options.usesCoreExcerpt && typeof raw === 'string' && raw.trim() === '') values.excerpt = '';
}

/** Fills in the zone, the end and the UTC times. An all-day event gets whole days; what moved online is online. */
export function completeEvent(event: EventRecord, site: Site): void {
  if (event.eventStatus === 'moved_online' && event.attendanceMode === '') event.attendanceMode = 'online';
  if (event.timezone === '') event.timezone = site.timezone;
  if (event.end === '') event.end = event.start;
  if (event.allDay && event.start !== '') {
    event.start = startOfDay(event.start, site.settings?.dayStarts);
    event.end = endOfDay(event.end, site.settings?.dayStarts);
  }
  const zones = { event: event.timezone, site: site.timezone };
  event.startUtc = toUtc(event.start, zones);
  event.endUtc = toUtc(event.end, zones);
  setListedTimes(event, site);
}

/** On a site whose plugin shows every event on the site's clock, lists find and order it by these times. */
export function setListedTimes(event: EventRecord, site: Site): void {
  if (site.settings?.timezoneMode !== 'site' || event.startUtc === '' || event.endUtc === '') return;
  const zone = zoneOrUtc(site.timezone);
  event.listedTimes = { start: utcToWall(event.startUtc, zone), end: utcToWall(event.endUtc, zone) };
}

const toUtc = (wall: WallTime, zones: Zones): WallTime =>
  parseWallTime(wall) === undefined ? '' : wallToUtc(wall, eventZone(zones));

/** What searches look into. Nothing of a protected post: searches would tell, word by word, what the password hides. */
export function searchTextOf(kind: Kind, values: Record<string, unknown>): string {
  if (values.protected === true) return '';
  const textOf = (key: string) => searchableText(String(values[key] ?? ''));
  const searched = Object.values(FIELDS[kind]).filter((field) => field.searched);
  const texts = ['title', 'description', 'excerpt'].map(textOf);
  return [...texts, ...searched.map(({ key }) => String(values[key] ?? ''))]
    .filter((text) => text !== '')
    .join('\n')
    .slice(0, MAX_READ_CHARACTERS);
}

export interface WriteContext {
  site: Site;
  /** The CMS record before the write. `needsCurrent` says when it is required. */
  current?: CmsRecord | undefined;
  linkTables?: LinkTables | undefined;
}

type Values = Record<string, unknown>;

export function createWriter(
  fields: CompiledField[],
  writable: CompiledField[],
  customFields: CustomFields,
  read: (cmsRecord: CmsRecord, site: Site) => RecordOf[Kind],
  linkFields: LinkField[],
) {
  const zoneField = fields.find(({ name }) => name === 'timezone');
  const dates = writable.filter(({ field }) => field.type === 'wall-time');
  const zoneDependent = dates.filter(({ accessor }) => accessor.needsZone);

  function write(changed: object, { site, current, linkTables }: WriteContext): CmsRecord {
    const values: Values = { ...valuesSentAlong(changed, site, current), ...changed };
    const zones = adjustDates(values, site, current);
    const body: CmsRecord = {};
    const written = new Map<string, { name: string; stored: unknown }>();
    for (const { name, field, accessor } of writable) {
      const value = values[field.key];
      if (value === undefined) continue;
      orInvalid(name, () => accessor.write?.(toStoredIds(field.key, value, linkTables), { body, current, zones }));
      // Two fields may have one path, as start and end that share the day in `meta.day`: an event over two days is
      // refused. Of fields that share a JSON text (`isPartOfText`) each has its own part of it.
      for (const path of accessor.isPartOfText ? [] : accessor.storedPaths) {
        const stored = valueAt(body, path.split('.'));
        const other = written.get(path);
        if (other && !isDeepStrictEqual(other.stored, stored))
          throw invalid([other.name, name], `both are stored in "${path}", which cannot have two values`);
        written.set(path, { name, stored });
      }
    }
    for (const [name, value] of Object.entries(customValuesOf(changed)))
      orInvalid('custom_fields', () => customFields.get(name)?.accessor.write?.(value, { body, current, zones }));
    return body;
  }

  /**
   * The values of unchanged fields that go along with changed ones (`sentWith`). GatherPress takes start, end and zone
   * only together: a client changes the end, and the start that the CMS has is sent with it, in the form in which the
   * API shows it. A value that the CMS lacks is not sent. But an event without a zone is in the site's zone: that is.
   */
  function valuesSentAlong(changed: object, site: Site, current: CmsRecord | undefined): Values {
    const along = fieldsSentAlong(changed);
    if (along.length === 0 || !current) return {};
    const record: Values = { ...read(current, site) };
    const zones = zonesOf(zoneField, current, site);
    const isStored = ({ accessor }: CompiledField): boolean => (accessor.read(current, zones) ?? '') !== '';
    const sent = along.filter((one) => one === zoneField || isStored(one));
    return Object.fromEntries(sent.map(({ field: { key } }) => [key, record[key]]));
  }

  function fieldsSentAlong(changed: object): CompiledField[] {
    const names = fields.filter(({ field }) => Object.hasOwn(changed, field.key)).map(({ name }) => name);
    return writable.filter(
      ({ name, sentWith }) => !names.includes(name) && sentWith.some((one) => names.includes(one)),
    );
  }

  /**
   * Converts the dates if the CMS cannot store their zone. Returns the zones to write with. The client sends 19:00 in
   * Europe/Berlin (`requested`) for an event that the CMS has in Europe/London (`stored`), or in a site there:
   *
   *   the mapping writes the zone   19:00, with Europe/Berlin
   *   it does not                   18:00 in Europe/London: the same instant
   *   ... and the event is all-day  the same days: they are so in every zone
   */
  function adjustDates(values: Values, site: Site, current: CmsRecord | undefined): Zones {
    const stored = zonesOf(zoneField, current, site);
    const requested = typeof values.timezone === 'string' && values.timezone !== '' ? values.timezone : stored.event;
    if (zoneField && writable.includes(zoneField)) return { event: requested, site: site.timezone };
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
    if (fieldsSentAlong(changed).length > 0) return true;
    if (Object.keys(customValuesOf(changed)).some((name) => customFields.get(name)?.accessor.needsCurrent)) return true;
    return zoneField !== undefined && !isChanged(zoneField) && zoneDependent.some(isChanged);
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

/** Writes the value of a parameter. @throws ApiError 400 if the CMS's stored form cannot express the value */
function orInvalid(name: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof UnrepresentableValue)) throw error;
    throw invalid([name], error.message, error);
  }
}

function invalid(names: string[], reason: string, cause?: unknown): ApiError {
  const params = names.map((name) => ({ name, message: `${reason}.` }));
  return invalidParams(params, { cause });
}

function readCustomFields(fields: CustomFields, cmsRecord: CmsRecord, zones: Zones): PostFields['customFields'] {
  const values = [...fields].map(([name, { accessor }]) => [name, accessor.read(cmsRecord, zones)] as const);
  const present = values.filter(
    ([, value]) => typeof value === 'boolean' || (typeof value === 'string' && value !== ''),
  );
  return present.length === 0 ? undefined : (Object.fromEntries(present) as PostFields['customFields']);
}
