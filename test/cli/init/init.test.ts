// `init` from end to end: its output, and the files that it writes or leaves alone.

import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { programName } from '../../../src/cli/advice.ts';
import { init } from '../../../src/cli/init/init.ts';
import { parseInitOptions, parseSiteUrl } from '../../../src/cli/init/options.ts';
import { loadConfig } from '../../../src/config.ts';
import { ConfigError } from '../../../src/errors.ts';
import { loadMapping } from '../../../src/mapping/load.ts';
import type { Site } from '../../../src/model/records.ts';
import { type FakeOptions, type FakeSite, type FakeType, fakePost, startFakeSite } from '../fake-site.ts';

const LOGIN = { user: 'service', password: 'aaaa bbbb cccc' };

/** Gigs whose dates can be read in two ways unless `day` is beyond the twelfth. */
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
    parseInitOptions({ out: out(), ...args }, [site.url], env);
  const print = (line: string) => void printed.push(line);
  /** An account whose password is in a file. */
  const withPassword = (): Record<string, string> => {
    const file = join(folder, 'password');
    writeFileSync(file, `${LOGIN.password}\n`);
    return { user: LOGIN.user, 'password-file': file };
  };
  const output = () => printed.join('\n');
  /** How the mapping that was written reads the start of an event. */
  const startOf = (meta: Record<string, string>, name = ''): string => {
    const { kinds } = loadMapping(loadConfig({ file: join(out(name), 'config.json'), env: {} }).mapping);
    return kinds.event.read(fakePost(1, { meta }), { timezone: 'UTC' } as Site).start;
  };
  const openSite = async (type: FakeType, more = {}) => {
    site = await startFakeSite({ types: [type], logins: [`${LOGIN.user}:${LOGIN.password}`], ...more });
  };
  const errorOf = async (run: Promise<number>): Promise<string> => {
    try {
      await run;
    } catch (error) {
      expect(error).to.be.instanceOf(ConfigError);
      return (error as ConfigError).message;
    }
    throw new Error('init did not fail');
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-init-'));
    printed = [];
  });
  afterEach(async () => {
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('reads a site that fails on large pages, redirects to slashes, and prints a comment after its JSON', async () => {
    const dates = { start_date: '2031-01-25 19:30:00', end_date: '2031-01-25 21:00:00' };
    const type: FakeType = {
      ...{ type: 'event', base: 'events', label: 'Events' },
      acf: { start_date: 'string', end_date: 'string' },
      records: Array.from({ length: 25 }, (_, n) => fakePost(n + 1, { title: `Gig ${n}`, acf: dates })),
    };
    await openSite(type);
    const redirected = new Set<string>();
    site.before = (request, response) => {
      const { method = '', url = '' } = request;
      const { pathname, search, searchParams } = new URL(url, site.url);
      if (!pathname.endsWith('/')) {
        redirected.add(method);
        response.writeHead(301, { location: `${pathname}/${search}` }).end();
        return true;
      }
      if (Number(searchParams.get('per_page')) > 10) {
        response.writeHead(500, { 'content-type': 'text/html' }).end('<p>There has been a critical error.</p>');
        return true;
      }
      if (pathname !== '/wp-json/') request.url = pathname.slice(0, -1) + search;
      const { end } = response;
      response.end = ((text = '') =>
        end.call(response, `${text}\n<!-- Cached page {"hits":1} -->`, 'utf8')) as typeof end;
      return false;
    };
    expect(await init(options({ yes: true }), print)).to.equal(0);
    expect(output()).to.match(/event\.start_date +acf\.start_date.* 20 of the 20 newest records have it/);
    expect([...redirected]).to.include.members(['GET', 'OPTIONS']);
  });

  it('names the address to which a site redirects OPTIONS alone, if it is another', async () => {
    await openSite(gigs('25'));
    site.before = ({ method, url }, response) => {
      if (method !== 'OPTIONS') return false;
      response.writeHead(301, { location: `https://www.gigs.example${url}` }).end();
      return true;
    };
    const message = await errorOf(init(options({ yes: true }), print));
    expect(message).to.include('The CMS redirects to https://www.gigs.example/wp-json/wp/v2/gigs');
    expect(message).to.match(/init https:\/\/www\.gigs\.example$/m);
  });

  it('says of how many records the counts are, and that these are not all', async () => {
    const dates = { start_date: '2031-01-25 19:30:00', end_date: '2031-01-25 21:00:00' };
    await openSite({
      ...{ type: 'event', base: 'events', label: 'Events' },
      acf: { start_date: 'string', end_date: 'string' },
      records: Array.from({ length: 25 }, (_, n) => fakePost(n + 1, { title: `Gig ${n}`, acf: dates })),
    });
    expect(await init(options({ yes: true }), print)).to.equal(0);
    expect(output()).to.include('Events, 25 records');
    expect(output()).to.match(/event\.start_date +acf\.start_date.* 20 of the 20 newest records have it/);
  });

  it('writes a valid configuration and mapping', async () => {
    await openSite(gigs('25'));
    expect(await init(options({ yes: true, 'public-url': 'https://calendar.example.org' }), print)).to.equal(0);
    const config = loadConfig({ file: out('config.json'), env: {} });
    expect(config.upstream.url).to.equal(site.url);
    expect(config.publicUrl).to.equal('https://calendar.example.org');
    expect(loadMapping(config.mapping).kinds.event.collection).to.equal('gigs');
    expect(output()).to.match(/event\.start_date +meta\.gig_start.*\n/);
    expect(startOf({ gig_start: '25/01/2031 7:30 pm' })).to.equal('2031-01-25 19:30:00');
    for (const name of ['config.json', 'mapping.json']) {
      const { $schema } = JSON.parse(readFileSync(out(name), 'utf8'));
      expect(JSON.parse(readFileSync(join(out(), $schema), 'utf8')), name).to.have.property('properties');
    }
  });

  it('notes for a site without events that a plugin may hide them, unless the plugins are known', async () => {
    await openSite({ ...gigs(), type: 'page', base: 'pages', label: 'Pages', meta: {}, records: [] });
    expect(await init(options({ yes: true }), print)).to.equal(0);
    expect(output().replace(/\s+/g, ' ')).to.match(/note: Some event plugins.* --mapping/);
    expect(output()).to.include('run the same init with --force');
  });

  it('writes a password of a file into one for its owner only, and one from the environment to no file', async () => {
    await openSite(gigs('25'));
    expect(await init(options({ yes: true, ...withPassword() }), print)).to.equal(0);
    expect(readFileSync(out('secrets.env'), 'utf8')).to.include(LOGIN.password);
    expect(statSync(out('secrets.env')).mode & 0o777).to.equal(0o600);
    expect(readFileSync(out('config.json'), 'utf8')).not.to.include(LOGIN.password);
    const passwordFile = join(folder, 'password');
    for (const env of [
      { CALENDAR_UPSTREAM_USER: LOGIN.user, CALENDAR_UPSTREAM_PASSWORD: LOGIN.password },
      { CALENDAR_UPSTREAM_USER: LOGIN.user, CALENDAR_UPSTREAM_PASSWORD_FILE: passwordFile },
    ]) {
      const again = { ...options({ yes: true, force: true }, env), out: out('again') };
      expect(await init(again, print)).to.equal(0);
      expect(existsSync(out('again/secrets.env'))).to.equal(false);
      expect(loadConfig({ file: out('again/config.json'), env }).upstream).to.include(LOGIN);
    }
  });

  it('takes the address from the environment, also from a file with line ends of Windows', async () => {
    await openSite(gigs('25'));
    const env = { CALENDAR_UPSTREAM_URL: `${site.url}\r` };
    expect(parseInitOptions({}, [], env).url).to.equal(site.url);
  });

  it('writes nothing without --yes', async () => {
    await openSite(gigs('25'));
    expect(await init(options(), print)).to.equal(1);
    expect(output()).to.include('event.start_date').and.to.include('--yes');
    expect(existsSync(out())).to.equal(false);
  });

  it('writes URL and secret of webhooks into the companion plugin, and the secret for the gateway into secrets.env', async () => {
    await openSite(gigs('25'));
    await init(options({ yes: true, 'webhook-url': 'http://10.0.0.5:26101/-/changes' }), print);
    expect(JSON.parse(readFileSync(out('config.json'), 'utf8')).listen).to.deep.equal({ adminPort: 26101 });
    const [, secret = ''] = /CALENDAR_WEBHOOK_SECRET="(.+)"/.exec(readFileSync(out('secrets.env'), 'utf8')) ?? [];
    expect(secret.length).to.be.greaterThan(20);
    const php = readFileSync(out('calendar-gateway-companion.php'), 'utf8');
    expect(php).to.include('http://10.0.0.5:26101/-/changes').and.to.include(secret);
    expect(statSync(out('calendar-gateway-companion.php')).mode & 0o777).to.equal(0o600);
    // With --force, a secret file that others could read becomes unreadable to them.
    for (const name of ['secrets.env', 'calendar-gateway-companion.php']) chmodSync(out(name), 0o644);
    const again = options({ yes: true, force: true, 'webhook-url': 'https://proxy.example/-/changes' });
    expect(await init(again, print)).to.equal(0);
    expect(JSON.parse(readFileSync(out('config.json'), 'utf8'))).not.to.have.property('listen');
    const modes = ['secrets.env', 'calendar-gateway-companion.php'].map((name) => statSync(out(name)).mode & 0o777);
    expect(modes).to.deep.equal([0o600, 0o600]);
    // The site may still have the companion plugin of the first run.
    expect(readFileSync(out('secrets.env'), 'utf8')).to.include(`CALENDAR_WEBHOOK_SECRET="${secret}"`);
    expect(readFileSync(out('calendar-gateway-companion.php'), 'utf8')).to.include(secret);
  });

  it('keeps a password in secrets.env if a later run has it from there, or has no account', async () => {
    await openSite(gigs('25'));
    expect(await init(options({ yes: true, ...withPassword() }), print)).to.equal(0);
    const [config, secrets] = ['config.json', 'secrets.env'].map((name) => readFileSync(out(name), 'utf8'));
    const more = { yes: true, force: true, 'webhook-url': 'https://proxy.example/-/changes' };
    const { user, password } = LOGIN;
    for (const env of [{ CALENDAR_UPSTREAM_USER: user, CALENDAR_UPSTREAM_PASSWORD: password }, {}]) {
      expect(await init(options(more, env), print)).to.equal(0);
      const kept = readFileSync(out('secrets.env'), 'utf8').split('\n');
      expect(kept).to.include.members(secrets!.split('\n')).and.to.have.lengthOf(4);
      expect(JSON.parse(readFileSync(out('config.json'), 'utf8'))).to.deep.equal(JSON.parse(config!));
    }
    const written = readFileSync(out('secrets.env'), 'utf8');
    expect(await init(options({ yes: true, force: true }), print)).to.equal(0);
    expect(readFileSync(out('secrets.env'), 'utf8')).to.equal(written);
  });

  it('puts no earlier password beside another site', async () => {
    await openSite(gigs('25'));
    const more = { yes: true, force: true, 'webhook-url': 'https://proxy.example/-/changes' };
    expect(await init(options({ ...more, ...withPassword() }), print)).to.equal(0);
    writeFileSync(out('config.json'), JSON.stringify({ upstream: { url: 'https://other.example' } }));
    const secrets = `CALENDAR_UPSTREAM_USER="${LOGIN.user}"\nCALENDAR_UPSTREAM_PASSWORD="${LOGIN.password}"\n`;
    writeFileSync(out('secrets.env'), secrets);
    expect(await init(options(more), print)).to.equal(0);
    expect(readFileSync(out('secrets.env'), 'utf8')).to.not.include('CALENDAR_UPSTREAM');
  });

  it('removes an earlier password from secrets.env with another account', async () => {
    await openSite(gigs('25'));
    const more = { yes: true, force: true, 'webhook-url': 'https://proxy.example/-/changes' };
    expect(await init(options(more), print)).to.equal(0);
    writeFileSync(out('secrets.env'), 'CALENDAR_UPSTREAM_USER="other"\nCALENDAR_UPSTREAM_PASSWORD="earlier"\n');
    const env = { CALENDAR_UPSTREAM_USER: LOGIN.user, CALENDAR_UPSTREAM_PASSWORD: LOGIN.password };
    expect(await init(options(more, env), print)).to.equal(0);
    expect(readFileSync(out('secrets.env'), 'utf8')).to.not.include('CALENDAR_UPSTREAM');
  });

  it('takes a named type whose dates the site does not show, or says that it needs their keys', async () => {
    const readings = {
      type: 'lesung',
      base: 'lesung',
      label: 'Lesungen',
      // WordPress's own.
      records: [fakePost(1, { title: 'A', meta: {}, menu_order: 0 })],
    };
    await openSite(readings);
    expect(await init(options({ yes: true, 'event-type': 'lesung' }), print)).to.equal(1);
    expect(output()).to.match(/The collection lesung \(1 record\) shows no field that init can read as a date/);
    expect(output()).to.include('It shows: nothing else');
    expect(output()).to.include('--event-type lesung --field event.start_date=meta.KEY');
    expect(existsSync(out())).to.equal(false);
  });

  const sugarType = { type: 'sc_event', base: 'sc_event', label: 'Events', records: [fakePost(1, { title: 'A' })] };
  const unsupported: [string, string, FakeOptions][] = [
    ['My Calendar', 'its namespace', { types: [], namespaces: ['my-calendar/v1'] }],
    ['Sugar Calendar', 'its namespace', { types: [], namespaces: ['sugar-calendar/v1'] }],
    ['Events Made Easy', 'its namespace', { types: [], namespaces: ['events-made-easy/v1'] }],
    ['Sugar Calendar', 'its post type', { types: [sugarType] }],
  ];
  for (const [title, evidence, more] of unsupported)
    it(`refuses a site whose events are in ${title}, by ${evidence}, with the reason, and takes what it says instead`, async () => {
      site = await startFakeSite(structuredClone(more));
      expect(await init(options({ yes: true }), print)).to.equal(1);
      expect(output()).to.match(new RegExp(`events in ${title}\\. The gateway cannot\\s+serve`));
      expect(output()).to.not.include('--field');
      expect(existsSync(out())).to.equal(false);
      const [, mapping = ''] = /add --mapping (\S+)$/m.exec(output()) ?? [];
      expect(await init(options({ yes: true, mapping }), print)).to.equal(0);
    });

  it('refuses a site whose event plugin nobody knows here, by its routes, and takes other types if it is told to', async () => {
    site = await startFakeSite({ types: [], namespaces: ['prevent-abuse/v1', 'calendar-gateway/v1', 'eventprime/v1'] });
    expect(await init(options({ yes: true }), print)).to.equal(1);
    expect(output()).to.match(/may have its events in eventprime\/v1\. The gateway cannot\s+serve/);
    expect(output()).to.not.match(/events in (prevent|calendar-gateway)/);
    expect(existsSync(out())).to.equal(false);
    expect(await init(options({ yes: true, mapping: 'wordpress-meta' }), print)).to.equal(0);
  });

  it('serves other events of a site with an unsupported plugin, and says what is missing', async () => {
    await openSite(gigs('25'), { namespaces: ['my-calendar/v1'] });
    expect(await init(options({ yes: true }), print)).to.equal(0);
    expect(output()).to.match(/note: events in My Calendar are not served/);
  });

  it('shows the values of a named date that it cannot read, and takes their format', async () => {
    const records = [fakePost(1, { title: 'A', meta: { when: 'KW15 14.04.2027' } })];
    await openSite({ ...gigs(), meta: { when: 'string' }, records });
    const named = { yes: true, 'event-type': 'gigs', field: ['event.start_date=meta.when'] };
    expect(await errorOf(init(options(named), print))).to.match(/KW15 14\.04\.2027[\s\S]*--date-format/);
    expect(existsSync(out())).to.equal(false);
    expect(await init(options({ ...named, 'date-format': '\\K\\W15 d.m.Y' }), print)).to.equal(0);
    expect(startOf({ when: 'KW15 14.04.2027' })).to.equal('2027-04-14 00:00:00');
    expect(() => options({ 'date-format': 'd/m' })).to.throw(ConfigError, /year, month and day/);
  });

  it('takes the mapping that the operator names, also beside a type with dates', async () => {
    await openSite(gigs('25'));
    expect(await init(options({ yes: true, mapping: 'wordpress-meta' }), print)).to.equal(0);
    expect(JSON.parse(readFileSync(out('config.json'), 'utf8')).mapping).to.equal('wordpress-meta');
  });

  it('recognizes Modern Events Calendar by its namespace', async () => {
    site = await startFakeSite({ types: [], namespaces: ['mec/v1.0'] });
    expect(await init(options({ yes: true }), print)).to.equal(0);
    expect(output()).to.match(/Proposal +Modern Events Calendar: the site has mec\/v1\.0/);
  });

  it('prints its commands as the operator started it', async () => {
    expect(programName({})).to.equal('calendar-gateway');
    expect(programName({ npm_lifecycle_event: 'cli' })).to.equal('npm run --silent cli --');
    expect(programName({ npm_lifecycle_event: 'npx' })).to.equal('npx calendar-gateway');
    expect(programName({ npm_lifecycle_event: 'test' })).to.equal('calendar-gateway');
    await openSite(gigs('25'));
    await init(options({ yes: true }), print);
    expect(output()).to.include(`${programName()} check --config`).and.to.not.include('--write');
    await init({ ...options({ yes: true, force: true }), ...LOGIN }, print);
    expect(output()).to.match(/ check --config \S+\n.* drafts, .*\n.* check --config \S+ --write\n.* serve --config /);
  });

  it('leaves out a type whose collection no mapping can name', async () => {
    site = await startFakeSite({ types: [gigs('25'), { ...gigs(), type: 'odd', base: 'odd\u001b[31m?x=1#' }] });
    expect(await init(options({ yes: true }), print)).to.equal(0);
    expect(output()).not.to.include('odd');
  });

  it('rejects a wrong password, address, collection and field, with the reason', async () => {
    await openSite(gigs('25'));
    const wrong = { ...options({ yes: true, user: 'service' }), password: 'of the login form' };
    expect(await errorOf(init(wrong, print))).to.match(/application password/);
    const nowhere = { ...options({ yes: true }), url: undefined };
    expect(await errorOf(init(nowhere, print))).to.match(/needs the address/);
    expect(await errorOf(init({ ...options({ yes: true }), url: 'http://127.0.0.1:9' }, print))).to.match(
      /does not answer as a WordPress site/,
    );
    expect(await errorOf(init(options({ yes: true, 'event-type': 'shows' }), print))).to.match(/It has .*gigs/);
    expect(await errorOf(init(options({ yes: true, field: ['venue.city=meta.town'] }), print))).to.match(
      /^--field venue\.city=meta\.town: .* no collection of the kind venue\s+Leave this option out/,
    );
    expect(() => options({ field: ['event.begin=meta.x'] })).to.throw(ConfigError, /start_date/);
    for (const field of [
      'event.cost=meta.a,meta.b',
      'event.start_date=meta.day,meta.time,meta.x',
      'event.end_date=meta.day,',
    ])
      expect(() => options({ field: [field] }), field).to.throw(ConfigError, /may be in two paths/);
    expect(options({ field: ['event.end_date=meta.day,meta.time'] }).fields).to.have.property('event.end_date');
    for (const field of ['event.start_date=none', 'event.end_date=none'])
      expect(() => options({ field: [field] })).to.throw(ConfigError, /neither may be none/);
    for (const url of ['https://ada:s3cret@exam ple', 'ftp://ada:s3cret@host', ''])
      expect(() => parseSiteUrl(url)).to.throw(ConfigError, /^the address: is not a web address\n {2}Give one such as/);
    for (const mapping of ['joomla', 'payload'])
      expect(await errorOf(init(options({ mapping }), print))).to.match(/^--mapping: there is no .* gatherpress/s);
    expect(() => options({ seconds: 'ymd' })).to.throw(ConfigError, /utc, wall/);
  });
});
