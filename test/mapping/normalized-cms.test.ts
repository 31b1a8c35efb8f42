// Normalized CMS records: ids of terms that serve as venues, and statuses of a plugin.

import { expect } from 'chai';
import type { Cms, CmsRecord, Query } from '../../src/cms/port.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { gatewayId, normalizedCms } from '../../src/mapping/normalized-cms.ts';

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

/** A CMS that answers every call with the same record and keeps the arguments. */
function recordingCms(cmsRecord: CmsRecord): { cms: Cms; calls: unknown[][] } {
  const calls: unknown[][] = [];
  const respond = async (...args: unknown[]): Promise<CmsRecord> => {
    calls.push(args);
    return cmsRecord;
  };
  const cms = {
    list: async (collection: string, query: Query) => {
      calls.push([collection, query]);
      return { records: [cmsRecord], total: 1, totalPages: 1, serverTimeMs: 0 };
    },
    read: respond,
    create: respond,
    update: respond,
    remove: respond,
  } as unknown as Cms;
  return { cms, calls };
}

describe('normalized CMS', () => {
  it('gives a term that serves as a venue an id that no post has, in all calls', async () => {
    const { cms, calls } = recordingCms({ id: 5, name: 'Hall' });
    const normalized = normalizedCms(cms, places);
    const id = 1_000_000_000_005;
    expect((await normalized.list('places', { include: `${id},${id + 1}` })).records[0]?.id).to.equal(id);
    expect((await normalized.read('places', id, {})).id).to.equal(id);
    expect((await normalized.create('places', {}, {})).id).to.equal(id);
    expect((await normalized.update('places', id, {}, {})).id).to.equal(id);
    expect((await normalized.remove('places', id, { force: true }, {})).id).to.equal(id);
    expect(calls.map(([collection, second]) => [collection, second])).to.deep.equal([
      ['places', { include: '5,6' }],
      ['places', 5],
      ['places', {}],
      ['places', 5],
      ['places', 5],
    ]);
    expect(gatewayId(places, 'places', 5)).to.equal(id);
  });

  it('reads that id in the events of the venue, and writes the id of the term', () => {
    const { event } = places.kinds;
    expect(event.read({ id: 1, places: [5] }, site).venues).to.deep.equal([1_000_000_000_005]);
    expect(event.read({ id: 1 }, site).venues).to.deep.equal([]);
    expect(event.write({ venues: [1_000_000_000_005] }, { site })).to.deep.equal({ places: [5] });
  });

  it('keeps the ids of categories and of other collections', async () => {
    const normalized = normalizedCms(recordingCms({ id: 5 }).cms, places);
    expect((await normalized.read('kinds', 5, {})).id).to.equal(5);
    expect(gatewayId(places, 'kinds', 5)).to.equal(5);
    expect(gatewayId(places, 'nowhere', 5)).to.equal(5);
  });

  it('reads a status of the plugin as published, and keeps the core statuses even if the mapping names them', async () => {
    const statusOf = async (status: string) =>
      (await normalizedCms(recordingCms({ id: 5, status }).cms, places).read('events', 5, {})).status;
    expect(await statusOf('expired')).to.equal('publish');
    expect(await statusOf('draft')).to.equal('draft');
    expect(await statusOf('preview')).to.equal('preview');
  });

  it('is the CMS itself if no collection needs normalization', () => {
    const { cms } = recordingCms({});
    expect(normalizedCms(cms, loadMapping('wordpress-meta'))).to.equal(cms);
  });
});
