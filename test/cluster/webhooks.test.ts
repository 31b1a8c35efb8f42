// Webhooks that reach a gateway that does not poll, without Redis: the leader is a stub.

import { expect } from 'chai';
import type { ClusterNode } from '../../src/cluster/node.ts';
import type { RpcRequest } from '../../src/cluster/rpc.ts';
import { createWebhooks, type Webhooks } from '../../src/cluster/webhooks.ts';
import type { ChangedRecord } from '../../src/sync/fetch-changed.ts';
import { mapping } from '../sync/test-site.ts';

const LEASE_MS = 15_000;
const changesOf = (...ids: number[]): ChangedRecord[] => ids.map((id) => ({ collection: 'events', id }));

describe('a webhook that reaches a follower', () => {
  let leader: 'fetches' | 'is silent' | 'disconnected';
  /** Ids of each message to the leader. */
  let sent: number[][];
  /** Ids that this gateway fetched itself. */
  let fetched: number[][];
  let polls: boolean;
  let webhooks: Webhooks;
  let nowMs: number;
  /** Ids that this gateway could not fetch while it polled. */
  let unfetched: number[];
  /** What happens while the leader is asked. */
  let meanwhile: () => void;

  const resendAfterLease = async (): Promise<void> => {
    nowMs += LEASE_MS;
    await webhooks.resend();
  };

  beforeEach(() => {
    leader = 'is silent';
    sent = [];
    fetched = [];
    polls = false;
    nowMs = 0;
    unfetched = [];
    meanwhile = () => {};
    const idsOf = (changes: readonly ChangedRecord[]) => changes.map(({ id }) => id);
    const rpc = {
      async call(request: RpcRequest) {
        if (request.type === 'fetchChanged') sent.push(idsOf(request.changes));
        meanwhile();
        return leader === 'fetches' ? '1-0' : undefined;
      },
    };
    const node = {
      mapping,
      leaseMs: LEASE_MS,
      mayPoll: () => polls,
      sync: {
        fetchChanged: async (changes: readonly ChangedRecord[]) => fetched.push(idsOf(changes)) > 0,
        takeDirty: () => changesOf(...unfetched.splice(0)),
      },
      get rpc() {
        return leader === 'disconnected' ? undefined : rpc;
      },
    };
    webhooks = createWebhooks(node as unknown as ClusterNode, () => nowMs);
  });

  it('is sent once to a leader that responds', async () => {
    leader = 'fetches';
    expect(await webhooks.fetchChanged(changesOf(1, 2))).to.equal(true);
    await resendAfterLease();
    expect(sent).to.deep.equal([[1, 2]]);
  });

  it('is sent once more until a leader responds', async () => {
    expect(await webhooks.fetchChanged(changesOf(1))).to.equal(false);
    await webhooks.fetchChanged(changesOf(2, 1));
    leader = 'fetches';
    for (let n = 0; n < 3; n += 1) await resendAfterLease();
    expect(sent).to.deep.equal([[1], [2, 1], [1, 2]]);
  });

  it('is sent three times at most, not counting those without a connection', async () => {
    leader = 'disconnected';
    await webhooks.fetchChanged(changesOf(1));
    for (let n = 0; n < 5; n += 1) await resendAfterLease();
    leader = 'is silent';
    for (let n = 0; n < 5; n += 1) await resendAfterLease();
    expect(sent).to.deep.equal([[1], [1]]);
  });

  it('is sent once a lease at most, however often the gateway asks who leads', async () => {
    await webhooks.fetchChanged(changesOf(1));
    for (let n = 0; n < 5; n += 1) await webhooks.resend();
    await resendAfterLease();
    for (let n = 0; n < 5; n += 1) await webhooks.resend();
    expect(sent).to.deep.equal([[1], [1]]);
  });

  it('is fetched by this gateway if that begins to poll while the leader is silent', async () => {
    meanwhile = () => {
      polls = true;
    };
    await webhooks.fetchChanged(changesOf(1));
    await webhooks.resend();
    polls = false;
    await webhooks.fetchChanged(changesOf(2));
    polls = false;
    await resendAfterLease();
    await webhooks.resend();
    expect(sent).to.deep.equal([[1], [2], [2]]);
    expect(fetched).to.deep.equal([[1], [2]]);
  });

  it('is fetched by this gateway once that polls', async () => {
    await webhooks.fetchChanged(changesOf(1));
    polls = true;
    for (let n = 0; n < 2; n += 1) await webhooks.resend();
    expect(fetched).to.deep.equal([[1]]);
  });

  it('is sent to the leader by the gateway that led when it came, and could not fetch it', async () => {
    polls = true;
    unfetched = [1, 2];
    await webhooks.resend();
    expect(unfetched).to.deep.equal([1, 2]);
    polls = false;
    for (let n = 0; n < 5; n += 1) await resendAfterLease();
    expect(sent).to.deep.equal([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
  });

  it('is remembered up to a thousand records, of collections that the mapping has', async () => {
    await webhooks.fetchChanged([{ collection: 'pages', id: 1 }, ...changesOf(...Array(1500).keys())]);
    await resendAfterLease();
    expect(sent[1]).to.have.length(1000);
  });
});
