// How tests wait for what is to come: again and again, and not for ever.

import { setTimeout as sleep } from 'node:timers/promises';

const STEP_MS = 10;
/** Far longer than it takes, and less than the 10 s that mocha gives a test, which would not say what was waited for. */
const WITHIN_MS = 8000;

/** Waits until it is so. Throws, with what was waited for, when it never came to that. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  what: string | (() => string),
  withinMs = WITHIN_MS,
): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > endMs)
      throw new Error(`it never came to that: ${typeof what === 'string' ? what : what()}`);
    await sleep(STEP_MS);
  }
}
