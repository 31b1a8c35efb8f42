// A process that cannot start prints one message with reason and remedy, releases everything, and exits.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type FakeWordPress, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { type GatewayProcess, type ProcessOptions, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

describe('a gateway that cannot start', function () {
  this.timeout(60_000);
  let wordpress: FakeWordPress;
  let folder: string;
  let serving: GatewayProcess | undefined;
  const servers: Server[] = [];
  before(async () => {
    wordpress = await startFakeWordPress();
  });
  after(() => wordpress.close());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-start-'));
    chmodSync(folder, 0o755);
  });
  afterEach(async () => {
    serving?.child.kill('SIGKILL');
    await serving?.exited;
    for (const server of servers.splice(0)) server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function takenPort(): Promise<string> {
    const server = createServer().listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return String((server.address() as AddressInfo).port);
  }

  /** Expects exit code 2 and one message with this reason and remedy. */
  async function refuses(options: Partial<ProcessOptions>, what: RegExp, remedy: RegExp): Promise<void> {
    serving = await startGateway({ ...options, transport: 'process', cmsUrl: wordpress.url.href });
    const code = await serving.exited;
    const said = serving.output();
    expect(said).to.match(what);
    expect(said).to.match(remedy);
    expect(said).to.not.match(/^\s+at /m);
    expect(said.split('calendar-gateway: ')).to.have.length(2);
    expect(code, said).to.equal(2);
  }

  it('names an occupied port, of the API and of the admin server', async () => {
    const port = await takenPort();
    for (const name of ['CALENDAR_PORT', 'CALENDAR_ADMIN_PORT'])
      await refuses(
        { env: { [name]: port } },
        new RegExp(`port ${port} on 127.0.0.1: listen EADDRINUSE: address already in use`),
        new RegExp(`Choose another port \\(${name}\\)`),
      );
  });

  (isRoot ? it : it.skip)('names a port that this user may not open', async () => {
    await refuses(
      { uid: NOBODY, env: { CALENDAR_PORT: '80' } },
      /port 80 on 127.0.0.1: listen EACCES: permission denied/,
      /CALENDAR_PORT/,
    );
  });

  it('names a host that is not an address of this machine, and its setting', async () => {
    for (const name of ['CALENDAR_HOST', 'CALENDAR_ADMIN_HOST'])
      await refuses(
        { env: { [name]: '192.0.2.1' } },
        /listen EADDRNOTAVAIL: address not available 192\.0\.2\.1/,
        new RegExp(name),
      );
    await refuses({ env: { CALENDAR_HOST: 'no-such-host.invalid' } }, /no-such-host\.invalid/, /CALENDAR_HOST/);
  });

  it('does not call the CMS if a port is occupied', async () => {
    const dataDir = join(folder, 'data');
    serving = await startGateway({
      transport: 'process',
      cmsUrl: wordpress.url.href,
      env: { CALENDAR_DATA_DIR: dataDir },
    });
    await serving.untilReady();
    serving.child.kill('SIGTERM');
    expect(await serving.exited).to.equal(0);
    let cmsRequests = 0;
    wordpress.before = () => {
      cmsRequests += 1;
      return false;
    };
    await refuses(
      { env: { CALENDAR_DATA_DIR: dataDir, CALENDAR_PORT: await takenPort() } },
      /address already in use/,
      /port/,
    );
    wordpress.before = undefined;
    expect(cmsRequests).to.equal(0);
  });

  it('names a data directory that is a file, or below one', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    for (const dataDir of [file, join(file, 'below')])
      await refuses(
        { env: { CALENDAR_DATA_DIR: dataDir } },
        /CALENDAR_DATA_DIR\): .*not a directory/,
        /Name a directory/,
      );
  });

  it('names a replica file that is a directory', async () => {
    mkdirSync(join(folder, 'calendar.sqlite'));
    await refuses(
      { env: { CALENDAR_DATA_DIR: folder } },
      /calendar\.sqlite cannot be used: unable to open database file/,
      /calendar\.sqlite in it must be a file/,
    );
  });

  it('names a data directory without write permission', async () => {
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
    await refuses(user, /calendar\.sqlite cannot be used/, /a directory that the user with id 65534 may write/);
    // A replica file of another user in an own directory.
    writeFileSync(join(dataDir, 'calendar.sqlite'), '');
    chmodSync(dataDir, 0o777);
    await refuses(user, /calendar\.sqlite cannot be used/, /a directory that the user with id 65534 may write/);
  });

  it('names a data directory in use by another gateway, which keeps running', async () => {
    const first = await startGateway({
      transport: 'process',
      cmsUrl: wordpress.url.href,
      env: { CALENDAR_DATA_DIR: folder },
    });
    try {
      await first.untilReady();
      await refuses({ env: { CALENDAR_DATA_DIR: folder } }, /in use by another process/, /a data directory of its own/);
      await first.untilReady();
    } finally {
      first.child.kill('SIGTERM');
      expect(await first.exited).to.equal(0);
    }
  });

  it('names a mapping that is malformed, missing or unreadable', async () => {
    const mapping = join(folder, 'mapping.json');
    writeFileSync(mapping, '{\n  "name": oh\n}');
    await refuses({ env: { CALENDAR_MAPPING: mapping } }, /mapping .*mapping\.json: is not JSON/, /JSON object/);
    await refuses({ env: { CALENDAR_MAPPING: `${folder}/` } }, /cannot be read \(EISDIR\)/, /Check the path/);
    await refuses({ env: { CALENDAR_MAPPING: join(folder, 'none.json') } }, /there is no such file/, /The names are/);
  });

  (isRoot ? it : it.skip)('names a secret file that this user may not read', async () => {
    const secret = join(folder, 'secret');
    writeFileSync(secret, 'abcd efgh', { mode: 0o600 });
    chmodSync(folder, 0o755);
    await refuses(
      { uid: NOBODY, env: { CALENDAR_WEBHOOK_SECRET_FILE: secret } },
      /CALENDAR_WEBHOOK_SECRET_FILE: cannot be read \(EACCES\)/,
      /who may read it/,
    );
  });

  it('names a configuration file that is a directory', async () => {
    const { stderr, status } = spawnSync(process.execPath, ['src/main.ts', 'serve', '--config', folder], {
      encoding: 'utf8',
    });
    expect(stderr).to.match(/cannot be read \(EISDIR\)\n {2}Check the path/);
    expect(status).to.equal(2);
  });

  it('names an invalid Redis URL', async () => {
    for (const url of ['redis://', 'redis://:secret@', 'redis://h:99999', 'http://localhost'])
      await refuses({ env: { CALENDAR_REDIS_URL: url } }, /CALENDAR_REDIS_URL/, /redis:\/\//);
  });

  it('creates files that other users cannot read', async () => {
    const dataDir = join(folder, 'data');
    serving = await startGateway({
      transport: 'process',
      cmsUrl: wordpress.url.href,
      env: { CALENDAR_DATA_DIR: dataDir },
    });
    await serving.untilReady();
    const modes = ['', '/calendar.sqlite', '/calendar.sqlite-wal'].map((name) =>
      (statSync(dataDir + name).mode & 0o777).toString(8),
    );
    expect(modes).to.deep.equal(['700', '600', '600']);
  });

  it('exits on SIGTERM while it waits for the CMS', async () => {
    let isAsked = false;
    wordpress.before = () => {
      isAsked = true;
      return new Promise(() => undefined);
    };
    serving = await startGateway({ transport: 'process', cmsUrl: wordpress.url.href });
    await until(() => isAsked, 'the gateway calls the CMS');
    serving.child.kill('SIGTERM');
    expect(await serving.exited).to.equal(0);
    wordpress.before = undefined;
  });
});
