// Shows how often callers who ask for fresh answers make the gateway poll the CMS.

import { expect } from 'chai';
import { createOnDemandPoll } from '../../src/http/on-demand-poll.ts';
import type { Sync } from '../../src/replica/sync.ts';
import { initialStanding } from '../../src/replica/sync-state.ts';

describe('a poll on demand', () => {
  let nowMs: number;
  let polls: number[];
  let failures: number;
  let under: PromiseWithResolvers<boolean>;
  let waiting: { untilMs: number; resolve: () => void }[];
  let poll: () => Promise<void>;
  beforeEach(() => {
    [nowMs, polls, failures, waiting] = [0, [], 0, []];
    under = Promise.withResolvers();
    under.resolve(true);
    const sync: Pick<Sync, 'look' | 'standing'> = {
      look() {
        polls.push(nowMs);
        return under.promise;
      },
      standing: () => ({ ...initialStanding(0), failures }),
    };
    const wait = (ms: number) => new Promise<void>((resolve) => void waiting.push({ untilMs: nowMs + ms, resolve }));
    poll = createOnDemandPoll({ sync, clockMs: () => nowMs, wait });
  });

  const settle = () => new Promise(setImmediate);
  async function pass(ms: number): Promise<void> {
    nowMs += ms;
    for (const { untilMs, resolve } of waiting) if (untilMs <= nowMs) resolve();
    await settle();
  }

  it('begins at once, and once a second however many ask', async () => {
    for (let tenth = 0; tenth < 100; tenth += 1) {
      for (let n = 0; n < 9; n += 1) void poll();
      await pass(100);
    }
    expect(polls).to.deep.equal(Array.from({ length: 10 }, (_, second) => second * 1000));
  });

  it('is shared by callers who ask while it runs, and ends their wait', async () => {
    under = Promise.withResolvers();
    let told = 0;
    const asks = [1, 2, 3].map(() => poll().then(() => (told += 1)));
    await settle();
    expect([polls.length, told]).to.deep.equal([1, 0]);
    under.resolve(true);
    await Promise.all(asks);
    await poll();
    expect(polls).to.deep.equal([0]);
  });

  it('does not begin while polls fail: the pauses between them are not shortened', async () => {
    failures = 1;
    for (let n = 0; n < 10; n += 1) await poll();
    await pass(5000);
    await poll();
    expect(polls).to.deep.equal([]);
  });

  it('is waited for five seconds and no longer', async () => {
    under = Promise.withResolvers();
    let over = false;
    const slow = poll().then(() => {
      over = true;
    });
    await pass(4999);
    expect(over).to.equal(false);
    await pass(1);
    await slow;
    under.resolve(false);
  });
});
