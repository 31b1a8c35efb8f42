// Series of three zones over two years, as Python's recurring-ical-events expands them (expand.py).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readICalendar } from '../../../src/cms/sources/icalendar.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/sources');

describe('series of an iCalendar file', () => {
  it('take place as an independent program says', async () => {
    const expected: [string, string, string][] = JSON.parse(readFileSync(join(FOLDER, 'recurring.json'), 'utf8'));
    const nowMs = Date.UTC(2028, 0, 1);
    const window = { fromMs: Date.UTC(2026, 11, 20), toMs: Date.UTC(2029, 0, 10) };
    const { events, leftOut } = await readICalendar(readFileSync(join(FOLDER, 'recurring.ics')), {
      timezone: 'Europe/Berlin',
      nowMs,
      window,
    });
    expect(leftOut).to.deep.equal([]);
    const dayAfter = (wall: string) =>
      new Date(Date.parse(`${wall.replace(' ', 'T')}Z`) + 1000).toISOString().slice(0, 10);
    const times = events
      .map(({ uid, startUtc, endUtc, start, end, allDay }) =>
        allDay ? [uid, start.slice(0, 10), dayAfter(end)] : [uid, startUtc, endUtc],
      )
      .filter(([, start]) => start! >= '2027-01-02' && start! < '2028-12-31');
    const texts = (rows: readonly (readonly string[])[]) => rows.map((row) => row.join(' ')).sort();
    const [ours, theirs] = [texts(times as string[][]), texts(expected)];
    const [known, wanted] = [new Set(ours), new Set(theirs)];
    expect({
      more: ours.filter((row) => !wanted.has(row)).slice(0, 40),
      less: theirs.filter((row) => !known.has(row)).slice(0, 40),
    }).to.deep.equal({ more: [], less: [] });
    expect(times).to.have.length(expected.length);
    expect(expected.length).to.be.above(5000);
  });
});
