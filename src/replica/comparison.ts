// Comparing the copy with the CMS id by id, where a total or the time says that something went unseen; only the difference is fetched.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Collection, idOf, ROW_FIELDS, type Row, rowOf } from './collections.ts';
import { findDeleted } from './deletions.ts';
import type { Replica } from './store.ts';
import type { Taking } from './taking.ts';
import { type Cursor, walk } from './walk.ts';

const IDS_A_SLICE = 2_000;
const ATTEMPTS = 3;
/** So many deletions are looked for one by one; for more of them the whole list is read. */
const FEW = 10;

export interface Comparison {
  /** Brings the copy of a collection in line with the CMS's list of ids. */
  compare(collection: Collection): Promise<void>;
  /** Whether the total that the CMS gives now means that nothing is missing and nothing is too much. */
  agrees(collection: Collection, total: number): boolean;
}

/** Ids the copy holds within the collection's statuses, ascending; read in slices. */
async function copiedIds(replica: Replica, { kind, statuses, posts }: Collection): Promise<Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const some = replica.ids(kind, {
      ...(posts ? { statuses } : {}),
      after: rows.at(-1)?.id ?? 0,
      limit: IDS_A_SLICE,
    });
    rows.push(...some);
    if (some.length < IDS_A_SLICE) return rows;
    await nextTurn();
  }
}

/** Records that a list leaves out are asked for by id before they go; so many of them that it is hard to believe wait. */
async function lose(collection: Collection, ids: readonly number[], taking: Taking): Promise<void> {
  if (taking.removals.isMass(collection, ids.length)) taking.removals.hold(collection, ids);
  else await taking.fetch(collection, ids);
}

/** Remembers by how much a total differs from its list for good; until a collection was compared, no difference counts as usual. */
export function createComparison(replica: Replica, taking: Taking): Comparison {
  /** Collections whose totals differ from their lists for good: by how much. For repeated rows: the total itself. */
  const usual = new Map<string, number>();

  const differs = (collection: Collection, row: Row) => {
    const copied = taking.copied(collection, row.id);
    if (!copied) return true;
    return collection.posts && (copied.modifiedUtc !== row.modifiedUtc || copied.status !== row.status);
  };

  /** What the lists should show: records whose removal waits for confirmation are in none. */
  const held = (collection: Collection) => taking.count(collection) - taking.removals.waiting(collection.kind).size;
  const sought = async (collection: Collection) => {
    const waiting = taking.removals.waiting(collection.kind);
    return (await copiedIds(replica, collection)).filter(({ id }) => !waiting.has(id));
  };

  function remember(collection: Collection, total: number): void {
    usual.set(collection.kind, collection.dedupe ? total : total - held(collection));
  }

  function agrees(collection: Collection, total: number): boolean {
    if (collection.dedupe) return usual.get(collection.kind) === total;
    return total - held(collection) === (usual.get(collection.kind) ?? 0);
  }

  /** What appears without a fresh `modified` is mostly the newest by id or by date of publication. */
  async function lookAtNewest(collection: Collection): Promise<number> {
    let total = 0;
    for (const orderby of ['id', 'date']) {
      const query = { orderby, order: 'desc', per_page: taking.asking.pageSize, _fields: ROW_FIELDS };
      const page = await taking.asking.ask(collection, query);
      total = page.total;
      const missing = page.items.map(rowOf).filter((row) => row.id !== 0 && differs(collection, row));
      await taking.fetch(
        collection,
        missing.map(({ id }) => id),
      );
      if (agrees(collection, total)) break;
    }
    return total;
  }

  /** A few that went are looked for where they were; whether the total agrees then. */
  async function lookForDeleted(collection: Collection, total: number): Promise<boolean> {
    const tooMany = held(collection) - total - (usual.get(collection.kind) ?? 0);
    if (tooMany < 1 || tooMany > FEW) return false;
    const deleted = await findDeleted(collection, await sought(collection), taking, tooMany);
    await taking.fetch(collection, deleted);
    return agrees(collection, total);
  }

  /** The whole list of ids, and which of them the copy has otherwise. */
  async function walkIds(collection: Collection) {
    const ids = new Set<number>();
    const differing: number[] = [];
    let total = 0;
    const by = collection.posts ? 'offset' : 'page';
    const query = { orderby: 'id', order: 'asc', _fields: collection.posts ? ROW_FIELDS : 'id' };
    for await (const page of walk((at) => taking.asking.ask(collection, { ...query, ...at }), {
      by,
      inFlight: 3,
      pageSize: taking.asking.pageSize,
    })) {
      for (const row of page.items.map(rowOf)) {
        if (row.id === 0 || ids.has(row.id)) continue;
        ids.add(row.id);
        if (differs(collection, row)) differing.push(row.id);
      }
      total = page.total;
      await nextTurn();
    }
    return { ids, differing, total };
  }

  async function compareAll(collection: Collection): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const walked = await walkIds(collection);
      const short = !collection.dedupe && walked.ids.size < walked.total;
      if (short && attempt < ATTEMPTS) continue;
      await taking.fetch(collection, walked.differing);
      taking.removals.settled(collection.kind, walked.ids);
      const missing = (await sought(collection)).filter(({ id }) => !walked.ids.has(id));
      // Asked for one by one: a row may have slipped past the walk.
      await lose(
        collection,
        missing.map(({ id }) => id),
        taking,
      );
      remember(collection, walked.total);
      return;
    }
  }

  return {
    agrees,
    async compare(collection) {
      if (collection.posts && !collection.dedupe) {
        const total = await lookAtNewest(collection);
        if (agrees(collection, total) || (await lookForDeleted(collection, total))) return;
      }
      await compareAll(collection);
    },
  };
}

export interface Pass {
  /** Reads the next few pages; true when the pass has come to its end. */
  go(pages: number): Promise<boolean>;
}

/** Reads a whole collection again, a few pages at a time: mends what neither a date nor a total betrays. */
export function createPass(collection: Collection, replica: Replica, taking: Taking): Pass {
  const seen = new Set<number>();
  const by = collection.posts ? 'offset' : 'page';
  const query = { orderby: 'id', order: 'asc', _fields: collection.select };
  let from: Cursor | undefined;
  return {
    async go(pages) {
      let read = 0;
      for await (const page of walk((at) => taking.asking.ask(collection, { ...query, ...at }), {
        by,
        from,
        inFlight: 1,
        pageSize: taking.asking.pageSize,
      })) {
        await taking.take(collection, page.items, page.askedAt);
        for (const item of page.items) seen.add(idOf(item));
        from = page.next;
        read += 1;
        if (page.last) {
          taking.removals.settled(collection.kind, seen);
          const waiting = taking.removals.waiting(collection.kind);
          const unseen = (await copiedIds(replica, collection)).filter(({ id }) => !seen.has(id) && !waiting.has(id));
          await lose(
            collection,
            unseen.map(({ id }) => id),
            taking,
          );
          return true;
        }
        if (read >= pages) return false;
      }
      return true;
    },
  };
}
