// A gateway whose disk is full: reads go on, writes are refused before the CMS is asked, and all is well again once there is room.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { keepingDespite } from '../../src/calendar/backing.ts';
import { ReplicaFailure } from '../../src/errors.ts';
import { openReplica } from '../../src/replica/store.ts';
import { exchange, MOUNT } from '../faults/gateway.ts';
import { as, PASSWORD, startWordPress, type WordPressStandIn } from '../faults/wordpress.ts';
import { freePort } from '../free-port.ts';
import { event } from '../replica/samples.ts';
import { until } from '../until.ts';

/** No file grows beyond this, in blocks of 512 bytes: to SQLite the same as a full disk. The signal that would kill the process is left out. */
const LIMITED = `trap '' XFSZ; ulimit -f 6000; exec "$0" "$@"`;
const NEXT_YEAR = new Date().getUTCFullYear() + 1;

describe('a gateway on a full disk', function () {
  this.timeout(60_000);
  let wordpress: WordPressStandIn;
  before(async () => {
    wordpress = await startWordPress();
  });
  after(() => wordpress.close());

  function add(first: number, count: number): void {
    const meta = { start_date: `${NEXT_YEAR}-05-01 10:00:00`, end_date: `${NEXT_YEAR}-05-01 11:00:00` };
    for (let id = first; id < first + count; id += 1)
      wordpress.posts.set(id, {
        ...{ id, base: 'events', status: 'publish', author: 5, meta },
        title: `${'a harbour '.repeat(150)} ${id}`,
      });
  }

  it('answers reads, and writes with 503 and Retry-After without asking the CMS', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'calendar-full-'));
    const [port, adminPort] = [await freePort(), await freePort()];
    const env = {
      ...{ PATH: process.env.PATH, CALENDAR_UPSTREAM_URL: wordpress.url.href, CALENDAR_DATA_DIR: dataDir },
      ...{ CALENDAR_UPSTREAM_USER: 'admin', CALENDAR_UPSTREAM_PASSWORD: PASSWORD, CALENDAR_SYNC_INTERVAL: '1' },
      ...{ CALENDAR_HOST: '127.0.0.1', CALENDAR_PORT: String(port), CALENDAR_ADMIN_PORT: String(adminPort) },
    };
    const child = spawn('sh', ['-c', LIMITED, process.execPath, 'src/main.ts', 'serve'], { env, stdio: 'ignore' });
    const ended = once(child, 'exit');
    try {
      const status = async () => JSON.parse((await exchange(adminPort, '/status')).text);
      await until(
        async () => (await exchange(adminPort, '/ready').catch(() => ({ status: 0 }))).status === 200,
        'ready',
        45_000,
      );
      add(1000, 800);
      await until(async () => /disk/.test((await status()).reason ?? ''), 'the disk is full', 30_000);
      const { state, cms } = await status();
      expect([state, cms.reachable]).to.deep.equal(['lagging', true]);
      expect((await exchange(port, `${MOUNT}/events`)).status).to.equal(200);
      const before = wordpress.writes();
      const headers = { authorization: as('editor'), 'content-type': 'application/json' };
      const event = { title: 'x', start_date: `${NEXT_YEAR}-01-01`, end_date: `${NEXT_YEAR}-01-02` };
      for (const [method, path, body] of [
        ['POST', '/events', event],
        ['POST', '/events/1', { title: 'x' }],
        ['DELETE', '/events/1', {}],
        ['POST', '/venues', { venue: 'x' }],
        ['POST', '/categories', { name: 'x' }],
      ] as const) {
        const answer = await exchange(port, MOUNT + path, { method, headers, body: JSON.stringify(body) });
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

  it('answers a write that the CMS has accepted, and reads the record again later', async () => {
    const failing = async () => {
      throw new ReplicaFailure('unwritable', 'database or disk is full');
    };
    const later: unknown[] = [];
    const alone = { moment: () => 0, keep: failing, wrote: failing, readAgain: failing };
    const replica = openReplica({ identity: 'test' });
    const keeping = keepingDespite(alone, replica, (change) => later.push(change));
    const change = { remove: [{ kind: 'event' as const, ids: [7] }] };
    await keeping.keep(change, 0);
    replica.close();
    await keeping.keep({ put: [event(7)] }, 0);
    expect(later).to.deep.equal([]);
    await keeping.wrote(change, 0);
    expect(later).to.deep.equal([change]);
  });
});
