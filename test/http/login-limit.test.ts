// The limit of failed logins: which attempts count together, and which are never locked out.

import { expect } from 'chai';
import { createLoginLimit, type LoginLimit } from '../../src/http/login-limit.ts';

describe('login limit', () => {
  const options = { failedLoginsPerAddress: 5, failedLoginsPerUser: 3, failedLoginWindowS: 300 };
  const HOME = '198.51.100.1';
  const ELSEWHERE = '203.0.113.1';
  let limit: LoginLimit;
  beforeEach(() => {
    limit = createLoginLimit(options);
  });

  async function fail(address: string, user: string, times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      await limit.check(address, user);
      await limit.failed(address, user);
    }
  }
  const isAllowed = async (address: string, user: string) => {
    const decision = await limit.check(address, user);
    // Reported as the success of another user, so that this check leaves no trace.
    if (decision.ok) await limit.succeeded(address, `${user} checked`);
    return decision.ok;
  };

  it('rejects guesses at one user from many addresses', async () => {
    for (let n = 1; n <= 3; n += 1) await fail(`203.0.113.${n}`, 'admin', 1);
    const rejected = await limit.check('203.0.113.9', 'admin');
    expect(rejected.ok).to.equal(false);
    expect((rejected as { retryAfterS: number }).retryAfterS).to.be.within(1, 300);
    expect((await limit.check('203.0.113.9', ' ADMIN ')).ok).to.equal(false);
    expect((await limit.check('203.0.113.9', 'editor')).ok).to.equal(true);
  });

  it('counts a user name in lower case, without blanks around it', async () => {
    await fail(ELSEWHERE, 'Мария', 2);
    await fail(HOME, ' МАРИЯ ', 1);
    expect((await limit.check('192.0.2.7', 'мария')).ok).to.equal(false);
    expect((await limit.check('192.0.2.7', 'мария2')).ok).to.equal(true);
  });

  it('allows four times as many failures from an IPv6 /56, and 16 times as many from a /48', async () => {
    const many = createLoginLimit({ ...options, failedLoginsPerUser: 1e6 });
    let user = 0;
    const guesses = async (networks: string[]) => {
      let allowed = 0;
      for (const network of networks) {
        for (let n = 0; n < 5; n += 1) {
          user += 1;
          if (!(await many.check(`${network}::1`, `user${user}`)).ok) continue;
          allowed += 1;
          await many.failed(`${network}::1`, `user${user}`);
        }
      }
      return allowed;
    };
    const within56 = Array.from({ length: 20 }, (_, n) => `2001:db8:1:${n.toString(16)}`);
    const within48 = Array.from({ length: 40 }, (_, n) => `2001:db8:1:${(0x100 * (n + 1)).toString(16)}`);
    expect(await guesses(within56)).to.equal(20);
    expect(await guesses(within48)).to.equal(60);
    expect(await guesses(['2001:db8:2:0'])).to.equal(5);
  });

  it('rejects guesses at many users from one address', async () => {
    for (let n = 1; n <= 5; n += 1) await fail(ELSEWHERE, `user${n}`, 1);
    expect((await limit.check(ELSEWHERE, 'user6')).ok).to.equal(false);
    expect((await limit.check(`::ffff:${ELSEWHERE}`, 'user6')).ok).to.equal(false);
    expect((await limit.check(HOME, 'user6')).ok).to.equal(true);
  });

  it('counts running attempts: concurrent guesses gain nothing', async () => {
    const many = await Promise.all(Array.from({ length: 100 }, () => limit.check(ELSEWHERE, 'admin')));
    expect(many.filter((decision) => decision.ok).length).to.equal(3);
    let more = 0;
    for (let n = 0; n < 100; n += 1) if ((await limit.check(HOME, 'editor')).ok) more += 1;
    expect(more).to.equal(3);
  });

  it('does not count rejected attempts', async () => {
    await Promise.all(Array.from({ length: 100 }, () => limit.check(ELSEWHERE, 'admin')));
    for (let n = 0; n < 3; n += 1) await limit.succeeded(ELSEWHERE, 'admin');
    expect(await isAllowed(ELSEWHERE, 'admin')).to.equal(true);
    expect(await isAllowed(HOME, 'admin')).to.equal(true);
  });

  it('does not count attempts that the CMS did not answer', async () => {
    for (let n = 0; n < 20; n += 1) {
      expect((await limit.check(ELSEWHERE, 'admin')).ok).to.equal(true);
      await limit.inconclusive(ELSEWHERE, 'admin');
    }
  });

  it('resets the counter of a user and address after a success', async () => {
    await fail(HOME, 'admin', 2);
    await limit.check(HOME, 'admin');
    await limit.succeeded(HOME, 'admin');
    await fail(HOME, 'admin', 2);
    expect(await isAllowed(HOME, 'admin')).to.equal(true);
  });

  it('does not lock out a user who logged in from this address before', async () => {
    await limit.check(HOME, 'admin');
    await limit.succeeded(HOME, 'admin');
    await fail(ELSEWHERE, 'admin', 3);
    await fail(HOME, 'editor', 5);
    expect((await limit.check(ELSEWHERE, 'admin')).ok).to.equal(false);
    expect((await limit.check(HOME, 'editor')).ok).to.equal(false);
    expect(await isAllowed(HOME, 'admin')).to.equal(true);
  });

  it('does not reset the counter of an attacker when the user, or the attacker as another user, logs in', async () => {
    await limit.check(HOME, 'admin');
    await limit.succeeded(HOME, 'admin');
    await fail(ELSEWHERE, 'admin', 3);
    await limit.check(HOME, 'admin');
    await limit.succeeded(HOME, 'admin');
    expect((await limit.check(ELSEWHERE, 'admin')).ok).to.equal(false);
    await limit.succeeded(ELSEWHERE, 'mallory');
    expect((await limit.check(ELSEWHERE, 'admin')).ok).to.equal(false);
  });

  it('rejects a trusted user after repeated failures', async () => {
    await limit.check(HOME, 'admin');
    await limit.succeeded(HOME, 'admin');
    await fail(HOME, 'admin', 3);
    expect((await limit.check(HOME, 'admin')).ok).to.equal(false);
  });
});
