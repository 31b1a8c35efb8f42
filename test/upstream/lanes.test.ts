// Shows how the connections to the CMS are divided: no lane and no user can take them from the others.

import { expect } from 'chai';
import { UpstreamAway } from '../../src/errors.ts';
import type { LaneName } from '../../src/upstream/port.ts';
import { createLanes, type Lanes, laneLimits } from '../../src/upstream/protection.ts';

const NAMES: readonly LaneName[] = ['anonymous', 'logins', 'callers', 'sync'];

describe('the lanes to the CMS', () => {
  let lanes: Lanes;
  /** Names of the calls under way, in the order in which they began. */
  let begun: string[];
  let ends: Map<string, () => void>;
  beforeEach(() => {
    lanes = createLanes({ connections: 8, queue: 100 }, () => {});
    begun = [];
    ends = new Map();
  });
  const { signal } = new AbortController();

  /** Begins a call that lasts until it is ended; resolves with why it was refused. */
  function call(name: string, lane: LaneName, share?: string, until: AbortSignal = signal): Promise<unknown> {
    const task = () => {
      begun.push(name);
      return new Promise<void>((end) => void ends.set(name, end));
    };
    return lanes.run({ lane, share }, task, until).catch((error: unknown) => error);
  }
  const many = (times: number, lane: LaneName, share?: string) =>
    Array.from({ length: times }, (_, n) => call(`${lane} ${share ?? ''} ${n}`, lane, share));
  const settle = () => new Promise(setImmediate);
  const running = (lane: string) => begun.filter((name) => name.startsWith(lane)).length;

  for (const flooding of NAMES) {
    it(`keep a connection for each of the others when ${flooding} calls without end`, async () => {
      const refused = Promise.any(many(500, flooding));
      for (const lane of NAMES) if (lane !== flooding) void call(lane, lane);
      await settle();
      for (const lane of NAMES) if (lane !== flooding) expect(begun).to.include(lane);
      expect(await refused)
        .to.be.instanceOf(UpstreamAway)
        .and.to.include({ reason: 'busy' });
    });
  }

  it('give the anonymous two connections at most, and turn them away when twenty wait', async () => {
    const calls = many(100, 'anonymous');
    await settle();
    expect(running('anonymous')).to.equal(2);
    const refused = await Promise.all(calls.slice(22));
    for (const error of refused) expect(error).to.include({ reason: 'busy', retryAfterS: 1 });
  });

  it('give connections that no other lane has reserved to the first call', async () => {
    many(100, 'callers');
    await settle();
    expect(running('callers')).to.equal(5);
  });

  it('let the users of a lane take turns, however many calls one of them makes', async () => {
    many(20, 'callers', 'one');
    many(20, 'callers', 'two');
    for (let n = 0; n < 10; n += 1) {
      await settle();
      const [first] = ends.keys();
      ends.get(first!)!();
      ends.delete(first!);
    }
    await settle();
    // In the order of arrival alone, the second would have had two of these.
    expect(running('callers one') + running('callers two')).to.equal(15);
    expect(running('callers two')).to.be.at.least(5);
  });

  it('leave a connection of a lane to its other users, however long the calls of one last', async () => {
    many(60, 'callers', 'one');
    await settle();
    expect(running('callers')).to.equal(4);
    void call('the other', 'callers', 'two');
    await settle();
    expect(begun).to.include('the other');
    lanes = createLanes({ connections: 8, queue: 100 }, () => {});
    many(60, 'anonymous', '192.0.2.1');
    void call('the other network', 'anonymous', '192.0.2.2');
    await settle();
    expect(running('anonymous')).to.equal(1);
    expect(begun).to.include('the other network');
  });

  it('give one user half of a queue and no more', async () => {
    const mine = many(200, 'callers', 'one');
    for (const error of await Promise.all(mine.slice(54))) expect(error).to.include({ reason: 'busy' });
    const other = call('the other', 'callers', 'two');
    const told = await Promise.race([other, settle().then(() => 'waits')]);
    expect(told).to.equal('waits');
  });

  it('serve the lanes in turn where there are too few connections to divide', async () => {
    lanes = createLanes({ connections: 1, queue: 10 }, () => {});
    for (const n of [1, 2, 3]) for (const lane of NAMES) void call(`${lane} ${n}`, lane);
    for (let done = 0; done < 8; done += 1) {
      await settle();
      ends.get(begun.at(-1)!)!();
    }
    for (const lane of NAMES) expect(running(lane), lane).to.equal(2);
  });

  it('let go of a call that its caller gives up, whether it waits or runs', async () => {
    const giveUp = new AbortController();
    many(5, 'callers');
    const waiting = call('waiting', 'callers', undefined, giveUp.signal);
    giveUp.abort(new Error('gone'));
    expect(await waiting).to.have.property('message', 'gone');
    for (const end of ends.values()) end();
    await settle();
    many(5, 'callers');
    await settle();
    expect(running('callers')).to.equal(10);
  });

  it('never reserve more connections than there are', () => {
    for (let connections = 1; connections <= 256; connections += 1) {
      const divided = Object.values(laneLimits({ connections, queue: 100 }));
      const reserved = divided.reduce((all, one) => all + one.reserved, 0);
      expect(reserved, String(connections)).to.be.at.most(connections);
      for (const { most } of divided) expect(most).to.be.at.least(1).and.at.most(connections);
    }
  });
});
