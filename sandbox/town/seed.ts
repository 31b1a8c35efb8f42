// The demo calendar as create requests of WordPress's REST API, in the form of the mapping wordpress-meta:
// `seed.php` runs them all in one run of PHP, which on WebAssembly takes seconds where a request for each
// takes minutes.

import { normalizeCost } from '../../src/calendar/cost.ts';
import { encodeCost } from '../../src/text/cost.ts';
import type { Entry, Town } from './content.ts';
import { drawPicture, PICTURES } from './pictures.ts';

/** One create request. In the body, `{ ref: KEY }` stands for the id of the entry with that key. */
export interface SeedEntry {
  collection: string;
  key?: string;
  body?: Record<string, unknown>;
  /** Of an upload: the file in base64, and its name. */
  png?: string;
  name?: string;
}

const ref = (kind: string, key: string) => ({ ref: `${kind} ${key}` });

/** In an order in which each entry comes after those that it refers to. */
export function seedOf(town: Town): SeedEntry[] {
  const isRoot = ({ parent }: Entry) => parent === undefined;
  return [
    ...PICTURES.map((name) => ({
      collection: 'media',
      key: `image ${name}`,
      name: `gullhaven-${name}.png`,
      png: Buffer.from(drawPicture(name)).toString('base64'),
    })),
    ...[...town.categories.filter(isRoot), ...town.categories.filter((entry) => !isRoot(entry))].map((entry) => ({
      collection: 'event_categories',
      ...term('category', entry),
    })),
    ...town.tags.map((entry) => ({ collection: 'tags', ...term('tag', entry) })),
    ...town.venues.map((entry) => post('venues', entry, 'venue')),
    ...town.organizers.map((entry) => post('organizers', entry, 'organizer')),
    ...town.events.map((entry) => post('events', entry, 'title')),
  ];
}

const keyOf = (kind: string, { key }: Entry) => (key === undefined ? {} : { key: `${kind} ${key}` });

function term(kind: string, entry: Entry) {
  const { body, parent } = entry;
  return { ...keyOf(kind, entry), body: { ...body, ...(parent === undefined ? {} : { parent: ref(kind, parent) }) } };
}

/** Posts have these fields of their own; all others but the coordinates are meta of the same name. */
const POST_FIELDS = ['excerpt', 'date'];
/** Texts. */
const COORDINATES: Record<string, string> = { geo_lat: 'latitude', geo_lng: 'longitude' };

function post(collection: string, entry: Entry, titleField: string): SeedEntry {
  const { [titleField]: title, description, status = 'publish', ...rest } = entry.body;
  const fields = Object.entries(rest);
  const { image, venue, organizers, categories, tags } = entry;
  const metaFields = fields.filter(([name]) => !POST_FIELDS.includes(name));
  const meta = Object.fromEntries(
    metaFields.map(([name, value]) => (COORDINATES[name] ? [COORDINATES[name], String(value)] : [name, value])),
  );
  return {
    collection,
    ...keyOf(titleField, entry),
    body: {
      title,
      content: description,
      status,
      ...Object.fromEntries(fields.filter(([name]) => POST_FIELDS.includes(name))),
      ...(image && { featured_media: ref('image', image) }),
      ...(categories && { event_categories: categories.map((key) => ref('category', key)) }),
      ...(tags && { tags: tags.map((key) => ref('tag', key)) }),
      meta: {
        ...meta,
        ...(meta.cost !== undefined && { cost: encodeCost(normalizeCost(meta.cost)) }),
        // Written by the gateway as well: the region under the name that fits every country.
        ...(collection === 'venues' && { stateprovince: meta.state ?? meta.province ?? '' }),
        ...(venue && { venue_ids: [ref('venue', venue)] }),
        ...(organizers && { organizer_ids: organizers.map((key) => ref('organizer', key)) }),
      },
    },
  };
}
