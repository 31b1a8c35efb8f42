// Writes through the gateway beside the same writes made directly on WordPress, and how many requests to it each operation takes.

import type { Sandbox } from '../sandbox/start.ts';
import { median } from './processes.ts';
import type { ReadSettings } from './reads.ts';
import type { Figure } from './report.ts';
import { cmsRequests, type Gateway, startGateway } from './site.ts';

const WARM_UP = 3;
const WRITES = 25;
const DATES = { start_date: '2031-05-06 10:00:00', end_date: '2031-05-06 12:00:00' };

interface Answer {
  status: number;
  body: { id: number; events?: unknown[] };
}

export async function writes(sandbox: Sandbox, dir: string, { repeats }: ReadSettings): Promise<Figure[]> {
  // No look at the CMS in between: what is counted is the operations' own.
  const gateway = await startGateway(sandbox, dir, 'writes', { sync: { intervalS: 3600 } });
  const { user, applicationPassword } = sandbox.credentials.editor;
  const authorization = `Basic ${Buffer.from(`${user}:${applicationPassword}`).toString('base64')}`;
  const calendar = `http://127.0.0.1:${gateway.port}/calendar/events/v1`;

  async function ask(url: string, method = 'GET', json?: object, anonymous = false): Promise<Answer> {
    const response = await fetch(url, {
      method,
      headers: { ...(anonymous ? {} : { authorization }), ...(json ? { 'content-type': 'application/json' } : {}) },
      ...(json ? { body: JSON.stringify(json) } : {}),
    });
    const body = (await response.json()) as Answer['body'];
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${JSON.stringify(body)}`);
    return { status: response.status, body };
  }

  async function lasting(work: () => Promise<unknown>): Promise<number> {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  }

  const made: number[] = [];
  const direct = (n: number) => {
    const meta = { ...DATES, timezone: 'America/New_York', all_day: false };
    const json = { title: `Direct ${n}`, content: 'Written by the bench.', status: 'publish', meta };
    return ask(`${sandbox.url}/wp-json/wp/v2/events?context=edit`, 'POST', json).then(({ body }) => made.push(body.id));
  };
  const through = (n: number) => {
    const json = { title: `Through ${n}`, description: 'Written by the bench.', status: 'publish', ...DATES };
    return ask(`${calendar}/events`, 'POST', json).then(({ body }) => made.push(body.id));
  };

  try {
    await ask(`${calendar}/events?per_page=1`);
    const [own, site, ratios] = [[], [], []] as [number[], number[], number[]];
    for (let n = 0; n < WARM_UP + WRITES * Math.min(3, repeats); n += 1) {
      const pair = n % 2 === 0 ? [through, direct] : [direct, through];
      const first = await lasting(() => pair[0]!(n));
      const second = await lasting(() => pair[1]!(n));
      const [a, b] = n % 2 === 0 ? [first, second] : [second, first];
      if (n < WARM_UP) continue;
      own.push(a);
      site.push(b);
      ratios.push(a / b);
    }
    // Of each pair, made one after the other: the machine is the same one then.
    const ratio = median(ratios);
    return [
      {
        row: 'create an event',
        server: 'gateway',
        note: `${median(own).toFixed(1)} ms, ${ratio.toFixed(2)} times as long as directly`,
        values: { write_ms: median(own), write_direct_ms: median(site), write_time_ratio: ratio },
      },
      { row: 'create an event', server: 'WordPress, wp/v2', note: `${median(site).toFixed(1)} ms`, values: {} },
      ...(await counts(gateway, ask, calendar, made)),
    ];
  } finally {
    for (const id of made) {
      await ask(`${sandbox.url}/wp-json/wp/v2/events/${id}?force=true`, 'DELETE').catch(() => undefined);
    }
    await gateway.stop();
  }
}

type Ask = (url: string, method?: string, json?: object, anonymous?: boolean) => Promise<Answer>;

/** Requests to the CMS by operation. The editor's credentials are known by now, as they are for an hour after the first request. */
async function counts(gateway: Gateway, ask: Ask, calendar: string, made: number[]): Promise<Figure[]> {
  const event = `${calendar}/events`;
  let id = 0;
  const operations: [key: string, title: string, work: () => Promise<unknown>][] = [
    [
      'create',
      'create with nothing linked',
      async () => {
        id = (await ask(event, 'POST', { title: 'Counted', status: 'draft', ...DATES })).body.id;
        made.push(id);
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
