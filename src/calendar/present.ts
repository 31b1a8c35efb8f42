// Turns records into the interface's answers: nested venue, organizers, terms and image, with every key, type and absence of the reference (1.1-1.6).

import {
  type EventRecord,
  type ImageRecord,
  type LinkedKind,
  type LinkedRecord,
  NO_TIME,
  NO_WEBSITE,
  type PostRecord,
  type Site,
  type TermKind,
  type TermRecord,
} from '../records.ts';
import type { Visibilities } from '../replica/filters.ts';
import type { Replica } from '../replica/store.ts';
import { wallDetails } from '../time/wall.ts';
import { zoneAbbreviation } from '../time/zones.ts';
import { type CostSettings, costAnswer, decodeCost } from './cost.ts';
import { eventJsonLd, organizerJsonLd, venueJsonLd } from './json-ld.ts';
import { shownStatus, shows } from './visibility.ts';

export type Json = Record<string, unknown>;

/** Whom an answer is made for, and under which address. */
export interface Audience {
  /** Address of the namespace as called: every link in an answer begins with it. */
  base: string;
  /** What this actor may see of each kind: decides which linked records are shown. */
  visibility: Visibilities;
}

export interface PresentOptions {
  /** A single read: with `json_ld`. */
  single?: boolean;
  /** The caller knows the password, or may edit the record: nothing is blanked. */
  unlocked?: boolean;
}

export type Present = ReturnType<typeof createPresent>;

const TAXONOMIES: Record<TermKind, string> = { category: 'calendar_events_cat', tag: 'post_tag' };
const TERM_PATHS: Record<TermKind, string> = { category: 'categories', tag: 'tags' };

/**
 * The presenter of one site. `replica` answers what a record refers to; what it does not have, or `visibility` does not show, is left out.
 */
export function createPresent(replica: Replica, site: () => Site, cost?: CostSettings) {
  const host = () => new URL(site().url).hostname;

  function common(record: PostRecord): Json {
    return {
      id: record.id,
      author: String(record.author),
      status: shownStatus(record.status),
      date: record.date,
      date_utc: record.dateUtc || NO_TIME,
      modified: record.modified,
      modified_utc: record.modifiedUtc,
      url: record.url,
    };
  }

  function globalId(id: number): Json {
    const global = `${host()}?id=${id}`;
    return { global_id: global, global_id_lineage: [global] };
  }

  function event(record: EventRecord, audience: Audience, options: PresentOptions = {}): Json {
    const locked = record.protected && !options.unlocked;
    const website = record.website === NO_WEBSITE ? '' : record.website || record.url;
    const shown = locked ? [] : linkedOf('venue', record.venues, audience, options);
    const venue = shown.length === 1 ? shown[0] : shown;
    const organizer = locked ? [] : linkedOf('organizer', record.organizers, audience, options);
    const image = replica.image(record.image);
    const flag = (value: boolean) => (locked ? null : value);
    const amount = costAnswer(locked ? '' : decodeCost(record.cost), cost);
    const answer: Json = {
      ...common(record),
      ...globalId(record.id),
      rest_url: `${audience.base}/events/${record.id}`,
      title: record.title,
      description: locked ? '' : record.description,
      excerpt: locked ? '' : record.excerpt,
      slug: record.slug,
      image: !locked && image ? imageAnswer(image) : false,
      all_day: flag(record.allDay),
      start_date: record.start,
      start_date_details: wallDetails(record.start),
      end_date: record.end,
      end_date_details: wallDetails(record.end),
      utc_start_date: record.startUtc,
      utc_start_date_details: wallDetails(record.startUtc),
      utc_end_date: record.endUtc,
      utc_end_date_details: wallDetails(record.endUtc),
      timezone: record.timezone,
      timezone_abbr: zoneAbbreviation(record.timezone, record.start),
      ...amount,
      website: locked ? '' : website,
      show_map: flag(record.showMap),
      show_map_link: flag(record.showMapLink),
      hide_from_listings: flag(record.hidden),
      sticky: flag(record.sticky),
      featured: flag(record.featured),
      categories: locked ? [] : attached('category', record.categories, audience),
      tags: locked ? [] : attached('tag', record.tags, audience),
      venue,
      organizer,
      custom_fields: [],
    };
    if (options.single && !record.protected) {
      const [place] = openRecords('venue', record.venues, audience);
      const [person] = openRecords('organizer', record.organizers, audience);
      answer.json_ld = eventJsonLd(record, { place, person, image: image?.url, cost: amount });
    }
    return answer;
  }

  function linkedRecords<K extends LinkedKind>(kind: K, ids: number[], audience: Audience) {
    const found = replica.getMany(kind, ids);
    return ids.flatMap((id) => {
      const record = found.get(id);
      return record && shows(audience.visibility[kind], record) ? [record] : [];
    });
  }

  /** Those that need no password: JSON-LD has no form for a blanked record. */
  const openRecords = <K extends LinkedKind>(kind: K, ids: number[], audience: Audience) =>
    linkedRecords(kind, ids, audience).filter((record) => !record.protected);

  function linkedOf(kind: LinkedKind, ids: number[], audience: Audience, { single }: PresentOptions): Json[] {
    if (ids.length === 0) return [];
    return linkedRecords(kind, ids, audience).map((record) => linked(record, single ? { single } : {}));
  }

  /** A venue or organizer: empty values are left out; of a protected one they are blanked, and its name becomes `[]` (4). */
  function linked(record: LinkedRecord, options: PresentOptions = {}): Json {
    const image = replica.image(record.image);
    const texts: Json =
      record.kind === 'venue'
        ? pick(record, ['address', 'city', 'country', 'province', 'state', 'zip', 'phone', 'website', 'stateprovince'])
        : pick(record, ['phone', 'website', 'email']);
    const switches = record.kind === 'venue' ? { show_map: record.showMap, show_map_link: record.showMapLink } : {};
    const told = {
      ...withoutEmpty({ description: record.description, excerpt: record.excerpt }),
      slug: record.slug,
      ...(image ? { image: imageAnswer(image) } : {}),
      ...withoutEmpty(texts),
    };
    if (record.protected && !options.unlocked) {
      const blank = Object.fromEntries(Object.keys(told).map((key) => [key, key === 'slug' ? record.slug : '']));
      const unset = Object.fromEntries(Object.keys(switches).map((key) => [key, null]));
      return { ...common(record), [record.kind]: [], ...blank, ...unset, ...globalId(record.id) };
    }
    const answer: Json = {
      ...common(record),
      [record.kind]: record.title,
      ...told,
      ...switches,
      ...globalId(record.id),
    };
    if (options.single) {
      answer.json_ld = record.kind === 'venue' ? venueJsonLd(record, image?.url) : organizerJsonLd(record, image?.url);
    }
    return answer;
  }

  function attached(kind: TermKind, ids: number[], audience: Audience): Json[] {
    if (ids.length === 0) return [];
    const found = replica.getMany(kind, ids);
    const counts = replica.termCounts(kind, ids);
    return [...found.values()]
      .sort((a, b) => a.name.localeCompare(b.name, 'en', { sensitivity: 'base' }) || a.id - b.id)
      .map((term) => ({
        name: term.name,
        slug: term.slug,
        term_group: 0,
        term_taxonomy_id: term.id,
        taxonomy: TAXONOMIES[kind],
        description: term.description,
        parent: term.parent,
        count: counts.get(term.id) ?? 0,
        filter: 'raw',
        id: term.id,
        urls: termUrls(term, audience),
      }));
  }

  function termUrls(term: TermRecord, { base }: Audience): Json {
    const collection = `${base}/${TERM_PATHS[term.kind]}`;
    return {
      self: `${collection}/${term.id}`,
      collection,
      ...(term.parent ? { up: `${collection}/${term.parent}` } : {}),
    };
  }

  /** A category or tag as its own resource. */
  function term(record: TermRecord, audience: Audience, count = replica.termCount(record.kind, record.id)): Json {
    return {
      id: record.id,
      count,
      description: record.description,
      name: record.name,
      slug: record.slug,
      taxonomy: TAXONOMIES[record.kind],
      ...(record.kind === 'category' ? { parent: record.parent } : {}),
      meta: [],
      url: record.url,
      urls: termUrls(record, audience),
    };
  }

  return { event, linked, term };
}

/** 1.6: `sizes` only when there are any. */
function imageAnswer(image: ImageRecord): Json {
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
  };
}

function pick<T extends object, K extends keyof T>(record: T, keys: K[]): Json {
  return Object.fromEntries(keys.map((key) => [key, record[key]]));
}

/** `''` and `'0'` are left out (1.2). */
function withoutEmpty(values: Json): Json {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '' && value !== '0'));
}
