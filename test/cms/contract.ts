// The contract of a CMS: runs the checks of every promise (promises.ts) on one implementation.

import { ContractContext, type ContractSubject } from './contract-context.ts';
import { PROMISES } from './promises.ts';

/** Checks one implementation, in order; the error of each broken promise, and undefined for each kept one. */
export async function checkContract(subject: ContractSubject): Promise<(Error | undefined)[]> {
  const context = new ContractContext(subject);
  const results: (Error | undefined)[] = [];
  for (const { check } of PROMISES)
    results.push(
      await check(context).then(
        () => undefined,
        (error: Error) => error,
      ),
    );
  return results;
}

/** Declares one test per promise; `open` starts the implementation. */
export function describeCmsContract(name: string, open: () => ContractSubject): void {
  describe(`the contract of a CMS: ${name}`, () => {
    let context: ContractContext;
    before(() => {
      context = new ContractContext(open());
    });
    for (const promised of PROMISES) it(promised.name, () => promised.check(context));
  });
}
