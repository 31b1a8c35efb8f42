// A mutant: the gateway without one guard, and the test that must then fail.

export interface Mutant {
  /** The guard that the mutant removes. */
  what: string;
  file: string;
  /** The enclosing functions, such as `createBulkheads.canQueue`. Default: the whole file. */
  function?: string;
  /**
   * The guard's code, which occurs once in the function. `_1`, `_2` ... stand for local variables, whatever
   * their names; white space does not matter.
   */
  code: string;
  /** Code without the guard. Default: nothing. */
  replacement?: string;
  test: string;
  /** Runs only tests whose titles contain this. */
  title?: string;
}

/** Mutants of one source file, by the guard that each removes; `test` is the default of theirs. */
export function mutantsOf(
  file: string,
  test: string,
  mutants: Readonly<Record<string, Omit<Mutant, 'file' | 'test' | 'what'> & { test?: string }>>,
): Mutant[] {
  return Object.entries(mutants).map(([what, mutant]) => ({ test, ...mutant, what, file }));
}
