// Paginating a list that changes meanwhile: every record that stays is read.

import { expect } from 'chai';
import fc from 'fast-check';
import {
  type Cursor,
  type MarkedPage,
  type PagePosition,
  type PaginateOptions,
  paginate,
} from '../../src/sync/paginate.ts';

const OPTIONS: PaginateOptions = { by: 'offset', pageSize: 4, concurrency: 2 };
/** Far more than any list here needs. */
const MAX_REQUESTS = 200;

/** A list of ids in ascending order; `change` runs after each response. */
function fakeList(ids: number[], change: (ids: number[], request: number) => void) {
  let requests = 0;
  return {
    ids,
    readPage: async ({ limit: size, offset, page = 1 }: PagePosition): Promise<MarkedPage> => {
      const from = offset ?? (page - 1) * size;
      const records = ids.slice(from, from + size).map((id) => ({ id }));
      const total = ids.length;
      requests += 1;
      if (requests > MAX_REQUESTS) throw new Error(`not finished after ${MAX_REQUESTS} requests`);
      change(ids, requests);
      return { records, total, cmsTimeMs: 0, readMark: requests };
    },
  };
}

async function readAll(
  readPage: (position: PagePosition) => Promise<MarkedPage>,
  start?: Cursor,
): Promise<{ ids: Set<number>; records: number }> {
  const ids = new Set<number>();
  let records = 0;
  for await (const page of paginate(readPage, { ...OPTIONS, start })) {
    for (const { id } of page.records) ids.add(Number(id));
    records += page.records.length;
  }
  return { ids, records };
}

type Change = { request: number; remove: boolean; id: number };
/** 17 is before the third page when that is read first, and again when it is read after a step back. */
const MOVED_TWICE: [number[], Change[]] = [
  [1, 2, 3, 5, 6, 15, 16, 17],
  [
    { request: 4, remove: true, id: 1 },
    { request: 4, remove: true, id: 2 },
    { request: 3, remove: false, id: 4 },
    { request: 2, remove: true, id: 15 },
  ],
];

describe('paginate', () => {
  it('reads a list that does not change', async () => {
    const all = Array.from({ length: 18 }, (_, n) => n + 1);
    const { ids } = await readAll(fakeList(all, () => {}).readPage);
    expect([...ids]).to.deep.equal(all);
    expect([...(await readAll(fakeList([], () => {}).readPage)).ids]).to.deep.equal([]);
  });

  it('misses no record that stays, whatever is created and deleted around it', async () => {
    const change = fc.record({
      request: fc.integer({ min: 1, max: 8 }),
      remove: fc.boolean(),
      id: fc.integer({ min: 1, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: 40 })), fc.array(change), async (start, changes) => {
        const stays = new Set(start);
        for (const { remove, id } of changes) if (remove) stays.delete(id);
        const { readPage } = fakeList(
          [...start].sort((a, b) => a - b),
          (ids, request) => {
            for (const { remove, id } of changes.filter((change) => change.request === request)) {
              const at = ids.indexOf(id);
              if (remove && at >= 0) ids.splice(at, 1);
              if (!remove && at < 0) ids.push(id);
              ids.sort((a, b) => a - b);
            }
          },
        );
        const { ids } = await readAll(readPage);
        for (const id of stays) expect(ids.has(id), `record ${id}`).to.equal(true);
      }),
      { numRuns: 500, examples: [MOVED_TWICE] },
    );
  });

  it('misses no record that stays, however often records before it are deleted', async () => {
    const stays = new Set(Array.from({ length: 100 }, (_, n) => n + 1));
    const { readPage } = fakeList([...stays], (ids, request) => {
      if (request % 3 === 0) for (const id of ids.splice(0, 2)) stays.delete(id);
    });
    const { ids } = await readAll(readPage);
    expect([...stays].filter((id) => !ids.has(id))).to.deep.equal([]);
  });

  it('needs at most four requests for each page of a list with holes', async () => {
    const all = Array.from({ length: 60 }, (_, n) => n + 1);
    const { readPage } = fakeList(all, () => {});
    let requests = 0;
    // It leaves out the record at which two pages overlap.
    const withHoles = async (position: PagePosition): Promise<MarkedPage> => {
      requests += 1;
      const page = await readPage(position);
      return { ...page, records: page.records.filter(({ id }) => Number(id) % 3 !== 1) };
    };
    expect([...(await readAll(withHoles)).ids]).to.deep.equal(all.filter((id) => id % 3 !== 1));
    expect(requests).to.be.at.most((4 * all.length) / (OPTIONS.pageSize - 1));
  });

  it('continues from a cursor, or from further back if records before it were deleted', async () => {
    const { ids } = await readAll(fakeList([3, 5, 7, 8, 9, 10, 11], () => {}).readPage, { position: 6, lastId: 7 });
    for (const id of [8, 9, 10, 11]) expect(ids.has(id), `record ${id}`).to.equal(true);
  });

  it('reaches the end of a list without a stable order', async () => {
    const shuffled = fakeList([5, 1, 4, 2, 3, 9, 8, 7, 6, 12, 11, 10], (ids) => void ids.push(ids.shift() ?? 0));
    const ends: boolean[] = [];
    for await (const { isLast } of paginate(shuffled.readPage, OPTIONS)) ends.push(isLast);
    expect(ends.filter(Boolean)).to.have.length(1);
    expect(ends.at(-1)).to.equal(true);
  });
});
