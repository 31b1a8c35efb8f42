// One look at a collection: what was modified, what the total says, and which scheduled records are due.

import type { PostRecord } from '../records.ts';
import { type Collection, ROW_FIELDS, rowOf, utcText } from './collections.ts';
import { createSeen, modifiedSince } from './modified-since.ts';
import type { Replica } from './store.ts';
import type { Taking } from './taking.ts';

/** What a look found: how many records the CMS counts, and when it was asked. */
export interface Look {
  total: number;
  askedAt: number;
}

/** Terms are read whole at every look up to this many pages; of longer lists a few pages at each. */
const TERM_PAGES_A_LOOK = 5;

/** A scheduled record whose date has come is asked for at every look for so long; after that, it takes turns with the others. */
const LATELY_MS = 10 * 60_000;
/** So many scheduled records are asked for at a look which the CMS should have published long ago: as many as one request gives. */
const OVERDUE_A_LOOK = 100;

export interface Looker {
  /** Throws what the CMS throws; what was found until then is in the copy. */
  look(collection: Collection): Promise<Look>;
}

/** What it remembers lasts as long as the process: the first look at a kind after a start takes all from the watermark on for changed. */
export function createLooker(replica: Replica, taking: Taking): Looker {
  const nextTermPage = new Map<string, number>();
  /** The overdue record that was asked for last. */
  const lastOverdue = new Map<string, number>();
  const seen = createSeen();

  /** Everything that was modified since the last look, and what the newest hundred show otherwise than the copy. */
  async function lookAtPosts(collection: Collection): Promise<Look> {
    const { kind } = collection;
    const known = taking.watermark.get(kind) ?? '';
    let found: Look | undefined;
    let mark = known;
    // An import changes hundreds within one second: they are walked through for a while, and not at every look.
    const passed = seen.passed(kind, known);
    const differ = new Set<number>();
    const pages = modifiedSince((query) => taking.asking.ask(collection, query), {
      ...{ knownUtc: known, passed, fields: ROW_FIELDS, pageSize: taking.asking.pageSize, site: taking.site() },
    });
    for await (const page of pages) {
      found ??= { total: page.total, askedAt: page.askedAt };
      const nowUtc = utcText(page.serverTimeMs);
      for (const row of page.items.map(rowOf)) {
        const copied = taking.copied(collection, row.id);
        // What was not settled when the process ended is as new as the watermark at least.
        const unsure = row.modifiedUtc >= known && !taking.looked.has(kind);
        if (unsure || copied?.modifiedUtc !== row.modifiedUtc || copied.status !== row.status) differ.add(row.id);
        // A record made with a date to come has that date as its time of modification.
        if (row.modifiedUtc > mark && row.modifiedUtc <= nowUtc) mark = row.modifiedUtc;
      }
    }
    differ.delete(0);
    await taking.fetch(collection, [...differ]);
    taking.watermark.set(kind, mark);
    taking.looked.add(kind);
    seen.looked(kind, mark, taking.asking.clockAt(found?.askedAt ?? 0));
    return found ?? { total: 0, askedAt: 0 };
  }

  /** Terms carry no date: their lists are compared whole. */
  async function lookAtTerms(collection: Collection): Promise<Look> {
    const from = nextTermPage.get(collection.kind) ?? 1;
    const query = { per_page: taking.asking.pageSize, orderby: 'id', order: 'asc', _fields: collection.select };
    let found: Look | undefined;
    let page = from;
    for (let read = 0; read < TERM_PAGES_A_LOOK; read += 1) {
      const answer = await taking.asking.ask(collection, { ...query, page });
      found ??= { total: answer.total, askedAt: answer.askedAt };
      await taking.take(collection, answer.items, answer.askedAt);
      const last = page * taking.asking.pageSize >= answer.total;
      page = last ? 1 : page + 1;
      if (page === from || (last && from === 1)) break;
    }
    nextTermPage.set(collection.kind, page);
    return found ?? { total: 0, askedAt: 0 };
  }

  /** Publishing what was scheduled changes the status alone, and may happen long after the date. */
  async function lookAtDue(collection: Collection): Promise<void> {
    if (!collection.statuses.includes('future')) return;
    const ids = replica.ids(collection.kind, { statuses: ['future'] }).map(({ id }) => id);
    if (ids.length === 0) return;
    const nowMs = taking.asking.serverTimeMs;
    const [nowUtc, latelyUtc] = [utcText(nowMs), utcText(nowMs - LATELY_MS)];
    const due = [...replica.getMany(collection.kind, ids).values()]
      .map((record) => ({ id: record.id, dateUtc: (record as PostRecord).dateUtc }))
      .filter(({ dateUtc }) => dateUtc <= nowUtc)
      .sort((a, b) => a.id - b.id);
    const lately = due.filter(({ dateUtc }) => dateUtc >= latelyUtc).map(({ id }) => id);
    const overdue = due.filter(({ dateUtc }) => dateUtc < latelyUtc).map(({ id }) => id);
    const after = lastOverdue.get(collection.kind) ?? 0;
    const inTurn = [...overdue.filter((id) => id > after), ...overdue.filter((id) => id <= after)];
    const some = inTurn.slice(0, OVERDUE_A_LOOK);
    lastOverdue.set(collection.kind, some.at(-1) ?? 0);
    await taking.fetch(collection, [...lately, ...some]);
  }

  return {
    async look(collection) {
      await taking.fetchPending(collection);
      if (!collection.posts) return lookAtTerms(collection);
      const found = await lookAtPosts(collection);
      await lookAtDue(collection);
      return found;
    },
  };
}
