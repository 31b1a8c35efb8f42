// The description `0`, which PHP takes for empty: of venues and organizers it is none, of events and terms it
// is refused.

import { expect } from 'chai';
import { CREDENTIALS, createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { type Json, startGateway, type TestGateway } from '../start-gateway.ts';
import { NOW_MS } from './seeded-gateway.ts';

const EVENT = { title: 'Fair', start_date: '2027-02-01 20:00', end_date: '2027-02-01 22:00' };

describe('the description "0"', () => {
  let cms: FakeCms;
  let gateway: TestGateway;
  beforeEach(async () => {
    cms = createFakeCms(() => NOW_MS);
    gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS, nowMs: () => NOW_MS });
  });
  afterEach(() => gateway.stop());

  async function send(path: string, json: Json): Promise<Json> {
    const { status, body } = await gateway.request(path, { as: 'admin', method: 'POST', json });
    expect(status, JSON.stringify(body)).to.be.oneOf([200, 201]);
    return body;
  }
  const contentOf = ({ id }: Json) => cms.posts.get(id)?.content;

  for (const kind of ['venue', 'organizer'])
    it(`of a new ${kind} is none, and changes nothing in an update`, async () => {
      const created = await send(`/${kind}s`, { [kind]: 'New', description: '0' });
      expect(created).not.to.have.property('description');
      expect(contentOf(created)).to.equal('');
      const described = await send(`/${kind}s`, { [kind]: 'Described', description: 'Old' });
      expect(await send(`/${kind}s/${described.id}`, { description: '0' })).to.include({ description: 'Old' });
      expect(contentOf(described)).to.equal('Old');
    });

  it('of a venue in the body of an event is none', async () => {
    const { venue } = await send('/events', { ...EVENT, venue: { venue: 'New', description: '0' } });
    expect(contentOf(venue)).to.equal('');
  });

  it('of an event or a term, and an excerpt of "0", are refused as empty', async () => {
    for (const [path, json, params] of [
      ['/events', { ...EVENT, description: '0', excerpt: '0' }, ['description', 'excerpt']],
      ['/categories', { name: 'New', description: '0' }, ['description']],
      ['/tags', { name: 'New', description: '0' }, ['description']],
    ] as const) {
      const { status, body } = await gateway.request(path, { as: 'admin', method: 'POST', json });
      expect(status, path).to.equal(400);
      expect(Object.keys(body.data.params)).to.deep.equal(params);
    }
  });
});
