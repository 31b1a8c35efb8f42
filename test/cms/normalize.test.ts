// Normalized CMS records: ids of terms that serve as venues, and statuses of a plugin.

import { expect } from 'chai';
import { CMS_STATUS, plainCollection } from '../../src/cms/port.ts';
import { createCollections } from '../../src/cms/wordpress/collections.ts';
import { gatewayId, nativeId, normalize } from '../../src/cms/wordpress/record-form.ts';
import type { RestCall } from '../../src/cms/wordpress/rest-api.ts';
import { compileMapping } from '../../src/mapping/compile.ts';

const site = { url: 'http://cms.example', name: '', timezone: 'UTC' };

const places = compileMapping(
  {
    name: 'places',
    upstream: 'wordpress',
    event: {
      posts: 'events',
      statuses: ['expired', 'draft'],
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
    expect([gatewayId(venue!, 5), nativeId(venue!, ID)]).to.deep.equal([ID, 5]);
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
