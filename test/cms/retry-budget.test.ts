// The retry budget with a clock of the test's own.

import { expect } from 'chai';
import { createRetryBudget } from '../../src/cms/circuit-breaker.ts';

describe('retry budget', () => {
  const count = (times: number, isAllowed: () => boolean) =>
    Array.from({ length: times }, isAllowed).filter(Boolean).length;

  it('allows three retries without many requests', () => {
    const budget = createRetryBudget(() => 0);
    expect(count(10, budget.tryRetry)).to.equal(3);
  });

  it('allows retries for a fifth of the requests', () => {
    const budget = createRetryBudget(() => 0);
    for (let n = 0; n < 100; n += 1) budget.countRequest();
    expect(count(50, budget.tryRetry)).to.equal(20);
  });

  it('starts again after ten seconds', () => {
    let nowMs = 0;
    const budget = createRetryBudget(() => nowMs);
    expect(count(10, budget.tryRetry)).to.equal(3);
    nowMs = 9_999;
    expect(budget.tryRetry()).to.equal(false);
    nowMs = 10_000;
    expect(count(10, budget.tryRetry)).to.equal(3);
  });

  it('does not start again because the wall clock was set', () => {
    const wallClock = Date.now;
    let setMs = 0;
    Date.now = () => wallClock() + setMs;
    try {
      const budget = createRetryBudget();
      expect(count(10, budget.tryRetry)).to.equal(3);
      setMs = 3_600_000;
      expect(budget.tryRetry()).to.equal(false);
    } finally {
      Date.now = wallClock;
    }
  });
});
