// The lines of the log, as JSON and for people; credentials appear in none of them.

import { expect } from 'chai';
import { createLog, type LogOptions, redactCredentials } from '../../src/observability/log.ts';
import type { Observation } from '../../src/observability/observations.ts';

const REQUEST: Observation = {
  type: 'request',
  id: 'abc',
  method: 'GET',
  route: 'list /events',
  status: 200,
  cache: 'hit',
  durationMs: 1.23456,
};

describe('log', () => {
  let output: string;
  const log = (options: Partial<LogOptions> = {}, isTTY = false) => {
    output = '';
    const stream = {
      isTTY,
      write(text: string) {
        output += text;
      },
    };
    return createLog({ level: 'info', stream, ...options });
  };
  const lines = () =>
    output
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

  it('writes the same fields in the same order for a request, whether it succeeds or fails', () => {
    const observe = log();
    observe(REQUEST);
    observe({ ...REQUEST, status: 502 });
    const [succeeded, failed] = lines();
    expect(Object.keys(succeeded!)).to.deep.equal(Object.keys(failed!));
    expect({ ...succeeded, level: 40, time: failed!.time, status: 502, msg: failed!.msg }).to.deep.equal(failed);
  });

  it('writes decisions of the sync at level debug only', () => {
    const values = { ids: [3, 7], reason: 'in no list' };
    const decision: Observation = { type: 'sync-decision', collection: 'events', decision: 'fetch', values };
    log()(decision);
    expect(output).to.equal('');
    log({ level: 'debug' })(decision);
    expect(lines()[0]).to.deep.include({ level: 20, type: 'sync-decision', msg: 'events: fetch', values });
  });

  it('names the level of a line once: readers of JSON disagree about a key that is there twice', () => {
    log()({ type: 'message', level: 'warn', message: 'a text' });
    expect(output.match(/"level":/g)).to.have.length(1);
    expect(lines()[0]).to.include({ level: 40, type: 'message', msg: 'a text' });
  });

  it('assigns levels by severity', () => {
    const observe = log({ level: 'warn' });
    observe(REQUEST);
    observe({ type: 'sync-state', from: 'syncing', to: 'live', why: 'synced' });
    observe({ type: 'cms-call', method: 'GET', path: '/', status: 200, durationMs: 1, attempt: 1 });
    expect(lines()).to.deep.equal([]);
    observe({ type: 'sync-state', from: 'live', to: 'unreachable', why: 'timeout' });
    observe({ type: 'breaker', bulkhead: 'sync', state: 'open' });
    observe({
      type: 'cms-failed',
      method: 'GET',
      path: '/',
      reason: 'reset',
      durationMs: 1,
      message: 'aborted',
    });
    observe({ type: 'request-failed', id: 'x', error: new Error('unexpected') });
    expect(lines().map(({ level }) => level)).to.deep.equal([40, 40, 40, 50]);
  });

  it('formats lines for people on a terminal', () => {
    log({}, true)(REQUEST);
    expect(output).to.contain('200 GET list /events').and.contain('\x1b[');
    expect(() => JSON.parse(output)).to.throw(SyntaxError);
  });

  it('describes an error with its causes, without the properties that libraries add', () => {
    const cause = Object.assign(new Error('connect failed'), {
      code: 'ECONNREFUSED',
      request: { headers: { authorization: 'Basic aHVudGVyMjpzZWNyZXQ=' } },
    });
    log()({ type: 'request-failed', id: 'x', error: new Error('outer', { cause }) });
    const { err } = lines()[0] as { err: { message: string; stack: string; cause: object } };
    expect(err.message).to.equal('outer');
    expect(err.stack).to.contain('log.test.ts');
    expect(err.cause).to.include({ message: 'connect failed', code: 'ECONNREFUSED' });
    expect(output).not.to.contain('aHVudGVyMjpzZWNyZXQ=');
  });

  it('handles thrown values that are not errors, and circular causes', () => {
    const observe = log();
    for (const error of ['text', undefined, null, 5, { a: 1 }]) observe({ type: 'request-failed', id: 'x', error });
    const circle = new Error('circular');
    circle.cause = circle;
    observe({ type: 'request-failed', id: 'x', error: circle });
    expect(lines().length).to.equal(6);
  });

  it('redacts credentials in every text', () => {
    const secret = Buffer.from('admin:hunter2 hunter2').toString('base64');
    const text = `GET https://admin:hunter2@site.test/ with Authorization: Basic ${secret} and "bearer eyJhbGci.x-y_z"`;
    for (const pretty of [true, false]) {
      const observe = log({ level: 'debug' }, pretty);
      observe({ type: 'message', level: 'info', message: text });
      observe({ type: 'cms-failed', method: 'GET', path: '/', reason: 'reset', durationMs: 1, message: text });
      observe({ type: 'sync-state', from: 'live', to: 'unreachable', why: text });
      observe({ type: 'replica-quarantined', file: 'calendar.sqlite.quarantined', reason: text });
      observe({ type: 'request-failed', id: 'x', error: new Error(text, { cause: text }) });
      expect(output).to.contain('site.test');
      for (const part of ['hunter2', secret, 'eyJhbGci']) expect(output).not.to.contain(part);
    }
    expect(redactCredentials('refused users API-Key 3b241101-e2bb, JWT eyJhb.eyJp.x')).to.equal(
      'refused users API-Key (removed), JWT (removed)',
    );
    for (const text of ['jwt malformed', 'JWT verification failed', 'API-Key authentication'])
      expect(redactCredentials(text)).to.equal(text);
    expect(redactCredentials('See https://site.test/a@b and basic needs')).to.equal(
      'See https://site.test/a@b and basic needs',
    );
  });

  it('writes nothing at level silent', () => {
    log({ level: 'silent' }, true)({ type: 'sync-progress', collection: 'events', done: 10, total: 1000 });
    expect(output).to.equal('');
  });
});
