// Fifty random histories. `npm run test:history` runs a thousand, or HISTORY_RUNS; HISTORY_SEED repeats a run.

import { runHistories } from './history.ts';

const { HISTORY_RUNS: runs = '50', HISTORY_SEED: seed } = process.env;

describe('random histories of changes', () => {
  it('end with a replica that equals the CMS', async () => {
    await runHistories(Number(runs), seed === undefined ? {} : { seed: Number(seed) });
  }).timeout(60_000 + Number(runs) * 200);
});
