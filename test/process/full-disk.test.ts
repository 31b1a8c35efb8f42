// A gateway on a full disk: reads continue, and so do writes of the CMS.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { authorization, type FakeWordPress, PASSWORD, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { freePorts } from '../free-port.ts';
import { MOUNT, sendRequest } from '../start-gateway.ts';
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

  it('serves reads and passes writes on, and says what is wrong', async () => {
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
      const headers = { authorization: authorization('editor'), 'content-type': 'application/json' };
      const body = JSON.stringify({ title: 'Renamed on a full disk' });
      const answer = await sendRequest(port, `${MOUNT}/events/1`, { method: 'POST', headers, body });
      expect([answer.status, JSON.parse(answer.text).title]).to.deep.equal([200, 'Renamed on a full disk']);
    } finally {
      child.kill('SIGTERM');
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
