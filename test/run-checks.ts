// Runs `*.check.ts` files: tests with requirements beyond `npm install`, such as a browser or nginx.

import Mocha from 'mocha';

/**
 * Runs the files one after another and prints the counts.
 * @param only runs only tests whose title contains this text
 * @returns the exit code: 1 if a test failed or none ran
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
