// A gateway in front of a Payload site whose lists repeat records, or have records that cannot be served, or
// occurrences of series.

import { expect } from 'chai';
import { IdMap } from '../../../src/cms/id-map.ts';
import { createPayload } from '../../../src/cms/payload/payload.ts';
import { compileMapping } from '../../../src/mapping/compile.ts';
import { type FakePayload, startFakePayload } from '../../cli/fake-payload.ts';
import { startGateway, type TestGateway } from '../../start-gateway.ts';

const LOGIN = 'users API-Key 3b241101-e2bb-4255-8caf-4136c566a962';
const UUIDS = ['0b9f5c1e-7a53-4e0c-9d5e-2f9b8a6d1c11', '5c6fd7a2-0c1b-4ad4-9b43-1c1d3f0d2f77'];
const as = { 'utc-datetime': 'Y-m-d\\TH:i:s.\\0\\0\\0\\Z' };

const classOf = (id: number | string, calendar_occurrences: unknown = null) => ({
  ...{ id, name: `Class ${id}`, slug: `class-${id}`, _status: 'published', deletedAt: null, calendar_occurrences },
  ...{ beginsAt: '2033-03-04T15:00:00.000Z', endsAt: '2033-03-04T17:00:00.000Z' },
  ...{ createdAt: '2033-01-01T00:00:00.000Z', updatedAt: '2033-01-01T00:00:00.000Z' },
});
const weekly = ['2033-03-04', '2033-03-11'].map((day) => ({ start: `${day} 15:00:00`, end: `${day} 17:00:00` }));

describe('a gateway in front of a Payload site', () => {
  let site: FakePayload;
  let gateway: TestGateway;
  const asked: URL[] = [];
  afterEach(async () => {
    await gateway?.stop();
    await site?.close();
  });

  async function start(event: object, docs: Record<string, unknown>[], missing = 0): Promise<void> {
    const collections = {
      classes: { fields: ['name', 'slug', 'beginsAt', 'endsAt'], docs, missing },
      media: { fields: [], docs: [], drafts: false, trash: false },
    };
    site = await startFakePayload({ collections, login: LOGIN });
    asked.length = 0;
    site.before = ({ url = '' }) => {
      asked.push(new URL(url, site.url));
      return false;
    };
    const mapping = compileMapping(
      {
        name: 'classes',
        upstream: 'payload',
        event: {
          collection: 'classes',
          readOnly: true,
          fields: { title: 'name', slug: 'slug', start_date: { at: 'beginsAt', as }, end_date: { at: 'endsAt', as } },
          ...event,
        },
      },
      'classes.json',
    );
    const cms = createPayload({
      ...{ url: new URL(site.url), specs: Object.values(mapping.kinds), idMap: new IdMap() },
      observe: () => undefined,
    });
    gateway = await startGateway({ cms, mapping, service: LOGIN, nowMs: () => Date.UTC(2033, 0, 1) });
  }

  const listed = async (): Promise<{ id: number; slug: string; start_date: string }[]> => {
    const { status, body } = await gateway.request('/events?start_date=2033-01-01');
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.total).to.equal(body.events.length);
    return body.events;
  };

  it('lists each record once if the lists of the site repeat some and its totals are wrong, with "dedupe"', async () => {
    await start({ dedupe: true }, [classOf(1), classOf(2), classOf(2)], 1);
    expect((await listed()).map(({ id }) => id)).to.deep.equal([1, 2]);
  });

  it('serves all records but those whose ids are too large or have a comma', async () => {
    await start({}, [classOf(1), classOf(1_760_000_000_000), classOf('a,b'), classOf(2)]);
    expect((await listed()).map(({ id }) => id)).to.deep.equal([1, 2]);
  });

  for (const [kind, ids] of [
    ['numbers', [1, 2]],
    ['UUIDs', UUIDS],
  ] as const)
    it(`lists each occurrence of a series, and reads it by its id: ids are ${kind}`, async () => {
      await start({ occurrences: { pastDays: 0, futureDays: 90 } }, [classOf(ids[0], weekly), classOf(ids[1])]);
      const events = await listed();
      expect(events.map(({ slug, start_date }) => `${slug} ${start_date}`)).to.have.members([
        `class-${ids[0]}-2033-03-04 2033-03-04 15:00:00`,
        `class-${ids[0]}-2033-03-11 2033-03-11 15:00:00`,
        `class-${ids[1]} 2033-03-04 15:00:00`,
      ]);
      for (const { id, slug } of events) expect((await gateway.request(`/events/${id}`)).body).to.include({ id, slug });
      const lists = asked.filter(
        ({ pathname, searchParams }) =>
          pathname === '/api/classes' && !searchParams.has('select[id]') && !searchParams.has('select[updatedAt]'),
      );
      expect(lists).to.not.have.length(0);
      for (const { searchParams } of lists) expect(searchParams.get('calendar_occurrences')).to.equal('0,90');
    });
});
