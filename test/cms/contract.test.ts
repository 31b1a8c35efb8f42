// The fake CMS and the recorded WordPress fulfil the same contract.

import { describeCmsContract } from './contract.ts';
import { fakeCms, recordedWordPress } from './implementations.ts';
import { withoutNetwork } from './replay.ts';

describe('CMS implementations', () => {
  describeCmsContract('the fake CMS', fakeCms);

  describe('with recorded responses', () => {
    withoutNetwork();
    describeCmsContract('WordPress', recordedWordPress);
  });
});
