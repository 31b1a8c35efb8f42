// The events of a page for search engines: schema.org's Event as JSON-LD.

import { EVENT_STATES, SCHEMA_ATTENDANCE } from '../../model/event-state.ts';
import { textLine } from '../../text/html.ts';
import { webAddress } from '../../text/text.ts';
import { parseWallTime, wholeDays } from '../../time/wall-time.ts';
import { offsetText } from '../../time/zones.ts';
import { pricesOf } from './language.ts';
import { Html } from './page-template.ts';
import type { PublicEvent, Venue } from './read-events.ts';

const MAX_DESCRIPTION_CHARACTERS = 300;

type UrlOf = (id: number) => string;

/** A data block, which browsers do not run; nothing without events. `<` is escaped, so that no text can end it. */
export function jsonLdScript(events: PublicEvent[], urlOf: UrlOf, isCurrencyKnown: boolean): Html | false {
  const graph = events.flatMap((event) => eventData(event, urlOf(event.id), isCurrencyKnown) ?? []);
  if (graph.length === 0) return false;
  const json = JSON.stringify({ '@context': 'https://schema.org', '@graph': graph }).replaceAll('<', '\\u003c');
  return new Html(`<script type="application/ld+json">${json}</script>`);
}

/**
 * https://developers.google.com/search/docs/appearance/structured-data/event names the properties that count. Undefined
 * for an event that lacks a required one: name, start, or a location with an address. All say what the record says: the
 * performer, for example, is never known.
 */
function eventData(event: PublicEvent, url: string, isCurrencyKnown: boolean): object | undefined {
  const name = textLine(event.title);
  const places = locations(event);
  if (name === '' || event.start_date === '' || places.length === 0) return undefined;
  const { event_status: status, attendance_mode: mode } = event;
  const text = textLine(event.excerpt || event.description, MAX_DESCRIPTION_CHARACTERS);
  const image = event.image ? webAddress(event.image.url) : undefined;
  // JSON leaves out what is undefined.
  return {
    '@type': 'Event',
    name,
    url,
    ...dates(event),
    eventStatus: status ? EVENT_STATES[status].schema : undefined,
    eventAttendanceMode: mode ? SCHEMA_ATTENDANCE[mode] : undefined,
    description: text || undefined,
    image,
    location: places.length > 1 ? places : places[0],
    organizer: organizers(event),
    ...offers(event, isCurrencyKnown),
  };
}

/** The venues with an address, and the place where people attend online. */
function locations(event: PublicEvent): object[] {
  const online = webAddress(event.online_url);
  const venues = [event.venue].flat().flatMap((venue) => place(venue) ?? []);
  return online === undefined ? venues : [...venues, { '@type': 'VirtualLocation', url: online }];
}

function place({ venue, address, zip, city, stateprovince, country }: Venue): object | undefined {
  const parts = Object.entries({
    streetAddress: textLine(address ?? ''),
    postalCode: textLine(zip ?? ''),
    addressLocality: textLine(city ?? ''),
    addressRegion: textLine(stateprovince ?? ''),
    addressCountry: textLine(country ?? ''),
  }).filter(([, part]) => part !== '');
  if (typeof venue !== 'string' || parts.length === 0) return undefined;
  return {
    '@type': 'Place',
    name: textLine(venue),
    address: { '@type': 'PostalAddress', ...Object.fromEntries(parts) },
  };
}

function organizers({ organizer }: PublicEvent): object[] | undefined {
  const named = organizer.flatMap(({ organizer: name, website }) => {
    const shown = typeof name === 'string' ? textLine(name) : '';
    return shown === '' ? [] : [{ '@type': 'Organization', name: shown, url: webAddress(website) }];
  });
  return named.length > 0 ? named : undefined;
}

/** `price` is the lowest one, as Google defines it. An event of a list has no `json_ld`, and so no currency here. */
function offers(event: PublicEvent, isCurrencyKnown: boolean): object {
  const { currency_symbol: symbol, currency_code: code } = event.cost_details;
  // `10` has no price here if site, record and operator name no currency: the gateway's default `$` is a guess.
  const prices = isCurrencyKnown || symbol + code !== '' ? pricesOf(event) : undefined;
  const isFree = event.cost === 'Free' || prices?.highest === 0;
  return {
    isAccessibleForFree: isFree || undefined,
    offers: prices && { '@type': 'Offer', price: prices.lowest, priceCurrency: prices.currency },
  };
}

function dates(event: PublicEvent): object {
  const { start_date: start, end_date: end } = event;
  const [startDate, endDate] = event.all_day
    ? wholeDays(start, end)
    : [withOffset(start, event.utc_start_date), withOffset(end, event.utc_end_date)];
  return { startDate, endDate };
}

/** ISO 8601 with the offset of the event's zone. */
function withOffset(wall: string, utc: string): string {
  const minutes = Math.round(((parseWallTime(wall) ?? 0) - (parseWallTime(utc) ?? 0)) / 60_000);
  return `${wall.replace(' ', 'T')}${offsetText(minutes, ':')}`;
}
