// How well the name of a site's field, type or taxonomy fits a field or a kind of the API.

import { trimCharacters } from '../text/text.ts';

/** What sites call the fields and kinds of the API, besides their own names. Several words of one name: `full+day`. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  event: 'calendar concert gig show performance workshop course meetup',
  venue: 'location place hall room stage',
  organizer: 'organiser host promoter',
  category: 'categories genre topic type',
  tag: 'tags keyword',
  start_date: 'start begin from open',
  end_date: 'end finish until till to close',
  date: 'datetime day when time',
  time: 'hour',
  utc: 'gmt',
  timezone: 'zone tz time+zone',
  all_day: 'whole+day full+day',
  cost: 'price fee admission ticket',
  website: 'url link homepage site',
  featured: 'highlight',
  sticky: 'pinned',
  hide_from_listings: 'hidden hide unlisted',
  address: 'street',
  city: 'town',
  zip: 'postcode postal+code post+code',
  phone: 'tel telephone',
  email: 'mail',
  geo_lat: 'lat latitude',
  geo_lng: 'lng lon longitude',
  title: 'name heading',
  excerpt: 'summary teaser intro',
  description: 'description+html content+html body+html text+html about+html details+html',
  image: 'photo picture thumbnail cover',
  author: 'owner created+by',
};

/** `_EventStartDate` -> `event_start_date`; `acf.address.city` -> `address_city`. */
export function plainName(path: string): string {
  const name = path
    .replace(/^(meta|acf)\./, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\d]+/gu, '_');
  return trimCharacters(name, '_');
}

/**
 * From 0 (not at all) to 1 (the API's own name): the share of the name that is the field's. `ticket_price` fits `cost`
 * better than `price_of_the_hall` does.
 */
export function likeness(path: string, field: string): number {
  const name = plainName(path);
  if (name === field) return 1;
  const words = name.split('_');
  const shares = [field, ...(OTHER_NAMES[field]?.split(' ') ?? [])].map((other) => {
    const wanted = other.split(/[_+]/);
    const isThere = wanted.every((each) => words.some((word) => isSimilar(word, each)));
    return isThere ? (0.9 * wanted.join('').length) / Math.max(name.length, wanted.join('').length) : 0;
  });
  return Math.max(...shares);
}

/** `starts`, `startdate` and `eventstart` are `start`; `beginn` is like `begin`, and `update` is not like `date`. */
function isSimilar(word: string, wanted: string): boolean {
  const core = word.replace(/^event(?=.)/, '').replace(/(?<=..)(s|date|time)$/, '');
  return word === wanted || core === wanted || similarity(word, wanted) > 0.75;
}

/** Of two texts, the share of their pairs of neighbouring characters that both have. */
export function similarity(a: string, b: string): number {
  const [first, second] = [pairsOf(a), pairsOf(b)];
  const shared = [...first].filter((pair) => second.has(pair)).length;
  return (2 * shared) / (first.size + second.size || 1);
}

const pairsOf = (text: string): Set<string> =>
  new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)));
