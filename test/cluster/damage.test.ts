// A gateway of several whose replica is damaged: it gets a new one from the others, and the others notice nothing.

import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { exchange, MOUNT } from '../faults/gateway.ts';
import { PASSWORD, startWordPress, type WordPressStandIn } from '../faults/wordpress.ts';
import { type Serving, serve, untilReady } from '../process/serving.ts';
import { until } from '../until.ts';
import { type EngineProcess, useEngine } from './engine-process.ts';

const NEXT_YEAR = new Date().getUTCFullYear() + 1;

describe('a damaged replica of one gateway of several', function () {
  this.timeout(120_000);
  let engine: EngineProcess;
  let wordpress: WordPressStandIn;
  let folder: string;
  let gateways: Serving[];
  useEngine((started) => {
    engine = started;
  });
  before(async () => {
    wordpress = await startWordPress();
    const meta = { start_date: `${NEXT_YEAR}-05-01 10:00:00`, end_date: `${NEXT_YEAR}-05-01 11:00:00` };
    const text = 'a harbour '.repeat(150);
    for (let id = 1000; id < 2000; id += 1)
      wordpress.posts.set(id, { id, base: 'events', status: 'publish', author: 5, title: `${text} ${id}`, meta });
  });
  after(() => wordpress.close());
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-damage-'));
    gateways = [];
    for (const name of ['a', 'b']) {
      const env = {
        CALENDAR_REDIS_URL: engine.url,
        CALENDAR_DATA_DIR: join(folder, name),
        CALENDAR_SYNC_INTERVAL: '1',
      };
      const gateway = await serve(wordpress.url.href, { password: PASSWORD, env });
      gateways.push(gateway);
      await untilReady(gateway);
    }
  });
  afterEach(async () => {
    for (const { child } of gateways) child.kill('SIGTERM');
    const codes = await Promise.all(gateways.map(({ ended }) => ended));
    rmSync(folder, { recursive: true, force: true });
    expect(codes).to.deep.equal([0, 0]);
  });

  const list = ({ port }: Serving, page: number) =>
    exchange(port, `${MOUNT}/events?per_page=50&page=${page}&start_date=2000-01-01`);
  const status = async ({ adminPort }: Serving) => JSON.parse((await exchange(adminPort, '/status')).text);

  for (const [which, index] of [
    ['leads', 0],
    ['follows', 1],
  ] as const)
    it(`is replaced where that one ${which}`, async () => {
      const gateway = gateways[index]!;
      const other = gateways[1 - index]!;
      const file = join(folder, 'ab'[index]!, 'calendar.sqlite');
      const { total } = JSON.parse((await list(other, 1)).text);
      const fd = openSync(file, 'r+');
      for (let page = 3; page * 4096 < statSync(file).size; page += 3)
        writeSync(fd, Buffer.alloc(4096), 0, 4096, page * 4096);
      closeSync(fd);
      const seen = new Set<number>();
      await until(
        async () => {
          for (let page = 1; page <= 20; page += 1) {
            seen.add((await list(gateway, page)).status);
            expect((await list(other, page)).status).to.equal(200);
          }
          return existsSync(`${file}.aside`);
        },
        'it is quarantined',
        30_000,
      );
      await untilReady(gateway);
      await until(async () => JSON.parse((await list(gateway, 1)).text).total === total, 'all is there', 30_000);
      expect([...seen].filter((code) => code !== 200 && code !== 503)).to.deep.equal([]);
      const roles = async () => (await Promise.all(gateways.map(status))).map(({ gateways: of }) => of.role).sort();
      await until(async () => (await roles()).join() === 'following,leading', 'one leads and one follows', 30_000);
    });
});
