// What went is found with a few requests, however long the list is.

import { expect } from 'chai';
import fc from 'fast-check';
import type { Collection } from '../../src/replica/collections.ts';
import { findDeleted } from '../../src/replica/deletions.ts';
import type { Taking } from '../../src/replica/taking.ts';

function asker(ids: number[], pageSize: number) {
  const asking = {
    pageSize,
    requests: 0,
    ask: async (_collection: unknown, { offset }: { offset: number }) => {
      asking.requests += 1;
      return { items: ids.slice(offset, offset + pageSize).map((id) => ({ id })), total: ids.length };
    },
  };
  return asking;
}

const rows = (ids: number[]) => ids.map((id) => ({ id, modifiedUtc: '', status: 'publish' }));
const find = (copied: number[], asking: ReturnType<typeof asker>, limit: number) =>
  findDeleted({} as Collection, rows(copied), { asking } as unknown as Taking, limit);

describe('deletions', () => {
  it('are those ids that the CMS does not have, in any list', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 1, max: 500 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 7 }),
        fc.func(fc.boolean()),
        async (ids, pageSize, goes) => {
          ids.sort((a, b) => a - b);
          const gone = ids.filter((id) => goes(id));
          const left = ids.filter((id) => !gone.includes(id));
          expect(await find(ids, asker(left, pageSize), gone.length)).to.deep.equal(gone);
        },
      ),
    );
  });

  it('take about ten requests each in a list of a hundred thousand', async () => {
    const ids = Array.from({ length: 100_000 }, (_, n) => n + 1);
    const asking = asker(
      ids.filter((id) => id !== 77_777 && id !== 5),
      100,
    );
    expect(await find(ids, asking, 2)).to.deep.equal([5, 77_777]);
    expect(asking.requests).to.be.at.most(26);
  });
});
