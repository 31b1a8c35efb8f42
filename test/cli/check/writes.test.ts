// What `check --write` writes, and what it never does.

import { expect } from 'chai';
import { trialSteps } from '../../../src/cli/check/trials.ts';
import type { SampledRecord } from '../../../src/cli/open-site.ts';
import { compileMapping } from '../../../src/mapping/compile.ts';
import type { KindMapping } from '../../../src/mapping/mapping.ts';
import type { Kind } from '../../../src/model/records.ts';
import { sourceWith } from '../../mapping/samples.ts';

describe('the values that check --write writes', () => {
  it('never set the status, of which a known value would publish the draft', () => {
    const custom_fields = { stage: 'status', level: 'meta.level' };
    const event = compileMapping(sourceWith({}, {}, { custom_fields }), 'sample').kinds.event as KindMapping<Kind>;
    const published = { id: 1, record: { customFields: { stage: 'publish' } } } as unknown as SampledRecord;
    const keys = trialSteps({ event: [published] }, 'Europe/Berlin', event)
      .flat()
      .map(({ name }) => name);
    expect(keys).to.include('custom_fields.level').and.not.include('custom_fields.stage');
  });
});
