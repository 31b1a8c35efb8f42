// The `json_ld` of single reads: schema.org's Event, Place and Person as the original writes them (interface-behaviour 1.8).

import type { EventRecord, OrganizerRecord, VenueRecord } from '../records.ts';
import { replaceTags } from '../text/html.ts';
import { offsetMinutes, parseZone, utcZone } from '../time/zones.ts';
import type { CostAnswer } from './cost.ts';

type Json = Record<string, unknown>;

const EXCERPT_WORDS = 30;

/** The parts of an event that its `json_ld` shows beside it. */
export interface EventSurroundings {
  place: VenueRecord | undefined;
  person: OrganizerRecord | undefined;
  image: string | undefined;
  cost: CostAnswer;
}

/** An Event with its `@context`. Dates bear the offset that the event's zone has at that moment; `person` is its first organizer. */
export function eventJsonLd(event: EventRecord, { place, person, image, cost }: EventSurroundings): Json {
  return {
    '@context': 'http://schema.org',
    '@type': 'Event',
    name: `${event.status === 'private' ? 'Private: ' : ''}${replaceTags(event.title, escapeHtml)}`,
    description: description(event),
    ...(image ? { image } : {}),
    url: event.url,
    eventAttendanceMode: 'https://schema.org/OfflineEventAttendanceMode',
    eventStatus: 'https://schema.org/EventScheduled',
    startDate: withOffset(event.start, event.startUtc, event.timezone),
    endDate: withOffset(event.end, event.endUtc, event.timezone),
    ...(place ? { location: venueJsonLd(place) } : {}),
    ...(person ? { organizer: organizerJsonLd(person) } : {}),
    ...(cost.cost === '' ? {} : { offers: offers(event, cost) }),
    performer: 'Organization',
  };
}

/** A Place without `@context`, alone or in an event: empty parts of the address are left out, other empty parts are `''`. */
export function venueJsonLd(venue: VenueRecord, image?: string): Json {
  const address = {
    streetAddress: escapeHtml(venue.address),
    addressLocality: escapeHtml(venue.city),
    addressRegion: venue.stateprovince,
    postalCode: escapeHtml(venue.zip),
    addressCountry: escapeHtml(venue.country),
  };
  return {
    '@type': 'Place',
    name: escapeHtml(venue.title),
    description: description(venue),
    ...(image ? { image } : {}),
    url: '',
    address: {
      '@type': 'PostalAddress',
      ...Object.fromEntries(Object.entries(address).filter(([, part]) => part !== '')),
    },
    telephone: escapeHtml(venue.phone),
    sameAs: venue.website,
  };
}

/** A Person without `@context`. Its e-mail address is made of entities, and the same at every read (departures). */
export function organizerJsonLd(organizer: OrganizerRecord, image?: string): Json {
  return {
    '@type': 'Person',
    name: escapeHtml(organizer.title),
    description: description(organizer),
    ...(image ? { image } : {}),
    url: organizer.website,
    telephone: escapeHtml(organizer.phone),
    email: obfuscated(organizer.email),
    sameAs: organizer.website,
  };
}

function offers(event: EventRecord, { cost, cost_details }: CostAnswer): Json {
  const sign = cost_details.currency_symbol || '$';
  const price = cost.split('Free').join('0').split(sign).join('').trim();
  return {
    '@type': 'Offer',
    price,
    priceCurrency: 'USD',
    url: event.url,
    category: 'primary',
    availability: 'inStock',
    validFrom: `${event.date.slice(0, 10)}T00:00:00+00:00`,
  };
}

/** The excerpt in full, or the first thirty words, as escaped HTML in one paragraph with a literal `\n` behind. */
function description(record: { excerpt: string; description: string }): string {
  const text = asWritten(replaceTags(record.excerpt || record.description, () => ''))
    .replace(/\s+/g, ' ')
    .trim();
  if (text === '') return '';
  const words = text.split(' ');
  const cut = record.excerpt === '' && words.length > EXCERPT_WORDS;
  const shown = cut ? `${words.slice(0, EXCERPT_WORDS).join(' ')} [&hellip;]` : text;
  const escaped = shown.replace(/&(?!#?\w+;)|[<>"]/g, (sign) => ENTITIES[sign] ?? sign).replace(/['\\]/g, '\\$&');
  return `&lt;p&gt;${escaped}&lt;/p&gt;\\n`;
}

/** Entities that typographic conversion makes, by the signs that were written: the original describes from the source. */
const WRITTEN: Record<string, string> = {
  ...{ 38: '&', 215: 'x', 8211: '-', 8212: '--', 8230: '...' },
  ...{ 8216: "'", 8217: "'", 8242: "'", 8220: '"', 8221: '"', 8243: '"' },
};

const asWritten = (text: string): string =>
  text.replace(/&#(\d{1,20});/g, (entity, code: string) => WRITTEN[Number(code)] ?? entity);

/** `2027-01-10T10:00:00-05:00`: wall-clock time with the zone's offset at that moment. */
function withOffset(wall: string, utc: string, timezone: string): string {
  const minutes = offsetMinutes(utc, parseZone(timezone) ?? utcZone);
  const size = Math.abs(minutes);
  const digits = (n: number) => String(n).padStart(2, '0');
  return `${wall.replace(' ', 'T')}${minutes < 0 ? '-' : '+'}${digits(Math.trunc(size / 60))}:${digits(size % 60)}`;
}

/** Every second sign as an HTML entity: harvesters see no address, and the same address reads the same each time. */
function obfuscated(email: string): string {
  return [...email].map((sign, i) => (i % 2 ? sign : `&#${sign.codePointAt(0)};`)).join('');
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#039;' };

function escapeHtml(text: string): string {
  return text.replace(/&(?!#?\w+;)|[<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
