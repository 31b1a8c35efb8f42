// The API with calendar-gateway/client, compiled with the TypeScript of the other programs.

import { type CalendarEvent, createCalendarClient } from '../../../dist/client/client.js';
import type { Findings } from './main.ts';

export async function run(baseUrl: string, authorization: string): Promise<Findings> {
  const calendar = createCalendarClient({ baseUrl });
  const query = { start_date: '2027-01-01', per_page: 5, categories: ['concerts'] };
  const [first] = await Array.fromAsync(calendar.pages('/events', query));
  const event: CalendarEvent | undefined = first?.events[0];
  const missing = await calendar.GET('/events/{id}', { params: { path: { id: 9 } } });
  const headers = { Authorization: authorization };
  const body = { title: 'Fair', start_date: '2027-02-01 10:00', end_date: '2027-02-01 12:00' };
  const created = await calendar.POST('/events', { body, headers });
  if (!created.data) throw new Error(created.error.message);
  const path = { id: created.data.id };
  const deleted = await calendar.DELETE('/events/{id}', { params: { path }, headers });
  return {
    title: event?.title,
    total: first?.total,
    total_pages: first?.total_pages,
    missing: [missing.response.status, missing.error?.code],
    created: created.response.status,
    deleted: deleted.response.status,
  };
}
