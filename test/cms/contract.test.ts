// The fake CMS and the recorded WordPress fulfil the same contract.

import { createWordPress } from '../../src/cms/wordpress/wordpress.ts';
import { describeCmsContract } from './contract.ts';
import { CREDENTIALS, createFakeCms } from './fake-cms.ts';
import { replay, withoutNetwork } from './replay.ts';

describe('CMS implementations', () => {
  describeCmsContract('the fake CMS', () => ({ cms: createFakeCms(Date.now), as: CREDENTIALS }));

  describe('with recorded responses', () => {
    withoutNetwork();
    describeCmsContract('WordPress', (scenario) => {
      replay(scenario);
      const cms = createWordPress({ url: 'http://cms.example/', observe: () => {}, limits: { retries: 0 } });
      return { cms, as: { admin: 'Basic eDp5', subscriber: 'Basic eDp5' } };
    });
  });
});
