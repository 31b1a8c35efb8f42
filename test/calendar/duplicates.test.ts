// A create of a venue or organizer uses an existing record only if that record differs in no sent field.

import { expect } from 'chai';
import type { FakeCms } from '../cms/fake-cms.ts';
import { mappingWith } from '../mapping/samples.ts';
import type { Json, TestGateway } from '../start-gateway.ts';
import { seededGateway } from './seeded-gateway.ts';

const event = { title: 'Fair', start_date: '2027-02-01 20:00', end_date: '2027-02-01 22:00' };

describe('a create of a venue with the name of an existing one', () => {
  let gateway: TestGateway;
  afterEach(() => gateway.stop());

  const send = async (path: string, json: Json, as = 'admin'): Promise<Json> => {
    const { status, body, text } = await gateway.request(path, { as, method: 'POST', json });
    expect(status, text).to.equal(201);
    return body;
  };
  const create = async (fields: Json, as?: string) => send('/venues', { venue: 'Hall', ...fields }, as);
  const embed = async (fields: Json) =>
    (await send('/events', { ...event, venue: { venue: 'Hall', ...fields } })).venue;

  describe('and other fields', () => {
    beforeEach(async () => {
      gateway = await seededGateway();
    });

    const DIFFERENT: [first: Json, second: Json][] = [
      [{ stateprovince: 'Bavaria' }, { stateprovince: 'Saxony' }],
      [{}, { status: 'draft' }],
      [{ status: 'draft' }, { status: 'publish' }],
      [{ author: 1 }, { author: 2 }],
      [{ date: '2026-01-01 10:00:00' }, { date: '2026-01-02 10:00:00' }],
      [{ date: '2026-01-01 10:00:00' }, { date_utc: '2026-01-01 10:00:00' }],
      [{ status: 'future', date: '2036-01-01 10:00:00' }, { status: 'publish' }],
    ];
    for (const [first, second] of DIFFERENT) {
      it(`creates another one: ${JSON.stringify(first)}, then ${JSON.stringify(second)}`, async () => {
        const { id } = await create(first);
        const other = await create(second);
        expect(other.id).to.not.equal(id);
        expect(other).to.include(second.author ? { author: String(second.author) } : second);
        expect((await create(second)).id).to.equal(other.id);
        expect((await embed(first)).id).to.equal(id);
        if (second.status !== 'draft') expect((await embed(second)).id).to.equal(other.id);
      });
    }

    it('creates another one if the description or the image differs', async () => {
      const [first, second] = [1, 2].map(() => String((gateway.cms as FakeCms).createMedia().id));
      for (const [one, other] of [
        [{ description: 'Large' }, { description: 'Small' }],
        [{ image: first }, { image: second }],
      ] as const) {
        const { id } = await create(one);
        expect((await create(one)).id).to.equal(id);
        expect((await create(other)).id).to.not.equal(id);
      }
    });

    it('uses the existing one if the other fields were not sent', async () => {
      const { id } = await create({ state: 'NY', province: 'P', author: 2, date: '2026-01-01 10:00:00' });
      for (const fields of [{}, { province: 'P' }, { status: 'publish' }, { date_utc: '2026-01-01 15:00:00' }])
        expect((await create(fields)).id, JSON.stringify(fields)).to.equal(id);
    });

    it('compares plain texts as they are stored: with single blanks, and no-break spaces', async () => {
      const { id } = await create({ phone: '01 02' });
      expect((await create({ phone: ' 01\t 02\n' })).id).to.equal(id);
      const other = await create({ phone: '01\u00a002' });
      expect(other.phone).to.equal('01\u00a002');
      expect(other.id).to.not.equal(id);
    });

    it('uses the scheduled one that the date made of a published one', async () => {
      const date = '2036-01-01 10:00:00';
      const { id } = await create({ status: 'future', date });
      expect((await create({ status: 'publish', date })).id).to.equal(id);
    });

    it('uses the published one, and the one in review, if a contributor publishes it', async () => {
      const { id } = await create({ status: 'publish' });
      expect((await create({ status: 'publish' }, 'contributor')).id).to.equal(id);
      const pending = await create({ status: 'publish', city: 'Gullhaven' }, 'contributor');
      expect(pending.status).to.equal('pending');
      expect((await create({ status: 'publish', city: 'Gullhaven' }, 'contributor')).id).to.equal(pending.id);
    });

    it('creates one in the trash', async () => {
      const { id } = await create({ status: 'draft' });
      const trashed = await create({ status: 'trash' });
      expect(trashed.id).to.not.equal(id);
      expect(trashed.status).to.equal('trash');
    });
  });

  it('uses the existing one if the site has no place for the other fields', async () => {
    gateway = await seededGateway([], {
      mapping: mappingWith({ venue: 'meta.venue' }, { venue: { posts: 'venues' } }),
    });
    const { id } = await create({});
    expect((await create({ stateprovince: 'Bavaria', phone: '1' })).id).to.equal(id);
  });

  it('uses the existing one if the site shows its description and image, and nobody can write them', async () => {
    const fields = { description: { read: 'content.rendered' }, image: { read: 'featured_media' } };
    gateway = await seededGateway([], {
      mapping: mappingWith({ venue: 'meta.venue' }, { venue: { posts: 'venues', fields } }),
    });
    const image = (gateway.cms as FakeCms).createMedia().id;
    const sent = [{ description: 'Large' }, { image: String(image) }];
    const { id } = await create({});
    for (const one of sent) expect((await create(one)).id, JSON.stringify(one)).to.equal(id);
    // Nothing would refer to an upload.
    const file = { bytes: new Uint8Array(1), mimeType: 'image/png', filename: 'hall.png' };
    gateway.services.imageFetcher.fetch = async () => file;
    const uploads: unknown[] = [];
    gateway.cms.upload = async (each) => {
      uploads.push(each);
      throw new Error('an upload');
    };
    expect((await create({ image: 'https://images.example/hall.png' })).id).to.equal(id);
    expect(uploads).to.deep.equal([]);
  });

  it('creates one where the site has venues of its own, and an event one that is text', async () => {
    const embedded = { venue: { embedded: { venue: 'meta.place' } } };
    gateway = await seededGateway([], { mapping: mappingWith(embedded, { venue: { posts: 'venues' } }) });
    const meta = { start: '2027-05-01 10:00:00', end: '2027-05-01 11:00:00', place: 'Hall' };
    (gateway.cms as FakeCms).createPost('events', { meta });
    await gateway.services.sync.poll();
    expect((await gateway.request('/venues')).body.venues).to.have.length(1);
    const { id } = await create({});
    expect((await gateway.request(`/venues/${id}`, { as: 'admin', json: { city: 'Kiel' } })).status).to.equal(200);
    // An event cannot link a record: nothing would refer to a new one.
    const { length } = (gateway.cms as FakeCms).writes;
    await embed({ city: 'Bonn' });
    expect((gateway.cms as FakeCms).writes.slice(length).map(({ base }) => base)).to.deep.equal(['events']);
  });
});
