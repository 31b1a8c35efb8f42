// A gateway that cannot start: a real process says in one message what is wrong and what to do, releases everything, and ends.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startWordPress, type WordPressStandIn } from '../faults/wordpress.ts';
import { until } from '../until.ts';
import { type ServeOptions, type Serving, serve, untilReady } from './serving.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

describe('a gateway that cannot start', function () {
  this.timeout(60_000);
  let wordpress: WordPressStandIn;
  let folder: string;
  let serving: Serving | undefined;
  const servers: Server[] = [];
  before(async () => {
    wordpress = await startWordPress();
  });
  after(() => wordpress.close());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-start-'));
    chmodSync(folder, 0o755);
  });
  afterEach(async () => {
    serving?.child.kill('SIGKILL');
    await serving?.ended;
    for (const server of servers.splice(0)) server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function takenPort(): Promise<string> {
    const server = createServer().listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return String((server.address() as AddressInfo).port);
  }

  /** Starts it, and expects that it ends with code 2 and one message: what is wrong, and what to do. */
  async function refuses(options: ServeOptions, what: RegExp, remedy: RegExp): Promise<void> {
    serving = await serve(wordpress.url.href, options);
    const code = await serving.ended;
    const said = serving.said();
    expect(said).to.match(what);
    expect(said).to.match(remedy);
    expect(said).to.not.match(/^\s+at /m);
    expect(said.split('calendar-gateway: ')).to.have.length(2);
    expect(code, said).to.equal(2);
  }

  it('names the port that another process has, the main one and the admin port', async () => {
    const port = await takenPort();
    for (const name of ['CALENDAR_PORT', 'CALENDAR_ADMIN_PORT'])
      await refuses(
        { env: { [name]: port } },
        new RegExp(`port ${port} on 127.0.0.1: another process listens there`),
        new RegExp(`choose another port \\(${name}\\)`),
      );
  });

  (isRoot ? it : it.skip)('names a port that this user may not open', async () => {
    await refuses(
      { uid: NOBODY, env: { CALENDAR_PORT: '80' } },
      /port 80 on 127.0.0.1: this user may not open/,
      /proxy/,
    );
  });

  it('names a host that is not of this machine, with the setting that changes it', async () => {
    for (const name of ['CALENDAR_HOST', 'CALENDAR_ADMIN_HOST'])
      await refuses(
        { env: { [name]: '192.0.2.1' } },
        /192\.0\.2\.1 is not an address of this machine/,
        new RegExp(name),
      );
    await refuses({ env: { CALENDAR_HOST: 'no-such-host.invalid' } }, /no-such-host\.invalid/, /CALENDAR_HOST/);
  });

  it('asks nothing of the CMS for itself when a port is taken', async () => {
    const dataDir = join(folder, 'data');
    serving = await serve(wordpress.url.href, { env: { CALENDAR_DATA_DIR: dataDir } });
    await untilReady(serving);
    serving.child.kill('SIGTERM');
    expect(await serving.ended).to.equal(0);
    let asked = 0;
    wordpress.before = () => {
      asked += 1;
      return false;
    };
    await refuses({ env: { CALENDAR_DATA_DIR: dataDir, CALENDAR_PORT: await takenPort() } }, /another process/, /Stop/);
    wordpress.before = undefined;
    expect(asked).to.equal(0);
  });

  it('names a data directory that is a file, or lies below one', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    for (const dataDir of [file, join(file, 'below')])
      await refuses({ env: { CALENDAR_DATA_DIR: dataDir } }, /CALENDAR_DATA_DIR\): .*is a file/, /Name a directory/);
  });

  it('names a replica file that is a directory', async () => {
    mkdirSync(join(folder, 'calendar.sqlite'));
    await refuses({ env: { CALENDAR_DATA_DIR: folder } }, /CALENDAR_DATA_DIR\): .*calendar\.sqlite/, /directory/);
  });

  it('names a data directory that no user may write', async () => {
    await refuses(
      { env: { CALENDAR_DATA_DIR: '/proc/calendar' } },
      /CALENDAR_DATA_DIR\): .*\/proc\/calendar/,
      /directory/,
    );
  });

  (isRoot ? it : it.skip)('names a data directory that this user may not write', async () => {
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir, { mode: 0o755 });
    const user = { uid: NOBODY, env: { CALENDAR_DATA_DIR: dataDir } };
    await refuses(user, /the user with id 65534 may not write .*calendar\.sqlite/, /Give .*data to that user/);
    // Nor a file of another user, in a folder of its own.
    writeFileSync(join(dataDir, 'calendar.sqlite'), '');
    chmodSync(dataDir, 0o777);
    await refuses(user, /the user with id 65534 may not write .*calendar\.sqlite/, /Give .*data to that user/);
  });

  it('names a data directory that another gateway uses, and leaves that one alone', async () => {
    const first = await serve(wordpress.url.href, { env: { CALENDAR_DATA_DIR: folder } });
    try {
      await untilReady(first);
      await refuses({ env: { CALENDAR_DATA_DIR: folder } }, /in use by another process/, /a data directory of its own/);
      await untilReady(first);
    } finally {
      first.child.kill('SIGTERM');
      expect(await first.ended).to.equal(0);
    }
  });

  it('names a mapping that is no JSON, no file, or unreadable', async () => {
    const mapping = join(folder, 'mapping.json');
    writeFileSync(mapping, '{\n  "name": oh\n}');
    await refuses({ env: { CALENDAR_MAPPING: mapping } }, /mapping .*mapping\.json: is not JSON/, /JSON object/);
    await refuses({ env: { CALENDAR_MAPPING: `${folder}/` } }, /cannot be read \(EISDIR\)/, /Check the path/);
    await refuses({ env: { CALENDAR_MAPPING: join(folder, 'none.json') } }, /there is no such file/, /The names are/);
  });

  it('names a configuration file that is a directory', async () => {
    const { stderr, status } = spawnSync(process.execPath, ['src/main.ts', 'serve', '--config', folder], {
      encoding: 'utf8',
    });
    expect(stderr).to.match(/cannot be read \(EISDIR\)\n {2}Check the path/);
    expect(status).to.equal(2);
  });

  it('names an address of Redis that cannot be one', async () => {
    for (const url of ['redis://', 'redis://:secret@', 'redis://h:99999', 'http://localhost'])
      await refuses({ env: { CALENDAR_REDIS_URL: url } }, /CALENDAR_REDIS_URL/, /redis:\/\//);
  });

  it('keeps its files from other users of the machine', async () => {
    const dataDir = join(folder, 'data');
    serving = await serve(wordpress.url.href, { env: { CALENDAR_DATA_DIR: dataDir } });
    await untilReady(serving);
    const modes = () =>
      ['', '/calendar.sqlite', '/calendar.sqlite-wal'].map((name) =>
        (statSync(dataDir + name).mode & 0o777).toString(8),
      );
    expect(modes()).to.deep.equal(['700', '600', '600']);
    serving.child.kill('SIGTERM');
    await serving.ended;
    for (const name of ['', '/calendar.sqlite']) chmodSync(dataDir + name, 0o755);
    serving = await serve(wordpress.url.href, { env: { CALENDAR_DATA_DIR: dataDir } });
    await untilReady(serving);
    expect(modes()).to.deep.equal(['700', '600', '600']);
    expect(serving.said()).to.include('users could read');
  });

  it('ends on SIGTERM while it waits for the site', async () => {
    let isAsked = false;
    wordpress.before = () => {
      isAsked = true;
      return new Promise(() => undefined);
    };
    serving = await serve(wordpress.url.href);
    await until(() => isAsked, 'the gateway asks the site');
    serving.child.kill('SIGTERM');
    expect(await serving.ended).to.equal(0);
    wordpress.before = undefined;
  });
});
