// How often requests cause a poll, and how long they wait for it.

import { expect } from 'chai';
import { createRequestPolls } from '../../src/http/consistency-token.ts';
import type { Sync } from '../../src/sync/sync.ts';
import { initialSyncState } from '../../src/sync/sync-state.ts';

describe('a poll for requests', () => {
  let nowMs: number;
  let polls: number[];
  let failures: number;
  let under: PromiseWithResolvers<boolean>;
  let waiting: { untilMs: number; resolve: () => void }[];
  let poll: (mayBeRecent?: boolean) => Promise<boolean>;
  beforeEach(() => {
    [nowMs, polls, failures, waiting] = [0, [], 0, []];
    under = Promise.withResolvers();
    under.resolve(true);
    const sync: Pick<Sync, 'poll' | 'state'> = {
      poll() {
        polls.push(nowMs);
        return under.promise;
      },
      state: () => ({ ...initialSyncState(0), failures }),
    };
    const wait = (ms: number) =>
      new Promise<false>((resolve) => void waiting.push({ untilMs: nowMs + ms, resolve: () => resolve(false) }));
    const pollWithin = createRequestPolls(sync, { nowMs: () => nowMs, wait });
    poll = (mayBeRecent = true) => pollWithin({ maxMs: 5000, mayBeRecent });
  });

  const settle = () => new Promise(setImmediate);
  async function pass(ms: number): Promise<void> {
    nowMs += ms;
    for (const { untilMs, resolve } of waiting) if (untilMs <= nowMs) resolve();
    await settle();
  }

  for (const mayBeRecent of [true, false]) {
    const which = mayBeRecent ? 'take a recent one' : 'need a new one';
    it(`starts immediately, at most once per second for all clients that ${which}`, async () => {
      for (let tenth = 0; tenth < 95; tenth += 1) {
        for (let n = 0; n < 9; n += 1) void poll(mayBeRecent);
        await pass(0);
        await pass(100);
      }
      expect(polls).to.deep.equal(Array.from({ length: 10 }, (_, second) => second * 1000));
    });
  }

  it('is shared by all clients that wait for it', async () => {
    under = Promise.withResolvers();
    let received = 0;
    const asks = [1, 2, 3].map(() => poll().then(() => (received += 1)));
    await pass(0);
    expect([polls.length, received]).to.deep.equal([1, 0]);
    under.resolve(true);
    await Promise.all(asks);
    await poll();
    expect(polls).to.deep.equal([0]);
  });

  it('does not start while polls fail, so that retry delays stay', async () => {
    failures = 1;
    for (let n = 0; n < 10; n += 1) await poll();
    await pass(5000);
    await poll();
    expect(polls).to.deep.equal([]);
  });

  it('delays a response by five seconds at most', async () => {
    under = Promise.withResolvers();
    let over = false;
    const slow = poll().then(() => {
      over = true;
    });
    await pass(0);
    await pass(4999);
    expect(over).to.equal(false);
    await pass(1);
    await slow;
    under.resolve(false);
  });
});
