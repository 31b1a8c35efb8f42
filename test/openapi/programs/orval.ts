// The API with orval and its fetch client.

import { createEvent, deleteEventById, listEvents, readEventById } from '../generated/orval.ts';
import type { Findings } from './main.ts';

/** The base URL is in the generated code: the one of the document. */
export async function run(_baseUrl: string, authorization: string): Promise<Findings> {
  const list = await listEvents({ start_date: '2027-01-01', per_page: 5, categories: ['concerts'] });
  if (list.status !== 200) throw new Error(list.data.message);
  const { events, total, total_pages } = list.data;
  const missing = await readEventById(9);
  const headers = { Authorization: authorization };
  const event = { title: 'Fair', start_date: '2027-02-01 10:00', end_date: '2027-02-01 12:00' };
  const created = await createEvent(event, { headers });
  if (created.status !== 201) throw new Error(created.data.message);
  const deleted = await deleteEventById(created.data.id, undefined, { headers });
  return {
    title: events[0]?.title,
    total,
    total_pages,
    missing: [missing.status, missing.status === 404 ? missing.data.code : undefined],
    created: created.status,
    deleted: deleted.status,
  };
}
