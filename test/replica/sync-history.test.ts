// Fifty random histories at every test run; `node test/replica/history.ts` runs more.

import { runHistories } from './history.ts';

describe('sync histories', () => {
  it('end with a copy that equals the CMS', async () => {
    await runHistories({ runs: 50 });
  }).timeout(60_000);
});
