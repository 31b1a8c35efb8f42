// Polls a condition with a deadline: how tests wait.

import { setTimeout as sleep } from 'node:timers/promises';

const STEP_MS = 10;
/** Less than mocha's own timeout of 10 s, whose message would not name the condition. */
const TIMEOUT_MS = 8000;

/** Waits until the condition holds. Throws an error that names it after `timeoutMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  description: string | (() => string),
  timeoutMs = TIMEOUT_MS,
): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadlineMs)
      throw new Error(`timed out: ${typeof description === 'string' ? description : description()}`);
    await sleep(STEP_MS);
  }
}
