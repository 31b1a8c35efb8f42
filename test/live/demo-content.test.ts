// The demo's content: on any day, its calendar shows the promised events.

import { expect } from 'chai';
import { Temporal } from 'temporal-polyfill';
import { feedsOf } from '../../sandbox/demo-feeds.ts';
import { type Entry, townCalendar } from '../../sandbox/town/content.ts';
import { drawPicture } from '../../sandbox/town/pictures.ts';
import { seedOf } from '../../sandbox/town/seed.ts';
import { loadMapping } from '../../src/mapping/load.ts';

const DAYS = ['2026-11-21', '2027-01-01', '2027-12-31', '2028-02-29', '2028-03-12', '2029-07-15'].map((day) =>
  Temporal.PlainDate.from(day),
);
const dayOf = ({ body }: Entry, name: string) => Temporal.PlainDate.from(String(body[name]).slice(0, 10));
const all = (entries: Entry[], name: string) => new Set(entries.map(({ body }) => body[name]));

describe("the demo's calendar", () => {
  for (const today of DAYS) {
    it(`is complete when filled on ${today}`, () => {
      const { events, venues, organizers, categories, tags } = townCalendar(today);
      expect([venues.length, organizers.length, categories.length, tags.length]).to.deep.equal([8, 6, 10, 12]);
      expect(events.length).to.be.at.least(60);
      expect(all(events, 'timezone').size).to.be.at.least(5);
      expect(new Set(events.map(({ image }) => image)).size).to.equal(9); // eight pictures, and none
      const days = events.map((event) => today.until(dayOf(event, 'start_date'), { largestUnit: 'days' }).days);
      expect(Math.min(...days)).to.be.within(-3 * 366, -2 * 365);
      expect(Math.max(...days)).to.be.within(270, 366);
      expect(events.some(({ body }) => body.all_day === false)).to.equal(true);
      const allDay = events.filter(({ body }) => body.all_day === true);
      expect(allDay.some((event) => dayOf(event, 'start_date').equals(dayOf(event, 'end_date')))).to.equal(true);
      expect(allDay.some((event) => !dayOf(event, 'start_date').equals(dayOf(event, 'end_date')))).to.equal(true);
      const cancelled = events.filter(({ body }) => body.event_status === 'cancelled');
      expect(cancelled.some((event) => Temporal.PlainDate.compare(dayOf(event, 'start_date'), today) > 0)).to.equal(
        true,
      );
      for (const { body } of venues) expect([body.geo_lat, body.geo_lng].every(Number.isFinite)).to.equal(true);
      for (const { body } of events) expect(String(body.start_date) < String(body.end_date)).to.equal(true);
    });
  }

  it('has an event that a feed beside it has at the same time and place', () => {
    for (const today of DAYS) {
      const feed = feedsOf(today)['sailing-club.ics']!.split('\r\n');
      const { body, venue } = townCalendar(today).events.find((event) => feed.includes(`SUMMARY:${event.body.title}`))!;
      const start = String(body.start_date).replace(/[-:]/g, '').replace(' ', 'T');
      expect(feed).to.include(`DTSTART;TZID=${body.timezone}:${start}`);
      const { venues } = townCalendar(today);
      expect(feed).to.include(`LOCATION:${venues.find(({ key }) => key === venue)!.body.venue}`);
    }
  });

  it('is seeded in the form of the mapping, each record after those that it refers to', () => {
    const { kinds } = loadMapping('wordpress-meta');
    const paths = new Set(
      Object.values(kinds).flatMap((kind) => [...(kind?.writtenPathsByProperty.values() ?? [])].flat()),
    );
    const created = new Set<string>();
    const collections = new Set<string>();
    const entries = seedOf(townCalendar(DAYS[0]!));
    const wrong: string[] = [];
    for (const { collection, key, body = {} } of entries) {
      for (const name of Object.keys(body.meta ?? {})) if (!paths.has(`meta.${name}`)) wrong.push(name);
      for (const [, ref] of JSON.stringify(body).matchAll(/"ref":"([^"]*)"/g)) if (!created.has(ref!)) wrong.push(ref!);
      if (key !== undefined) created.add(key);
      collections.add(collection);
    }
    expect(wrong).to.deep.equal([]);
    // The companion plugin registers coordinates as texts: WordPress refuses numbers.
    const square = entries.find(({ key }) => key === 'venue square')!.body!;
    expect(square.meta).to.include({ latitude: '43.9012', longitude: '-69.6271' });
    expect([...collections]).to.deep.equal(['media', 'event_categories', 'tags', 'venues', 'organizers', 'events']);
    expect(created).to.include('venue square').and.to.include('image market');
    expect(entries.length).to.be.above(100);
  });

  it('references only records created before', () => {
    const town = townCalendar(DAYS[0]!);
    const keys = (entries: Entry[]) => entries.map(({ key }) => key);
    for (const event of town.events) {
      if (event.venue) expect(keys(town.venues)).to.include(event.venue);
      expect(keys(town.organizers)).to.include.members([...(event.organizers ?? [])]);
      expect(keys(town.categories)).to.include.members([...(event.categories ?? [])]);
      expect(keys(town.tags)).to.include.members([...(event.tags ?? [])]);
    }
    const tops = town.categories.filter(({ parent }) => parent === undefined);
    for (const { parent } of town.categories) if (parent) expect(keys(tops)).to.include(parent);
  });

  it('creates images that are PNG files of 800 by 600', () => {
    const bytes = drawPicture('stage');
    expect(bytes.subarray(0, 8).toString('hex')).to.equal('89504e470d0a1a0a');
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).to.deep.equal([800, 600]);
  }).timeout(20_000);
});
