// Reads by slug: which the replica answers, and what it responds while the CMS is unavailable.

import { expect } from 'chai';
import { CmsUnavailable } from '../../src/errors.ts';
import { CREDENTIALS, createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';
import { upsert } from '../store/changes.ts';
import { event } from '../store/sample-records.ts';

describe('a slug in a path', () => {
  let gateway: TestGateway;
  afterEach(() => gateway.stop());

  async function withCms() {
    const cms: FakeCms = createFakeCms(Date.now);
    gateway = await startGateway({ cms });
    const requestedSlugs: unknown[] = [];
    const list = cms.list;
    let away = false;
    cms.list = async (spec, request, options) => {
      if (request.slug !== undefined) requestedSlugs.push(request.slug);
      if (away) throw new CmsUnavailable('timeout', 'no answer');
      return list(spec, request, options);
    };
    const isUnavailable = (is: boolean) => {
      away = is;
    };
    return { requestedSlugs, isUnavailable };
  }

  it('longer than the CMS can store is unknown without a CMS call, and not cached', async () => {
    const { requestedSlugs } = await withCms();
    for (const slug of ['x'.repeat(201), '%E6%97%A5'.repeat(23), encodeURIComponent('%e6%97%a5'.repeat(23))]) {
      for (const kind of ['events', 'venues', 'organizers']) {
        const { status, body } = await gateway.request(`/${kind}/by-slug/${slug}`);
        expect([status, body.code], slug).to.deep.equal([400, 'rest_invalid_param']);
        expect(Object.keys(body.data.params)).to.deep.equal(['slug']);
      }
    }
    expect(requestedSlugs).to.deep.equal([]);
  });

  it('longer than WordPress can store is found in the replica: Payload stores it', async () => {
    const { requestedSlugs } = await withCms();
    upsert(gateway.replica, [event(1, { slug: '日'.repeat(150) })]);
    expect((await gateway.request(`/events/by-slug/${'%E6%97%A5'.repeat(150)}`)).body).to.include({ id: 1 });
    expect((await gateway.request(`/events/by-slug/${'%E6%97%A5'.repeat(151)}`)).status).to.equal(400);
    expect(requestedSlugs).to.deep.equal([]);
  });

  it('may be written like a title, as in the original, and an existing slug of that spelling comes first', async () => {
    await withCms();
    upsert(gateway.replica, [event(1, { slug: 'folk-night-2' }), event(2, { slug: 'v1.0' })]);
    for (const slug of ['Folk%20Night%202', '%20folk-night-2', 'folk.night.2', 'folk+night+2'])
      expect((await gateway.request(`/events/by-slug/${slug}`)).body, slug).to.include({ id: 1 });
    expect((await gateway.request('/events/by-slug/v1.0')).body).to.include({ id: 2 });
    expect((await gateway.request('/events/by-slug/folk_night_2')).status).to.equal(400);
  });

  it('is 503 while the CMS does not respond, and is looked up again afterwards', async () => {
    const { requestedSlugs, isUnavailable } = await withCms();
    isUnavailable(true);
    const while_ = await gateway.request('/events/by-slug/some-event');
    expect([while_.status, while_.body.code]).to.deep.equal([503, 'calendar_upstream_away']);
    isUnavailable(false);
    const after = await gateway.request('/events/by-slug/some-event');
    expect([after.status, after.body.code]).to.deep.equal([400, 'rest_invalid_param']);
    expect(requestedSlugs).to.have.length(2);
  });

  it('that the CMS hides from one staff member is found for another who may see it', async () => {
    const cms = createFakeCms(Date.now);
    gateway = await startGateway({ cms, as: CREDENTIALS });
    const { userId } = (await cms.account({ credentials: CREDENTIALS.admin }))!;
    cms.createPost('events', { status: 'draft', slug: 'draft-of-admin', author: userId });
    const read = async (as: string) => (await gateway.request('/events/by-slug/draft-of-admin', { as })).status;
    expect(await read('contributor')).to.equal(400);
    expect(await read('admin')).to.equal(200);
  });

  it('finds the event that has it now, after an editor gave the slug to another event', async () => {
    await withCms();
    upsert(gateway.replica, [event(1, { slug: 'folk-night' })]);
    expect((await gateway.request('/events/by-slug/folk-night')).body).to.include({ id: 1 });
    upsert(gateway.replica, [event(1, { slug: 'folk-night-2026' }), event(2, { slug: 'folk-night' })]);
    expect((await gateway.request('/events/by-slug/folk-night')).body).to.include({ id: 2 });
    expect((await gateway.request('/events/by-slug/folk-night-2026')).body).to.include({ id: 1 });
  });

  it('with half a surrogate pair is unknown', async () => {
    await withCms();
    const { status } = await gateway.request('/events/by-slug/x?slug=%ED%A0%80');
    expect(status).to.equal(400);
  });

  it('is found without a CMS call, however it is encoded and whether or not the CMS sends it encoded', async () => {
    const { requestedSlugs } = await withCms();
    for (const [id, sent] of [
      [1, '日本'],
      [2, '%e9%9f%b3'],
    ] as const)
      upsert(gateway.replica, [event(id, { slug: sent })]);
    for (const [slug, id] of [
      ['%E6%97%A5%E6%9C%AC', 1],
      ['%25e6%2597%25a5%25e6%259c%25ac', 1],
      ['%E9%9F%B3', 2],
      ['%25E9%259F%25B3', 2],
    ] as const)
      for (let n = 0; n < 2; n += 1)
        expect((await gateway.request(`/events/by-slug/${slug}`)).body, slug).to.include({ id });
    expect(requestedSlugs).to.deep.equal([]);
  });
});
