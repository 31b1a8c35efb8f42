// A retry with the same `Idempotency-Key` does not show its actor a record that the actor may no longer see.

import { expect } from 'chai';
import { CmsRejected } from '../../src/errors.ts';
import { CREDENTIALS, createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

const NOW_MS = Date.UTC(2027, 0, 1);
const event = { title: 'Party', start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00', status: 'publish' };
const BODIES = { '/events': event, '/venues': { venue: 'Hall' }, '/organizers': { organizer: 'Ann' } };

describe('a retry with an Idempotency-Key shows no more than the actor may see now', () => {
  let cms: FakeCms;
  let gateway: TestGateway;

  beforeEach(async () => {
    cms = createFakeCms(() => NOW_MS);
    gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS, nowMs: () => NOW_MS });
  });
  afterEach(() => gateway.stop());

  const create = (path: string, json: unknown, as = 'author') =>
    gateway.request(path, { as, json, headers: { 'idempotency-key': 'k' } });

  /** From now on the CMS does not let this account edit records. */
  function takeRights(role: keyof typeof CREDENTIALS): void {
    const read = cms.read.bind(cms);
    cms.read = async (spec, id, how, options) => {
      if (options?.credentials === CREDENTIALS[role] && how.view === 'editor')
        throw new CmsRejected('forbidden', 'No.');
      if (options?.credentials === CREDENTIALS[role] && cms.posts.get(id)?.status === 'private')
        throw new CmsRejected('not-visible', 'No.');
      return read(spec, id, how, options);
    };
  }

  for (const [path, body] of Object.entries(BODIES)) {
    it(`POST ${path}, if the record is now private and of another author`, async () => {
      const first = await create(path, body);
      await gateway.request(`${path}/${first.body.id}`, { as: 'admin', json: { status: 'private', author: 5 } });
      takeRights('author');
      const again = await create(path, body);
      expect([first.status, again.status]).to.deep.equal([201, 403]);
      expect(again.text).to.not.match(/Party|Hall|Ann/);
      expect(cms.writes.filter(({ method }) => method === 'create')).to.have.length(1);
    });

    it(`POST ${path}, if the actor may still read but no longer edit the record`, async () => {
      const first = await create(path, { ...body, status: 'publish' });
      takeRights('author');
      const again = await create(path, { ...body, status: 'publish' });
      expect([again.status, again.body.id]).to.deep.equal([201, first.body.id]);
      expect(again.headers['idempotent-replayed']).to.equal('true');
    });
  }

  it('an event, if its venue is now a draft of another author', async () => {
    const venue = (await gateway.request('/venues', { as: 'admin', json: { venue: 'Hall', status: 'publish' } })).body
      .id;
    const first = await create('/events', { ...event, venue });
    await gateway.request(`/venues/${venue}`, { as: 'admin', json: { status: 'draft' } });
    const again = await create('/events', { ...event, venue });
    expect([first.body.venue.venue, again.status, again.body.venue]).to.deep.equal(['Hall', 201, []]);
  });

  it('an event, if it changed: as it is now', async () => {
    const first = await create('/events', event, 'admin');
    await gateway.request(`/events/${first.body.id}`, { as: 'editor', json: { title: 'Changed' } });
    const again = await create('/events', event, 'admin');
    expect([again.status, again.body.id, again.body.title]).to.deep.equal([201, first.body.id, 'Changed']);
  });

  it('a deleted record is not created again', async () => {
    const first = await create('/events', event, 'admin');
    cms.erase(first.body.id);
    expect((await create('/events', event, 'admin')).status).to.equal(404);
    expect(cms.writes).to.have.length(1);
  });
});
