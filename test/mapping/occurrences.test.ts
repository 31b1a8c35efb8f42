// How the record of a series becomes its occurrences.

import { expect } from 'chai';
import fc from 'fast-check';
import type { CmsRecord } from '../../src/cms/port.ts';
import { ConfigError } from '../../src/errors.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { MAX_OCCURRENCES } from '../../src/mapping/occurrences.ts';
import {
  type EventRecord,
  FIRST_ALLOCATED_ID,
  FIRST_EMBEDDED_ID,
  isOccurrenceId,
  occurrenceId,
  occurrenceIdRange,
  seriesIdOf,
} from '../../src/model/records.ts';

const SITE = { url: 'https://cms.example', name: 'Fake', timezone: 'America/New_York' };

const mappingWith = (event: object = {}) =>
  compileMapping(
    {
      name: 'series',
      upstream: 'wordpress',
      event: {
        posts: 'classes',
        readOnly: true,
        occurrences: {},
        fields: {
          start_date: 'meta.start',
          end_date: 'meta.end',
          all_day: 'meta.all_day',
          hide_from_listings: 'meta.hidden',
        },
        ...event,
      },
    },
    'series',
  ).kinds.event;

const seriesOf = (occurrences: unknown, more: CmsRecord = {}, meta: CmsRecord = {}): CmsRecord => ({
  id: 12,
  status: 'publish',
  slug: 'yoga',
  link: 'https://cms.example/yoga/',
  meta: { start: '2027-03-07 10:00:00', end: '2027-03-07 11:30:00', ...meta },
  calendar_occurrences: occurrences,
  ...more,
});

const read = (record: CmsRecord): EventRecord[] => mappingWith().occurrences!(record, SITE);

describe('the occurrences of a series', () => {
  it('are events with their own ids, slugs and times, and everything else of the series', () => {
    const times = (day: string) => ({ start: `${day} 10:00:00`, end: `${day} 11:30:00` });
    const [first, second, ...more] = read(seriesOf([times('2027-03-14'), times('2027-03-07')]));
    expect(more).to.deep.equal([]);
    // 20,884 days after 1970-01-01.
    expect(first).to.include({ id: 2_000_000_122_088_400, slug: 'yoga-2027-03-07', parent: 12, status: 'publish' });
    expect(second).to.include({ slug: 'yoga-2027-03-14', url: 'https://cms.example/yoga/', hidden: false });
  });

  it('keep their wall time when the clocks change', () => {
    // The clocks of New York went forward on 2027-03-14 and go back on 2027-11-07.
    const utc = ['2027-03-07', '2027-03-14', '2027-11-06', '2027-11-07'].map((day) =>
      read(seriesOf([{ start: `${day} 10:00:00`, end: `${day} 11:30:00` }]))[0]?.startUtc.slice(11),
    );
    expect(utc).to.deep.equal(['15:00:00', '14:00:00', '14:00:00', '15:00:00']);
  });

  it('may be several on one day, which are numbered in their order', () => {
    const at = (time: string) => ({ start: `2027-03-07 ${time}`, end: `2027-03-07 ${time}` });
    const events = read(seriesOf([at('18:00:00'), at('09:00:00')]));
    expect(events.map(({ slug, id, start }) => [slug, id % 100, start.slice(11)])).to.deep.equal([
      ['yoga-2027-03-07', 0, '09:00:00'],
      ['yoga-2027-03-07-2', 1, '18:00:00'],
    ]);
  });

  it('have the zone and the address of the series instead of longer texts', () => {
    const time = { start: '2027-03-07 10:00:00', end: '2027-03-07 11:30:00' };
    for (const [characters, timezone, url] of [
      [100, 'Z'.repeat(100), 'u'.repeat(2000)],
      [101, SITE.timezone, 'https://cms.example/yoga/'],
    ] as const) {
      const sent = { timezone: 'Z'.repeat(characters), url: 'u'.repeat(characters * 20) };
      expect(read(seriesOf([{ ...time, ...sent }]))[0], `${characters}`).to.include({ timezone, url });
    }
    expect(read(seriesOf([{ ...time, start: time.start.padEnd(100_000) }]))).to.deep.equal([]);
  });

  it('have the zone, the address and the whole days that the plugin gives them', () => {
    const [event] = read(
      seriesOf([
        { start: '2027-03-07 10:00:00', end: '2027-03-08 00:00:00', all_day: true, timezone: 'Asia/Tokyo', url: 'u' },
      ]),
    );
    expect(event).to.include({ allDay: true, timezone: 'Asia/Tokyo', url: 'u', end: '2027-03-08 23:59:59' });
    expect(event).to.include({ start: '2027-03-07 00:00:00', startUtc: '2027-03-06 15:00:00' });
  });

  it('are hidden if the plugin hides the series', () => {
    const times = [{ start: '2027-03-07 10:00:00', end: '2027-03-07 11:30:00' }];
    expect(read(seriesOf(times, {}, { hidden: true }))[0]?.hidden).to.equal(true);
  });

  it('are in lists instead of the series, even if none is in the window', () => {
    const { read: readEvent } = mappingWith();
    expect(readEvent(seriesOf([]), SITE).hidden).to.equal(true);
    expect(readEvent(seriesOf(null), SITE).hidden).to.equal(false);
    expect([read(seriesOf([])), read(seriesOf(null)), read(seriesOf(undefined))]).to.deep.equal([[], [], []]);
  });

  it('leave the series as visible as it was: an update of its end does not send it hidden', () => {
    const hidden = { at: 'meta.hidden', sentWith: ['end_date'] };
    const fields = { start_date: 'meta.start', end_date: 'meta.end', hide_from_listings: hidden };
    const end = '2027-03-07 12:00:00';
    const current = seriesOf([], {}, { hidden: false });
    expect(mappingWith({ readOnly: false, fields }).write({ end }, { site: SITE, current })).to.deep.equal({
      meta: { end, hidden: false },
    });
  });

  it('are left out if they have no valid start; an end before the start is the start', () => {
    const values = [
      { start: '2027-02-30 10:00:00', end: '2027-03-02 10:00:00' },
      { start: 7 },
      'text',
      null,
      { start: '2027-03-07 10:00:00', end: '2027-03-01 10:00:00' },
    ];
    expect(read(seriesOf(values)).map(({ start, end }) => [start, end])).to.deep.equal([
      ['2027-03-07 10:00:00', '2027-03-07 10:00:00'],
    ]);
  });

  it(`are at most ${MAX_OCCURRENCES}`, () => {
    const values = Array.from({ length: 10_000 }, (_, n) => {
      const day = new Date(Date.UTC(2020, 0, 1 + n)).toISOString().slice(0, 10);
      return { start: `${day} 10:00:00`, end: `${day} 11:00:00` };
    });
    expect(read(seriesOf(values))).to.have.length(MAX_OCCURRENCES);
  });

  it('have slugs that WordPress could store', () => {
    const times = [{ start: '2027-03-07 10:00:00', end: '2027-03-07 11:30:00' }];
    const [event] = read(seriesOf(times, { slug: '%e3%82%88'.repeat(22) }));
    expect(event?.slug)
      .to.have.length.at.most(200)
      .and.match(/(%[0-9a-f]{2})+-2027-03-07$/);
    expect(read(seriesOf(times, { slug: '' }))[0]?.slug).to.equal('');
  });
});

describe('the id of an occurrence', () => {
  const seriesIds = fc.oneof(
    fc.integer({ min: 1, max: 199_999_999 }),
    fc.integer({ min: FIRST_ALLOCATED_ID + 1, max: FIRST_ALLOCATED_ID + 50_359_961 }),
  );

  it('tells its series, and is neither the id of a post or term nor of an embedded record', () => {
    const day = fc.date({ min: new Date('1970-01-01'), max: new Date('2243-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(seriesIds, day, fc.nat(99), (seriesId, date, number) => {
        const id = occurrenceId(seriesId, `${date.toISOString().slice(0, 10)} 10:00:00`, number)!;
        const { from, to } = occurrenceIdRange(seriesId);
        expect(Number.isSafeInteger(id) && isOccurrenceId(id) && id < FIRST_EMBEDDED_ID).to.equal(true);
        expect(seriesIdOf(id)).to.equal(seriesId);
        expect(id >= from && id < to).to.equal(true);
      }),
    );
  });

  it('is different for every series, day and number', () => {
    const key = fc.tuple(seriesIds, fc.nat(99_999), fc.nat(99));
    fc.assert(
      fc.property(fc.uniqueArray(key, { selector: String, minLength: 2, maxLength: 20 }), (keys) => {
        const ids = keys.map(([seriesId, day, number]) =>
          occurrenceId(seriesId, `${new Date(day * 86_400_000).toISOString().slice(0, 10)} 00:00:00`, number),
        );
        expect(new Set(ids).size).to.equal(keys.length);
      }),
    );
  });

  it('exists only for days from 1970 on, a hundred occurrences a day, and ids of posts that leave room', () => {
    expect(occurrenceId(1, '1969-12-31 10:00:00', 0)).to.equal(undefined);
    expect(occurrenceId(1, '2027-03-07 10:00:00', 100)).to.equal(undefined);
    for (const id of [200_000_000, 1e12, FIRST_ALLOCATED_ID + 50_359_962]) {
      expect(occurrenceId(id, '2027-03-07 10:00:00', 0)).to.equal(undefined);
      const { from, to } = occurrenceIdRange(id);
      expect(to).to.equal(from);
    }
    expect(seriesIdOf(1_000_000_000_012)).to.equal(1_000_000_000_012);
    expect(seriesIdOf(FIRST_EMBEDDED_ID + 5)).to.equal(FIRST_EMBEDDED_ID + 5);
  });

  it('hide no series whose flag is sent along with another field', () => {
    const fields = { start_date: 'meta.start', end_date: 'meta.end' };
    const hidden = { at: 'meta.hidden', as: 'boolean', sentWith: ['title'] };
    const { write } = mappingWith({ readOnly: false, fields: { ...fields, hide_from_listings: hidden } });
    const current = seriesOf([], {}, { hidden: false });
    expect(write({ title: 'Yoga' }, { site: SITE, current }).meta).to.deep.equal({ hidden: false });
  });
});

describe('the window of the occurrences', () => {
  it('goes with every request for events', () => {
    const { recordParams, selectedFields } = mappingWith({ occurrences: { pastDays: 0, futureDays: 10 } });
    expect(recordParams).to.deep.equal({ calendar_occurrences: '0,10' });
    expect(selectedFields.split(',')).to.include('calendar_occurrences');
    expect(mappingWith().recordParams).to.deep.equal({ calendar_occurrences: '180,366' });
  });

  const refusal = (event: object): ConfigError => {
    try {
      mappingWith(event);
    } catch (error) {
      if (error instanceof ConfigError) return error;
    }
    throw new Error('the mapping was accepted');
  };

  it('has bounds', () => {
    for (const occurrences of [{ futureDays: 36_600 }, { pastDays: -1 }, { pastDays: 1.5 }, { days: 3 }])
      expect(refusal({ occurrences }).message, JSON.stringify(occurrences)).to.contain('/event/occurrences');
  });

  it('is refused for events with embedded venues', () => {
    const fields = { start_date: 'meta.s', end_date: 'meta.e', venue: { embedded: { venue: 'meta.v' } } };
    expect(refusal({ fields }).message).to.contain('embedded venues');
  });
});
