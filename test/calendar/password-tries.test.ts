// How often anonymous callers make the gateway try passwords of protected records at the CMS, and who is not held up by it.

import { expect } from 'chai';
import { createPasswordTries, type PasswordTries } from '../../src/calendar/password-tries.ts';
import { UpstreamAway, UpstreamRefused } from '../../src/errors.ts';
import { type GatewayUnderTest, gatewayUnderTest } from '../gateway-under-test.ts';
import { event, venue } from '../replica/samples.ts';
import { AS, fakeCms } from './fake-cms.ts';

const wrong = () => new UpstreamRefused(403, 'rest_post_incorrect_password', 'No.');

describe('passwords that anonymous callers try', () => {
  let nowMs: number;
  let calls: number;
  let tries: PasswordTries;
  beforeEach(() => {
    [nowMs, calls] = [1, 0];
    tries = createPasswordTries(() => nowMs);
  });

  const attempt = (password: string, record = 'event 1') =>
    tries
      .read(record, password, async () => {
        calls += 1;
        if (password === 'away') throw new UpstreamAway('timeout', 'No answer.');
        if (password !== 'right') throw wrong();
        return { id: 1 };
      })
      .then(
        () => 200,
        (error: { status?: number }) => error.status,
      );
  const guesses = (times: number, from = 0) =>
    Promise.all(Array.from({ length: times }, (_, n) => attempt(`guess ${from + n}`)));

  it('cost the CMS one call a second for all callers and records together, after a burst of ten', async () => {
    await guesses(1000);
    for (let second = 1; second <= 20; second += 1) {
      nowMs += 1000;
      const told = await guesses(50, second * 1000);
      expect(told.filter((status) => status === 429)).to.have.length(49);
    }
    expect(calls).to.equal(30);
  });

  it('are tried once for all who send the same at once, and a wrong one not again for five seconds', async () => {
    expect(new Set(await Promise.all(Array.from({ length: 100 }, () => attempt('same'))))).to.deep.equal(
      new Set([403]),
    );
    nowMs += 4000;
    expect([await attempt('same'), calls]).to.deep.equal([403, 1]);
    nowMs += 2000;
    expect([await attempt('same'), calls]).to.deep.equal([403, 2]);
  });

  it('do not keep those who know the right one from the record, which is asked for once a second', async () => {
    expect(await attempt('right')).to.equal(200);
    nowMs += 60_000;
    await guesses(1000);
    calls = 0;
    const told = await Promise.all(Array.from({ length: 100 }, () => attempt('right')));
    expect([...new Set(told), calls]).to.deep.equal([200, 1]);
    nowMs += 1001;
    expect([await attempt('right'), calls]).to.deep.equal([200, 2]);
  });

  it('are right for one record alone', async () => {
    await attempt('right');
    await attempt('right', 'event 2');
    expect(calls).to.equal(2);
  });

  it('are tried again at once after the CMS did not answer', async () => {
    await attempt('away');
    await attempt('away');
    expect(calls).to.equal(2);
  });

  describe('at the gateway', () => {
    let gateway: GatewayUnderTest;
    afterEach(() => gateway.close());

    it('are refused with 429 when there are too many, for events, venues and slugs alike; accounts are not concerned', async () => {
      const cms = fakeCms(() => 0);
      let reads = 0;
      cms.read = async () => {
        reads += 1;
        throw wrong();
      };
      gateway = await gatewayUnderTest({ upstream: cms, service: AS.admin, as: AS });
      const locked = { protected: true, slug: 'locked' };
      gateway.backing.replica.put([event(1, locked), venue(2, locked)]);
      const statuses = new Set<number>();
      for (const path of ['/events/1', '/venues/2', '/events/by-slug/locked', '/venues/by-slug/locked'])
        for (let n = 0; n < 50; n += 1) statuses.add((await gateway.ask(`${path}?password=${path}${n}`)).status);
      expect(reads).to.be.within(10, 20);
      expect([...statuses]).to.include(429);
      expect((await gateway.ask('/events/1?password=x', { as: 'author' })).status).to.equal(403);
    });
  });
});
