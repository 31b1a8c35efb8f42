// Everything that a collection changed since a moment, without relying on how the CMS orders rows that were modified in the same second.

import type { Site } from '../records.ts';
import { offsetMinutes, parseZone, utcToWall, utcZone } from '../time/zones.ts';
import type { Query } from '../upstream/port.ts';
import { rowOf, utcText } from './collections.ts';
import { type AskedPage, walk } from './walk.ts';

export interface Since {
  /** The newest modification that is known: `YYYY-MM-DD HH:MM:SS`; `''` where none is, for all rows. */
  knownUtc: string;
  /** Whether all that was modified until then, and in that second, is known; see {@link createSeen}. */
  passed: boolean;
  /** Of the request: what a row shows. */
  fields: string;
  pageSize: number;
  /** The CMS sorts by its own wall time. */
  site: Site;
}

/**
 * A record is stamped before it is saved: on a busy site, others that were stamped later are seen earlier. So long after a modification
 * was first seen, what was modified shortly before it is looked for once more.
 */
const LATE_MS = 30_000;
const UTC_TEXT = /^[1-9]\d{3}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;

const earlier = (utc: string, ms: number): string => utcText(Date.parse(`${utc.replace(' ', 'T')}Z`) - ms);

/** From when on modifications may still come to light when this is the newest that is known; `''` where none is. */
export const beforeUtc = (knownUtc: string): string => (UTC_TEXT.test(knownUtc) ? earlier(knownUtc, LATE_MS) : '');

/** What is known of the newest modification of each list. */
export interface Seen {
  /** Whether all that was modified until then is known. */
  passed(list: string, knownUtc: string): boolean;
  /** A look at `atMs`, of the gateway's clock, found all that was modified; `newestUtc` is the newest. */
  looked(list: string, newestUtc: string, atMs: number): void;
}

/** Remembers, in memory, since when the newest modification of each list is known. */
export function createSeen(): Seen {
  const newest = new Map<string, { newestUtc: string; sinceMs: number; passed: boolean }>();
  return {
    passed: (list, knownUtc) => newest.get(list)?.passed === true && newest.get(list)?.newestUtc === knownUtc,
    looked(list, newestUtc, atMs) {
      const before = newest.get(list);
      if (before?.newestUtc !== newestUtc) newest.set(list, { newestUtc, sinceMs: atMs, passed: false });
      else if (atMs >= before.sinceMs + LATE_MS) before.passed = true;
    },
  };
}

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
  const { knownUtc, passed, fields, pageSize, site } = since;
  const newest = { orderby: 'modified', order: 'desc', per_page: pageSize, _fields: fields, offset: 0 };
  const first = await ask(newest);
  yield first;
  const last = first.items.at(-1);
  if (!last || first.total <= pageSize) return;
  const zone = parseZone(site.timezone) ?? utcZone;
  const wall = (utc: string) => (UTC_TEXT.test(utc) ? utcToWall(utc, zone) : '');
  // In the hour that clocks show twice, what was modified later sorts before what was modified earlier.
  const known = UTC_TEXT.test(knownUtc);
  const nowUtc = utcText(first.serverTimeMs);
  const setBackMs = known ? 60_000 * Math.max(0, offsetMinutes(knownUtc, zone) - offsetMinutes(nowUtc, zone)) : 0;
  const fromUtc = known ? earlier(passed ? knownUtc : beforeUtc(knownUtc), setBackMs) : '';
  const [lastWall, fromWall] = [wall(rowOf(last).modifiedUtc), wall(fromUtc)];
  if (known && (lastWall < fromWall || (passed && setBackMs === 0 && lastWall === fromWall))) return;
  // `modified_after` leaves its own second out.
  const afterUtc = passed || !known ? fromUtc : earlier(fromUtc, 1000);
  const query = {
    ...{ orderby: 'id', order: 'asc', _fields: fields },
    ...(known ? { modified_after: `${afterUtc.replace(' ', 'T')}Z` } : {}),
  };
  yield* walk((at) => ask({ ...query, ...at }), { by: 'offset', inFlight: 1, pageSize });
}
