// Every mutant applies to the sources exactly once, so that `node test/mutants/run.ts` can run it.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { applyMutant, ROOT } from './apply.ts';
import { MUTANTS } from './mutants.ts';

describe('mutants', () => {
  it('apply exactly once to their function, and name an existing test', () => {
    const problems = MUTANTS.flatMap((mutant) => {
      try {
        applyMutant(mutant);
        return existsSync(join(ROOT, mutant.test)) ? [] : [`${mutant.what}: no ${mutant.test}`];
      } catch (error) {
        return [`${mutant.what}: ${(error as Error).message}`];
      }
    });
    expect(problems).to.deep.equal([]);
  }).timeout(60_000);
});
