// Terms that stand for venues, and statuses of a plugin, as they come from the CMS and go there.

import { expect } from 'chai';
import { compileMapping } from '../../src/mapping/compile.ts';
import { fittedId, fittedUpstream } from '../../src/mapping/fitting.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Native, Query, Upstream } from '../../src/upstream/port.ts';

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

/** Answers every call with the same record and remembers what was asked. */
function oneRecord(native: Native): { upstream: Upstream; asked: unknown[][] } {
  const asked: unknown[][] = [];
  const answer = async (...given: unknown[]): Promise<Native> => {
    asked.push(given);
    return native;
  };
  const upstream = {
    list: async (base: string, query: Query) => {
      asked.push([base, query]);
      return { items: [native], total: 1, totalPages: 1, serverTimeMs: 0 };
    },
    ...{ read: answer, create: answer, update: answer, remove: answer },
  } as unknown as Upstream;
  return { upstream, asked };
}

describe('records as the mapping sees them', () => {
  it('a term that is a venue has an id that no post has, in all calls', async () => {
    const { upstream, asked } = oneRecord({ id: 5, name: 'Hall' });
    const fitted = fittedUpstream(upstream, places);
    const id = 1_000_000_000_005;
    expect((await fitted.list('places', { include: `${id},${id + 1}` })).items[0]?.id).to.equal(id);
    expect((await fitted.read('places', id, {})).id).to.equal(id);
    expect((await fitted.create('places', {}, {})).id).to.equal(id);
    expect((await fitted.update('places', id, {}, {})).id).to.equal(id);
    expect((await fitted.remove('places', id, { force: true }, {})).id).to.equal(id);
    expect(asked.map(([base, what]) => [base, what])).to.deep.equal([
      ['places', { include: '5,6' }],
      ['places', 5],
      ['places', {}],
      ['places', 5],
      ['places', 5],
    ]);
    expect(fittedId(places, 'places', 5)).to.equal(id);
  });

  it('an event names it by that id, and writes the term’s own', () => {
    const { event } = places.kinds;
    expect(event.read({ id: 1, places: [5] }, site).venues).to.deep.equal([1_000_000_000_005]);
    expect(event.read({ id: 1 }, site).venues).to.deep.equal([]);
    expect(event.write({ venues: [1_000_000_000_005] }, { site })).to.deep.equal({ places: [5] });
  });

  it('categories and other kinds keep their ids', async () => {
    const fitted = fittedUpstream(oneRecord({ id: 5 }).upstream, places);
    expect((await fitted.read('kinds', 5, {})).id).to.equal(5);
    expect(fittedId(places, 'kinds', 5)).to.equal(5);
    expect(fittedId(places, 'nowhere', 5)).to.equal(5);
  });

  it('a status of the plugin reads as published; the usual ones are left alone whatever the mapping says', async () => {
    const statusOf = async (status: string) =>
      (await fittedUpstream(oneRecord({ id: 5, status }).upstream, places).read('events', 5, {})).status;
    expect(await statusOf('expired')).to.equal('publish');
    expect(await statusOf('draft')).to.equal('draft');
    expect(await statusOf('preview')).to.equal('preview');
  });

  it('a mapping without either gets the CMS itself', () => {
    const { upstream } = oneRecord({});
    expect(fittedUpstream(upstream, loadMapping('wordpress-meta'))).to.equal(upstream);
  });
});
