// Series of three zones over two years, as Python's recurring-ical-events expands them (expand.py).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readICalendar } from '../../../src/cms/sources/icalendar.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/sources');

describe('series of an iCalendar file', () => {
  it('take place as an independent program says', async () => {
    const expected: Record<string, string[]> = JSON.parse(readFileSync(join(FOLDER, 'recurring.json'), 'utf8'));
    const bytes = readFileSync(join(FOLDER, 'recurring.ics'));
    // Each reading has half a year before, and a year after.
    const readings = await Promise.all(
      [Date.UTC(2027, 5, 20), Date.UTC(2028, 0, 1)].map((nowMs) =>
        readICalendar(bytes, { timezone: 'Europe/Berlin', nowMs }),
      ),
    );
    for (const { remarks } of readings) expect(remarks).to.deep.equal([]);
    const events = new Map(readings.flatMap((reading) => reading.events.map((event) => [event.key, event])));
    const dayAfter = (wall: string) => new Date(Date.parse(`${wall.slice(0, 10)}T24:00Z`)).toISOString().slice(0, 10);
    // Of an end the day and the time suffice: no event of the file lasts a month.
    const isCompared = (start: string) => start >= '2027-01-02' && start < '2028-12-31';
    const ours = [...events.values()]
      .filter(({ startUtc, start, allDay }) => isCompared(allDay ? start : startUtc))
      .map(({ uid, allDay, start, end, startUtc, endUtc }) =>
        allDay ? `${uid} ${start.slice(0, 10)}/${dayAfter(end)}` : `${uid} ${startUtc}/${endUtc.slice(8)}`,
      );
    const theirs = Object.entries(expected).flatMap(([uid, times]) => times.map((time) => `${uid} ${time}`));
    const [known, wanted] = [new Set(ours), new Set(theirs)];
    expect({
      more: ours.filter((row) => !wanted.has(row)).slice(0, 40),
      less: theirs.filter((row) => !known.has(row)).slice(0, 40),
    }).to.deep.equal({ more: [], less: [] });
    expect(ours).to.have.length(theirs.length);
    expect(theirs.length).to.be.above(5000);
  });
});
