// Sources and defaults of the configuration; every mistake is reported with key, reason and remedy.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import schema from '../src/config.schema.json' with { type: 'json' };
import { loadConfig, publicUrlOf, serviceCredentials } from '../src/config.ts';
import { ConfigError } from '../src/errors.ts';

type Rule = {
  description?: string;
  type?: string | string[];
  properties?: Record<string, Rule>;
  enum?: unknown[];
  items?: Rule;
};

/** The schema of every leaf key: `listen.port` -> its schema. */
function leaves(rule: Rule, path: string[] = []): [string, Rule][] {
  if (!rule.properties) return [[path.join('.'), rule]];
  return Object.entries(rule.properties).flatMap(([key, below]) => leaves(below, [...path, key]));
}
const keys = leaves(schema as Rule).filter(([key]) => key !== '$schema');

const at = (object: unknown, key: string): unknown =>
  key.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], object);
const nested = (key: string, value: unknown): unknown =>
  key.split('.').reduceRight<unknown>((below, name) => ({ [name]: below }), value);

const SITE = { CALENDAR_UPSTREAM_URL: 'https://site.test' };
/** Absent unless an operator sets them. */
const OPTIONAL = [
  'upstream.url',
  'upstream.user',
  'upstream.password',
  'publicUrl',
  'dataDir',
  'webhook.secret',
  'redisUrl',
  'log.pretty',
];

describe('configuration', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'calendar-config-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  function file(content: unknown): string {
    const name = join(folder, 'site.json');
    writeFileSync(name, typeof content === 'string' ? content : JSON.stringify(content));
    return name;
  }
  function loadError(options: { file?: string; env?: Record<string, string> }): ConfigError {
    try {
      loadConfig({ ...options, env: { ...SITE, ...options.env } });
    } catch (error) {
      expect(error).to.be.instanceOf(ConfigError);
      return error as ConfigError;
    }
    throw new Error('the configuration was accepted');
  }

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
    expect(config.lists).to.deep.equal({ perPage: 4, maxPerPage: 50 });
    expect(config.mounts).to.deep.equal(['/calendar/events/v1']);
    expect(config.mapping).to.equal('wordpress-meta');
    expect(config.cost).to.deep.equal({ symbol: '$', position: 'prefix' });
    expect(publicUrlOf(config)).to.equal('http://localhost:3000');
    expect(serviceCredentials(config)).to.equal(undefined);
  });

  it('accepts proxies as addresses and networks', () => {
    const trustProxies = ['10.0.0.0/8', '::1', '2001:db8::/32'];
    expect(loadConfig({ file: file({ listen: { trustProxies } }), env: SITE }).listen).to.deep.include({
      trustProxies,
    });
  });

  it('lets the file override the defaults, and the environment the file', () => {
    const site = file({
      $schema: 'config.schema.json',
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
    expect(config.lists).to.deep.equal({ perPage: 4, maxPerPage: 100 });
    expect(config.mounts).to.deep.equal(['/calendar/events/v1', '/wp-json/tribe/events/v1']);
    expect(config.mapping).to.equal('wordpress-meta');
    expect(publicUrlOf(config)).to.equal('https://calendar.test');
    expect(config).not.to.have.property('$schema');
  });

  it('reads every environment variable', () => {
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
      CALENDAR_SANDBOX_CACHE: 'not ours',
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
    const [scheme, encoded] = serviceCredentials(config)!.split(' ');
    expect(scheme).to.equal('Basic');
    expect(Buffer.from(encoded!, 'base64').toString()).to.equal('gateway:abcd efgh ijkl');
  });

  it('is deeply frozen', () => {
    const config = loadConfig({ env: SITE });
    expect(() => {
      (config as { mapping: string }).mapping = 'x';
    }).to.throw(TypeError);
    expect(() => config.mounts.push('/x')).to.throw(TypeError);
    expect(() => {
      config.limits.sockets = 1;
    }).to.throw(TypeError);
  });

  describe('rejects, with key, reason and remedy:', () => {
    for (const [key, rule] of keys) {
      it(`a wrong type of ${key}`, () => {
        const wrong = rule.type === 'string' || rule.enum ? 5 : rule.type === 'array' ? 'x' : 'yes';
        const site = file(nested(key, wrong));
        const error = loadError({ file: site });
        expect(error.location).to.equal(`${site}, ${key}`);
        expect(error.message).to.match(/must be/);
        expect(error.remedy).to.equal(rule.description);
        expect(loadError({ file: file(nested(key, null)) }).location).to.equal(`${site}, ${key}`);
      });

      it(`an unknown key beside ${key}`, () => {
        const group = key.split('.').slice(0, -1);
        const unknown = [...group, 'unknown'].join('.');
        const site = file(nested(unknown, 1));
        const error = loadError({ file: site });
        expect(error.location).to.equal(`${site}, ${unknown}`);
        expect(error.remedy).to.contain(key.split('.').at(-1));
      });

      if (rule.type === 'integer' || rule.type === 'number') {
        it(`${key} below its minimum`, () => {
          const site = file(nested(key, -1));
          expect(loadError({ file: site }).location).to.equal(`${site}, ${key}`);
        });
      }
    }

    for (const [name, value, reason] of [
      ['CALENDAR_UPSTREAM_URL', 'site.test', /http:\/\//],
      ['CALENDAR_UPSTREAM_URL', 'ftp://site.test', /http:\/\//],
      ['CALENDAR_PORT', 'abc', /whole number/],
      ['CALENDAR_PORT', '3000x', /whole number/],
      ['CALENDAR_PORT', '3.5', /whole number/],
      ['CALENDAR_PORT', '65536', /65535/],
      ['CALENDAR_ADMIN_PORT', '-1', />= 0/],
      ['CALENDAR_PUBLIC_URL', 'calendar.test', /http:\/\//],
      ['CALENDAR_SYNC_INTERVAL', 'often', /number/],
      ['CALENDAR_SYNC_INTERVAL', '0', />= 0.1/],
      ['CALENDAR_WEBHOOK_SECRET', 'short', /8 characters/],
      ['CALENDAR_REDIS_URL', 'cache:6379', /invalid format/],
      ['CALENDAR_PROT', '3000', /no such variable/],
    ] as const) {
      it(`${name}=${value}`, () => {
        const error = loadError({ env: { [name]: value } });
        expect(error.location).to.equal(name);
        expect(error.message).to.match(reason);
        expect(error.remedy).not.to.equal('');
      });
    }

    for (const network of ['10.0.0.0/33', '10.0.0', 'proxy.internal', '::1/129', '10.0.0.0/8/8', '']) {
      it(`the proxy ${JSON.stringify(network)}`, () => {
        const error = loadError({ file: file({ listen: { trustProxies: ['10.0.0.0/8', network] } }) });
        expect(error.location).to.contain('listen.trustProxies.1');
        expect(error.message).to.match(/network such as/);
      });
    }

    for (const mount of ['calendar', '/', '/a/', '//a', '/a b', '/-/x', '/../x', '/docs', '/a?b']) {
      it(`the mount ${mount}`, () =>
        expect(loadError({ env: { CALENDAR_MOUNTS: mount } }).location).to.equal('CALENDAR_MOUNTS'));
    }

    it('a missing site URL', () => {
      expect(() => loadConfig({ env: {} })).to.throw(ConfigError, /CALENDAR_UPSTREAM_URL: is missing/);
    });

    for (const [what, change, key] of [
      ['a service account without a password', { upstream: { user: 'x' } }, 'CALENDAR_UPSTREAM_PASSWORD'],
      ['a service account without a user name', { upstream: { password: 'x' } }, 'CALENDAR_UPSTREAM_USER'],
      ['a user name with a colon', { upstream: { user: 'a:b', password: 'x' } }, 'CALENDAR_UPSTREAM_USER'],
      ['a default page size above the maximum', { lists: { perPage: 51 } }, 'lists.perPage'],
      ['the same port twice', { listen: { adminPort: 3000 } }, 'listen.adminPort'],
      ['a public URL with a query', { publicUrl: 'https://a.test/?b' }, 'publicUrl'],
    ] as const) {
      it(what, () => expect(loadError({ file: file(change) }).location).to.contain(key));
    }

    it('a site URL with credentials, a query or a fragment', () => {
      for (const url of ['https://u:s3cret@site.test', 'https://site.test/?a=b', 'https://site.test/#a']) {
        const error = loadError({ env: { CALENDAR_UPSTREAM_URL: url } });
        expect(error.location).to.contain('CALENDAR_UPSTREAM_URL');
        expect(error.message).not.to.contain('s3cret');
      }
    });

    it('keys that would pollute a prototype', () => {
      expect(loadError({ file: file('{"__proto__": {"polluted": 1}}') }).message).to.contain('no such key');
      expect(loadError({ file: file('{"listen": {"__proto__": {"polluted": 1}}}') }).message).to.contain('no such key');
      expect({}).not.to.have.property('polluted');
    });

    it('a file that is missing, malformed or not an object', () => {
      expect(loadError({ file: join(folder, 'none.json') }).message).to.contain('ENOENT');
      expect(loadError({ file: file('[]') }).message).to.contain('not a JSON object');
      expect(loadError({ file: file('{"mapping": ') }).message).to.contain('not JSON');
    });

    it('without quoting a secret', () => {
      for (const broken of [
        '{"upstream": {"password": "hunter2secret" "user": "x"}}',
        '{"upstream": {"password": hunter2secret}}',
        'hunter2secret',
        '{"upstream": {"password": ["hunter2secret"]}}',
        '{"webhook": {"secret": "hunter"}}',
      ]) {
        const error = loadError({ file: file(broken) });
        expect(`${error.message} ${error.stack} ${error.cause}`).not.to.contain('hunter');
      }
      expect(loadError({ env: { CALENDAR_REDIS_URL: 'http://:hunter@x' } }).message).not.to.contain('hunter');
    });
  });

  it('accepts config/example.json', () => {
    const example = new URL('../config/example.json', import.meta.url).pathname;
    expect(loadConfig({ file: example, env: {} }).upstream.url).to.equal('https://www.example.org');
  });
});
