// A response to a read that is older than the replica's record does not replace it.

import { expect } from 'chai';
import type { CmsRecord } from '../../src/cms/port.ts';
import { CmsRejected } from '../../src/errors.ts';
import { CREDENTIALS, createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

const EDITOR = { credentials: CREDENTIALS.admin, view: 'editor' } as const;
const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };

describe('a response to a read that is older than the replica', () => {
  let nowMs: number;
  let cms: FakeCms;
  let gateway: TestGateway;
  let reread: { collection: string; id: number }[];
  let old: CmsRecord;
  let id: number;

  beforeEach(async () => {
    nowMs = Date.UTC(2027, 0, 1);
    cms = createFakeCms(() => nowMs);
    gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS, nowMs: () => nowMs });
    const json = { title: 'Old', slug: 'old', status: 'draft', ...times };
    ({ id } = (await gateway.request('/events', { method: 'POST', as: 'admin', json })).body);
    old = cms.response(cms.posts.get(id)!, EDITOR);
    nowMs += 60_000;
    const edit = { method: 'PUT', as: 'admin', json: { title: 'New', slug: 'new' } };
    expect((await gateway.request(`/events/${id}`, edit)).status).to.equal(200);
    reread = [];
    gateway.services.sync.fetchChanged = async (changes) => reread.push(...changes) > 0;
  });
  afterEach(() => gateway.stop());

  const storedEvent = () => gateway.services.replica.get('event', id)!;

  it('of a single record does not replace it, and the sync re-reads the record', async () => {
    cms.read = async () => old;
    expect((await gateway.request(`/events/${id}`, { as: 'editor' })).body.title).to.equal('Old');
    expect(storedEvent().title).to.equal('New');
    expect(reread).to.deep.equal([{ collection: 'events', id }]);
  });

  it('of a slug does not replace it', async () => {
    cms.list = async () => ({ records: [old], total: 1, cmsTimeMs: nowMs });
    await gateway.request('/events/by-slug/old', { as: 'editor' });
    expect(storedEvent().title).to.equal('New');
    expect(reread).to.deep.include({ collection: 'events', id });
  });

  it('with the status 404 lets the sync re-read a hidden record, if the CMS itself says that there is none', async () => {
    for (const [kind, rereads] of [
      ['failed', []],
      ['not-found', [{ collection: 'events', id }]],
    ] as const) {
      cms.read = async () => {
        throw new CmsRejected(kind, 'No.', { status: 404 });
      };
      await gateway.request(`/events/${id}`, { as: 'editor' });
      // The CMS may say so of a record that this caller may not see: Payload does.
      expect(storedEvent().title, kind).to.equal('New');
      expect(reread, kind).to.deep.equal(rereads);
    }
  });

  it('is stored if its second is the same or newer', async () => {
    cms.edit(id, { title: 'Newest' });
    await gateway.request(`/events/${id}`, { as: 'editor' });
    expect(storedEvent().title).to.equal('Newest');
    expect(reread).to.deep.equal([]);
  });
});

describe('a lookup whose route the CMS lacks', () => {
  const withoutRoutes = async (path: string, request: object) => {
    const cms = createFakeCms(() => Date.UTC(2027, 0, 1));
    const gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS });
    try {
      const missing = async (): Promise<never> => {
        throw new CmsRejected('no-collection', 'The CMS has no route GET /wp/v2/venues.');
      };
      Object.assign(cms, { read: missing, list: missing });
      return await gateway.request(path, request);
    } finally {
      await gateway.stop();
    }
  };

  it('is 503 for a venue id in an event', async () => {
    const json = { title: 'Party', ...times, venue: 12 };
    expect(await withoutRoutes('/events', { method: 'POST', as: 'admin', json })).to.include({ status: 503 });
  });

  it('is 503 for a slug', async () => {
    expect(await withoutRoutes('/venues/by-slug/hall', {})).to.include({ status: 503 });
  });
});
