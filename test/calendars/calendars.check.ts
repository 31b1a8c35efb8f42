// What calendar programs show of the calendar files is what the API's JSON says: titles, and times in the
// reader's zone.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { seededGateway } from '../calendar/seeded-gateway.ts';
import { MOUNT, type TestGateway } from '../start-gateway.ts';
import { calcurse, evolutionDataServer, khal, type Shown, vdirsyncer, ZONE } from './programs.ts';

const LONG_TEXT = `<p>${'Straße, größer; “quoted” \\n &amp; naïve. '.repeat(60)}</p><ul><li>END:VEVENT</li></ul>`;
const LONG_TITLE = 'Ein langer Titel, mit Komma; Semikolon \\ und "Anführung" '.repeat(4).trim();

/** Bodies of `POST /events`. */
const event = (title: string, timezone: string, start_date: string, end_date: string, more: object = {}) => ({
  ...{ title, timezone, start_date, end_date, status: 'publish' },
  ...more,
});
const days = (title: string, first: string, last: string) =>
  event(title, 'Europe/Berlin', first, last, { all_day: true });

const EVENTS = [
  event('Frühlingskonzert &#8211; <em>Chor</em>', 'Europe/Berlin', '2027-03-12 19:00:00', '2027-03-12 21:00:00', {
    venue: { venue: 'Café, Bar', address: 'Main; 1', city: 'Ürzig', zip: '01234', status: 'publish' },
    description: '<p>One &amp; only</p>',
  }),
  event('Over the change of the clock', 'America/New_York', '2027-03-14 01:30:00', '2027-03-14 04:00:00'),
  event('Half an hour', 'Australia/Lord_Howe', '2027-04-04 01:00:00', '2027-04-04 05:00:00'),
  event('An offset', 'UTC+5:30', '2027-07-04 12:00:00', '2027-07-04 13:00:00'),
  event('Twice on the clock', 'Europe/Berlin', '2027-10-31 02:30:00', '2027-10-31 02:45:00'),
  days('Tag der Arbeit', '2027-05-01', '2027-05-01'),
  days('Stadtfest 🎪', '2027-08-10', '2027-08-14'),
  event('Two nights', 'Europe/Berlin', '2027-06-01 20:00:00', '2027-06-03 02:00:00'),
  event('大晦日 · Новый год · مرحبا', 'Europe/Berlin', '2027-12-31 22:00:00', '2028-01-01 02:00:00'),
  event(LONG_TITLE, 'Asia/Tokyo', '2027-02-01 09:00:00', '2027-02-01 10:00:00', { description: LONG_TEXT }),
  event('Here', ZONE, '2027-07-20 09:00:00', '2027-07-20 17:00:00'),
];
const CATEGORIES = ['Musik, Tanz', 'Kinder; Familie'];
/** Titles with markup, as people should see them. */
const PLAIN_TITLES: Record<string, string> = { [EVENTS[0]!.title]: 'Frühlingskonzert – Chor' };

interface Listed {
  id: number;
  title: string;
  all_day: boolean;
  start_date: string;
  end_date: string;
  utc_start_date: string;
  utc_end_date: string;
}

const CLOCK = new Intl.DateTimeFormat('sv', { timeZone: ZONE, dateStyle: 'short', timeStyle: 'short' });
const onTheClock = (utc: string): string => CLOCK.format(new Date(`${utc.replace(' ', 'T')}Z`));

const expectedOf = ({ title, all_day, start_date, end_date, utc_start_date, utc_end_date }: Listed): Shown => ({
  title: PLAIN_TITLES[title] ?? title,
  start: all_day ? start_date.slice(0, 10) : onTheClock(utc_start_date),
  end: all_day ? end_date.slice(0, 10) : onTheClock(utc_end_date),
});
const byTitle = (a: Shown, b: Shown) => (a.title < b.title ? -1 : 1);

describe('calendar programs', () => {
  let gateway: TestGateway;
  let url: string;
  let dir: string;
  const query = '?start_date=2027-01-01&end_date=2028-12-31';

  // In the CMS, too: Evolution Data Server asks for what is new, and the gateway polls.
  async function create(path: string, json: object): Promise<number> {
    const { status, body } = await gateway.request(path, { method: 'POST', as: 'admin', json });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.id;
  }

  beforeEach(async () => {
    gateway = await seededGateway();
    const categories: number[] = [];
    for (const name of CATEGORIES) categories.push(await create('/categories', { name }));
    for (const body of EVENTS) await create('/events', { ...body, categories });
    url = (await gateway.listen()).url + MOUNT;
    dir = mkdtempSync(join(tmpdir(), 'calendar-programs-'));
  });
  afterEach(async () => {
    await gateway.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const text = async (path: string) => (await gateway.request(path)).text;
  async function download(path: string, name: string): Promise<string> {
    const file = join(dir, name);
    writeFileSync(file, await text(path));
    return file;
  }
  async function listed(): Promise<Listed[]> {
    const { events } = JSON.parse(await text(`/events${query}&per_page=50`)) as { events: Listed[] };
    expect(events).to.have.length(EVENTS.length);
    return events;
  }
  const expected = async (): Promise<Shown[]> => (await listed()).map(expectedOf).sort(byTitle);
  async function trash(title: string): Promise<number> {
    const { id } = (await listed()).find((one) => one.title === title)!;
    const { status } = await gateway.request(`/events/${id}`, { method: 'DELETE', as: 'admin' });
    expect(status).to.equal(200);
    return id;
  }

  it('calcurse imports a file', async () => {
    const shown = await calcurse(join(dir, 'calcurse'), await download(`/events.ics${query}`, 'all.ics'));
    expect(shown.sort(byTitle)).to.deep.equal(await expected());
  });

  it('khal imports a file, and the file of an event that moved to the trash', async () => {
    const all = await download(`/events.ics${query}`, 'all.ics');
    const wanted = await expected();
    expect((await khal(join(dir, 'before'), all)).sort(byTitle)).to.deep.equal(wanted);
    const id = await trash('Two nights');
    const cancelled = await download(`/events/${id}.ics`, 'cancelled.ics');
    const shown = await khal(join(dir, 'after'), all, cancelled);
    const { title: _, ...times } = wanted.find(({ title }) => title === 'Two nights')!;
    expect(shown.filter((one) => one.cancelled)).to.deep.equal([{ title: 'Cancelled', ...times, cancelled: true }]);
    expect(shown).to.have.length(EVENTS.length);
  });

  it('vdirsyncer subscribes, and drops an event that moved to the trash', async () => {
    const subscription = vdirsyncer(join(dir, 'vdirsyncer'), `${url}/events.ics${query}`);
    const wanted = await expected();
    expect((await subscription.list()).sort(byTitle)).to.deep.equal(wanted);
    await trash('Two nights');
    expect((await subscription.list()).sort(byTitle)).to.deep.equal(
      wanted.filter(({ title }) => title !== 'Two nights'),
    );
  });

  it('Evolution Data Server, which GNOME Calendar shows, subscribes', async () => {
    const shown = await evolutionDataServer(join(dir, 'evolution'), `${url}/events.ics${query}`);
    expect(shown.sort(byTitle)).to.deep.equal(await expected());
  });
});
