// A public site with an events/v1 API on this machine, whose pages a test sets, and recorded events to fill them with.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEventsSource } from '../../../src/cms/sources/events-api.ts';
import type { JsonObject } from '../../../src/model/json.ts';

interface Recording {
  events: { step: string; event: JsonObject }[];
  variants: { step: string; fields: JsonObject }[];
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), 'utf8'));

/** Whole recorded events, and the second of them with the recorded fields and costs of others. */
export function recordedEvents(): JsonObject[] {
  const { events, variants }: Recording = read('the-events-calendar-events.json');
  const { costs }: { costs: JsonObject[] } = read('the-events-calendar-costs.json');
  const [first, whole] = events.map(({ event }) => event);
  const fields = [
    ...variants.map((variant) => variant.fields),
    ...costs.map(({ cost, cost_details }) => ({ cost, cost_details })),
  ];
  return [first!, whole!, ...fields.map((some) => ({ ...whole, ...some }))].map((event, index) => {
    const id = 1000 + index;
    const globalId = `recorded.example?id=${id}`;
    const url = `https://recorded.example/event/${id}/`;
    return { ...event, id, url, global_id: globalId, global_id_lineage: [globalId] };
  });
}

/** The smallest event that can be served. */
export const event = (id: number, fields: object = {}): JsonObject => ({
  ...{ id, title: `Event ${id}`, timezone: 'America/New_York' },
  ...{ start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' },
  ...fields,
});

export async function startEventsSite() {
  const site = {
    /** The address of the namespace. */
    address: '',
    /** Events by page. */
    pages: [[]] as unknown[][],
    requests: [] as { url: URL; ifNoneMatch: string | undefined; atMs: number }[],
    /** Set by a test to answer otherwise. Returns false for an ordinary answer. */
    respond: (_page: number, _response: ServerResponse): boolean => false,
    nowMs: Date.parse('2026-11-28T12:00:00Z'),
    /** A reader whose clock only moves when it waits. */
    reader: () =>
      createEventsSource(site.address, { allowPrivate: true, nowMs: () => site.nowMs }, async (ms) => {
        site.nowMs += ms;
      }),
    read: () => site.reader().read(undefined, AbortSignal.timeout(30_000)),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url!, site.address);
    const page = Number(url.searchParams.get('page'));
    site.requests.push({ url, ifNoneMatch: request.headers['if-none-match'], atMs: site.nowMs });
    if (site.respond(page, response)) return;
    const events = site.pages[page - 1];
    if (events === undefined) return void response.writeHead(404).end('{"code":"event-archive-page-not-found"}');
    const total = site.pages.flat().length;
    const next = page < site.pages.length && { next_rest_url: `${site.address}/events?page=${page + 1}` };
    response.end(JSON.stringify({ events, total, ...next }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  site.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/wp-json/tribe/events/v1`;
  return site;
}

export type EventsSite = Awaited<ReturnType<typeof startEventsSite>>;
