// What is sent to every kind of site, and what an answer shows of it, reduced to what a mapping can hold.

import type { Mapping } from '../../../src/mapping/mapping.ts';
import type { EventRecord, OrganizerRecord, VenueRecord } from '../../../src/records.ts';
import type { Json } from './site-under-test.ts';

/** Parameter -> the record's key, for everything that only some mappings hold; with what is sent. */
const EVENT: readonly (readonly [string, keyof EventRecord, unknown])[] = [
  ['timezone', 'timezone', 'Europe/Paris'],
  ['cost', 'cost', '$12.50'],
  ['website', 'website', 'https://tickets.example/7?a=1&b=2'],
  ['show_map', 'showMap', true],
  ['show_map_link', 'showMapLink', true],
  ['sticky', 'sticky', true],
  ['featured', 'featured', true],
];

const VENUE: readonly (readonly [string, keyof VenueRecord, unknown])[] = [
  ['address', 'address', '1 Quay Street'],
  ['city', 'city', 'Galway'],
  ['country', 'country', 'Ireland'],
  ['province', 'province', 'Connacht'],
  ['zip', 'zip', 'H91 X5'],
  ['phone', 'phone', '+353 91 1'],
  ['website', 'website', 'https://quay.example/'],
];

const ORGANIZER: readonly (readonly [string, keyof OrganizerRecord, unknown])[] = [
  ['phone', 'phone', '+353 91 2'],
  ['website', 'website', 'https://players.example/'],
  ['email', 'email', 'hello@players.example'],
];

function held(
  lines: readonly (readonly [string, string, unknown])[],
  keys: ReadonlySet<string> | undefined,
): Record<string, unknown> {
  return Object.fromEntries(lines.filter(([, key]) => keys?.has(key)).map(([name, , value]) => [name, value]));
}

/** An event with everything that the mapping can write beside its linked records. */
export function eventSample({ kinds }: Mapping): Json {
  return {
    title: 'Harbour concert',
    slug: 'harbour-concert',
    description: '<p>Music by the water.</p>',
    excerpt: 'By the water.',
    start_date: '2031-05-01 19:30:00',
    end_date: '2031-05-01 22:00:00',
    ...held(EVENT, kinds.event.writable),
  };
}

/** WordPress takes paragraphs out of a term's description. */
const paragraph = (text: string, as: 'posts' | 'terms' | undefined): string =>
  as === 'terms' ? text : `<p>${text}</p>`;

export function venueSample({ kinds }: Mapping): Json {
  return {
    venue: 'Quay Hall',
    description: paragraph('A hall.', kinds.venue?.as),
    ...held(VENUE, kinds.venue?.writable),
  };
}

export function organizerSample({ kinds }: Mapping): Json {
  return {
    organizer: 'The Players',
    description: paragraph('A troupe.', kinds.organizer?.as),
    ...held(ORGANIZER, kinds.organizer?.writable),
  };
}

const idOf = (value: unknown): unknown => (value as Json | undefined)?.id;
const idsOf = (value: unknown): unknown[] => [value].flat().map(idOf);

/** Of an answer, what `sent` names, as it was sent: linked records and terms as ids. */
export function shown(answer: Json, sent: Json): Json {
  const seen: Json = {};
  for (const name of Object.keys(sent)) {
    const value = answer[name];
    if (name === 'venue' && typeof sent.venue !== 'string') seen.venue = idsOf(value)[0] ?? [];
    else if (name === 'organizer' && typeof sent.organizer !== 'string') seen.organizer = idsOf(value);
    else if (name === 'categories' || name === 'tags') seen[name] = idsOf(value);
    else if (name === 'image') seen.image = String(idOf(value));
    else if (name === 'excerpt')
      seen.excerpt = String(value)
        .replace(/<\/?p>/g, '')
        .trim();
    else if (name === 'description') seen.description = String(value).trim();
    else seen[name] = value ?? '';
  }
  return seen;
}
