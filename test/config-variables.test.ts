// Each environment variable alone: it sets its key and nothing else, also from a file if it is a credential,
// and a wrong value names it. The names and values are written by hand, as docs/configuration.md promises
// them; a key of the schema without a row fails the first test.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../src/config.ts';
import type { Config } from '../src/config-schema.ts';
import { configFiles, keys, SITE } from './config-fixture.ts';

interface Variable {
  key: string;
  /** Valid, and not the default. */
  text: string;
  value: unknown;
  /** Absent if every text is valid. */
  wrong?: string;
  /** Without which this one is refused. */
  beside?: Record<string, string>;
}

const whole = (key: string, wrong = '-1'): Variable => ({ key, text: ' 2000', value: 2000, wrong });
const few = (key: string, wrong: string): Variable => ({ key, text: '7', value: 7, wrong });
const text = (key: string, value = 'some text'): Variable => ({ key, text: value, value });
const off = (key: string): Variable => ({ key, text: 'False', value: false, wrong: 'no' });
const address = (key: string): Variable => ({ ...text(key, 'https://other.test/sub'), wrong: 'other.test' });
const colour = (key: string): Variable => ({ ...text(key, '#0b6e4f'), wrong: 'red' });

const VARIABLES: Readonly<Record<string, Variable>> = {
  CALENDAR_UPSTREAM_URL: address('upstream.url'),
  CALENDAR_UPSTREAM_USER: {
    ...text('upstream.user'),
    wrong: 'a:b',
    beside: { CALENDAR_UPSTREAM_PASSWORD: 'abcd efgh' },
  },
  CALENDAR_UPSTREAM_PASSWORD: { ...text('upstream.password'), beside: { CALENDAR_UPSTREAM_USER: 'ada' } },
  CALENDAR_UPSTREAM_READ_AS: {
    ...{ key: 'upstream.readAs', text: 'account', value: 'account', wrong: 'editor' },
    beside: { CALENDAR_UPSTREAM_USER: 'ada', CALENDAR_UPSTREAM_PASSWORD: 'abcd efgh' },
  },
  CALENDAR_UPSTREAM_USER_AGENT: {
    ...text('upstream.userAgent', 'Mozilla/5.0 (compatible; calendar-gateway)'),
    wrong: 'curl/8',
  },
  CALENDAR_UPSTREAM_LIMITS_CONNECTIONS: few('upstream.limits.connections', '257'),
  CALENDAR_UPSTREAM_LIMITS_DEADLINE_MS: whole('upstream.limits.deadlineMs', '15s'),
  CALENDAR_MAPPING: text('mapping', './mine.json'),
  CALENDAR_HOST: text('listen.host', '::1'),
  CALENDAR_PORT: whole('listen.port', '65536'),
  CALENDAR_ADMIN_HOST: text('listen.adminHost', '0.0.0.0'),
  CALENDAR_ADMIN_PORT: whole('listen.adminPort', '65536'),
  CALENDAR_TRUST_PROXIES: {
    key: 'listen.trustProxies',
    text: '10.0.0.0/8, ::1',
    value: ['10.0.0.0/8', '::1'],
    wrong: '10.0.0.0/33',
  },
  CALENDAR_PUBLIC_URL: address('publicUrl'),
  CALENDAR_MOUNTS: { key: 'mounts', text: '/a/v1,', value: ['/calendar/events/v1', '/a/v1'], wrong: 'a/v1' },
  CALENDAR_MCP: { key: 'mcp', text: 'write', value: 'write', wrong: 'all' },
  CALENDAR_ALLOWED_ORIGINS: {
    key: 'allowedOrigins',
    text: 'https://www.example.org, http://localhost:5173',
    value: ['https://www.example.org', 'http://localhost:5173'],
    wrong: 'https://www.example.org/app',
  },
  CALENDAR_DATA_DIR: text('dataDir', '/var/lib/calendar'),
  CALENDAR_SYNC_INTERVAL: { key: 'sync.intervalS', text: '2.5', value: 2.5, wrong: '0.05' },
  CALENDAR_SYNC_SOURCES_INTERVAL: whole('sync.sourcesIntervalS', '59'),
  CALENDAR_SYNC_PRIVATE_SOURCES: { key: 'sync.privateSources', text: 'true', value: true, wrong: 'yes' },
  CALENDAR_SOURCES: {
    key: 'sources',
    text: '[{"name":"library","events":"https://library.example/v1","merge":false}]',
    value: [{ name: 'library', events: 'https://library.example/v1', merge: false }],
    wrong: '[{"name":"library"}]',
  },
  CALENDAR_LISTS_PER_PAGE: few('lists.perPage', '0'),
  CALENDAR_LISTS_MAX_PER_PAGE: few('lists.maxPerPage', '501'),
  CALENDAR_CACHE_MAX_AGE: whole('cache.maxAgeS'),
  CALENDAR_LIMITS_REQUESTS_PER_MINUTE: whole('limits.requestsPerMinute', 'unlimited'),
  CALENDAR_COST_SYMBOL: { ...text('cost.symbol', '€'), wrong: 'eleven char' },
  CALENDAR_COST_POSITION: { ...text('cost.position', 'postfix'), wrong: 'suffix' },
  CALENDAR_COST_CODE: { ...text('cost.code', 'EUR'), wrong: 'euro' },
  CALENDAR_PAGES_LANDING: off('pages.landing'),
  CALENDAR_PAGES_NAME: { ...text('pages.name', 'Town'), wrong: 'x'.repeat(101) },
  CALENDAR_PAGES_LOGO: address('pages.logo'),
  CALENDAR_PAGES_ACCENT: colour('pages.accent'),
  CALENDAR_PAGES_LOCALE: { ...text('pages.locale', 'en-GB'), wrong: 'tlh' },
  CALENDAR_WEBHOOK_SECRET: { ...text('webhook.secret', 'long enough'), wrong: 'hunter2' },
  CALENDAR_PUSH: {
    key: 'push',
    text: '[{"url":"https://builds.example/hook","quietS":30}]',
    value: [{ url: 'https://builds.example/hook', quietS: 30 }],
    wrong: '[{"url":"https://hunter2.example/"',
  },
  CALENDAR_REDIS_URL: { ...text('redisUrl', 'rediss://:pw@cache:6379'), wrong: 'hunter2:6379' },
  CALENDAR_LOG_LEVEL: { ...text('log.level', 'warn'), wrong: 'verbose' },
};

/** The settings that have a value: `listen.port` -> 3000. */
const settingsOf = (config: Config): Record<string, unknown> => {
  const valueAt = (key: string) =>
    key.split('.').reduce<unknown>((section, name) => (section as Record<string, unknown> | undefined)?.[name], config);
  return Object.fromEntries(keys.map(([key]) => [key, valueAt(key)]).filter(([, value]) => value !== undefined));
};

describe('the environment variable', () => {
  const { folder, loadError } = configFiles();
  const load = (env: Record<string, string>): Record<string, unknown> => {
    const warnings: string[] = [];
    const settings = settingsOf(loadConfig({ env: { ...SITE, ...env }, warn: (message) => warnings.push(message) }));
    expect(warnings).to.deep.equal([]);
    return settings;
  };

  it('exists for every key', () => {
    const tried = Object.values(VARIABLES).map(({ key }) => key);
    const advice = 'add its row to VARIABLES: a valid value, and a wrong one';
    for (const [key] of keys) expect(tried, advice).to.include(key);
    expect(tried).to.have.length(keys.length);
  });

  for (const [variable, { key, text, value, wrong, beside = {} }] of Object.entries(VARIABLES)) {
    const rule = keys.find(([name]) => name === key)?.[1];
    const defaults = () => settingsOf(loadConfig({ env: SITE }));
    const expected = () => {
      const others = Object.entries(beside).map(([name, other]) => [VARIABLES[name]!.key, other]);
      return { ...defaults(), ...Object.fromEntries(others), [key]: value };
    };

    it(`${variable} sets ${key}, and nothing else`, () => {
      expect(defaults()[key]).to.not.deep.equal(value);
      expect(load({ ...beside, [variable]: text })).to.deep.equal(expected());
    });

    if (rule?.writeOnly)
      it(`${variable}_FILE names a file with ${key}`, () => {
        const file = join(folder(), 'secret');
        writeFileSync(file, `${text}\n`);
        expect(load({ ...beside, [`${variable}_FILE`]: file })).to.deep.equal(expected());
      });

    it(`${variable} ${wrong === undefined ? 'has no wrong value: the schema asks for any text' : 'is named if it is wrong'}`, () => {
      if (wrong === undefined) {
        const { type, minLength, description: _, writeOnly: __, default: ___, ...more } = rule!;
        expect({ type, minLength, more }).to.deep.equal({ type: 'string', minLength: 1, more: {} });
        return;
      }
      const error = loadError({ env: { ...beside, [variable]: wrong } });
      expect(error.location).to.equal(variable);
      expect(error.message).to.not.include('hunter2');
    });
  }
});
