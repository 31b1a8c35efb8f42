// The `json_ld` of single reads, as The Events Calendar writes it: schema.org's Event, Place and Person.

import { EVENT_STATES, SCHEMA_ATTENDANCE } from '../model/event-state.ts';
import type { JsonObject } from '../model/json.ts';
import type { EventRecord, LinkedRecord, OrganizerRecord, VenueRecord } from '../model/records.ts';
import { escapeHtmlOnce, htmlText, undoTypography } from '../text/html.ts';
import { offsetMinutes, offsetText, parseZone, utcToWall, utcZone } from '../time/zones.ts';
import type { Offer } from './cost.ts';

const EXCERPT_WORDS = 30;

interface EventJsonLdParts {
  location: JsonObject | undefined;
  organizer: JsonObject | undefined;
  image: string | undefined;
  timezone: string;
  offer: Offer | undefined;
}

/** An Event with its `@context`. Dates have the offset of `timezone` at that time; a missing date is omitted. */
export function eventJsonLd(event: EventRecord, parts: EventJsonLdParts): JsonObject {
  const { location, organizer, image, timezone, offer } = parts;
  return {
    '@context': 'http://schema.org',
    '@type': 'Event',
    name: withStatus(event, escapeScript(event.title)),
    description: description(event),
    ...(image ? { image } : {}),
    url: event.url,
    // The original's constants, if the CMS does not say.
    eventAttendanceMode: SCHEMA_ATTENDANCE[event.attendanceMode || 'offline'],
    eventStatus: EVENT_STATES[event.eventStatus || 'scheduled'].schema,
    ...(event.startUtc === '' ? {} : { startDate: withOffset(event.startUtc, timezone) }),
    ...(event.endUtc === '' ? {} : { endDate: withOffset(event.endUtc, timezone) }),
    ...(location ? { location } : {}),
    ...(organizer ? { organizer } : {}),
    ...(offer ? { offers: offers(event, offer) } : {}),
    performer: 'Organization',
  };
}

/** As The Events Calendar's `tribe_get_region()`. */
const regionOf = ({ stateprovince, country, state, province }: VenueRecord): string =>
  stateprovince || (country === 'United States' ? state : province);

/** A Place without `@context`. Empty parts of the address are omitted; other empty values are `''`. */
export function venueJsonLd(venue: VenueRecord, image?: string): JsonObject {
  const address = {
    streetAddress: escapeHtmlOnce(venue.address),
    addressLocality: escapeHtmlOnce(venue.city),
    // Not escaped in the original.
    addressRegion: regionOf(venue),
    postalCode: escapeHtmlOnce(venue.zip),
    addressCountry: escapeHtmlOnce(venue.country),
  };
  return {
    '@type': 'Place',
    name: withStatus(venue, escapeHtmlOnce(venue.title)),
    description: description(venue),
    ...(image ? { image } : {}),
    url: '',
    address: { '@type': 'PostalAddress', ...withoutEmpty(address) },
    telephone: escapeHtmlOnce(venue.phone),
    sameAs: venue.website,
  };
}

/** A Person without `@context`. The e-mail address is obfuscated. */
export function organizerJsonLd(organizer: OrganizerRecord, image?: string): JsonObject {
  return {
    '@type': 'Person',
    name: withStatus(organizer, escapeHtmlOnce(organizer.title)),
    description: description(organizer),
    ...(image ? { image } : {}),
    url: organizer.website,
    telephone: escapeHtmlOnce(organizer.phone),
    email: obfuscated(organizer.email),
    sameAs: organizer.website,
  };
}

/** As on a page of WordPress: `Private: Back room`; of an unlocked venue or organizer `Protected: Back room`. */
function withStatus(post: EventRecord | LinkedRecord, title: string): string {
  if (post.protected) return `Protected: ${title}`;
  return post.status === 'private' ? `Private: ${title}` : title;
}

function offers(event: EventRecord, offer: Offer): JsonObject {
  return {
    '@type': 'Offer',
    ...offer,
    url: event.url,
    category: 'primary',
    availability: 'inStock',
    // The day of publication at the site, as if it were in UTC: so in the original.
    validFrom: `${event.date.slice(0, 10)}T00:00:00+00:00`,
  };
}

/** The excerpt, or the first thirty words of the description: a paragraph of escaped HTML, then a literal `\n`. */
export function description(record: { excerpt: string; description: string }): string {
  const text = typedText(htmlText(withoutShortcodes(record.excerpt || record.description)))
    .replace(/\s+/g, ' ')
    .trim();
  if (text === '') return '';
  const words = text.split(' ');
  const isCut = record.excerpt === '' && words.length > EXCERPT_WORDS;
  const excerpt = isCut ? `${words.slice(0, EXCERPT_WORDS).join(' ')} [&hellip;]` : text;
  return `&lt;p&gt;${escapeScript(excerpt)}&lt;/p&gt;\\n`;
}

/** As WordPress's `esc_js`: backslashes before apostrophes, which become no entities, and `\n` for a line break. */
const escapeScript = (text: string): string =>
  text
    .split("'")
    .map((part) => escapeHtmlOnce(part).replaceAll('\\', '\\\\'))
    .join("\\'")
    .replace(/\r?\n/g, '\\n');

/**
 * As PHP's `preg_replace('#\[.+\]#U', '')`, by which The Events Calendar drops shortcodes: `See [gallery ids="1"]` is
 * `See `. An open bracket (`See [below`) matches to the end of its line, and stays: so each character is read once.
 */
const withoutShortcodes = (html: string): string =>
  html.replace(/\[[^\n][^\]\n]*(\]?)/g, (text, close) => (close ? '' : text));

/** Entities of WordPress's typography as they were typed: `&#8217;` is `'`, `&#8211;` is `-`. `&#8364;` stays. */
const typedText = (html: string): string =>
  html.replace(/&#(\d{1,5});/g, (entity, code: string) => {
    const character = String.fromCharCode(Number(code));
    if (character === '&') return character;
    const typed = character === '–' ? '-' : undoTypography(character);
    return typed === character ? entity : typed;
  });

/** For example `2027-01-10T10:00:00-05:00`. An event at 02:30, which the clock skips, is at 03:30. */
function withOffset(utc: string, timezone: string): string {
  const zone = parseZone(timezone) ?? utcZone;
  return `${utcToWall(utc, zone).replace(' ', 'T')}${offsetText(offsetMinutes(utc, zone), ':')}`;
}

/** Writes every second character as an HTML entity against address harvesters, the same way each time. */
function obfuscated(email: string): string {
  return [...email].map((character, i) => (i % 2 ? character : `&#${character.codePointAt(0)};`)).join('');
}

/** Omits `''`, `'0'` and null, as PHP's `empty` does. */
export function withoutEmpty(values: JsonObject): JsonObject {
  const isShown = (value: unknown) => value !== '' && value !== '0' && value !== null;
  return Object.fromEntries(Object.entries(values).filter(([, value]) => isShown(value)));
}
