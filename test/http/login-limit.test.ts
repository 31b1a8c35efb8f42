// The limit of failed logins: which attempts count together, and which are never locked out.

import { expect } from 'chai';
import { LoginLimit } from '../../src/http/login-limit.ts';

describe('login limit', () => {
  const options = { failedLoginsPerAddress: 5, failedLoginsPerUser: 3, failedLoginWindowS: 300 };
  const HOME = '198.51.100.1';
  const ELSEWHERE = '203.0.113.1';
  let limit: LoginLimit;
  beforeEach(() => {
    limit = new LoginLimit(options);
  });

  const start = async (address: string, user: string, of = limit) => {
    const attempt = await of.start(address, user);
    return 'end' in attempt ? attempt : undefined;
  };
  const isAllowed = async (address: string, user: string) => {
    const attempt = await start(address, user);
    await attempt?.end('unknown');
    return attempt !== undefined;
  };
  const succeed = async (address: string, user: string) => (await start(address, user))!.end('accepted');
  async function fail(address: string, user: string, times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) await (await start(address, user))?.end('failed');
  }

  it('rejects guesses at one user from many addresses', async () => {
    for (let n = 1; n <= 3; n += 1) await fail(`203.0.113.${n}`, 'admin', 1);
    const rejected = await limit.start('203.0.113.9', 'admin');
    expect((rejected as { retryAfterS: number }).retryAfterS).to.be.within(1, 300);
    expect(await isAllowed('203.0.113.9', ' ADMIN ')).to.equal(false);
    expect(await isAllowed('203.0.113.9', 'editor')).to.equal(true);
  });

  it('counts a user name in lower case, without blanks around it', async () => {
    await fail(ELSEWHERE, 'Мария', 2);
    await fail(HOME, ' МАРИЯ ', 1);
    expect(await isAllowed('192.0.2.7', 'мария')).to.equal(false);
    expect(await isAllowed('192.0.2.7', 'мария2')).to.equal(true);
  });

  it('counts an IPv6 /48 as one address', async () => {
    for (let n = 1; n <= 5; n += 1) await fail(`2001:db8:1:${n}00::1`, `user${n}`, 1);
    expect(await isAllowed('2001:db8:1:7::1', 'user6')).to.equal(false);
    expect(await isAllowed('2001:db8:2:7::1', 'user6')).to.equal(true);
  });

  it('rejects guesses at many users from one address', async () => {
    for (let n = 1; n <= 5; n += 1) await fail(ELSEWHERE, `user${n}`, 1);
    expect(await isAllowed(ELSEWHERE, 'user6')).to.equal(false);
    expect(await isAllowed(`::ffff:${ELSEWHERE}`, 'user6')).to.equal(false);
    expect(await isAllowed(HOME, 'user6')).to.equal(true);
  });

  it('counts running attempts: concurrent guesses gain nothing', async () => {
    const many = await Promise.all(Array.from({ length: 100 }, () => start(ELSEWHERE, 'admin')));
    expect(many.filter((attempt) => attempt).length).to.equal(3);
    let more = 0;
    for (let n = 0; n < 100; n += 1) if (await start(HOME, 'editor')) more += 1;
    expect(more).to.equal(3);
  });

  it('does not count rejected attempts', async () => {
    const many = await Promise.all(Array.from({ length: 100 }, () => start(ELSEWHERE, 'admin')));
    for (const attempt of many) await attempt?.end('accepted');
    expect(await isAllowed(ELSEWHERE, 'admin')).to.equal(true);
    expect(await isAllowed(HOME, 'admin')).to.equal(true);
  });

  it('does not count attempts that the CMS did not answer', async () => {
    for (let n = 0; n < 20; n += 1) expect(await isAllowed(ELSEWHERE, 'admin')).to.equal(true);
  });

  it('resets the counter of a user and address after a success', async () => {
    await fail(HOME, 'admin', 2);
    await succeed(HOME, 'admin');
    await fail(HOME, 'admin', 2);
    expect(await isAllowed(HOME, 'admin')).to.equal(true);
  });

  it('does not lock out a user who logged in from this address before', async () => {
    await succeed(HOME, 'admin');
    await fail(ELSEWHERE, 'admin', 3);
    await fail(HOME, 'editor', 5);
    expect(await isAllowed(ELSEWHERE, 'admin')).to.equal(false);
    expect(await isAllowed(HOME, 'editor')).to.equal(false);
    expect(await isAllowed(HOME, 'admin')).to.equal(true);
  });

  it('does not reset the counter of an attacker when the user, or the attacker as another user, logs in', async () => {
    await succeed(HOME, 'admin');
    await fail(ELSEWHERE, 'admin', 3);
    await succeed(HOME, 'admin');
    expect(await isAllowed(ELSEWHERE, 'admin')).to.equal(false);
    await succeed(ELSEWHERE, 'mallory');
    expect(await isAllowed(ELSEWHERE, 'admin')).to.equal(false);
  });

  it('rejects a trusted user after repeated failures', async () => {
    await succeed(HOME, 'admin');
    await fail(HOME, 'admin', 3);
    expect(await isAllowed(HOME, 'admin')).to.equal(false);
  });
});
