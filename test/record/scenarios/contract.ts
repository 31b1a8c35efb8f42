// The contract of a CMS (test/cms/contract.ts).

import { checkContract } from '../../cms/contract.ts';
import { liveWordPress } from '../../cms/implementations.ts';
import { PROMISES } from '../../cms/promises.ts';
import type { Scenario } from '../scenario.ts';

export const scenario: Scenario = {
  name: 'contract',
  async run({ as, site, dispatcher }) {
    const results = await checkContract(liveWordPress(site, as, dispatcher));
    for (const [n, error] of results.entries())
      if (error) process.stderr.write(`record: contract: ${PROMISES[n]!.name}: ${error.message}\n`);
  },
};
