// Reads a CMS record: each field with its accessor, and then what several fields determine together, as UTC times.

import type { CmsRecord } from '../cms/port.ts';
import { emptyRecord, FIELDS, type Field } from '../interface/fields.ts';
import { SIZES } from '../interface/value-lengths.ts';
import {
  type EventRecord,
  isPostKind,
  type Kind,
  NO_TIME,
  type PostFields,
  placeAt,
  type RecordOf,
  type Site,
} from '../model/records.ts';
import { searchableText } from '../text/html.ts';
import { cutHtml } from '../text/text.ts';
import { dayEndOn, dayStartOn, parseWallTime } from '../time/wall-time.ts';
import { utcToWall, wallToUtc, zoneOrUtc } from '../time/zones.ts';
import { eventZone } from './codecs/datetime.ts';
import type { CompiledField } from './compile-field.ts';
import type { CustomFields } from './custom-fields.ts';
import type { Zones } from './field-accessor.ts';
import { MAX_READ_CHARACTERS, readAt } from './paths.ts';
import { idsNotingMissing, type LinkField, type LinkTables } from './references.ts';

interface PostOptions {
  /** The excerpt is WordPress's own, which WordPress generates from the content if it is blank. */
  usesCoreExcerpt: boolean;
  /** The companion plugin keeps the UTC date of a draft blank. Without it WordPress derives one from the local date. */
  hasTrueDraftDates: boolean;
}

/**
 * For example of events, on a site in Berlin:
 *
 *   mapping      "fields": { "start_date": "meta.start", "end_date": "meta.end", "cost": "meta.fee" }
 *   CMS record   { "id": 7, "title": { "rendered": "Fair" }, "meta": { "start": "2027-05-01 19:00:00", "fee": 5 } }
 *   record       { kind: 'event', id: 7, title: 'Fair', start: '2027-05-01 19:00:00', end: '2027-05-01 19:00:00',
 *                  startUtc: '2027-05-01 17:00:00', timezone: 'Europe/Berlin', cost: '5', website: '', ... }
 *
 * @param postOptions absent: the CMS stores the records as terms
 */
export function createReader(
  kind: Kind,
  fields: readonly CompiledField[],
  customFields: CustomFields,
  linkFields: readonly LinkField[],
  postOptions: PostOptions | undefined,
): (cmsRecord: CmsRecord, site: Site, linkTables?: LinkTables) => RecordOf[Kind] {
  const zoneField = fields.find(({ name }) => name === 'timezone');
  return (cmsRecord, site, linkTables = {}) => {
    const values = emptyRecord(kind, Number(cmsRecord.id) || 0);
    // No mapping has the parent of a tag, but a term record has the property.
    if (kind === 'tag') values.parent = 0;
    const zones = zonesOf(zoneField, cmsRecord, site);
    for (const { field, accessor } of fields) {
      const value = accessor.read(cmsRecord, zones);
      if (value !== undefined)
        values[field.property] = typeof value === 'string' ? cutHtml(value, maxRead(field)) : value;
    }
    for (const { field } of linkFields) values[field] = idsNotingMissing(values[field] as number[], linkTables[field]);
    const custom = readCustomFields(customFields, cmsRecord, zones);
    if (custom) values.customFields = custom;
    if (postOptions) completePost(values, cmsRecord, postOptions);
    // The field table has a row for each property of the type.
    const record = values as unknown as RecordOf[Kind];
    if (record.kind === 'event') completeEvent(record, site);
    if (record.kind === 'venue') Object.assign(record, placeAt(record.latitude, record.longitude));
    if (isPostKind(kind)) values.searchText = searchTextOf(kind, values);
    return record;
  };
}

/** Twice what a client may write, but at least two lines. No client writes `url`: it has no parameter. */
const maxRead = ({ parameter }: Field): number =>
  2 * Math.max(SIZES.line.characters, (parameter?.limit ?? SIZES.url).characters);

/** The zones in which the dates of a stored event are read: its own, if the CMS stores one, and the site's. */
export function zonesOf(zoneField: CompiledField | undefined, cmsRecord: CmsRecord | undefined, site: Site): Zones {
  const zones = { event: site.timezone, site: site.timezone };
  const stored = cmsRecord && zoneField?.accessor.read(cmsRecord, zones);
  return typeof stored === 'string' && stored !== '' ? { ...zones, event: stored } : zones;
}

function readCustomFields(fields: CustomFields, cmsRecord: CmsRecord, zones: Zones): PostFields['customFields'] {
  const values = [...fields].map(([name, { accessor }]) => [name, accessor.read(cmsRecord, zones)] as const);
  const present = values.filter(([, value]) => (value ?? '') !== '');
  return present.length === 0 ? undefined : (Object.fromEntries(present) as PostFields['customFields']);
}

const DRAFT_STATUSES = new Set(['draft', 'pending', 'auto-draft']);

function completePost(values: Record<string, unknown>, cmsRecord: CmsRecord, options: PostOptions): void {
  if (!options.hasTrueDraftDates && DRAFT_STATUSES.has(String(values.status))) values.dateUtc = NO_TIME;
  // With a blank raw excerpt, WordPress has generated the rendered one: the record has none.
  const raw = readAt(cmsRecord, ['excerpt', 'raw']);
  if (options.usesCoreExcerpt && typeof raw === 'string' && raw.trim() === '') values.excerpt = '';
}

/**
 * Fills in the zone, the end and the UTC times. An all-day event gets whole days; what moved online is online. In New
 * York, on a site there:
 *
 *   start                 end                   allDay   becomes
 *   2027-01-10 19:00:00   ''                    false    end 2027-01-10 19:00:00, startUtc 2027-01-11 00:00:00
 *   2027-01-10 19:00:00   2027-01-11 08:00:00   true     start 2027-01-10 00:00:00, end 2027-01-11 23:59:59
 */
export function completeEvent(event: EventRecord, site: Site): void {
  if (event.eventStatus === 'moved_online' && event.attendanceMode === '') event.attendanceMode = 'online';
  if (event.timezone === '') event.timezone = site.timezone;
  if (event.end === '') event.end = event.start;
  if (event.allDay && event.start !== '') {
    // The event plugin may begin its days later, such as at 05:00.
    const { dayStarts } = site.settings ?? {};
    event.start = dayStartOn(event.start, dayStarts);
    event.end = dayEndOn(event.end, dayStarts);
  }
  const zone = eventZone({ event: event.timezone, site: site.timezone });
  const toUtc = (wall: string): string => (parseWallTime(wall) === undefined ? '' : wallToUtc(wall, zone));
  event.startUtc = toUtc(event.start);
  event.endUtc = toUtc(event.end);
  setListedTimes(event, site);
}

/** On a site whose plugin shows every event on the site's clock, lists find and order it by these times. */
export function setListedTimes(event: EventRecord, site: Site): void {
  if (site.settings?.timezoneMode !== 'site' || event.startUtc === '' || event.endUtc === '') return;
  const zone = zoneOrUtc(site.timezone);
  event.listedTimes = { start: utcToWall(event.startUtc, zone), end: utcToWall(event.endUtc, zone) };
}

/** What searches look into. Nothing of a protected post: searches would tell, word by word, what the password hides. */
export function searchTextOf(kind: Kind, values: Record<string, unknown>): string {
  if (values.protected === true) return '';
  const textOf = (key: string) => searchableText(String(values[key] ?? ''));
  const searched = Object.values(FIELDS[kind]).filter((field) => field.searched);
  const others = searched.map(({ property }) => String(values[property] ?? ''));
  const texts = [...['title', 'description', 'excerpt'].map(textOf), ...others].filter((text) => text !== '');
  return texts.join('\n').slice(0, MAX_READ_CHARACTERS);
}
