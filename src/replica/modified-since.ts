// Everything that a collection changed since a moment, without relying on how the CMS orders rows that were modified in the same second.

import type { Site } from '../records.ts';
import { offsetMinutes, parseZone, utcToWall, utcZone } from '../time/zones.ts';
import type { Query } from '../upstream/port.ts';
import { rowOf, utcText } from './collections.ts';
import { type AskedPage, walk } from './walk.ts';

export interface Since {
  /** Rows modified in this second or later are wanted: `YYYY-MM-DD HH:MM:SS`; `''` for all rows. */
  sinceUtc: string;
  /** Whether every row of that second is known already. */
  passed: boolean;
  /** Of the request: what a row shows. */
  fields: string;
  pageSize: number;
  /** The CMS sorts by its own wall time. */
  site: Site;
}

const UTC_TEXT = /^[1-9]\d{3}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;

/**
 * The newest modifications first; its first page is the only one where that page reaches back far enough. Otherwise the rows
 * follow in the order of their ids, since databases order equal times differently for every page (MariaDB does) and a walk by time
 * would miss some of them. Rows come repeatedly. The first page's total is that of the whole collection. Throws what `ask` throws.
 *
 * A CMS that does not know `modified_after` (WordPress before 5.7) lists the whole collection, which takes longer and is as right.
 */
export async function* modifiedSince(
  ask: (query: Query) => Promise<AskedPage>,
  since: Since,
): AsyncGenerator<AskedPage> {
  const { sinceUtc, passed, fields, pageSize, site } = since;
  const newest = { orderby: 'modified', order: 'desc', _fields: fields, per_page: pageSize, offset: 0 };
  const first = await ask(newest);
  yield first;
  const last = first.items.at(-1);
  if (!last || first.total <= pageSize) return;
  const zone = parseZone(site.timezone) ?? utcZone;
  const wall = (utc: string) => (UTC_TEXT.test(utc) ? utcToWall(utc, zone) : '');
  // In the hour that clocks show twice, what was modified later sorts before what was modified earlier.
  const known = UTC_TEXT.test(sinceUtc);
  const nowUtc = utcText(first.serverTimeMs);
  const setBackMs = known ? 60_000 * Math.max(0, offsetMinutes(sinceUtc, zone) - offsetMinutes(nowUtc, zone)) : 0;
  const fromUtc = known ? utcText(Date.parse(`${sinceUtc.replace(' ', 'T')}Z`) - setBackMs) : '';
  const [lastWall, fromWall] = [wall(rowOf(last).modifiedUtc), wall(fromUtc)];
  if (known && (lastWall < fromWall || (passed && setBackMs === 0 && lastWall === fromWall))) return;
  // `modified_after` leaves its own second out.
  const afterUtc = passed || !known ? fromUtc : utcText(Date.parse(`${fromUtc.replace(' ', 'T')}Z`) - 1000);
  const query = {
    ...{ orderby: 'id', order: 'asc', _fields: fields },
    ...(known ? { modified_after: `${afterUtc.replace(' ', 'T')}Z` } : {}),
  };
  yield* walk((at) => ask({ ...query, ...at }), { by: 'offset', inFlight: 1, pageSize });
}
