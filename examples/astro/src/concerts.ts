// The concerts from today on, read once per build.

import { type CalendarEvent, createCalendarClient } from 'calendar-gateway/client';

const { CALENDAR_URL: baseUrl = 'http://localhost:3000/calendar/events/v1' } = process.env;

const calendar = createCalendarClient({ baseUrl });

export const concerts: CalendarEvent[] = await Array.fromAsync(
  calendar.records('/events', { start_date: 'today', categories: ['concerts'], per_page: 50 }),
);
