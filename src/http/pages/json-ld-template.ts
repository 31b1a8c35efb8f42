// The events of a page for search engines: schema.org's Event as JSON-LD.

import { SCHEMA_ATTENDANCE, SCHEMA_STATUS } from '../../model/event-state.ts';
import { textLine } from '../../text/html.ts';
import { webAddress } from '../../text/text.ts';
import { wholeDays } from '../../time/wall-time.ts';
import { offsetText } from '../../time/zones.ts';
import { Html } from './html.ts';
import type { PublicEvent, Venue } from './read-events.ts';

const MAX_DESCRIPTION_CHARACTERS = 300;

/** A data block, which browsers do not run. `<` is escaped, so that no text can end it. */
export function jsonLdScript(events: PublicEvent[], urlOf: (id: number) => string): Html {
  const graph = events.map((event) => eventData(event, urlOf(event.id)));
  const json = JSON.stringify({ '@context': 'https://schema.org', '@graph': graph }).replaceAll('<', '\\u003c');
  return new Html(`<script type="application/ld+json">${json}</script>`);
}

/** https://developers.google.com/search/docs/appearance/structured-data/event names the properties that count. */
function eventData(event: PublicEvent, url: string): object {
  const venue = [event.venue].flat().find(({ venue: name }) => typeof name === 'string');
  const online = webAddress(event.online_url);
  const places = [venue && place(venue), online && { '@type': 'VirtualLocation', url: online }].filter(Boolean);
  const { event_status: status, attendance_mode: mode } = event;
  const text = textLine(event.excerpt || event.description, MAX_DESCRIPTION_CHARACTERS);
  return {
    '@type': 'Event',
    name: textLine(event.title),
    url,
    ...(event.start_date === '' ? {} : dates(event)),
    ...(status ? { eventStatus: SCHEMA_STATUS[status] } : {}),
    ...(mode ? { eventAttendanceMode: SCHEMA_ATTENDANCE[mode] } : {}),
    ...(text === '' ? {} : { description: text }),
    ...(event.image ? { image: event.image.url } : {}),
    ...(places.length > 0 ? { location: places.length > 1 ? places : places[0] } : {}),
    ...organizers(event),
  };
}

function place({ venue, address, zip, city, stateprovince, country }: Venue): object {
  const parts = {
    streetAddress: address,
    postalCode: zip,
    addressLocality: city,
    addressRegion: stateprovince,
    addressCountry: country,
  };
  const known = Object.entries(parts).filter(([, part]) => part);
  return {
    '@type': 'Place',
    name: textLine(String(venue)),
    address: { '@type': 'PostalAddress', ...Object.fromEntries(known.map(([name, part]) => [name, textLine(part!)])) },
  };
}

function organizers({ organizer }: PublicEvent): object {
  const named = organizer.filter(({ organizer: name }) => typeof name === 'string');
  if (named.length === 0) return {};
  return {
    organizer: named.map(({ organizer: name }) => ({ '@type': 'Organization', name: textLine(String(name)) })),
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
  const minutes = Math.round(
    (Date.parse(`${wall.replace(' ', 'T')}Z`) - Date.parse(`${utc.replace(' ', 'T')}Z`)) / 60_000,
  );
  return `${wall.replace(' ', 'T')}${offsetText(minutes || 0, ':')}`;
}
