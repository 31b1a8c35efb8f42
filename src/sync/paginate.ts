// Owns reading a whole list of the CMS page by page, without losing a record while the list changes.

import type { CmsPage, CmsRecord, Detail, ListRequest } from '../cms/port.ts';
import { idOf, type Scope } from './collections.ts';

/** A page, and the read mark of its request: a number that grows with every request and every write. */
export interface MarkedPage extends CmsPage {
  readMark: number;
}

/** A part of a list. `readPage` adds the scope: that of the collection, or that of its argument `as`. */
export type PageRequest = Omit<ListRequest, keyof Scope> & { detail: Detail; limit: number };

/** The next page, and the id of the last record that was read (0 for none). */
export interface Cursor {
  position: number;
  lastId: number;
}

export type PageWithCursor<Page extends MarkedPage> = Page & {
  /** Continues after this page. */
  cursor: Cursor;
  isLast: boolean;
};

export interface PaginateOptions {
  /**
   * `offset`: pages overlap by one record, which shows whether the list moved. `page`: for lists without
   * offsets, or with holes.
   */
  by: 'offset' | 'page';
  start?: Cursor | undefined;
  pageSize: number;
  /** Requests at a time. */
  concurrency: number;
}

export type PagePosition = { limit: number } & Pick<ListRequest, 'offset' | 'page'>;

const MAX_STEPS_BACK = 8;

/**
 * True if no record is missing between the one with `lastId` and this page: it has that record, or (in the
 * order of ids) an earlier one.
 */
function overlaps(records: readonly CmsRecord[], lastId: number): boolean {
  const ids = records.map(idOf);
  if (ids.includes(lastId)) return true;
  const isAscending = ids.every((id, n) => n === 0 || id > (ids[n - 1] ?? 0));
  return isAscending && (ids[0] ?? Number.POSITIVE_INFINITY) <= lastId;
}

/**
 * Yields the pages of a list in order. A record that stays in the list meanwhile is on at least one of them:
 * if records before it disappeared, earlier pages are read again. Throws what `readPage` throws.
 */
export async function* paginate<Page extends MarkedPage>(
  readPage: (position: PagePosition) => Promise<Page>,
  { by, start, pageSize, concurrency }: PaginateOptions,
): AsyncGenerator<PageWithCursor<Page>> {
  const byOffset = by === 'offset';
  const stride = byOffset ? pageSize - 1 : 1;
  const recordsBefore = (position: number) => (byOffset ? position : (position - 1) * pageSize);
  const prefetched = new Map<number, Promise<Page>>();
  let { position, lastId } = start ?? { position: byOffset ? 0 : 1, lastId: 0 };
  let total = 0;
  let stepsBack = 0;

  function fetchPage(at: number): Promise<Page> {
    let page = prefetched.get(at);
    if (!page) {
      page = readPage(byOffset ? { limit: pageSize, offset: at } : { limit: pageSize, page: at });
      // If the consumer stops, nothing awaits a prefetched page: its failure must not end the process.
      page.catch(() => {});
      prefetched.set(at, page);
    }
    return page;
  }

  for (;;) {
    const pending = fetchPage(position);
    for (let n = 1; n < concurrency; n += 1) {
      const ahead = position + n * stride;
      if (recordsBefore(ahead) + 1 < total) void fetchPage(ahead);
    }
    const page = await pending;
    prefetched.delete(position);
    total = page.total;
    const isGap = byOffset && position > 0 && lastId > 0 && !overlaps(page.records, lastId);
    if (isGap && stepsBack < MAX_STEPS_BACK) {
      position = Math.max(0, position - stride * 2 ** stepsBack);
      stepsBack += 1;
      prefetched.clear();
      continue;
    }
    const isLast = recordsBefore(position) + pageSize >= total;
    const lastRecord = page.records.at(-1);
    if (lastRecord) lastId = idOf(lastRecord);
    position += stride;
    yield { ...page, cursor: { position, lastId }, isLast };
    if (isLast) return;
  }
}
