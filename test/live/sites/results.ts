// Counts the checks that pass and fail, and prints the failures.

export interface Results {
  passed: number;
  failed: number;
  /** Runs a check, which fails by throwing. Resolves with its result, or undefined if it failed. */
  check<T>(title: string, body: () => Promise<T>): Promise<T | undefined>;
}

export function createResults(site: string): Results {
  const results: Results = {
    passed: 0,
    failed: 0,
    async check(title, body) {
      try {
        const result = await body();
        results.passed += 1;
        return result;
      } catch (error) {
        results.failed += 1;
        const { message, actual, expected } = error as Error & { actual?: unknown; expected?: unknown };
        const values = expected === undefined ? '' : `\n  got      ${text(actual)}\n  expected ${text(expected)}`;
        process.stderr.write(`FAIL ${site}: ${title}: ${message.slice(0, 300)}${values}\n`);
        return undefined;
      }
    },
  };
  return results;
}

const text = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 1500);
