// `node test/live/wasm.ts`: the sandbox as WebAssembly with the gateway in front: creates, lists, reads and
// deletes one event.

import assert from 'node:assert/strict';
import { scriptOptions } from '../script-options.ts';
import { withSandbox } from '../temporary-site.ts';
import { basicAuth, sendJson } from './json-client.ts';
import { startLiveGateway } from './live-gateway.ts';

scriptOptions(
  `node test/live/wasm.ts

Creates, lists, reads and deletes one event through a gateway in front of a new WordPress, whose PHP runs as WebAssembly. The first run
downloads both (264 MB). Takes a minute.`,
  {},
);

await withSandbox({ phpRuntime: 'wasm' }, async (sandbox) => {
  assert.equal(sandbox.phpRuntime, 'wasm');
  // PHP as WebAssembly takes most of a second per request, and two workers can block each other.
  const patience = { upstream: { limits: { connections: 2, deadlineMs: 90_000 } } };
  const gateway = await startLiveGateway(sandbox, { service: true, intervalS: 30, config: patience });
  try {
    const authorization = basicAuth(sandbox.credentials.editor);
    const events = `${gateway.url}/calendar/events/v1/events`;
    const json = {
      title: 'Smoke',
      start_date: '2032-05-01 10:00',
      end_date: '2032-05-01 12:00',
      venue: { venue: 'Pier' },
    };
    const created = await sendJson<{ id: number }>(events, { method: 'POST', json, authorization });
    assert.equal(created.status, 201);
    const { id } = created.body;
    const { body: list } = await sendJson<{ total: number; events: { id: number; venue: { venue: string } }[] }>(
      `${events}?start_date=2032-05-01&end_date=2032-05-01`,
    );
    assert.equal(list.total, 1);
    assert.equal(list.events[0]?.id, id);
    assert.equal(list.events[0]?.venue.venue, 'Pier');
    assert.equal((await sendJson(`${events}/${id}`)).status, 200);
    assert.equal((await sendJson(`${events}/${id}`, { method: 'DELETE', authorization })).status, 200);
    assert.equal((await sendJson(`${events}/${id}`)).status, 403);
    console.log('6 passed, 0 failed');
  } finally {
    await gateway.stop();
  }
});
