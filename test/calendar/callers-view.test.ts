// What one caller's CMS shows, no other caller gets: drafts, renderings, fields and terms that depend on who asks.

import { expect } from 'chai';
import type { CallOptions, Cms, CmsRecord, CollectionSpec } from '../../src/cms/port.ts';
import { CmsRejected, CmsUnavailable } from '../../src/errors.ts';
import { CREDENTIALS, createFakeCms, type FakeCms, SERVICE, userIdOf } from '../cms/fake-cms.ts';
import { type Json, startGateway, type TestGateway } from '../start-gateway.ts';

const WINDOW = 'start_date=2027-01-01&end_date=2027-12-31';
const META = { start_date: '2027-03-12 19:00:00', end_date: '2027-03-12 21:00:00' };
const AS = CREDENTIALS;

type Change = (record: CmsRecord, options: CallOptions, spec: CollectionSpec) => CmsRecord | undefined;

/** A CMS with a plugin that decides by the caller what a record has; undefined hides it. */
function withPlugin(cms: FakeCms, change: Change): Cms {
  const shown = (spec: CollectionSpec, record: CmsRecord, options: CallOptions = {}): CmsRecord => {
    const changed = change(record, options, spec);
    if (!changed) throw new CmsRejected('not-visible', 'Hidden.', { status: options.credentials ? 403 : 401 });
    return changed;
  };
  return {
    ...cms,
    async list(spec, request, options = {}) {
      const page = await cms.list(spec, request, options);
      const records = page.records.map((record) => change(record, options, spec)).filter((each) => each !== undefined);
      return { ...page, records, total: page.total - page.records.length + records.length };
    },
    read: async (spec, id, how, options) => shown(spec, await cms.read(spec, id, how, options), options),
    trash: async (spec, id, options) => {
      shown(spec, await cms.read(spec, id, { view: 'editor' }, options), options);
      return cms.trash(spec, id, options);
    },
    update: async (spec, id, body, options) => {
      shown(spec, await cms.read(spec, id, { view: 'editor' }, options), options);
      return shown(spec, await cms.update(spec, id, body, options), options);
    },
  };
}

describe("a caller's view of the CMS", () => {
  let cms: FakeCms;
  let gateway: TestGateway;
  afterEach(() => gateway.stop());

  async function start(change: Change): Promise<void> {
    gateway = await startGateway({ cms: withPlugin(cms, change), service: SERVICE, as: CREDENTIALS });
  }
  beforeEach(() => {
    cms = createFakeCms(Date.now);
  });
  const get = async (path: string, as?: string): Promise<Json> => (await gateway.request(path, { as })).body;
  const texts = async (as?: string): Promise<string> => JSON.stringify(await get(`/events?${WINDOW}`, as));

  it('never makes a term public that the CMS hides from visitors', async () => {
    const { id } = cms.createTerm('event_categories', { name: 'Internal affairs', slug: 'internal' });
    await start((record, { credentials }) =>
      credentials === undefined && String(record.name).startsWith('Internal') ? undefined : record,
    );
    for (const as of ['subscriber', 'editor', 'admin']) {
      await gateway.request(`/categories/${id}`, { as });
      await gateway.request(`/categories?hide_empty=0`, { as });
      const draft = { title: 'Draft', status: 'draft', ...META, categories: [id] };
      if (as !== 'subscriber') await gateway.request('/events', { as, json: draft });
      expect((await get('/categories?hide_empty=0&search=Internal')).total, as).to.equal(0);
      expect((await gateway.request(`/categories/${id}`)).status, as).to.equal(400);
    }
  });

  it('is read in smaller pages if the drafts of one page are too large for a response', async () => {
    for (let n = 0; n < 45; n += 1)
      cms.createPost('events', { title: n === 31 ? 'Huge' : `Draft ${n}`, status: 'draft', author: 1, meta: META });
    const limits: (number | undefined)[] = [];
    const list: Cms['list'] = async (spec, request, options) => {
      const page = await cms.list(spec, request, options);
      if (request.view === 'reader' && page.records.some(({ status }) => status === 'draft')) {
        limits.push(request.limit);
        const isHuge = page.records.some(({ title }) => JSON.stringify(title).includes('Huge'));
        if (page.records.length > (isHuge ? 1 : 10))
          throw new CmsUnavailable('too-large', 'The response is too large.');
      }
      return page;
    };
    gateway = await startGateway({ cms: { ...cms, list }, service: SERVICE, as: CREDENTIALS });
    const { total } = await get(`/events?${WINDOW}&status=draft`, 'editor');
    expect(total).to.equal(45);
    expect([...new Set(limits)]).to.deep.equal([100, 10, 1]);
  });

  it('decides which drafts are in a list, in its searches and in the answer to an empty update', async () => {
    const { id } = cms.createPost('events', { title: 'BOARDSECRET', status: 'draft', author: 1, meta: META });
    await start((record, { credentials }) =>
      JSON.stringify(record.title).includes('BOARDSECRET') && credentials !== AS.admin ? undefined : record,
    );
    expect((await gateway.request(`/events/${id}`, { as: 'editor' })).status).to.equal(403);
    expect(await texts('admin')).to.include('BOARDSECRET');
    expect(await texts('editor')).to.not.include('BOARDSECRET');
    expect((await get(`/events?${WINDOW}&search=BOARDSECRET`, 'editor')).total).to.equal(0);
    for (const json of [{}, { title: 'Mine now' }]) {
      const update = await gateway.request(`/events/${id}`, { as: 'editor', json });
      expect([update.status, update.text.includes('BOARDSECRET')]).to.deep.equal([403, false]);
    }
    expect((await gateway.request(`/events/${id}`, { as: 'editor', method: 'DELETE' })).status).to.equal(403);
    expect((await gateway.request(`/events/${id}`, { as: 'admin', json: {} })).body.title).to.equal('BOARDSECRET');
  });

  it("is the only rendering of a draft that the caller gets: nobody's is kept for others", async () => {
    const nameOf = ({ credentials }: CallOptions) =>
      Object.entries(CREDENTIALS).find(([, authorization]) => authorization === credentials)?.[0] ?? 'visitor';
    await start((record, options) => ({
      ...record,
      content: { rendered: `seen by ${nameOf(options)}`, protected: false },
    }));
    const json = { title: 'Draft', status: 'draft', ...META };
    const { body } = await gateway.request('/events', { as: 'author', json });
    for (const as of ['author', 'editor', 'admin', 'author', 'admin', 'editor']) {
      expect((await get(`/events/${body.id}`, as)).description).to.equal(`seen by ${as}`);
      const { events } = await get(`/events?${WINDOW}&status=draft`, as);
      expect(events.map(({ description }: Json) => description)).to.deep.equal([`seen by ${as}`]);
    }
  });

  it('decides which fields of a draft are shown, found by a search and answered to an empty update', async () => {
    const meta = { phone: 'NESTEDSECRET-555' };
    const { id } = cms.createPost('venues', { title: 'Hall', status: 'draft', author: userIdOf('editor'), meta });
    await start((record, { credentials }) => ({
      ...record,
      meta: { ...(record.meta as object), ...(credentials === AS.admin ? {} : { phone: '' }) },
    }));
    expect(JSON.stringify(await get('/venues?status=draft', 'admin'))).to.include('NESTEDSECRET');
    expect(JSON.stringify(await get('/venues?status=draft', 'editor'))).to.not.include('NESTEDSECRET');
    expect((await get('/venues?status=draft&search=NESTEDSECRET', 'editor')).total).to.equal(0);
    expect((await get('/venues?status=draft&search=NESTEDSECRET', 'admin')).total).to.equal(1);
    const update = await gateway.request(`/venues/${id}`, { as: 'editor', json: {} });
    expect([update.status, update.text.includes('NESTEDSECRET')]).to.deep.equal([200, false]);
  });
});
