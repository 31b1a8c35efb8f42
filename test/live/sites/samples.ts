// Sample records for every site, reduced to the fields that its mapping can write.

import type { Mapping } from '../../../src/mapping/mapping.ts';
import type { EventRecord, OrganizerRecord, VenueRecord } from '../../../src/model/records.ts';
import type { Json } from './test-site.ts';

/** Parameter, the record's key, and the sample value, for the fields that only some mappings can write. */
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

function writableSamples(
  fields: readonly (readonly [string, string, unknown])[],
  keys: ReadonlySet<string> | undefined,
): Record<string, unknown> {
  return Object.fromEntries(fields.filter(([, key]) => keys?.has(key)).map(([name, , value]) => [name, value]));
}

/** An event with every writable field except links. */
export function eventSample({ kinds }: Mapping): Json {
  return {
    title: 'Harbour concert',
    slug: 'harbour-concert',
    description: '<p>Music by the water.</p>',
    excerpt: 'By the water.',
    start_date: '2031-05-01 19:30:00',
    end_date: '2031-05-01 22:00:00',
    ...writableSamples(EVENT, kinds.event.writable),
  };
}

/** WordPress removes paragraphs from a term's description. */
const paragraph = (text: string, as: 'posts' | 'terms' | undefined): string =>
  as === 'terms' ? text : `<p>${text}</p>`;

export function venueSample({ kinds }: Mapping): Json {
  return {
    venue: 'Quay Hall',
    description: paragraph('A hall.', kinds.venue?.storedAs),
    ...writableSamples(VENUE, kinds.venue?.writable),
  };
}

export function organizerSample({ kinds }: Mapping): Json {
  return {
    organizer: 'The Players',
    description: paragraph('A troupe.', kinds.organizer?.storedAs),
    ...writableSamples(ORGANIZER, kinds.organizer?.writable),
  };
}

const idOf = (value: unknown): unknown => (value as Json | undefined)?.id;
const idsOf = (value: unknown): unknown[] => [value].flat().map(idOf);

/** The fields of a response that `sent` has, in the form of a request: linked records and terms as ids. */
export function reducedTo(response: Json, sent: Json): Json {
  const fields: Json = {};
  for (const name of Object.keys(sent)) {
    const value = response[name];
    if (name === 'venue' && typeof sent.venue !== 'string') fields.venue = idsOf(value)[0] ?? [];
    else if (name === 'organizer' && typeof sent.organizer !== 'string') fields.organizer = idsOf(value);
    else if (name === 'categories' || name === 'tags') fields[name] = idsOf(value);
    else if (name === 'image') fields.image = String(idOf(value));
    else if (name === 'excerpt')
      fields.excerpt = String(value)
        .replace(/<\/?p>/g, '')
        .trim();
    else if (name === 'description') fields.description = String(value).trim();
    else fields[name] = value ?? '';
  }
  return fields;
}
