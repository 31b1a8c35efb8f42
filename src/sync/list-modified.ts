// Owns listing what was modified in the CMS since the last poll, in whatever order it sends records of one second.

import type { Detail } from '../cms/port.ts';
import { formatWallTime } from '../time/wall-time.ts';
import { type MarkedPage, type PageRequest, paginate } from './cms-reader.ts';
import { stampOf } from './collections.ts';

// A poll at 10:01:00 after one at 10:00:00, by the CMS's clock, asks for the modifications since 09:59:30. It reads
// records of the middle part again although the replica has the same `modified`. A record that was created with a date
// of next month has that date as `modified`: it is listed at every poll, and never recent.
//
//     09:59:30            09:59:58            10:01:00
//         |------ listed -----|- listed, recent --|------ listed ----->

/** WordPress sets the modification time before it saves: a record may appear after others that changed later. */
const LATE_COMMIT_MS = 30_000;
/**
 * `modified` has a resolution of one second. Example: an event is edited, read by the poll, and edited again, all in
 * the second 10:00:00. Both edits have the same `modified`, and only reading the event once more shows the second one.
 */
const SAME_SECOND_MS = 2_000;

/**
 * Lists the newest modifications; and everything since the last poll, unless these reach back to it. Resolves with the
 * listed stamps, perhaps older ones among them; the ids of the recent ones; the total of the whole list; and the CMS's
 * clock when the first page was read. Throws what `readPage` throws.
 * @param polledMs when the last poll began, by the CMS's clock; undefined lists all records
 */
export async function listModified(
  readPage: (request: PageRequest) => Promise<MarkedPage>,
  { polledMs, detail, pageSize }: { polledMs: number | undefined; detail: Detail; pageSize: number },
) {
  const first = await readPage({ order: '-modified', limit: pageSize, detail, offset: 0 });
  const { total, cmsTimeMs } = first;
  const stamps = first.records.map(stampOf);
  const range: Pick<PageRequest, 'modifiedAfterUtc'> = {};
  if (polledMs !== undefined) range.modifiedAfterUtc = formatWallTime(polledMs - LATE_COMMIT_MS);
  const reachesBack = (stamps.at(-1)?.modifiedUtc ?? '') < (range.modifiedAfterUtc ?? '');
  if (total > pageSize && !reachesBack) {
    // By id: MariaDB orders equal times differently for every page, so that pages ordered by time would miss records.
    const read = (page: number) =>
      readPage({ order: 'id', detail, ...range, limit: pageSize, offset: (page - 1) * pageSize });
    for await (const { records } of paginate(read, { pageSize })) stamps.push(...records.map(stampOf));
  }
  const listed = stamps.filter(({ id }) => id !== 0);
  const [fromUtc, nowUtc] = [formatWallTime((polledMs ?? 0) - SAME_SECOND_MS), formatWallTime(cmsTimeMs)];
  const recent = listed.filter(({ modifiedUtc }) => modifiedUtc >= fromUtc && modifiedUtc <= nowUtc);
  return { stamps: listed, recentIds: new Set(recent.map(({ id }) => id)), total, cmsTimeMs };
}
