// How a gateway repairs its unpublished changes, without Redis: the change log is a stub.

import { expect } from 'chai';
import type { ClusterNode } from '../../src/cluster/node.ts';
import type { UnpublishedKeys } from '../../src/cluster/unpublished-changes.ts';
import { type ClusterWriteThrough, createWriteThrough } from '../../src/cluster/write-through.ts';
import { ReplicaError } from '../../src/errors.ts';
import type { ChangeSet } from '../../src/store/change-set.ts';
import { openReplica, type Replica } from '../../src/store/replica.ts';
import { event } from '../store/sample-records.ts';
import { mapping } from '../sync/test-site.ts';

const LEASE_MS = 40;

describe('write-through in a cluster', () => {
  let replica: Replica;
  let unpublished: Map<string, number>;
  /** Ids in each entry that was appended. */
  let published: number[][];
  let isUnavailable: boolean;
  /** Ids of the records that a commit stored. */
  let stored: number[];
  let role: string;
  let nowMs: number;
  let writeThrough: ClusterWriteThrough;

  beforeEach(() => {
    replica = openReplica({ identity: 'test' });
    unpublished = new Map(Array.from({ length: 23 }, (_, n) => [`event ${n + 1}`, 1]));
    published = [];
    isUnavailable = false;
    stored = [];
    role = 'leader';
    const node = {
      replica,
      mapping,
      leaseMs: LEASE_MS,
      observe: () => {},
      get role() {
        return { name: role };
      },
      sync: { fetchChanged: async () => !isUnavailable },
      // No gateway responds.
      rpc: { call: () => new Promise(() => {}) },
      changeLog: {
        get unpublished(): UnpublishedKeys {
          return unpublished;
        },
        changeMark: () => 1,
        changedSince: (key: string) => key === 'event 1',
        commit: async (_source: string, build: () => ChangeSet) => {
          const { upserts = [], deletes = [] } = build();
          stored.push(...upserts.map(({ id }) => id));
          published.push(deletes.flatMap(({ ids }) => [...ids]));
        },
        markUnpublished() {
          throw new ReplicaError('unwritable', 'database or disk is full');
        },
        markPublished(records: ReadonlyMap<string, number>) {
          for (const key of records.keys()) unpublished.delete(key);
        },
      },
    };
    nowMs = 0;
    writeThrough = createWriteThrough(node as unknown as ClusterNode, () => nowMs);
  });
  afterEach(() => replica.close());

  it('publishes at most ten records per entry', async () => {
    await writeThrough.repair();
    expect(published.map((ids) => ids.length)).to.deep.equal([10, 10, 3]);
    expect(unpublished.size).to.equal(0);
  });

  it('does not wait for another gateway once this one is the leader', async () => {
    role = 'follower';
    void writeThrough.repair();
    role = 'leader';
    await writeThrough.repair();
    expect(unpublished.size).to.equal(0);
  });

  it('tries again after a lease if the CMS is unavailable', async () => {
    isUnavailable = true;
    await writeThrough.repair();
    isUnavailable = false;
    await writeThrough.repair();
    expect(published).to.deep.equal([]);
    nowMs += LEASE_MS;
    await writeThrough.repair();
    expect(unpublished.size).to.equal(0);
  });

  it('does not reject a reread if neither the CMS nor the replica is available', async () => {
    isUnavailable = true;
    await writeThrough.reread('event', 1);
  });

  it('does not store a response about a record that changed since its read mark', async () => {
    await writeThrough.storeRead({ upserts: [event(1), event(2)] }, 0);
    expect(stored).to.deep.equal([2]);
    await writeThrough.storeWritten({ upserts: [event(1), event(3)] }, 0);
    expect(stored).to.deep.equal([2, 3]);
  });
});
