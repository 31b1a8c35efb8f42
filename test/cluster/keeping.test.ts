// How a gateway has the others told of what it alone has, without an engine: with a journal that only remembers.

import { expect } from 'chai';
import type { Drift } from '../../src/cluster/drift.ts';
import { createKeeping, type Keeping } from '../../src/cluster/keeping.ts';
import type { Member } from '../../src/cluster/member.ts';
import type { Change } from '../../src/replica/commit.ts';
import { openReplica, type Replica } from '../../src/replica/store.ts';
import { mapping } from '../replica/sync-site.ts';

const LEASE_MS = 40;

describe('what one gateway alone has', () => {
  let replica: Replica;
  let drift: Map<string, number>;
  /** Ids in each entry that was made. */
  let told: number[][];
  let isAway: boolean;
  let role: string;
  let keeping: Keeping;

  beforeEach(() => {
    replica = openReplica({ identity: 'test' });
    drift = new Map(Array.from({ length: 23 }, (_, n) => [`event ${n + 1}`, 1]));
    told = [];
    isAway = false;
    role = 'leading';
    const member = {
      ...{ replica, mapping, leaseMs: LEASE_MS, observe: () => {} },
      get role() {
        return { name: role };
      },
      sync: { changed: async () => !isAway },
      // Nobody answers.
      asks: { ask: () => new Promise(() => {}) },
      journal: {
        get drift(): Drift {
          return drift;
        },
        commit: async (_why: string, make: () => Change) =>
          void told.push((make().remove ?? []).flatMap(({ ids }) => [...ids])),
        mended(records: ReadonlyMap<string, number>) {
          for (const key of records.keys()) drift.delete(key);
        },
      },
    };
    keeping = createKeeping(member as unknown as Member);
  });
  afterEach(() => replica.close());

  it('is told in entries of ten records at most', async () => {
    await keeping.mend();
    expect(told.map((ids) => ids.length)).to.deep.equal([10, 10, 3]);
    expect(drift.size).to.equal(0);
  });

  it('is told by who leads, whoever it had asked before', async () => {
    role = 'following';
    void keeping.mend();
    role = 'leading';
    await keeping.mend();
    expect(drift.size).to.equal(0);
  });

  it('is not told while the CMS cannot be asked, and is tried again after a lease', async () => {
    isAway = true;
    await keeping.mend();
    isAway = false;
    await keeping.mend();
    expect(told).to.deep.equal([]);
    await new Promise((done) => setTimeout(done, LEASE_MS * 2));
    await keeping.mend();
    expect(drift.size).to.equal(0);
  });
});
