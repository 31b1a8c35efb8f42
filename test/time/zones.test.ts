// Time zones: parsing of zone texts, abbreviations, and conversion between wall time and UTC.

import { expect } from 'chai';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { formatWallTime } from '../../src/time/wall-time.ts';
import {
  offsetMinutes,
  parseZone,
  utcToWall,
  utcZone,
  wallToUtc,
  type Zone,
  zoneAbbreviation,
} from '../../src/time/zones.ts';

function zone(text: string): Zone {
  const parsed = parseZone(text);
  if (!parsed) throw new Error(`no zone: ${text}`);
  return parsed;
}

// Daylight saving in both hemispheres and by half an hour, offsets of 45 minutes, no changes, and several
// changes in a year.
const NAMES = [
  'America/New_York',
  'Europe/Paris',
  'Europe/Dublin',
  'America/Santiago',
  'Australia/Sydney',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Asia/Kathmandu',
  'Asia/Tokyo',
  'Africa/Casablanca',
  'America/St_Johns',
  'Pacific/Apia',
];

describe('zone texts', () => {
  const fixed: [string, number][] = [
    ['+02:00', 120],
    ['+0200', 120],
    ['-5', -300],
    ['GMT+2', 120],
    ['UTC', 0],
    ['UTC+2', 120],
    ['UTC2', 120],
    ['UTC +2', 120],
    ['UTC+02:00', 120],
    ['UTC-3.5', -210],
    ['UTC+5:30', 330],
    ['UTC+13.75', 825],
    ['UTC+14', 840],
    ['UTC-12', -720],
    ['UTC+99', 0],
  ];
  for (const [text, minutes] of fixed) {
    it(`${text} is a fixed offset`, () => {
      expect(parseZone(text)).to.deep.equal({ kind: 'fixed', minutes });
    });
  }

  const abbreviations: [string, string, number][] = [
    ['EST', 'EST', -300],
    ['est', 'EST', -300],
    ['CEST', 'CEST', 120],
    ['utc', 'UTC', 0],
    ['Z', 'Z', 0],
    ['CET', 'CET', 60],
    ['x', 'X', -660],
  ];
  for (const [text, letters, minutes] of abbreviations) {
    it(`${text} is an abbreviation`, () => {
      expect(parseZone(text)).to.deep.equal({ kind: 'abbreviation', letters, minutes });
    });
  }

  const names: [string, string][] = [
    ['Europe/Paris', 'Europe/Paris'],
    ['europe/paris', 'Europe/Paris'],
    ['US/Eastern', 'US/Eastern'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
    ['Asia/Calcutta', 'Asia/Calcutta'],
    ['Europe/Kyiv', 'Europe/Kyiv'],
    ['japan', 'Japan'],
  ];
  for (const [text, name] of names) {
    it(`${text} is a name of the tz database`, () => {
      expect(parseZone(text)).to.deep.equal({ kind: 'iana', name });
    });
  }

  const refused = [
    '',
    ' ',
    'local',
    'utc+2',
    'foo',
    'Mars/Phobos',
    '5',
    '99',
    '0200',
    'UTC+',
    'UTC+ 2',
    'GMT+2:75',
    'EST ',
    'now',
    'today',
    'thu',
    'mar',
    'constructor',
  ];
  for (const text of refused) {
    it(`${JSON.stringify(text)} is not a zone`, () => {
      expect(parseZone(text)).to.equal(undefined);
    });
  }
});

describe('zone abbreviations', () => {
  const rows: [string, string, string][] = [
    ['America/New_York', '2027-01-10 10:00:00', 'EST'],
    ['America/New_York', '2027-07-10 10:00:00', 'EDT'],
    ['europe/paris', '2027-07-10 10:00:00', 'CEST'],
    ['Europe/London', '2027-01-10 10:00:00', 'GMT'],
    ['Europe/London', '2027-07-10 10:00:00', 'BST'],
    ['Asia/Tokyo', '2027-07-10 10:00:00', 'JST'],
    ['Australia/Sydney', '2027-01-10 10:00:00', 'AEDT'],
    ['Pacific/Auckland', '2027-07-10 10:00:00', 'NZST'],
    ['Africa/Johannesburg', '2027-07-10 10:00:00', 'SAST'],
    ['Asia/Kolkata', '2027-07-10 10:00:00', 'IST'],
    ['Etc/GMT+5', '2027-01-10 10:00:00', '-05'],
    ['Asia/Dubai', '2027-01-10 10:00:00', '+04'],
    ['Asia/Kathmandu', '2027-01-10 10:00:00', '+0545'],
    ['Australia/Lord_Howe', '2027-07-10 10:00:00', '+1030'],
    ['UTC', '2027-01-10 10:00:00', 'UTC'],
    ['UTC+2', '2027-01-10 10:00:00', 'UTC+2'],
    ['UTC+02:00', '2027-01-10 10:00:00', 'UTC+02:00'],
    ['UTC+99', '2027-01-10 10:00:00', 'UTC+99'],
    ['+02:00', '2027-01-10 10:00:00', 'GMT+0200'],
    ['+0200', '2027-01-10 10:00:00', 'GMT+0200'],
    ['GMT+2', '2027-01-10 10:00:00', 'GMT+0200'],
    ['-03:30', '2027-01-10 10:00:00', 'GMT-0330'],
    ['est', '2027-07-10 10:00:00', 'EST'],
    ['utc', '2027-07-10 10:00:00', 'UTC'],
    ['Z', '2027-07-10 10:00:00', 'Z'],
    ['Mars/Phobos', '2027-07-10 10:00:00', ''],
    ['Europe/Paris', '', ''],
    ['Europe/Paris', '0000-00-00 00:00:00', ''],
    ['UTC+2', '', 'UTC+2'],
  ];
  for (const [text, wall, letters] of rows) {
    it(`${text} at ${wall}: ${JSON.stringify(letters)}`, () => {
      expect(zoneAbbreviation(text, wall)).to.equal(letters);
    });
  }
});

describe('wall time and UTC', () => {
  // Wall time, zone, UTC: a skipped hour, a repeated hour, and a day that did not exist; checked with PHP 8.2.
  const rows: [string, string, string][] = [
    ['2027-03-14 01:59:59', 'America/New_York', '2027-03-14 06:59:59'],
    ['2027-03-14 02:30:00', 'America/New_York', '2027-03-14 07:30:00'],
    ['2027-03-14 03:00:00', 'America/New_York', '2027-03-14 07:00:00'],
    ['2027-11-07 01:30:00', 'America/New_York', '2027-11-07 05:30:00'],
    ['2027-11-07 02:00:00', 'America/New_York', '2027-11-07 07:00:00'],
    ['2027-03-28 02:30:00', 'Europe/Paris', '2027-03-28 01:30:00'],
    ['2027-10-31 02:30:00', 'Europe/Paris', '2027-10-31 01:30:00'],
    ['2027-10-31 01:30:00', 'Europe/London', '2027-10-31 01:30:00'],
    ['2027-10-31 00:30:00', 'Atlantic/Azores', '2027-10-31 00:30:00'],
    ['2027-10-03 02:30:00', 'Australia/Sydney', '2027-10-02 16:30:00'],
    ['2027-04-04 02:30:00', 'Australia/Sydney', '2027-04-03 16:30:00'],
    ['2027-10-03 02:15:00', 'Australia/Lord_Howe', '2027-10-02 15:45:00'],
    ['2027-04-04 01:45:00', 'Australia/Lord_Howe', '2027-04-03 15:15:00'],
    ['2027-07-10 10:00:00', 'Asia/Tokyo', '2027-07-10 01:00:00'],
    ['2011-12-30 12:00:00', 'Pacific/Apia', '2011-12-30 22:00:00'],
    ['2027-07-10 10:00:00', 'UTC+2', '2027-07-10 08:00:00'],
    ['2027-07-10 10:00:00', 'EST', '2027-07-10 15:00:00'],
    ['2095-07-10 10:00:00', 'America/New_York', '2095-07-10 14:00:00'],
    ['1980-01-10 10:00:00', 'America/New_York', '1980-01-10 15:00:00'],
  ];
  for (const [wall, text, utc] of rows) {
    it(`${wall} ${text} is ${utc}`, () => {
      expect(wallToUtc(wall, zone(text))).to.equal(utc);
    });
  }

  it('moves a skipped time to after the gap', () => {
    const newYork = zone('America/New_York');
    expect(utcToWall(wallToUtc('2027-03-14 02:30:00', newYork), newYork)).to.equal('2027-03-14 03:30:00');
  });

  it('finds the offset at an instant', () => {
    expect(offsetMinutes('2027-03-14 06:59:59', zone('America/New_York'))).to.equal(-300);
    expect(offsetMinutes('2027-03-14 07:00:00', zone('America/New_York'))).to.equal(-240);
    expect(offsetMinutes('2027-03-14 07:00:00', utcZone)).to.equal(0);
  });

  /** Temporal's result, except that for a repeated time PHP uses the offset that the zone has at that time in UTC. */
  const inTemporal = (wall: Temporal.PlainDateTime, name: string): Temporal.ZonedDateTime => {
    const later = wall.toZonedDateTime(name, { disambiguation: 'later' });
    const skipped = !later.toPlainDateTime().equals(wall);
    const asUtc = wall.toZonedDateTime('UTC').withTimeZone(name);
    return skipped || asUtc.offset !== later.offset ? wall.toZonedDateTime(name) : later;
  };

  it('converts to UTC and back like Temporal, from 1970 to 2100', () => {
    const seconds = fc.integer({ min: 2 * 86_400, max: Date.UTC(2100, 11, 30) / 1000 });
    fc.assert(
      fc.property(fc.constantFrom(...NAMES), seconds, (name, second) => {
        const parsed = zone(name);
        const wall = formatWallTime(second * 1000);
        const utc = wallToUtc(wall, parsed);
        const expected = inTemporal(Temporal.PlainDateTime.from(wall.replace(' ', 'T')), name);
        expect(utc, `${wall} ${name}`).to.equal(formatWallTime(expected.epochMilliseconds));
        expect(utcToWall(utc, parsed)).to.equal(
          formatWallTime(Date.parse(`${expected.toPlainDateTime().toString()}Z`)),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('agrees with Temporal near offset changes', () => {
    const minutes = fc.integer({ min: -180, max: 180 });
    fc.assert(
      fc.property(fc.constantFrom(...NAMES), fc.integer({ min: 1975, max: 2080 }), minutes, (name, year, away) => {
        const change = Temporal.ZonedDateTime.from(`${year}-01-05T00:00:00[${name}]`).getTimeZoneTransition('next');
        if (!change) return;
        const wall = change.toPlainDateTime().add({ minutes: away });
        const expected = inTemporal(wall, name).epochMilliseconds;
        expect(wallToUtc(wall.toString({ smallestUnit: 'second' }).replace('T', ' '), zone(name))).to.equal(
          formatWallTime(expected),
        );
      }),
      { numRuns: 300 },
    );
  });
});
