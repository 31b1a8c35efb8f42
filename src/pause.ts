// Long work in small steps, between which other requests run.

import { setImmediate as nextTurn } from 'node:timers/promises';

const MAX_WORK_MS = 10;

let workingSince = 0;

/** Lets other work run once all callers together have worked for 10 ms. Call it between small steps. */
export async function pause(): Promise<void> {
  if (performance.now() - workingSince < MAX_WORK_MS) return;
  await nextTurn();
  workingSince = performance.now();
}
