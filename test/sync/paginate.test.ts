// Paginating a list: every page once, in order, some of them requested ahead.

import { expect } from 'chai';
import { type MarkedPage, paginate } from '../../src/sync/cms-reader.ts';

const pageSize = 4;

/** A list of ids; `change` runs after each response. */
function fakeList(ids: number[], change: (ids: number[], request: number) => void = () => {}) {
  const requested: number[] = [];
  return {
    requested,
    readPage: async (page: number): Promise<MarkedPage> => {
      requested.push(page);
      const from = (page - 1) * pageSize;
      const response = { records: ids.slice(from, from + pageSize).map((id) => ({ id })), total: ids.length };
      change(ids, requested.length);
      return { ...response, cmsTimeMs: 0, readMark: requested.length };
    },
  };
}

const idsUntil = (last: number): number[] => Array.from({ length: last }, (_, n) => n + 1);

async function readAll(
  readPage: (page: number) => Promise<MarkedPage>,
  options: { start?: number; concurrency?: number } = {},
): Promise<{ ids: number[]; pages: number[]; ends: boolean[] }> {
  const [ids, pages, ends]: [number[], number[], boolean[]] = [[], [], []];
  for await (const { records, page, isLast } of paginate(readPage, { pageSize, ...options })) {
    ids.push(...records.map(({ id }) => Number(id)));
    pages.push(page);
    ends.push(isLast);
  }
  return { ids, pages, ends };
}

describe('paginate', () => {
  for (const concurrency of [1, 3])
    it(`reads each page once, in order, with ${concurrency} requests at a time`, async () => {
      for (const count of [0, 1, 4, 5, 8, 18]) {
        const { readPage, requested } = fakeList(idsUntil(count));
        const { ids, pages, ends } = await readAll(readPage, { concurrency });
        expect(ids).to.deep.equal(idsUntil(count));
        expect(pages).to.deep.equal(idsUntil(Math.max(1, Math.ceil(count / pageSize))));
        expect(requested).to.deep.equal(pages);
        expect(ends).to.deep.equal(pages.map((page) => page === pages.length));
      }
    });

  it('continues from a page', async () => {
    const { ids } = await readAll(fakeList(idsUntil(18)).readPage, { start: 3 });
    expect(ids).to.deep.equal([9, 10, 11, 12, 13, 14, 15, 16, 17, 18]);
  });

  it('ends with a page after the last one if the list becomes shorter', async () => {
    for (const start of [1, 9]) {
      const list = fakeList(idsUntil(18), (ids) => void ids.splice(0, 6));
      const { ends } = await readAll(list.readPage, { start, concurrency: 3 });
      expect(ends.filter(Boolean)).to.have.length(1);
      expect(ends.at(-1)).to.equal(true);
    }
  });

  it('throws the error of a page that was requested ahead when that page is due', async () => {
    const { readPage } = fakeList(idsUntil(18));
    const failing = async (page: number) => {
      if (page === 3) throw new Error('page 3');
      return readPage(page);
    };
    const pages: number[] = [];
    try {
      for await (const { page } of paginate(failing, { pageSize, concurrency: 3 })) pages.push(page);
      expect.fail('no error');
    } catch (error) {
      expect(error).to.have.property('message', 'page 3');
    }
    expect(pages).to.deep.equal([1, 2]);
  });
});
