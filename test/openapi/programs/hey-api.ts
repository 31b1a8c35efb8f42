// The API with @hey-api/openapi-ts and its fetch client.

import { createClient } from '../generated/hey-api/client/index.ts';
import { createEvent, deleteEventById, listEvents, readEventById } from '../generated/hey-api/index.ts';
import type { Findings } from './main.ts';

export async function run(baseUrl: string, authorization: string): Promise<Findings> {
  const client = createClient({ baseUrl });
  const query = { start_date: '2027-01-01', per_page: 5, categories: ['concerts'] };
  const list = await listEvents({ client, query });
  if (!list.data) throw new Error(list.error?.message);
  const { events, total, total_pages } = list.data;
  const missing = await readEventById({ client, path: { id: 9 } });
  const headers = { Authorization: authorization };
  const body = { title: 'Fair', start_date: '2027-02-01 10:00', end_date: '2027-02-01 12:00' };
  const created = await createEvent({ client, body, headers });
  if (!created.data) throw new Error(created.error?.message);
  const deleted = await deleteEventById({ client, path: { id: created.data.id }, headers });
  return {
    title: events[0]?.title,
    total,
    total_pages,
    missing: [missing.response?.status, missing.error?.code],
    created: created.response?.status,
    deleted: deleted.response?.status,
  };
}
