// Fifty random histories; `npm run test:history` runs more.

import { runHistories } from './history.ts';

describe('random histories of changes', () => {
  it('end with a replica that equals the CMS', async () => {
    await runHistories({ runs: 50 });
  }).timeout(60_000);
});
