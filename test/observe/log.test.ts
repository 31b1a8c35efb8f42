// Shows which lines the log writes, for machines and for people, and that credentials stand in none.

import { expect } from 'chai';
import type { Observation } from '../../src/observe/events.ts';
import { createLog, type LogOptions, withoutCredentials } from '../../src/observe/log.ts';

const REQUEST: Observation = {
  type: 'request',
  id: 'abc',
  method: 'GET',
  route: 'list /events',
  status: 200,
  cache: 'hit',
  durationMs: 1.23456,
};

describe('the log', () => {
  let written: string;
  const log = (options: Partial<LogOptions> = {}, isTTY = false) => {
    written = '';
    const stream = {
      isTTY,
      write(text: string) {
        written += text;
      },
    };
    return createLog({ level: 'info', requests: true, stream, ...options });
  };
  const lines = () =>
    written
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('writes JSON with the request id', () => {
    log()(REQUEST);
    const [line] = lines();
    expect(line).to.include({ level: 30, id: 'abc', status: 200, cache: 'hit', durationMs: 1.2 });
    expect(line).to.include({ msg: '200 GET list /events', type: 'request' });
    expect(Number.isNaN(Date.parse(String(line!.time)))).to.equal(false);
  });

  it('leaves requests out when asked, but not failures', () => {
    const observe = log({ requests: false });
    observe(REQUEST);
    expect(lines()).to.deep.equal([]);
    observe({ ...REQUEST, status: 502 });
    expect(lines()[0]).to.include({ level: 40, status: 502 });
  });

  it('is as loud as a thing is grave', () => {
    const observe = log({ level: 'warn' });
    observe(REQUEST);
    observe({ type: 'sync-state', from: 'copying', to: 'live', why: 'copied' });
    observe({ type: 'upstream-call', method: 'GET', path: '/', status: 200, durationMs: 1, attempt: 1 });
    expect(lines()).to.deep.equal([]);
    observe({ type: 'sync-state', from: 'live', to: 'away', why: 'timeout' });
    observe({ type: 'breaker', lane: 'sync', state: 'open' });
    observe({
      type: 'upstream-failed',
      method: 'GET',
      path: '/',
      reason: 'reset',
      durationMs: 1,
      message: 'broken off',
    });
    observe({ type: 'request-failed', id: 'x', error: new Error('unforeseen') });
    expect(lines().map(({ level }) => level)).to.deep.equal([40, 40, 40, 50]);
  });

  it('writes lines for people on a terminal, or where asked', () => {
    log({}, true)(REQUEST);
    expect(written).to.contain('200 GET list /events').and.contain('\x1b[');
    log({ pretty: true })(REQUEST);
    expect(written).to.contain('200 GET list /events').and.not.contain('\x1b');
    expect(() => JSON.parse(written)).to.throw(SyntaxError);
    log({ pretty: false }, true)(REQUEST);
    expect(lines()[0]).to.include({ id: 'abc' });
  });

  it('tells an error with its causes, and nothing that libraries hang on to them', () => {
    const cause = Object.assign(new Error('connect failed'), {
      code: 'ECONNREFUSED',
      request: { headers: { authorization: 'Basic aHVudGVyMjpzZWNyZXQ=' } },
    });
    log()({ type: 'request-failed', id: 'x', error: new Error('outer', { cause }) });
    const { err } = lines()[0] as { err: { message: string; stack: string; cause: object } };
    expect(err.message).to.equal('outer');
    expect(err.stack).to.contain('log.test.ts');
    expect(err.cause).to.include({ message: 'connect failed', code: 'ECONNREFUSED' });
    expect(written).not.to.contain('aHVudGVyMjpzZWNyZXQ=');
  });

  it('survives errors that are none, and causes in a circle', () => {
    const observe = log();
    for (const error of ['text', undefined, null, 5, { a: 1 }]) observe({ type: 'request-failed', id: 'x', error });
    const circle = new Error('round');
    circle.cause = circle;
    observe({ type: 'request-failed', id: 'x', error: circle });
    expect(lines().length).to.equal(6);
  });

  it('takes credentials out of every text', () => {
    const secret = Buffer.from('admin:hunter2 hunter2').toString('base64');
    const text = `GET https://admin:hunter2@site.test/ with Authorization: Basic ${secret} and "bearer eyJhbGci.x-y_z"`;
    for (const pretty of [true, false]) {
      const observe = log({ level: 'debug', pretty });
      observe({ type: 'notice', level: 'info', message: text });
      observe({ type: 'upstream-failed', method: 'GET', path: '/', reason: 'reset', durationMs: 1, message: text });
      observe({ type: 'sync-state', from: 'live', to: 'away', why: text });
      observe({ type: 'request-failed', id: 'x', error: new Error(text, { cause: text }) });
      expect(written).to.contain('site.test');
      for (const part of ['hunter2', secret, 'eyJhbGci']) expect(written).not.to.contain(part);
    }
    expect(withoutCredentials('See https://site.test/a@b and basic needs')).to.equal(
      'See https://site.test/a@b and basic needs',
    );
  });

  describe('of a first copy', () => {
    const copy = (observe: (seen: Observation) => void) => {
      for (let done = 0; done <= 1000; done += 10) {
        observe({ type: 'sync-progress', collection: 'event', done, total: 1000 });
      }
    };

    it('writes a line now and then', () => {
      copy(log());
      expect(lines().length).to.equal(11);
      expect(lines().at(-1)).to.include({ msg: 'copying event: 1000 of 1000', done: 1000, total: 1000 });
    });

    it('draws a bar on a terminal, wiped before each line and gone at the end', () => {
      const observe = log({}, true);
      observe({ type: 'sync-progress', collection: 'event', done: 50, total: 100 });
      observe({ type: 'sync-progress', collection: 'venue', done: 0, total: 100 });
      expect(written.endsWith('25 %, 50 of 200 records')).to.equal(true);
      expect(written).not.to.contain('\n');
      observe(REQUEST);
      const [line, bar] = written.split('\r\x1b[K').at(-1)!.split('\n');
      expect(line).to.contain('200 GET');
      expect(bar).to.contain('25 %');
      observe({ type: 'sync-state', from: 'copying', to: 'live', why: 'copied' });
      expect(written.endsWith('\n')).to.equal(true);
    });

    it('is not told where nothing is', () => {
      copy(log({ level: 'silent' }, true));
      expect(written).to.equal('');
    });
  });
});
