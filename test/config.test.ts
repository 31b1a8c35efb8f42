// Shows where a configuration comes from, what its defaults are, and that each mistake is refused by key, reason and remedy.

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

/** Every key of the schema that is no group of keys: `listen.port` -> its rule. */
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
  'notices.secret',
  'redisUrl',
  'log.pretty',
];

describe('the configuration', () => {
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
  function refusal(options: { file?: string; env?: Record<string, string> }): ConfigError {
    try {
      loadConfig({ ...options, env: { ...SITE, ...options.env } });
    } catch (error) {
      expect(error).to.be.instanceOf(ConfigError);
      return error as ConfigError;
    }
    throw new Error('was accepted');
  }

  it('has a default or a reason to have none for every key, and says what each means', () => {
    const config = loadConfig({ env: SITE });
    for (const [key, rule] of keys) {
      expect(rule.description, key).to.be.a('string').that.is.not.empty;
      expect(at(config, key) === undefined, key).to.equal(key !== 'upstream.url' && OPTIONAL.includes(key));
    }
  });

  it('has the defaults that are promised', () => {
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

  it('takes proxies by address and network', () => {
    const trustProxies = ['10.0.0.0/8', '::1', '2001:db8::/32'];
    expect(loadConfig({ file: file({ listen: { trustProxies } }), env: SITE }).listen).to.deep.include({
      trustProxies,
    });
  });

  it('lets the file change the defaults and the environment the file', () => {
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

  it('reads every variable', () => {
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
      CALENDAR_NOTICE_SECRET: 'at-least-eight',
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
    expect(config.notices.secret).to.equal('at-least-eight');
    expect(publicUrlOf(config)).to.equal('https://calendar.test/sub');
    const [scheme, encoded] = serviceCredentials(config)!.split(' ');
    expect(scheme).to.equal('Basic');
    expect(Buffer.from(encoded!, 'base64').toString()).to.equal('gateway:abcd efgh ijkl');
  });

  it('is frozen all the way down', () => {
    const config = loadConfig({ env: SITE });
    expect(() => {
      (config as { mapping: string }).mapping = 'x';
    }).to.throw(TypeError);
    expect(() => config.mounts.push('/x')).to.throw(TypeError);
    expect(() => {
      config.limits.sockets = 1;
    }).to.throw(TypeError);
  });

  describe('refuses, naming the key, the reason and what to do:', () => {
    for (const [key, rule] of keys) {
      it(`${key} of another type`, () => {
        const wrong = rule.type === 'string' || rule.enum ? 5 : rule.type === 'array' ? 'x' : 'yes';
        const site = file(nested(key, wrong));
        const error = refusal({ file: site });
        expect(error.place).to.equal(`${site}, ${key}`);
        expect(error.message).to.match(/must be/);
        expect(error.advice).to.equal(rule.description);
        expect(refusal({ file: file(nested(key, null)) }).place).to.equal(`${site}, ${key}`);
      });

      it(`a stranger beside ${key}`, () => {
        const group = key.split('.').slice(0, -1);
        const stranger = [...group, 'strange'].join('.');
        const site = file(nested(stranger, 1));
        const error = refusal({ file: site });
        expect(error.place).to.equal(`${site}, ${stranger}`);
        expect(error.advice).to.contain(key.split('.').at(-1));
      });

      if (rule.type === 'integer' || rule.type === 'number') {
        it(`${key} below its least`, () => {
          const site = file(nested(key, -1));
          expect(refusal({ file: site }).place).to.equal(`${site}, ${key}`);
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
      ['CALENDAR_NOTICE_SECRET', 'short', /8 characters/],
      ['CALENDAR_REDIS_URL', 'cache:6379', /written/],
      ['CALENDAR_PROT', '3000', /no such variable/],
    ] as const) {
      it(`${name}=${value}`, () => {
        const error = refusal({ env: { [name]: value } });
        expect(error.place).to.equal(name);
        expect(error.message).to.match(reason);
        expect(error.advice).not.to.equal('');
      });
    }

    for (const network of ['10.0.0.0/33', '10.0.0', 'proxy.internal', '::1/129', '10.0.0.0/8/8', '']) {
      it(`the proxy ${JSON.stringify(network)}`, () => {
        const error = refusal({ file: file({ listen: { trustProxies: ['10.0.0.0/8', network] } }) });
        expect(error.place).to.contain('listen.trustProxies.1');
        expect(error.message).to.match(/network such as/);
      });
    }

    for (const mount of ['calendar', '/', '/a/', '//a', '/a b', '/-/x', '/../x', '/docs', '/a?b']) {
      it(`the mount ${mount}`, () =>
        expect(refusal({ env: { CALENDAR_MOUNTS: mount } }).place).to.equal('CALENDAR_MOUNTS'));
    }

    it('no site at all', () => {
      expect(() => loadConfig({ env: {} })).to.throw(ConfigError, /CALENDAR_UPSTREAM_URL: is missing/);
    });

    for (const [what, change, key] of [
      ['a user without a password', { upstream: { user: 'x' } }, 'CALENDAR_UPSTREAM_PASSWORD'],
      ['a password without a user', { upstream: { password: 'x' } }, 'CALENDAR_UPSTREAM_USER'],
      ['a user with a colon', { upstream: { user: 'a:b', password: 'x' } }, 'CALENDAR_UPSTREAM_USER'],
      ['a page larger than the largest', { lists: { perPage: 51 } }, 'lists.perPage'],
      ['one port for both', { listen: { adminPort: 3000 } }, 'listen.adminPort'],
      ['a public address with a query', { publicUrl: 'https://a.test/?b' }, 'publicUrl'],
    ] as const) {
      it(what, () => expect(refusal({ file: file(change) }).place).to.contain(key));
    }

    it('a site address with credentials, a query or a fragment', () => {
      for (const url of ['https://u:s3cret@site.test', 'https://site.test/?a=b', 'https://site.test/#a']) {
        const error = refusal({ env: { CALENDAR_UPSTREAM_URL: url } });
        expect(error.place).to.contain('CALENDAR_UPSTREAM_URL');
        expect(error.message).not.to.contain('s3cret');
      }
    });

    it('keys that would reach a prototype', () => {
      expect(refusal({ file: file('{"__proto__": {"polluted": 1}}') }).message).to.contain('no such key');
      expect(refusal({ file: file('{"listen": {"__proto__": {"polluted": 1}}}') }).message).to.contain('no such key');
      expect({}).not.to.have.property('polluted');
    });

    it('a file that is missing, broken or no object', () => {
      expect(refusal({ file: join(folder, 'none.json') }).message).to.contain('ENOENT');
      expect(refusal({ file: file('[]') }).message).to.contain('no JSON object');
      expect(refusal({ file: file('{"mapping": ') }).message).to.contain('not JSON');
    });

    it('without ever quoting a secret', () => {
      for (const broken of [
        '{"upstream": {"password": "hunter2secret" "user": "x"}}',
        '{"upstream": {"password": hunter2secret}}',
        'hunter2secret',
        '{"upstream": {"password": ["hunter2secret"]}}',
        '{"notices": {"secret": "hunter"}}',
      ]) {
        const error = refusal({ file: file(broken) });
        expect(`${error.message} ${error.stack} ${error.cause}`).not.to.contain('hunter');
      }
      expect(refusal({ env: { CALENDAR_REDIS_URL: 'http://:hunter@x' } }).message).not.to.contain('hunter');
    });
  });

  it('comes with an example that is accepted', () => {
    const example = new URL('../config/example.json', import.meta.url).pathname;
    expect(loadConfig({ file: example, env: {} }).upstream.url).to.equal('https://www.example.org');
  });
});
