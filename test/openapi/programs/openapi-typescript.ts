// The API with openapi-typescript and openapi-fetch.

import createClient from 'openapi-fetch';
import type { paths } from '../generated/openapi-typescript.ts';
import type { Findings } from './main.ts';

export async function run(baseUrl: string, authorization: string): Promise<Findings> {
  const { GET, POST, DELETE } = createClient<paths>({ baseUrl });
  const query = { start_date: '2027-01-01', per_page: 5, categories: ['concerts'] };
  const list = await GET('/events', { params: { query } });
  if (!list.data) throw new Error(list.error.data?.hints?.start_date ?? list.error.message);
  const { events, total, total_pages } = list.data;
  const missing = await GET('/events/{id}', { params: { path: { id: 9 } } });
  const headers = { Authorization: authorization };
  const body = { title: 'Fair', start_date: '2027-02-01 10:00', end_date: '2027-02-01 12:00' };
  const created = await POST('/events', { body, headers });
  if (!created.data) throw new Error(created.error.message);
  const path = { id: created.data.id };
  const deleted = await DELETE('/events/{id}', { params: { path }, headers });
  return {
    title: events[0]?.title,
    total,
    total_pages,
    missing: [missing.response.status, missing.error?.code],
    created: created.response.status,
    deleted: deleted.response.status,
  };
}
