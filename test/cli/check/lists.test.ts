// How `check` judges the pages and totals of a list.

import { expect } from 'chai';
import type { CmsWords } from '../../../src/cli/check/checks.ts';
import { judgeList } from '../../../src/cli/check/lists.ts';

const words = { hiddenRecords: 'see listParams' } as CmsWords;

describe('check of lists', () => {
  const kind = { kind: 'event', dedupe: false } as const;
  const scan = (more: object) => ({ total: 3, ids: [1, 2, 3], truncated: false, ...more });

  it('fails for repeated ids, unless the mapping allows for them', () => {
    const repeated = scan({ ids: [1, 1, 2] });
    expect(judgeList(words, kind, repeated)).to.include({
      state: 'fail',
      advice: 'Add "dedupe": true to "event" in the mapping.',
    });
    expect(judgeList(words, { ...kind, dedupe: true }, repeated).state).to.equal('ok');
  });

  it('fails for a total that the pages do not have', () => {
    expect(judgeList(words, kind, scan({ total: 5 })).state).to.equal('fail');
    expect(judgeList(words, kind, scan({ total: 5 })).advice).to.include('listParams');
  });
});
