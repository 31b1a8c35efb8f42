// What an event stores of the website that a body names.

import { expect } from 'chai';
import { getRecord } from '../../src/store/records.ts';
import { event, writeFixture } from './write-fixture.ts';

describe('the website of an event', () => {
  const fixture = writeFixture();
  const { write } = fixture;

  // As of a venue or an organizer: The Events Calendar stores all three alike.
  for (const [sent, stored] of [
    ['http://a.example/<b>', 'http://a.example/'],
    ['http://a.example/?x=<i>1</i>&y=2', 'http://a.example/?x=1&y=2'],
    ["http://a.example/it's", "http://a.example/it's"],
  ])
    it(`${sent} is stored as ${stored}`, async () => {
      const { id } = await write('/events', 'create', { ...event, website: sent });
      const website = () => getRecord(fixture.gateway.services.replica.db, 'event', id)?.website;
      expect(website()).to.equal(stored);
      await write('/events', 'update', { website: 'http://b.example/' }, { id });
      await write('/events', 'update', { website: sent }, { id });
      expect(website()).to.equal(stored);
    });
});
