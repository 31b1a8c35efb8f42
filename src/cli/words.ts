// The words by which fields, types and taxonomies of a site are told apart by their names.

import type { Kind } from '../records.ts';
import { trimmed } from '../text/trim.ts';
import type { Place } from './probe.ts';

/** `_EventStartDate` -> `event_start_date`; `acf.address.city` -> `address_city`. */
export function plainName(path: string): string {
  const name = path
    .replace(/^(meta|acf)\./, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');
  return trimmed(name, '_');
}

const words = (...each: string[]): RegExp => new RegExp(`(^|_)(${each.join('|')})(_|$)`);

export const START = words(
  'starts?',
  'begins?',
  'from',
  'beginn',
  'von',
  'debut',
  'inicio',
  'opens?',
  'startdate',
  'starttime',
);
export const END = words(
  'ends?',
  'finish(es)?',
  'until',
  'till',
  'to',
  'ende',
  'bis',
  'fin',
  'closes?',
  'enddate',
  'endtime',
);
export const WHEN = words('date', 'datetime', 'when', 'day', 'datum', 'fecha', 'time', 'eventdate');
export const TIME = words('time', 'hour', 'hours', 'uhrzeit', 'heure', 'hora', 'starttime', 'endtime');
/** Dates that are about something else than when it takes place. */
export const OTHER_DATE = words(
  'created',
  'modified',
  'updated',
  'publish(ed)?',
  'expir(es|y|ation)',
  'deadline',
  'registration',
  'booking',
  'sales?',
  'doors?',
  'reminder',
  'seconds',
  'import(ed)?',
);
export const UTC_TWIN = words('utc', 'gmt');

/** Names of kinds, for types and taxonomies, and for fields that refer to them. */
export const KIND_WORDS: Readonly<Record<Kind, RegExp>> = {
  event:
    /event|calendar|concert|gig|show|performance|workshop|course|meetup|termin|veranstaltung|evenement|evento|programme|agenda/,
  venue: /venue|location|place|hall|ort$|orte$|lieu|lugar|stage|club/,
  organizer: /organi[sz]er|host|promoter|veranstalter|organisateur/,
  category: /categor|type|topic|genre|kind|kategorie/,
  tag: /tag|keyword/,
};

/** The same as whole words of a name, for `nameScore`. */
export const KIND_NAMES = Object.fromEntries(
  Object.entries(KIND_WORDS).map(([kind, { source }]) => [kind, words(source)]),
) as Record<Kind, RegExp>;

export interface Wish {
  field: string;
  names: RegExp;
  what: 'text' | 'url' | 'email' | 'boolean' | 'zone' | 'cost';
}

const EVENT_WISHES: readonly Wish[] = [
  { field: 'timezone', names: words('time_?zone', 'tz', 'zone', 'zeitzone'), what: 'zone' },
  { field: 'all_day', names: words('all_?day', 'whole_?day', 'full_?day', 'allday', 'ganztaegig'), what: 'boolean' },
  {
    field: 'cost',
    names: words('cost', 'price', 'fee', 'admission', 'entry', 'ticket', 'preis', 'prix'),
    what: 'cost',
  },
  { field: 'website', names: words('web_?site', 'url', 'link', 'homepage', 'web'), what: 'url' },
  { field: 'show_map', names: words('show_map', 'map'), what: 'boolean' },
  { field: 'show_map_link', names: words('show_map_link', 'map_link'), what: 'boolean' },
  { field: 'hide_from_listings', names: words('hide_from_listings', 'hidden', 'hide', 'unlisted'), what: 'boolean' },
  { field: 'featured', names: words('featured', 'highlight'), what: 'boolean' },
  { field: 'sticky', names: words('sticky', 'pinned'), what: 'boolean' },
];

const VENUE_WISHES: readonly Wish[] = [
  { field: 'address', names: words('address', 'street', 'strasse', 'adresse', 'addr'), what: 'text' },
  { field: 'city', names: words('city', 'town', 'locality', 'stadt', 'ville'), what: 'text' },
  { field: 'country', names: words('country', 'land', 'pays'), what: 'text' },
  { field: 'province', names: words('province'), what: 'text' },
  { field: 'state', names: words('state', 'region', 'county'), what: 'text' },
  { field: 'stateprovince', names: words('stateprovince', 'state_province'), what: 'text' },
  { field: 'zip', names: words('zip', 'post_?code', 'postal_code', 'zip_?code', 'plz'), what: 'text' },
  { field: 'phone', names: words('phone', 'tel', 'telephone', 'telefon'), what: 'text' },
  { field: 'website', names: words('web_?site', 'url', 'link', 'homepage', 'web'), what: 'url' },
  { field: 'show_map', names: words('show_map'), what: 'boolean' },
  { field: 'show_map_link', names: words('show_map_link'), what: 'boolean' },
];

export const WISHES: Readonly<Partial<Record<Kind, readonly Wish[]>>> = {
  event: EVENT_WISHES,
  venue: VENUE_WISHES,
  organizer: [
    { field: 'phone', names: words('phone', 'tel', 'telephone', 'telefon'), what: 'text' },
    { field: 'email', names: words('e?_?mail'), what: 'email' },
    { field: 'website', names: words('web_?site', 'url', 'link', 'homepage', 'web'), what: 'url' },
  ],
};

/** How well a place's name goes with a wish: the shorter the rest, the better; 0 for not at all. */
export function nameScore(place: Place, names: RegExp, field = ''): number {
  const name = plainName(place.path);
  if (name === field) return 10;
  const match = names.exec(name);
  return match ? 1 + (5 * match[2]!.length) / name.length : 0;
}

/** A value as a reason shows it. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
