// A damaged replica in a cluster: the gateway receives a snapshot, and the other gateway serves without
// interruption.

import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type FakeWordPress, PASSWORD, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { type GatewayProcess, MOUNT, sendRequest, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';
import { type RedisServer, useRedisServer } from './redis-server.ts';

const NEXT_YEAR = new Date().getUTCFullYear() + 1;

describe('damaged replica in a cluster', function () {
  this.timeout(120_000);
  let redisServer: RedisServer;
  let wordpress: FakeWordPress;
  let folder: string;
  let gateways: GatewayProcess[];
  useRedisServer((started) => {
    redisServer = started;
  });
  before(async () => {
    wordpress = await startFakeWordPress();
    const meta = { start_date: `${NEXT_YEAR}-05-01 10:00:00`, end_date: `${NEXT_YEAR}-05-01 11:00:00` };
    const text = 'a harbour '.repeat(150);
    for (let id = 1000; id < 2000; id += 1)
      wordpress.cms.createPost('events', { id, author: 5, title: `${text} ${id}`, meta });
  });
  after(() => wordpress.close());
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-damage-'));
    gateways = [];
    for (const name of ['a', 'b']) {
      const env = {
        CALENDAR_REDIS_URL: redisServer.url,
        CALENDAR_DATA_DIR: join(folder, name),
        CALENDAR_SYNC_INTERVAL: '1',
      };
      const gateway = await startGateway({
        transport: 'process',
        cmsUrl: wordpress.url.href,
        service: { user: 'admin', password: PASSWORD },
        env,
      });
      gateways.push(gateway);
      await gateway.untilReady();
    }
  });
  afterEach(async () => {
    for (const { child } of gateways) child.kill('SIGTERM');
    const codes = await Promise.all(gateways.map(({ exited }) => exited));
    rmSync(folder, { recursive: true, force: true });
    expect(codes).to.deep.equal([0, 0]);
  });

  const list = ({ port }: GatewayProcess, page: number) =>
    sendRequest(port, `${MOUNT}/events?per_page=50&page=${page}&start_date=2000-01-01`);
  const status = async ({ adminPort }: GatewayProcess) => JSON.parse((await sendRequest(adminPort, '/status')).text);

  for (const [role, index] of [
    ['leader', 0],
    ['follower', 1],
  ] as const)
    it(`is replaced at the ${role}`, async () => {
      const gateway = gateways[index]!;
      const other = gateways[1 - index]!;
      const file = join(folder, 'ab'[index]!, 'calendar.sqlite');
      const { total } = JSON.parse((await list(other, 1)).text);
      const fd = openSync(file, 'r+');
      for (let page = 3; page * 4096 < statSync(file).size; page += 3)
        writeSync(fd, Buffer.alloc(4096), 0, 4096, page * 4096);
      closeSync(fd);
      const statuses = new Set<number>();
      await until(
        async () => {
          for (let page = 1; page <= 20; page += 1) {
            statuses.add((await list(gateway, page)).status);
            expect((await list(other, page)).status).to.equal(200);
          }
          return existsSync(`${file}.quarantined`);
        },
        'it is quarantined',
        30_000,
      );
      await gateway.untilReady();
      await until(async () => JSON.parse((await list(gateway, 1)).text).total === total, 'all records', 30_000);
      expect([...statuses].filter((code) => code !== 200 && code !== 503)).to.deep.equal([]);
      const roles = async () => (await Promise.all(gateways.map(status))).map(({ cluster }) => cluster.role).sort();
      await until(async () => (await roles()).join() === 'follower,leader', 'one leader and one follower', 30_000);
    });
});
