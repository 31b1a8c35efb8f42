// The fake CMS, the recorded WordPress and the recorded Payload fulfil the same contract.

import { describeCmsContract } from './contract.ts';
import { fakeCms, recordedPayload, recordedWordPress } from './implementations.ts';
import { withoutNetwork } from './replay.ts';

describe('CMS implementations', () => {
  describeCmsContract('the fake CMS', fakeCms);

  describe('with recorded responses', () => {
    withoutNetwork();
    describeCmsContract('WordPress', recordedWordPress);
    describeCmsContract('Payload', recordedPayload);
  });
});
