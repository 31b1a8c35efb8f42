// Shows what one address may ask, what counts as one address, and whom failed logins slow.

import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../src/errors.ts';
import { type AddressLimit, createAddressLimit, createLoginLimit, networkOf } from '../../src/http/limits.ts';

describe('the limit of requests', () => {
  const refusal = (limit: AddressLimit, ip: string): unknown => {
    try {
      return limit.admit({ ip });
    } catch (error) {
      return error;
    }
  };

  it('admits so many of one address, and others all the same', () => {
    const limit = createAddressLimit({ requestsPerMinute: 3 });
    for (let request = 0; request < 3; request += 1) limit.admit({ ip: '192.0.2.1' });
    const refused = refusal(limit, '192.0.2.1');
    expect(refused).to.be.instanceOf(GatewayError);
    const { status, code, headers } = refused as GatewayError;
    expect({ status, code }).to.deep.equal({ status: 429, code: 'rest_too_many_requests' });
    expect(Number(headers['Retry-After'])).to.be.within(1, 60);
    expect(headers.RateLimit).to.match(/^"minute";r=0;t=\d+$/);
    expect(headers['RateLimit-Policy']).to.equal('"minute";q=3;w=60');
    expect(headers).to.include({ 'RateLimit-Limit': '3', 'RateLimit-Remaining': '0' });
    limit.admit({ ip: '192.0.2.2' });
  });

  it('takes the addresses of one IPv6 network for one', () => {
    const limit = createAddressLimit({ requestsPerMinute: 1 });
    limit.admit({ ip: '2a00:1450:4001:1::1' });
    limit.admit({ ip: '2a00:1450:4001:2::1' });
    expect(refusal(limit, '2a00:1450:4001:1:ffff::')).to.be.instanceOf(GatewayError);
  });
});

describe('what counts as one address', () => {
  for (const [address, network] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:DB8:0:0:1:2:3:4', '2001:db8:0:0::/64'],
    ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
    ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['1:2:3:4:5::192.0.2.1', '1:2:3:4::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ]) {
    it(`of ${address}`, () => expect(networkOf(address!)).to.equal(network));
  }

  it('is the first four groups, however the address is written', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 0xffff }), { minLength: 8, maxLength: 8 }), (groups) => {
        const long = groups.map((group) => group.toString(16).padStart(4, '0')).join(':');
        const short = new URL(`http://[${long}]/`).hostname.slice(1, -1);
        const expected = `${groups
          .slice(0, 4)
          .map((group) => group.toString(16))
          .join(':')}::/64`;
        expect(networkOf(long)).to.equal(expected);
        expect(networkOf(short)).to.equal(expected);
      }),
    );
  });
});

describe('the limit of failed logins', () => {
  const options = { failedLoginsPerAddress: 5, failedLoginsPerUser: 3, failedLoginWindowS: 300 };
  const HOME = '198.51.100.1';
  const AWAY = '203.0.113.1';
  let limit: ReturnType<typeof createLoginLimit>;
  beforeEach(() => {
    limit = createLoginLimit(options);
  });

  async function fail(address: string, user: string, times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      await limit.allowed(address, user);
      await limit.failed(address, user);
    }
  }
  const ok = async (address: string, user: string) => {
    const { ok: may } = await limit.allowed(address, user);
    // Settled as a success of somebody unheard of, so that the question itself leaves no trace.
    if (may) await limit.succeeded(address, `${user} settled`);
    return may;
  };

  it('slows guesses at one user from many addresses', async () => {
    for (let one = 1; one <= 3; one += 1) await fail(`203.0.113.${one}`, 'admin', 1);
    const refused = await limit.allowed('203.0.113.9', 'admin');
    expect(refused.ok).to.equal(false);
    expect((refused as { retryAfterS: number }).retryAfterS).to.be.within(1, 300);
    expect((await limit.allowed('203.0.113.9', ' ADMIN ')).ok).to.equal(false);
    expect((await limit.allowed('203.0.113.9', 'editor')).ok).to.equal(true);
  });

  for (const spelling of [
    ...[
      'ADMIN',
      ' admin',
      'admin  ',
      'ädmin',
      'a\u0308dmin',
      'ａｄｍｉｎ',
      'ⓐdmin',
      'admin%00',
      'ad%41min',
      '%61admin',
    ],
    ...[
      'admin&a;',
      'admin&#65;',
      'admin&a&b;',
      'admin&;x;',
      'adm&nbsp;in',
      'adm\u200bin',
      'adm\u00adin',
      'admin£',
      'a.d-m_in',
    ],
  ]) {
    it(`counts guesses at one account, however it is spelled: ${JSON.stringify(spelling)}`, async () => {
      await fail(AWAY, 'admin', 2);
      await fail(HOME, spelling, 1);
      expect((await limit.allowed('192.0.2.7', 'admin')).ok).to.equal(false);
      expect((await limit.allowed('192.0.2.7', spelling)).ok).to.equal(false);
      expect((await limit.allowed('192.0.2.7', 'admin2')).ok).to.equal(true);
    });
  }

  for (const [one, other] of [
    ['Jürgen', 'juergen'],
    ['Weiß', 'weiss'],
    ['editor', '€ditor'],
    ['Ærø', 'aero'],
    ['user1', 'user١'],
    ['user1', 'user१'],
    ['Мария', 'мария'],
  ] as const) {
    it(`counts ${one} and ${other} together, however it is spelled`, async () => {
      await fail(AWAY, one, 3);
      expect((await limit.allowed(HOME, other)).ok).to.equal(false);
    });
  }

  it('counts wider networks of IPv6 as well: four times as much a /56, 16 times a /48', async () => {
    const many = createLoginLimit({ ...options, failedLoginsPerUser: 1e6 });
    let user = 0;
    const guesses = async (networks: string[]) => {
      let asked = 0;
      for (const network of networks) {
        for (let n = 0; n < 5; n += 1) {
          user += 1;
          if (!(await many.allowed(`${network}::1`, `user${user}`)).ok) continue;
          asked += 1;
          await many.failed(`${network}::1`, `user${user}`);
        }
      }
      return asked;
    };
    const within56 = Array.from({ length: 20 }, (_, n) => `2001:db8:1:${n.toString(16)}`);
    const within48 = Array.from({ length: 40 }, (_, n) => `2001:db8:1:${(0x100 * (n + 1)).toString(16)}`);
    expect(await guesses(within56)).to.equal(20);
    expect(await guesses(within48)).to.equal(60);
    expect(await guesses(['2001:db8:2:0'])).to.equal(5);
  });

  it('slows guesses at many users from one address', async () => {
    for (let one = 1; one <= 5; one += 1) await fail(AWAY, `user${one}`, 1);
    expect((await limit.allowed(AWAY, 'user6')).ok).to.equal(false);
    expect((await limit.allowed(`::ffff:${AWAY}`, 'user6')).ok).to.equal(false);
    expect((await limit.allowed(HOME, 'user6')).ok).to.equal(true);
  });

  it('counts attempts that are under way: many at once gain nothing', async () => {
    const many = await Promise.all(Array.from({ length: 100 }, () => limit.allowed(AWAY, 'admin')));
    expect(many.filter((one) => one.ok).length).to.equal(3);
    let more = 0;
    for (let one = 0; one < 100; one += 1) if ((await limit.allowed(HOME, 'editor')).ok) more += 1;
    expect(more).to.equal(3);
  });

  it('does not hold refused attempts against those that come later', async () => {
    await Promise.all(Array.from({ length: 100 }, () => limit.allowed(AWAY, 'admin')));
    for (let one = 0; one < 3; one += 1) await limit.succeeded(AWAY, 'admin');
    expect(await ok(AWAY, 'admin')).to.equal(true);
    expect(await ok(HOME, 'admin')).to.equal(true);
  });

  it('does not count what the CMS never answered', async () => {
    for (let one = 0; one < 20; one += 1) {
      expect((await limit.allowed(AWAY, 'admin')).ok).to.equal(true);
      await limit.unanswered(AWAY, 'admin');
    }
  });

  it('lets a success end the count of who succeeded', async () => {
    await fail(HOME, 'admin', 2);
    await limit.allowed(HOME, 'admin');
    await limit.succeeded(HOME, 'admin');
    await fail(HOME, 'admin', 2);
    expect(await ok(HOME, 'admin')).to.equal(true);
  });

  it('does not lock out who logged in from their own address, whatever others try', async () => {
    await limit.allowed(HOME, 'admin');
    await limit.succeeded(HOME, 'admin');
    await fail(AWAY, 'admin', 3);
    await fail(HOME, 'editor', 5);
    expect((await limit.allowed(AWAY, 'admin')).ok).to.equal(false);
    expect((await limit.allowed(HOME, 'editor')).ok).to.equal(false);
    expect(await ok(HOME, 'admin')).to.equal(true);
  });

  it('gives guessers no new start when the user logs in elsewhere, or when they log in as themselves', async () => {
    await limit.allowed(HOME, 'admin');
    await limit.succeeded(HOME, 'admin');
    await fail(AWAY, 'admin', 3);
    await limit.allowed(HOME, 'admin');
    await limit.succeeded(HOME, 'admin');
    expect((await limit.allowed(AWAY, 'admin')).ok).to.equal(false);
    await limit.succeeded(AWAY, 'mallory');
    expect((await limit.allowed(AWAY, 'admin')).ok).to.equal(false);
  });

  it('slows even a known user who fails again and again', async () => {
    await limit.allowed(HOME, 'admin');
    await limit.succeeded(HOME, 'admin');
    await fail(HOME, 'admin', 3);
    expect((await limit.allowed(HOME, 'admin')).ok).to.equal(false);
  });
});
