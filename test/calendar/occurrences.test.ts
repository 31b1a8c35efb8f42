// Occurrences of a series in the API: reads by id and slug, lists, and refused writes.

import { expect } from 'chai';
import { CmsRejected, CmsUnavailable } from '../../src/errors.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { occurrenceId } from '../../src/model/records.ts';
import { CREDENTIALS, createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';
import { until } from '../until.ts';

const NOW_MS = Date.UTC(2027, 0, 1);
const { file: source } = loadMapping('wordpress-meta');
const mapping = compileMapping({ ...source, event: { ...source.event, readOnly: true, occurrences: {} } }, 'series');
const DAYS = ['2027-01-03', '2027-01-10', '2027-01-17'];
const OCCURRENCES = DAYS.map((day) => ({ start: `${day} 10:00:00`, end: `${day} 11:00:00` }));

describe('an occurrence of a series', () => {
  let cms: FakeCms;
  let gateway: TestGateway;
  let series: number;
  let nowMs: number;
  beforeEach(() => {
    nowMs = NOW_MS;
    cms = createFakeCms(() => nowMs);
  });
  afterEach(() => gateway.stop());

  async function start(
    fields: object = {},
    options: { waitsForSync?: boolean; mapping?: typeof mapping } = {},
  ): Promise<void> {
    const record = await cms.create(
      mapping.kinds.event,
      {
        title: 'Yoga',
        status: 'publish',
        meta: { start_date: '2027-01-03 10:00:00', end_date: '2027-01-03 11:00:00' },
        calendar_occurrences: OCCURRENCES,
        ...fields,
      },
      { credentials: CREDENTIALS.admin },
    );
    series = Number(record.id);
    gateway = await startGateway({
      cms,
      mapping,
      service: CREDENTIALS.admin,
      as: CREDENTIALS,
      nowMs: () => NOW_MS,
      ...options,
    });
  }
  const idOn = (day: string) => occurrenceId(series, `${day} 10:00:00`, 0)!;

  it('is in the lists of its day, and the series in none', async () => {
    await start();
    const list = (query: string) => gateway.request(`/events?${query}`);
    const { body } = await list('start_date=2027-01-01&end_date=2027-02-01');
    expect(body.events.map((event: { id: number }) => event.id)).to.deep.equal(DAYS.map(idOn));
    expect(body.total).to.equal(3);
    expect((await list('start_date=2027-01-10&end_date=2027-01-11')).body.events[0]).to.include({
      id: idOn('2027-01-10'),
      slug: 'yoga-2027-01-10',
      start_date: '2027-01-10 10:00:00',
    });
    expect((await list(`post_parent=${series}&start_date=2027-01-01`)).body.total).to.equal(3);
  });

  it('is read by id and by slug, as the series is', async () => {
    await start();
    for (const path of [`/events/${idOn('2027-01-10')}`, '/events/by-slug/yoga-2027-01-10'])
      expect((await gateway.request(path)).body).to.include({ start_date: '2027-01-10 10:00:00', title: 'Yoga' });
    for (const path of [`/events/${series}`, '/events/by-slug/yoga'])
      expect((await gateway.request(path)).body).to.include({ id: series, hide_from_listings: true });
    for (const id of [idOn('2027-01-10') + 1, occurrenceId(series + 1, '2027-01-10 10:00:00', 0)])
      expect((await gateway.request(`/events/${id}`)).status).to.equal(404);
  });

  it('has its own form in a single read and in a list, whichever comes first', async () => {
    await start();
    const [first, second] = DAYS.map((day) => `/events/${idOn(day)}`);
    const { body: single } = await gateway.request(first!);
    const { body: list } = await gateway.request('/events?start_date=2027-01-01&end_date=2027-02-01');
    expect(single).to.include.keys('json_ld');
    for (const entry of list.events) expect(entry).to.not.include.keys('json_ld');
    expect((await gateway.request(second!)).body).to.include.keys('json_ld');
  });

  it('is read from the CMS, with its series, until the initial sync is complete', async () => {
    const { list } = cms;
    cms.list = async (spec, ...rest) => {
      if (spec.collection === 'events') throw new CmsUnavailable('refused', 'No connection.');
      return list(spec, ...rest);
    };
    await start({}, { waitsForSync: false });
    await until(() => gateway.sync.status().state === 'unreachable', 'the initial sync has failed');
    const { status, body } = await gateway.request(`/events/${idOn('2027-01-17')}`);
    expect([status, body.start_date]).to.deep.equal([200, '2027-01-17 10:00:00']);
  });

  for (const status of ['draft', 'private'])
    it(`of a ${status} series is for those who may read the series`, async () => {
      const { read } = cms;
      cms.read = async (spec, id, how, options) => {
        if (options?.credentials !== CREDENTIALS.editor) throw new CmsRejected('not-visible', 'Not yours.');
        return read(spec, id, how, options);
      };
      await start({ status });
      const path = `/events/${idOn('2027-01-10')}`;
      expect((await gateway.request(path)).status).to.equal(403);
      expect((await gateway.request(path, { as: 'subscriber' })).status).to.equal(403);
      expect((await gateway.request(path, { as: 'editor' })).body).to.include({ status, title: 'Yoga' });
      const query = `/events?start_date=2027-01-01&end_date=2027-02-01&status=${status}`;
      expect((await gateway.request(query, { as: 'editor' })).body.total).to.equal(3);
      expect((await gateway.request('/events?start_date=2027-01-01&search=yoga')).body.total).to.equal(0);
      expect((await gateway.request('/events/by-slug/yoga-2027-01-10')).status).to.equal(400);
    });

  it('is read-only: every write is 403 and does not reach the CMS', async () => {
    await start();
    for (const id of [idOn('2027-01-10'), series])
      for (const request of [
        { method: 'POST', json: { title: 'X' } },
        { method: 'PATCH', json: { title: 'X' } },
        { method: 'DELETE' },
      ]) {
        const { status, body } = await gateway.request(`/events/${id}`, { ...request, as: 'admin' });
        expect([status, body.message], request.method).to.deep.equal([
          403,
          'This site offers its events for reading only.',
        ]);
      }
    expect([cms.writes.length, cms.deletes.length]).to.deep.equal([1, 0]);
  });

  it('of a series that can be written is read-only, and follows its series at once', async () => {
    await start(
      {},
      { mapping: compileMapping({ ...source, event: { ...source.event, occurrences: {} } }, 'writable') },
    );
    // A write does not ask for the occurrences.
    const { update } = cms;
    cms.update = async (...call) => {
      const { calendar_occurrences: _, ...record } = await update(...call);
      return record;
    };
    for (const request of [{ method: 'PATCH', json: { title: 'X' } }, { method: 'DELETE' }]) {
      const { status, body } = await gateway.request(`/events/${idOn('2027-01-10')}`, { ...request, as: 'admin' });
      expect([status, body.message]).to.deep.equal([
        403,
        `An occurrence of a series is for reading only. The series is event ${series}.`,
      ]);
    }
    // A client that sends back what it read: a series reads as hidden, because its occurrences are listed instead.
    const { body: read } = await gateway.request(`/events/${series}`);
    const json = { title: 'Yoga for all', hide_from_listings: read.hide_from_listings };
    expect((await gateway.request(`/events/${series}`, { method: 'PATCH', json, as: 'admin' })).status).to.equal(200);
    const { body } = await gateway.request('/events?start_date=2027-01-01&end_date=2027-02-01');
    expect(body.events.map(({ title }: { title: string }) => title)).to.deep.equal(DAYS.map(() => 'Yoga for all'));
    expect((await gateway.request(`/events/${idOn('2027-01-10')}`)).body.hide_from_listings).to.equal(false);
  });

  it('that its public series does not have is 404', async () => {
    await start();
    for (const day of ['1999-01-01', '2027-01-04', '2199-01-01']) {
      expect((await gateway.request(`/events/${idOn(day)}`)).status, day).to.equal(404);
      expect((await gateway.request(`/events/${idOn(day)}`, { as: 'editor' })).status, day).to.equal(404);
    }
  });

  it('of a draft is read by its editors without another read of the whole series by the sync', async () => {
    await start({ status: 'draft' });
    const path = `/events/${idOn('2027-01-10')}`;
    const fetched: number[] = [];
    const fetchChanged = gateway.sync.fetchChanged.bind(gateway.sync);
    gateway.sync.fetchChanged = (changes) => {
      fetched.push(...changes.map(({ id }) => id));
      return fetchChanged(changes);
    };
    for (let n = 0; n < 3; n += 1) expect((await gateway.request(path, { as: 'editor' })).status).to.equal(200);
    expect(fetched).to.deep.equal([]);
    nowMs += 60_000;
    cms.edit(series, { title: 'Yoga for all' });
    expect((await gateway.request(path, { as: 'editor' })).body.title).to.equal('Yoga for all');
    expect(fetched).to.deep.equal([]);
  });

  it('that a draft series no longer has is 404', async () => {
    await start({ status: 'draft' });
    cms.edit(series, { occurrences: OCCURRENCES.slice(1) });
    const path = (day: string) => `/events/${idOn(day)}`;
    expect((await gateway.request(path('2027-01-03'), { as: 'editor' })).status).to.equal(404);
    expect((await gateway.request(path('2027-01-10'), { as: 'editor' })).status).to.equal(200);
  });
});
