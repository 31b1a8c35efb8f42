// Shows `init` from end to end: what it asks, what it says, and which files it writes or leaves alone.

import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { init } from '../../src/cli/init.ts';
import { INIT_HELP, INIT_OPTIONS, initOptions } from '../../src/cli/init-options.ts';
import { ownName } from '../../src/cli/own-name.ts';
import { questions } from '../../src/cli/questions.ts';
import { loadConfig } from '../../src/config.ts';
import { ConfigError } from '../../src/errors.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { type FakeSite, type FakeType, fakePost, fakeSite } from './fake-site.ts';

type Asked = Parameters<typeof init>[1];
type Questions = NonNullable<NonNullable<Asked>['ask']>;

const LOGIN = { user: 'service', password: 'aaaa bbbb cccc' };

/** Gigs whose dates read either way round unless `day` is beyond the twelfth. */
function gigs(day = '03'): FakeType {
  const meta = { gig_start: 'string', gig_end: 'string', price: 'string' };
  const records = [1, 2, 3, 4].map((id) =>
    fakePost(id, {
      title: `Gig ${id}`,
      meta: { gig_start: `${day}/0${id}/2031 7:30 pm`, gig_end: `${day}/0${id}/2031 9:00 pm`, price: '12' },
    }),
  );
  return { type: 'gig', base: 'gigs', label: 'Gigs', meta, records };
}

describe('init', () => {
  let site: FakeSite;
  let folder: string;
  let printed: string[];
  const out = (name = '') => join(folder, 'made', name);
  const options = (args: Record<string, string | boolean | string[]> = {}, env = {}) =>
    initOptions({ out: out(), ...args }, [site.url], env);
  const terminal = (ask?: Partial<Questions>) => ({
    print: (line: string) => void printed.push(line),
    ask: ask as Questions | undefined,
  });
  const said = () => printed.join('\n');
  const open = async (type: FakeType, more = {}) => {
    site = await fakeSite({ types: [type], logins: [`${LOGIN.user}:${LOGIN.password}`], ...more });
  };
  const refused = async (run: Promise<number>): Promise<string> => {
    try {
      await run;
    } catch (error) {
      expect(error).to.be.instanceOf(ConfigError);
      return (error as ConfigError).message;
    }
    throw new Error('it went through');
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-init-'));
    printed = [];
  });
  afterEach(async () => {
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('writes a configuration and a mapping that are accepted, and shows three records', async () => {
    await open(gigs('25'));
    expect(await init(options({ yes: true, 'public-url': 'https://calendar.example.org' }), terminal())).to.equal(0);
    const config = loadConfig({ file: out('config.json'), env: {} });
    expect(config.upstream.url).to.equal(site.url);
    expect(config.publicUrl).to.equal('https://calendar.example.org');
    expect(loadMapping(config.mapping).kinds.event.base).to.equal('gigs');
    expect(said()).to.match(/event\.start_date +meta\.gig_start.*\n/);
    expect(printed.filter((line) => line.startsWith('  title ')).length).to.equal(3);
    expect(said()).to.include('start_date  2031-01-25 19:30:00');
  });

  it('says without credentials what they would add', async () => {
    await open(gigs('25'));
    expect(await init(options({ yes: true, anonymous: true }), terminal())).to.equal(0);
    expect(said()).to.match(/only public records[\s\S]*application password[\s\S]*drafts/);
    expect(existsSync(out('secrets.env'))).to.equal(false);
  });

  it('says of a site that shows nothing that a plugin may hide it, unless the plugins are known', async () => {
    await open({ ...gigs(), type: 'page', base: 'pages', label: 'Pages', meta: {}, records: [] });
    expect(await init(options({ yes: true, anonymous: true }), terminal())).to.equal(0);
    expect(said().replace(/\s+/g, ' ')).to.match(/note: Some event plugins.* --mapping/);
    expect(said()).to.include('--force shows three events');
  });

  it('keeps a password that it was told in a file for its owner alone, and one of the environment nowhere', async () => {
    await open(gigs('25'));
    const told = { account: async () => LOGIN, write: async () => true };
    expect(await init(options(), terminal(told))).to.equal(0);
    expect(readFileSync(out('secrets.env'), 'utf8')).to.include(LOGIN.password);
    expect(statSync(out('secrets.env')).mode & 0o777).to.equal(0o600);
    expect(readFileSync(out('config.json'), 'utf8')).not.to.include(LOGIN.password);
    const env = { CALENDAR_UPSTREAM_USER: LOGIN.user, CALENDAR_UPSTREAM_PASSWORD: LOGIN.password };
    const before = process.env.CALENDAR_UPSTREAM_PASSWORD;
    process.env.CALENDAR_UPSTREAM_PASSWORD = LOGIN.password;
    try {
      const other = { ...options({ yes: true }, env), out: out('again') };
      expect(await init(other, terminal())).to.equal(0);
    } finally {
      if (before === undefined) delete process.env.CALENDAR_UPSTREAM_PASSWORD;
      else process.env.CALENDAR_UPSTREAM_PASSWORD = before;
    }
    expect(existsSync(out('again/secrets.env'))).to.equal(false);
    expect(loadConfig({ file: out('again/config.json'), env }).upstream).to.include({ user: LOGIN.user });
  });

  it('asks what it cannot find out, and nothing that it was told', async () => {
    await open(gigs());
    const asked: string[] = [];
    const ask: Partial<Questions> = {
      account: async () => void asked.push('account') as undefined,
      dateOrder: async (example) => {
        asked.push(`dateOrder ${example}`);
        return 'mdy';
      },
      write: async () => {
        asked.push('write');
        return true;
      },
    };
    expect(await init(options(), terminal(ask))).to.equal(0);
    expect(asked.map((each) => each.split(' ')[0])).to.deep.equal(['account', 'dateOrder', 'write']);
    expect(said()).to.include('start_date  2031-03-01 19:30:00');
    asked.length = 0;
    const told = { ...options({ anonymous: true, 'date-order': 'dmy' }), out: out('told') };
    expect(await init(told, terminal(ask))).to.equal(0);
    expect(asked).to.deep.equal(['write']);
    expect(said()).to.include('start_date  2031-01-03 19:30:00');
  });

  it('says with --yes what it took for granted, and how to say otherwise', async () => {
    await open(gigs());
    expect(await init(options({ yes: true }), terminal())).to.equal(0);
    expect(said()).to.match(/Assumed.*--date-order mdy/);
  });

  it('writes nothing where nobody can be asked, or when the answer is no', async () => {
    await open(gigs('25'));
    expect(await init(options(), terminal())).to.equal(1);
    expect(said()).to.include('--yes');
    expect(await init(options({ anonymous: true }), terminal({ write: async () => false }))).to.equal(1);
    expect(existsSync(out())).to.equal(false);
  });

  it('overwrites nothing unless it is told to', async () => {
    await open(gigs('25'));
    await init(options({ yes: true }), terminal());
    expect(await refused(init(options({ yes: true }), terminal()))).to.match(/config\.json.*--force/s);
    expect(await init(options({ yes: true, force: true }), terminal())).to.equal(0);
  });

  it('puts address and secret of change notices into the PHP file, and the secret for the gateway beside it', async () => {
    await open(gigs('25'));
    await init(options({ yes: true, 'notice-url': 'http://10.0.0.5:3001/-/changes' }), terminal());
    const [, secret = ''] = /CALENDAR_NOTICE_SECRET="(.+)"/.exec(readFileSync(out('secrets.env'), 'utf8')) ?? [];
    expect(secret.length).to.be.greaterThan(20);
    const php = readFileSync(out('calendar-gateway.php'), 'utf8');
    expect(php).to.include('http://10.0.0.5:3001/-/changes').and.to.include(secret);
    expect(statSync(out('calendar-gateway.php')).mode & 0o777).to.equal(0o600);
    // With --force a secret file that others could read becomes one that they cannot.
    for (const name of ['secrets.env', 'calendar-gateway.php']) chmodSync(out(name), 0o644);
    const again = options({ yes: true, force: true, 'notice-url': 'http://10.0.0.5:3001/-/changes' });
    expect(await init(again, terminal())).to.equal(0);
    const modes = ['secrets.env', 'calendar-gateway.php'].map((name) => statSync(out(name)).mode & 0o777);
    expect(modes).to.deep.equal([0o600, 0o600]);
  });

  it('says of events without dates what it sees, and how to name the key', async () => {
    await open({
      ...gigs(),
      base: 'events',
      type: 'event',
      meta: {},
      records: [fakePost(1, { title: 'A', meta: {} })],
    });
    expect(await init(options({ yes: true }), terminal())).to.equal(1);
    expect(said()).to.match(/--field event\.start_date=meta\.KEY/);
    expect(said()).to.include('Show in REST API');
  });

  it('names its commands as they are typed from here', async () => {
    expect(ownName({})).to.equal('calendar-gateway');
    expect(ownName({ npm_lifecycle_event: 'cli' })).to.equal('npm run --silent cli --');
    expect(ownName({ npm_lifecycle_event: 'npx' })).to.equal('npx calendar-gateway');
    expect(ownName({ npm_lifecycle_event: 'test' })).to.equal('calendar-gateway');
    await open(gigs('25'));
    await init(options({ yes: true }), terminal());
    expect(said()).to.include(`${ownName()} check --config`);
  });

  it('says what is wrong with a password, an address, a collection and a field', async () => {
    await open(gigs('25'));
    const wrong = { ...options({ yes: true, user: 'service' }), password: 'of the login form' };
    expect(await refused(init(wrong, terminal()))).to.match(/application password/);
    const { url: _, ...nowhere } = options({ yes: true });
    expect(await refused(init(nowhere, terminal()))).to.match(/needs the address/);
    expect(await refused(init({ ...options({ yes: true }), url: 'http://127.0.0.1:9' }, terminal()))).to.match(
      /does not answer as a WordPress site/,
    );
    expect(await refused(init(options({ yes: true, 'event-type': 'shows' }), terminal()))).to.match(/It shows .*gigs/);
    expect(() => options({ field: ['event.begin=meta.x'] })).to.throw(ConfigError, /start_date/);
    expect(() => options({ mapping: 'joomla' })).to.throw(ConfigError, /gatherpress/);
    expect(() => options({ 'date-order': 'ymd' })).to.throw(ConfigError, /dmy, mdy/);
  });

  it('has an option for each question, and names each option in its help', async () => {
    await open(gigs());
    const optionOf: Record<keyof Questions, readonly string[]> = {
      url: ['URL'],
      account: ['user', 'anonymous'],
      password: ['password-file'],
      eventType: ['event-type'],
      place: ['field'],
      dateOrder: ['date-order'],
      seconds: ['seconds'],
      write: ['yes', 'out'],
    };
    expect(Object.keys(optionOf).sort()).to.deep.equal(Object.keys(questions).sort());
    const known = ['URL', ...Object.keys(INIT_OPTIONS)];
    for (const each of Object.values(optionOf).flat()) expect(known).to.include(each);
    for (const each of Object.keys(INIT_OPTIONS)) expect(INIT_HELP).to.include(`--${each}`);
  });
});
