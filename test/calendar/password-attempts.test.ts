// Limits on anonymous callers' attempts at passwords of protected records.

import { expect } from 'chai';
import { PasswordAttempts } from '../../src/calendar/anonymous-limits.ts';
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
    tries = new PasswordAttempts(() => nowMs);
  });

  let failure: Error | undefined;
  const attempt = (password: string, record = 'event 1') =>
    tries
      .read(record, password, async () => {
        calls += 1;
        if (failure) throw failure;
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

  it('do not block callers whose password was correct within the last hour', async () => {
    expect(await attempt('right')).to.equal(200);
    nowMs += 60_000;
    await guesses(1000);
    expect(await attempt('right')).to.equal(200);
    expect(await attempt('right', 'event 2')).to.equal(429);
    for (failure of [new CmsUnavailable('timeout', 'No answer.'), new CmsRejected('no-collection', 'No.'), undefined])
      expect(await attempt('right'), failure?.message).to.equal(failure ? (failure as CmsRejected).status : 200);
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
