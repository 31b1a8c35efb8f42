// What the sync saved in the replica, after somebody else wrote to it: a start goes on without it, and says so.

import { expect } from 'chai';
import { setState } from '../../src/store/state.ts';
import { STATE_KEYS } from '../../src/sync/context.ts';
import { syncedSite } from './filled-site.ts';
import { expectInSync, type TestSite } from './test-site.ts';

const { fields, complete, ...KEYS } = STATE_KEYS;
const NAMES = [...Object.values(KEYS), fields('event'), fields('category')];
const FOREIGN = [
  '{',
  'null',
  '1e300',
  '[null]',
  '{"event":-7,"url":":","name":"","timezone":"UTC","dueMs":"x","always":5,"total":"x"}',
];

describe('saved state that no gateway wrote', () => {
  let site: TestSite;
  beforeEach(async () => {
    site = await syncedSite();
    await site.settle();
    site.observations.length = 0;
  });
  afterEach(() => site.close());

  for (const name of NAMES) {
    it(`${name} is ignored at a start, with a warning, and read again`, async () => {
      for (const value of FOREIGN) {
        await site.sync.stop();
        setState(site.replica.db, name, value);
        await site.restart();
        await site.poll();
        await site.poll();
        expect(site.sync.status().state, value).to.equal('live');
        expectInSync(site);
      }
      const warnings = site.observations.filter(
        (each) => each.type === 'message' && each.message.includes(`"${name}"`),
      );
      expect(warnings.length).to.be.at.least(FOREIGN.length);
    });
  }
});
