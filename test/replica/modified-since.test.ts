// What changed since a moment is found whatever order rows of the same second come in, and in the hour that clocks show twice.

import { expect } from 'chai';
import { idOf } from '../../src/replica/collections.ts';
import { modifiedSince } from '../../src/replica/modified-since.ts';
import { parseZone, utcToWall, utcZone } from '../../src/time/zones.ts';
import type { Query } from '../../src/upstream/port.ts';

const BERLIN = { url: '', name: '', timezone: 'Europe/Berlin' };
const PAGE = 5;

/** A CMS that sorts by its wall time, as WordPress does, and rows of equal time differently for every request. */
function cms(rows: { id: number; utc: string }[], nowUtc: string) {
  const zone = parseZone(BERLIN.timezone) ?? utcZone;
  const wall = (utc: string) => utcToWall(utc, zone);
  const asked: Query[] = [];
  const ask = async (query: Query) => {
    asked.push(query);
    const after =
      query.modified_after === undefined
        ? undefined
        : wall(String(query.modified_after).slice(0, 19).replace('T', ' '));
    const found = rows
      .filter(({ utc }) => after === undefined || wall(utc) > after)
      .map((row) => ({ ...row, tie: (row.id * 7919 * asked.length) % 31 }));
    if (query.orderby === 'id') found.sort((a, b) => a.id - b.id);
    else found.sort((a, b) => wall(b.utc).localeCompare(wall(a.utc)) || a.tie - b.tie);
    const from = Number(query.offset ?? 0);
    return {
      items: found
        .slice(from, from + Number(query.per_page))
        .map(({ id, utc }) => ({ id, modified_gmt: utc.replace(' ', 'T') })),
      total: found.length,
      totalPages: 1,
      serverTimeMs: Date.parse(`${nowUtc.replace(' ', 'T')}Z`),
      askedAt: asked.length,
    };
  };
  return { ask, asked };
}

async function found(site: ReturnType<typeof cms>, knownUtc: string, passed = false): Promise<number[]> {
  const ids = new Set<number>();
  const since = { knownUtc, passed, fields: 'id,modified_gmt', pageSize: PAGE, site: BERLIN };
  for await (const page of modifiedSince(site.ask, since)) for (const item of page.items) ids.add(idOf(item));
  return [...ids].sort((a, b) => a - b);
}

const rows = (count: number, utc: string, from = 1) => Array.from({ length: count }, (_, n) => ({ id: from + n, utc }));

describe('what was modified since a moment', () => {
  it('is found whole where more than a page was modified within one second', async () => {
    const site = cms(
      [...rows(40, '2026-03-01 10:00:00'), ...rows(23, '2026-03-01 12:00:00', 41)],
      '2026-03-01 12:00:05',
    );
    const ids = await found(site, '2026-03-01 11:00:00');
    expect(ids).to.include.members(rows(23, '', 41).map(({ id }) => id));
  });

  it('is found whole where the first page ends in the very second from which on it is asked for', async () => {
    const site = cms(
      [...rows(23, '2026-03-01 12:00:00'), ...rows(2, '2026-03-01 12:00:03', 24)],
      '2026-03-01 12:00:05',
    );
    expect(await found(site, '2026-03-01 12:00:00')).to.deep.equal(rows(25, '').map(({ id }) => id));
  });

  it('is found where it was stamped before the newest that is known, and saved after it', async () => {
    const site = cms(
      [...rows(23, '2026-03-01 12:00:05'), ...rows(1, '2026-03-01 12:00:01', 24)],
      '2026-03-01 12:00:09',
    );
    expect(await found(site, '2026-03-01 12:00:05')).to.include(24);
  });

  it('costs one request where the first page reaches back far enough, and where that second was seen whole before', async () => {
    const quiet = cms([...rows(3, '2026-03-01 12:00:00'), ...rows(9, '2026-03-01 10:00:00', 4)], '2026-03-01 12:00:05');
    await found(quiet, '2026-03-01 12:00:00');
    expect(quiet.asked).to.have.length(1);
    const mass = cms(rows(23, '2026-03-01 12:00:00'), '2026-03-01 13:00:05');
    await found(mass, '2026-03-01 12:00:00', true);
    expect(mass.asked).to.have.length(1);
  });

  it('is found in the hour that the clocks of the site show twice', async () => {
    // 02:50 summer time; then ten records at 02:10 winter time, which sorts before it.
    const before = rows(9, '2026-10-25 00:50:00');
    const later = rows(10, '2026-10-25 01:10:00', 10);
    const site = cms([...before, ...later, ...rows(30, '2026-10-24 20:00:00', 20)], '2026-10-25 01:10:05');
    expect(await found(site, '2026-10-25 00:50:00')).to.include.members(later.map(({ id }) => id));
  });
});
