// The circuit breaker with a clock of the test's own.

import { expect } from 'chai';
import { createCircuitBreaker } from '../../src/cms/bulkhead.ts';
import { CmsUnavailable } from '../../src/errors.ts';

describe('circuit breaker', () => {
  let nowMs: number;
  let states: string[];
  let breaker: ReturnType<typeof createCircuitBreaker>;
  const realNow = Date.now;
  beforeEach(() => {
    nowMs = 0;
    states = [];
    Date.now = () => nowMs;
    breaker = createCircuitBreaker(5_000, (state) => states.push(state));
  });
  afterEach(() => {
    Date.now = realNow;
  });

  const failing =
    (error: unknown = new CmsUnavailable('reset', 'reset')) =>
    async (): Promise<string> => {
      throw error;
    };
  const succeeding = async () => 'success';
  const run = (task: () => Promise<string>): Promise<unknown> => breaker.run(task).catch((error: unknown) => error);
  const fail = (error?: unknown) => run(failing(error));
  async function open(): Promise<void> {
    for (let n = 0; n < 5; n += 1) await fail();
  }

  it('opens after five consecutive failures', async () => {
    for (let n = 0; n < 4; n += 1) expect(await fail()).to.include({ reason: 'reset' });
    expect(await run(succeeding)).to.equal('success');
    await open();
    expect(await run(succeeding)).to.include({ reason: 'breaker-open', outcomeUnknown: false, retryAfterS: 5 });
    expect(states).to.deep.equal(['open']);
  });

  it('ignores rejected, malformed and too large responses', async () => {
    for (const reason of ['not-json', 'too-large', 'incomplete'] as const)
      for (let n = 0; n < 20; n += 1) await fail(new CmsUnavailable(reason, reason));
    for (let n = 0; n < 20; n += 1) await fail(new CmsUnavailable('status', 'rate limited', { status: 429 }));
    expect(states).to.deep.equal([]);
  });

  it('lets one call through after its time and closes when that one succeeds', async () => {
    await open();
    nowMs = 4_999;
    expect(await run(succeeding)).to.include({ reason: 'breaker-open' });
    nowMs = 5_000;
    const trial = Promise.withResolvers<string>();
    const tried = run(() => trial.promise);
    expect(await run(succeeding)).to.include({ reason: 'breaker-open' });
    trial.resolve('trial');
    expect(await tried).to.equal('trial');
    expect(await run(succeeding)).to.equal('success');
    expect(states).to.deep.equal(['open', 'half-open', 'closed']);
  });

  it('doubles its time with every failed trial, up to a minute', async () => {
    await open();
    for (const openMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      nowMs += openMs - 1;
      expect(await fail(), String(openMs)).to.include({ reason: 'breaker-open' });
      nowMs += 1;
      expect(await fail(), String(openMs)).to.include({ reason: 'reset' });
    }
  });
});
