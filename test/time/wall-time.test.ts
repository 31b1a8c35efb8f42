// Wall times: formatting, parsing and arithmetic within four-digit years.

import { expect } from 'chai';
import fc from 'fast-check';
import {
  addMonths,
  dateDetails,
  dayEndOn,
  dayStartOn,
  EARLIEST_MS,
  formatWallTime,
  LATEST_MS,
  parseWallTime,
  wallTimeMs,
  wholeDays,
} from '../../src/time/wall-time.ts';

const DAY_MS = 86_400_000;

describe('wall times', () => {
  it('format and parse every second of the years 0000 to 9999', () => {
    fc.assert(
      fc.property(fc.integer({ min: EARLIEST_MS / 1000, max: LATEST_MS / 1000 }), (seconds) => {
        expect(parseWallTime(formatWallTime(seconds * 1000))).to.equal(seconds * 1000);
      }),
    );
  });

  it('are clamped to four-digit years', () => {
    expect(formatWallTime(LATEST_MS + 86_400_000)).to.equal('9999-12-31 23:59:59');
    expect(formatWallTime(EARLIEST_MS - 1)).to.equal('0000-01-01 00:00:00');
  });

  for (const text of ['2027-02-30 10:00:00', '2027-13-01 00:00:00', '2027-01-01 24:00:00', '2027-01-01', '', 'now']) {
    it(`refuse ${JSON.stringify(text)}`, () => {
      expect(parseWallTime(text)).to.equal(undefined);
    });
  }

  it('start and end days at midnight, or when the calendar starts them', () => {
    expect(dayStartOn('2027-06-11 10:00:00')).to.equal('2027-06-11 00:00:00');
    expect(dayEndOn('2027-06-11 10:00:00')).to.equal('2027-06-11 23:59:59');
    expect(dayStartOn('2027-06-11 10:00:00', '05:00')).to.equal('2027-06-11 05:00:00');
    for (const wall of ['2027-06-11 00:00:00', '2027-06-11 23:59:59', '2027-06-12 04:59:59'])
      expect(dayEndOn(wall, '05:00'), wall).to.equal('2027-06-12 04:59:59');
    expect(wholeDays('2027-06-11 05:00:00', '2027-06-12 04:59:59')).to.deep.equal(['2027-06-11', '2027-06-11']);
    expect(wholeDays('2027-06-11 00:00:00', '2027-06-12 23:59:59')).to.deep.equal(['2027-06-11', '2027-06-12']);
  });

  it('add days, seconds and months', () => {
    const later = (wall: string, ms: number) => formatWallTime(wallTimeMs(wall) + ms);
    expect(later('2028-02-28 10:00:00', 2 * DAY_MS)).to.equal('2028-03-01 10:00:00');
    expect(later('2027-01-01 00:00:00', -DAY_MS)).to.equal('2026-12-31 00:00:00');
    expect(later('2027-01-01 00:00:00', -1000)).to.equal('2026-12-31 23:59:59');
    expect(addMonths('2026-11-21 02:42:00', 24)).to.equal('2028-11-21 02:42:00');
    expect(addMonths('2028-02-29 00:00:00', 12)).to.equal('2029-03-01 00:00:00');
    expect(() => wallTimeMs('tomorrow')).to.throw(RangeError);
    expect(() => addMonths('tomorrow', 1)).to.throw(RangeError);
  });

  it('have a start of day, an end of day and parts', () => {
    expect(dayStartOn('2027-01-10 10:20:30')).to.equal('2027-01-10 00:00:00');
    expect(dayEndOn('2027-01-10 10:20:30')).to.equal('2027-01-10 23:59:59');
    expect(dateDetails('2027-01-10 10:20:30')).to.deep.equal({
      year: '2027',
      month: '01',
      day: '10',
      hour: '10',
      minutes: '20',
      seconds: '30',
    });
  });
});
