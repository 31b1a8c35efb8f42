// Thirty random histories. `npm run test:history` runs a thousand, or HISTORY_RUNS, and prints what the sync decided;
// HISTORY_SEED repeats a run.

import { runHistories } from './history.ts';

const { HISTORY_RUNS: runs, HISTORY_SEED: seed } = process.env;
const count = Number(runs ?? 30);

describe('random histories of changes', () => {
  it('end with a replica that equals the CMS', async () => {
    const decisions = await runHistories(count, seed === undefined ? {} : { seed: Number(seed) });
    if (runs !== undefined) console.table(Object.fromEntries(decisions));
  }).timeout(60_000 + count * 200);
});
