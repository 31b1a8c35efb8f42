// The start of the day and the zone of shown times, which an event plugin keeps in its options, in lists, responses, files and writes.

import { expect } from 'chai';
import type { SiteSettings } from '../../src/model/records.ts';
import { CREDENTIALS, createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { type Json, startGateway, type TestGateway } from '../start-gateway.ts';

const nowMs = () => Date.UTC(2026, 10, 1);

const dates = (start_date: string, end_date: string, more: object = {}) => ({
  meta: { start_date, end_date, timezone: 'America/New_York', ...more },
});

describe('on a site whose event plugin', () => {
  let cms: FakeCms;
  let gateway: TestGateway;
  const start = async (settings: SiteSettings) => {
    cms.siteFacts.settings = settings;
    gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: { admin: CREDENTIALS.admin }, nowMs });
  };
  const titles = async (query: string): Promise<string[]> => {
    const { status, body } = await gateway.request(`/events?${query}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.events.map(({ title }: Json) => title);
  };
  const read = async (id: number): Promise<Json> => (await gateway.request(`/events/${id}`)).body;
  beforeEach(() => {
    cms = createFakeCms(nowMs);
  });
  afterEach(() => gateway.stop());

  describe('starts the day at 05:00', () => {
    it('an event of a whole day is one day, from 05:00 to 04:59:59', async () => {
      // As The Events Calendar stores one: the start at midnight in older events.
      const rows: [string, string][] = [
        ['2029-06-11 00:00:00', '2029-06-12 04:59:59'],
        ['2029-06-11 05:00:00', '2029-06-12 04:59:59'],
        ['2029-06-11 00:00:00', '2029-06-11 23:59:59'],
      ];
      const ids = rows.map(([from, to]) => cms.createPost('events', dates(from, to, { all_day: true })).id);
      await start({ dayStarts: '05:00' });
      for (const id of ids)
        expect(await read(id)).to.include({ start_date: '2029-06-11 05:00:00', end_date: '2029-06-12 04:59:59' });
      const { text } = await gateway.request(`/events/${ids[0]}.ics`);
      expect(text).to.contain('DTSTART;VALUE=DATE:20290611').and.contain('DTEND;VALUE=DATE:20290612');
    });

    it('an event at 02:00 belongs to the day before', async () => {
      cms.createPost('events', { title: 'Night', ...dates('2029-06-12 02:00:00', '2029-06-12 03:00:00') });
      cms.createPost('events', { title: 'Evening', ...dates('2029-06-11 20:00:00', '2029-06-11 22:00:00') });
      const day = dates('2029-06-11 05:00:00', '2029-06-12 04:59:59', { all_day: true });
      cms.createPost('events', { title: 'Day', ...day });
      await start({ dayStarts: '05:00' });
      expect(await titles('start_date=2029-06-11&end_date=2029-06-11')).to.deep.equal(['Day', 'Evening', 'Night']);
      expect(await titles('start_date=2029-06-12&end_date=2029-06-12')).to.deep.equal([]);
      expect(await titles('starts_after=2029-06-10&starts_before=2029-06-11')).to.have.length(3);
      const strict = 'start_date=2029-06-12&end_date=2029-06-12T04:00:00&strict_dates=true';
      expect(await titles(strict)).to.deep.equal(['Night']);
    });

    it('whole days are stored so, and what was read can be written back', async () => {
      await start({ dayStarts: '05:00' });
      const body = { title: 'Fair', start_date: '2029-06-11', end_date: '2029-06-12', all_day: true };
      const created = await gateway.request('/events', { method: 'POST', json: body, as: 'admin' });
      expect(created.status, created.text).to.equal(201);
      const { id, start_date, end_date } = created.body;
      expect([start_date, end_date]).to.deep.equal(['2029-06-11 05:00:00', '2029-06-13 04:59:59']);
      const json = { start_date, end_date };
      const same = await gateway.request(`/events/${id}`, { method: 'PATCH', json, as: 'admin' });
      expect(same.body).to.include(json);
      expect(cms.posts.get(id)?.meta).to.include(json);
    });
  });

  it("shows times in the site's zone: lists and json_ld go by it, the event's own times stay", async () => {
    // 00:30 of the 13th in Paris is 18:30 of the 12th in New York, the site's zone.
    const paris = dates('2026-12-13 00:30:00', '2026-12-13 02:00:00', { timezone: 'Europe/Paris' });
    const { id } = cms.createPost('events', { title: 'Paris', ...paris });
    cms.createPost('events', { title: 'Here', ...dates('2026-12-12 19:00:00', '2026-12-12 20:00:00') });
    await start({ timezoneMode: 'site' });
    expect(await titles('start_date=2026-12-12&end_date=2026-12-12')).to.deep.equal(['Paris', 'Here']);
    expect(await titles('start_date=2026-12-13&end_date=2026-12-13')).to.deep.equal([]);
    const body = await read(id);
    expect(body).to.include({ start_date: '2026-12-13 00:30:00', timezone: 'Europe/Paris' });
    expect(body.json_ld).to.include({
      startDate: '2026-12-12T18:30:00-05:00',
      endDate: '2026-12-12T20:00:00-05:00',
    });
  });
});
