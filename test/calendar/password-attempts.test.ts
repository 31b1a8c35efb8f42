// Limits on anonymous callers' attempts at passwords of protected records.

import { expect } from 'chai';
import { createPasswordAttempts, type PasswordAttempts } from '../../src/calendar/limits.ts';
import { CmsRejected, CmsUnavailable } from '../../src/errors.ts';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';
import { upsert } from '../store/changes.ts';
import { event, venue } from '../store/sample-records.ts';

const wrong = () => new CmsRejected('forbidden', 'No.');

describe('password attempts of anonymous callers', () => {
  let nowMs: number;
  let calls: number;
  let tries: PasswordAttempts;
  beforeEach(() => {
    [nowMs, calls] = [1, 0];
    tries = createPasswordAttempts(() => nowMs);
  });

  const attempt = (password: string, record = 'event 1') =>
    tries
      .read(record, password, async () => {
        calls += 1;
        if (password === 'unavailable') throw new CmsUnavailable('timeout', 'No answer.');
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
      const statuses = await guesses(50, second * 1000);
      expect(statuses.filter((status) => status === 429)).to.have.length(49);
    }
    expect(calls).to.equal(30);
  });

  it('share one call if they are equal and concurrent; a wrong password is cached for five seconds', async () => {
    expect(new Set(await Promise.all(Array.from({ length: 100 }, () => attempt('same'))))).to.deep.equal(
      new Set([403]),
    );
    nowMs += 4000;
    expect([await attempt('same'), calls]).to.deep.equal([403, 1]);
    nowMs += 2000;
    expect([await attempt('same'), calls]).to.deep.equal([403, 2]);
  });

  it('do not block callers with the correct password, who cause one call per second', async () => {
    expect(await attempt('right')).to.equal(200);
    nowMs += 60_000;
    await guesses(1000);
    calls = 0;
    const statuses = await Promise.all(Array.from({ length: 100 }, () => attempt('right')));
    expect([...new Set(statuses), calls]).to.deep.equal([200, 1]);
    nowMs += 1001;
    expect([await attempt('right'), calls]).to.deep.equal([200, 2]);
  });

  it('are correct for one record only', async () => {
    await attempt('right');
    await attempt('right', 'event 2');
    expect(calls).to.equal(2);
  });

  it('are not cached if the CMS does not respond', async () => {
    await attempt('unavailable');
    await attempt('unavailable');
    expect(calls).to.equal(2);
  });

  describe('through the API', () => {
    let gateway: TestGateway;
    afterEach(() => gateway.stop());

    it('are 429 if there are too many, for events, venues and slugs, but not for accounts', async () => {
      const cms = createFakeCms(() => 0);
      let reads = 0;
      cms.read = async () => {
        reads += 1;
        throw wrong();
      };
      gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS });
      const locked = { protected: true, slug: 'locked' };
      upsert(gateway.services.replica, [event(1, locked), venue(2, locked)]);
      const statuses = new Set<number>();
      for (const path of ['/events/1', '/venues/2', '/events/by-slug/locked', '/venues/by-slug/locked'])
        for (let n = 0; n < 50; n += 1) statuses.add((await gateway.request(`${path}?password=${path}${n}`)).status);
      expect(reads).to.be.within(10, 20);
      expect([...statuses]).to.include(429);
      expect((await gateway.request('/events/1?password=x', { as: 'author' })).status).to.equal(403);
    });
  });
});
