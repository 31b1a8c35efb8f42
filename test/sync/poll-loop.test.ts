// The loop of polls: one at a time, at intervals, and immediately on request.

import { expect } from 'chai';
import { PollLoop } from '../../src/sync/poll-loop.ts';
import { until } from '../until.ts';

describe('poll loop', () => {
  let controller: AbortController;
  let loop: PollLoop;
  let polls: PromiseWithResolvers<boolean>[];

  /** Each poll runs until the test resolves it; the pause between two polls never ends. */
  beforeEach(() => {
    controller = new AbortController();
    polls = [];
    loop = new PollLoop({
      poll() {
        const poll = Promise.withResolvers<boolean>();
        polls.push(poll);
        return poll.promise;
      },
      pauseMs: () => 2 ** 30,
      clockMs: () => 0,
      signal: controller.signal,
    });
    loop.start();
  });
  afterEach(async () => {
    controller.abort();
    for (const poll of polls) poll.resolve(false);
    await loop.stop();
  });

  const started = (count: number) => until(() => polls.length === count, `poll ${count} starts`);
  /** Lets everything run that waits for a resolved promise. */
  const settle = () => new Promise(setImmediate);

  it('polls once at the start, and then pauses', async () => {
    polls[0]?.resolve(true);
    await settle();
    expect(polls).to.have.length(1);
  });

  it('ends the pause for a requested poll, and resolves with its result', async () => {
    polls[0]?.resolve(true);
    await settle();
    const requested = loop.pollNow();
    await started(2);
    polls[1]?.resolve(true);
    expect(await requested).to.equal(true);
  });

  it('starts one more poll for all requests during a poll', async () => {
    const requests = [loop.pollNow(), loop.pollNow()];
    await settle();
    expect(polls).to.have.length(1);
    polls[0]?.resolve(true);
    await started(2);
    polls[1]?.resolve(false);
    expect(await Promise.all(requests)).to.deep.equal([false, false]);
    await settle();
    expect(polls).to.have.length(2);
  });

  it('polls again after the running poll if asked to', async () => {
    void loop.pollNow();
    polls[0]?.resolve(false);
    await started(2);
  });

  it('resolves requested polls with false when it stops', async () => {
    const requested = loop.pollNow();
    controller.abort();
    polls[0]?.resolve(true);
    await loop.stop();
    expect(await requested).to.equal(false);
    expect(await loop.pollNow()).to.equal(false);
  });
});
