// Long work in small steps, between which other requests run.

import { setImmediate as nextTurn } from 'node:timers/promises';

const MAX_WORK_MS = 10;

let workingSince = 0;

/**
 * Lets other work run once all callers together have worked for 10 ms, in which idle time counts. Call it between small
 * steps. Before a step that may be long, such as the JSON of a large record, call `soloTurn` (calendar/turns.ts).
 */
export async function pause(): Promise<void> {
  if (performance.now() - workingSince < MAX_WORK_MS) return;
  await nextTurn();
  workingSince = performance.now();
}
