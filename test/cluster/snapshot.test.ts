// Snapshots through a real Redis: sent to the gateways that wait for one, one after another.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { catchUp } from '../../src/cluster/catch-up.ts';
import { createRpcHandler } from '../../src/cluster/leader.ts';
import type { ClusterNode, HolderStatus } from '../../src/cluster/node.ts';
import { openRedis, type Redis } from '../../src/cluster/redis.ts';
import { receiveSnapshot } from '../../src/cluster/snapshot.ts';
import type { UnpublishedKeys } from '../../src/cluster/unpublished-changes.ts';
import { openReplica, type Replica } from '../../src/store/replica.ts';
import { STATE_KEYS } from '../../src/sync/context.ts';
import type { Sync } from '../../src/sync/sync.ts';
import { initialSyncState, type SyncState } from '../../src/sync/sync-state.ts';
import { event, term, venue } from '../store/sample-records.ts';
import { mapping } from '../sync/test-site.ts';
import { until } from './gateways.ts';
import { type RedisServer, useRedisServer } from './redis-server.ts';

/** More parts than may wait in Redis. */
const EVENTS = 4000;
const OFFSET = '1700000000000-3';
const MAX_WAITING_PARTS = 16;

describe('snapshot', function () {
  this.timeout(30_000);
  let server: RedisServer;
  let sender: Redis;
  let receiver: Redis;
  let full: Replica;
  let handle: ReturnType<typeof createRpcHandler>;
  let changeLog: { offset: string; unpublished: UnpublishedKeys };
  let leader: ClusterNode;
  let nowMs: number;
  useRedisServer((started) => {
    server = started;
  });
  before(() => {
    full = openReplica({ identity: 'test' });
    full.upsert([venue(1), term('tag', 2)]);
    for (let from = 1; from <= EVENTS; from += 50)
      full.upsert(Array.from({ length: 50 }, (_, n) => event(10 + from + n, { title: `Event ${from + n}` })));
  });
  after(() => full.close());
  const connect = (nodeId: string) =>
    openRedis({ url: server.url, prefix: 'calendar:{test}:', nodeId, deadlineMs: 2000 });
  beforeEach(async () => {
    [sender, receiver] = await Promise.all([connect('sender'), connect('receiver')]);
    changeLog = { offset: OFFSET, unpublished: new Map() };
    leader = {
      role: { name: 'leader' },
      sync: {},
      redis: sender,
      replica: full,
      changeLog,
      mapping,
    } as unknown as ClusterNode;
    nowMs = 0;
    handle = createRpcHandler(leader, () => nowMs);
  });
  afterEach(() => {
    sender.close();
    receiver.close();
  });
  const request = (list: string) => void handle({ type: 'snapshot', list }).catch(() => {});
  const untilFull = (list: string) =>
    until(async () => (await receiver.listLength(list)) > MAX_WAITING_PARTS, `${list} is full`);

  /** Length of the list `snapshot:abandoned` at each request for another one. */
  const abandonedLengths: number[] = [];

  async function receive(list: string): Promise<{ replica: Replica; unpublished: string[] }> {
    const replica = openReplica({ identity: 'test' });
    // The sender does not have this record.
    replica.upsert([event(999_999)]);
    const received = await receiveSnapshot(receiver, list, {
      replica,
      async request() {
        request(list);
        abandonedLengths.push(await sender.listLength('snapshot:abandoned'));
      },
      isCancelled: () => false,
    });
    expect(received?.offset).to.equal(OFFSET);
    return { replica, unpublished: received?.unpublished ?? [] };
  }

  /** Pops a list with a connection of its own. */
  async function drain(list: string): Promise<void> {
    const redis = await connect('slow');
    while (await redis.pop(list, 500));
    redis.close();
  }

  it('contains all records, images and the sync state', async () => {
    const state = {
      [STATE_KEYS.watermarks]: '{"event":"2027-01-01 00:00:00"}',
      [STATE_KEYS.scope]: 'all',
      [STATE_KEYS.linkTables]: '[["venue",[[1,2]],[[2,1]]]]',
      [STATE_KEYS.publicView]: '{"event":"account"}',
      [STATE_KEYS.resync]: '{"dueMs":1800000000000}',
      [STATE_KEYS.fields('all', 'event')]: '{"always":["meta.start"],"varies":[]}',
    };
    for (const [key, value] of Object.entries(state)) full.setState(key, value);
    const { replica, unpublished } = await receive('snapshot:one');
    expect(unpublished).to.deep.equal([]);
    expect(replica.counts()).to.deep.equal(full.counts());
    for (const id of [11, 1234, 10 + EVENTS]) expect(replica.get('event', id)).to.deep.equal(full.get('event', id));
    expect(replica.get('event', 999_999)).to.equal(undefined);
    for (const [key, value] of Object.entries(state)) expect(replica.state(key), key).to.equal(value);
    replica.close();
    // A request that was repeated while the snapshot started does not start it again.
    request('snapshot:one');
    // Nothing tells that something does not happen: long enough for a first part.
    await sleep(100);
    expect(await receiver.listLength('snapshot:one')).to.equal(0);
  });

  it('never waits in Redis as a whole', async () => {
    request('snapshot:slow');
    await untilFull('snapshot:slow');
    // Long enough for many more parts.
    await sleep(200);
    expect(await receiver.listLength('snapshot:slow')).to.be.at.most(MAX_WAITING_PARTS + 1);
  });

  it('is sent to the gateways that still ask for it, not to one that stopped asking', async () => {
    request('snapshot:slow');
    await untilFull('snapshot:slow');
    request('snapshot:abandoned');
    // Longer than a request counts.
    nowMs += 3500;
    const [, { replica }] = await Promise.all([drain('snapshot:slow'), receive('snapshot:next')]);
    expect(replica.counts()).to.deep.equal(full.counts());
    expect(abandonedLengths).to.deep.equal(abandonedLengths.map(() => 0));
    replica.close();
  });

  it('starts again for a gateway that still asks after sending failed', async () => {
    leader.redis = { ...sender, push: async () => Promise.reject(new Error('Redis does not respond')) };
    const error = await handle({ type: 'snapshot', list: 'snapshot:failed' }).catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(Error);
    leader.redis = sender;
    const { replica } = await receive('snapshot:failed');
    expect(replica.counts()).to.deep.equal(full.counts());
    replica.close();
  });

  it('makes the replica complete, even if the leader is lost at the end', async () => {
    const replica = openReplica({ identity: 'test' });
    const syncState = initialSyncState(0);
    const followed: SyncState[] = [];
    const node = {
      replica,
      leaseMs: 1000,
      role: { name: 'joining' },
      dispatch: () => {},
      leaderStatus: { bootstrapping: false, syncState: { ...syncState, complete: true } } as HolderStatus | undefined,
      rpc: { notify: async (message: { list: string }) => request(message.list) },
      sync: { state: () => syncState, reloadState: () => {}, followLeader: (state: SyncState) => followed.push(state) },
      changeLog: {
        offset: OFFSET,
        markUnpublished: () => {},
        unpublished: new Map(),
        applyPending: async () => true,
        replicaReplaced() {
          node.leaderStatus = undefined;
        },
      },
    };
    await catchUp(node as unknown as ClusterNode, receiver);
    expect(followed).to.have.length(1);
    expect(followed[0]).to.include({ state: 'stale', complete: true });
    replica.close();
  });

  it('is ignored by a gateway that begins to bootstrap before all parts have arrived', async () => {
    const replica = openReplica({ identity: 'test' });
    // The sender does not have this record: it is deleted once all parts are received.
    replica.upsert([event(999_999)]);
    let offset: string | undefined;
    const node = {
      leaseMs: 1000,
      role: { name: 'joining' },
      leaderStatus: { bootstrapping: false, syncState: initialSyncState(0) },
      rpc: { notify: async (message: { list: string }) => request(message.list) },
      sync: { state: () => initialSyncState(0), reloadState: () => {}, followLeader: () => {} },
      changeLog: {
        offset: OFFSET,
        unpublished: 'unknown',
        markUnpublished: () => {},
        replicaReplaced(newOffset: string) {
          offset = newOffset;
        },
      },
      replica: {
        ...replica,
        delete(...args: Parameters<Replica['delete']>) {
          node.role = { name: 'bootstrapping' };
          return replica.delete(...args);
        },
      },
    };
    await catchUp(node as unknown as ClusterNode, receiver);
    expect(node.role.name).to.equal('bootstrapping');
    expect(offset).to.equal(undefined);
    replica.close();
  });

  it('names the unpublished records of the sender, from its start to its end', async () => {
    changeLog.unpublished = new Map([['event 11', 1]]);
    request('snapshot:unpublished');
    await untilFull('snapshot:unpublished');
    changeLog.unpublished = new Map([['event 12', 2]]);
    const { replica, unpublished } = await receive('snapshot:unpublished');
    expect(unpublished).to.deep.equal(['event 11', 'event 12']);
    replica.close();
  });

  describe('of large records', () => {
    let large: Replica;
    beforeEach(() => {
      large = openReplica({ identity: 'test' });
      leader = { ...leader, replica: large };
      handle = createRpcHandler(leader, () => nowMs);
    });
    afterEach(() => large.close());

    it('has parts that the receiver accepts', async () => {
      // Together larger than any part may be.
      const description = 'a'.repeat(180_000);
      for (let id = 1; id <= 200; id += 1) large.upsert([event(id, { description })]);
      const { replica } = await receive('snapshot:large');
      expect(replica.counts()).to.deep.equal(large.counts());
      expect(replica.get('event', 200)).to.deep.equal(large.get('event', 200));
      replica.close();
    });

    it('names a record that no part can hold as unpublished', async () => {
      large.upsert([event(1), event(2, { description: 'a'.repeat(32 * 1024 * 1024) }), event(3)]);
      const { replica, unpublished } = await receive('snapshot:too-large');
      expect(unpublished).to.deep.equal(['event 2']);
      expect(replica.stamps('event').map(({ id }) => id)).to.deep.equal([1, 3]);
      replica.close();
    });
  });

  it('is not sent while the unpublished records are unknown', async () => {
    changeLog.unpublished = 'unknown';
    const error = await handle({ type: 'snapshot', list: 'snapshot:unknown' }).catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(Error);
    expect(await receiver.listLength('snapshot:unknown')).to.equal(0);
  });

  describe('other requests to the leader', () => {
    it('a poll does not confirm that everything was seen while the leader has unpublished changes', async () => {
      leader.sync = { poll: async () => true, fetchChanged: async () => false } as unknown as Sync;
      expect(await handle({ type: 'poll' })).to.equal(true);
      changeLog.unpublished = new Map([['event 11', 1]]);
      expect(await handle({ type: 'poll' })).to.equal(false);
    });

    it('a refetch publishes nothing if the CMS could not be read', async () => {
      const commits: unknown[] = [];
      leader.sync = { fetchChanged: async () => false } as unknown as Sync;
      Object.assign(changeLog, { commit: async (source: unknown) => commits.push(source) });
      expect(await handle({ type: 'refetch', keys: ['event 11'] })).to.equal(false);
      expect(commits).to.deep.equal([]);
    });
  });
});
