// A request that waits for its consistency token: it causes few polls.

import { expect } from 'chai';
import type { PeersPort } from '../../src/calendar/peers-port.ts';
import { createRequestPolls, waitForToken } from '../../src/http/consistency-token.ts';
import type { Context } from '../../src/http/state.ts';
import type { Sync } from '../../src/sync/sync.ts';

describe('a request that waits for its consistency token', () => {
  let nowMs: number;
  let polls: number[];
  let failures: number;
  let waiting: { untilMs: number; resolve: () => void }[];
  /** Whether the gateway shows what its peers have told. */
  let reaches: PeersPort['reaches'];
  let middleware: ReturnType<typeof waitForToken>;
  beforeEach(() => {
    [nowMs, polls, failures, waiting] = [0, [], 0, []];
    reaches = async () => true;
    const sync = { poll: async () => polls.push(nowMs) > 0, state: () => ({ failures }) } as unknown as Sync;
    const wait = (ms: number) =>
      new Promise<false>((resolve) => void waiting.push({ untilMs: nowMs + ms, resolve: () => resolve(false) }));
    const clock = { nowMs: () => nowMs, wait };
    const peers = { reaches: (...args: Parameters<PeersPort['reaches']>) => reaches(...args) } as PeersPort;
    middleware = waitForToken(peers, createRequestPolls(sync, clock));
  });

  /** Resolves with what the request threw; undefined if it continued. */
  const request = (token: string): Promise<unknown> =>
    middleware({ get: () => token } as unknown as Context, async () => undefined).catch((error: unknown) => error);

  async function pass(ms: number): Promise<void> {
    await new Promise(setImmediate);
    nowMs += ms;
    for (const { untilMs, resolve } of waiting) if (untilMs <= nowMs) resolve();
    await new Promise(setImmediate);
  }

  it('causes no poll if the gateway shows all that its token names', async () => {
    expect(await request('1-0')).to.equal(undefined);
    await pass(5000);
    expect(polls).to.deep.equal([]);
  });

  it('polls if the gateway does not reach the token', async () => {
    reaches = async () => false;
    const ended = request('1-0');
    await pass(0);
    expect(await ended).to.equal(undefined);
    expect(polls).to.deep.equal([0]);
  });

  describe('that only a poll confirms', () => {
    it('starts a poll immediately, and one a second at most for all clients', async () => {
      for (let tenth = 0; tenth < 100; tenth += 1) {
        for (let n = 0; n < 9; n += 1) void request('1-0+');
        await pass(0);
        await pass(100);
      }
      expect(polls).to.deep.equal(Array.from({ length: 11 }, (_, second) => second * 1000));
    });

    it('is confirmed by a poll that starts after it arrived', async () => {
      const first = request('1-0+');
      await pass(0);
      expect(await first).to.equal(undefined);
      let isConfirmed = false;
      void request('1-0+').then(() => {
        isConfirmed = true;
      });
      await pass(999);
      expect([isConfirmed, polls.length]).to.deep.equal([false, 1]);
      await pass(1);
      expect([isConfirmed, polls]).to.deep.equal([true, [0, 1000]]);
    });

    it('is not confirmed while polls fail, so that retry delays stay', async () => {
      failures = 1;
      expect(await request('1-0+')).to.include({ code: 'calendar_behind' });
      await pass(5000);
      expect(polls).to.deep.equal([]);
    });
  });
});
