// Date parameters of the event list: whole days, strict dates, time zones and default window.

import { expect } from 'chai';
import fc from 'fast-check';
import { dateWindow } from '../../src/calendar/dates.ts';
import type { EventRecord } from '../../src/model/records.ts';
import { parseZone } from '../../src/time/zones.ts';
import { expectInvalid } from '../record/expectations.ts';
import type { TestGateway } from '../start-gateway.ts';
import { remove, upsert } from '../store/changes.ts';
import { event } from '../store/sample-records.ts';
import { seededGateway } from './seeded-gateway.ts';

const at = (id: number, start: string, end = start, more: Partial<EventRecord> = {}) =>
  event(id, { start, end, timezone: 'America/New_York', ...more });

/** Events around 2027-03-12. The last one is in another zone; its own clock counts. */
const DAY = [
  at(1, '2027-03-11 23:59:59', '2027-03-12 00:30:00'),
  at(2, '2027-03-12 00:00:00', '2027-03-12 23:59:59', { allDay: true }),
  at(3, '2027-03-12 10:00:00', '2027-03-12 12:00:00'),
  at(4, '2027-03-12 23:59:59', '2027-03-13 00:00:00'),
  at(5, '2027-03-13 00:00:00', '2027-03-13 01:00:00'),
  at(6, '2027-03-12 05:00:00', '2027-03-12 06:00:00', { timezone: 'Asia/Tokyo', startUtc: '2027-03-11 20:00:00' }),
];

const windowAt = (ends_after: string, nowMs: number, zone: string) =>
  dateWindow({ ends_after }, { nowMs, zone: parseZone(zone)!, strict: false, withDefaults: true });

describe('date parameters of the event list', () => {
  let gateway: TestGateway;
  afterEach(() => gateway.stop());

  const list = async (query: string) => {
    const { status, body } = await gateway.request(`/events?per_page=50&${query}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return { ids: body.events.map(({ id }: { id: number }) => id), url: body.rest_url as string };
  };
  const D = '2027-03-12';

  const WHOLE_DAYS: [string, number[]][] = [
    [`start_date=${D}&end_date=${D}`, [2, 6, 3]],
    [`start_date=${D}`, [2, 6, 3, 4, 5]],
    [`start_date=${D} 23:30:00`, [2, 6, 3, 4, 5]],
    [`end_date=${D}&start_date=2027-03-01`, [1, 2, 6, 3]],
    [`starts_before=${D}`, [1, 2, 6, 3]],
    [`starts_after=${D}`, [5]],
    [`starts_after=2027-03-11`, [2, 6, 3, 4, 5]],
    [`ends_before=${D}`, [1, 6, 3]],
    [`ends_after=${D}`, [4, 5]],
    [`ends_after=2027-03-11&starts_before=${D}`, [1, 2, 6, 3]],
    [`start_date=${D}&ends_before=${D}`, [6, 3]],
    [`start_date=2027-03-13&end_date=${D}`, []],
    // Named zones: the date in UTC counts. 03-12 23:00 in -08:00 is the 13th, 03-13 00:30 in +02:00 the 12th.
    ['start_date=2027-03-12T23:00:00-08:00', [5]],
    ['start_date=2027-03-13T00:30:00%2B02:00', [2, 6, 3, 4, 5]],
    ['start_date=1804809600', [2, 6, 3, 4, 5]],
    ['start_date=@1804809600', [2, 6, 3, 4, 5]],
    ['start_date=12 March 2027&end_date=12 March 2027', [2, 6, 3]],
  ];
  for (const [query, wanted] of WHOLE_DAYS) {
    it(`whole days: ${query}`, async () => {
      gateway = await seededGateway(DAY);
      expect((await list(encodeURI(query).replaceAll('%252B', '%2B'))).ids).to.deep.equal(wanted);
    });
  }

  const TO_THE_SECOND: [string, number[]][] = [
    ['start_date=2027-03-12 10:00:00', [3, 4, 5]],
    ['start_date=2027-03-12 10:00:01', [4, 5]],
    ['start_date=2027-03-12&end_date=2027-03-12 12:00:00', [6, 3]],
    // 15:00Z is 10:00 in New York.
    ['start_date=2027-03-12T15:00:00Z', [3, 4, 5]],
    ['start_date=2027-03-12T16:00:01%2B01:00', [4, 5]],
    ['starts_after=2027-03-12 10:00:00', [4, 5]],
    ['starts_before=2027-03-12 10:00:00', [1, 2, 6]],
    ['ends_before=2027-03-12 12:00:00', [1, 6]],
    ['ends_after=2027-03-12 12:00:00', [2, 4, 5]],
  ];
  for (const [query, wanted] of TO_THE_SECOND) {
    for (const strict of ['true', '1', 'yes', 'on']) {
      it(`strict_dates=${strict}: ${query}`, async () => {
        gateway = await seededGateway(DAY);
        expect((await list(`${encodeURI(query).replaceAll('%252B', '%2B')}&strict_dates=${strict}`)).ids).to.deep.equal(
          wanted,
        );
      });
    }
  }

  for (const strict of ['false', '0', 'no', 'maybe']) {
    it(`strict_dates=${strict} is false`, async () => {
      gateway = await seededGateway(DAY);
      expect((await list(`start_date=${D}%2010:00:00&strict_dates=${strict}`)).ids).to.deep.equal([2, 6, 3, 4, 5]);
    });
  }

  it("the default window is from today, by the site's clock, to the end of the day in two years", async () => {
    gateway = await seededGateway([
      at(1, '2026-11-19 23:59:59'),
      at(2, '2026-11-20 00:00:00', '2026-11-20 01:00:00'),
      at(3, '2026-11-19 10:00:00', '2026-11-25 10:00:00'),
      at(4, '2028-11-21 10:00:00', '2028-11-21 23:59:59'),
      at(5, '2028-11-21 10:00:00', '2028-11-22 00:00:00'),
    ]);
    const { ids, url } = await list('');
    expect(ids).to.deep.equal([2, 4]);
    expect(url).to.contain('start_date=2026-11-20+00%3A00%3A00&end_date=2028-11-21+23%3A59%3A59');
  });

  it('start_date or end_date alone keeps the default of the other', async () => {
    gateway = await seededGateway([
      at(1, '2020-01-01 10:00:00'),
      at(2, '2027-01-01 10:00:00'),
      at(3, '2030-01-01 10:00:00'),
    ]);
    expect((await list('start_date=2019-01-01')).ids).to.deep.equal([1, 2]);
    expect((await list('end_date=2031-01-01')).ids).to.deep.equal([2, 3]);
  });

  for (const name of ['starts_before', 'ends_before']) {
    it(`${name} replaces the default window, and explicit bounds stay`, async () => {
      gateway = await seededGateway([at(1, '1990-01-01 10:00:00'), at(2, '2027-01-01 10:00:00')]);
      expect((await list(`${name}=2031-01-01`)).ids).to.deep.equal([1, 2]);
      const { ids, url } = await list(`${name}=2031-01-01&start_date=2000-01-01`);
      expect(ids).to.deep.equal([2]);
      expect(url).to.not.contain('end_date');
    });
  }

  it("relative phrases are relative to the site's clock", async () => {
    // 21:42 on the 20th in New York, and the 21st in UTC.
    gateway = await seededGateway([
      at(1, '2026-11-20 22:00:00'),
      at(2, '2026-11-21 10:00:00'),
      at(3, '2026-11-22 10:00:00'),
    ]);
    expect((await list('start_date=today&end_date=today')).ids).to.deep.equal([1]);
    expect((await list('start_date=tomorrow&end_date=tomorrow')).ids).to.deep.equal([2]);
    expect((await list('start_date=now&end_date=%2B1%20day')).ids).to.deep.equal([1, 2]);
    expect((await list('start_date=0&end_date=today')).ids).to.deep.equal([1]);
  });

  it('a relative day means the same until a cached response ends, in every zone', () => {
    for (const phrase of ['-1month', 'yesterday', '-30 days', '-90 minutes', 'now', '2027-03-01', '0', '1804809600'])
      for (const zone of ['Asia/Kathmandu', 'Pacific/Chatham', 'America/St_Johns', 'Europe/Berlin'])
        for (let minute = 0; minute < 48 * 60; minute += 7) {
          const nowMs = Date.UTC(2027, 2, 27) + minute * 60_000;
          const { bounds, validUntilMs: endMs } = windowAt(phrase, nowMs, zone);
          expect(windowAt(phrase, endMs - 1, zone).bounds, `${phrase} in ${zone}`).to.deep.equal(bounds);
        }
  });

  it('a Unix time is the same bound as long as a date with a year is, and 0 as long as `today`', () => {
    const evening = Date.UTC(2027, 2, 10, 18, 7);
    for (const text of ['2027-05-01', '1809230400', ' 1809230400.5', '-86400'])
      expect(windowAt(text, evening, 'Asia/Kathmandu').validUntilMs, text).to.equal(Date.UTC(2027, 2, 11));
    // 23:59:59.5 in Kathmandu, which is at +05:45: half a second later 0 is the next day.
    const beforeMidnight = Date.UTC(2027, 2, 10, 18, 14, 59, 500);
    for (const zero of ['0', '-0.5'])
      expect(windowAt(zero, beforeMidnight, 'Asia/Kathmandu').validUntilMs).to.equal(beforeMidnight + 500);
  });

  it('include switches off all date filters and the default window', async () => {
    gateway = await seededGateway([at(1, '1990-01-01 10:00:00'), at(2, '2027-01-01 10:00:00')]);
    expect((await list('include=2,1')).ids).to.deep.equal([1, 2]);
    const { ids, url } = await list('include=1,2,999&start_date=2026-01-01&starts_after=2026-01-01');
    expect(ids).to.deep.equal([1, 2]);
    // The links keep them, as those of The Events Calendar keep `starts_after`.
    expect(url).to.contain('start_date=2026-01-01').and.to.contain('starts_after=2026-01-01');
    expect((await list('include=1')).url).to.not.contain('date');
  });

  it('sorts ties by publication date, then by id, regardless of sticky and featured', async () => {
    gateway = await seededGateway([
      at(5, '2027-01-01 10:00:00', undefined, { date: '2026-01-02 00:00:00', sticky: true }),
      at(4, '2027-01-01 10:00:00', undefined, { date: '2026-01-03 00:00:00', featured: true }),
      at(3, '2027-01-01 10:00:00', undefined, { date: '2026-01-03 00:00:00' }),
      at(9, '2026-12-31 10:00:00'),
    ]);
    expect((await list('offset=1&exclude=9')).ids).to.deep.equal([9, 5, 3, 4]);
  });

  for (const name of ['start_date', 'end_date', 'starts_before', 'starts_after', 'ends_before', 'ends_after']) {
    for (const value of [`${name}=`, `${name}=bad+date`, `${name}[]=2027-01-01`, `${name}=2027-01-01+25:00`]) {
      it(`rejects ${value}`, async () => {
        gateway = await seededGateway();
        expectInvalid(await gateway.request(`/events?${value}`), name);
      });
    }
  }

  it('returns the same events as a plain filter, for random windows and events (property test)', async function () {
    this.timeout(20_000);
    const day = fc.constantFrom('2027-03-10', '2027-03-11', '2027-03-12', '2027-03-13');
    const clock = fc.constantFrom('00:00:00', '09:30:00', '23:59:58', '23:59:59');
    const wall = fc.tuple(day, clock).map(([date, time]) => `${date} ${time}`);
    const bound = fc.option(fc.oneof(day, wall), { nil: undefined });
    const query = fc.record({
      start_date: bound,
      end_date: bound,
      starts_before: bound,
      starts_after: bound,
      ends_before: bound,
      ends_after: bound,
      strict_dates: fc.constantFrom(undefined, 'true', 'false'),
    });
    type DateParams = Partial<
      Record<'start_date' | 'end_date' | 'starts_before' | 'starts_after' | 'ends_before' | 'ends_after', string>
    >;

    function matches(
      { strict_dates, ...params }: DateParams & { strict_dates?: string | undefined },
      record: EventRecord,
    ): boolean {
      const strict = strict_dates === 'true';
      const edge = (text: string, time: string) =>
        strict ? (text.length > 10 ? text : `${text} 00:00:00`) : `${text.slice(0, 10)} ${time}`;
      const first = (text: string) => edge(text, '00:00:00');
      const last = (text: string) => edge(text, '23:59:59');
      return (
        (params.start_date === undefined || record.start >= first(params.start_date)) &&
        (params.end_date === undefined || record.end <= last(params.end_date)) &&
        (params.starts_before === undefined || record.start < last(params.starts_before)) &&
        (params.starts_after === undefined || record.start > last(params.starts_after)) &&
        (params.ends_before === undefined || record.end < last(params.ends_before)) &&
        (params.ends_after === undefined || record.end > last(params.ends_after))
      );
    }

    gateway = await seededGateway();
    const events = fc.array(fc.tuple(wall, wall), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(events, query, async (walls, sent) => {
        const { replica } = gateway.services;
        remove(
          replica,
          'event',
          Array.from({ length: 8 }, (_, i) => i + 1),
        );
        const records = walls.map((pair, i) => at(i + 1, ...([...pair].sort() as [string, string])));
        upsert(replica, records);
        const params = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
        const { ids } = await list(new URLSearchParams(params as Record<string, string>).toString());
        const wanted = records
          .filter((record) => matches(params, record))
          .sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : a.id - b.id));
        expect(ids).to.deep.equal(wanted.map(({ id }) => id));
      }),
      { numRuns: 150 },
    );
  });
});
