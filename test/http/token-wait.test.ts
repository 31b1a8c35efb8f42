// A request that waits for its consistency token: ends when its client disconnects, and causes few polls.

import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { createConsistencyTokens } from '../../src/cluster/consistency-token.ts';
import type { ClusterNode } from '../../src/cluster/node.ts';
import { waitForToken } from '../../src/http/consistency-token.ts';
import type { Context } from '../../src/http/state.ts';

const { signal: SIGNAL } = new AbortController();
const never = new Promise<never>(() => {});

describe('a request that waits for its consistency token', () => {
  /** Resolves when the request has ended, with what it threw. */
  function request(res: EventEmitter): Promise<unknown> {
    const waitFor = (_token: string, _withinMs: number, signal: AbortSignal) =>
      new Promise<boolean>((resolve) => {
        if (signal.aborted) resolve(false);
        signal.addEventListener('abort', () => resolve(false));
      });
    const ctx = { get: () => '1-0', res } as unknown as Context;
    return waitForToken({ consistencyToken: () => '', waitFor })(ctx, () => never).catch((error: unknown) => error);
  }

  it('ends when its client disconnects, and when it had disconnected before', async () => {
    const res = new EventEmitter();
    const ended = request(res);
    res.emit('close');
    expect(await ended).to.include({ code: 'calendar_behind' });
    expect(await request(Object.assign(new EventEmitter(), { closed: true }))).to.include({ code: 'calendar_behind' });
  });

  it('ends also while it waits for a poll', async () => {
    const node = {
      role: { name: 'standalone' },
      mayPoll: () => true,
      sync: { poll: () => never, state: () => ({ failures: 0 }) },
      changeLog: {},
    };
    const { waitFor } = createConsistencyTokens(node as unknown as ClusterNode);
    const abort = new AbortController();
    const waiting = waitFor('1-0+', 600_000, abort.signal);
    abort.abort();
    expect(await waiting).to.equal(false);
  });

  describe('that only a poll confirms', () => {
    let nowMs: number;
    let polls: number[];
    let failures: number;
    let waiting: { untilMs: number; resolve: () => void }[];
    let waitFor: ReturnType<typeof createConsistencyTokens>['waitFor'];
    beforeEach(() => {
      [nowMs, polls, failures, waiting] = [0, [], 0, []];
      const sync = { poll: async () => polls.push(nowMs) > 0, state: () => ({ failures }) };
      const node = { role: { name: 'standalone' }, mayPoll: () => true, sync, changeLog: {} };
      const wait = (ms: number) => new Promise<void>((resolve) => void waiting.push({ untilMs: nowMs + ms, resolve }));
      ({ waitFor } = createConsistencyTokens(node as unknown as ClusterNode, { nowMs: () => nowMs, wait }));
    });

    async function pass(ms: number): Promise<void> {
      nowMs += ms;
      for (const { untilMs, resolve } of waiting) if (untilMs <= nowMs) resolve();
      await new Promise(setImmediate);
    }

    it('starts a poll immediately, and one a second at most for all clients', async () => {
      for (let tenth = 0; tenth < 100; tenth += 1) {
        for (let n = 0; n < 9; n += 1) void waitFor('1-0+', 600_000, SIGNAL);
        await pass(0);
        await pass(100);
      }
      expect(polls).to.deep.equal(Array.from({ length: 11 }, (_, second) => second * 1000));
    });

    it('is confirmed by a poll that starts after it arrived', async () => {
      const first = waitFor('1-0+', 600_000, SIGNAL);
      await pass(0);
      expect(await first).to.equal(true);
      let isConfirmed: boolean | undefined;
      void waitFor('1-0+', 600_000, SIGNAL).then((isReached) => {
        isConfirmed = isReached;
      });
      await pass(999);
      expect([isConfirmed, polls.length]).to.deep.equal([undefined, 1]);
      await pass(1);
      expect([isConfirmed, polls]).to.deep.equal([true, [0, 1000]]);
    });

    it('is not confirmed while polls fail, so that retry delays stay', async () => {
      failures = 1;
      expect(await waitFor('1-0+', 600_000, SIGNAL)).to.equal(false);
      await pass(5000);
      expect(polls).to.deep.equal([]);
    });
  });
});
