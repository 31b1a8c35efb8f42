// The concerts from today on. Eleventy reads this once per build; templates see it as `events`.

import { createCalendarClient } from 'calendar-gateway/client';

const { CALENDAR_URL: baseUrl = 'http://localhost:3000/calendar/events/v1' } = process.env;

export default function () {
  const calendar = createCalendarClient({ baseUrl });
  return Array.fromAsync(calendar.records('/events', { start_date: 'today', categories: ['concerts'], per_page: 50 }));
}
