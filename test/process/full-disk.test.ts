// A gateway on a full disk: reads continue, writes are rejected before any CMS call, and it recovers when
// there is space again.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { tolerantWriteThrough } from '../../src/calendar/write-through.ts';
import { ReplicaError } from '../../src/errors.ts';
import { openReplica } from '../../src/store/replica.ts';
import { authorization, type FakeWordPress, PASSWORD, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { freePorts } from '../free-port.ts';
import { MOUNT, sendRequest } from '../start-gateway.ts';
import { event } from '../store/sample-records.ts';
import { until } from '../until.ts';

/**
 * The limit of the file size, in blocks of 512 bytes: to SQLite the same as a full disk. The process ignores
 * the signal of the limit.
 */
const LIMITED = `trap '' XFSZ; ulimit -f 6000; exec "$0" "$@"`;
const NEXT_YEAR = new Date().getUTCFullYear() + 1;

describe('a gateway on a full disk', function () {
  this.timeout(60_000);
  let wordpress: FakeWordPress;
  before(async () => {
    wordpress = await startFakeWordPress();
  });
  after(() => wordpress.close());

  function add(first: number, count: number): void {
    const meta = { start_date: `${NEXT_YEAR}-05-01 10:00:00`, end_date: `${NEXT_YEAR}-05-01 11:00:00` };
    for (let id = first; id < first + count; id += 1)
      wordpress.cms.createPost('events', { id, author: 5, meta, title: `${'a harbour '.repeat(150)} ${id}` });
  }

  it('serves reads, and rejects writes with 503 and Retry-After without a CMS call', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'calendar-full-'));
    const [port, adminPort] = await freePorts();
    const env = {
      ...{ PATH: process.env.PATH, CALENDAR_UPSTREAM_URL: wordpress.url.href, CALENDAR_DATA_DIR: dataDir },
      ...{ CALENDAR_UPSTREAM_USER: 'admin', CALENDAR_UPSTREAM_PASSWORD: PASSWORD, CALENDAR_SYNC_INTERVAL: '1' },
      ...{ CALENDAR_HOST: '127.0.0.1', CALENDAR_PORT: String(port), CALENDAR_ADMIN_PORT: String(adminPort) },
    };
    const child = spawn('sh', ['-c', LIMITED, process.execPath, 'src/main.ts', 'serve'], { env, stdio: 'ignore' });
    const ended = once(child, 'exit');
    try {
      const status = async () => JSON.parse((await sendRequest(adminPort, '/status')).text);
      await until(
        async () => (await sendRequest(adminPort, '/ready').catch(() => ({ status: 0 }))).status === 200,
        'ready',
        45_000,
      );
      add(1000, 800);
      await until(async () => /disk/.test((await status()).reason ?? ''), 'the disk is full', 30_000);
      const { state, cms } = await status();
      expect([state, cms.reachable]).to.deep.equal(['stale', true]);
      expect((await sendRequest(port, `${MOUNT}/events`)).status).to.equal(200);
      const before = wordpress.writes();
      const headers = { authorization: authorization('editor'), 'content-type': 'application/json' };
      const event = { title: 'x', start_date: `${NEXT_YEAR}-01-01`, end_date: `${NEXT_YEAR}-01-02` };
      for (const [method, path, body] of [
        ['POST', '/events', event],
        ['POST', '/events/1', { title: 'x' }],
        ['DELETE', '/events/1', {}],
        ['POST', '/venues', { venue: 'x' }],
        ['POST', '/categories', { name: 'x' }],
      ] as const) {
        const answer = await sendRequest(port, MOUNT + path, { method, headers, body: JSON.stringify(body) });
        const { code } = JSON.parse(answer.text);
        expect([path, answer.status, code]).to.deep.equal([path, 503, 'calendar_replica_unavailable']);
        expect(answer.headers['retry-after']).to.equal('5');
      }
      expect(wordpress.writes()).to.equal(before);
    } finally {
      child.kill('SIGTERM');
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('responds to a write that the CMS has accepted, and re-reads the record later', async () => {
    const failing = async () => {
      throw new ReplicaError('unwritable', 'database or disk is full');
    };
    const later: unknown[] = [];
    const alone = { changeMark: () => 0, storeRead: failing, storeWritten: failing, reread: failing };
    const replica = openReplica({ identity: 'test' });
    const writeThrough = tolerantWriteThrough(alone, replica, (change) => later.push(change));
    const change = { deletes: [{ kind: 'event' as const, ids: [7] }] };
    await writeThrough.storeRead(change, 0);
    replica.close();
    await writeThrough.storeRead({ upserts: [event(7)] }, 0);
    expect(later).to.deep.equal([]);
    await writeThrough.storeWritten(change, 0);
    expect(later).to.deep.equal([change]);
  });
});
