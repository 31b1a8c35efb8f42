// Benchmark of writes through the gateway and directly on WordPress, with the calls to WordPress per
// operation.

import type { Sandbox } from '../sandbox/start.ts';
import { basicAuth } from '../test/live/json-client.ts';
import { cmsRequests, type Gateway, startGateway } from './gateway.ts';
import { median } from './processes.ts';
import type { ReadSettings } from './reads.ts';
import type { Figure } from './report.ts';

const WARM_UP = 3;
const WRITES = 25;
const DATES = { start_date: '2031-05-06 10:00:00', end_date: '2031-05-06 12:00:00' };

interface ApiResponse {
  status: number;
  body: { id: number; events?: unknown[] };
}

export async function benchWrites(sandbox: Sandbox, dir: string, { repeats }: ReadSettings): Promise<Figure[]> {
  // Without polls in between, all calls belong to the operations.
  const gateway = await startGateway(sandbox, dir, 'writes', { sync: { intervalS: 3600 } });
  const authorization = basicAuth(sandbox.credentials.editor);
  const calendar = `http://127.0.0.1:${gateway.port}/calendar/events/v1`;

  async function ask(url: string, method = 'GET', json?: object, anonymous = false): Promise<ApiResponse> {
    const response = await fetch(url, {
      method,
      headers: { ...(anonymous ? {} : { authorization }), ...(json ? { 'content-type': 'application/json' } : {}) },
      ...(json ? { body: JSON.stringify(json) } : {}),
    });
    const body = (await response.json()) as ApiResponse['body'];
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${JSON.stringify(body)}`);
    return { status: response.status, body };
  }

  async function lasting(work: () => Promise<unknown>): Promise<number> {
    const startMs = performance.now();
    await work();
    return performance.now() - startMs;
  }

  const createdIds: number[] = [];
  const direct = (n: number) => {
    const meta = { ...DATES, timezone: 'America/New_York', all_day: false };
    const json = { title: `Direct ${n}`, content: 'Written by the bench.', status: 'publish', meta };
    return ask(`${sandbox.url}/wp-json/wp/v2/events?context=edit`, 'POST', json).then(({ body }) =>
      createdIds.push(body.id),
    );
  };
  const through = (n: number) => {
    const json = { title: `Through ${n}`, description: 'Written by the bench.', status: 'publish', ...DATES };
    return ask(`${calendar}/events`, 'POST', json).then(({ body }) => createdIds.push(body.id));
  };

  try {
    await ask(`${calendar}/events?per_page=1`);
    const [throughGateway, site, ratios] = [[], [], []] as [number[], number[], number[]];
    for (let n = 0; n < WARM_UP + WRITES * Math.min(3, repeats); n += 1) {
      const pair = n % 2 === 0 ? [through, direct] : [direct, through];
      const first = await lasting(() => pair[0]!(n));
      const second = await lasting(() => pair[1]!(n));
      const [a, b] = n % 2 === 0 ? [first, second] : [second, first];
      if (n < WARM_UP) continue;
      throughGateway.push(a);
      site.push(b);
      ratios.push(a / b);
    }
    // Compares each pair of consecutive writes, when the machine is in the same state.
    const ratio = median(ratios);
    return [
      {
        row: 'create an event',
        server: 'gateway',
        note: `${median(throughGateway).toFixed(1)} ms, ${ratio.toFixed(2)} times as long as directly`,
        values: { write_ms: median(throughGateway), write_direct_ms: median(site), write_time_ratio: ratio },
      },
      { row: 'create an event', server: 'WordPress, wp/v2', note: `${median(site).toFixed(1)} ms`, values: {} },
      ...(await counts(gateway, ask, calendar, createdIds)),
    ];
  } finally {
    for (const id of createdIds) {
      await ask(`${sandbox.url}/wp-json/wp/v2/events/${id}?force=true`, 'DELETE').catch(() => undefined);
    }
    await gateway.stop();
  }
}

type Ask = (url: string, method?: string, json?: object, anonymous?: boolean) => Promise<ApiResponse>;

/**
 * Counts calls to the CMS per operation, while the gateway has the result of the editor's login in its cache
 * (a minute).
 */
async function counts(gateway: Gateway, ask: Ask, calendar: string, createdIds: number[]): Promise<Figure[]> {
  const event = `${calendar}/events`;
  let id = 0;
  const operations: [key: string, title: string, work: () => Promise<unknown>][] = [
    [
      'create',
      'create with nothing linked',
      async () => {
        id = (await ask(event, 'POST', { title: 'Counted', status: 'draft', ...DATES })).body.id;
        createdIds.push(id);
      },
    ],
    ['authenticated_event', "an editor's read of a draft", () => ask(`${event}/${id}`)],
    ['authenticated_list50', "an editor's list of 50", () => ask(`${event}?per_page=50`)],
    ['update', 'update', () => ask(`${event}/${id}`, 'POST', { title: 'Counted again', status: 'publish' })],
    ['read_after_write', 'the first read after it', () => ask(`${event}/${id}`, 'GET', undefined, true)],
    ['list_after_write', 'the first list after it', () => ask(`${event}?per_page=50`, 'GET', undefined, true)],
    ['delete', 'delete', () => ask(`${event}/${id}`, 'DELETE')],
  ];
  const figures: Figure[] = [];
  for (const [key, title, work] of operations) {
    const before = await cmsRequests(gateway);
    await work();
    const requests = (await cmsRequests(gateway)) - before;
    const note = requests === 1 ? '1 request to the CMS' : `${requests} requests to the CMS`;
    figures.push({ row: title, server: 'gateway', note, values: { [`${key}_cms_requests`]: requests } });
  }
  return figures;
}
