// Random histories of changes to a real site: after two polls a replica has what the site dates, and after a scan
// everything.

import { expect } from 'chai';
import { nativePhpProblem, nativePhpRunner } from '../../sandbox/native-php.ts';
import { wasmPhpRunner } from '../../sandbox/wasm-php.ts';
import { wordPressFiles } from '../../sandbox/wordpress-files.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';
import { until } from '../until.ts';
import { dataDir, siteUrl, users } from './environment.ts';
import { basicAuth } from './json-client.ts';
import { differences, recordsOfGateway, recordsOfSite } from './replica-differences.ts';

const HISTORIES = Number(process.env.LIVE_HISTORIES ?? 2);
const SEED = Number(process.env.LIVE_HISTORY_SEED ?? 1);
const CHANGES = 80;
const INTERVAL_MS = 2000;
const SCAN_MS = 5000;
const RARE_SCAN_MS = 3_600_000;

/**
 * PHP that makes random changes as plugins make them, with pauses of up to 0.2 s, and prints the keys of records that
 * changed without a date: their meta or terms alone.
 */
const history = (seed: number): string => `
  mt_srand(${seed});
  $silent = [];
  $counts = [];
  $types = ['calendar_event', 'calendar_event', 'calendar_event', 'calendar_venue', 'calendar_organizer'];
  $kinds = ['calendar_event' => 'event', 'calendar_venue' => 'venue', 'calendar_organizer' => 'organizer'];
  $choose = fn ($list) => $list ? $list[mt_rand(0, count($list) - 1)] : 0;
  $post = fn ($type, $status) => $choose(get_posts(['post_type' => $type, 'post_status' => $status, 'orderby' => 'ID',
    's' => 'History', 'numberposts' => -1, 'fields' => 'ids']));
  $term = fn ($taxonomy) => $choose(get_terms(['taxonomy' => $taxonomy, 'hide_empty' => false, 'fields' => 'ids',
    'search' => 'History']));
  $change = ['make', 'make', 'make', 'edit', 'edit', 'slug', 'draft', 'publish', 'private', 'protect', 'trash', 'untrash',
    'delete', 'place', 'meta', 'term', 'make term', 'rename term', 'delete term'];
  for ($n = 0; $n < ${CHANGES}; $n++) {
    $type = $choose($types);
    $what = $choose($change);
    $title = "History ${seed} $n";
    $taxonomy = mt_rand(0, 1) ? 'event_category' : 'post_tag';
    $public = $post($type, 'publish');
    $update = fn ($more) => $public && wp_update_post(['ID' => $public] + $more);
    $counts[$what] = ($counts[$what] ?? 0) + 1;
    if ($what === 'make') wp_insert_post(['post_type' => $type, 'post_status' => 'publish', 'post_title' => $title,
      'meta_input' => $type === 'calendar_event' ? ['start_date' => '2033-03-04 10:00:00', 'end_date' => '2033-03-04 12:00:00'] : []]
      + (mt_rand(0, 3) ? [] : ['post_date' => '2011-01-01 10:00:00']));
    if ($what === 'edit') $update(['post_title' => $title]);
    if ($what === 'slug') $update(['post_name' => "history-${seed}-$n"]);
    if ($what === 'draft' || $what === 'private') $update(['post_status' => $what]);
    if ($what === 'protect') $update(['post_password' => 'secret']);
    if ($what === 'publish' && ($id = $post($type, ['draft', 'private']))) wp_update_post(['ID' => $id, 'post_status' => 'publish']);
    if ($what === 'trash' && $public) wp_trash_post($public);
    if ($what === 'untrash' && ($id = $post($type, 'trash'))) {
      wp_untrash_post($id);
      wp_publish_post($id);
    }
    if ($what === 'delete' && $public) wp_delete_post($public, true);
    $event = $post('calendar_event', 'publish');
    if ($what === 'place' && $event) {
      update_post_meta($event, 'venue_ids', array_filter([$post('calendar_venue', 'publish')]));
      wp_update_post(['ID' => $event, 'post_title' => $title]);
    }
    if ($what === 'meta' && $event) {
      update_post_meta($event, 'cost', (string) $n);
      $silent[] = "event $event";
    }
    if ($what === 'term' && $event && ($id = $term($taxonomy))) {
      wp_set_object_terms($event, [(int) $id], $taxonomy);
      $silent[] = "event $event";
    }
    if ($what === 'make term') wp_insert_term($title, $taxonomy);
    if ($what === 'rename term' && ($id = $term($taxonomy))) wp_update_term($id, $taxonomy, ['name' => $title]);
    if ($what === 'delete term' && ($id = $term($taxonomy))) {
      foreach (get_objects_in_term($id, $taxonomy) as $of) $silent[] = "event $of";
      wp_delete_term($id, $taxonomy);
    }
    usleep(mt_rand(0, 200000));
  }
  echo json_encode(['silent' => $silent, 'counts' => $counts]);`;

interface Made {
  silent: string[];
  counts: Record<string, number>;
}

describe('a random history of changes', () => {
  let php: (code: string) => Promise<string>;
  /** One that scans all the time, and one that never does. */
  let scanning: TestGateway;
  let polling: TestGateway;
  const service = basicAuth(users.admin);
  before(async () => {
    const files = await wordPressFiles(() => {});
    const runtime = (await nativePhpProblem()) === undefined ? nativePhpRunner : wasmPhpRunner;
    const { wp } = runtime(dataDir, files.wpCli);
    php = (code) => wp(['eval', code]);
    const start = (scanIntervalMs: number) =>
      startGateway({ cms: { url: siteUrl }, service, intervalMs: INTERVAL_MS, scanIntervalMs });
    scanning = await start(SCAN_MS);
    polling = await start(RARE_SCAN_MS);
  });
  after(async () => {
    await scanning?.stop();
    await polling?.stop();
    await php(`foreach (['calendar_event', 'calendar_venue', 'calendar_organizer'] as $type)
      foreach (get_posts(['post_type' => $type, 'post_status' => ['any', 'trash'], 's' => 'History', 'numberposts' => -1]) as $post)
        wp_delete_post($post->ID, true);`);
  });

  it(`is in the replicas, ${HISTORIES} times`, async () => {
    const undated = new Set<string>();
    for (let seed = SEED; seed < SEED + HISTORIES; seed += 1) {
      const printed = await php(history(seed));
      const { silent, counts }: Made = JSON.parse(printed.slice(printed.indexOf('{"silent"')));
      for (const name of silent) undated.add(name);
      const endedMs = performance.now();
      const site = await recordsOfSite(scanning.cms, service);
      for (let n = 0; n < 2; n += 1) await polling.sync.poll();
      const polledMs = performance.now() - endedMs;
      const dated = differences(site, recordsOfGateway(polling)).filter((name) => !undated.has(name));
      expect(dated, `seed ${seed}, two polls after it`).to.deep.equal([]);
      const different = () => differences(site, recordsOfGateway(scanning));
      await until(() => different().length === 0, `seed ${seed}: a scan`, 60_000);
      const times = [polledMs, performance.now() - endedMs].map((ms) => (ms / 1000).toFixed(1));
      const changes = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
      process.stderr.write(
        `live: history ${seed} of ${changes.join(', ')}: dated changes after ${times[0]} s, all after ${times[1]} s\n`,
      );
    }
  });
}).timeout(120_000 + HISTORIES * 90_000);
