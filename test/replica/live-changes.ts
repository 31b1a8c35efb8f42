// Makes every kind of change in a real WordPress with WP-CLI and prints after how long the copy shows it: `node test/replica/live-changes.ts [--dir DIR] [--public]`.

import { isDeepStrictEqual, parseArgs } from 'node:util';
import { startSandbox } from '../../sandbox/start.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { CalendarRecord, Kind } from '../../src/records.ts';
import { type Collection, collectionsOf } from '../../src/replica/collections.ts';
import { openReplica } from '../../src/replica/store.ts';
import { createSync } from '../../src/replica/sync.ts';
import { createWordPress } from '../../src/upstream/wordpress/wordpress.ts';

const { values } = parseArgs({
  options: {
    dir: { type: 'string', default: '/tmp/calendar-gateway-live' },
    public: { type: 'boolean', default: false },
  },
});
const INTERVAL_MS = 2_000;
const PASS_MS = 15_000;

const sandbox = await startSandbox({ dir: values.dir, port: 0, fresh: true, quiet: true });
const { admin } = sandbox.credentials;
const service = `Basic ${Buffer.from(`${admin.user}:${admin.applicationPassword}`).toString('base64')}`;
const upstream = createWordPress({ url: sandbox.url, observe: () => {} });
const mapping = loadMapping('wordpress-meta');
const replica = openReplica({ identity: 'live' });
const account = values.public ? undefined : service;
let requests = 0;
let rounds = 0;
const sync = createSync({
  ...{ replica, upstream, mapping, service: account, intervalMs: INTERVAL_MS, passMs: PASS_MS },
  observe(observation) {
    if (observation.type === 'sync-state')
      console.log(`  ${observation.from} -> ${observation.to}: ${observation.why}`);
    if (observation.type === 'sync-round') [requests, rounds] = [requests + observation.requests, rounds + 1];
  },
});

const wp = async (...args: string[]) => (await sandbox.wp(args)).trim();
const create = async (type: string, ...more: string[]) =>
  Number(
    await wp(
      'post',
      'create',
      `--post_type=${type}`,
      '--post_title=Made',
      '--porcelain',
      '--post_status=publish',
      ...more,
    ),
  );

/** Waits until `shows`, and prints how long that took. */
async function shown(what: string, shows: () => boolean): Promise<void> {
  const begun = performance.now();
  while (!shows() && performance.now() - begun < 60_000) await new Promise((resolve) => setTimeout(resolve, 20));
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`${shows() ? `${seconds.padStart(5)} s` : '  never'}  ${what}`);
  if (!shows()) process.exitCode = 1;
}

async function all(collection: Collection): Promise<CalendarRecord[]> {
  const records: CalendarRecord[] = [];
  for (let page = 1; ; page += 1) {
    const query = { ...collection.scope, per_page: 100, page, _fields: collection.select };
    const { items, total } = await upstream.list(collection.base, query, { credentials: account });
    records.push(...items.map((native) => collection.read(native, sync.site())));
    if (page * 100 >= total) return records;
  }
}

/** Reads everything anew and compares it with the copy. */
async function compare(): Promise<void> {
  for (const collection of collectionsOf(mapping, account)) {
    const { kind, statuses, posts } = collection;
    const wanted = new Map((await all(collection)).map((record) => [record.id, record]));
    const ids = replica.ids(kind, posts ? { statuses } : {}).map(({ id }) => id);
    const found = replica.getMany(kind as Kind, ids);
    const differing = [...new Set([...wanted.keys(), ...found.keys()])].filter(
      (id) => !isDeepStrictEqual(structuredClone(wanted.get(id)), found.get(id)),
    );
    console.log(`${differing.length === 0 ? 'same' : `DIFFERENT ${differing}`}  ${kind}: ${wanted.size}`);
    if (differing.length > 0) process.exitCode = 1;
  }
}

try {
  const category = Number(await wp('term', 'create', 'event_category', 'Music', '--porcelain'));
  const venue = await create('calendar_venue');
  const ids: number[] = [];
  for (let n = 0; n < 8; n += 1)
    ids.push(
      await create(
        'calendar_event',
        `--meta_input={"venue_ids":[${venue}],"start_date":"2027-03-12 20:00:00","end_date":"2027-03-12 22:00:00"}`,
      ),
    );
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0] = ids;
  const begun = performance.now();
  sync.start();
  await sync.complete();
  console.log(`${((performance.now() - begun) / 1000).toFixed(1).padStart(5)} s  first copy`);
  const event = (id: number) => replica.get('event', id);
  const category1 = () => replica.get('category', category);

  const made = await create('calendar_event');
  await shown('creation', () => event(made) !== undefined);
  const old = await create('calendar_event', '--post_date=2011-01-01 10:00:00');
  await shown('creation with an old date', () => event(old) !== undefined);
  await wp('post', 'update', String(a), '--post_title=Edited');
  await shown('edit', () => event(a)?.title === 'Edited');
  await wp('post', 'update', String(a), '--post_name=other-slug');
  await shown('slug change', () => event(a)?.slug === 'other-slug');
  await wp('post', 'update', String(b), '--post_status=draft');
  await shown('unpublished', () => event(b)?.status !== 'publish');
  await wp('eval', `wp_trash_post(${c});`);
  await shown('trash', () => event(c)?.status !== 'publish');
  await wp('post', 'update', String(c), '--post_status=publish');
  await shown('restored', () => event(c)?.status === 'publish');
  await wp('post', 'delete', String(d), '--force');
  await shown('deleted for good', () => event(d) === undefined);
  const date = new Date(Date.now() + 6_000).toISOString().slice(0, 19).replace('T', ' ');
  const later = await create('calendar_event', '--post_status=future', `--post_date_gmt=${date}`);
  await new Promise((resolve) => setTimeout(resolve, 7_000));
  await wp('cron', 'event', 'run', '--due-now');
  await shown('published by the clock', () => event(later)?.status === 'publish');
  await wp('post', 'term', 'set', String(e), 'event_category', String(category), '--by=id');
  await shown('term given by PHP (at the next pass)', () => event(e)?.categories.includes(category) === true);
  await wp('term', 'update', 'event_category', String(category), '--name=Concerts');
  await shown('term renamed', () => category1()?.name === 'Concerts');
  await wp('term', 'delete', 'event_category', String(category));
  await shown('term deleted', () => category1() === undefined && event(e)?.categories.length === 0);
  await wp('post', 'update', String(venue), '--post_title=Hall');
  await shown('venue edited', () => replica.get('venue', venue)?.title === 'Hall');
  await wp('post', 'delete', String(venue), '--force');
  await shown('venue deleted', () => replica.get('venue', venue) === undefined);
  await wp('post', 'meta', 'update', String(f), 'cost', '12');
  await shown('meta changed by PHP (at the next pass)', () => event(f)?.cost === '12');
  const image = Number(
    await wp(
      'media',
      'import',
      `${values.dir}/wordpress/wp-includes/images/w-logo-blue.png`,
      `--post_id=${g}`,
      '--featured_image',
      '--porcelain',
    ),
  );
  await wp('post', 'update', String(g), '--post_title=With image');
  await shown('image', () => event(g)?.image === image && replica.image(image) !== undefined);
  await wp('post', 'delete', String(image), '--force');
  await shown('image deleted', () => event(g)?.image === 0 && replica.image(image) === undefined);
  await wp('option', 'update', 'timezone_string', 'Asia/Tokyo');
  await shown('site moved to another zone (at the next pass)', () => sync.site().timezone === 'Asia/Tokyo');
  await new Promise((resolve) => setTimeout(resolve, 2 * INTERVAL_MS + 1_000));
  await compare();
  console.log(`${requests} requests in ${rounds} rounds`);
} finally {
  await sync.stop();
  await upstream.close();
  await sandbox.stop();
  replica.close();
}
