// The state of an event: whether and how it takes place, in responses, writes, lists, feeds and `/changes`.

import { expect } from 'chai';
import type { EventFields } from '../../src/model/records.ts';
import { mappingWith } from '../mapping/samples.ts';
import { expectFieldsNamed, expectInvalid } from '../record/expectations.ts';
import type { Json, TestGateway } from '../start-gateway.ts';
import { upsert } from '../store/changes.ts';
import { event, venue } from '../store/sample-records.ts';
import { parseWithIcalJs } from './feeds/parsers.ts';
import { seededGateway } from './seeded-gateway.ts';

const FUTURE = { start: '2027-03-12 19:00:00', end: '2027-03-12 21:00:00' };
const UTC = { startUtc: '2027-03-12 18:00:00', endUtc: '2027-03-12 20:00:00' };
const at = (id: number, fields: Partial<EventFields>) => event(id, { ...FUTURE, ...UTC, ...fields });

const CANCELLED = { eventStatus: 'cancelled', eventStatusReason: 'Storm &amp; <b>flood</b>' } as const;
const MOVED = { eventStatus: 'moved_online', attendanceMode: 'online', onlineUrl: 'https://meet.example/1' } as const;
const SILENT = at(1, {});
const RECORDS = [
  SILENT,
  at(2, CANCELLED),
  at(3, { eventStatus: 'postponed', venues: [21] }),
  at(4, { ...MOVED, venues: [21] }),
  at(5, { eventStatus: 'scheduled', attendanceMode: 'mixed' }),
  at(6, { ...CANCELLED, protected: true }),
  at(7, { ...CANCELLED, status: 'draft' }),
  venue(21, { title: 'Hall' }),
];
const STATE = ['event_status', 'event_status_reason', 'attendance_mode', 'online_url'];
const stateOf = (body: Json): Json =>
  Object.fromEntries(STATE.filter((name) => name in body).map((name) => [name, body[name]]));

describe('the state of an event', () => {
  let gateway: TestGateway;
  afterEach(() => gateway.stop());

  const seed = async () => {
    gateway = await seededGateway(RECORDS);
  };
  async function get(path: string, as?: string): Promise<Json> {
    const { status, body, text } = await gateway.request(path, { as });
    expect(status, text).to.equal(200);
    return body;
  }

  describe('in responses', () => {
    beforeEach(seed);

    it('is there as far as the CMS says something, alone and in lists', async () => {
      const expected = [
        {},
        { event_status: 'cancelled', event_status_reason: CANCELLED.eventStatusReason },
        { event_status: 'postponed' },
        { event_status: 'moved_online', attendance_mode: 'online', online_url: 'https://meet.example/1' },
        { event_status: 'scheduled', attendance_mode: 'mixed' },
      ];
      const { events } = await get('/events?include=1,2,3,4,5');
      expect(events.map(stateOf)).to.deep.equal(expected);
      for (const [index, state] of expected.entries())
        expect(stateOf(await get(`/events/${index + 1}`))).to.deep.equal(state);
    });

    it('is hidden by a password', async () => {
      expect(stateOf((await get('/events?include=6')).events[0])).to.deep.equal({});
      expect((await get('/events?event_status=cancelled')).events.map(({ id }: Json) => id)).to.deep.equal([2]);
    });

    // Recorded answers of the original have these two values for every event that is not cancelled or postponed.
    it('is in json_ld as in that of the original, which names a state for events without one', async () => {
      const shown = async (id: number) => {
        const { eventStatus, eventAttendanceMode } = (await get(`/events/${id}`)).json_ld;
        return [eventStatus, eventAttendanceMode].map((url: string) => url.replace('https://schema.org/', ''));
      };
      expect(await shown(1)).to.deep.equal(['EventScheduled', 'OfflineEventAttendanceMode']);
      expect(await shown(2)).to.deep.equal(['EventCancelled', 'OfflineEventAttendanceMode']);
      expect(await shown(3)).to.deep.equal(['EventPostponed', 'OfflineEventAttendanceMode']);
      expect(await shown(4)).to.deep.equal(['EventMovedOnline', 'OnlineEventAttendanceMode']);
      expect(await shown(5)).to.deep.equal(['EventScheduled', 'MixedEventAttendanceMode']);
    });

    it('filters lists by one word or several', async () => {
      const found = async (query: string) => (await get(`/events?${query}`)).events.map(({ id }: Json) => id);
      expect(await found('event_status=postponed')).to.deep.equal([3]);
      expect(await found('event_status=cancelled,moved_online')).to.deep.equal([2, 4]);
      expect(await found('event_status[]=scheduled&event_status[]=postponed')).to.deep.equal([3, 5]);
      for (const query of ['event_status=', 'event_status=off', 'event_status=cancelled,off'])
        expectInvalid(await gateway.request(`/events?${query}`), 'event_status');
    });

    it('is a change', async () => {
      const { next_token: token } = await get('/changes');
      upsert(gateway.replica, [at(1, { eventStatus: 'cancelled' })]);
      expect((await get(`/changes?since=${token}`)).changes).to.deep.equal([
        { kind: 'event', id: 1, change: 'updated' },
      ]);
    });
  });

  describe('in writes', () => {
    const times = { start_date: '2027-02-01 20:00', end_date: '2027-02-01 22:00' };
    const start = async (fields: object) => {
      gateway = await seededGateway([], { mapping: mappingWith(fields) });
    };
    const send = (path: string, json: Json, method = 'POST') => gateway.request(path, { as: 'admin', method, json });
    async function create(json: Json): Promise<Json> {
      const { status, body, text } = await send('/events', { title: 'Concert', ...times, ...json });
      expect(status, text).to.equal(201);
      return body;
    }

    it('is stored, kept by other updates, and removed by an empty text', async () => {
      await start(Object.fromEntries(STATE.map((name) => [name, `meta.${name}`])));
      const state = {
        event_status: 'moved_online',
        event_status_reason: 'Storm',
        attendance_mode: 'mixed',
        online_url: 'https://meet.example/1',
      };
      const { id, ...created } = await create(state);
      expect(stateOf(created)).to.deep.equal(state);
      await send(`/events/${id}`, { title: 'Another' }, 'PATCH');
      expect(stateOf(await get(`/events/${id}`))).to.deep.equal(state);
      const cleared = { event_status: '', event_status_reason: '', attendance_mode: null, online_url: '' };
      await send(`/events/${id}`, cleared, 'PATCH');
      expect(stateOf(await get(`/events/${id}`))).to.deep.equal({});
      const cms = await send(`/events/${id}`, { event_status: 'off' }, 'PATCH');
      expectInvalid(cms, 'event_status');
      expectInvalid(await send(`/events/${id}`, { online_url: 'javascript:alert' }, 'PATCH'), 'online_url');
    });

    it('without a status has no reason, and who moves online is online', async () => {
      await start(Object.fromEntries(STATE.map((name) => [name, `meta.${name}`])));
      expect(stateOf(await create({ event_status_reason: 'Storm' }))).to.deep.equal({});
      expect(stateOf(await create({ event_status: 'moved_online' }))).to.deep.equal({
        event_status: 'moved_online',
        attendance_mode: 'online',
      });
    });

    it('is refused as far as the mapping cannot store it', async () => {
      await start({
        event_status: { at: 'meta.called_off', as: { word: { cancelled: 1 } }, clearWith: 0 },
        attendance_mode: { at: 'meta.mode', readOnly: true },
      });
      const { id, event_status: shown } = await create({ event_status: 'cancelled' });
      expect(shown).to.equal('cancelled');
      expectFieldsNamed(await send(`/events/${id}`, { event_status: 'postponed' }, 'PATCH'), 'event_status');
      for (const [name, value] of [
        ['attendance_mode', 'online'],
        ['online_url', 'https://meet.example/1'],
      ] as const) {
        expectFieldsNamed(await send(`/events/${id}`, { [name]: value }, 'PATCH'), name);
        expectFieldsNamed(await send('/events', { title: 'Concert', ...times, [name]: value }), name);
        // What a response shows, or leaves out, may come back.
        expect((await send(`/events/${id}`, { [name]: '' }, 'PATCH')).status).to.equal(200);
      }
      expect((await send(`/events/${id}`, { event_status: '' }, 'PATCH')).body).to.not.have.property('event_status');
    });
  });

  describe('in feeds', () => {
    beforeEach(seed);

    const calendar = async (path: string, as?: string) => {
      const { text } = await gateway.request(path, { as });
      const lines = text.replaceAll('\r\n ', '').split('\r\n');
      const value = (name: string) => lines.find((line) => line.startsWith(`${name}:`))?.slice(name.length + 1);
      return ['STATUS', 'SUMMARY', 'DESCRIPTION', 'LOCATION'].map(value);
    };

    it('is the STATUS of calendar files, and in the texts of those whom that does not reach', async () => {
      expect(await calendar('/events/1.ics')).to.deep.equal([undefined, 'event 1', undefined, undefined]);
      const cancelled = ['CANCELLED', 'Cancelled: event 2', 'Cancelled: Storm & flood', undefined];
      expect(await calendar('/events/2.ics')).to.deep.equal(cancelled);
      expect(await calendar('/events/3.ics')).to.deep.equal(['TENTATIVE', 'Postponed: event 3', undefined, 'Hall']);
      const online = 'Hall\\; https://meet.example/1';
      expect(await calendar('/events/4.ics')).to.deep.equal(['CONFIRMED', 'Moved online: event 4', undefined, online]);
      expect(await calendar('/events/5.ics')).to.deep.equal(['CONFIRMED', 'event 5', undefined, undefined]);
      const drafts = await calendar('/events.ics?include=7&status=draft', 'admin');
      expect(drafts.slice(0, 2)).to.deep.equal(['CANCELLED', 'Cancelled: event 7']);
      const { text } = await gateway.request('/events.ics');
      expect(parseWithIcalJs(text)).to.have.length(6);
    });

    it('is in the titles and summaries of the Atom feed', async () => {
      const { text } = await gateway.request('/events.atom?include=1,2,4');
      const titles = [...text.matchAll(/<title type="html"><!\[CDATA\[(.*?)\]\]>/g)].map(([, title]) => title);
      expect(titles).to.deep.equal(['event 1', 'Cancelled: event 2', 'Moved online: event 4']);
      expect(text).to.include('<br>Cancelled: Storm &amp; flood').and.include('Hall; https://meet.example/1');
    });
  });
});
