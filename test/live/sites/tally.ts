// Counts what held and what did not, and tells of the latter at once.

export interface Tally {
  passed: number;
  failed: number;
  /** Runs one check; what it throws is a failure. @returns what the check gave, or undefined. */
  check<T>(what: string, body: () => Promise<T>): Promise<T | undefined>;
}

export function createTally(site: string): Tally {
  const tally: Tally = {
    passed: 0,
    failed: 0,
    async check(what, body) {
      try {
        const result = await body();
        tally.passed += 1;
        return result;
      } catch (error) {
        tally.failed += 1;
        const { message, actual, expected } = error as Error & { actual?: unknown; expected?: unknown };
        const values = expected === undefined ? '' : `\n  got      ${text(actual)}\n  expected ${text(expected)}`;
        process.stderr.write(`FAIL ${site}: ${what}: ${message.slice(0, 300)}${values}\n`);
        return undefined;
      }
    },
  };
  return tally;
}

const text = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 1500);
