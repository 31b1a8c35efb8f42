// Three hundred edits within seconds: when a gateway that polls shows all of them. By hand: `node test/live/mass-edits.ts --database mariadb --runs 10`.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startSandbox } from '../../sandbox/start.ts';
import type { DatabaseKind } from '../../sandbox/wp-config.ts';
import { startGateway } from './gateway-process.ts';

export const EDITS = 300;
/** Far more than two intervals: the table says how long it took. */
const PATIENCE_MS = 30_000;

export interface MassEdit {
  edits: number;
  /** How long the edits took. */
  editingMs: number;
  /** Records that showed their old title two intervals after the last edit was made. */
  staleAfterTwoIntervals: number;
  /** From the last edit until every record showed its new title; infinite where that took longer than half a minute. */
  allVisibleMs: number;
}

interface Where {
  /** The gateway's address. */
  url: string;
  /** Seconds between two polls of that gateway. */
  intervalS: number;
  /** Runs PHP on the site and gives what it printed. */
  php(code: string): Promise<string>;
}

/** Makes events enough for mass edits, dated so that no other test sees them. */
export async function makeEvents(php: Where['php'], count: number): Promise<void> {
  await php(`for ($n = 0; $n < ${count}; $n++) wp_insert_post([
    'post_type' => 'calendar_event', 'post_status' => 'publish', 'post_title' => "Mass $n",
    'meta_input' => ['start_date' => '2035-06-07 10:00:00', 'end_date' => '2035-06-07 12:00:00']]);`);
}

/** Removes what {@link makeEvents} made. */
export async function removeEvents(php: Where['php']): Promise<void> {
  await php(`global $wpdb; foreach ($wpdb->get_col("SELECT ID FROM $wpdb->posts
    WHERE post_type = 'calendar_event' AND post_title LIKE 'Mass %'") as $id) wp_delete_post($id, true);`);
}

/** The title of every event of those, by id, in the gateway's lists. */
async function titles(url: string): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  for (let page = 1; ; page += 1) {
    const query = `start_date=2035-06-07&end_date=2035-06-07&per_page=50&page=${page}`;
    const answer = await fetch(`${url}/calendar/events/v1/events?${query}`);
    if (answer.status !== 200) throw new Error(`${query}: ${answer.status} ${await answer.text()}`);
    const { events, total_pages } = (await answer.json()) as {
      events: { id: number; title: string }[];
      total_pages: number;
    };
    for (const { id, title } of events) found.set(id, title);
    if (page >= total_pages) return found;
  }
}

/** Edits three hundred published events chosen at random, one after another, and looks when the gateway shows them. */
export async function massEdit({ url, intervalS, php }: Where, name: string): Promise<MassEdit> {
  const printed = await php(`global $wpdb;
    $ids = $wpdb->get_col("SELECT ID FROM $wpdb->posts WHERE post_type = 'calendar_event' AND post_status = 'publish'
      AND post_title LIKE 'Mass %' ORDER BY RAND() LIMIT ${EDITS}");
    $begun = microtime(true);
    foreach ($ids as $id) wp_update_post(['ID' => $id, 'post_title' => 'Mass ${name}']);
    echo json_encode(['ids' => array_map('intval', $ids), 'ms' => 1000 * (microtime(true) - $begun), 'end' => 1000 * microtime(true)]);`);
  const { ids, ms, end } = JSON.parse(printed.slice(printed.indexOf('{'))) as {
    ids: number[];
    ms: number;
    end: number;
  };
  const stale = async () => {
    const shown = await titles(url);
    return ids.filter((id) => shown.get(id) !== `Mass ${name}`).length;
  };
  const deadlineMs = end + 2 * intervalS * 1000;
  let allVisibleMs = Number.POSITIVE_INFINITY;
  let staleAfterTwoIntervals: number | undefined;
  while (Date.now() - end < PATIENCE_MS) {
    const askedMs = Date.now();
    const left = await stale();
    if (left === 0) {
      allVisibleMs = askedMs - end;
      break;
    }
    if (askedMs >= deadlineMs) staleAfterTwoIntervals ??= left;
    await new Promise((later) => setTimeout(later, 50));
  }
  return { edits: ids.length, editingMs: ms, staleAfterTwoIntervals: staleAfterTwoIntervals ?? 0, allVisibleMs };
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      database: { type: 'string', default: 'mariadb' },
      runs: { type: 'string', default: '10' },
      interval: { type: 'string', default: '2' },
      events: { type: 'string', default: '400' },
    },
  });
  const dir = mkdtempSync(join(tmpdir(), 'calendar-mass-'));
  const intervalS = Number(values.interval);
  const sandbox = await startSandbox({ dir, port: 0, quiet: true, database: values.database as DatabaseKind });
  let failed = 0;
  try {
    const php = (code: string) => sandbox.wp(['eval', code]);
    await makeEvents(php, Number(values.events));
    const gateway = await startGateway(sandbox, {
      service: true,
      intervalS,
      config: { log: { level: 'warn', requests: false } },
    });
    console.log(`${values.database}, ${values.events} events, a poll every ${intervalS} s`);
    console.log('| run | edits | editing | stale after two intervals | all visible after |\n|---|---|---|---|---|');
    try {
      for (let run = 1; run <= Number(values.runs); run += 1) {
        const seen = await massEdit({ url: gateway.url, intervalS, php }, `${run}`);
        if (seen.staleAfterTwoIntervals > 0) failed += 1;
        const s = (ms: number) => (Number.isFinite(ms) ? `${(ms / 1000).toFixed(1)} s` : 'more than 30 s');
        console.log(
          `| ${run} | ${seen.edits} | ${s(seen.editingMs)} | ${seen.staleAfterTwoIntervals} | ${s(seen.allVisibleMs)} |`,
        );
      }
    } finally {
      await gateway.stop();
    }
  } finally {
    await sandbox.stop();
    rmSync(dir, { recursive: true, force: true });
  }
  return failed > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
