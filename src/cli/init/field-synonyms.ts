// The words by which fields, post types and taxonomies of a site are recognized from their names.

import type { Kind } from '../../model/records.ts';
import { trimCharacters } from '../../text/text.ts';

/** `_EventStartDate` -> `event_start_date`; `acf.address.city` -> `address_city`. */
export function normalizedName(path: string): string {
  const name = path
    .replace(/^(meta|acf)\./, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');
  return trimCharacters(name, '_');
}

/** Matches any of the words as a whole word of a normalized name: its second group. */
const anyOf = (words: string): RegExp => new RegExp(`(^|_)(${words})(_|$)`);

export const START_WORDS = anyOf('starts?|begins?|from|opens?|startdate|starttime|beginn|von|inicio|debut|inizio');
export const END_WORDS = anyOf('ends?|finish(es)?|until|till|to|closes?|enddate|endtime|ende|bis|fin|fine');
export const DATE_WORDS = anyOf('date|datetime|when|day|time|eventdate|datum|tag|jour|fecha|data');
export const TIME_WORDS = anyOf('time|hours?|starttime|endtime|uhrzeit');
/** Dates that are not the start or end of an event. */
export const UNRELATED_DATE_WORDS = anyOf(
  'created|modified|updated|publish(ed)?|expir(es|y|ation)|deadline|registration|booking|sales?|doors?|reminder|seconds|import(ed)?',
);
export const UTC_WORDS = anyOf('utc|gmt');

/** For types and taxonomies, and for fields that refer to them. */
export const KIND_WORDS: Readonly<Record<Kind, RegExp>> = {
  event: /event|calendar|concert|gig|show|performance|workshop|course|meetup|termin|veranstaltung|agenda/,
  venue: /venue|location|place|hall|ort$|orte$|stage|club/,
  organizer: /organi[sz]er|host|promoter|veranstalter/,
  category: /categor|type|topic|genre|kind|kategorie/,
  tag: /tag|keyword/,
};

const PHONE = 'tel|telephone|telefon';
const WEBSITE = 'web_?site|url|link|homepage|web';

/** What sites call the fields of the API, besides the fields' own names. */
const FIELD_SYNONYMS: Readonly<Partial<Record<Kind, Readonly<Record<string, string>>>>> = {
  event: {
    timezone: 'time_zone|tz|zone',
    all_day: 'all_?day|whole_?day|full_?day',
    cost: 'price|fee|admission|entry|ticket|preis',
    website: WEBSITE,
    show_map: 'map',
    show_map_link: 'map_link',
    hide_from_listings: 'hidden|hide|unlisted',
    featured: 'highlight',
    sticky: 'pinned',
  },
  venue: {
    address: 'street|addr|strasse|adresse',
    city: 'town|locality|stadt',
    country: 'land',
    state: 'region|county',
    zip: 'zip_?code|post_?code|postal_code|plz',
    phone: PHONE,
    website: WEBSITE,
    geo_lat: 'lat|latitude|breite|breitengrad',
    geo_lng: 'lng|lon|long|longitude|laenge|laengengrad',
  },
  organizer: { phone: PHONE, email: 'e_mail|mail', website: WEBSITE },
};

/** The names by which a field of the API is recognized. */
export function fieldWords(kind: Kind, field: string): RegExp {
  const synonyms = FIELD_SYNONYMS[kind]?.[field];
  return anyOf(synonyms === undefined ? field : `${field}|${synonyms}`);
}

/** The same as whole words, for `nameScore`. */
export const kindWords = (kind: Kind): RegExp => anyOf(KIND_WORDS[kind].source);

/**
 * How well a path's name matches: the more of it is the word, the better; 0 for not at all. A field's own
 * name matches best.
 */
export function nameScore(path: string, words: RegExp, field?: string): number {
  const name = normalizedName(path);
  if (name === field) return 10;
  const match = words.exec(name);
  return match ? 1 + (5 * match[2]!.length) / name.length : 0;
}
