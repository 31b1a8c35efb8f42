// Listing modifications finds all records, in whatever order those of the same second come.

import { expect } from 'chai';
import type { PageRequest } from '../../src/sync/cms-reader.ts';
import { listModified } from '../../src/sync/list-modified.ts';
import { parseWallTime } from '../../src/time/wall-time.ts';
import { parseZone, utcToWall, utcZone } from '../../src/time/zones.ts';

const BERLIN = { url: '', name: '', timezone: 'Europe/Berlin' };
const PAGE = 5;

/**
 * A CMS that sorts by its wall time, as WordPress does, and records of equal time differently for every
 * request.
 */
function fakeList(records: { id: number; utc: string }[], nowUtc: string) {
  const zone = parseZone(BERLIN.timezone) ?? utcZone;
  const wall = (utc: string) => (parseWallTime(utc) === undefined ? utc : utcToWall(utc, zone));
  const requests: PageRequest[] = [];
  const readPage = async (request: PageRequest) => {
    const { modifiedAfterUtc, order, limit, offset: from = 0 } = request;
    requests.push(request);
    const after = modifiedAfterUtc === undefined ? undefined : wall(modifiedAfterUtc);
    const matching = records
      .filter(({ utc }) => after === undefined || wall(utc) > after)
      .map((row) => ({ ...row, tie: (row.id * 7919 * requests.length) % 31 }));
    if (order === 'id') matching.sort((a, b) => a.id - b.id);
    else matching.sort((a, b) => wall(b.utc).localeCompare(wall(a.utc)) || a.tie - b.tie);
    return {
      records: matching.slice(from, from + limit).map(({ id, utc }) => ({ id, modifiedUtc: utc })),
      total: matching.length,
      cmsTimeMs: Date.parse(`${nowUtc.replace(' ', 'T')}Z`),
      readMark: requests.length,
    };
  };
  return { readPage, requests };
}

async function listIds(list: ReturnType<typeof fakeList>, polledUtc: string): Promise<number[]> {
  const options = { polledMs: parseWallTime(polledUtc), detail: 'time' as const, pageSize: PAGE };
  const { stamps } = await listModified(list.readPage, options);
  return [...new Set(stamps.map(({ id }) => id))].sort((a, b) => a - b);
}

const records = (count: number, utc: string, from = 1) =>
  Array.from({ length: count }, (_, n) => ({ id: from + n, utc }));

describe('modifications since a poll', () => {
  it('are complete if more than a page was modified within one second', async () => {
    const list = fakeList(
      [...records(40, '2026-03-01 10:00:00'), ...records(23, '2026-03-01 12:00:00', 41)],
      '2026-03-01 12:00:05',
    );
    const ids = await listIds(list, '2026-03-01 11:00:00');
    expect(ids).to.include.members(records(23, '', 41).map(({ id }) => id));
  });

  it('are complete if the first page ends in the second of that poll', async () => {
    const list = fakeList(
      [...records(23, '2026-03-01 12:00:00'), ...records(2, '2026-03-01 12:00:03', 24)],
      '2026-03-01 12:00:05',
    );
    expect(await listIds(list, '2026-03-01 12:00:00')).to.deep.equal(records(25, '').map(({ id }) => id));
  });

  it('include a record that was stamped before that poll and saved after it', async () => {
    const list = fakeList(
      [...records(23, '2026-03-01 12:00:05'), ...records(1, '2026-03-01 12:00:01', 24)],
      '2026-03-01 12:00:09',
    );
    expect(await listIds(list, '2026-03-01 12:00:05')).to.include(24);
  });

  it('are complete if the first page ends on a day that does not exist', async () => {
    const list = fakeList(
      [
        ...records(4, '2026-03-01 10:00:00'),
        ...records(1, '2026-02-30 10:00:00', 5),
        ...records(7, '2026-02-25 10:00:00', 6),
      ],
      '2026-03-01 12:00:05',
    );
    expect(await listIds(list, '2026-02-20 10:00:00')).to.have.length(12);
  });

  it('cost one request if the first page reaches back to half a minute before that poll', async () => {
    const list = fakeList(
      [...records(3, '2026-03-01 12:00:00'), ...records(9, '2026-03-01 10:00:00', 4)],
      '2026-03-01 12:00:05',
    );
    await listIds(list, '2026-03-01 12:00:00');
    expect(list.requests).to.have.length(1);
  });

  it('are complete however many records are dated ahead', async () => {
    const ahead = records(400, '2031-01-01 10:00:00', 100);
    const list = fakeList([...ahead, ...records(3, '2026-03-01 12:00:03')], '2026-03-01 12:00:05');
    expect(await listIds(list, '2026-03-01 12:00:00')).to.include.members([1, 2, 3]);
  });
});
