// `npm run test:wasm`: the sandbox as WebAssembly with the gateway in front: creates, lists, reads and
// deletes one event.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../../sandbox/start.ts';
import { startLiveGateway } from './live-gateway.ts';

const dir = mkdtempSync(join(tmpdir(), 'calendar-wasm-'));
const sandbox = await startSandbox({ dir, port: 0, phpRuntime: 'wasm', fresh: true });
try {
  assert.equal(sandbox.phpRuntime, 'wasm');
  // PHP as WebAssembly takes most of a second per request, and two workers can block each other.
  const patience = {
    upstream: { limits: { connections: 2, headersTimeoutMs: 60_000, deadlineMs: 90_000 } },
    limits: { requestTimeoutMs: 120_000 },
  };
  const gateway = await startLiveGateway(sandbox, { service: true, intervalS: 30, config: patience });
  try {
    const { user, applicationPassword } = sandbox.credentials.editor;
    const headers = {
      authorization: `Basic ${Buffer.from(`${user}:${applicationPassword}`).toString('base64')}`,
      'content-type': 'application/json',
    };
    const events = `${gateway.url}/calendar/events/v1/events`;
    const fields = {
      title: 'Smoke',
      start_date: '2032-05-01 10:00',
      end_date: '2032-05-01 12:00',
      venue: { venue: 'Pier' },
    };
    const created = await fetch(events, { method: 'POST', headers, body: JSON.stringify(fields) });
    assert.equal(created.status, 201);
    const { id } = (await created.json()) as { id: number };
    const listed = await fetch(`${events}?start_date=2032-05-01&end_date=2032-05-01`);
    const list = (await listed.json()) as { total: number; events: { id: number; venue: { venue: string } }[] };
    assert.equal(list.total, 1);
    assert.equal(list.events[0]?.id, id);
    assert.equal(list.events[0]?.venue.venue, 'Pier');
    assert.equal((await fetch(`${events}/${id}`)).status, 200);
    assert.equal((await fetch(`${events}/${id}`, { method: 'DELETE', headers })).status, 200);
    assert.equal((await fetch(`${events}/${id}`)).status, 403);
    console.log('6 passed, 0 failed');
  } finally {
    await gateway.stop();
  }
} finally {
  await sandbox.stop();
  rmSync(dir, { recursive: true, force: true });
}
