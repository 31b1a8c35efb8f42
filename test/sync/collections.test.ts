// The names of the CMS's collections, as webhooks and the keys in Redis have them.

import { expect } from 'chai';
import { loadMapping } from '../../src/mapping/load.ts';
import { kindOfCollection, specOf } from '../../src/sync/collections.ts';

describe('the name of a collection', () => {
  const mapping = loadMapping('wordpress-meta');

  it('says which records it has, and is ignored if the gateway reads none of them', () => {
    const names = ['events', 'event_categories', 'media', 'pages', 'event'];
    const kinds = ['event', 'category', 'image', undefined, undefined] as const;
    expect(names.map((name) => kindOfCollection(mapping, name))).to.deep.equal(kinds);
    for (const [at, kind] of kinds.entries()) if (kind) expect(specOf(mapping, kind)?.collection).to.equal(names[at]);
  });
});
