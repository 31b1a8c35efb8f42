// Gateways of every kind in front of one WordPress, and how long a change takes until each of them shows it.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wordPressFiles } from '../../sandbox/files.ts';
import { nativePhpLack, nativeRuntime } from '../../sandbox/native.ts';
import { run } from '../../sandbox/processes.ts';
import type { Sandbox } from '../../sandbox/start.ts';
import { wasmRuntime } from '../../sandbox/wasm.ts';
import { type GatewayHere, startGatewayHere } from '../replica/gateway-here.ts';
import { until } from '../until.ts';
import type { Change, ChangedSite, Look, Shown } from './changes.ts';
import { differing, recordsAt, recordsIn, recordsOf } from './equality.ts';
import { makeFixtures } from './fixtures.ts';
import { type GatewayProcess, ROOT, startGateway } from './gateway-process.ts';
import { type Relay, startRelay } from './relay.ts';
import { signIn } from './wp-admin.ts';

export const INTERVAL_S = 2;
const INTERVAL_MS = INTERVAL_S * 1000;
const HOUR_MS = 3_600_000;
/** What a gateway may take beyond what it promises before the change is given up; the table says how long it took. */
const PATIENCE_MS = 20_000;
const PASS_MS = 15_000;
/** Passes of the gateways whose polling is timed: so seldom that they hardly help it. */
const RARE_PASS_MS = 60_000;
const LOG = { level: 'warn', requests: false };
const NOTICE_SECRET = 'live-suite';
const PLUGIN = 'wordpress/wp-content/mu-plugins/calendar-gateway.php';

/** A column of the table. */
export type Way = 'polling' | 'notice' | 'ahead' | 'behind';
export const WAYS: readonly Way[] = ['polling', 'notice', 'ahead', 'behind'];

export interface Row {
  change: Change;
  /** Milliseconds until it showed; undefined where it is not looked for, infinite where it did not show. */
  tookMs: Partial<Record<Way, number>>;
}

export interface Measuring {
  rows: Row[];
  measure(change: Change): Promise<Row>;
  /** Requests and bytes of a quiet round, on average. */
  idleRound(): Promise<{ requests: number; sentBytes: number; receivedBytes: number }>;
  /** What differs between the site and the copies that were told of everything by notices, and by passes; each by name. */
  differences(): Promise<Record<string, string[]>>;
  /** A first copy, while the site changes all the time: how many changes, and what differs afterwards. */
  firstCopyAmidChanges(): Promise<{ changes: number; records: number; differences: string[] }>;
  /** Median time of an editor's request, by what becomes of its change notice. */
  editorWaits(): Promise<Record<string, number>>;
  close(): Promise<void>;
}

type Site = Pick<Sandbox, 'url' | 'dataDir' | 'credentials'>;

const sleep = (ms: number) => new Promise((later) => setTimeout(later, ms));

function lookAt(url: string): Look {
  const list = async (query: string) => {
    const answer = await fetch(`${url}/calendar/events/v1/events?${query}`);
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${url} ${query}: ${answer.status} ${text.slice(0, 200)}`);
    return JSON.parse(text) as { events: Shown[]; total: number };
  };
  return {
    event: async (id) => (await list(`include=${id}`)).events[0],
    total: async (query) => (await list(query)).total,
  };
}

/** Asks again until it shows. Infinite when it never does. */
async function timeUntil(shows: () => Promise<boolean>, limitMs: number): Promise<number> {
  const begun = performance.now();
  while (!(await shows())) {
    if (performance.now() - begun > limitMs) return Number.POSITIVE_INFINITY;
    await sleep(25);
  }
  return performance.now() - begun;
}

/** Makes the records that the changes are made to, the gateways, and waits until all of them have copied the site. */
export async function startMeasuring(site: Site): Promise<Measuring> {
  const { admin: user } = site.credentials;
  const service = `Basic ${Buffer.from(`${user.user}:${user.applicationPassword}`).toString('base64')}`;
  const files = await wordPressFiles(() => {});
  const runtime = (await nativePhpLack()) === undefined ? nativeRuntime : wasmRuntime;
  const { wp: wpCli } = runtime(site.dataDir, files.wpCli);
  const wp = async (...args: string[]) => (await wpCli(args)).trim();
  const php = (code: string) => wp('eval', `require_once ABSPATH . 'wp-admin/includes/admin.php'; ${code}`);
  const folder = mkdtempSync(join(tmpdir(), 'calendar-measuring-'));
  const plugin = join(site.dataDir, PLUGIN);
  const pluginBefore = readFileSync(plugin, 'utf8');
  const zoneBefore = await wp('option', 'get', 'timezone_string');

  const ids = await makeFixtures(php);
  const relays: Record<string, Relay> = {
    plain: await startRelay(site.url),
    ahead: await startRelay(site.url, { skewMs: HOUR_MS }),
    behind: await startRelay(site.url, { skewMs: -HOUR_MS }),
  };
  const behindRelay = (name: string) => ({ ...site, url: relays[name]!.url }) as Sandbox;
  const gateways: Record<string, GatewayProcess> = {
    polling: await startGateway(behindRelay('plain'), { service: true, intervalS: INTERVAL_S, config: { log: LOG } }),
    // Looks by itself once in ten minutes: what it shows before that, it was told.
    notice: await startGateway(site as Sandbox, {
      service: true,
      intervalS: 600,
      config: { dataDir: folder, log: LOG },
    }),
  };
  const here: Record<string, GatewayHere> = {};
  for (const name of ['ahead', 'behind'])
    here[name] = await startGatewayHere({
      url: relays[name]!.url,
      service,
      intervalMs: INTERVAL_MS,
      passMs: RARE_PASS_MS,
    });
  here.pass = await startGatewayHere({ url: site.url, service, intervalMs: INTERVAL_MS, passMs: PASS_MS });
  for (const { sync } of Object.values(here)) await sync.complete();
  await tell(`${gateways.notice!.adminUrl}/-/changes`);

  /** Puts the snippet in that tells this address of changes. */
  async function tell(noticeUrl: string): Promise<void> {
    const options = ['--mapping', 'wordpress-meta', '--notice-url', noticeUrl, '--notice-secret', NOTICE_SECRET];
    writeFileSync(
      plugin,
      await run([process.execPath, join(ROOT, 'src/main.ts'), 'snippet', ...options], { cwd: ROOT }),
    );
    // PHP looks once a second whether a file has changed.
    await sleep(2_500);
  }

  const urlOf = (name: string) => gateways[name]?.url ?? here[name]!.url;
  const changedSite: ChangedSite = {
    admin: await signIn(site.url, user.user, user.password),
    ...{ wp, php, ids },
    async everybodyLooks() {
      const fresh = { headers: { 'cache-control': 'no-cache' } };
      // All at once: the site has a second for this and for two changes.
      const looks = ['polling', 'ahead', 'behind', 'pass'].map(async (name) =>
        (await fetch(`${urlOf(name)}/calendar/events/v1/tags`, fresh)).text(),
      );
      await Promise.all(looks);
    },
  };
  const rows: Row[] = [];
  let noticed: string[] | undefined;

  /** While nothing tells the gateway of a change, its copy is not looked at: the first change of that sort ends its part. */
  async function endNotices(): Promise<string[]> {
    if (noticed) return noticed;
    const wanted = await recordsAt(here.pass!.upstream, service);
    await gateways.notice!.stop();
    noticed = differing(wanted, recordsIn(join(folder, 'calendar.sqlite')));
    return noticed;
  }

  return {
    rows,
    async measure(change) {
      if (change.seen === 'pass, no notice') await endNotices();
      const shows = await change.make(changedSite);
      const row: Row = { change, tookMs: {} };
      const until = async (way: Way, name: string, promisedMs: number) => {
        const look = lookAt(urlOf(name));
        row.tookMs[way] = await timeUntil(() => shows(look), promisedMs + PATIENCE_MS);
      };
      const polled = change.seen
        ? [until('polling', 'pass', PASS_MS)]
        : WAYS.filter((way) => way !== 'notice').map((way) => until(way, way, INTERVAL_MS));
      const told = change.seen === 'pass, no notice' ? [] : [until('notice', 'notice', 0)];
      await Promise.all([...polled, ...told]);
      rows.push(row);
      return row;
    },
    async idleRound() {
      // After an edit of more than a page, each poll reads for half a minute what was modified shortly before (modified-since.ts).
      await sleep(30_000 + 2 * INTERVAL_MS);
      const { passed } = relays.plain!;
      // From the end of a round on, so that rounds are counted and no part of one more.
      let before = passed.requests;
      await until(() => passed.requests > before, 'a round');
      do {
        before = passed.requests;
        await sleep(INTERVAL_MS / 4);
      } while (passed.requests > before);
      Object.assign(passed, { requests: 0, sentBytes: 0, receivedBytes: 0 });
      const rounds = 4;
      await sleep(rounds * INTERVAL_MS);
      const share = (sum: number) => Math.round(sum / rounds);
      return {
        requests: passed.requests / rounds,
        sentBytes: share(passed.sentBytes),
        receivedBytes: share(passed.receivedBytes),
      };
    },
    async differences() {
      const found: Record<string, string[]> = { notice: await endNotices() };
      for (const name of ['pass', 'ahead', 'behind']) {
        const one = here[name]!;
        const compare = async () => {
          found[name] = differing(await recordsAt(one.upstream, service), recordsOf(one));
          return found[name].length === 0;
        };
        // What is seen by a pass alone waits for the next.
        const begun = performance.now();
        while (!(await compare()) && performance.now() - begun < 2 * RARE_PASS_MS) await sleep(3_000);
      }
      return found;
    },
    async firstCopyAmidChanges() {
      const slow = await startRelay(site.url, { delayMs: 60 });
      const file = join(folder, 'amid.sqlite');
      const options = { url: slow.url, service, intervalMs: INTERVAL_MS, passMs: HOUR_MS, pageSize: 20, file };
      const one = await startGatewayHere(options);
      let changes = 0;
      const posts = Object.values(ids.events);
      const statuses = [{ status: 'draft' }, { status: 'publish' }, { title: 'Amid' }, { slug: 'amid' }];
      while (!one.sync.status().complete) {
        const made = await changedSite.admin.editor('POST', 'events', { title: `Amid ${changes}`, status: 'publish' });
        await changedSite.admin.editor('POST', `events/${made.id - 3}`, statuses[changes % 4]).catch(() => undefined);
        await changedSite.admin
          .editor('POST', `events/${posts[changes % posts.length]}`, statuses[changes % 4])
          .catch(() => undefined);
        if (changes % 2 === 0) await changedSite.admin.editor('DELETE', `events/${made.id}?force=true`);
        changes += 1;
      }
      await sleep(2 * INTERVAL_MS + 1000);
      const wanted = await recordsAt(one.upstream, service);
      await one.stop();
      await slow.close();
      return { changes: 3 * changes, records: wanted.size, differences: differing(wanted, recordsIn(file)) };
    },
    async editorWaits() {
      const hanging = createServer(() => {}).listen(0, '127.0.0.1');
      await new Promise((listening) => hanging.once('listening', listening));
      const { port } = hanging.address() as { port: number };
      const { id } = await changedSite.admin.editor('POST', 'events', { title: 'Saved often', status: 'draft' });
      const median = async () => {
        const took: number[] = [];
        for (let n = 0; n < 15; n += 1) {
          const begun = performance.now();
          await changedSite.admin.editor('POST', `events/${id}`, { title: `Saved ${n}` });
          took.push(performance.now() - begun);
        }
        return took.sort((a, b) => a - b)[7]!;
      };
      const waits: Record<string, number> = {};
      waits.taken = await median();
      await tell(`http://127.0.0.1:${port}/-/changes`);
      waits['not read by anybody'] = await median();
      hanging.close();
      await tell('http://127.0.0.1:1/-/changes');
      waits.refused = await median();
      writeFileSync(plugin, pluginBefore);
      await sleep(2_500);
      waits['not sent'] = await median();
      return waits;
    },
    async close() {
      writeFileSync(plugin, pluginBefore);
      await wp('option', 'update', 'timezone_string', zoneBefore);
      for (const gateway of Object.values(gateways)) await gateway.stop();
      for (const one of Object.values(here)) await one.stop();
      for (const relay of Object.values(relays)) await relay.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const seconds = (ms: number | undefined): string =>
  ms === undefined ? '-' : Number.isFinite(ms) ? `${(Math.max(ms, 100) / 1000).toFixed(1)} s` : 'never';

/** The rows as a table in Markdown. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ change, tookMs }) => {
    const polling = `${seconds(tookMs.polling)}${change.seen ? ' (pass)' : ''}`;
    const others = (['notice', 'ahead', 'behind'] as const).map((way) => seconds(tookMs[way]));
    return `| ${[change.kind, change.how, polling, ...others].join(' | ')} |`;
  });
  return [
    `| kind of change | made how | polling every ${INTERVAL_S} s | with notice | clock 1 h ahead, polling | clock 1 h behind, polling |`,
    '|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}
