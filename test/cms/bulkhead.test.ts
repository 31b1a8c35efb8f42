// How bulkheads divide the connections to the CMS: no bulkhead and no user can take them all.

import { expect } from 'chai';
import { type Bulkheads, bulkheadLimits, createBulkheads } from '../../src/cms/bulkhead.ts';
import type { BulkheadName } from '../../src/cms/port.ts';
import { CmsUnavailable } from '../../src/errors.ts';

const NAMES: readonly BulkheadName[] = ['anonymous', 'logins', 'callers', 'sync'];

describe('bulkheads', () => {
  let bulkheads: Bulkheads;
  /** Names of the started calls, in order. */
  let started: string[];
  /** Functions that end a running call, by its name. */
  let finish: Map<string, () => void>;
  const { signal } = new AbortController();

  beforeEach(() => {
    bulkheads = createBulkheads({ connections: 8, queue: 100 }, () => {});
    started = [];
    finish = new Map();
  });

  /** Starts a call that runs until the test finishes it; resolves with its error. */
  function call(
    name: string,
    bulkhead: BulkheadName,
    fairnessKey?: string,
    clientSignal: AbortSignal = signal,
  ): Promise<unknown> {
    const task = () => {
      started.push(name);
      return new Promise<void>((end) => void finish.set(name, end));
    };
    return bulkheads.run({ bulkhead, fairnessKey }, task, clientSignal).catch((error: unknown) => error);
  }
  const calls = (count: number, bulkhead: BulkheadName, fairnessKey?: string) =>
    Array.from({ length: count }, (_, n) => call(`${bulkhead} ${fairnessKey ?? ''} ${n}`, bulkhead, fairnessKey));
  const settle = () => new Promise(setImmediate);
  const countStarted = (prefix: string) => started.filter((name) => name.startsWith(prefix)).length;

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

  it('give anonymous calls at most two connections and twenty places in the queue', async () => {
    const anonymous = calls(100, 'anonymous');
    await settle();
    expect(countStarted('anonymous')).to.equal(2);
    const errors = await Promise.all(anonymous.slice(22));
    for (const error of errors) expect(error).to.include({ reason: 'busy', retryAfterS: 1 });
  });

  it('give unreserved connections to the first call', async () => {
    calls(100, 'callers');
    await settle();
    expect(countStarted('callers')).to.equal(5);
  });

  it("leave one connection of a bulkhead to other users, however long one user's calls last", async () => {
    calls(60, 'callers', 'first');
    await settle();
    expect(countStarted('callers')).to.equal(4);
    void call('other user', 'callers', 'second');
    await settle();
    expect(started).to.include('other user');
    bulkheads = createBulkheads({ connections: 8, queue: 100 }, () => {});
    calls(60, 'anonymous', '192.0.2.1');
    void call('other network', 'anonymous', '192.0.2.2');
    await settle();
    expect(countStarted('anonymous')).to.equal(1);
    expect(started).to.include('other network');
  });

  it('give one user at most half of a queue', async () => {
    const first = calls(200, 'callers', 'first');
    for (const error of await Promise.all(first.slice(54))) expect(error).to.include({ reason: 'busy' });
    const other = call('other user', 'callers', 'second');
    expect(await Promise.race([other, settle().then(() => 'queued')])).to.equal('queued');
  });

  it('take turns if there are too few connections to divide', async () => {
    bulkheads = createBulkheads({ connections: 1, queue: 10 }, () => {});
    for (const n of [1, 2, 3]) for (const name of NAMES) void call(`${name} ${n}`, name);
    for (let done = 0; done < 8; done += 1) {
      await settle();
      finish.get(started.at(-1)!)!();
    }
    for (const name of NAMES) expect(countStarted(name), name).to.equal(2);
  });

  it('release an aborted call, both queued and running', async () => {
    const client = new AbortController();
    calls(5, 'callers');
    const queued = call('queued', 'callers', undefined, client.signal);
    client.abort(new Error('client abort'));
    expect(await queued).to.have.property('message', 'client abort');
    for (const end of finish.values()) end();
    await settle();
    calls(5, 'callers');
    await settle();
    expect(countStarted('callers')).to.equal(10);
  });

  it('never reserve more connections than exist', () => {
    for (let connections = 1; connections <= 256; connections += 1) {
      const limits = Object.values(bulkheadLimits({ connections, queue: 100 }));
      const reserved = limits.reduce((total, limit) => total + limit.reserved, 0);
      expect(reserved, String(connections)).to.be.at.most(connections);
      for (const { max } of limits) expect(max).to.be.at.least(1).and.at.most(connections);
    }
  });
});
