// Links that put the shown events, or one event, into a visitor's calendar.

import { textLine } from '../../text/html.ts';
import { postalAddress } from '../../text/text.ts';
import { wholeDays } from '../../time/wall-time.ts';
import { addDays } from './dates.ts';
import type { LandingQuery } from './landing-query.ts';
import type { PublicEvent } from './read-events.ts';

export interface CalendarLink {
  name: string;
  url: string;
}

/**
 * The feed of the shown events. A list without a date begins by the start of its events, so that an exhibition of two
 * months leaves it after two days. This one has everything that has not ended `endsAfter`, for example `-1month`: a
 * phrase, because subscribers keep the address for years.
 */
export const feedUrl = (file: string, filters: LandingQuery['filters'], endsAfter: string): string =>
  `${file}?${new URLSearchParams({ ends_after: endsAfter, ...filters })}`;

/** Links to subscribe to a calendar file. `webcal:` makes calendar apps subscribe instead of import. */
export function subscribeLinks(fileUrl: string, calendarName: string): CalendarLink[] {
  const webcal = fileUrl.replace(/^https?:/, 'webcal:');
  const subscription = { path: '/calendar/action/compose', rru: 'addsubscription', url: webcal, name: calendarName };
  const outlook = new URLSearchParams(subscription);
  return [
    {
      name: 'Google Calendar',
      url: `https://calendar.google.com/calendar/render?${new URLSearchParams({ cid: webcal })}`,
    },
    { name: 'Outlook.com', url: `https://outlook.live.com/owa?${outlook}` },
    { name: 'Microsoft 365', url: `https://outlook.office.com/owa?${outlook}` },
  ];
}

/** Links that open the form for a new event with this one; none for an event without a date. */
export function addLinks(event: PublicEvent, pageUrl: string): CalendarLink[] {
  if (event.start_date === '') return [];
  const { title, all_day: allDay, utc_start_date: start, utc_end_date: end } = event;
  const venue = [event.venue].flat().find(({ venue: name }) => typeof name === 'string');
  const location = venue ? textLine([venue.venue, postalAddress(venue)].filter((part) => part !== '').join(', ')) : '';
  const [first, last] = wholeDays(event.start_date, event.end_date);
  // Both programs read the last day of an all-day event as the first day without it.
  const times = allDay ? [first, addDays(last, 1)] : [start, end].map((utc) => `${utc.replace(' ', 'T')}Z`);
  const subject = textLine(title);
  const google = { action: 'TEMPLATE', text: subject, dates: times.join('/').replace(/[-:]/g, ''), location };
  const outlook = { rru: 'addevent', subject, startdt: times[0]!, enddt: times[1]!, allday: String(allDay), location };
  const compose = '/calendar/0/action/compose';
  return [
    {
      name: 'Google Calendar',
      url: `https://calendar.google.com/calendar/render?${new URLSearchParams({ ...google, details: pageUrl })}`,
    },
    {
      name: 'Outlook.com',
      url: `https://outlook.live.com${compose}?${new URLSearchParams({ ...outlook, body: pageUrl })}`,
    },
  ];
}
