// Owns reading a list of the CMS page by page, without losing a record while the list changes: all of it, or
// what was modified since a time.

import type { CmsPage, CmsRecord, Detail, ListRequest } from '../cms/port.ts';
import type { Site } from '../model/records.ts';
import { formatWallTime, parseWallTime } from '../time/wall-time.ts';
import { offsetMinutes, parseZone, utcToWall, utcZone } from '../time/zones.ts';
import { idOf, type Scope, stampOf } from './collections.ts';

/** A page, and the read mark of its request: a number that grows with every request and every write. */
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

export interface ModifiedSinceOptions {
  /** The newest known modification, `YYYY-MM-DD HH:MM:SS`; `''` lists all records. */
  watermarkUtc: string;
  /**
   * True if everything that was modified until then, and in that second, is known; see {@link
   * isWatermarkSettled}.
   */
  isSettled: boolean;
  detail: Detail;
  pageSize: number;
  /** The CMS sorts by its wall time. */
  site: Site;
}

/**
 * A CMS such as WordPress sets the modification time of a record before it saves it: on a busy site a record
 * may appear after others that were modified later. For this long after the poller first saw a modification,
 * it also lists what was modified shortly before it.
 */
const LATE_COMMIT_MS = 30_000;
/**
 * Records whose modification lies further ahead are not listed again at every poll: a CMS such as WordPress
 * gives a new record its publication date as modification. Longer than the hour that clocks show twice.
 */
const AHEAD_MS = 2 * 3_600_000;
const FIRST_YEAR = '1000';

/** Milliseconds; undefined for what is no modification, such as the zeros of a draft or a day that does not exist. */
const utcMs = (utc: string): number | undefined => (utc >= FIRST_YEAR ? parseWallTime(utc) : undefined);

/** `''` for what is no modification. */
function subtract(utc: string, ms: number): string {
  const fromMs = utcMs(utc);
  return fromMs === undefined ? '' : formatWallTime(fromMs - ms);
}

/**
 * Modifications may still appear from this time on if `watermarkUtc` is the newest that is known; `''` if
 * none is.
 */
export const lookbackUtc = (watermarkUtc: string): string => subtract(watermarkUtc, LATE_COMMIT_MS);

/** Since when `newestUtc` is known as the newest modification of a list, by `clockMs`. */
export interface WatermarkAge {
  newestUtc: string;
  sinceMs: number;
  /** So long that no record can still appear with an older modification. */
  isSettled: boolean;
}

/** True if everything that was modified until `watermarkUtc` is known. */
export const isWatermarkSettled = (age: WatermarkAge | undefined, watermarkUtc: string): boolean =>
  age?.isSettled === true && age.newestUtc === watermarkUtc;

/** The age of the watermark after a poll at `atMs` that saw everything, of which `newestUtc` is the newest. */
export function updateWatermarkAge(before: WatermarkAge | undefined, newestUtc: string, atMs: number): WatermarkAge {
  if (before?.newestUtc !== newestUtc) return { newestUtc, sinceMs: atMs, isSettled: false };
  return { ...before, isSettled: before.isSettled || atMs >= before.sinceMs + LATE_COMMIT_MS };
}

/**
 * Yields the newest modifications first. If they do not reach back to the watermark, everything modified
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
  { watermarkUtc, isSettled, detail, pageSize, site }: ModifiedSinceOptions,
): AsyncGenerator<MarkedPage> {
  const first = await readPage({ order: '-modified', limit: pageSize, detail, offset: 0 });
  yield first;
  const oldest = first.records.at(-1);
  if (!oldest || first.total <= pageSize) return;

  const range: Pick<PageRequest, 'modifiedAfterUtc' | 'modifiedBeforeUtc'> = {};
  if (utcMs(watermarkUtc) !== undefined) {
    const zone = parseZone(site.timezone) ?? utcZone;
    // An empty time sorts first, and an impossible one as text: a page that begins with one is not taken for the last.
    const wall = (utc: string) => (utcMs(utc) !== undefined ? utcToWall(utc, zone) : utc >= FIRST_YEAR ? utc : '');
    // In the hour that clocks show twice, a later modification sorts before an earlier one.
    const nowUtc = formatWallTime(first.cmsTimeMs);
    const setBackMs = 60_000 * Math.max(0, offsetMinutes(watermarkUtc, zone) - offsetMinutes(nowUtc, zone));
    const fromUtc = subtract(isSettled ? watermarkUtc : lookbackUtc(watermarkUtc), setBackMs);
    const [oldestWall, fromWall] = [wall(stampOf(oldest).modifiedUtc), wall(fromUtc)];
    if (oldestWall < fromWall || (isSettled && setBackMs === 0 && oldestWall === fromWall)) return;
    // The filter excludes its own second.
    range.modifiedAfterUtc = isSettled ? fromUtc : subtract(fromUtc, 1000);
    const aheadUtc = subtract(nowUtc, -AHEAD_MS);
    if (stampOf(first.records[0]!).modifiedUtc > aheadUtc) range.modifiedBeforeUtc = aheadUtc;
  }
  yield* paginate((position) => readPage({ order: 'id', detail, ...range, ...position }), {
    by: 'offset',
    concurrency: 1,
    pageSize,
  });
}
