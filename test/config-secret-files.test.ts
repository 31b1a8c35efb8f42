// Credentials in files, as container platforms mount them.

import { execFileSync } from 'node:child_process';
import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig, SETTINGS } from '../src/config.ts';
import { ConfigError } from '../src/errors.ts';
import { configFiles, partsOf, SITE } from './config-fixture.ts';

describe('a secret in a file', () => {
  const { folder, file } = configFiles();

  const secret = (path: string, more = {}) =>
    loadConfig({ env: { ...SITE, CALENDAR_UPSTREAM_USER: 'ada', CALENDAR_UPSTREAM_PASSWORD_FILE: path, ...more } });
  const secretFile = (content: string | Buffer, mode = 0o600): string => {
    const path = join(folder(), 'secret');
    rmSync(path, { force: true });
    writeFileSync(path, content, { mode });
    return path;
  };
  function problem(path: string, more = {}): ConfigError {
    try {
      secret(path, more);
    } catch (error) {
      expect(error).to.be.instanceOf(ConfigError);
      expect(partsOf(error as ConfigError).location).to.equal('CALENDAR_UPSTREAM_PASSWORD_FILE');
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
      'CALENDAR_SOURCES_FILE',
      'CALENDAR_WEBHOOK_SECRET_FILE',
      'CALENDAR_PUSH_FILE',
      'CALENDAR_REDIS_URL_FILE',
    ]);
    const texts = variables.filter((name) => !/SOURCES|PUSH|REDIS/.test(name));
    writeFileSync(path, 'redis//no-colon');
    const config = loadConfig({
      env: { ...SITE, ...Object.fromEntries(texts.map((name) => [name, path])) },
    });
    expect(config.upstream).to.include({ user: 'redis//no-colon', password: 'redis//no-colon' });
    expect(config.webhook.secret).to.equal('redis//no-colon');
    const sources = [{ name: 'library', icalendar: 'https://library.example/secret.ics' }];
    writeFileSync(path, JSON.stringify(sources));
    expect(loadConfig({ env: { ...SITE, CALENDAR_SOURCES_FILE: path } }).sources).to.deep.equal(sources);
    const push = [{ url: 'https://hooks.example/build?key=secret', quietS: 60 }];
    writeFileSync(path, JSON.stringify(push));
    expect(loadConfig({ env: { ...SITE, CALENDAR_PUSH_FILE: path } }).push).to.deep.include(push[0]);
    writeFileSync(path, 'redis://cache:6379\n');
    expect(loadConfig({ env: { ...SITE, CALENDAR_REDIS_URL_FILE: path } }).redisUrl).to.equal('redis://cache:6379');
  });

  it('holds as many sources as the settings may name', () => {
    const sources = Array.from({ length: 100 }, (_, n) => ({
      ...{ name: `source-${n}`, icalendar: `https://library.example/${'x'.repeat(1900)}/${n}.ics` },
      categories: Array.from({ length: 20 }, (_each, at) => `${at}${'c'.repeat(190)}`),
    }));
    const path = secretFile(JSON.stringify(sources));
    expect(loadConfig({ env: { ...SITE, CALENDAR_SOURCES_FILE: path } }).sources).to.deep.equal(sources);
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
    expect(loadConfig({ file: site, env: { CALENDAR_UPSTREAM_PASSWORD_FILE: '' } }).upstream.password).to.equal('old');
  });

  it('is refused beside the variable itself', () => {
    const { message } = problem(secretFile('hunter2'), { CALENDAR_UPSTREAM_PASSWORD: 'hunter3' });
    expect(message).to.match(/is set, and CALENDAR_UPSTREAM_PASSWORD too/);
  });

  it('is refused if it is empty, long, binary or has two lines', () => {
    for (const [content, reason] of [
      ['', /is empty, or/],
      ['\n', /is empty, or/],
      [' \n', /is empty, or/],
      ['hunter2\nhunter3\n', /more than one line/],
      ['CALENDAR_UPSTREAM_USER="x"\nCALENDAR_UPSTREAM_PASSWORD="hunter2"\n', /more than one line/],
      ['hunter\0', /control characters/],
      [Buffer.from([0xff, 0xfe, 0x41]), /not UTF-8/],
      ['hunter'.repeat(200_000), /not a regular file of at most 1048576 bytes/],
    ] as const)
      expect(problem(secretFile(content)).message, JSON.stringify(content)).to.match(reason);
  });

  it('is refused, without waiting or reading it all, if it is huge, endless, a pipe or a directory', () => {
    const huge = secretFile('');
    truncateSync(huge, 2 ** 30);
    const before = process.memoryUsage().arrayBuffers;
    expect(problem(huge).message).to.match(/not a regular file of at most 1048576 bytes/);
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(2 ** 20);
    expect(problem('/dev/zero').message).to.match(/not a regular file/);
    expect(problem(folder()).message).to.match(/not a regular file/);
    const pipe = join(folder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(problem(pipe).message).to.match(/not a regular file/);
  });

  it('is refused if it is missing, or below a file', () => {
    expect(problem(join(folder(), 'none')).message).to.match(/cannot be read \(ENOENT\)/);
    expect(problem(`${secretFile('hunter2')}/below`).message).to.match(/cannot be read \(ENOTDIR\)/);
  });
});
