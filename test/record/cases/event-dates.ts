// Cases for the dates, times and time zones of events.

import { expect } from 'chai';
import type { Json } from '../../start-gateway.ts';
import type { DefineCase } from '../gateway-scenario.ts';

const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };

export function defineEventDates(define: DefineCase): void {
  const READINGS: Record<string, [sent: Json, stored: Json]> = {
    'a date alone is midnight': [
      { start_date: '2027-03-01', end_date: '2027-03-02' },
      { start_date: '2027-03-01 00:00:00', end_date: '2027-03-02 00:00:00' },
    ],
    'a day that does not exist rolls over': [
      { start_date: '2027-02-30', end_date: '2027-03-05' },
      { start_date: '2027-03-02 00:00:00' },
    ],
    '24:00:00 is the next day': [
      { start_date: '2027-03-01 24:00:00', end_date: '2027-03-05' },
      { start_date: '2027-03-02 00:00:00' },
    ],
    'a time that daylight saving leaves out moves on': [
      { start_date: '2027-03-14 02:30:00', end_date: '2027-03-14 05:00:00' },
      { start_date: '2027-03-14 03:30:00', utc_start_date: '2027-03-14 07:30:00' },
    ],
    'a time that comes twice is the first': [
      { start_date: '2027-11-07 01:30:00', end_date: '2027-11-07 05:00:00' },
      { utc_start_date: '2027-11-07 05:30:00', timezone_abbr: 'EDT' },
    ],
    'Z names an instant, shown in the zone of the event': [
      { start_date: '2027-07-10T10:00:00Z', end_date: '2027-07-10T12:00:00Z', timezone: 'Europe/Paris' },
      { start_date: '2027-07-10 12:00:00', utc_start_date: '2027-07-10 10:00:00' },
    ],
    'an offset names an instant': [
      { start_date: '2027-07-10T10:00:00+09:00', end_date: '2027-07-10T12:00:00+09:00' },
      { start_date: '2027-07-09 21:00:00', utc_start_date: '2027-07-10 01:00:00' },
    ],
    'Unix seconds are an instant': [
      { start_date: '1799582400', end_date: '1799586000' },
      { utc_start_date: '2027-01-10 12:00:00', start_date: '2027-01-10 07:00:00' },
    ],
    'equal times are fine': [
      { start_date: '2027-03-01 10:00', end_date: '2027-03-01 10:00' },
      { start_date: '2027-03-01 10:00:00', end_date: '2027-03-01 10:00:00' },
    ],
    'an all-day event covers whole days': [
      { start_date: '2027-03-01 10:00', end_date: '2027-03-03 09:00', all_day: true },
      { start_date: '2027-03-01 00:00:00', end_date: '2027-03-03 23:59:59', all_day: true },
    ],
    'UTC+2 is a fixed offset in summer too': [
      { start_date: '2027-07-01 10:00', end_date: '2027-07-01 11:00', timezone: 'UTC+2' },
      { timezone: 'UTC+2', timezone_abbr: 'UTC+2', utc_start_date: '2027-07-01 08:00:00' },
    ],
    'UTC+14 and UTC-12 are the ends': [
      { start_date: '2027-07-01 10:00', end_date: '2027-07-01 11:00', timezone: 'UTC+14' },
      { utc_start_date: '2027-06-30 20:00:00' },
    ],
    'half hours': [
      { start_date: '2027-07-01 10:00', end_date: '2027-07-01 11:00', timezone: 'UTC-3.5' },
      { utc_start_date: '2027-07-01 13:30:00', timezone_abbr: 'UTC-3.5' },
    ],
    'a zone keeps its letter case': [
      { ...times, timezone: 'europe/paris' },
      { timezone: 'europe/paris', timezone_abbr: 'CET' },
    ],
    'an abbreviation is a zone': [
      { ...times, timezone: 'est' },
      { timezone: 'est', timezone_abbr: 'EST', utc_start_date: '2027-01-10 15:00:00' },
    ],
    'a bare offset is a zone': [
      { ...times, timezone: '+02:00' },
      { timezone: '+02:00', timezone_abbr: 'GMT+0200', utc_start_date: '2027-01-10 08:00:00' },
    ],
    'an empty zone is the zone of the site': [{ ...times, timezone: '' }, { timezone: 'America/New_York' }],
  };
  for (const [name, [sent, stored]] of Object.entries(READINGS)) {
    define(`dates: ${name}`, async ({ create }) =>
      expect(await create('/events', { title: name, ...sent })).to.deep.include(stored),
    );
  }
}
