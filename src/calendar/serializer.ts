// Serializes records to the JSON of responses, with the properties, types and omissions of The Events Calendar.

import { copiedFields } from '../interface/fields.ts';
import { stateLabel } from '../model/event-state.ts';
import type { JsonObject } from '../model/json.ts';
import {
  type CalendarRecord,
  type EventRecord,
  type ImageRecord,
  isTermRecord,
  type Kind,
  type LinkedKind,
  type LinkedRecord,
  NO_TIME,
  NO_WEBSITE,
  PLURALS,
  type PostRecord,
  type RecordOf,
  siteName,
  type TermKind,
  type TermRecord,
} from '../model/records.ts';
import type { VisibleRecords } from '../store/database.ts';
import { termCount } from '../store/lists.ts';
import { getImage, getRecords, RECORDS_PER_READ } from '../store/records.ts';
import { sourcesOf } from '../store/source-events.ts';
import { decodeCost } from '../text/cost.ts';
import { charactersOf } from '../text/text.ts';
import { dateDetails } from '../time/wall-time.ts';
import { zoneAbbreviation } from '../time/zones.ts';
import { type Offer, serializeCost } from './cost.ts';
import { shownCustomFields } from './custom-fields.ts';
import { eventJsonLd, organizerJsonLd, venueJsonLd, withoutEmpty } from './json-ld.ts';
import type { ApiRequest } from './services.ts';

/** Whom the response is for. Every link in the response starts with the `baseUrl` of the request. */
export interface Audience extends Pick<ApiRequest, 'services' | 'baseUrl'> {
  /** Has the records that a response shows within others: those that the public sees, or those that the actor sees. */
  visible: VisibleRecords;
}

export interface SerializeOptions {
  /** Adds `json_ld`, for a single read. */
  single?: boolean;
  /** The actor knows the password or may edit the record, so nothing is blanked. */
  unlocked?: boolean;
}

/**
 * How many characters an event may still show of its venues, organizers, categories and tags: `shownRecords` takes them
 * from it. Ordinary events need a few thousand. A thousand long venues would stop every other request for seconds.
 */
const newBudget = () => ({ characters: 1_000_000 });
type Budget = ReturnType<typeof newBudget>;

/** The length in JSON of the properties that every record has. */
const CHARACTERS_PER_RECORD = 500;

const TAXONOMIES: Record<TermKind, string> = { category: 'calendar_events_cat', tag: 'post_tag' };

function commonProperties(record: PostRecord, { services }: Audience): JsonObject {
  const globalId = `${siteName(services.site())}?id=${record.id}`;
  return {
    id: record.id,
    author: String(record.author),
    status: record.status,
    date: record.date,
    date_utc: record.dateUtc || NO_TIME,
    modified: record.modified,
    modified_utc: record.modifiedUtc,
    url: record.url,
    global_id: globalId,
    global_id_lineage: [globalId],
  };
}

/** Every audience gets the same counts and sources: those of the public records. */
export function serialize(record: CalendarRecord, audience: Audience, options: SerializeOptions = {}): JsonObject {
  if (isTermRecord(record)) return serializeTerm(record, audience);
  return record.kind === 'event' ? serializeEvent(record, audience, options) : linkedJson(record, audience, options);
}

function serializeEvent(record: EventRecord, audience: Audience, options: SerializeOptions): JsonObject {
  const { site, defaultCurrency, mapping } = audience.services;
  const { single = false, unlocked = false } = options;
  const isLocked = record.protected && !unlocked;
  const budget = newBudget();
  const linkedOf = (kind: LinkedKind, ids: number[]): JsonObject[] =>
    isLocked ? [] : shownRecords(kind, ids, audience, budget).map((each) => linkedJson(each, audience, { single }));
  const venues = linkedOf('venue', record.venues);
  const image = imageOf(record, audience);
  const storedCost = decodeCost(isLocked ? '' : record.cost);
  const { fields: costFields, offer } = serializeCost(storedCost, defaultCurrency, site().settings);
  const json: JsonObject = {
    ...commonProperties(record, audience),
    rest_url: `${audience.baseUrl}/events/${record.id}`,
    title: record.title,
    description: isLocked ? '' : record.description,
    excerpt: isLocked ? '' : record.excerpt,
    slug: record.slug,
    image: !isLocked && image ? serializeImage(image) : false,
    all_day: isLocked ? null : record.allDay,
    start_date: record.start,
    start_date_details: dateDetails(record.start),
    end_date: record.end,
    end_date_details: dateDetails(record.end),
    utc_start_date: record.startUtc,
    utc_start_date_details: dateDetails(record.startUtc),
    utc_end_date: record.endUtc,
    utc_end_date_details: dateDetails(record.endUtc),
    timezone: record.timezone,
    timezone_abbr: zoneAbbreviation(record.timezone, record.start),
    ...costFields,
    website: isLocked ? '' : shownWebsite(record),
    ...copiedValues(record, isLocked),
    categories: isLocked ? [] : shownTerms('category', record.categories, audience, budget),
    tags: isLocked ? [] : shownTerms('tag', record.tags, audience, budget),
    venue: venues.length === 1 ? venues[0] : venues,
    organizer: linkedOf('organizer', record.organizers),
    custom_fields: (!isLocked && shownCustomFields(mapping, record)) || [],
    ...(isLocked ? {} : sourceProperties(record.id, audience)),
  };
  // A reason without a status is left from a status that was taken back: The Events Calendar does not show it either.
  if (stateLabel(json) === '') delete json.event_status_reason;
  if (single && !record.protected) json.json_ld = jsonLdOf(record, audience, offer);
  return json;
}

/** Reads the records again: `serializeEvent` has their JSON, and its budget may have left the organizers out. */
function jsonLdOf(record: EventRecord, audience: Audience, offer: Offer | undefined): JsonObject {
  const { settings, timezone } = audience.services.site();
  const [venue] = unprotectedRecords('venue', record.venues, audience);
  const [organizer] = unprotectedRecords('organizer', record.organizers, audience);
  return eventJsonLd(record, {
    location: venue && venueJsonLd(venue, imageOf(venue, audience)?.url),
    organizer: organizer && organizerJsonLd(organizer, imageOf(organizer, audience)?.url),
    image: imageOf(record, audience)?.url,
    timezone: settings?.timezoneMode === 'site' ? timezone : record.timezone,
    offer,
  });
}

/** `source` and `also_at`. An event that only the CMS has gets neither. */
function sourceProperties(id: number, { services }: Audience): JsonObject {
  const { source, alsoAt } = sourcesOf(services.replica.db, id);
  return { ...(source !== undefined && { source }), ...(alsoAt.length > 0 && { also_at: alsoAt }) };
}

const imageOf = ({ image }: PostRecord, { visible }: Audience): ImageRecord | undefined =>
  image === 0 ? undefined : getImage(visible, image);

/** The records of these ids that the audience is shown, none from the trash. Takes their characters from the budget. */
function shownRecords<K extends Exclude<Kind, 'event'>>(
  kind: K,
  ids: number[],
  { visible }: Audience,
  budget: Budget,
): RecordOf[K][] {
  const shown: RecordOf[K][] = [];
  for (let from = 0; from < ids.length && budget.characters > 0; from += RECORDS_PER_READ) {
    const some = ids.slice(from, from + RECORDS_PER_READ);
    const records = getRecords(visible, kind, some);
    for (const record of some.flatMap((id) => records.get(id) ?? [])) {
      if ('status' in record && record.status === 'trash') continue;
      budget.characters -= charactersOf({ ...record, searchText: '' }) + CHARACTERS_PER_RECORD;
      if (budget.characters > 0) shown.push(record);
    }
  }
  return shown;
}

/** Without protected records: JSON-LD has no form for blanked ones. */
function unprotectedRecords<K extends LinkedKind>(kind: K, ids: number[], audience: Audience): RecordOf[K][] {
  return shownRecords(kind, ids, audience, newBudget()).filter((record) => !record.protected);
}

/**
 * Omits empty values. Of a venue in Bonn without a phone:
 *
 *   open         venue: 'Hall', city: 'Bonn'
 *   protected    venue: [], city: ''            as in the original: a blank tells that there is one; slug stays
 */
function linkedJson(record: LinkedRecord, audience: Audience, options: SerializeOptions): JsonObject {
  const image = imageOf(record, audience);
  const { description, excerpt, slug } = record;
  const values = {
    ...withoutEmpty({ description, excerpt, slug, ...copiedValues(record, false) }),
    ...(image ? { image: serializeImage(image) } : {}),
  };
  if (record.protected && !options.unlocked) {
    const blanks: JsonObject = { description: '', excerpt: '', slug, ...copiedValues(record, true), image: '' };
    const shownBlanks = Object.entries(blanks).filter(([name]) => name in values);
    return { ...commonProperties(record, audience), [record.kind]: [], ...Object.fromEntries(shownBlanks), slug };
  }
  const custom = shownCustomFields(audience.services.mapping, record);
  const json: JsonObject = {
    ...commonProperties(record, audience),
    [record.kind]: record.title,
    ...values,
    ...(custom && { custom_fields: custom }),
  };
  if (options.single)
    json.json_ld = record.kind === 'venue' ? venueJsonLd(record, image?.url) : organizerJsonLd(record, image?.url);
  return json;
}

function shownTerms(kind: TermKind, ids: number[], audience: Audience, budget: Budget): JsonObject[] {
  return shownRecords(kind, ids, audience, budget)
    .sort((a, b) => a.name.localeCompare(b.name, 'en', { sensitivity: 'base' }) || a.id - b.id)
    .map((term) => {
      const { description, ...others } = copiedValues(term, false);
      return {
        ...others,
        term_group: 0,
        term_taxonomy_id: term.id,
        taxonomy: TAXONOMIES[kind],
        description,
        parent: term.parent,
        count: termCount(audience.services.replica.db, kind, term.id),
        filter: 'raw',
        id: term.id,
        urls: termUrls(term, audience),
      };
    });
}

function termUrls(term: TermRecord, { baseUrl }: Audience): JsonObject {
  const collection = `${baseUrl}/${PLURALS[term.kind]}`;
  return {
    self: `${collection}/${term.id}`,
    collection,
    ...(term.parent ? { up: `${collection}/${term.parent}` } : {}),
  };
}

/** A category or tag as a resource. As in an event, the properties are in the original's order. */
export function serializeTerm(record: TermRecord, audience: Audience): JsonObject {
  const { description, ...others } = copiedValues(record, false);
  return {
    id: record.id,
    count: termCount(audience.services.replica.db, record.kind, record.id),
    description,
    ...others,
    taxonomy: TAXONOMIES[record.kind],
    ...(record.kind === 'category' ? { parent: record.parent } : {}),
    meta: [],
    url: record.url,
    urls: termUrls(record, audience),
  };
}

/** The event's page, unless an editor has given it another website, or has removed it (`NO_WEBSITE`). */
const shownWebsite = ({ website, url }: EventRecord): string => (website === NO_WEBSITE ? '' : website || url);

function serializeImage(image: ImageRecord): JsonObject {
  const sizes = Object.entries(image.sizes).map(([name, size]) => [
    name,
    { width: size.width, height: size.height, 'mime-type': size.mimeType, filesize: size.filesizeBytes, url: size.url },
  ]);
  return {
    url: image.url,
    id: image.id,
    extension: image.extension,
    width: image.width,
    height: image.height,
    filesize: image.filesizeBytes,
    ...(sizes.length > 0 ? { sizes: Object.fromEntries(sizes) } : {}),
    ...(image.originalImage ? { original_image: image.originalImage } : {}),
  };
}

/** The properties that are the record's own values. Those of a locked record are blank. */
function copiedValues(record: CalendarRecord, isLocked: boolean): JsonObject {
  const values: JsonObject = {};
  for (const [name, { property, type, empty, parameter }] of copiedFields(record.kind)) {
    const value = Reflect.get(record, property);
    // An addition, such as a coordinate, is never blank: a locked one, and one without a value, is left out.
    if (parameter?.addition && (isLocked || value === empty)) continue;
    const blank = type === 'boolean' ? null : '';
    values[name] = isLocked ? blank : value;
  }
  return values;
}
