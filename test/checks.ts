// Runs the files of tests that need more than this project brings along, `*.check.ts`, and counts them.

import Mocha from 'mocha';

/**
 * Runs them one after another and prints the counts.
 * @param only part of the titles of the tests to run; all where undefined
 * @returns the exit code: 1 when a test failed, or when there was none
 */
export async function runChecks(
  files: readonly string[],
  timeoutMs: number,
  only: string | undefined,
): Promise<number> {
  const mocha = new Mocha({ timeout: timeoutMs, reporter: 'spec', ...(only ? { grep: only } : {}) });
  for (const file of files) mocha.addFile(file);
  await mocha.loadFilesAsync();
  const { passes = 0, failures = 0 } = await new Promise<Mocha.Stats>((ended) => {
    const runner = mocha.run(() => ended(runner.stats!));
  });
  console.log(`${passes} passed, ${failures} failed`);
  return failures > 0 || passes === 0 ? 1 : 0;
}
