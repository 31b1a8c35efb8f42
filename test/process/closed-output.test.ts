// Commands whose output nobody reads any more, as with `| head`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type FakeSite, fakePost, startFakeSite } from '../cli/fake-site.ts';

const FIELDS = { start_date: 'meta.start_date', end_date: 'meta.end_date' };
const MAPPING = { name: 'gigs', upstream: 'wordpress', event: { posts: 'events', fields: FIELDS } };
const ACCOUNT = { CALENDAR_UPSTREAM_USER: 'ada', CALENDAR_UPSTREAM_PASSWORD: 'abcd efgh' };

describe('a command without a reader of its output', function () {
  this.timeout(60_000);
  let site: FakeSite;
  let folder: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-output-'));
    writeFileSync(join(folder, 'mapping.json'), JSON.stringify(MAPPING));
    const meta = { start_date: '2031-05-01 19:30:00', end_date: '2031-05-01 21:00:00' };
    const type = { type: 'event', base: 'events', label: 'Events', meta: { start_date: 'string', end_date: 'string' } };
    const records = [fakePost(1, { title: 'Gig', meta })];
    site = await startFakeSite({ types: [{ ...type, records }], logins: ['ada:abcd efgh'] });
  });
  afterEach(async () => {
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function run(args: readonly string[], account: Record<string, string>) {
    const configuration = { CALENDAR_UPSTREAM_URL: site.url, CALENDAR_MAPPING: join(folder, 'mapping.json') };
    const env = { PATH: process.env.PATH, ...configuration, ...account };
    const child = spawn(process.execPath, ['src/main.ts', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const errors: string[] = [];
    child.stderr.on('data', (chunk) => errors.push(String(chunk)));
    const [code] = await once(child, 'close');
    return { code, errors: errors.join('') };
  }

  for (const [command, account, code] of [
    ['check --write', ACCOUNT, 0],
    ['check --write', {}, 1],
    ['check --json', ACCOUNT, 0],
    ['plugin', {}, 0],
    ['init --help', {}, 0],
    ['help', {}, 0],
  ] as const)
    it(`${command} ends quietly with ${code}${account === ACCOUNT ? ', with a service account' : ''}`, async () => {
      expect(await run(command.split(' '), account)).to.deep.equal({ code, errors: '' });
      expect(site.types[0]?.records.map(({ id }) => id)).to.deep.equal([1]);
    });

  it('init ends quietly, and writes its files', async () => {
    const out = join(folder, 'out');
    expect(await run(['init', site.url, '--yes', '--out', out], ACCOUNT)).to.deep.equal({ code: 0, errors: '' });
    expect(existsSync(join(out, 'config.json'))).to.equal(true);
  });
});
