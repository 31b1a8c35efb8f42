// How `check` judges the pages and totals of a list, and its series.

import { expect } from 'chai';
import { judgeList, judgeSeries } from '../../../src/cli/check/lists.ts';
import { advise } from '../../../src/cli/check/wordpress/advice.ts';
import { judgePastEvents } from '../../../src/cli/check/wordpress/wordpress-checks.ts';

describe('check of lists', () => {
  const kind = { kind: 'event', dedupe: false } as const;
  const scan = (more: object) => ({ total: 3, ids: [1, 2, 3], firstPageRows: 3, truncated: false, ...more });

  it('fails for repeated ids, unless the mapping allows for them', () => {
    const repeated = scan({ ids: [1, 1, 2] });
    expect(judgeList(advise, kind, repeated)).to.include({
      state: 'fail',
      advice: 'Add "dedupe": true to "event" in the mapping.',
    });
    expect(judgeList(advise, { ...kind, dedupe: true }, repeated).state).to.equal('ok');
  });

  it('fails for a total that the pages do not have', () => {
    expect(judgeList(advise, kind, scan({ total: 5 })).state).to.equal('fail');
    expect(judgeList(advise, kind, scan({ total: 5, firstPageRows: 5 })).advice).to.include('listParams');
  });

  it('warns if none of ten events is over', () => {
    const upcoming = Array.from({ length: 10 }, () => ({ endUtc: '2031-01-01 00:00:00' }));
    expect(judgePastEvents(upcoming, '2026-11-21 10:00:00')[0]?.state).to.equal('warn');
    expect(judgePastEvents(upcoming, '2031-11-21 10:00:00')).to.deep.equal([]);
    expect(judgePastEvents(upcoming.slice(1), '2026-11-21 10:00:00')).to.deep.equal([]);
  });

  it('tells how many events are series, and when a site does not send all their occurrences', () => {
    const event = (calendar_occurrences?: unknown) => ({ id: 1, calendar_occurrences });
    expect(judgeSeries(advise, [event(null), event([{}, {}])], 'gigs')).to.deep.equal([
      { state: 'ok', message: '1 of 2 events are series, with 2 occurrences' },
    ]);
    expect(judgeSeries(advise, [event([{}])], 'gigs', 'not tried')[0]?.message).to.match(
      / 1 occurrences \(not tried\)$/,
    );
    expect(judgeSeries(advise, [event(null)], 'gigs', 'not tried')[0]?.message).to.match(/ 0 occurrences$/);
    expect(judgeSeries(advise, [], '')).to.deep.equal([]);
    const [older] = judgeSeries(advise, [event()], 'gigs');
    expect([older?.state, older?.advice]).to.deep.equal(['warn', advise('series-missing', 'gigs')]);
    const [long] = judgeSeries(advise, [event(Array(1000).fill({}))], '');
    expect(long).to.include({ state: 'warn' });
    expect(long?.message).to.contain('1000 occurrences or more');
  });
});
