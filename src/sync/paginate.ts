// Owns reading a list of the CMS page by page, without losing a record while the list changes: all of it, or
// what was modified since a time.

import type { CmsPage, CmsRecord, Detail, ListRequest } from '../cms/port.ts';
import type { RecordStamp } from '../store/records.ts';
import { formatWallTime } from '../time/wall-time.ts';
import { idOf, type Scope, stampOf } from './collections.ts';

/** A page, and the number of its request: it grows with every request and every write. */
export interface MarkedPage extends CmsPage {
  readMark: number;
}

/** A part of a list. `readPage` adds the scope. */
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
   * `offset`: pages overlap by one record. If a page lacks it, there is a gap: the list moved. `page`: for lists
   * without offsets, or with holes, which are records that the list leaves out although they exist.
   */
  by: 'offset' | 'page';
  start?: Cursor | undefined;
  pageSize: number;
  /** Requests at a time. */
  concurrency: number;
}

export type PagePosition = { limit: number } & Pick<ListRequest, 'offset' | 'page'>;

/** At most this many steps back without a new record. Then the page counts in spite of the gap. */
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
 * Yields the pages of a list that is in the order of ids; some repeat. A record that stays in the list meanwhile is
 * on at least one of them: if records before it disappeared, earlier pages are read again. Throws what `readPage`
 * throws.
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
  let gap: string | undefined;
  let highestId = lastId;

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
    const seen = JSON.stringify([position, lastId, total, page.records.map(idOf)]);
    // The same gap again: the list did not move, but leaves out the record at which the pages overlap.
    const isHole = isGap && gap === seen;
    if (isGap && !isHole && stepsBack < MAX_STEPS_BACK) {
      gap = seen;
      position = Math.max(0, position - stride * 2 ** stepsBack);
      stepsBack += 1;
      prefetched.clear();
      continue;
    }
    const isLast = recordsBefore(position) + pageSize >= total;
    const lastRecord = page.records.at(-1);
    if (lastRecord) lastId = idOf(lastRecord);
    if (lastId > highestId) {
      highestId = lastId;
      stepsBack = 0;
    }
    position += stride;
    yield { ...page, cursor: { position, lastId }, isLast };
    if (isLast) return;
  }
}

/**
 * A CMS such as WordPress sets the modification time of a record before it saves it: on a busy site a record
 * may appear after others that were modified later. Each poll lists what was modified since so long before the last.
 */
const LATE_COMMIT_MS = 30_000;
/**
 * Records whose modification lies further ahead are not listed again at every poll: a CMS such as WordPress
 * gives a new record its publication date as modification. Longer than the hour that clocks show twice.
 */
const AHEAD_MS = 2 * 3_600_000;

/**
 * The CMS's `modified` has a resolution of one second: two changes within it look the same. Each poll reads again what
 * was modified after the last one began, or so shortly before.
 */
const SAME_SECOND_MS = 2_000;

/** True if the record may have changed since the last poll although its `modified` is known. */
export function mayHaveChanged({ modifiedUtc }: RecordStamp, polledMs: number | undefined, nowMs: number): boolean {
  // The modification time of a record that was created with a future date is that date.
  return modifiedUtc >= formatWallTime((polledMs ?? 0) - SAME_SECOND_MS) && modifiedUtc <= formatWallTime(nowMs);
}

export interface ModifiedSinceOptions {
  /** When the last poll began, by the CMS's clock; undefined lists all records. */
  polledMs: number | undefined;
  detail: Detail;
  pageSize: number;
}

/**
 * Yields the newest modifications first. If they do not reach back to the last poll, everything modified
 * since then follows in the order of ids: databases order equal times differently for every page (MariaDB
 * does), so that pages ordered by time would miss some records. Records repeat. The first page's total is
 * that of the whole collection. Throws what `readPage` throws.
 *
 * Modifications far ahead of the CMS's clock are on the first page only: changes of such records are dated
 * now, and new and deleted ones change the total. A CMS that cannot filter by the modification time lists the
 * whole collection, which takes longer and is as correct.
 */
export async function* modifiedSince(
  readPage: (request: PageRequest) => Promise<MarkedPage>,
  { polledMs, detail, pageSize }: ModifiedSinceOptions,
): AsyncGenerator<MarkedPage> {
  const first = await readPage({ order: '-modified', limit: pageSize, detail, offset: 0 });
  yield first;
  const [newest, oldest] = [first.records[0], first.records.at(-1)];
  if (!newest || !oldest || first.total <= pageSize) return;
  const range: Pick<PageRequest, 'modifiedAfterUtc' | 'modifiedBeforeUtc'> = {};
  if (polledMs !== undefined) {
    range.modifiedAfterUtc = formatWallTime(polledMs - LATE_COMMIT_MS);
    if (stampOf(oldest).modifiedUtc < range.modifiedAfterUtc) return;
    const aheadUtc = formatWallTime(first.cmsTimeMs + AHEAD_MS);
    if (stampOf(newest).modifiedUtc > aheadUtc) range.modifiedBeforeUtc = aheadUtc;
  }
  yield* paginate((position) => readPage({ order: 'id', detail, ...range, ...position }), {
    by: 'offset',
    concurrency: 1,
    pageSize,
  });
}
