// After requests of all accounts, neither the data directory nor Redis nor the memory of the process has a text that
// the site shows to some accounts only.

import { createReadStream, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { authorization, PASSWORD } from '../faults/fake-wordpress.ts';
import { ACCOUNTS, startVisibilityFixture, type VisibilityFixture, wordsIn } from '../http/visibility-fixture.ts';
import { integersFrom } from '../random.ts';
import { type GatewayProcess, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';
import { type RedisServer, useRedisServer, withRedisClient } from './redis-server.ts';

const OPERATIONS = 1000;
/** The memory of a list of an account is given back within seconds; a snapshot takes one or two. */
const GONE_WITHIN_MS = 120_000;

describe('private texts', function () {
  this.timeout(300_000);
  let redis: RedisServer;
  let world: VisibilityFixture;
  let gateway: GatewayProcess;
  let folder: string;
  let visible: Set<string>;

  useRedisServer((started) => {
    redis = started;
  });
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-private-'));
    world = await startVisibilityFixture();
    gateway = await startGateway({
      transport: 'process',
      cmsUrl: world.wordpress.url.href,
      service: { user: 'admin', password: PASSWORD },
      flags: ['--heapsnapshot-signal=SIGUSR2', `--diagnostic-dir=${folder}`],
      config: { dataDir: join(folder, 'data') },
      env: { CALENDAR_REDIS_URL: redis.url },
    });
    await gateway.untilReady();
    visible = new Set();
    for (const { base, id } of world.posts) await addVisible(base, id);
  });
  afterEach(async () => {
    await gateway.kill();
    await world.wordpress.close();
    rmSync(folder, { recursive: true });
  });

  /** The unique words in a text: of the site's records, of what this test wrote, and of parts for members. */
  const markersIn = (text: string): string[] => [
    ...wordsIn(text).map(({ word }) => word),
    ...(text.match(/members only \d+|qprivate\d+q/g) ?? []),
  ];

  /** Adds what the CMS shows to everybody of this record now. */
  async function addVisible(base: string, id: number): Promise<void> {
    const response = await fetch(new URL(`wp-json/wp/v2/${base}/${id}`, world.wordpress.url));
    if (response.ok) for (const marker of markersIn(await response.text())) visible.add(marker);
  }

  async function markersInFile(file: string): Promise<string[]> {
    const found = new Set<string>();
    let tail = '';
    for await (const chunk of createReadStream(file, 'latin1')) {
      const text = tail + String(chunk);
      for (const marker of markersIn(text)) found.add(marker);
      tail = text.slice(-200);
    }
    return [...found];
  }

  async function snapshot(): Promise<string> {
    const places = () => readdirSync(folder).filter((name) => name.endsWith('.heapsnapshot'));
    for (const place of places()) rmSync(join(folder, place));
    gateway.child.kill('SIGUSR2');
    await until(() => places().length > 0, 'a heap snapshot', 60_000);
    // The signal handler blocks JavaScript: the snapshot is complete when the gateway responds again.
    await gateway.untilReady();
    return join(folder, places()[0]!);
  }

  /** Everything in Redis, keys and values, as text. */
  const redisContent = (): Promise<string> =>
    withRedisClient(redis, async (client) => {
      const dumps: string[] = [];
      for (const key of await client.keys('*')) {
        const type = await client.type(key);
        const value = type === 'stream' ? await client.xRange(key, '-', '+') : await client.get(key).catch(() => null);
        dumps.push(`${key} ${type} ${JSON.stringify(value)}`);
      }
      return dumps.join('\n');
    });

  /** One request of a random account: a read, a list, a create, an update or a delete. Returns whether it succeeded. */
  async function operate(below: (count: number) => number, n: number): Promise<boolean> {
    const account = ACCOUNTS[below(ACCOUNTS.length)]!;
    const { base, id } = world.posts[below(world.posts.length)]!;
    const fields = { description: `qprivate${n}q`, status: ['draft', 'private', 'pending'][below(3)] };
    const titles = { events: 'title', venues: 'venue', organizers: 'organizer' };
    const [method, path, body] = [
      ['GET', `/${base}/${id}`],
      ['GET', `/${base}/${id}?password=sesame`],
      ['GET', `/${base}?status=draft,private,pending&per_page=50`],
      ['GET', '/events?start_date=1990-01-01&status=any&per_page=50'],
      ['GET', `/${base}?search=q${below(300)}`],
      ['POST', `/${base}/${id}`, { ...fields, status: undefined }],
      [
        'POST',
        `/${base}`,
        { ...fields, [titles[base]]: `qprivate${n}q`, start_date: '2031-01-01', end_date: '2031-01-02' },
      ],
      ['DELETE', `/${base}/${id}`],
    ][below(200) === 0 ? 7 : below(7)] as [string, string, object?];
    const { status, text } = await gateway.request(path, {
      method,
      headers: { authorization: authorization(account), 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (status < 300 && method === 'POST') await addVisible(base, JSON.parse(text).id);
    return status < 300;
  }

  it(`are nowhere after ${OPERATIONS} random requests of all accounts`, async () => {
    const below = integersFrom(1);
    let succeeded = 0;
    for (let n = 0; n < OPERATIONS; n += 1) if (await operate(below, n)) succeeded += 1;
    expect(succeeded, 'requests that succeeded').to.be.at.least(OPERATIONS / 4);

    const isPrivate = (marker: string) => !visible.has(marker);

    let left: string[] = [];
    const isClean = async () => {
      // Others use the buffers of earlier requests and of the connections to the CMS again.
      for (let n = 0; n < 50; n += 1) {
        await gateway.request(`/events?per_page=${1 + (n % 50)}`, { headers: { 'cache-control': 'no-cache' } });
        await gateway.request('/venues', { headers: { authorization: authorization('subscriber') } });
      }
      left = (await markersInFile(await snapshot())).filter(isPrivate);
      return left.length === 0;
    };
    await until(isClean, () => `in memory: ${left.join(', ')}`, GONE_WITHIN_MS);

    const files = readdirSync(join(folder, 'data'), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const stored: string[] = [];
    for (const { parentPath, name } of files) stored.push(...(await markersInFile(join(parentPath, name))));
    expect(stored.filter(isPrivate)).to.deep.equal([]);
    expect(stored, 'public words, so that private ones would be found').not.to.deep.equal([]);
    const content = await redisContent();
    expect(content).to.include(':changes');
    expect(markersIn(content).filter(isPrivate)).to.deep.equal([]);
  });
});
