// The iCalendar reader: what it serves of good files, and of bad ones the rest.

import { expect } from 'chai';
import { readICalendar } from '../../../src/cms/sources/icalendar.ts';
import { MAX_SOURCE_EVENTS, type SourceEvent } from '../../../src/cms/sources/source.ts';

const NOW = Date.UTC(2027, 4, 1);
const event = (...lines: string[]) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'].join('\r\n');
const titled = (uid: string, ...lines: string[]) => event(`UID:${uid}`, `SUMMARY:${uid}`, ...lines);
const calendar = (...parts: string[]) => ['BEGIN:VCALENDAR', 'VERSION:2.0', ...parts, 'END:VCALENDAR', ''].join('\r\n');
const GOOD = titled('good', 'DTSTART:20270510T160000Z', 'DTEND:20270510T180000Z');

const read = (text: string | Buffer) =>
  readICalendar(typeof text === 'string' ? Buffer.from(text) : text, { timezone: 'Europe/Berlin', nowMs: NOW });
const readOne = async (...lines: string[]): Promise<SourceEvent> => {
  const { events, remarks } = await read(calendar(titled('a', ...lines)));
  expect(remarks).to.deep.equal([]);
  expect(events).to.have.length(1);
  return events[0]!;
};
const timesOf = (events: readonly SourceEvent[]) => events.map(({ start }) => start).sort();

describe('an iCalendar file', () => {
  it('gives the times of an event', async () => {
    for (const [lines, times] of [
      [
        ['DTSTART;TZID=America/New_York:20270510T180000', 'DTEND;TZID=Europe/Berlin:20270511T010000'],
        ['2027-05-10 18:00:00', '2027-05-10 19:00:00', '2027-05-10 22:00:00', 'America/New_York', false],
      ],
      [
        ['DTSTART:20270510T160000Z', 'DURATION:PT1H30M'],
        ['2027-05-10 18:00:00', '2027-05-10 19:30:00', '2027-05-10 16:00:00', 'Europe/Berlin', false],
      ],
      [
        ['DTSTART:20270510T1800'],
        ['2027-05-10 18:00:00', '2027-05-10 18:00:00', '2027-05-10 16:00:00', 'Europe/Berlin', false],
      ],
      [
        ['DTSTART;VALUE=DATE:20270510', 'DTEND;VALUE=DATE:20270512'],
        ['2027-05-10 00:00:00', '2027-05-11 23:59:59', '2027-05-09 22:00:00', 'Europe/Berlin', true],
      ],
      [
        ['DTSTART:20270510'],
        ['2027-05-10 00:00:00', '2027-05-10 23:59:59', '2027-05-09 22:00:00', 'Europe/Berlin', true],
      ],
      [
        ['DTSTART:20270510T000000', 'DTEND:20270511T000000', 'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE'],
        ['2027-05-10 00:00:00', '2027-05-10 23:59:59', '2027-05-09 22:00:00', 'Europe/Berlin', true],
      ],
      // A permanent exhibition, whose end is in the year 10000 in UTC.
      [
        ['DTSTART;TZID=America/New_York:20270510T090000', 'DTEND;TZID=America/New_York:99991231T235959'],
        ['2027-05-10 09:00:00', '9999-12-31 23:59:59', '2027-05-10 13:00:00', 'America/New_York', false],
      ],
      [
        ['DTSTART:20270510T180000', 'DURATION:PT2400000000H'],
        ['2027-05-10 18:00:00', '9999-12-31 23:59:59', '2027-05-10 16:00:00', 'Europe/Berlin', false],
      ],
      // An end before the start, and one that is no time.
      [
        ['DTSTART:20270510T180000', 'DTEND:20270510T170000'],
        ['2027-05-10 18:00:00', '2027-05-10 18:00:00', '2027-05-10 16:00:00', 'Europe/Berlin', false],
      ],
      [
        ['DTSTART:20270510T180000', 'DTEND:soon'],
        ['2027-05-10 18:00:00', '2027-05-10 18:00:00', '2027-05-10 16:00:00', 'Europe/Berlin', false],
      ],
      [
        ['DTSTART:20270510T180000', 'DURATION:-PT1H'],
        ['2027-05-10 18:00:00', '2027-05-10 18:00:00', '2027-05-10 16:00:00', 'Europe/Berlin', false],
      ],
      // A night of nine hours in the clock, ten in fact; a time that the clock skips, and one that it shows twice.
      [
        ['DTSTART:20271030T220000', 'DURATION:PT9H'],
        ['2027-10-30 22:00:00', '2027-10-31 06:00:00', '2027-10-30 20:00:00', 'Europe/Berlin', false],
      ],
      [
        ['DTSTART:20270328T023000'],
        ['2027-03-28 03:30:00', '2027-03-28 03:30:00', '2027-03-28 01:30:00', 'Europe/Berlin', false],
      ],
      [
        ['DTSTART:20271031T023000'],
        ['2027-10-31 02:30:00', '2027-10-31 02:30:00', '2027-10-31 00:30:00', 'Europe/Berlin', false],
      ],
    ] as const) {
      const { start, end, startUtc, timezone, allDay } = await readOne(...lines);
      expect([start, end, startUtc, timezone, allDay], lines.join()).to.deep.equal(times);
    }
  });

  it('knows zones by other names and by their offsets', async () => {
    const zone = (id: string, ...lines: string[]) =>
      ['BEGIN:VTIMEZONE', `TZID:${id}`, ...lines, 'END:VTIMEZONE'].join('\r\n');
    const part = (name: string, start: string, from: string, to: string, rule = '') =>
      [
        `BEGIN:${name}`,
        `DTSTART:${start}`,
        `TZOFFSETFROM:${from}`,
        `TZOFFSETTO:${to}`,
        ...(rule ? [rule] : []),
        `END:${name}`,
      ].join('\r\n');
    const own = zone(
      'Customized Time Zone',
      part('STANDARD', '16010101T020000', '-0400', '-0500', 'RRULE:FREQ=YEARLY;BYDAY=1SU;BYMONTH=11'),
      part('DAYLIGHT', '16010101T020000', '-0500', '-0400', 'RRULE:FREQ=YEARLY;BYDAY=2SU;BYMONTH=3'),
    );
    const fixed = zone('Office', part('STANDARD', '19700101T000000', '+0530', '+0530'));
    const named = zone(
      'Home',
      'X-LIC-LOCATION:Pacific/Auckland',
      part('STANDARD', '19700101T000000', '+1200', '+1200'),
    );
    for (const [id, name, utc] of [
      ['W. Europe Standard Time', 'Europe/Berlin', '2027-05-10 16:00:00'],
      ['"AUS Eastern Standard Time"', 'Australia/Sydney', '2027-05-10 08:00:00'],
      ['/freeassociation.sourceforge.net/Europe/London', 'Europe/London', '2027-05-10 17:00:00'],
      ['/mozilla.org/20050126_1/America/Argentina/Ushuaia', 'America/Argentina/Ushuaia', '2027-05-10 21:00:00'],
      ['Customized Time Zone', 'America/New_York', '2027-05-10 22:00:00'],
      ['Office', 'UTC+5:30', '2027-05-10 12:30:00'],
      ['Home', 'Pacific/Auckland', '2027-05-10 06:00:00'],
      ['UTC', 'UTC', '2027-05-10 18:00:00'],
    ] as const) {
      const { events } = await read(calendar(own, fixed, named, titled('a', `DTSTART;TZID=${id}:20270510T180000`)));
      expect([events[0]?.timezone, events[0]?.startUtc], id).to.deep.equal([name, utc]);
    }
    // A zone whose rule cannot be expanded costs only its own events.
    const weeks = part('DAYLIGHT', '19700301T020000', '+0100', '+0200', 'RRULE:FREQ=YEARLY;BYWEEKNO=13');
    const odd = zone('Odd', weeks, part('STANDARD', '19701001T030000', '+0200', '+0100'));
    const rest = await read(calendar(odd, titled('odd', 'DTSTART;TZID=Odd:20270510T180000'), GOOD));
    expect(rest.events.map(({ uid }) => uid)).to.deep.equal(['good']);
    expect(rest.remarks).to.deep.equal([{ reason: 'the unknown time zone Odd', count: 1, example: 'odd' }]);
    const { events } = await read(calendar('X-WR-TIMEZONE:Asia/Tokyo', titled('a', 'DTSTART:20270510T180000')));
    expect(events[0]).to.include({ timezone: 'Asia/Tokyo', startUtc: '2027-05-10 09:00:00' });
  });

  it('gives texts, places, pictures and names, and no addresses of people', async () => {
    const given = await readOne(
      'DTSTART:20270510T160000Z',
      'DESCRIPTION:One <3\\n\\nTwo\\, three',
      'LOCATION:Town Hall\\, 1 Main St\\, Gullhaven',
      'GEO:44.1;-69.2',
      'URL:https://town.example/jazz',
      'CATEGORIES:Music,R&D',
      'CATEGORIES:Music',
      'ATTACH;FMTTYPE=application/pdf:https://town.example/a.pdf',
      'ATTACH;FMTTYPE=image/jpeg:https://town.example/a',
      'ORGANIZER;CN="Jazz, Club":mailto:me@town.example',
      'ORGANIZER;CN=you@town.example:mailto:you@town.example',
      'STATUS:CONFIRMED',
      'LAST-MODIFIED:20270401T100000Z',
      'BEGIN:VALARM',
      'DESCRIPTION:Alarm',
      'END:VALARM',
    );
    expect(given).to.deep.include({
      description: '<p>One &lt;3</p><p>Two, three</p>',
      url: 'https://town.example/jazz',
      categories: ['Music', 'R&amp;D'],
      image: { url: 'https://town.example/a', width: 0, height: 0 },
      organizers: [{ name: 'Jazz, Club', website: '' }],
      eventStatus: 'scheduled',
      attendanceMode: '',
      modifiedUtc: '2027-04-01 10:00:00',
    });
    expect(given.venue).to.include({
      name: 'Town Hall, 1 Main St, Gullhaven',
      address: '',
      latitude: 44.1,
      longitude: -69.2,
    });
    const { venue } = await readOne('DTSTART:20270510T160000Z', 'LOCATION:Town Hall\\n1 Main St\\nGullhaven');
    expect(venue).to.include({ name: 'Town Hall', address: '1 Main St Gullhaven' });
    for (const [geo, place] of [
      ['51.48;0', [51.48, 0]],
      ['0;0', [null, null]],
      ['north;9.45', [null, null]],
    ] as const) {
      const { venue: placed } = await readOne('DTSTART:20270510T160000Z', 'LOCATION:Quay', `GEO:${geo}`);
      expect([placed?.latitude, placed?.longitude], geo).to.deep.equal(place);
    }
    for (const [plain, html] of [
      ['Mail <me@town.example>', '<p>Mail &lt;me@town.example&gt;</p>'],
      ['One<BR/>two', 'One<br />two'],
      ['One <b', '<p>One &lt;b</p>'],
    ] as const)
      expect((await readOne('DTSTART:20270510T160000Z', `DESCRIPTION:${plain}`)).description).to.equal(html);
    const rich = await readOne(
      'DTSTART:20270510T160000Z',
      'SUMMARY:R&amp\\;D <b>',
      'DESCRIPTION:plain',
      'X-ALT-DESC;FMTTYPE=text/html:<p>Rich\\, <script>bad()</script><a href="/x">x</a></p>',
      'LOCATION:https://meet.example/1',
      'URL:javascript:alert(1)',
    );
    expect(rich.description).to.contain('<p>Rich, ').and.not.contain('bad');
    expect(rich).to.include({ url: '', onlineUrl: 'https://meet.example/1', attendanceMode: 'online' });
    expect(rich.venue).to.equal(undefined);
  });

  it('changes, cancels and moves instances of a series', async () => {
    const series = titled(
      'a',
      'DTSTART;TZID=Europe/Berlin:20270505T180000',
      'DURATION:PT1H',
      'RRULE:FREQ=WEEKLY;COUNT=6',
    );
    const { events, remarks } = await read(
      calendar(
        event('UID:a', 'SUMMARY:moved', 'RECURRENCE-ID:20270512T160000Z', 'DTSTART:20270513T170000Z'),
        event(
          'UID:a',
          'SUMMARY:off',
          'STATUS:CANCELLED',
          'RECURRENCE-ID;VALUE=DATE:20270519',
          'DTSTART:20270519T160000Z',
        ),
        series,
      ),
    );
    expect(remarks).to.deep.equal([]);
    expect(
      events.map(({ key, title, start, end, eventStatus }) => [key, title, start, end, eventStatus].join(' ')).sort(),
    ).to.deep.equal([
      'a/20270505T160000Z a 2027-05-05 18:00:00 2027-05-05 19:00:00 ',
      'a/20270512T160000Z moved 2027-05-13 19:00:00 2027-05-13 19:00:00 ',
      'a/20270519T160000Z off 2027-05-19 18:00:00 2027-05-19 18:00:00 cancelled',
      'a/20270526T160000Z a 2027-05-26 18:00:00 2027-05-26 19:00:00 ',
      'a/20270602T160000Z a 2027-06-02 18:00:00 2027-06-02 19:00:00 ',
      'a/20270609T160000Z a 2027-06-09 18:00:00 2027-06-09 19:00:00 ',
    ]);
  });

  it('changes the first instance of a day that a change names, and no other of that day', async () => {
    const rule = 'RRULE:FREQ=DAILY;COUNT=4;BYHOUR=18,20';
    const { events } = await read(
      calendar(
        titled('a', 'DTSTART;TZID=Europe/Berlin:20270505T180000', rule),
        event('UID:a', 'SUMMARY:b', 'RECURRENCE-ID;VALUE=DATE:20270506', 'DTSTART:20270506T170000Z'),
      ),
    );
    expect(events.map(({ key, title, start }) => `${key} ${title} ${start}`).sort()).to.deep.equal([
      'a/20270505T160000Z a 2027-05-05 18:00:00',
      'a/20270505T180000Z a 2027-05-05 20:00:00',
      'a/20270506T160000Z b 2027-05-06 19:00:00',
      'a/20270506T180000Z a 2027-05-06 20:00:00',
    ]);
  });

  it('has 20,000 events at most, with a line: the others are left out, and not only unread', async () => {
    const daily = (uid: string) => titled(uid, 'DTSTART:20270401T100000Z', 'RRULE:FREQ=DAILY');
    const uids = Array.from({ length: 60 }, (_, index) => `series-${index}`);
    const { events, remarks, isPartial } = await read(calendar(...uids.map(daily)));
    expect(events).to.have.length(MAX_SOURCE_EVENTS);
    expect(remarks.map(({ reason }) => reason)).to.deep.equal(['more than 20,000 events']);
    expect(isPartial).to.equal(false);
  });

  it('changes all later instances of a series, too', async () => {
    const instances = async (...changes: string[]) => {
      const rule = ['DTSTART;TZID=Europe/Berlin:20271011T180000', 'DURATION:PT1H', 'RRULE:FREQ=WEEKLY;COUNT=5'];
      const { events, remarks } = await read(calendar(...changes, titled('a', ...rule)));
      return { remarks, events: events.map(({ key, title, start, end }) => [key, title, start, end].join(' ')).sort() };
    };
    const later = ([instance, ...lines]: readonly string[]) =>
      event('UID:a', 'SUMMARY:b', `RECURRENCE-ID;RANGE=THISANDFUTURE${instance}`, ...lines);
    const inBerlin = (time: string) => `;TZID=Europe/Berlin:${time}`;
    const times = [inBerlin('20271018T180000'), `DTSTART${inBerlin('20271019T190000')}`, 'DURATION:PT2H'] as const;
    const inUtc = [':20271018T160000Z', 'DTSTART:20271019T170000Z', 'DTEND:20271019T190000Z'] as const;
    const back = event('UID:a', 'SUMMARY:c', 'RECURRENCE-ID:20271101T170000Z', 'DTSTART:20271101T170000Z');
    // Clocks are set back on October 31: the shift is a day and an hour of the clock.
    for (const change of [times, inUtc])
      expect(await instances(later(change), back)).to.deep.equal({
        remarks: [],
        events: [
          'a/20271011T160000Z a 2027-10-11 18:00:00 2027-10-11 19:00:00',
          'a/20271018T160000Z b 2027-10-19 19:00:00 2027-10-19 21:00:00',
          'a/20271025T160000Z b 2027-10-26 19:00:00 2027-10-26 21:00:00',
          'a/20271101T170000Z c 2027-11-01 18:00:00 2027-11-01 18:00:00',
          'a/20271108T170000Z b 2027-11-09 19:00:00 2027-11-09 21:00:00',
        ],
      });
    const unknown = await instances(later([times[0], 'DTSTART:soon']));
    expect(unknown.events).to.deep.equal(['a/20271011T160000Z a 2027-10-11 18:00:00 2027-10-11 19:00:00']);
    expect(unknown.remarks).to.deep.equal([
      { reason: 'a start that is no time', count: 1, example: 'a' },
      { reason: 'after a change of all later instances', count: 3, example: 'a' },
    ]);
  });

  it('makes whole days of all later instances, if a change says so', async () => {
    const { events } = await read(
      calendar(
        titled('a', 'DTSTART;TZID=Europe/Berlin:20270505T180000', 'RRULE:FREQ=WEEKLY;COUNT=3'),
        event(
          'UID:a',
          'SUMMARY:b',
          'RECURRENCE-ID;RANGE=THISANDFUTURE:20270512T160000Z',
          'DTSTART;VALUE=DATE:20270513',
        ),
      ),
    );
    expect(events.map(({ title, start, end }) => `${title} ${start} ${end}`).sort()).to.deep.equal([
      'a 2027-05-05 18:00:00 2027-05-05 18:00:00',
      'b 2027-05-13 00:00:00 2027-05-13 23:59:59',
      'b 2027-05-20 00:00:00 2027-05-20 23:59:59',
    ]);
  });

  it('adds a day to a series of times at the time of its start, as KOrganizer and DAVx5 do', async () => {
    const startsWith = async (start: string) =>
      (await read(calendar(titled('a', start, 'RDATE;VALUE=DATE:20270510')))).events.map((each) => each.start);
    // The calendar is one of Berlin.
    expect(await startsWith('DTSTART;TZID=America/New_York:20270501T190000')).to.deep.equal([
      '2027-05-01 19:00:00',
      '2027-05-10 19:00:00',
    ]);
    expect(await startsWith('DTSTART:20270501T190000Z')).to.deep.equal(['2027-05-01 21:00:00', '2027-05-10 21:00:00']);
  });

  it('takes a time for its day in a series of whole days, as Exchange writes EXDATE', async () => {
    const { events } = await read(
      calendar(
        titled(
          'a',
          'DTSTART;VALUE=DATE:20270501',
          'RRULE:FREQ=DAILY;COUNT=4',
          'RDATE:20270509T220000Z',
          'EXDATE;TZID=Asia/Tokyo:20270502T000000',
          'EXDATE:20270502T220000Z',
        ),
      ),
    );
    expect(events.map(({ key, start, end }) => `${key} ${start} ${end}`).sort()).to.deep.equal([
      'a/20270501 2027-05-01 00:00:00 2027-05-01 23:59:59',
      'a/20270504 2027-05-04 00:00:00 2027-05-04 23:59:59',
      'a/20270510 2027-05-10 00:00:00 2027-05-10 23:59:59',
    ]);
  });

  it('changes a whole day of a series as Outlook writes it', async () => {
    const day = (date: string) => `TZID=Europe/Berlin:${date}T000000`;
    const whole = 'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE';
    const { events } = await read(
      calendar(
        titled('a', whole, `DTSTART;${day('20270510')}`, 'RRULE:FREQ=DAILY;COUNT=2'),
        event('UID:a', 'SUMMARY:b', whole, `RECURRENCE-ID;${day('20270511')}`, `DTSTART;${day('20270512')}`),
      ),
    );
    expect(events.map(({ key, title, start }) => `${key} ${title} ${start}`).sort()).to.deep.equal([
      'a/20270510 a 2027-05-10 00:00:00',
      'a/20270511 b 2027-05-12 00:00:00',
    ]);
  });

  it('serves single events of the last 180 days and of all that is to come', async () => {
    const days = ['20261101', '20261103', '20300101'].map((day) => titled(day, `DTSTART:${day}T120000Z`));
    const { events } = await read(calendar(...days));
    expect(events.map(({ uid }) => uid).sort()).to.deep.equal(['20261103', '20300101']);
  });

  it('has rules that the compared program lacks', async () => {
    const starts = async (...lines: string[]) => timesOf((await read(calendar(titled('a', ...lines)))).events);
    // RFC 5545, 3.8.5.3: the 20th Monday of the year, which is May 17 in 2027.
    expect(await starts('DTSTART:20260518T090000', 'RRULE:FREQ=YEARLY;BYDAY=20MO')).to.include('2027-05-17 09:00:00');
    // UNTIL as a day includes this day.
    expect(await starts('DTSTART:20270501T220000', 'RRULE:FREQ=DAILY;UNTIL=20270502')).to.have.length(2);
    // A whole day has no hours.
    expect(await starts('DTSTART;VALUE=DATE:20270501', 'RRULE:FREQ=DAILY;COUNT=2;BYHOUR=9,15')).to.deep.equal([
      '2027-05-01 00:00:00',
      '2027-05-02 00:00:00',
    ]);
    // EXDATE as a day.
    expect(
      await starts('DTSTART:20270501T220000', 'RRULE:FREQ=DAILY;COUNT=2', 'EXDATE;VALUE=DATE:20270502'),
    ).to.deep.equal(['2027-05-01 22:00:00']);
    expect(await starts('DTSTART:20270501T220000', 'RDATE;VALUE=PERIOD:20270503T200000Z/PT1H')).to.deep.equal([
      '2027-05-01 22:00:00',
      '2027-05-03 22:00:00',
    ]);
  });
});

describe('a bad iCalendar file', () => {
  const isRefused = async (text: string | Buffer, message: string) => {
    const error = await read(text).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(Error);
    expect((error as Error).message).to.equal(message);
  };

  it('that is none is refused, with what it is', async () => {
    await isRefused('\n<!doctype html><title>Login</title>', 'a web page instead of a calendar');
    await isRefused(' \r\n', 'nothing instead of a calendar');
    await isRefused('BEGIN:VCARD', 'something else instead of a calendar');
    await isRefused(Buffer.alloc(100_000), 'something else instead of a calendar');
  });

  it('that breaks off serves the events before', async () => {
    const text = calendar(GOOD, titled('cut', 'DTSTART:20270511T160000Z'));
    const { events, remarks, isPartial } = await read(text.slice(0, text.lastIndexOf('END:VEVENT')));
    expect(events.map(({ uid }) => uid)).to.deep.equal(['good']);
    expect(remarks).to.deep.equal([{ reason: 'the file ends too early', count: 1, example: '' }]);
    expect(isPartial).to.equal(true);
    expect((await read(text)).isPartial).to.equal(false);
  });

  it('is read in other encodings, line ends and folds', async () => {
    const text = calendar(titled('Fête d’été — Ürzig', 'DTSTART:20270510T160000Z'));
    const latin1 = Buffer.from(text.replaceAll('’', "'").replaceAll('—', '-'), 'latin1');
    const bytes = Buffer.from(text);
    const at = bytes.indexOf('é'.codePointAt(0) === 0xe9 ? Buffer.from('é') : '') + 1;
    // A fold within the two bytes of a letter.
    const folded = Buffer.concat([bytes.subarray(0, at), Buffer.from('\r\n '), bytes.subarray(at)]);
    for (const [name, input, title] of [
      ['UTF-8', bytes, 'Fête d’été — Ürzig'],
      ['a byte order mark', Buffer.from(`\ufeff${text}`), 'Fête d’été — Ürzig'],
      ['Latin-1', latin1, 'Fête d&#039;été - Ürzig'],
      ['Windows-1252', Buffer.from(latin1.map((byte) => (byte === 0x27 ? 0x92 : byte))), 'Fête d’été - Ürzig'],
      ['folded bytes', folded, 'Fête d’été — Ürzig'],
      ['LF', Buffer.from(text.replaceAll('\r\n', '\n')), 'Fête d’été — Ürzig'],
      ['CR', Buffer.from(text.replaceAll('\r\n', '\r')), 'Fête d’été — Ürzig'],
      ['a tab as fold', Buffer.from(text.replaceAll('Ürzig', 'Ür\r\n\tzig')), 'Fête d’été — Ürzig'],
    ] as const) {
      const { events } = await read(input);
      expect(
        events.map((each) => each.title),
        name,
      ).to.deep.equal([title]);
    }
    expect((await read(latin1)).remarks).to.deep.equal([{ reason: 'not in UTF-8', count: 1, example: '' }]);
  });

  it('has no control characters in its texts and keys: SQLite ends some texts at NUL', async () => {
    const texts = [
      'SUMMARY:a',
      'DTSTART:20270510T160000Z',
      'DESCRIPTION:x\0y\u0007\\nz',
      'LOCATION:Hall\0\\nRoad\u0001 1',
    ];
    const [only] = (await read(calendar(event('UID:a\0b', ...texts)))).events;
    expect(only).to.deep.include({ key: 'ab', uid: 'ab', description: '<p>xy<br>z</p>' });
    expect(only!.venue).to.deep.include({ name: 'Hall', address: 'Road 1' });
  });

  it('loses only what is wrong', async () => {
    const wrong: Record<string, [reason: string, text: string]> = {
      zone: ['the unknown time zone Mars/Olympus', titled('x', 'DTSTART;TZID=Mars/Olympus:20270510T160000')],
      time: ['a start that is no time', titled('x', 'DTSTART:20270230T160000')],
      start: ['no start', titled('x')],
      title: ['no title', event('UID:x', 'DTSTART:20270510T160000Z')],
      private: ['private', titled('x', 'CLASS:PRIVATE', 'DTSTART:20270510T160000Z')],
      confidential: ['private', titled('x', 'CLASS:Confidential', 'DTSTART:20270510T160000Z')],
      seconds: ['a rule that repeats secondly', titled('x', 'DTSTART:20270510T160000Z', 'RRULE:FREQ=SECONDLY')],
      rule: ['invalid BYDAY value "XX"', titled('x', 'DTSTART:20270510T160000Z', 'RRULE:FREQ=DAILY;BYDAY=XX')],
      times: [
        'a rule that repeats too often a day',
        titled('x', 'DTSTART:20270510T160000Z', `RRULE:FREQ=DAILY;BYMINUTE=${[...Array(60).keys()]};BYSECOND=1,2`),
      ],
      weeks: ['a rule with numbers of weeks', titled('x', 'DTSTART:20270510T160000Z', 'RRULE:FREQ=YEARLY;BYWEEKNO=20')],
      dates: [
        'more than 3000 dates',
        titled('x', 'DTSTART:20270510T160000Z', ...Array<string>(3001).fill('RDATE:20270511T160000Z')),
      ],
      open: ['no start', 'BEGIN:VEVENT\r\nUID:x'],
    };
    for (const [name, [reason, text]] of Object.entries(wrong)) {
      const { events, remarks } = await read(calendar(text, 'nonsense', 'DTSTART', GOOD));
      expect(
        events.map(({ uid }) => uid),
        name,
      ).to.deep.equal(['good']);
      expect(
        remarks.map((line) => [line.reason, line.count]),
        name,
      ).to.deep.equal([[reason, 1]]);
    }
  });

  it('loses only the one of several events of a UID that cannot be read', async () => {
    const start = (day: string, ...rule: string[]) => titled('a', `DTSTART:202705${day}T160000Z`, ...rule);
    const { events, remarks } = await read(calendar(start('10', 'RRULE:FREQ=HOURLY'), start('11'), start('12')));
    expect(timesOf(events)).to.deep.equal(['2027-05-11 18:00:00', '2027-05-12 18:00:00']);
    expect(remarks.map(({ reason }) => reason)).to.include('a rule that repeats hourly');
  });

  it('does not show an instance whose change cannot be read, or is private', async () => {
    const series = titled('a', 'DTSTART:20270505T160000Z', 'RRULE:FREQ=DAILY;COUNT=3');
    for (const line of ['DTSTART:soon', 'CLASS:PRIVATE\r\nDTSTART:20270506T170000Z']) {
      const { events } = await read(
        calendar(series, event('UID:a', 'SUMMARY:b', 'RECURRENCE-ID:20270506T160000Z', line)),
      );
      expect(timesOf(events)).to.deep.equal(['2027-05-05 18:00:00', '2027-05-07 18:00:00']);
    }
    const hidden = titled('a', 'CLASS:PRIVATE', 'DTSTART:20270505T160000Z', 'RRULE:FREQ=DAILY');
    const change = event('UID:a', 'SUMMARY:b', 'RECURRENCE-ID:20270506T160000Z', 'DTSTART:20270506T170000Z');
    expect((await read(calendar(hidden, change))).events).to.deep.equal([]);
  });

  it('without UIDs, or with equal ones, has keys that stay', async () => {
    const unnamed = event('SUMMARY:one', 'DTSTART:20270510T160000Z');
    const twin = event('SUMMARY:two', 'DTSTART:20270510T160000Z');
    const first = await read(calendar(unnamed, twin));
    const second = await read(calendar(twin, GOOD, unnamed));
    const keyOf = (events: readonly SourceEvent[], title: string) => events.find((each) => each.title === title)!.key;
    expect(first.events).to.have.length(2);
    for (const title of ['one', 'two']) expect(keyOf(first.events, title)).to.equal(keyOf(second.events, title));
    expect(first.remarks).to.deep.equal([]);
    const same = (start: string, page: number) => titled('same', `DTSTART:${start}`, `URL:https://x.example/${page}`);
    const { events, remarks } = await read(
      calendar(same('20270510T160000Z', 1), same('20270510T160000Z', 2), same('20270511T160000Z', 3)),
    );
    expect(events.map(({ key, url }) => `${key} ${url}`).sort()).to.deep.equal([
      'same/20270510T160000Z https://x.example/2',
      'same/20270511T160000Z https://x.example/3',
    ]);
    expect(remarks).to.deep.equal([
      { reason: 'the same UID and start as another: the last one counts', count: 1, example: 'same' },
    ]);
  });

  it('with a line of a hundred thousand categories has few of them', async () => {
    const many = `CATEGORIES:${'a,'.repeat(95_000)}a`;
    const { categories } = await readOne('DTSTART:20270510T160000Z', many, 'CATEGORIES:Music,Film');
    expect(categories).to.deep.equal(['a', 'Music', 'Film']);
  });

  it('whose reading is broken off is not taken for one with fewer events', async () => {
    const series = ['DTSTART:19710101T100000Z', 'RRULE:FREQ=DAILY;COUNT=19000'];
    const text = calendar(titled('old', ...series), GOOD);
    const signal = AbortSignal.abort(new Error('stopped'));
    const reading = readICalendar(Buffer.from(text), { timezone: 'Europe/Berlin', nowMs: NOW, signal });
    expect(await reading.catch((error: Error) => error.message)).to.equal('stopped');
  });

  it('with many instances in a series, or many changes of the clocks in a zone, is bounded', async () => {
    const hours = `BYHOUR=${[...Array(24).keys()]}`;
    const rule = (freq: string, minute: number) => `RRULE:FREQ=${freq};COUNT=999999;${hours};BYMINUTE=${minute}`;
    const minutes = [...Array(10).keys()];
    const zone = minutes.flatMap((minute) => [
      ...['BEGIN:STANDARD', `DTSTART:197001010000${minute}0`, `RRULE:FREQ=YEARLY;BYDAY=MO,TU;${hours}`],
      ...[`TZOFFSETFROM:+0${minute}00`, 'TZOFFSETTO:+0000', 'END:STANDARD'],
      ...['BEGIN:DAYLIGHT', 'TZOFFSETTO:+0100', 'END:DAYLIGHT'],
    ]);
    const { events, remarks } = await read(
      calendar(
        ...['BEGIN:VTIMEZONE', 'TZID:Made up', ...zone, 'END:VTIMEZONE'],
        titled('far', 'DTSTART;TZID=Made up:20270510T100000'),
        titled('long', 'DTSTART:19300101T000000Z', ...minutes.map((minute) => rule('DAILY', minute))),
        GOOD,
      ),
    );
    expect(events.map(({ uid }) => uid)).to.deep.equal(['good']);
    expect(remarks.map(({ reason, example }) => `${example}: ${reason}`)).to.deep.equal([
      'far: the unknown time zone Made up',
      'long: a series of more than 100000 instances',
    ]);
  });

  it('with thousands of ends of an event is read like one with one', async () => {
    const ends = Array(2900).fill('DTEND:20270501T110000Z');
    const { events } = await read(calendar(titled('a', 'DTSTART:20270501T100000Z', 'RRULE:FREQ=DAILY', ...ends)));
    expect(new Set(events.map(({ startUtc, endUtc }) => Date.parse(endUtc) - Date.parse(startUtc)))).to.have.all.keys(
      3_600_000,
    );
  });

  it('with thousands of changes of a series that cannot be read lets other work run', async () => {
    const changed = (id: string) => event('UID:a', `RECURRENCE-ID;RANGE=THISANDFUTURE:${id}`);
    const changes = Array.from({ length: 4000 }, (_, i) => {
      const [year, day, hour] = [2100 + Math.floor(i / 280), 10 + (i % 20), 10 + (Math.floor(i / 20) % 14)];
      return changed(`${year}01${day}T${hour}0000Z`);
    });
    const hourly = titled('a', 'DTSTART:20261201T000000Z', `RRULE:FREQ=DAILY;BYHOUR=${[...Array(24).keys()]}`);
    let [turns, isDone] = [0, false];
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const { events } = await read(calendar(hourly, changed('20261201T000000Z'), ...changes));
    isDone = true;
    expect(events).to.deep.equal([]);
    // Two, if nothing pauses.
    expect(turns).to.be.greaterThan(5);
  });

  it('with endless rules is bounded, and lets other work run', async () => {
    const rules = [
      ['DTSTART:10270101T100000Z', 'RRULE:FREQ=DAILY'],
      ['DTSTART:10270101T100000Z', 'RRULE:FREQ=DAILY;COUNT=1000000'],
      ['DTSTART:20270104T100000Z', 'RRULE:FREQ=DAILY;INTERVAL=7;BYDAY=TU'],
      ['DTSTART:20270104T100000Z', 'RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30'],
      ['DTSTART:20270104T100000Z', 'RRULE:FREQ=DAILY;INTERVAL=999999999999'],
      ['DTSTART:20270104T100000Z', `RRULE:FREQ=DAILY;BYHOUR=${[...Array(24).keys()]};BYMINUTE=0,20,40`],
    ];
    const { events, remarks } = await read(calendar(...rules.map((lines, i) => titled(`rule${i}`, ...lines)), GOOD));
    const counts = Map.groupBy(events, ({ uid }) => uid);
    expect(counts.get('good')).to.have.length(1);
    // 180 days before and 366 after today.
    expect(counts.get('rule0')).to.have.length(546);
    expect(counts.get('rule2')).to.have.length(1);
    expect(remarks.map(({ reason }) => reason)).to.have.members([
      'a series of more than 100000 instances',
      'a rule that repeats too often a day',
    ]);
  });
});
