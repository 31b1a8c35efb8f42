// A request that waits for its consistency token ends when its client disconnects.

import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { createConsistencyTokens } from '../../src/cluster/consistency-token.ts';
import type { ClusterNode } from '../../src/cluster/node.ts';
import { waitForToken } from '../../src/http/consistency-token.ts';
import type { Context } from '../../src/http/state.ts';

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
    const node = { role: { name: 'standalone' }, mayPoll: () => true, sync: { poll: () => never }, changeLog: {} };
    const { waitFor } = createConsistencyTokens(node as unknown as ClusterNode);
    const abort = new AbortController();
    const waiting = waitFor('1-0+', 600_000, abort.signal);
    abort.abort();
    expect(await waiting).to.equal(false);
  });
});
