// docs/recipes.md: runs its snippets in a browser, in another time zone than the site's.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import ICAL from 'ical.js';
import type { Browser, Page } from 'playwright-core';
import { requireBrowser, startBrowser } from '../browser/harness.ts';
import { seededGateway } from '../calendar/seeded-gateway.ts';
import { MOUNT, ROOT, type TestGateway } from '../start-gateway.ts';
import { event } from '../store/sample-records.ts';

const PUBLIC_API = 'https://calendar.example/calendar/events/v1';
const snippets = [...readFileSync(join(ROOT, 'docs/recipes.md'), 'utf8').matchAll(/^```js\n(.*?)^```$/gms)].map(
  ([, code]) => code!,
);

/** Wall times in Berlin, an hour before UTC in winter. */
const between = (id: number, title: string, start: string, end: string, allDay = false) => {
  const utc = (wall: string) =>
    new Date(Date.parse(`${wall}Z`) - 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
  return event(id, { title, allDay, start, end, startUtc: utc(start), endUtc: utc(end) });
};

const FEBRUARY = [
  between(1, 'Rock &amp; Roll &#8211; <em>live</em>', '2027-01-31 22:00:00', '2027-02-01 01:00:00'),
  between(2, 'Fair', '2027-02-01 00:00:00', '2027-02-02 23:59:59', true),
  between(3, 'Carnival', '2027-02-28 23:00:00', '2027-03-01 02:00:00'),
  event(6, {
    ...{ title: 'In UTC', timezone: 'UTC', start: '2027-02-10 20:00:00', end: '2027-02-10 21:00:00' },
    ...{ startUtc: '2027-02-10 20:00:00', endUtc: '2027-02-10 21:00:00' },
  }),
  // Of a site whose days start at two.
  between(7, 'Night market', '2027-02-20 02:00:00', '2027-02-21 01:59:59', true),
  // The second page.
  ...Array.from({ length: 50 }, (_, n) => between(100 + n, 'Class', '2027-02-15 10:00:00', '2027-02-15 11:00:00')),
];
const OTHERS = [
  between(4, 'Until midnight', '2027-01-31 20:00:00', '2027-02-01 00:00:00'),
  between(5, 'From midnight', '2027-03-01 00:00:00', '2027-03-01 03:00:00'),
];

interface Shown {
  title: string;
  start: string;
  end: string;
}
const textsOf = (start: ICAL.Time, end: ICAL.Time) => ({ start: start.toString(), end: end.toString() });

describe('docs/recipes.md', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let page: Page;
  before(async () => {
    requireBrowser();
    gateway = await seededGateway([...FEBRUARY, ...OTHERS]);
    const { url } = await gateway.listen();
    browser = await startBrowser();
    page = await browser.newPage({ timezoneId: 'America/Los_Angeles', locale: 'en-GB' });
    expect(snippets).to.have.length(5);
    await page.addScriptTag({ content: snippets.join('\n').replace(PUBLIC_API, url + MOUNT) });
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  const run = <T>(expression: string): Promise<T> => page.evaluate<T>(`(async () => ${expression})()`);
  const concert = `(await eventsOfMonth(2027, 2)).find(({ id }) => id === 1)`;

  it('has the moment of an event, and its time as the clock there shows it', async () => {
    expect(await run(`momentOf(${concert}).toISOString()`)).to.equal('2027-01-31T21:00:00.000Z');
    expect(await run(`shownStart(${concert}, 'en-GB')`)).to.match(/^Sunday.* 31 January 2027.* 22:00$/);
    expect(await run(`shownStart({ all_day: true, start_date: '2027-02-01 00:00:00' }, 'en-GB')`)).to.match(
      /^Monday.* 1 February 2027$/,
    );
    expect(await run(`shownStart({ start_date: '' }, 'en-GB')`)).to.equal('');
  });

  it('has titles as text', async () => {
    expect(await run(`textOf(${concert}.title)`)).to.equal('Rock & Roll – live');
  });

  it('has all events that touch a month, and no others', async () => {
    const ids = await run<number[]>('(await eventsOfMonth(2027, 2)).map(({ id }) => id)');
    expect(ids.sort((a, b) => a - b)).to.deep.equal(FEBRUARY.map(({ id }) => id));
    expect(await run('eventsOfMonth(2027, 6)')).to.deep.equal([]);
    // Why the document says strict_dates.
    const { body } = await gateway.request('/events?ends_after=2027-02-01&starts_before=2027-02-02&_fields=total');
    expect(body).to.deep.equal({ total: 1 });
  });

  it('gives FullCalendar its events', async () => {
    const range = { startStr: '2027-02-01T00:00:00-08:00', endStr: '2027-03-01T00:00:00-08:00' };
    const events = await run<{ id: string }[]>(`jsonCalendar.events(${JSON.stringify(range)})`);
    const byId = (id: string) => events.find((one) => one.id === id);
    expect(byId('1')).to.include({ title: 'Rock & Roll – live', allDay: false, start: '2027-01-31T22:00:00' });
    expect(byId('2')).to.include({ title: 'Fair', allDay: true, start: '2027-02-01', end: '2027-02-03' });
    expect(byId('7')).to.include({ allDay: true, start: '2027-02-20', end: '2027-02-21' });
  });

  it('gives FullCalendar the same events by a calendar file', async () => {
    const file = await run<string>('(await fetch(iCalCalendar.events.url)).text()');
    const events = new ICAL.Component(ICAL.parse(file)).getAllSubcomponents('vevent').map((one) => new ICAL.Event(one));
    expect(events).to.have.length(FEBRUARY.length + OTHERS.length);
    // As @fullcalendar/icalendar reads them.
    const read = events.map(({ summary, startDate, endDate }) => ({ title: summary, ...textsOf(startDate, endDate) }));
    const shown = await run<object[]>(`${JSON.stringify(read)}.map(iCalCalendar.events.eventDataTransform)`);
    const range = { startStr: '2027-01-01', endStr: '2027-04-01' };
    const byJson = await run<Shown[]>(`calendarEvents(${JSON.stringify(range)})`);
    expect(shown).to.have.deep.members(byJson.map(({ title, start, end }) => ({ title, start, end })));
  });
});
