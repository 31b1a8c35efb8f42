// How well the name of a site's field, type or taxonomy fits a field or a kind of the API.

import { trimCharacters } from '../text/text.ts';

/** Usual words for fields and kinds of the API, besides their own names. Several words of one name: `whole+day`. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  venue: 'location place hall room',
  organizer: 'organiser host',
  category: 'categories genre topic',
  start_date: 'start begin from',
  end_date: 'end until to',
  utc: 'gmt',
  timezone: 'zone',
  all_day: 'whole+day full+day',
  cost: 'price fee',
  website: 'url link',
  address: 'street',
  city: 'town',
  zip: 'postcode',
  phone: 'tel',
  geo_lat: 'lat latitude',
  geo_lng: 'lng lon longitude',
  title: 'name',
  description: 'description+html content+html body+html',
  image: 'photo picture cover',
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
  // `starts`, `startdate` and `eventstart` are `start`.
  const words = name.split('_').flatMap((word) => [word, word.replace(/^event(?=.)|(?<=..)(s|date|time)$/g, '')]);
  const shares = [field, ...(OTHER_NAMES[field]?.split(' ') ?? [])].map((other) => {
    const wanted = other.split(/[_+]/);
    const length = wanted.join('').length;
    return wanted.every((each) => words.includes(each)) ? (0.9 * length) / Math.max(name.length, length) : 0;
  });
  return Math.max(...shares);
}
