// Measures how long each kind of gateway (polling, webhook, skewed clocks) takes to show a change of one
// WordPress.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nativePhpProblem, nativePhpRunner } from '../../sandbox/native-php.ts';
import { run } from '../../sandbox/processes.ts';
import type { Sandbox } from '../../sandbox/start.ts';
import { wasmPhpRunner } from '../../sandbox/wasm-php.ts';
import { wordPressFiles } from '../../sandbox/wordpress-files.ts';
import { type GatewayProcess, ROOT, startGateway as startInProcess, type TestGateway } from '../start-gateway.ts';
import { until } from '../until.ts';
import type { CalendarView, Change, ChangedSite, ListedEvent } from './changes.ts';
import { type CmsProxy, startCmsProxy } from './cms-proxy.ts';
import { createFixtures } from './fixtures.ts';
import { basicAuth } from './json-client.ts';
import { startLiveGateway } from './live-gateway.ts';
import { differences, recordsOfFile, recordsOfGateway, recordsOfSite } from './replica-differences.ts';
import { signIn } from './wp-admin.ts';

export const INTERVAL_S = 2;
const INTERVAL_MS = INTERVAL_S * 1000;
const HOUR_MS = 3_600_000;
/** Extra time before a change counts as never visible; the table shows the actual time. */
const PATIENCE_MS = 20_000;
const SCAN_MS = 15_000;
/** Scan interval of the gateways whose polling is measured: too rare to help. */
const RARE_SCAN_MS = 60_000;
const LOG = { level: 'warn' };
const WEBHOOK_SECRET = 'live-suite';
const PLUGIN = 'wordpress/wp-content/mu-plugins/calendar-gateway-companion.php';

/** A column of the table. */
export type SyncMode = 'polling' | 'webhook' | 'ahead' | 'behind';
export const SYNC_MODES: readonly SyncMode[] = ['polling', 'webhook', 'ahead', 'behind'];

export interface Row {
  change: Change;
  /** Milliseconds until the change was visible; undefined if not measured, infinite if never. */
  latencyMs: Partial<Record<SyncMode, number>>;
}

export interface LatencyMeasurement {
  rows: Row[];
  measure(change: Change): Promise<Row>;
  /** Average requests and bytes of a poll without changes. */
  idlePoll(): Promise<{ requests: number; sentBytes: number; receivedBytes: number }>;
  /** Differences between the site and each replica, by name: synced by webhooks, and by scans. */
  differences(): Promise<Record<string, string[]>>;
  /** Runs an initial sync while the site changes: number of changes, and differences afterwards. */
  initialSyncDuringChanges(): Promise<{ changes: number; records: number; differences: string[] }>;
  /** Median time of an editor's request, by the fate of its webhook. */
  editorLatency(): Promise<Record<string, number>>;
  close(): Promise<void>;
}

type Site = Pick<Sandbox, 'url' | 'dataDir' | 'credentials'>;

function lookAt(url: string): CalendarView {
  const list = async (query: string) => {
    const response = await fetch(`${url}/calendar/events/v1/events?${query}`);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${url} ${query}: ${response.status} ${text.slice(0, 200)}`);
    return JSON.parse(text) as { events: ListedEvent[]; total: number };
  };
  return {
    event: async (id) => (await list(`include=${id}`)).events[0],
    total: async (query) => (await list(query)).total,
  };
}

/** Retries until the change is visible. Infinite if it never is. */
async function timeUntil(shows: () => Promise<boolean>, limitMs: number): Promise<number> {
  const startMs = performance.now();
  while (!(await shows())) {
    if (performance.now() - startMs > limitMs) return Number.POSITIVE_INFINITY;
    await sleep(25);
  }
  return performance.now() - startMs;
}

/** Creates the records to change, starts the gateways, and waits for their initial syncs. */
export async function startMeasurement(site: Site): Promise<LatencyMeasurement> {
  const { admin: user } = site.credentials;
  const service = basicAuth(user);
  const files = await wordPressFiles(() => {});
  const runtime = (await nativePhpProblem()) === undefined ? nativePhpRunner : wasmPhpRunner;
  const { wp: wpCli } = runtime(site.dataDir, files.wpCli);
  const wp = async (...args: string[]) => (await wpCli(args)).trim();
  const php = (code: string) => wp('eval', `require_once ABSPATH . 'wp-admin/includes/admin.php'; ${code}`);
  const folder = mkdtempSync(join(tmpdir(), 'calendar-measuring-'));
  const plugin = join(site.dataDir, PLUGIN);
  const pluginBefore = readFileSync(plugin, 'utf8');
  const zoneBefore = await wp('option', 'get', 'timezone_string');

  const ids = await createFixtures(php);
  const relays: Record<string, CmsProxy> = {
    plain: await startCmsProxy(site.url),
    ahead: await startCmsProxy(site.url, { skewMs: HOUR_MS }),
    behind: await startCmsProxy(site.url, { skewMs: -HOUR_MS }),
  };
  const behindRelay = (name: string) => ({ ...site, url: relays[name]!.url }) as Sandbox;
  const gateways: Record<string, GatewayProcess> = {
    polling: await startLiveGateway(behindRelay('plain'), {
      service: true,
      intervalS: INTERVAL_S,
      config: { log: LOG },
    }),
    // Polls every ten minutes: earlier changes arrived by webhook.
    webhook: await startLiveGateway(site as Sandbox, {
      service: true,
      intervalS: 600,
      config: { dataDir: folder, log: LOG },
    }),
  };
  const inProcess: Record<string, TestGateway> = {};
  const inProcessUrls: Record<string, string> = {};
  for (const name of ['ahead', 'behind'])
    inProcess[name] = await startInProcess({
      cms: relays[name]!,
      service,
      intervalMs: INTERVAL_MS,
      scanIntervalMs: RARE_SCAN_MS,
    });
  inProcess.scan = await startInProcess({
    cms: { url: site.url },
    service,
    intervalMs: INTERVAL_MS,
    scanIntervalMs: SCAN_MS,
  });
  for (const [name, gateway] of Object.entries(inProcess)) inProcessUrls[name] = (await gateway.listen()).url;
  await installWebhook(`${gateways.webhook!.adminUrl}/-/changes`);

  /** Installs the companion plugin with this webhook URL. */
  async function installWebhook(webhookUrl: string): Promise<void> {
    const options = ['--mapping', 'wordpress-meta', '--webhook-url', webhookUrl, '--webhook-secret', WEBHOOK_SECRET];
    writeFileSync(
      plugin,
      await run([process.execPath, join(ROOT, 'src/main.ts'), 'plugin', ...options], { cwd: ROOT }),
    );
    // PHP checks once a second if a file has changed.
    await sleep(2_500);
  }

  const urlOf = (name: string) => gateways[name]?.url ?? inProcessUrls[name]!;
  const changedSite: ChangedSite = {
    admin: await signIn(site.url, user.user, user.password),
    ...{ wp, php, ids },
    async pollAll() {
      const fresh = { headers: { 'cache-control': 'no-cache' } };
      // Concurrently: the site has a second for this and for two changes.
      const polls = ['polling', 'ahead', 'behind', 'scan'].map(async (name) =>
        (await fetch(`${urlOf(name)}/calendar/events/v1/tags`, fresh)).text(),
      );
      await Promise.all(polls);
    },
  };
  const rows: Row[] = [];
  let webhookDifferences: string[] | undefined;

  /** The first change without a webhook ends the comparison of the webhook gateway's replica. */
  async function stopWebhookGateway(): Promise<string[]> {
    if (webhookDifferences) return webhookDifferences;
    const expected = await recordsOfSite(inProcess.scan!.cms, service);
    await gateways.webhook!.stop();
    webhookDifferences = differences(expected, recordsOfFile(join(folder, 'calendar.sqlite')));
    return webhookDifferences;
  }

  return {
    rows,
    async measure(change) {
      if (change.visibleAfter === 'scan, no webhook') await stopWebhookGateway();
      const shows = await change.apply(changedSite);
      const row: Row = { change, latencyMs: {} };
      const until = async (mode: SyncMode, name: string, promisedMs: number) => {
        const view = lookAt(urlOf(name));
        row.latencyMs[mode] = await timeUntil(() => shows(view), promisedMs + PATIENCE_MS);
      };
      const polled = change.visibleAfter
        ? [until('polling', 'scan', SCAN_MS)]
        : SYNC_MODES.filter((mode) => mode !== 'webhook').map((mode) => until(mode, mode, INTERVAL_MS));
      const byWebhook = change.visibleAfter === 'scan, no webhook' ? [] : [until('webhook', 'webhook', 0)];
      await Promise.all([...polled, ...byWebhook]);
      rows.push(row);
      return row;
    },
    async idlePoll() {
      // After an edit of more than a page, each poll reads for half a minute what was modified shortly before
      // (list-modified.ts).
      await sleep(30_000 + 2 * INTERVAL_MS);
      const { traffic } = relays.plain!;
      // From the end of a poll, to count whole polls.
      let before = traffic.requests;
      await until(() => traffic.requests > before, 'a poll');
      do {
        before = traffic.requests;
        await sleep(INTERVAL_MS / 4);
      } while (traffic.requests > before);
      Object.assign(traffic, { requests: 0, sentBytes: 0, receivedBytes: 0 });
      const pollCount = 4;
      await sleep(pollCount * INTERVAL_MS);
      const share = (sum: number) => Math.round(sum / pollCount);
      return {
        // The first requests of a fifth poll may be among them.
        requests: Math.floor(traffic.requests / pollCount),
        sentBytes: share(traffic.sentBytes),
        receivedBytes: share(traffic.receivedBytes),
      };
    },
    async differences() {
      const differing: Record<string, string[]> = { webhook: await stopWebhookGateway() };
      for (const name of ['scan', 'ahead', 'behind']) {
        const gateway = inProcess[name]!;
        const compare = async () => {
          differing[name] = differences(await recordsOfSite(gateway.cms, service), recordsOfGateway(gateway));
          return differing[name].length === 0;
        };
        // Changes that only a scan shows wait for the next one.
        const startMs = performance.now();
        while (!(await compare()) && performance.now() - startMs < 2 * RARE_SCAN_MS) await sleep(3_000);
      }
      return differing;
    },
    async initialSyncDuringChanges() {
      const slow = await startCmsProxy(site.url, { delayMs: 60 });
      const file = join(folder, 'amid.sqlite');
      const options = {
        cms: { url: slow.url },
        service,
        intervalMs: INTERVAL_MS,
        scanIntervalMs: HOUR_MS,
        syncPageSize: 20,
        waitsForSync: false,
        file,
      };
      const gateway = await startInProcess(options);
      let changes = 0;
      const posts = Object.values(ids.events);
      const statuses = [{ status: 'draft' }, { status: 'publish' }, { title: 'Amid' }, { slug: 'amid' }];
      while (!gateway.sync.status().complete) {
        const created = await changedSite.admin.editor('POST', 'events', {
          title: `Amid ${changes}`,
          status: 'publish',
        });
        await changedSite.admin
          .editor('POST', `events/${created.id - 3}`, statuses[changes % 4])
          .catch(() => undefined);
        await changedSite.admin
          .editor('POST', `events/${posts[changes % posts.length]}`, statuses[changes % 4])
          .catch(() => undefined);
        if (changes % 2 === 0) await changedSite.admin.editor('DELETE', `events/${created.id}?force=true`);
        changes += 1;
      }
      await sleep(2 * INTERVAL_MS + 1000);
      const expected = await recordsOfSite(gateway.cms, service);
      await gateway.stop();
      await slow.close();
      return { changes: 3 * changes, records: expected.size, differences: differences(expected, recordsOfFile(file)) };
    },
    async editorLatency() {
      const hanging = createServer(() => {}).listen(0, '127.0.0.1');
      await new Promise((listening) => hanging.once('listening', listening));
      const { port } = hanging.address() as { port: number };
      const { id } = await changedSite.admin.editor('POST', 'events', { title: 'Saved often', status: 'draft' });
      const median = async () => {
        const took: number[] = [];
        for (let n = 0; n < 15; n += 1) {
          const startMs = performance.now();
          await changedSite.admin.editor('POST', `events/${id}`, { title: `Saved ${n}` });
          took.push(performance.now() - startMs);
        }
        return took.sort((a, b) => a - b)[7]!;
      };
      const waits: Record<string, number> = {};
      waits.taken = await median();
      await installWebhook(`http://127.0.0.1:${port}/-/changes`);
      waits['not read by anybody'] = await median();
      hanging.close();
      await installWebhook('http://127.0.0.1:1/-/changes');
      waits.rejected = await median();
      writeFileSync(plugin, pluginBefore);
      await sleep(2_500);
      waits['not sent'] = await median();
      return waits;
    },
    async close() {
      writeFileSync(plugin, pluginBefore);
      await wp('option', 'update', 'timezone_string', zoneBefore);
      for (const gateway of Object.values(gateways)) await gateway.stop();
      for (const gateway of Object.values(inProcess)) await gateway.stop();
      for (const relay of Object.values(relays)) await relay.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const seconds = (ms: number | undefined): string =>
  ms === undefined ? '-' : Number.isFinite(ms) ? `${(Math.max(ms, 100) / 1000).toFixed(1)} s` : 'never';

/** Of the times within the promise: the interval and a second, or a second with a webhook. */
function countInTime(rows: readonly Row[]): string {
  const times = rows
    .filter(({ change }) => !change.mass)
    .flatMap(({ change, latencyMs }) =>
      SYNC_MODES.filter((mode) => latencyMs[mode] !== undefined && !(mode === 'polling' && change.visibleAfter)).map(
        (mode) => latencyMs[mode]! <= (mode === 'webhook' ? 0 : INTERVAL_MS) + 1000,
      ),
    );
  const inTime = times.filter(Boolean).length;
  return `${inTime} of ${times.length} times within the interval and 1 s, or 1 s with a webhook`;
}

/** The rows as a table in Markdown, and how many times the promise held. */
export function formatTable(rows: readonly Row[]): string {
  const lines = rows.map(({ change, latencyMs }) => {
    const polling = `${seconds(latencyMs.polling)}${change.visibleAfter ? ' (scan)' : ''}`;
    const others = (['webhook', 'ahead', 'behind'] as const).map((mode) => seconds(latencyMs[mode]));
    return `| ${[change.kind, change.how, polling, ...others].join(' | ')} |`;
  });
  return [
    `| kind of change | how | polling every ${INTERVAL_S} s | with webhook | clock 1 h ahead, polling | clock 1 h behind, polling |`,
    '|---|---|---|---|---|---|',
    ...lines,
    countInTime(rows),
  ].join('\n');
}
