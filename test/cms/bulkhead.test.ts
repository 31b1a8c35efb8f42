// How bulkheads divide the connections to the CMS: no bulkhead can take them all.

import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { createBulkheads, sharesOf } from '../../src/cms/bulkhead.ts';
import type { BulkheadName } from '../../src/cms/port.ts';
import { CmsUnavailable } from '../../src/errors.ts';

const NAMES: readonly BulkheadName[] = ['anonymous', 'logins', 'callers', 'sync'];

describe('bulkheads', () => {
  let bulkheads: ReturnType<typeof createBulkheads>;
  /** Names of the started calls, in order. */
  let started: string[];
  /** Functions that end the running calls. */
  let finish: (() => void)[];
  const { signal } = new AbortController();

  beforeEach(() => {
    bulkheads = createBulkheads({ connections: 8, queue: 100 }, () => {});
    started = [];
    finish = [];
  });

  /** Starts a call that runs until the test finishes it; resolves with its error. */
  function call(name: string, bulkhead: BulkheadName, clientSignal: AbortSignal = signal): Promise<unknown> {
    const task = () => {
      started.push(name);
      return new Promise<void>((end) => void finish.push(end));
    };
    return bulkheads.run(bulkhead, task, clientSignal).catch((error: unknown) => error);
  }
  const calls = (count: number, bulkhead: BulkheadName) =>
    Array.from({ length: count }, (_, n) => call(`${bulkhead} ${n}`, bulkhead));
  const settle = () => new Promise(setImmediate);

  for (const flooding of NAMES) {
    it(`keep a connection for each other bulkhead while ${flooding} is flooded`, async () => {
      const rejected = Promise.any(calls(500, flooding));
      for (const name of NAMES) if (name !== flooding) void call(name, name);
      await settle();
      for (const name of NAMES) if (name !== flooding) expect(started).to.include(name);
      expect(await rejected)
        .to.be.instanceOf(CmsUnavailable)
        .and.to.include({ reason: 'busy' });
    });
  }

  it('give anonymous calls one connection and twenty places in the queue', async () => {
    const anonymous = calls(100, 'anonymous');
    await settle();
    expect(started).to.deep.equal(['anonymous 0']);
    const errors = await Promise.all(anonymous.slice(21));
    for (const error of errors) expect(error).to.include({ reason: 'busy', retryAfterS: 1 });
    for (const [n, waiting] of anonymous.slice(0, 21).entries()) {
      expect(started).to.have.length(n + 1);
      finish[n]!();
      expect(await waiting).to.equal(undefined);
      await settle();
    }
    expect(started).to.have.length(21);
  });

  it('let the call of another account be the next, whatever one account sends', async () => {
    const callAs = (account: string) => {
      const task = () => {
        started.push(account);
        return new Promise<void>((end) => void finish.push(end));
      };
      return bulkheads.run('callers', task, signal, account).catch((error: unknown) => error);
    };
    const flood = Array.from({ length: 100 }, () => callAs('subscriber'));
    void callAs('editor');
    await settle();
    expect(started).to.deep.equal(['subscriber', 'subscriber', 'editor']);
    expect(await flood.at(-1)).to.include({ reason: 'busy' });
  });

  it('release an aborted call, both queued and running', async () => {
    const client = new AbortController();
    calls(3, 'callers');
    const queued = call('queued', 'callers', client.signal);
    client.abort(new Error('client abort'));
    expect(await queued).to.have.property('message', 'client abort');
    for (const end of finish) end();
    await settle();
    calls(3, 'callers');
    await settle();
    expect(started).to.have.length(6).and.not.include('queued');
  });

  it('keep nothing of an ended call, whose signal lives as long as the sync', async () => {
    const { signal: ofSync } = new AbortController();
    await bulkheads.run('sync', async () => 'answer', ofSync);
    await bulkheads.run('sync', () => Promise.reject(new Error('failed')), ofSync).catch(() => {});
    expect(getEventListeners(ofSync, 'abort')).to.deep.equal([]);
  });

  it('never have more connections than exist, if these can be divided', () => {
    for (let connections = 1; connections <= 256; connections += 1) {
      const shares = Object.values(sharesOf({ connections, queue: 100 })).map((share) => share.connections);
      const sum = shares.reduce((total, share) => total + share, 0);
      expect(sum, String(connections)).to.be.at.most(Math.max(4, connections));
      for (const share of shares) expect(share).to.be.at.least(1);
    }
  });
});
