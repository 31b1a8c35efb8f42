// Sources and defaults of the configuration; every mistake is reported with key, reason and remedy.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import schema from '../src/config.schema.json' with { type: 'json' };
import { loadConfig, publicUrlOf, serviceCredentials } from '../src/config.ts';
import { SETTINGS } from '../src/config-environment.ts';
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
  'pages.name',
  'pages.logo',
  'pages.accent',
  'pages.accentDark',
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

  it('accepts name, logo, colours and locale of the pages, and refuses what is none', () => {
    const pages = { name: 'Town', logo: 'https://town.example/logo.svg', accent: '#0B6E4F', locale: 'en' };
    expect(loadConfig({ file: file({ pages }), env: SITE }).pages).to.deep.include(pages);
    const wrong: Record<string, unknown[]> = {
      name: ['', 'x'.repeat(101)],
      logo: ['javascript:alert(1)', '/logo.svg', 'data:image/svg+xml,x', `https://town.example/${'x'.repeat(2000)}`],
      accent: ['red', '#fff', '#12345g', 'url(x)', '#4338ca;}'],
      accentDark: ['rgb(1,2,3)'],
      imageOrigins: [
        ['cdn.example'],
        ['https://cdn.example; script-src *'.replace('https:', 'ftp:')],
        Array(11).fill('https://a.b'),
      ],
      locale: ['de-DE', 'en_GB', 'en-gb'],
    };
    for (const [key, values] of Object.entries(wrong)) {
      for (const value of values)
        expect(loadError({ file: file({ pages: { [key]: value } }) }).location, String(value)).to.include(
          `pages.${key}`,
        );
    }
  });

  it('has an environment variable for every key', () => {
    const values: Record<string, [text: string, value: unknown]> = {
      integer: ['2000', 2000],
      number: ['2.5', 2.5],
      boolean: ['false', false],
      array: ['/a/v1', ['/calendar/events/v1', '/a/v1']],
      'upstream.url': ['http://site.test', 'http://site.test'],
      publicUrl: ['http://calendar.test', 'http://calendar.test'],
      redisUrl: ['redis://cache', 'redis://cache'],
      'lists.perPage': ['7', 7],
      'lists.maxPerPage': ['8', 8],
      'limits.jsonDepth': ['9', 9],
      'upstream.limits.connections': ['3', 3],
      'upstream.limits.retries': ['1', 1],
      'cache.answerBytes': ['1048576', 1048576],
      'cache.recordBytes': ['1048576', 1048576],
      'limits.failedLoginWindowS': ['60', 60],
      'listen.adminPort': ['2001', 2001],
      'listen.trustProxies': ['TRUE', true],
      'cost.position': ['postfix', 'postfix'],
      'pages.logo': ['https://site.test/logo.svg', 'https://site.test/logo.svg'],
      'pages.accent': ['#0b6e4f', '#0b6e4f'],
      'pages.accentDark': ['#7ddfc3', '#7ddfc3'],
      'pages.imageOrigins': ['https://cdn.test', ['https://cdn.test']],
      'pages.locale': ['en-GB', 'en-GB'],
      'log.level': ['warn', 'warn'],
      'webhook.secret': ['long enough', 'long enough'],
    };
    const rows = SETTINGS.map(({ key, variable, types }) => ({
      key,
      variable,
      value: values[key] ?? values[types[0]!] ?? ['some text', 'some text'],
    }));
    expect(rows.map(({ key }) => key)).to.have.members(keys.map(([key]) => key));
    expect(new Set(rows.map(({ variable }) => variable)).size).to.equal(rows.length);
    const warnings: string[] = [];
    const config = loadConfig({
      env: Object.fromEntries(rows.map(({ variable, value }) => [variable, value[0]])),
      warn: (message) => warnings.push(message),
    });
    for (const { key, variable, value } of rows) expect(at(config, key), variable).to.deep.equal(value[1]);
    expect(warnings).to.deep.equal([]);
    // The form of the names is documented; these are written by hand.
    const names = Object.fromEntries(rows.map(({ key, variable }) => [key, variable]));
    expect(names).to.include({
      'listen.trustProxies': 'CALENDAR_TRUST_PROXIES',
      'listen.adminHost': 'CALENDAR_ADMIN_HOST',
      'upstream.limits.deadlineMs': 'CALENDAR_UPSTREAM_LIMITS_DEADLINE_MS',
      'limits.failedLoginWindowS': 'CALENDAR_LIMITS_FAILED_LOGIN_WINDOW',
      'cache.maxAgeS': 'CALENDAR_CACHE_MAX_AGE',
      'log.level': 'CALENDAR_LOG_LEVEL',
    });
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
      mapping: join(folder, 'mine.json'),
      dataDir: join(folder, 'data'),
    });
    const env = { ...SITE, CALENDAR_MAPPING: 'other.json', CALENDAR_DATA_DIR: 'other' };
    expect(loadConfig({ file: site, env })).to.include({ mapping: 'other.json', dataDir: 'other' });
    expect(loadConfig({ file: file({ mapping: 'acf' }), env: SITE }).mapping).to.equal('acf');
    expect(loadConfig({ file: file({ mapping: '/etc/mine.json' }), env: SITE }).mapping).to.equal('/etc/mine.json');
  });

  it('reads the file of CALENDAR_CONFIG, unless another is named', () => {
    const env = { ...SITE, CALENDAR_CONFIG: file({ listen: { port: 4000 } }) };
    expect(loadConfig({ env }).listen.port).to.equal(4000);
    expect(loadConfig({ file: new URL('../config/example.json', import.meta.url).pathname, env }).listen.port).to.equal(
      3000,
    );
    expect(() => loadConfig({ env: { ...SITE, CALENDAR_CONFIG: join(folder, 'none.json') } })).to.throw(/ENOENT/);
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

    it('are named in one warning, with the variable that was probably meant', () => {
      const [warning, ...more] = warningsOf({
        CALENDAR_PROT: '3000',
        CALENDAR_TRUST_PROXY: 'true',
        CALENDAR_UPSTREAM_PASWORD_FILE: '/run/secrets/hunter2',
        CALENDAR_COLOUR: 'blue',
        CALENDAR_MAPPING_FILE: 'mine.json',
      });
      expect(more).to.deep.equal([]);
      expect(warning)
        .to.include('CALENDAR_PROT (did you mean CALENDAR_PORT?)')
        .and.to.include('CALENDAR_UPSTREAM_PASWORD_FILE (did you mean CALENDAR_UPSTREAM_PASSWORD_FILE?)')
        .and.to.match(/CALENDAR_TRUST_PROXY,/)
        .and.to.match(/CALENDAR_COLOUR, CALENDAR_MAPPING_FILE$/)
        .and.to.not.match(/hunter2|blue/);
    });

    it('are named in a bounded message without control characters', () => {
      const many = Object.fromEntries(
        Array.from({ length: 5000 }, (_, n) => [`CALENDAR_${n}\n${'X'.repeat(1000)}`, 'x']),
      );
      const [warning] = warningsOf(many);
      expect(warning)
        .to.have.length.below(1000)
        .and.to.match(/and 4990 more$/);
      expect(warning).to.not.include('\n');
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

  describe('a secret in a file', () => {
    const secret = (path: string, more = {}) =>
      loadConfig({ env: { ...SITE, CALENDAR_UPSTREAM_USER: 'ada', CALENDAR_UPSTREAM_PASSWORD_FILE: path, ...more } });
    const secretFile = (content: string | Buffer, mode = 0o600): string => {
      const path = join(folder, 'secret');
      rmSync(path, { force: true });
      writeFileSync(path, content, { mode });
      return path;
    };
    function problem(path: string, more = {}): ConfigError {
      try {
        secret(path, more);
      } catch (error) {
        expect(error).to.be.instanceOf(ConfigError);
        expect((error as ConfigError).location).to.equal('CALENDAR_UPSTREAM_PASSWORD_FILE');
        expect(String((error as ConfigError).stack)).to.not.include('hunter');
        return error as ConfigError;
      }
      throw new Error('the file was accepted');
    }

    it('may be each of the credentials', () => {
      const path = secretFile('redis://cache:6379');
      const variables = SETTINGS.flatMap(({ fileVariable }) => fileVariable ?? []);
      expect(variables).to.deep.equal([
        'CALENDAR_UPSTREAM_USER_FILE',
        'CALENDAR_UPSTREAM_PASSWORD_FILE',
        'CALENDAR_WEBHOOK_SECRET_FILE',
        'CALENDAR_REDIS_URL_FILE',
      ]);
      writeFileSync(path, 'redis//no-colon');
      const config = loadConfig({
        env: { ...SITE, ...Object.fromEntries(variables.slice(0, 3).map((name) => [name, path])) },
      });
      expect(config.upstream).to.include({ user: 'redis//no-colon', password: 'redis//no-colon' });
      expect(config.webhook.secret).to.equal('redis//no-colon');
      writeFileSync(path, 'redis://cache:6379\n');
      expect(loadConfig({ env: { ...SITE, CALENDAR_REDIS_URL_FILE: path } }).redisUrl).to.equal('redis://cache:6379');
    });

    it('is read without the line break at its end and without a byte order mark', () => {
      for (const text of ['abcd efgh', 'abcd efgh\n', 'abcd efgh\r\n', 'abcd efgh\n\n', '\ufeffabcd efgh\n'])
        expect(secret(secretFile(text)).upstream.password, JSON.stringify(text)).to.equal('abcd efgh');
    });

    it('replaces that of the configuration file, and an empty variable does not count', () => {
      const site = file({ upstream: { url: 'https://site.test', user: 'ada', password: 'old' } });
      const path = secretFile('new');
      const env = { CALENDAR_UPSTREAM_PASSWORD: '', CALENDAR_UPSTREAM_PASSWORD_FILE: path };
      expect(loadConfig({ file: site, env }).upstream.password).to.equal('new');
      expect(loadConfig({ file: site, env: { CALENDAR_UPSTREAM_PASSWORD_FILE: '' } }).upstream.password).to.equal(
        'old',
      );
    });

    it('is refused beside the variable itself', () => {
      const { message } = problem(secretFile('hunter2'), { CALENDAR_UPSTREAM_PASSWORD: 'hunter3' });
      expect(message).to.match(/is set, and CALENDAR_UPSTREAM_PASSWORD too/);
    });

    it('is refused if it is empty, long, binary or has two lines', () => {
      for (const [content, reason] of [
        ['', /is empty/],
        ['\n', /is empty/],
        [' \n', /is empty/],
        ['hunter2\nhunter3\n', /more than one line/],
        ['CALENDAR_UPSTREAM_USER="x"\nCALENDAR_UPSTREAM_PASSWORD="hunter2"\n', /more than one line/],
        ['hunter\0', /control characters/],
        [Buffer.from([0xff, 0xfe, 0x41]), /not UTF-8/],
        ['hunter'.repeat(1000), /more than 4096 bytes/],
      ] as const)
        expect(problem(secretFile(content)).message, JSON.stringify(content)).to.match(reason);
    });

    it('is refused, without waiting or reading it all, if it is huge, endless, a pipe or a directory', () => {
      const huge = secretFile('');
      truncateSync(huge, 2 ** 30);
      const before = process.memoryUsage().arrayBuffers;
      expect(problem(huge).message).to.match(/more than 4096 bytes/);
      expect(process.memoryUsage().arrayBuffers - before).to.be.below(2 ** 20);
      expect(problem('/dev/zero').message).to.match(/not a regular file/);
      expect(problem(folder).message).to.match(/not a regular file/);
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      expect(problem(pipe).message).to.match(/not a regular file/);
    });

    it('is refused if it is missing, or below a file', () => {
      expect(problem(join(folder, 'none')).message).to.match(/cannot be read \(ENOENT\)/);
      expect(problem(`${secretFile('hunter2')}/below`).message).to.match(/cannot be read \(ENOTDIR\)/);
    });
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
      ['CALENDAR_TRUST_PROXIES', '1', /an address such as/],
      ['CALENDAR_TRUST_PROXIES', 'yes', /an address such as/],
      ['CALENDAR_TRUST_PROXIES', 'true, 10.0.0.0/8', /an address such as/],
      ['CALENDAR_LOG_LEVEL', 'verbose', /one of debug/],
      ['CALENDAR_LOG_REQUESTS', 'no', /true or false/],
      ['CALENDAR_LIMITS_DRAIN_MS', '99999999999', /<= 2147483647/],
      ['CALENDAR_LIMITS_SOCKETS', '1e9', /whole number/],
      // The start waits for one call to the CMS, retries included.
      ['CALENDAR_UPSTREAM_LIMITS_RETRY_DELAY_MS', '60001', /<= 60000/],
      ['CALENDAR_UPSTREAM_LIMITS_DEADLINE_MS', '2147483647', /<= 600000/],
      ['CALENDAR_COST_POSITION', 'left', /one of prefix, postfix/],
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
