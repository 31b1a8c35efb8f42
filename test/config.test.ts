// Sources and defaults of the configuration.

import { join } from 'node:path';
import { expect } from 'chai';
import { basicCredentialsOf, loadConfig, publicUrlOf } from '../src/config.ts';
import { configFiles, keys, SITE } from './config-fixture.ts';

const at = (object: unknown, key: string): unknown =>
  key.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], object);
/** Absent unless an operator sets them. */
const OPTIONAL = [
  'upstream.url',
  'upstream.user',
  'upstream.password',
  'publicUrl',
  'dataDir',
  'pages.name',
  'pages.logo',
  'pages.accent',
  'pages.locale',
  'webhook.secret',
  'push',
  'redisUrl',
];

describe('configuration', () => {
  const { folder, file, loadError } = configFiles();

  it('has a description for every key, and a default unless the key is optional', () => {
    const config = loadConfig({ env: SITE });
    for (const [key, rule] of keys) {
      expect(rule.description, key).to.be.a('string').that.is.not.empty;
      expect(at(config, key) === undefined, key).to.equal(key !== 'upstream.url' && OPTIONAL.includes(key));
    }
  });

  it('has the documented defaults', () => {
    const config = loadConfig({ env: SITE });
    expect(config.listen).to.include({ port: 3000, adminPort: 3001, adminHost: '127.0.0.1', trustProxies: false });
    expect(config.sync.intervalS).to.equal(10);
    expect(config.lists).to.include({ perPage: 4, maxPerPage: 50 });
    expect(config.mounts).to.deep.equal(['/calendar/events/v1']);
    expect(config.mapping).to.equal('wordpress-meta');
    expect(config.cost).to.deep.equal({ symbol: '$', position: 'prefix', code: '' });
    expect(publicUrlOf(config)).to.equal('http://localhost:3000');
    expect(basicCredentialsOf(config)).to.equal(undefined);
  });

  it('permits pages of the default size', () =>
    expect(loadConfig({ file: file({ lists: { perPage: 100 } }), env: SITE }).lists.maxPerPage).to.equal(100));

  it('accepts proxies as addresses and networks', () => {
    const trustProxies = ['10.0.0.0/8', '::1', '2001:db8::/32'];
    expect(loadConfig({ file: file({ listen: { trustProxies } }), env: SITE }).listen).to.deep.include({
      trustProxies,
    });
  });

  it('lets the file override the defaults, and the environment the file', () => {
    const site = file({
      $schema: 'schema.json',
      listen: { port: 4000, adminPort: 4001 },
      lists: { maxPerPage: 100 },
      mounts: ['/wp-json/tribe/events/v1'],
      publicUrl: 'https://calendar.test/',
    });
    const config = loadConfig({
      file: site,
      env: { ...SITE, CALENDAR_PORT: '5000', CALENDAR_MAPPING: '', PATH: '/bin' },
    });
    expect(config.listen).to.include({ port: 5000, adminPort: 4001, adminHost: '127.0.0.1' });
    expect(config.lists).to.include({ perPage: 4, maxPerPage: 100 });
    expect(config.mounts).to.deep.equal(['/calendar/events/v1', '/wp-json/tribe/events/v1']);
    expect(config.mapping).to.equal('wordpress-meta');
    expect(publicUrlOf(config)).to.equal('https://calendar.test');
    expect(config).not.to.have.property('$schema');
  });

  it('reads many environment variables together', () => {
    const env = {
      CALENDAR_UPSTREAM_URL: 'http://127.0.0.1:8080/blog',
      CALENDAR_UPSTREAM_USER: 'gateway',
      CALENDAR_UPSTREAM_PASSWORD: 'abcd efgh ijkl',
      CALENDAR_MAPPING: './mine.json',
      CALENDAR_HOST: '127.0.0.1',
      CALENDAR_PORT: '1',
      CALENDAR_ADMIN_HOST: '::1',
      CALENDAR_ADMIN_PORT: '2',
      CALENDAR_PUBLIC_URL: 'https://calendar.test/sub',
      CALENDAR_MOUNTS: '/a/v1, /b/v1,',
      CALENDAR_DATA_DIR: '/var/lib/x',
      CALENDAR_SYNC_INTERVAL: '2.5',
      CALENDAR_WEBHOOK_SECRET: 'at-least-eight',
      CALENDAR_REDIS_URL: 'redis://:pw@cache:6379',
    };
    const config = loadConfig({ env });
    const { url, user, password } = config.upstream;
    expect({ url, user, password }).to.deep.equal({
      url: 'http://127.0.0.1:8080/blog',
      user: 'gateway',
      password: 'abcd efgh ijkl',
    });
    expect(config.listen).to.include({ host: '127.0.0.1', port: 1, adminHost: '::1', adminPort: 2 });
    expect(config.mounts).to.deep.equal(['/calendar/events/v1', '/a/v1', '/b/v1']);
    expect(config).to.include({ mapping: './mine.json', dataDir: '/var/lib/x', redisUrl: 'redis://:pw@cache:6379' });
    expect(config.sync.intervalS).to.equal(2.5);
    expect(config.webhook.secret).to.equal('at-least-eight');
    expect(publicUrlOf(config)).to.equal('https://calendar.test/sub');
    const [scheme, encoded] = basicCredentialsOf(config)!.split(' ');
    expect(scheme).to.equal('Basic');
    expect(Buffer.from(encoded!, 'base64').toString()).to.equal('gateway:abcd efgh ijkl');
  });

  it('names the languages of the pages if a locale is of none of them', () => {
    const { message } = loadError({ file: file({ pages: { locale: 'tlh' } }) });
    expect(message).to.include('en, de, fr, es, it, nl').and.include('de-AT');
  });

  it('accepts name, logo, colours and locale of the pages, and refuses what is none', () => {
    const pages = { name: 'Town', logo: 'https://town.example/logo.svg', accent: '#0B6E4F', locale: 'de-AT' };
    expect(loadConfig({ file: file({ pages }), env: SITE }).pages).to.deep.include(pages);
    const wrong: Record<string, unknown[]> = {
      name: ['', 'x'.repeat(101)],
      logo: ['javascript:alert(1)', '/logo.svg', 'data:image/svg+xml,x', `https://town.example/${'x'.repeat(2000)}`],
      accent: ['red', '#fff', '#12345g', 'url(x)', '#4338ca;}'],
      locale: ['tlh', 'en_GB', 'en-gb', 'german'],
    };
    for (const [key, values] of Object.entries(wrong)) {
      for (const value of values)
        expect(loadError({ file: file({ pages: { [key]: value } }) }).location, String(value)).to.include(
          `pages.${key}`,
        );
    }
  });

  it('reads a list of proxies from CALENDAR_TRUST_PROXIES', () => {
    const proxies = (text: string) =>
      loadConfig({ env: { ...SITE, CALENDAR_TRUST_PROXIES: text } }).listen.trustProxies;
    expect(proxies('10.0.0.0/8, ::1')).to.deep.equal(['10.0.0.0/8', '::1']);
    expect(proxies('false')).to.equal(false);
    expect(proxies('127.0.0.1')).to.deep.equal(['127.0.0.1']);
  });

  it('resolves paths in a file relative to the file, and those of variables relative to the working directory', () => {
    const site = file({ mapping: './mine.json', dataDir: 'data' });
    expect(loadConfig({ file: site, env: SITE })).to.include({
      mapping: join(folder(), 'mine.json'),
      dataDir: join(folder(), 'data'),
    });
    const env = { ...SITE, CALENDAR_MAPPING: 'other.json', CALENDAR_DATA_DIR: 'other' };
    expect(loadConfig({ file: site, env })).to.include({ mapping: 'other.json', dataDir: 'other' });
    expect(loadConfig({ file: file({ mapping: 'acf' }), env: SITE }).mapping).to.equal('acf');
    expect(loadConfig({ file: file({ mapping: '/etc/mine.json' }), env: SITE }).mapping).to.equal('/etc/mine.json');
  });

  it('reads an environment file and a configuration file as Windows saves them', () => {
    const saved = {
      CALENDAR_UPSTREAM_URL: 'https://site.test',
      CALENDAR_UPSTREAM_USER: 'ada',
      CALENDAR_UPSTREAM_PASSWORD: 'abcd efgh ',
      CALENDAR_PUBLIC_URL: 'https://calendar.test',
      CALENDAR_MAPPING: 'acf',
      CALENDAR_LOG_LEVEL: 'warn',
      ...{ CALENDAR_REDIS_URL: '', CALENDAR_WEBHOOK_SECRET: '', CALENDAR_SYNC_INTERVAL: '' },
      CALENDAR_CONFIG: file('\ufeff{\r\n"listen": {"port": 4000}\r\n}\r\n'),
    };
    const env = Object.fromEntries(Object.entries(saved).map(([name, value]) => [name, `${value}\r`]));
    const { upstream, publicUrl, mapping, log, listen } = loadConfig({ env });
    expect([upstream.url, upstream.user, upstream.password, publicUrl, mapping, log.level, listen.port]).to.deep.equal([
      ...['https://site.test', 'ada', 'abcd efgh ', 'https://calendar.test', 'acf', 'warn', 4000],
    ]);
  });

  it('reads the file of CALENDAR_CONFIG, unless another is named', () => {
    const env = { ...SITE, CALENDAR_CONFIG: file({ listen: { port: 4000 } }) };
    expect(loadConfig({ env }).listen.port).to.equal(4000);
    expect(loadConfig({ file: new URL('../config/example.json', import.meta.url).pathname, env }).listen.port).to.equal(
      3000,
    );
    expect(() => loadConfig({ env: { ...SITE, CALENDAR_CONFIG: join(folder(), 'none.json') } })).to.throw(/ENOENT/);
  });

  it('takes PORT, which platforms set, unless it is no port or something names another', () => {
    const port = (PORT: string, env = {}, content: object = {}) =>
      loadConfig({ file: file(content), env: { ...SITE, PORT, ...env } }).listen.port;
    expect(port('8080')).to.equal(8080);
    expect(port('8080', { CALENDAR_PORT: '4000' })).to.equal(4000);
    expect(port('8080', {}, { listen: { port: 4001 } })).to.equal(4001);
    for (const other of ['', 'COM3', 'tcp://10.0.0.1:80', '99999', '-1', '8080 ']) expect(port(other)).to.equal(3000);
  });

  describe('environment variables that are no settings', () => {
    function warningsOf(env: Record<string, string>): string[] {
      const warnings: string[] = [];
      loadConfig({ env: { ...SITE, ...env }, warn: (message) => warnings.push(message) });
      return warnings;
    }

    it('are named in one warning', () => {
      const [warning, ...more] = warningsOf({
        CALENDAR_PROT: '3000',
        CALENDAR_TRUST_PROXY: 'true',
        CALENDAR_UPSTREAM_PASWORD_FILE: '/run/secrets/hunter2',
        CALENDAR_COLOUR: 'blue',
        CALENDAR_MAPPING_FILE: 'mine.json',
      });
      expect(more).to.deep.equal([]);
      expect(warning)
        .to.include('CALENDAR_PROT, CALENDAR_TRUST_PROXY, CALENDAR_UPSTREAM_PASWORD_FILE,')
        .and.to.match(/CALENDAR_COLOUR, CALENDAR_MAPPING_FILE$/)
        .and.to.not.match(/hunter2|blue/);
    });

    // The forms that kubernetes.io documents for a Service with the ports http and admin.
    for (const service of ['CALENDAR', 'CALENDAR_GATEWAY', 'CALENDAR_ADMIN'])
      it(`of a Kubernetes service ${service} are ignored without a warning`, () => {
        const env = {
          [`${service}_SERVICE_HOST`]: '10.96.0.11',
          [`${service}_SERVICE_PORT`]: '3000',
          [`${service}_SERVICE_PORT_HTTP`]: '3000',
          [`${service}_PORT`]: 'tcp://10.96.0.11:3000',
          [`${service}_PORT_3000_TCP`]: 'tcp://10.96.0.11:3000',
          [`${service}_PORT_3000_TCP_PROTO`]: 'tcp',
          [`${service}_PORT_3000_TCP_PORT`]: '3000',
          [`${service}_PORT_3000_TCP_ADDR`]: '10.96.0.11',
        };
        expect(warningsOf(env)).to.deep.equal([]);
        expect(loadConfig({ env: { ...SITE, ...env } }).listen).to.include({ port: 3000, adminPort: 3001 });
      });
  });

  it('accepts config/example.json', () => {
    const example = new URL('../config/example.json', import.meta.url).pathname;
    expect(loadConfig({ file: example, env: {} }).upstream.url).to.equal('https://www.example.org');
  });
});
