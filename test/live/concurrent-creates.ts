// `npm run test:creates -- [--database sqlite|mariadb] [--requests N]`: concurrent creates with one title,
// some rejected before and some after the insert.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { request } from 'undici';
import { type Sandbox, startSandbox } from '../../sandbox/start.ts';
import { startLiveGateway } from './live-gateway.ts';

const { values: options } = parseArgs({
  options: {
    database: { type: 'string', default: 'mariadb' },
    requests: { type: 'string', default: '100' },
    dir: { type: 'string' },
    port: { type: 'string', default: '0' },
  },
});
const REQUESTS = Number(options.requests);

/**
 * Every tenth create is rejected before the insert, every tenth after it: by invalid meta, or by a plugin's
 * rule.
 */
const REFUSING = String.raw`<?php
function refusing_number($text) {
    return preg_match('/number (\d+)\./', (string) $text, $found) ? (int) $found[1] : 0;
}
add_filter('rest_pre_insert_calendar_event', function ($post, $request) {
    $refused = refusing_number($request['content']) % 10 === 3;
    return $refused ? new WP_Error('spam_detected', 'No.', ['status' => 403]) : $post;
}, 10, 2);
add_filter('update_post_metadata', function ($check, $id) {
    return refusing_number(get_post_field('post_content', $id)) % 20 === 7 ? false : $check;
}, 10, 2);
add_filter('rest_request_after_callbacks', function ($response, $handler, $request) {
    $refused = $request->get_method() === 'POST' && refusing_number($request['content']) % 20 === 17;
    return $refused ? new WP_Error('my_rule', 'No.', ['status' => 400]) : $response;
}, 10, 3);
`;

/** The site without the companion plugin's report of created records. */
const SILENT = `<?php
add_filter('rest_post_dispatch', function ($response) {
    $body = $response->get_data();
    if (is_array($body) && isset($body['data']['calendar_created'])) {
        unset($body['data']['calendar_created']);
        $response->set_data($body);
    }
    return $response;
}, PHP_INT_MAX);
add_filter('rest_endpoints', function ($routes) {
    return array_diff_key($routes, ['/calendar-gateway/v1/created' => 1]);
});
`;

type Json = Record<string, unknown> & { id: number };
interface Row {
  ID: string;
  post_status: string;
}

/** Id and status of every event, from the database. */
async function eventsOf(sandbox: Sandbox): Promise<Map<number, Row>> {
  const sql = "SELECT ID, post_status FROM $wpdb->posts WHERE post_type = 'calendar_event'";
  const php = `global $wpdb; echo wp_json_encode($wpdb->get_results("${sql}"));`;
  const rows = JSON.parse(await sandbox.wp(['eval', php])) as Row[];
  return new Map(rows.map((row) => [Number(row.ID), row]));
}

async function trial(sandbox: Sandbox, url: string, title: string): Promise<Record<string, number>> {
  const { user, applicationPassword } = sandbox.credentials.editor;
  const authorization = `Basic ${Buffer.from(`${user}:${applicationPassword}`).toString('base64')}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const api = `${url}/calendar/events/v1`;
  const timeouts = { headersTimeout: 600_000, bodyTimeout: 600_000 };
  const before = await eventsOf(sandbox);
  const create = async (number: number) => {
    const body = JSON.stringify({
      ...{ title, description: `This is number ${number}.`, status: 'publish' },
      ...{ start_date: '2029-05-01 19:00', end_date: '2029-05-01 21:00' },
      ...{ venue: { venue: `Hall of ${title}` }, categories: [`Category of ${title}`] },
    });
    for (let tries = 1; ; tries += 1) {
      // Its own connection: a kept-alive one could close during the request.
      const response = await request(`${api}/events`, { ...timeouts, method: 'POST', headers, body, reset: true });
      const answer = (await response.body.json()) as Json & { data?: Json };
      // The gateway sheds load before it calls the site: nothing was sent.
      if (response.statusCode !== 503 || tries === 100)
        return { number, tries, status: response.statusCode, body: answer };
      await sleep(Number(response.headers['retry-after'] ?? 1) * 1000 * (0.5 + Math.random()));
    }
  };
  const responses = await Promise.all(Array.from({ length: REQUESTS }, (_, at) => create(at)));

  const acknowledged = responses.filter(({ status }) => status === 201).map(({ body }) => body);
  const rejected = responses.filter(({ status }) => status !== 201);
  const namedBy = (key: string) =>
    rejected.flatMap(({ body }) =>
      ((body.data?.[key] ?? []) as { kind: string; id?: number }[]).filter(({ kind }) => kind === 'event'),
    );
  const named = new Set([...namedBy('created'), ...namedBy('possibly_created')].map(({ id }) => id));
  const unknown = [...namedBy('possibly_created')].filter(({ id }) => id === undefined).length;

  const inSite = new Map([...(await eventsOf(sandbox))].filter(([id]) => !before.has(id)));
  const visibleIds = [...inSite].filter(([, row]) => row.post_status !== 'trash').map(([id]) => id);
  const listed = new Set<number>();
  for (let page = 1; ; page += 1) {
    const query = `start_date=2029-05-01&end_date=2029-05-02&per_page=50&page=${page}`;
    const response = await fetch(`${api}/events?${query}`, { headers: { 'cache-control': 'no-cache' } });
    const { events = [] } = (await response.json()) as { events?: Json[] };
    for (const { id } of events) listed.add(id);
    if (events.length < 50) break;
  }
  const ids = new Set(acknowledged.map(({ id }) => id));
  const linked = await Promise.all(
    acknowledged.map(async ({ id }) => (await (await fetch(`${api}/events/${id}`)).json()) as Json),
  );
  const isWhole = ({ venue, categories }: Json) =>
    (venue as Partial<Json> | undefined)?.id !== undefined && (categories as Json[] | undefined)?.length === 1;
  const incomplete = linked.find((event) => !isWhole(event));
  if (incomplete) console.error(`without its venue or category: ${JSON.stringify(incomplete).slice(0, 400)}`);
  return {
    requests: responses.length,
    '503 and tried again': responses.reduce((sum, { tries }) => sum + tries - 1, 0),
    'acknowledged (201)': acknowledged.length,
    refused: rejected.length,
    'of those with an unknown outcome': rejected.filter(({ body }) => body.code === 'calendar_outcome_unknown').length,
    'of those not sent (503)': rejected.filter(({ status }) => status === 503).length,
    'in the site, shown': visibleIds.length,
    'in the site, in the trash': inSite.size - visibleIds.length,
    'acknowledged, not in the site': [...ids].filter((id) => !visibleIds.includes(id)).length,
    'acknowledged, not in the list': [...ids].filter((id) => !listed.has(id)).length,
    'acknowledged, without venue or category': linked.filter((event) => !isWhole(event)).length,
    'orphans (shown, not acknowledged)': visibleIds.filter((id) => !ids.has(id)).length,
    'orphans that no error names': visibleIds.filter((id) => !ids.has(id) && !named.has(id)).length,
    'errors that could not look': unknown,
    'acknowledged records that an error names too': [...ids].filter((id) => named.has(id)).length,
  };
}

async function main(): Promise<number> {
  const tables: Record<string, Record<string, number>> = {};
  for (const companion of [true, false]) {
    const dir = mkdtempSync(join(options.dir ?? tmpdir(), 'calendar-creates-'));
    const muPlugins = { 'refusing.php': REFUSING, ...(companion ? {} : { 'zz-silent.php': SILENT }) };
    const database = options.database === 'sqlite' ? 'sqlite' : 'mariadb';
    const sandbox = await startSandbox({ dir, port: Number(options.port), fresh: true, database, muPlugins });
    try {
      // All requests are sent together and wait for a site that serves a few at a time.
      const patience = { queue: 1000, headersTimeoutMs: 300_000, deadlineMs: 600_000 };
      const limits = { requestsPerMinute: 1_000_000, requestTimeoutMs: 600_000, stallTimeoutMs: 600_000 };
      const config = { upstream: { limits: patience }, limits };
      const gateway = await startLiveGateway(sandbox, { service: true, config });
      try {
        tables[companion ? 'with the companion plugin' : 'without its word'] = await trial(
          sandbox,
          gateway.url,
          'Market',
        );
      } finally {
        await gateway.stop();
      }
    } finally {
      await sandbox.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  }
  const names = Object.keys(Object.values(tables)[0]!);
  console.log(
    `| ${options.database} | ${Object.keys(tables).join(' | ')} |\n|---|${'---|'.repeat(Object.keys(tables).length)}`,
  );
  for (const name of names) {
    console.log(
      `| ${name} | ${Object.values(tables)
        .map((table) => table[name])
        .join(' | ')} |`,
    );
  }
  const wrong = ['acknowledged, not in the site', 'acknowledged, not in the list', 'orphans that no error names'];
  wrong.push('acknowledged, without venue or category');
  return Object.values(tables).some((table) => wrong.some((name) => table[name] !== 0)) ? 1 : 0;
}

process.exitCode = await main();
