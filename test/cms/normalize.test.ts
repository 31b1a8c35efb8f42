// Normalized CMS records: ids of terms that serve as venues, and statuses of a plugin. What a mapping says
// for WordPress alone.

import { expect } from 'chai';
import type { RestCall } from '../../src/cms/client.ts';
import { CMS_STATUS, plainCollection } from '../../src/cms/port.ts';
import { createCollections } from '../../src/cms/wordpress/collections.ts';
import { cmsIdOf, gatewayId, normalize } from '../../src/cms/wordpress/record-form.ts';
import { compileMapping } from '../../src/mapping/compile.ts';

const site = { url: 'http://cms.example', name: '', timezone: 'UTC' };

const places = compileMapping(
  {
    name: 'places',
    upstream: 'wordpress',
    event: {
      posts: 'events',
      wordpress: { statuses: ['expired', 'draft'] },
      fields: { start_date: 'meta.start', end_date: 'meta.end' },
    },
    venue: { terms: 'places' },
    category: { terms: 'kinds' },
  },
  'test',
);

const { event, venue, category } = places.kinds;
const ID = 1_000_000_000_005;

describe('normalized records of WordPress', () => {
  it('have for a term that serves as a venue an id that no post has', () => {
    expect(normalize(venue!, { id: 5, name: 'Hall' }).id).to.equal(ID);
    expect([gatewayId(venue!, 5), cmsIdOf(venue!, ID)]).to.deep.equal([ID, 5]);
  });

  it('are requested by their ids in WordPress', async () => {
    const routes: string[] = [];
    const call = async (method: string, route: string, { query = {} } = {}) => {
      routes.push(`${method} ${route} ${new URLSearchParams(query as Record<string, string>)}`);
      const headers = { 'x-wp-total': '1' };
      return { status: 200, headers, bytes: Buffer.alloc(0), json: { id: 5 } };
    };
    const cms = createCollections(call as RestCall);
    await cms.list(venue!, { view: 'public', ids: [ID, ID + 1] }).catch(() => {});
    for (const record of [await cms.read(venue!, ID, { view: 'public' }), await cms.update(venue!, ID, {}, {})])
      expect(record.id).to.equal(ID);
    expect((await cms.create(venue!, {}, {})).id).to.equal(ID);
    await cms.delete(venue!, ID, {});
    expect(routes).to.deep.equal([
      'GET wp/v2/places include=5%2C6',
      'GET wp/v2/places/5 ',
      'POST wp/v2/places/5 ',
      'POST wp/v2/places ',
      'DELETE wp/v2/places/5 force=true',
    ]);
  });

  it('reads that id in the events of the venue, and writes the id of the term', () => {
    expect(event.read({ id: 1, places: [5] }, site).venues).to.deep.equal([ID]);
    expect(event.read({ id: 1 }, site).venues).to.deep.equal([]);
    expect(event.write({ venues: [ID] }, { site })).to.deep.equal({ places: [5] });
  });

  it('keep the ids of categories and of other collections', () => {
    expect(normalize(category!, { id: 5 }).id).to.equal(5);
    expect(gatewayId(plainCollection('nowhere', 'posts'), 5)).to.equal(5);
  });

  it('have the status of a plugin as published, and the core statuses even if the mapping names them', () => {
    const statusOf = (status: string) => normalize(event, { id: 5, status }).status;
    expect(statusOf('expired')).to.equal('publish');
    expect(normalize(event, { id: 5, status: 'expired' })[CMS_STATUS]).to.equal('expired');
    expect(statusOf('draft')).to.equal('draft');
    expect(statusOf('preview')).to.equal('preview');
  });

  it("have their modification time in the gateway's form", () => {
    expect(normalize(event, { id: 5, modified_gmt: '2026-01-02T03:04:05' }).modifiedUtc).to.equal(
      '2026-01-02 03:04:05',
    );
  });
});

describe('the settings of a collection for WordPress', () => {
  const spec = {
    ...plainCollection('events', 'posts'),
    cmsSettings: {
      listParams: { show: 'all' },
      statuses: ['expired'],
      resendAfterCreate: ['meta.start', 'meta.end', 'title'],
    },
  };
  const queries: unknown[] = [];
  const call = async (_method: string, _route: string, { query = {} } = {}) => {
    queries.push(query);
    return { status: 200, headers: { 'x-wp-total': '0' }, json: [], bytes: Buffer.alloc(0) };
  };
  const collections = createCollections(call as RestCall);

  it('go into every list request', async () => {
    await collections.list(spec, { view: 'public' });
    await collections.list(spec, { view: 'editor', statuses: 'all' });
    const all = 'publish,draft,pending,private,future,trash,expired';
    expect(queries).to.deep.equal([{ show: 'all' }, { show: 'all', context: 'edit', status: all }]);
  });

  it('say which part of a create follows as an update', () => {
    const body = { title: 'Party', status: 'publish', meta: { start: '2027-01-10', end: '2027-01-11', cost: '5' } };
    expect(collections.resendAfterCreate!(spec, body)).to.deep.equal({
      title: 'Party',
      meta: { start: '2027-01-10', end: '2027-01-11' },
    });
    expect(collections.resendAfterCreate!(plainCollection('events', 'posts'), body)).to.equal(undefined);
  });
});

describe('a list by slug', () => {
  /** WordPress finds the records of the slug that is left when it has removed what it keeps in none. */
  const listBy = async (slug: string, ...found: string[]) => {
    const json = found.map((each, index) => ({ id: index + 1, slug: each, status: 'publish' }));
    const call = async () => ({ status: 200, headers: { 'x-wp-total': '1' }, json, bytes: Buffer.alloc(0) });
    const collections = createCollections(call as unknown as RestCall);
    return (await collections.list(plainCollection('events', 'posts'), { view: 'public', slug })).records;
  };

  it('has records with that slug alone: drafts have none, and a cleaned slug is another', async () => {
    expect(await listBy('%', '', '')).to.deep.equal([]);
    for (const slug of ['-', '--']) expect(await listBy(slug, '', 'a'), slug).to.deep.equal([]);
    expect(await listBy('a!b', 'ab')).to.deep.equal([]);
    expect(await listBy('ab', 'ab')).to.have.length(1);
    expect(await listBy('-a--b-', 'a-b'), 'as WordPress itself').to.have.length(1);
    expect(await listBy('%c3%bc', '%C3%BC')).to.have.length(1);
    expect(await listBy('%c3%bc', 'ü'), 'decoded by a filter of the site').to.have.length(1);
  });
});
