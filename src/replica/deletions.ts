// Finding what was deleted for good without reading the whole list: both lists are in the order of ids, and agree up to the first that went.

import { type Collection, idOf, type Row } from './collections.ts';
import type { Taking } from './taking.ts';

/** Ids of the copy (ascending) that the CMS does not have; at most `limit`. A handful of requests for each, however long the list is. */
export async function findDeleted(
  collection: Collection,
  copied: readonly Row[],
  taking: Taking,
  limit: number,
): Promise<number[]> {
  const { asking } = taking;
  const ids = copied.map(({ id }) => id);
  const deleted: number[] = [];
  let low = 0;
  while (deleted.length < limit && low < ids.length) {
    const at = await firstDifference(low);
    const id = ids[at];
    if (id === undefined) break;
    deleted.push(id);
    ids.splice(at, 1);
    low = at;
  }
  return deleted;

  /** Where the lists part; the end of the shorter one if they do not before. */
  async function firstDifference(from: number): Promise<number> {
    let [low, high] = [from, ids.length];
    while (low < high) {
      const middle = low + Math.floor((high - low) / 2);
      const query = { orderby: 'id', order: 'asc', per_page: asking.pageSize, offset: middle, _fields: 'id' };
      const { items } = await asking.ask(collection, query);
      const parts = Array.from({ length: asking.pageSize }, (_, n) => n).find(
        (n) => middle + n < ids.length && (items[n] === undefined || idOf(items[n]) !== ids[middle + n]),
      );
      if (parts === undefined) low = middle + asking.pageSize;
      else if (parts > 0) return middle + parts;
      else high = middle;
    }
    return Math.min(low, high);
  }
}
