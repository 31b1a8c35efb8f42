// Recorded events of The Events Calendar, read as a source: every property is the recorded one, but for those listed.

import { expect } from 'chai';
import type { SourceEvent } from '../../../src/cms/sources/source.ts';
import { isObject, type JsonObject } from '../../../src/model/json.ts';
import { type EventsSite, recordedEvents, startEventsSite } from './events-site.ts';

/** Why a property of an event is not read. */
const NOT_READ: Readonly<Record<string, string>> = {
  author: 'a user of the other site',
  'date modified': 'in the zone of the other site: the same in UTC is read',
  'status hide_from_listings': 'a public list has published events only, and none that no list shows',
  'show_map show_map_link sticky featured': 'how the other site shows the event',
  'slug rest_url global_id_lineage': 'names within the other site',
  custom_fields: 'of the other site',
  'start_date_details end_date_details utc_start_date_details utc_end_date_details timezone_abbr': 'from the times',
  cost_details: 'from the cost',
};
const NOT_READ_OF_VENUES = 'id author status date date_utc modified modified_utc url slug description';
const NOT_READ_OF_ORGANIZERS = `${NOT_READ_OF_VENUES} email`;
const MADE_BY_GATEWAY = 'global_id global_id_lineage json_ld';

const words = (text: string) => text.split(' ');
const decode = (html: string) =>
  html.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))).replaceAll('&amp;', '&');

/** Independent of the sanitizer: the changes that it makes to the recorded texts, one by one. */
const safe = (html: string) =>
  decode(html)
    .replaceAll('h2>', 'h3>')
    .replace(/<a href="([^"]+)">/g, '<a href="$1" rel="nofollow noopener">')
    .replace('http://x.example"', 'http://x.example/"')
    .replaceAll('&', '&amp;');

/** What the source event has to have of a recorded event, by the property of the recording. */
const EXPECTED: Readonly<Record<string, (recorded: JsonObject) => Partial<Record<keyof SourceEvent, unknown>>>> = {
  id: ({ id }) => ({ key: String(id) }),
  global_id: ({ global_id }) => ({ uid: global_id }),
  // The text of a title with tags: the one recorded is `<b>Bold</b> …`.
  title: ({ title }) => ({
    title: String(title).includes('<') ? 'Bold riverside &amp; “quotes”' : title,
  }),
  description: ({ description }) => ({ description: safe(String(description)) }),
  excerpt: ({ excerpt }) => ({ excerpt: safe(String(excerpt)) }),
  url: ({ url }) => ({ url }),
  website: ({ website }) => ({ website: decode(String(website)) }),
  cost: ({ cost }) => ({ cost: decode(String(cost)) }),
  all_day: ({ all_day }) => ({ allDay: all_day }),
  start_date: ({ start_date }) => ({ start: start_date }),
  end_date: ({ end_date }) => ({ end: end_date }),
  utc_start_date: ({ utc_start_date }) => ({ startUtc: utc_start_date }),
  utc_end_date: ({ utc_end_date }) => ({ endUtc: utc_end_date }),
  timezone: ({ timezone }) => ({ timezone }),
  date_utc: ({ date_utc }) => ({ createdUtc: date_utc }),
  modified_utc: ({ modified_utc }) => ({ modifiedUtc: modified_utc }),
  categories: ({ categories }) => ({ categories: namesOf(categories) }),
  tags: ({ tags }) => ({ tags: namesOf(tags) }),
  image: ({ image }) => ({ image: isObject(image) ? pick(image, 'url width height') : undefined }),
};

const namesOf = (terms: unknown) => (terms as JsonObject[]).map(({ name }) => name);
const pick = (json: JsonObject, names: string) => Object.fromEntries(words(names).map((name) => [name, json[name]]));

/** A linked record without what is not read, `''` for what it lacks, and its name as `name`. */
function linked(json: JsonObject, kind: 'venue' | 'organizer', texts: string, notRead: string): JsonObject {
  const known = [...words(`${kind} ${texts} ${notRead} ${MADE_BY_GATEWAY}`)];
  if (kind === 'venue') known.push('stateprovince', 'show_map', 'show_map_link');
  expect(Object.keys(json).filter((name) => !known.includes(name))).to.deep.equal([]);
  return { name: json[kind], ...Object.fromEntries(words(texts).map((name) => [name, json[name] ?? ''])) };
}

describe('recorded events of The Events Calendar as a source', () => {
  let site: EventsSite;
  before(async () => {
    site = await startEventsSite();
  });
  after(() => site.close());

  it('have every property but the documented ones', async () => {
    const recorded = recordedEvents();
    site.pages = [recorded.slice(0, 50), recorded.slice(50)];
    const snapshot = await site.read();
    expect(snapshot?.remarks).to.deep.equal([]);
    expect(snapshot?.events).to.have.length(recorded.length).and.above(80);
    const notRead = words(Object.keys(NOT_READ).join(' '));
    for (const [index, event] of snapshot!.events.entries()) {
      const from = recorded[index]!;
      for (const name of Object.keys(from)) {
        if (notRead.includes(name) || ['venue', 'organizer'].includes(name)) continue;
        const [key, value] = Object.entries(EXPECTED[name]!(from))[0]!;
        expect(event[key as keyof SourceEvent], `${name} of ${from.id}`).to.deep.equal(value);
      }
      const { latitude, longitude, ...venue } = event.venue!;
      expect([latitude, longitude]).to.deep.equal([null, null]);
      const texts = 'address city country province state zip phone website';
      expect(venue).to.deep.equal(linked(from.venue as JsonObject, 'venue', texts, NOT_READ_OF_VENUES));
      const organizers = (from.organizer as JsonObject[]).map((one) =>
        linked(one, 'organizer', 'phone website', NOT_READ_OF_ORGANIZERS),
      );
      expect(event.organizers).to.deep.equal(organizers);
    }
  });
});
