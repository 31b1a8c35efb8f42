// Measures when a polling gateway shows all of three hundred edits: `node test/live/mass-edits.ts --database
// mariadb --runs 10`.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startSandbox } from '../../sandbox/start.ts';
import type { DatabaseKind } from '../../sandbox/wp-config.ts';
import { startLiveGateway } from './live-gateway.ts';

export const EDIT_COUNT = 300;
/** Far more than two intervals, to measure how long it took. */
const PATIENCE_MS = 30_000;

export interface MassEdit {
  edits: number;
  /** Duration of the edits. */
  editingMs: number;
  /** Records that still show their old title two poll intervals after the last edit. */
  staleAfterTwoIntervals: number;
  /** Time from the last edit until every record showed its new title; infinite after half a minute. */
  allVisibleMs: number;
}

interface MassEditTarget {
  /** The gateway's URL. */
  url: string;
  /** Seconds between two polls of that gateway. */
  intervalS: number;
  /** Runs PHP on the site and returns its output. */
  php(code: string): Promise<string>;
}

/** Creates events for mass edits, dated so that no other test sees them. */
export async function createEvents(php: MassEditTarget['php'], count: number): Promise<void> {
  await php(`for ($n = 0; $n < ${count}; $n++) wp_insert_post([
    'post_type' => 'calendar_event', 'post_status' => 'publish', 'post_title' => "Mass $n",
    'meta_input' => ['start_date' => '2035-06-07 10:00:00', 'end_date' => '2035-06-07 12:00:00']]);`);
}

/** Deletes the events of {@link createEvents}. */
export async function deleteEvents(php: MassEditTarget['php']): Promise<void> {
  await php(`global $wpdb; foreach ($wpdb->get_col("SELECT ID FROM $wpdb->posts
    WHERE post_type = 'calendar_event' AND post_title LIKE 'Mass %'") as $id) wp_delete_post($id, true);`);
}

/** The titles of these events by id, in the gateway's lists. */
async function titles(url: string): Promise<Map<number, string>> {
  const titleById = new Map<number, string>();
  for (let page = 1; ; page += 1) {
    const query = `start_date=2035-06-07&end_date=2035-06-07&per_page=50&page=${page}`;
    const response = await fetch(`${url}/calendar/events/v1/events?${query}`);
    if (response.status !== 200) throw new Error(`${query}: ${response.status} ${await response.text()}`);
    const { events, total_pages } = (await response.json()) as {
      events: { id: number; title: string }[];
      total_pages: number;
    };
    for (const { id, title } of events) titleById.set(id, title);
    if (page >= total_pages) return titleById;
  }
}

/**
 * Edits three hundred random published events one after another, and measures when the gateway shows them.
 */
export async function massEdit({ url, intervalS, php }: MassEditTarget, name: string): Promise<MassEdit> {
  const printed = await php(`global $wpdb;
    $ids = $wpdb->get_col("SELECT ID FROM $wpdb->posts WHERE post_type = 'calendar_event' AND post_status = 'publish'
      AND post_title LIKE 'Mass %' ORDER BY RAND() LIMIT ${EDIT_COUNT}");
    $begun = microtime(true);
    foreach ($ids as $id) wp_update_post(['ID' => $id, 'post_title' => 'Mass ${name}']);
    echo json_encode(['ids' => array_map('intval', $ids), 'ms' => 1000 * (microtime(true) - $begun), 'end' => 1000 * microtime(true)]);`);
  const { ids, ms, end } = JSON.parse(printed.slice(printed.indexOf('{'))) as {
    ids: number[];
    ms: number;
    end: number;
  };
  const stale = async () => {
    const listed = await titles(url);
    return ids.filter((id) => listed.get(id) !== `Mass ${name}`).length;
  };
  const deadlineMs = end + 2 * intervalS * 1000;
  let allVisibleMs = Number.POSITIVE_INFINITY;
  let staleAfterTwoIntervals: number | undefined;
  while (Date.now() - end < PATIENCE_MS) {
    const askedMs = Date.now();
    const staleIds = await stale();
    if (staleIds === 0) {
      allVisibleMs = askedMs - end;
      break;
    }
    if (askedMs >= deadlineMs) staleAfterTwoIntervals ??= staleIds;
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
    await createEvents(php, Number(values.events));
    const gateway = await startLiveGateway(sandbox, {
      service: true,
      intervalS,
      config: { log: { level: 'warn', requests: false } },
    });
    console.log(`${values.database}, ${values.events} events, a poll every ${intervalS} s`);
    console.log('| run | edits | editing | stale after two intervals | all visible after |\n|---|---|---|---|---|');
    try {
      for (let run = 1; run <= Number(values.runs); run += 1) {
        const result = await massEdit({ url: gateway.url, intervalS, php }, `${run}`);
        if (result.staleAfterTwoIntervals > 0) failed += 1;
        const s = (ms: number) => (Number.isFinite(ms) ? `${(ms / 1000).toFixed(1)} s` : 'more than 30 s');
        console.log(
          `| ${run} | ${result.edits} | ${s(result.editingMs)} | ${result.staleAfterTwoIntervals} | ${s(result.allVisibleMs)} |`,
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
