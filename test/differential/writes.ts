// Random records, written through the original API and through the gateway: the same payloads to both, one after the
// other, so that slugs are equal too.

import fc from 'fast-check';
import type { Json, JsonResponse } from '../live/json-client.ts';
import type { PluginSite } from '../plugins/plugin-test.ts';
import type { Content } from './queries.ts';

/** A create, and an update of all its fields. */
export interface WrittenRecord {
  path: 'events' | 'venues' | 'organizers';
  created: Json;
  updated: Json;
}

const ORIGINAL_TYPES = { events: 'tribe_events', venues: 'tribe_venue', organizers: 'tribe_organizer' };

const TEXTS = ['A text', 'Größe & "more"', '<p>One</p>\n<p>Two</p>', '<b>bold</b> 5 > 3', 'Emoji 🎉', "It's – it"];
const MONEY = [
  '10',
  '$15',
  '15$',
  '€10',
  '12.50 €',
  '€ 12',
  'CHF 20',
  'kr 100',
  '20 kr.',
  'R$ 50',
  'USD 20',
  '12 EUR',
].concat(['Rs. 100', 'Free', 'Donation', '5-25', '10 - 20', '$5 - $10', '0 - 20', '12,50 €', 'Pay what you want', '']);
const ZONES = ['America/New_York', 'Europe/Paris', 'Asia/Kathmandu', 'UTC', 'UTC+5.5', 'UTC-3'];

export function writesFor({ posts, terms }: Content): fc.Arbitrary<WrittenRecord> {
  const published = (type: string) => posts.filter((post) => post.type === type && post.status === 'publish');
  const ids = (list: readonly { id: number }[], maxLength: number) =>
    fc.uniqueArray(fc.constantFrom(...list.map(({ id }) => id)), { minLength: 1, maxLength });
  const text = fc.constantFrom(...TEXTS);
  const flag = fc.boolean();
  const day = fc
    .integer({ min: 0, max: 1500 })
    .map((days) => new Date(Date.UTC(2030, 0, 1 + days)).toISOString().slice(0, 10));
  const times = fc.constantFrom(
    ['10:00:00', '12:00:00'],
    ['00:00:00', '23:59:59'],
    ['02:00:00', '02:30:00'],
    ['19:30:00', '23:00:00'],
  );
  const category = ids(
    terms.filter(({ taxonomy }) => taxonomy === 'tribe_events_cat'),
    3,
  );
  const tag = ids(
    terms.filter(({ taxonomy }) => taxonomy === 'post_tag'),
    2,
  );
  const event = fc
    .record({
      ...{ title: text, description: text, excerpt: text, status: fc.constantFrom('publish', 'publish', 'draft') },
      ...{ day, times, timezone: fc.constantFrom(...ZONES), all_day: flag, cost: fc.constantFrom(...MONEY) },
      website: fc.constantFrom('https://tickets.example/7', 'https://tickets.example/?a=1'),
      ...{ show_map: flag, show_map_link: flag, hide_from_listings: flag, sticky: flag, featured: flag },
      ...{ categories: category, tags: tag },
      ...{ venue: ids(published('tribe_venue'), 1).map(([id]) => id), organizer: ids(published('tribe_organizer'), 3) },
    })
    .map(({ day: date, times: [from, to], ...rest }) => ({
      ...rest,
      start_date: `${date} ${from}`,
      end_date: `${date} ${to}`,
    }));
  const name = fc.integer({ min: 1, max: 1e9 }).map((number) => `Place & co ${number}`);
  const website = fc.constantFrom('https://place.example/', '');
  const phone = fc.constantFrom('+353 91 1', '');
  const venue = fc.record({
    ...{ venue: name, description: text, address: fc.constantFrom('1 Quay', ''), city: fc.constantFrom('Köln', '') },
    ...{ country: fc.constantFrom('United States', 'Ireland', ''), province: fc.constantFrom('Connacht', '') },
    ...{ state: fc.constantFrom('NY', ''), zip: fc.constantFrom('12345', ''), phone, website },
    ...{ show_map: flag, show_map_link: flag, status: fc.constant('publish') },
  });
  const organizer = fc.record({
    ...{ organizer: name, description: text, phone, website, email: fc.constantFrom('a@b.example', '') },
    status: fc.constant('publish'),
  });
  const written = (path: WrittenRecord['path'], record: fc.Arbitrary<Json>) =>
    fc.record({ path: fc.constant(path), created: record, updated: record });
  return fc.oneof(
    { weight: 6, arbitrary: written('events', event) },
    { weight: 1, arbitrary: written('venues', venue) },
    { weight: 1, arbitrary: written('organizers', organizer) },
  );
}

/** One answer, and what the database has after it. */
export interface Step {
  what: string;
  answer: { status: number; body: unknown };
}

type Send = (path: string, method: 'POST' | 'PUT', json: Json) => Promise<JsonResponse>;

/** Creates and updates the record, and deletes it for good. The ids of the two sides differ, and the moments. */
async function play(site: PluginSite, { path, created, updated }: WrittenRecord, send: Send): Promise<Step[]> {
  const steps: Step[] = [];
  let id: unknown;
  const step = async (what: string, response: JsonResponse): Promise<void> => {
    id ??= response.body.id;
    const { status, body } = response;
    steps.push({ what: `${what}: answer`, answer: { status, body: withoutIdentity(body, id) } });
    if (typeof id !== 'number') return;
    const shown = await site.wordpress(`tribe/events/v1/${path}/${id}`);
    steps.push({
      what: `${what}: the original shows`,
      answer: { status: shown.status, body: withoutIdentity(shown.body, id) },
    });
    const rows = await site.wordpress(`differential/v1/rows/${id}`);
    steps.push({ what: `${what}: rows`, answer: { status: 200, body: withoutIdentity(rows.body, id) } });
  };
  await step(`POST ${path}`, await send(path, 'POST', created));
  if (typeof id !== 'number') return steps;
  await step(`PUT ${path}`, await send(`${path}/${id}`, 'PUT', updated));
  await site.wordpress(`wp/v2/${ORIGINAL_TYPES[path]}/${id}?force=true`, { method: 'DELETE' });
  return steps;
}

const MOMENTS = new Set(['date', 'date_utc', 'modified', 'modified_utc']);

function withoutIdentity(body: unknown, id: unknown): unknown {
  const text = JSON.stringify(body, (key, value) => (MOMENTS.has(key) ? undefined : value));
  // Not in a telephone number: `+353 91 1`.
  return JSON.parse(text.replaceAll(new RegExp(`(?<!\\+[\\d ]*)\\b${id}\\b`, 'g'), '0'));
}

/** What both sides do, step by step. */
export async function playBoth(site: PluginSite, record: WrittenRecord): Promise<[Step[], Step[]]> {
  const original = await play(site, record, (path, method, json) =>
    site.wordpress(`tribe/events/v1/${path}`, { method, json }),
  );
  const here = await play(site, record, (path, method, json) =>
    site.request(path, { method, json, as: 'admin', mount: '/wp-json/tribe/events/v1' }),
  );
  return [original, here];
}
