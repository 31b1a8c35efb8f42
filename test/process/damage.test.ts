// A replica whose file is damaged while the gateway runs: it is quarantined, and a new initial sync begins
// without a restart.

import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { authorization, type FakeWordPress, PASSWORD, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { MOUNT, type SocketGateway, sendRequest, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';

const PAGE = 4096;
const EVENTS = 1000;
const NEXT_YEAR = new Date().getUTCFullYear() + 1;

/** Writes into the file without SQLite noticing. */
function overwrite(file: string, damage: (write: (at: number, bytes: Buffer) => void, size: number) => void): void {
  const fd = openSync(file, 'r+');
  damage((at, bytes) => void writeSync(fd, bytes, 0, bytes.length, at), statSync(file).size);
  closeSync(fd);
}

const DAMAGES: Record<string, (file: string) => void> = {
  'every third page zeroed': (file) =>
    overwrite(file, (write, size) => {
      for (let page = 3; page * PAGE < size; page += 3) write(page * PAGE, Buffer.alloc(PAGE));
    }),
  'bytes flipped all over it': (file) =>
    overwrite(file, (write, size) => {
      for (let at = 3 * PAGE; at < size; at += 997) write(at, Buffer.from([0xff]));
    }),
  'all but its first page overwritten': (file) =>
    overwrite(file, (write, size) => write(PAGE, Buffer.alloc(size - PAGE, 0xa5))),
};

describe('a replica that is damaged while the gateway runs', function () {
  this.timeout(120_000);
  let wordpress: FakeWordPress;
  let gateway: SocketGateway;
  let dataDir: string;
  before(async () => {
    wordpress = await startFakeWordPress();
    // More records than SQLite caches, or it would never read the file again.
    const text = 'a harbour '.repeat(150);
    for (let id = 1000; id < 1000 + EVENTS; id += 1) {
      const meta = { start_date: `${NEXT_YEAR}-05-01 10:00:00`, end_date: `${NEXT_YEAR}-05-01 11:00:00` };
      wordpress.cms.createPost('events', { id, author: 5, title: `${text} ${id}`, meta });
    }
  });
  after(() => wordpress.close());
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'calendar-damage-'));
    const service = { user: 'admin', password: PASSWORD };
    gateway = await startGateway({
      transport: 'socket',
      cmsUrl: wordpress.url.href,
      config: { dataDir, sync: { intervalS: 1 } },
      service,
    });
  });
  afterEach(async () => {
    await gateway.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const list = (page: number, more = '') =>
    gateway.request(`/events?per_page=50&page=${page}&start_date=2000-01-01${more}`);
  const total = async () => JSON.parse((await list(1)).text).total as number;

  /** Reads everything concurrently; returns the statuses. */
  async function readAll(): Promise<number[]> {
    const seen = new Set<number>();
    for (let page = 1; page <= EVENTS / 50; page += 1) seen.add((await list(page)).status);
    for (const word of ['harbour', 'har', 'rbo', 'zzz']) seen.add((await list(1, `&search=${word}`)).status);
    return [...seen];
  }

  for (const [name, damage] of Object.entries(DAMAGES))
    it(`${name}: the file is quarantined, logged and counted, and a new initial sync begins`, async () => {
      const before = await total();
      expect(before).to.be.at.least(EVENTS);
      damage(join(dataDir, 'calendar.sqlite'));
      const seen = new Set<number>();
      const reachable = new Set<boolean>();
      await until(
        async () => {
          for (const status of await readAll()) seen.add(status);
          reachable.add(JSON.parse((await gateway.admin('/status')).text).cms.reachable);
          return gateway.log().includes('replica-quarantined');
        },
        'the damage is noticed',
        30_000,
      );
      await until(async () => (await gateway.admin('/ready')).status === 200, 'the second initial sync', 60_000);
      expect([...seen].filter((status) => status !== 200 && status !== 503)).to.deep.equal([]);
      expect([...reachable]).to.deep.equal([true]);
      expect(await total()).to.equal(before);
      expect(await readAll()).to.deep.equal([200]);
      expect(existsSync(join(dataDir, 'calendar.sqlite.quarantined'))).to.equal(true);
      expect((await gateway.admin('/metrics')).text).to.include('calendar_replica_quarantined_total 1');
      const written = await gateway.request('/events/1', {
        method: 'POST',
        headers: { authorization: authorization('editor'), 'content-type': 'application/json' },
        body: '{"title":"after the damage"}',
      });
      expect(written.status).to.equal(200);
      expect(JSON.parse((await gateway.request('/events/1')).text).title).to.equal('after the damage');
    });

  it('ends the process with exit code 1 if it cannot be replaced; the log has the reason, and every request gets a response', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'calendar-damage-'));
    const env = { CALENDAR_DATA_DIR: folder, CALENDAR_SYNC_INTERVAL: '1' };
    const serving = await startGateway({
      transport: 'process',
      cmsUrl: wordpress.url.href,
      service: { user: 'admin', password: PASSWORD },
      env,
    });
    try {
      await serving.untilReady();
      mkdirSync(join(folder, 'calendar.sqlite.quarantined/in-the-way'), { recursive: true });
      DAMAGES['every third page zeroed']!(join(folder, 'calendar.sqlite'));
      const cut: string[] = [];
      let isOver = false;
      void serving.exited.then(() => {
        isOver = true;
      });
      const ask = (page: number) =>
        sendRequest(serving.port, `${MOUNT}/events?per_page=50&page=${page}&start_date=2000-01-01`).catch(
          (error: NodeJS.ErrnoException) => void (error.code === 'ECONNREFUSED' || cut.push(String(error))),
        );
      const pages = Array.from({ length: EVENTS / 50 }, (_, page) => page + 1);
      await until(
        async () => {
          await Promise.all(pages.map(ask));
          return isOver;
        },
        'it ends',
        30_000,
      );
      expect(cut).to.deep.equal([]);
      expect(await serving.exited).to.equal(1);
      expect(serving.output()).to.include('calendar.sqlite');
    } finally {
      serving.child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
