// One look at a collection: what was modified, what the total says, and which scheduled records are due.

import type { PostRecord } from '../records.ts';
import { type Collection, ROW_FIELDS, rowOf, utcText } from './collections.ts';
import { SETTLED_MS } from './marks.ts';
import type { Replica } from './store.ts';
import type { Taking } from './taking.ts';
import { walk } from './walk.ts';

/** What a look found: how many records the CMS counts, and when it was asked. */
export interface Look {
  total: number;
  askedAt: number;
}

/** Terms are read whole at every look up to this many pages; of longer lists a few pages at each. */
const TERM_PAGES_A_LOOK = 5;

/** A scheduled record that the CMS did not publish for so long will not be asked for at every look any more. */
const OVERDUE_MS = 10 * 60_000;

export interface Looker {
  /** Throws what the CMS throws; what was found until then is in the copy. */
  look(collection: Collection): Promise<Look>;
}

/** What it remembers lasts as long as the process: the first look at a kind after a start takes all from the watermark on for changed. */
export function createLooker(replica: Replica, taking: Taking): Looker {
  const nextTermPage = new Map<string, number>();
  /** The second of the newest modification, since when it is known, and whether it was walked past when it was over. */
  const newest = new Map<string, { mark: string; seenMs: number; passed: boolean }>();

  /** Newest modifications first, until a page ends with what was walked past before and is as the copy has it. */
  async function lookAtPosts(collection: Collection): Promise<Look> {
    const { kind } = collection;
    const known = taking.watermark.get(kind) ?? '';
    let found: Look | undefined;
    let mark = known;
    // An import changes hundreds within one second: they are walked through until that second is over, and not at every look.
    const passed = newest.get(kind)?.passed === true && newest.get(kind)?.mark === known;
    const differ = new Set<number>();
    const query = { orderby: 'modified', order: 'desc', _fields: ROW_FIELDS };
    for await (const page of walk((at) => taking.asking.ask(collection, { ...query, ...at }), {
      by: 'offset',
      inFlight: 1,
      pageSize: taking.asking.pageSize,
    })) {
      found ??= { total: page.total, askedAt: page.askedAt };
      const nowUtc = utcText(page.serverTimeMs);
      for (const row of page.items.map(rowOf)) {
        if (row.id === 0) continue;
        const copied = taking.copied(collection, row.id);
        // What was not settled when the process ended is as new as the watermark at least.
        const unsure = row.modifiedUtc >= known && !taking.looked.has(kind);
        if (unsure || copied?.modifiedUtc !== row.modifiedUtc || copied.status !== row.status) differ.add(row.id);
        // A record made with a date to come has that date as its time of modification.
        if (row.modifiedUtc > mark && row.modifiedUtc <= nowUtc) mark = row.modifiedUtc;
      }
      const last = page.items.at(-1);
      if (!last) break;
      const { id, modifiedUtc } = rowOf(last);
      if ((modifiedUtc < known || (passed && modifiedUtc === known)) && !differ.has(id)) break;
    }
    await taking.fetch(collection, [...differ]);
    taking.watermark.set(kind, mark);
    taking.looked.add(kind);
    const askedMs = taking.asking.clockAt(found?.askedAt ?? 0);
    const before = newest.get(kind);
    if (before?.mark !== mark) newest.set(kind, { mark, seenMs: askedMs, passed: false });
    else if (askedMs >= before.seenMs + SETTLED_MS) before.passed = true;
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

  /** Publishing what was scheduled changes the status alone. */
  async function lookAtDue(collection: Collection): Promise<void> {
    if (!collection.statuses.includes('future')) return;
    const ids = replica.ids(collection.kind, { statuses: ['future'] }).map(({ id }) => id);
    if (ids.length === 0) return;
    const nowMs = taking.asking.serverTimeMs;
    const [nowUtc, longAgoUtc] = [utcText(nowMs), utcText(nowMs - OVERDUE_MS)];
    const due = [...replica.getMany(collection.kind, ids).values()].filter((record) => {
      const { dateUtc } = record as PostRecord;
      return dateUtc <= nowUtc && dateUtc >= longAgoUtc;
    });
    await taking.fetch(
      collection,
      due.map(({ id }) => id),
    );
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
