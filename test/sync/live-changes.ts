// Makes every kind of change in a real WordPress and prints how long the gateway takes to show it: `node
// test/sync/live-changes.ts [--dir DIR] [--zone ZONE]`.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startSandbox } from '../../sandbox/start.ts';
import { CHANGES } from '../live/changes.ts';
import { formatTable, INTERVAL_S, startMeasurement } from '../live/sync-latency.ts';

const { values } = parseArgs({
  options: { dir: { type: 'string' }, zone: { type: 'string', default: 'Asia/Kolkata' } },
});
const LIMIT_MS = {
  polling: INTERVAL_S * 1000 + 1000,
  ahead: INTERVAL_S * 1000 + 1000,
  behind: INTERVAL_S * 1000 + 1000,
  webhook: 1000,
};

const dir = values.dir ?? mkdtempSync(join(tmpdir(), 'calendar-changes-'));
const say = (text: string): void => void process.stderr.write(`${text}\n`);
const sandbox = await startSandbox({ dir, port: 0, fresh: true, quiet: true, timezone: values.zone });
try {
  const measuring = await startMeasurement(sandbox);
  try {
    let late = 0;
    let measured = 0;
    for (const change of CHANGES) {
      const { latencyMs } = await measuring.measure(change);
      for (const [way, ms] of Object.entries(latencyMs)) {
        if (change.mass || (way === 'polling' && change.visibleAfter)) continue;
        measured += 1;
        if (ms > LIMIT_MS[way as keyof typeof LIMIT_MS]) late += 1;
      }
      say(`${change.kind}: ${JSON.stringify(latencyMs)}`);
    }
    const idle = await measuring.idlePoll();
    const differences = await measuring.differences();
    const amid = await measuring.initialSyncDuringChanges();
    const waits = await measuring.editorLatency();
    console.log(formatTable(measuring.rows));
    console.log(`\nWordPress ${sandbox.phpRuntime}, zone ${values.zone}, then Asia/Tokyo`);
    console.log(
      `an idle poll: ${idle.requests} requests, ${idle.sentBytes} bytes sent, ${idle.receivedBytes} bytes received`,
    );
    console.log(
      `an editor's save, by what happens to the webhook: ${Object.entries(waits)
        .map(([name, ms]) => `${name}: ${Math.round(ms)} ms`)
        .join(', ')}`,
    );
    console.log(
      `an initial sync of ${amid.records} records during ${amid.changes} changes: ${amid.differences.length} differences ${amid.differences.slice(0, 5)}`,
    );
    for (const [name, records] of Object.entries(differences))
      console.log(`the replica "${name}": ${records.length} differences ${records.slice(0, 5)}`);
    console.log(`${measured - late} of ${measured} times within the interval and 1 s, or 1 s with a webhook`);
    const different = [amid.differences, ...Object.values(differences)].flat().length;
    if (late > 0 || different > 0) process.exitCode = 1;
  } finally {
    await measuring.close();
  }
} finally {
  await sandbox.stop();
  if (values.dir === undefined) rmSync(dir, { recursive: true, force: true });
}
