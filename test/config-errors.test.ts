// Every mistake in the configuration is reported with key, reason and remedy.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../src/config.ts';
import { ConfigError } from '../src/errors.ts';
import { configFiles, keys } from './config-fixture.ts';

const nested = (key: string, value: unknown): unknown =>
  key.split('.').reduceRight<unknown>((below, name) => ({ [name]: below }), value);

const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const BUILD_HOOK = { url: 'https://builds.example/hook', quietS: 30 };

describe('the configuration rejects, with key, reason and remedy:', () => {
  const { folder, file, loadError } = configFiles();

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
    ['CALENDAR_PORT', 'abc', /must be integer/],
    ['CALENDAR_PORT', '3000x', /must be integer/],
    ['CALENDAR_PORT', '3.5', /must be integer/],
    ['CALENDAR_PORT', '65536', /65535/],
    ['CALENDAR_ADMIN_PORT', '-1', />= 0/],
    ['CALENDAR_PUBLIC_URL', 'calendar.test', /http:\/\//],
    ['CALENDAR_PUBLIC_URL', 'https:calendar.test', /http:\/\//],
    ['CALENDAR_PUBLIC_URL', 'https://calendar.test/a b', /without spaces/],
    ['CALENDAR_SYNC_INTERVAL', 'often', /number/],
    ['CALENDAR_SYNC_INTERVAL', '0', />= 0.1/],
    ['CALENDAR_WEBHOOK_SECRET', 'short', /8 characters/],
    ['CALENDAR_REDIS_URL', 'cache:6379', /URL of a host/],
    ['CALENDAR_REDIS_URL', 'redis:///0', /URL of a host/],
    ['CALENDAR_TRUST_PROXIES', '1', /an address such as/],
    ['CALENDAR_TRUST_PROXIES', 'yes', /an address such as/],
    ['CALENDAR_TRUST_PROXIES', 'true, 10.0.0.0/8', /an address such as/],
    ['CALENDAR_LOG_LEVEL', 'verbose', /one of debug/],
    ['CALENDAR_PAGES_LANDING', 'no', /must be boolean/],
    ['CALENDAR_CACHE_MAX_AGE', '99999999999', /<= 2147483647/],
    ['CALENDAR_LIMITS_REQUESTS_PER_MINUTE', '1e10', /<= 2147483647/],
    // The start waits for one call to the CMS, retries included.
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

  for (const network of [
    '10.0.0.0/33',
    '0.0.0.0/0',
    '010.0.0.0/8',
    '10.0.0',
    'proxy.internal',
    '::1/129',
    '::/0',
    '10.0.0.0/8/8',
    '',
  ]) {
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

  it('neither a site nor a source', () => {
    const remedy = /CALENDAR_UPSTREAM_URL: is missing, and so are sources.*without a CMS list "sources"/s;
    expect(() => loadConfig({ env: {} })).to.throw(ConfigError, remedy);
    expect(() => loadConfig({ env: { CALENDAR_SOURCES: '[]' } })).to.throw(ConfigError, remedy);
  });

  for (const [what, change, key] of [
    ['a service account without a password', { upstream: { user: 'x' } }, 'CALENDAR_UPSTREAM_PASSWORD'],
    ['a service account without a user name', { upstream: { password: 'x' } }, 'CALENDAR_UPSTREAM_USER'],
    ['a user name with a colon', { upstream: { user: 'a:b', password: 'x' } }, 'upstream.user'],
    ['two receivers of one url', { push: [BUILD_HOOK, BUILD_HOOK] }, 'push'],
    ['a receiver with neither secret nor quietS', { push: [{ url: BUILD_HOOK.url }] }, 'push.0'],
    [
      'a method for a receiver of messages',
      { push: [{ url: 'https://a.test', secret: SECRET, method: 'GET' }] },
      'push.0',
    ],
    ['a logo with a password', { pages: { logo: 'https://:s3cret@a.test/logo.svg' } }, 'pages.logo'],
    ['a public URL with a query', { publicUrl: 'https://a.test/?b' }, 'publicUrl'],
    ['a public URL with a password', { publicUrl: 'https://:s3cret@a.test' }, 'publicUrl'],
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
    expect(loadError({ file: join(folder(), 'none.json') }).message).to.contain('ENOENT');
    expect(loadError({ file: file('[]') }).message).to.contain('not a JSON object');
    expect(loadError({ file: file('{"mapping": ') }).message).to.contain('not JSON');
    const latin1 = file('{}');
    writeFileSync(latin1, Buffer.from('{"pages": {"name": "Z\u00fcrich"}}', 'latin1'));
    expect(loadError({ file: latin1 }).message).to.contain('is not UTF-8 text');
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
