// Owns reading a list of the CMS page by page: all of it, or what was modified since a time.

import type { CmsPage, Detail, ListRequest } from '../cms/port.ts';
import type { RecordStamp } from '../store/records.ts';
import { formatWallTime } from '../time/wall-time.ts';
import { stampOf } from './collections.ts';

/** A page, and the number of its request: it grows with every request and every write. */
export interface MarkedPage extends CmsPage {
  readMark: number;
}

/** A part of a list. `readPage` adds the view. */
export type PageRequest = Omit<ListRequest, 'view'> & { detail: Detail; limit: number };

/** A page of a whole list: its number, from 1, and whether it is the last one. */
export type NumberedPage = MarkedPage & { page: number; isLast: boolean };

/**
 * Yields the pages of a list that is in the order of ids. If a record of an earlier page is deleted meanwhile, the
 * first record of the next page moves to an earlier one, and is on none of those that were read: whoever deletes what
 * no page had must ask for it by id before. `concurrency`: requests at a time. Throws what `readPage` throws.
 */
export async function* paginate(
  readPage: (page: number) => Promise<MarkedPage>,
  { start = 1, pageSize, concurrency = 1 }: { start?: number; pageSize: number; concurrency?: number },
): AsyncGenerator<NumberedPage> {
  const pending: Promise<MarkedPage>[] = [];
  let total = 0;
  for (let page = start; ; page += 1) {
    const isAhead = () => pending.length < concurrency && (page + pending.length - 1) * pageSize < total;
    while (pending.length === 0 || isAhead()) {
      const request = readPage(page + pending.length);
      // If the consumer stops, nothing awaits a page that was requested ahead: its failure must not end the process.
      request.catch(() => {});
      pending.push(request);
    }
    const response = await pending.shift()!;
    total = response.total;
    const isLast = page * pageSize >= total;
    yield { ...response, page, isLast };
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
function mayHaveChanged({ modifiedUtc }: RecordStamp, polledMs: number | undefined, nowMs: number): boolean {
  // The modification time of a record that was created with a future date is that date.
  return modifiedUtc >= formatWallTime((polledMs ?? 0) - SAME_SECOND_MS) && modifiedUtc <= formatWallTime(nowMs);
}

/** What was modified since a poll began; older records may be among them. */
export interface Modifications {
  stamps: RecordStamp[];
  /** Those that may have changed since that poll although their `modified` is known. */
  recentIds: Set<number>;
  /** Of the whole collection. */
  total: number;
  /** By the CMS's clock, when the first page was read. */
  cmsTimeMs: number;
}

/**
 * Lists the newest modifications. If they do not reach back to the last poll, it lists everything modified since then
 * in the order of ids: databases order equal times differently for every page (MariaDB does), so that pages ordered by
 * time would miss some records. `polledMs`: when that poll began, by the CMS's clock; undefined lists all records.
 * Throws what `readPage` throws.
 *
 * Modifications far ahead of the CMS's clock are on the first page only: changes of such records are dated
 * now, and new and deleted ones change the total. A CMS that cannot filter by the modification time lists the
 * whole collection, which takes longer and is as correct.
 */
export async function listModified(
  readPage: (request: PageRequest) => Promise<MarkedPage>,
  { polledMs, detail, pageSize }: { polledMs: number | undefined; detail: Detail; pageSize: number },
): Promise<Modifications> {
  const first = await readPage({ order: '-modified', limit: pageSize, detail, offset: 0 });
  const { total, cmsTimeMs } = first;
  const stamps = first.records.map(stampOf);
  const range: Pick<PageRequest, 'modifiedAfterUtc' | 'modifiedBeforeUtc'> = {};
  if (polledMs !== undefined) range.modifiedAfterUtc = formatWallTime(polledMs - LATE_COMMIT_MS);
  const aheadUtc = formatWallTime(cmsTimeMs + AHEAD_MS);
  if (polledMs !== undefined && (stamps[0]?.modifiedUtc ?? '') > aheadUtc) range.modifiedBeforeUtc = aheadUtc;
  const reachesBack = (stamps.at(-1)?.modifiedUtc ?? '') < (range.modifiedAfterUtc ?? '');
  if (total > pageSize && !reachesBack) {
    const read = (page: number) =>
      readPage({ order: 'id', detail, ...range, limit: pageSize, offset: (page - 1) * pageSize });
    for await (const { records } of paginate(read, { pageSize })) stamps.push(...records.map(stampOf));
  }
  const listed = stamps.filter(({ id }) => id !== 0);
  const recent = listed.filter((stamp) => mayHaveChanged(stamp, polledMs, cmsTimeMs));
  return { stamps: listed, recentIds: new Set(recent.map(({ id }) => id)), total, cmsTimeMs };
}
