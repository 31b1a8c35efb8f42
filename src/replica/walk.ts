// Walking through a whole list of the CMS, page by page, without losing a row while the list changes under the walk.

import type { Native, NativePage, Query } from '../upstream/port.ts';
import { idOf } from './collections.ts';

/** A page, and when it was asked for: a number that grows with every request and every write. */
export interface AskedPage extends NativePage {
  askedAt: number;
}

/** Where a walk goes on: the next page, and the id of the last row that was read (0 for none). */
export interface Cursor {
  at: number;
  anchor: number;
}

export interface WalkedPage extends AskedPage {
  /** Where to go on after this page. */
  next: Cursor;
  last: boolean;
}

export interface WalkOptions {
  /** `offset`: pages overlap by one row, which shows whether the list moved. `page`: for lists that know no offset, or that leave rows out. */
  by: 'offset' | 'page';
  from?: Cursor | undefined;
  /** Rows a page. */
  pageSize: number;
  /** Requests at a time. */
  inFlight: number;
}

const STEPS_BACK = 8;

/** Whether a page begins no later than right after the row `anchor`: it has that row itself, or (in the order of ids) an earlier one. */
function joins(items: readonly Native[], anchor: number): boolean {
  const ids = items.map(idOf);
  if (ids.includes(anchor)) return true;
  const ascending = ids.every((id, n) => n === 0 || id > (ids[n - 1] ?? 0));
  return ascending && (ids[0] ?? Number.POSITIVE_INFINITY) <= anchor;
}

/**
 * The pages of a list in order. A row that stays where it is while the walk lasts is on one of them at least: where rows before it went
 * away, pages are read again from further back. Throws what `ask` throws.
 */
export async function* walk(ask: (query: Query) => Promise<AskedPage>, how: WalkOptions): AsyncGenerator<WalkedPage> {
  const { pageSize } = how;
  const byOffset = how.by === 'offset';
  const first = byOffset ? 0 : 1;
  const stride = byOffset ? pageSize - 1 : 1;
  const rowsBefore = (at: number) => (byOffset ? at : (at - 1) * pageSize);
  const ahead = new Map<number, Promise<AskedPage>>();
  let { at, anchor } = how.from ?? { at: first, anchor: 0 };
  let total = 0;
  let stepsBack = 0;

  function asked(place: number): Promise<AskedPage> {
    let page = ahead.get(place);
    if (!page) {
      page = ask(byOffset ? { per_page: pageSize, offset: place } : { per_page: pageSize, page: place });
      // A page that nobody waits for any more must not end the process.
      page.catch(() => {});
      ahead.set(place, page);
    }
    return page;
  }

  for (;;) {
    const waiting = asked(at);
    for (let n = 1; n < how.inFlight; n += 1) if (rowsBefore(at + n * stride) + 1 < total) void asked(at + n * stride);
    const page = await waiting;
    ahead.delete(at);
    total = page.total;
    if (byOffset && at > 0 && anchor > 0 && stepsBack < STEPS_BACK && !joins(page.items, anchor)) {
      at = Math.max(0, at - stride * 2 ** stepsBack);
      stepsBack += 1;
      ahead.clear();
      continue;
    }
    const last = rowsBefore(at) + pageSize >= total;
    const lastItem = page.items.at(-1);
    anchor = lastItem ? idOf(lastItem) : anchor;
    at += stride;
    yield { ...page, next: { at, anchor }, last };
    if (last) return;
  }
}
