// Date texts parse as in PHP: compared with results that PHP 8.2 itself recorded.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { parsePhpDate, parseUnixSeconds } from '../../src/time/php-dates.ts';
import { formatWallTime, wallTimeMs } from '../../src/time/wall-time.ts';
import { parseZone, utcZone, wallToUtc, type Zone } from '../../src/time/zones.ts';

// Recorded from PHP 8.2 at 1771000000 in UTC: Unix seconds, or null for a text that PHP refuses.
const { phrases }: { phrases: [string, number | null][] } = JSON.parse(
  readFileSync(new URL('./php-phrases.json', import.meta.url), 'utf8'),
);
// Seven days, four zones: php-relative.php.
const relative: { zones: string[]; instants: number[]; answers: Record<string, (number | false)[]> } = JSON.parse(
  readFileSync(new URL('./php-relative.json', import.meta.url), 'utf8'),
);
const nowMs = 1_771_000_000_000;
const newYork = parseZone('America/New_York') as Zone;

function wallOf(text: string, zone: Zone = newYork): string | undefined {
  return parsePhpDate(text, { nowMs, zone })?.wall;
}

function utcOf(text: string, zone: Zone = newYork): string | undefined {
  const date = parsePhpDate(text, { nowMs, zone });
  return date && formatWallTime(date.epochMs);
}

describe('parsePhpDate', () => {
  for (const [text, seconds] of phrases) {
    it(JSON.stringify(text), () => {
      const date = parsePhpDate(text, { nowMs, zone: utcZone });
      expect(date ? date.epochMs / 1000 : null).to.equal(seconds);
    });
  }

  for (const [text, seconds] of Object.entries(relative.answers))
    it(`${JSON.stringify(text)} on each day of a week`, () => {
      const found = relative.zones.flatMap((zone) =>
        relative.instants.map((instant) => {
          const date = parsePhpDate(text, { nowMs: instant * 1000, zone: parseZone(zone) as Zone });
          return date ? date.epochMs / 1000 : false;
        }),
      );
      expect(found).to.deep.equal(seconds);
    });

  it('does not depend on the time zone of the process', () => {
    const before = process.env.TZ;
    process.env.TZ = 'Australia/Lord_Howe';
    try {
      for (const [text, seconds] of phrases) {
        const date = parsePhpDate(text, { nowMs, zone: utcZone });
        expect(date ? date.epochMs / 1000 : null, text).to.equal(seconds);
      }
      expect(process.env.TZ).to.equal('Australia/Lord_Howe');
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  });

  for (const text of [
    '',
    ' ',
    '25:00',
    '2027-03-12 25:00',
    '2027-13-01',
    'not a date',
    'not a date at all',
    'foo',
    '2027-03-12 10:00 Mars/Phobos',
    '2027-03-12 10:00 EST CET MET',
    '2027-03-12 10:00 europe/paris',
    '1 x 2027',
    '0000-00-00 00:00:00',
    '@',
    'x'.repeat(300),
    // PHP reads these: docs/differences.md.
    '+2 weekdays',
    'next weekday',
    'back of 7pm',
    'front of 5am',
    '2026-060',
    '2026060',
    '2026.060',
  ]) {
    it(`refuses ${JSON.stringify(text.slice(0, 40))}`, () => {
      expect(parsePhpDate(text, { nowMs, zone: newYork })).to.equal(undefined);
    });
  }

  it('rolls over days and hours that do not exist', () => {
    expect(wallOf('2027-02-30')).to.equal('2027-03-02 00:00:00');
    expect(wallOf('2027-02-10 24:00:00')).to.equal('2027-02-11 00:00:00');
    expect(wallOf('2027-03-14 02:30:00')).to.equal('2027-03-14 03:30:00');
    expect(utcOf('2027-11-07 01:30:00')).to.equal('2027-11-07 05:30:00');
  });

  it('resolves relative phrases on the clock of the zone', () => {
    // 03:00 UTC on the 14th is still the 13th in New York.
    const late = { nowMs: Date.UTC(2026, 1, 14, 3), zone: newYork };
    expect(parsePhpDate('today', late)?.wall).to.equal('2026-02-13 00:00:00');
    expect(parsePhpDate('tomorrow 10:00', late)?.wall).to.equal('2026-02-14 10:00:00');
    expect(parsePhpDate('today', { ...late, zone: utcZone })?.wall).to.equal('2026-02-14 00:00:00');
  });

  it('adds hours and days to the wall time', () => {
    // 01:00 in New York, one hour before the clock goes forward. PHP's strtotime adds to the wall time; only its
    // DateTime::modify adds elapsed hours.
    const before = { nowMs: Date.UTC(2027, 2, 14, 6), zone: newYork };
    expect(parsePhpDate('+2 hours', before)?.wall).to.equal('2027-03-14 03:00:00');
    expect(parsePhpDate('+3 hours', before)?.wall).to.equal('2027-03-14 04:00:00');
    expect(parsePhpDate('+1 day', before)?.wall).to.equal('2027-03-15 01:00:00');
  });

  const zoned: [string, string, string][] = [
    ['2041-03-12T23:00:00-08:00', '2041-03-12 23:00:00', '2041-03-13 07:00:00'],
    ['2041-03-12T00:30:00+02:00', '2041-03-12 00:30:00', '2041-03-11 22:30:00'],
    ['2027-07-10T10:00:00Z', '2027-07-10 10:00:00', '2027-07-10 10:00:00'],
    ['2027-07-10t10:00z', '2027-07-10 10:00:00', '2027-07-10 10:00:00'],
    ['20270710T100000Z', '2027-07-10 10:00:00', '2027-07-10 10:00:00'],
    ['2027-07-10 10:00:00.000+00:00', '2027-07-10 10:00:00', '2027-07-10 10:00:00'],
    ['2027-07-10 10:00 EST', '2027-07-10 10:00:00', '2027-07-10 15:00:00'],
    ['2027-07-10 5pm -0300', '2027-07-10 17:00:00', '2027-07-10 20:00:00'],
    ['2027-07-10 10:00 GMT+2', '2027-07-10 10:00:00', '2027-07-10 08:00:00'],
    ['2027-07-10 10:00 (CEST)', '2027-07-10 10:00:00', '2027-07-10 08:00:00'],
    ['2027-07-10 10:00 Europe/Paris', '2027-07-10 10:00:00', '2027-07-10 08:00:00'],
    ['Sat Jul 10 10:00:00 UTC 2027', '2027-07-10 10:00:00', '2027-07-10 10:00:00'],
    ['Sat Jul 10 10:00:00 +0200 2027', '2027-07-10 10:00:00', '2027-07-10 08:00:00'],
    ['10/Jul/2027:10:00:00 +0200', '2027-07-10 10:00:00', '2027-07-10 08:00:00'],
    ['2027-07-10 +02:00', '2027-07-10 00:00:00', '2027-07-09 22:00:00'],
    ['@1771000000', '2026-02-13 16:26:40', '2026-02-13 16:26:40'],
    ['@-5', '1969-12-31 23:59:55', '1969-12-31 23:59:55'],
    // The wall time of now is that of the default zone, 11:26:40, also in a text with another zone.
    ['x', '2026-02-13 11:26:40', '2026-02-13 22:26:40'],
    ['2027-07-10 10:00 EST CET', '2027-07-10 10:00:00', '2027-07-10 15:00:00'],
  ];
  for (const [text, wall, utc] of zoned) {
    it(`finds the zone: ${text}`, () => {
      expect(wallOf(text)).to.equal(wall);
      expect(utcOf(text)).to.equal(utc);
      expect(parsePhpDate(text, { nowMs, zone: newYork })?.hasZone).to.equal(true);
    });
  }

  for (const text of [
    '2027-07-10',
    '2027-07-10 10:00',
    '10 March 2027',
    'tomorrow',
    '+1 week',
    '10:00 -3 days',
    '10 a.m.',
    '1 X 2027',
    '20270710T100000',
    '2027-W10',
    'now',
    'sat',
    'thu',
  ]) {
    it(`finds no zone: ${text}`, () => {
      expect(parsePhpDate(text, { nowMs, zone: newYork })?.hasZone).to.equal(false);
    });
  }

  it('finds weekdays of a month', () => {
    expect(wallOf('last friday of february 2026 10:00')).to.equal('2026-02-27 10:00:00');
    expect(wallOf('first sunday of march 2026')).to.equal('2026-03-01 00:00:00');
  });

  for (const text of [
    '+99999999999999999999 fridays',
    '+99999999999 months',
    '+999999999 years',
    '9999999 weeks Europe/Paris',
    '+9999999 weeks Europe/Paris',
    '-9999999 weeks America/New_York',
    '@999999999999999 Europe/Paris',
    `${'1 day '.repeat(33)}`,
    `${'0sec,  '.repeat(28)}`,
    `${'0sec,  '.repeat(26)}1 day`,
    `${'1 hour\t \t'.repeat(20)}1 day`,
    `${'a '.repeat(100)}`,
    `${' '.repeat(5000)}x`,
    '1'.repeat(5000),
  ]) {
    it(`never throws for ${text.slice(0, 40)}`, () => {
      for (const zone of [utcZone, newYork]) expect(() => parsePhpDate(text, { nowMs, zone })).not.to.throw();
    });
  }

  const formats: ((wall: string) => string)[] = [
    (wall) => wall,
    (wall) => wall.replace(' ', 'T'),
    (wall) => wall.replaceAll('-', '/'),
    (wall) => wall.replace(' ', ' \t'),
    (wall) => `${wall}.000`,
    (wall) => wall.replace(/(\d+)-(\d+)-(\d+)/, '$3-$2-$1'),
    (wall) => wall.replace(/(\d+)-(\d+)-(\d+)/, '$3.$2.$1'),
    (wall) => wall.replace(/(\d+)-(\d+)-(\d+)/, '$2/$3/$1'),
    (wall) => wall.replace(/(\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+)/, '$1$2$3T$4$5$6'),
    (wall) => `${named(wall, 'long').month} ${Number(wall.slice(8, 10))}, ${wall.slice(0, 4)} ${wall.slice(11)}`,
    (wall) => `${Number(wall.slice(8, 10))} ${named(wall, 'short').month} ${wall.slice(0, 4)} ${wall.slice(11)}`,
    (wall) =>
      `${named(wall, 'short').weekday}, ${wall.slice(8, 10)} ${named(wall, 'short').month} ${wall.slice(0, 4)} ${wall.slice(11)}`,
    (wall) =>
      `${wall.slice(0, 10)} ${Number(wall.slice(11, 13)) % 12 || 12}${wall.slice(13)} ${Number(wall.slice(11, 13)) < 12 ? 'am' : 'PM'}`,
  ];
  function named(wall: string, style: 'long' | 'short'): { month: string; weekday: string } {
    const write = (options: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', ...options }).format(wallTimeMs(wall));
    return { month: write({ month: style }), weekday: write({ weekday: style }) };
  }
  const seconds = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) / 1000 });

  it('parses every time in thirteen spellings, with and without an offset', () => {
    fc.assert(
      fc.property(seconds, fc.constantFrom(...formats), (at, format) => {
        const wall = formatWallTime(at * 1000);
        const text = format(wall);
        expect(wallOf(text, utcZone), text).to.equal(wall);
        expect(utcOf(`${text} +05:30`), text).to.equal(formatWallTime((at - 19_800) * 1000));
        expect(utcOf(`${text} UTC`), text).to.equal(wall);
        expect(utcOf(text), text).to.equal(wallToUtc(wall, newYork));
      }),
      { numRuns: 500 },
    );
  });

  it('never throws for random texts', () => {
    const words = fc.constantFrom(
      ...phrases.flatMap(([text]) => text.split(' ')),
      'EST',
      '+2',
      'of',
      'ago',
      '(',
      'Z',
      '@1',
    );
    const texts = fc.oneof(
      fc.string(),
      fc.array(words, { maxLength: 6 }).map((list) => list.join(' ')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const date = parsePhpDate(text, { nowMs, zone: newYork });
        if (date) expect(date.wall).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('parseUnixSeconds', () => {
  const rows: [string, number | undefined][] = [
    ['1738591200', 1_738_591_200],
    ['2027', 2027],
    ['0', 0],
    ['-5', -5],
    ['12.7', 12],
    ['1e3', 1000],
    ['.5', 0],
    ['1e99', undefined],
    ['e3', undefined],
    ['@5', undefined],
    ['', undefined],
    ['2027-01-01', undefined],
    ['20270312100000', undefined],
  ];
  for (const [text, expected] of rows) {
    it(`${JSON.stringify(text)}: ${expected}`, () => {
      expect(parseUnixSeconds(text)).to.equal(expected);
    });
  }
});
