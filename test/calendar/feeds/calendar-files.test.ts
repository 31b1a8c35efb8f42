// The calendar files: what calendar apps read from them, and who gets what.

import { expect } from 'chai';
import type { CalendarRecord, EventRecord } from '../../../src/model/records.ts';
import { parseZone, wallToUtc } from '../../../src/time/zones.ts';
import type { TestGateway } from '../../start-gateway.ts';
import { upsert } from '../../store/changes.ts';
import { event, organizer, term, venue } from '../../store/sample-records.ts';
import { seededGateway } from '../seeded-gateway.ts';
import { PARSERS, type ParsedEvent, parseWithIcalJs } from './parsers.ts';

const utcMs = (utc: string) => Date.parse(`${utc.replace(' ', 'T')}Z`);

/** An event at these wall times of a zone. */
function at(id: number, timezone: string, start: string, end: string, more: Partial<EventRecord> = {}): EventRecord {
  const zone = parseZone(timezone)!;
  const [startUtc, endUtc] = [wallToUtc(start, zone), wallToUtc(end, zone)];
  return event(id, { timezone, start, end, startUtc, endUtc, ...more });
}

const GIVEN = '/events.ics?start_date=1990-01-01&end_date=2100-01-01';

describe('calendar files', () => {
  let gateway: TestGateway;
  const given = async (records: CalendarRecord[]) => {
    gateway = await seededGateway(records);
  };
  const text = async (path: string, as?: string): Promise<string> => {
    const response = await gateway.request(path, { as });
    expect(response.status, response.text).to.equal(200);
    return response.text;
  };
  afterEach(() => gateway.stop());

  it('leave out events without a date, alone and in lists', async () => {
    const undated = { start: '', end: '', startUtc: '', endUtc: '', timezone: 'Europe/Berlin' };
    await given([event(1, undated), event(2, { ...undated, allDay: true }), event(3)]);
    for (const id of [1, 2]) {
      const { status, body } = await gateway.request(`/events/${id}.ics`);
      expect([status, body.code]).to.deep.equal([404, 'event-without-date']);
      expect((await gateway.request(`/events.atom?include=${id}`)).status).to.equal(200);
    }
    expect(parseWithIcalJs(await text('/events.ics?include=1,2,3')).map(({ uid }) => uid)).to.deep.equal([
      'event-3@cms.example',
    ]);
  });

  for (const [name, parse] of Object.entries(PARSERS)) {
    describe(`as ${name} reads them`, () => {
      const parsed = async (path: string): Promise<Map<string, ParsedEvent>> =>
        new Map(parse(await text(path)).map((one) => [one.uid, one]));

      it('name the same instants as the API, across changes of the clock and in any zone', async () => {
        const records = [
          // On both sides of both changes of the clock, and over them.
          at(1, 'Europe/Berlin', '2027-03-28 01:30:00', '2027-03-28 04:00:00'),
          at(2, 'Europe/Berlin', '2027-10-31 01:30:00', '2027-10-31 04:30:00'),
          at(3, 'Europe/Berlin', '2027-07-01 19:00:00', '2027-07-03 02:00:00'),
          at(4, 'Europe/Berlin', '2027-12-31 22:00:00', '2028-01-01 02:00:00'),
          // A time that the clock shows twice, and one that it skips.
          at(5, 'Europe/Berlin', '2027-10-31 02:30:00', '2027-10-31 02:45:00'),
          at(6, 'Europe/Berlin', '2027-03-28 02:30:00', '2027-03-28 04:30:00'),
          at(7, 'America/New_York', '2027-11-07 01:30:00', '2027-11-07 03:00:00'),
          // Before the present rules of the zone.
          at(8, 'America/New_York', '2005-03-20 10:00:00', '2005-03-20 11:00:00'),
          at(9, 'Europe/Istanbul', '2010-01-10 10:00:00', '2010-01-10 11:00:00'),
          // South of the equator, half hours, an alias, an abbreviation, and the offsets of WordPress.
          at(10, 'Australia/Lord_Howe', '2027-04-04 01:00:00', '2027-04-04 05:00:00'),
          at(11, 'Australia/Sydney', '2027-01-15 20:00:00', '2027-01-15 23:00:00'),
          at(12, 'US/Eastern', '2027-07-04 12:00:00', '2027-07-04 13:00:00'),
          at(13, 'EST', '2027-07-04 12:00:00', '2027-07-04 13:00:00'),
          at(14, 'UTC+5:30', '2027-07-04 12:00:00', '2027-07-04 13:00:00'),
          at(15, 'UTC-3.5', '2027-07-04 12:00:00', '2027-07-04 13:00:00'),
          at(16, '+05:45', '2027-07-04 12:00:00', '2027-07-04 13:00:00'),
          at(17, 'UTC', '2027-07-04 12:00:00', '2027-07-04 13:00:00'),
          at(18, 'Africa/Casablanca', '2027-02-20 12:00:00', '2027-02-20 13:00:00'),
          at(19, 'America/Sao_Paulo', '2018-11-10 12:00:00', '2018-11-10 13:00:00'),
        ];
        await given(records);
        const events = await parsed(GIVEN);
        expect(events.size).to.equal(records.length);
        for (const { id, timezone, start, startUtc, endUtc } of records) {
          const { startMs, endMs } = events.get(`event-${id}@cms.example`)!;
          expect([startMs, endMs], `${timezone} ${start}`).to.deep.equal([utcMs(startUtc), utcMs(endUtc)]);
        }
      });

      it('give all-day events dates, with the day after the last one as the end', async () => {
        const days = (id: number, first: string, last: string) =>
          at(id, 'Pacific/Auckland', `${first} 00:00:00`, `${last} 23:59:59`, { allDay: true });
        await given([days(1, '2027-03-12', '2027-03-12'), days(2, '2027-09-25', '2027-09-28')]);
        const events = await parsed(GIVEN);
        const day = (text: string) => Date.parse(`${text}T00:00:00Z`);
        const { allDay, startMs, endMs } = events.get('event-1@cms.example')!;
        expect([allDay, startMs, endMs]).to.deep.equal([true, day('2027-03-12'), day('2027-03-13')]);
        expect(events.get('event-2@cms.example')).to.include({ startMs: day('2027-09-25'), endMs: day('2027-09-29') });
      });

      it('keep texts: emoji, long lines, separators, line breaks, and no markup', async () => {
        const title = `Fest 🎪, ${'sehr lang und schön; '.repeat(10)}C:\\dir`;
        await given([
          at(1, 'UTC', '2027-07-04 12:00:00', '2027-07-04 13:00:00', {
            title,
            description:
              '<p>One &amp; only 👩‍👩‍👧</p><script>alert(1)</script><ul><li>BEGIN:VEVENT</li><li>two\u0007</li></ul>',
            venues: [21, 22],
          }),
          venue(21, { title: 'Caf&#233;, Bar', address: 'Main; 1', city: 'Ürzig', zip: '01234' }),
          venue(22, { title: 'Pier', address: 'Quay 2', city: 'Gullhaven', stateprovince: 'ME', zip: '04599' }),
        ]);
        const file = await text(GIVEN);
        for (const line of file.split('\r\n')) expect(Buffer.byteLength(line), line).to.be.at.most(75);
        const [one] = [...(await parsed(GIVEN)).values()];
        expect(one).to.include({
          summary: title,
          description: 'One & only 👩‍👩‍👧\nBEGIN:VEVENT\ntwo',
          location: 'Café, Bar, Main; 1, 01234 Ürzig; Pier, Quay 2, Gullhaven, ME 04599',
        });
      });

      it('hold a thousand events', async () => {
        const day = (n: number) => new Date(Date.UTC(2027, 0, 1 + n)).toISOString().slice(0, 10);
        const many = Array.from({ length: 1001 }, (_, n) =>
          at(n + 1, 'Europe/Berlin', `${day(n)} 10:00:00`, `${day(n)} 11:00:00`),
        );
        await given(many);
        const events = await parsed(GIVEN);
        expect(events.size).to.equal(1000);
        for (const { id, startUtc } of many.slice(0, 1000))
          expect(events.get(`event-${id}@cms.example`)!.startMs).to.equal(utcMs(startUtc));
        expect([...(await parsed(`${GIVEN}&page=2`)).keys()]).to.deep.equal(['event-1001@cms.example']);
      });
    });
  }

  const evening = (id: number, more: Partial<EventRecord> = {}) =>
    at(id, 'Europe/Berlin', '2027-03-12 19:00:00', '2027-03-12 21:00:00', more);
  const uids = (file: string) => parseWithIcalJs(file).map(({ uid }) => uid.replace('@cms.example', ''));

  it('accept the filters of the list, and reject what it rejects', async () => {
    await given([evening(1, { tags: [41], featured: true }), evening(2), term('tag', 41)]);
    expect(uids(await text('/events.ics'))).to.deep.equal(['event-1', 'event-2']);
    for (const query of ['tags=41', 'featured=1', 'include=1', 'search=event+1', 'per_page=1'])
      expect(uids(await text(`/events.ics?${query}`)), query).to.deep.equal(['event-1']);
    expect(uids(await text('/events.ics?starts_after=2028-01-01'))).to.deep.equal([]);
    for (const query of ['venue=9', 'start_date=someday', 'per_page=0', 'page=2', `search=${'x'.repeat(300)}`]) {
      const [file, list] = [await gateway.request(`/events.ics?${query}`), await gateway.request(`/events?${query}`)];
      expect([file.status, file.body], query).to.deep.equal([list.status, list.body]);
      expect(file.headers['content-type']).to.equal('application/json; charset=UTF-8');
    }
  });

  it('show what the JSON shows: no hidden events, protected ones without content, others to those who may see them', async () => {
    const secret = { title: 'Gala', description: 'Secret place', excerpt: 'Secret', venues: [21] };
    await given([
      evening(1, { ...secret, protected: true }),
      evening(2, { ...secret, hidden: true }),
      evening(3, { ...secret, status: 'draft' }),
      evening(4, { ...secret, status: 'private' }),
      venue(21, { title: 'Secret hall' }),
      organizer(26, { title: 'Secret choir', email: 'secret@choir.example', phone: '0123 secret' }),
      evening(5, { organizers: [26] }),
    ]);
    const file = await text('/events.ics');
    expect(uids(file)).to.deep.equal(['event-1', 'event-5']);
    // Not the organizer either, although the API shows it: apps would take the event for an invitation of its address.
    expect(file + (await text('/events.atom'))).not.to.match(/secret|ORGANIZER|CONTACT/i);
    expect((await gateway.request('/events/5')).body.organizer[0].organizer).to.equal('Secret choir');
    const staff = parseWithIcalJs(await text('/events.ics', 'admin'));
    expect(staff.map(({ uid, status }) => [uid.slice(6, 7), status])).to.deep.equal([
      // The CMS does not say whether a published event takes place.
      ['1', 'null'],
      ['3', 'TENTATIVE'],
      ['4', 'TENTATIVE'],
      ['5', 'null'],
    ]);
    for (const id of [1, 3, 4, 99]) {
      const [one, json] = [await gateway.request(`/events/${id}.ics`), await gateway.request(`/events/${id}`)];
      expect([one.status, one.body], `event ${id}`).to.deep.equal([json.status, json.body]);
    }
    // As in the JSON API, only lists leave it out.
    expect(uids(await text('/events/2.ics'))).to.deep.equal(['event-2']);
  });

  it('describe a zone in the years of the events alone: thousands of years would block all requests', async () => {
    const years = (id: number, first: string, last: string) =>
      at(id, 'Europe/Berlin', `${first} 10:00:00`, `${last} 11:00:00`);
    await given([years(1, '1990-03-12', '9998-03-12'), years(2, '2027-07-12', '2027-07-12')]);
    const file = await text('/events.ics?include=1,2&start_date=1990-01-01&end_date=9999-01-01');
    expect(file.match(/DTSTART:\d{4}/g)).to.deep.equal(
      ['1990', '1990', '1990', '2027', '2027', '9998', '9998'].map((year) => `DTSTART:${year}`),
    );
  });

  it('have four digits in every year', async () => {
    const days = (id: number, first: string) =>
      at(id, 'Europe/Berlin', `${first} 00:00:00`, '9999-12-31 23:59:59', { allDay: true });
    await given([days(1, '2027-03-12'), days(2, '9999-12-31')]);
    expect(await text('/events/1.ics')).to.include('DTEND;VALUE=DATE:99991231\r\n');
    expect(await text('/events/2.ics'))
      .to.include('DTSTART;VALUE=DATE:99991231\r\n')
      .and.not.include('DTEND');
  });

  it('keep the UID, and raise SEQUENCE and LAST-MODIFIED with a change', async () => {
    const changed = (modifiedUtc: string) => evening(1, { modifiedUtc });
    await given([changed('2026-11-01 10:00:00')]);
    const before = await text('/events/1.ics');
    upsert(gateway.replica, [changed('2026-11-01 10:00:01')]);
    const after = await text('/events/1.ics');
    const [[first], [second]] = [parseWithIcalJs(before), parseWithIcalJs(after)];
    expect(second!.uid).to.equal(first!.uid);
    expect(second!.sequence).to.equal(first!.sequence + 1);
    expect(before).to.include('LAST-MODIFIED:20261101T100000Z\r\n').and.include('DTSTAMP:20261101T100000Z\r\n');
    expect(after).to.include('LAST-MODIFIED:20261101T100001Z\r\n');
  });

  it('cancel a public event that moved to the trash, and nothing that was not public', async () => {
    const secret = { title: 'Secret', description: 'Secret', modifiedUtc: '2026-11-01 10:00:00' };
    await given([evening(1, { title: 'Gala', venues: [21] }), evening(2, { ...secret, status: 'draft' }), venue(21)]);
    const [before] = parseWithIcalJs(await text('/events/1.ics'));
    upsert(gateway.replica, [
      // Edited and moved between two polls.
      evening(1, { ...secret, status: 'trash', start: '2027-03-13 19:00:00' }),
      evening(2, { ...secret, status: 'trash' }),
    ]);
    for (const [name, parse] of Object.entries(PARSERS)) {
      const [after, ...others] = parse(await text('/events/1.ics'));
      expect(others).to.deep.equal([]);
      expect(after, name).to.deep.include({ uid: before!.uid, status: 'CANCELLED', summary: 'Cancelled' });
      expect([after!.startMs, after!.endMs], name).to.deep.equal([before!.startMs, before!.endMs]);
      expect(after!.sequence).to.be.above(before!.sequence);
    }
    expect(await text('/events/1.ics')).not.to.match(/gala|secret/i);
    expect((await gateway.request('/events/1')).status).to.be.within(401, 410);
    expect((await gateway.request('/events/2.ics')).status).to.be.within(401, 410);
    expect(uids(await text('/events.ics'))).to.deep.equal([]);
    // Out of the trash, and not public: the file shows what the event's JSON shows.
    upsert(gateway.replica, [evening(1, { title: 'Gala', hidden: true })]);
    expect(await text('/events/1.ics')).to.not.include('STATUS');
    upsert(gateway.replica, [evening(1, { ...secret, status: 'private' })]);
    expect((await gateway.request('/events/1.ics')).status).to.be.within(401, 410);
    // Back in the lists, or gone for another reason.
    upsert(gateway.replica, [evening(1, { title: 'Gala' })]);
    expect(await text('/events/1.ics')).to.not.include('STATUS');
    for (const change of [{ status: 'draft' }, { status: 'private' }]) {
      upsert(gateway.replica, [evening(1, { ...secret, ...change })]);
      expect((await gateway.request('/events/1.ics')).status, JSON.stringify(change)).to.be.within(401, 410);
      upsert(gateway.replica, [evening(1)]);
    }
  });

  it('are cached and revalidated as lists are', async () => {
    await given([evening(1, { venues: [21] }), venue(21)]);
    for (const path of ['/events.ics', '/events/1.ics', '/events.atom']) {
      const { headers } = await gateway.request(path);
      const list = await gateway.request('/events');
      expect(headers['cache-control'], path).to.equal(list.headers['cache-control']);
      expect(headers['surrogate-key'], path).to.include('event-1').and.include('venue-21');
      const again = await gateway.request(path, { headers: { 'if-none-match': headers.etag! } });
      expect([again.status, again.bytes.length], path).to.deep.equal([304, 0]);
      upsert(gateway.replica, [evening(1, { title: `Changed for ${path}`, venues: [21] })]);
      const changed = await gateway.request(path, { headers: { 'if-none-match': headers.etag! } });
      expect(changed.status, path).to.equal(200);
      expect(changed.text).to.include(`Changed for ${path}`);
    }
    const staff = await gateway.request('/events.ics', { as: 'admin' });
    expect(staff.headers).to.include({ 'content-type': 'text/calendar; charset=utf-8', allow: 'GET' });
    expect(staff.headers['cache-control']).to.include('no-store');
  });

  it('ignore the response parameters, which are about JSON', async () => {
    await given([evening(1)]);
    const plain = await text('/events/1.ics');
    for (const query of ['_fields=title', '_envelope=1', '_jsonp=f'])
      expect(await text(`/events/1.ics?${query}`), query).to.equal(plain);
  });

  it('omit an end that is not after the start, which iCalendar forbids', async () => {
    await given([
      at(1, 'UTC', '2027-07-04 12:00:00', '2027-07-04 12:00:00'),
      at(2, 'UTC', '2027-07-05 12:00:00', '2027-07-05 11:00:00'),
    ]);
    const file = await text(GIVEN);
    expect(file).not.to.include('DTEND');
    expect(file).to.include('DTSTART:20270704T120000Z\r\n').and.include('DTSTART:20270705T120000Z\r\n');
  });
});
