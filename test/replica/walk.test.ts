// A walk through a list that changes under it: what stays where it is, is read.

import { expect } from 'chai';
import fc from 'fast-check';
import { type AskedPage, type Cursor, type WalkOptions, walk } from '../../src/replica/walk.ts';
import type { Query } from '../../src/upstream/port.ts';

const HOW: WalkOptions = { by: 'offset', pageSize: 4, inFlight: 2 };
/** Far more than any list here takes. */
const MAX_REQUESTS = 100;

/** A list of ids in ascending order, and what happens to it after each answer. */
function list(ids: number[], happen: (ids: number[], request: number) => void) {
  let requests = 0;
  return {
    ids,
    ask: async (query: Query): Promise<AskedPage> => {
      const size = Number(query.per_page);
      const from = query.offset === undefined ? (Number(query.page) - 1) * size : Number(query.offset);
      const items = ids.slice(from, from + size).map((id) => ({ id }));
      const total = ids.length;
      requests += 1;
      if (requests > MAX_REQUESTS) throw new Error(`the walk has not ended after ${MAX_REQUESTS} requests`);
      happen(ids, requests);
      return { items, total, totalPages: Math.ceil(total / size), serverTimeMs: 0, askedAt: requests };
    },
  };
}

async function read(
  ask: (query: Query) => Promise<AskedPage>,
  from?: Cursor,
): Promise<{ ids: Set<number>; rows: number }> {
  const ids = new Set<number>();
  let rows = 0;
  for await (const page of walk(ask, { ...HOW, from })) {
    for (const { id } of page.items) ids.add(Number(id));
    rows += page.items.length;
  }
  return { ids, rows };
}

describe('walk', () => {
  it('reads a list that keeps still from end to end', async () => {
    const all = Array.from({ length: 18 }, (_, n) => n + 1);
    const { ids } = await read(list(all, () => {}).ask);
    expect([...ids]).to.deep.equal(all);
    expect([...(await read(list([], () => {}).ask)).ids]).to.deep.equal([]);
  });

  it('misses no row that stays, whatever goes and comes around it', async () => {
    const change = fc.record({
      request: fc.integer({ min: 1, max: 8 }),
      remove: fc.boolean(),
      id: fc.integer({ min: 1, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: 40 })), fc.array(change), async (start, changes) => {
        const stays = new Set(start);
        for (const { remove, id } of changes) if (remove) stays.delete(id);
        const { ask } = list(
          [...start].sort((a, b) => a - b),
          (ids, request) => {
            for (const { remove, id } of changes.filter((one) => one.request === request)) {
              const at = ids.indexOf(id);
              if (remove && at >= 0) ids.splice(at, 1);
              if (!remove && at < 0) ids.push(id);
              ids.sort((a, b) => a - b);
            }
          },
        );
        const { ids } = await read(ask);
        for (const id of stays) expect(ids.has(id), `row ${id}`).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });

  it('goes on from a cursor, and from further back when rows before it went', async () => {
    const { ids } = await read(list([3, 5, 7, 8, 9, 10, 11], () => {}).ask, { at: 6, anchor: 7 });
    for (const id of [8, 9, 10, 11]) expect(ids.has(id), `row ${id}`).to.equal(true);
  });

  it('ends in a list without any steady order', async () => {
    const shuffled = list([5, 1, 4, 2, 3, 9, 8, 7, 6, 12, 11, 10], (ids) => void ids.push(ids.shift() ?? 0));
    const ends: boolean[] = [];
    for await (const { last } of walk(shuffled.ask, HOW)) ends.push(last);
    expect(ends.filter(Boolean)).to.have.length(1);
    expect(ends.at(-1)).to.equal(true);
  });
});
