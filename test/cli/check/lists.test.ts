// How `check` judges the pages and totals of a list, and its series.

import { expect } from 'chai';
import type { CheckContext, CmsAdvice } from '../../../src/cli/check/checks.ts';
import { checkSeries, judgeList } from '../../../src/cli/check/reads.ts';

const advice = { hiddenRecords: 'see listParams' } as CmsAdvice;

describe('check of lists', () => {
  const kind = { kind: 'event', collection: 'gigs', dedupe: false } as const;
  const scan = (more: object) => ({ total: 3, ids: [1, 2, 3], truncated: false, ...more });

  it('fails for repeated ids, unless the mapping allows for them', () => {
    const repeated = scan({ ids: [1, 1, 2] });
    expect(judgeList(advice, kind, repeated)).to.include({
      state: 'fail',
      advice: 'Add "dedupe": true to "event" in the mapping.',
    });
    expect(judgeList(advice, { ...kind, dedupe: true }, repeated).state).to.equal('ok');
  });

  it('fails for a total that the pages do not have', () => {
    expect(judgeList(advice, kind, scan({ total: 5 })).state).to.equal('fail');
    expect(judgeList(advice, kind, scan({ total: 5 })).advice).to.include('listParams');
  });

  it('tells how many events are series, and when a site does not send all their occurrences', async () => {
    const event = (calendar_occurrences?: unknown) => ({ cmsRecord: { id: 1, calendar_occurrences } });
    const findings = (...events: object[]) =>
      checkSeries({
        mapping: { file: { event: { occurrences: true } } },
        samples: async () => ({ records: { event: events } }),
        pluginAdvice: () => 'gigs',
      } as unknown as CheckContext);
    expect(await findings(event(null), event([{}, {}]))).to.deep.equal([
      { name: 'series', state: 'ok', message: '1 of 2 events are series' },
    ]);
    expect(await findings()).to.deep.equal([]);
    const [older] = await findings(event());
    expect([older?.state, older?.advice]).to.deep.equal(['warn', 'gigs']);
  });
});
