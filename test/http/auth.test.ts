// Authentication: cached results, the login limit by account, and malformed credentials.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ANONYMOUS } from '../../src/calendar/request.ts';
import type { CallOptions } from '../../src/cms/port.ts';
import { readLogin } from '../../src/cms/wordpress/wordpress.ts';
import { ApiError, CmsRejected } from '../../src/errors.ts';
import { Authenticator } from '../../src/http/auth.ts';
import { LoginLimit } from '../../src/http/login-limit.ts';
import { basic } from '../faults/fake-wordpress.ts';

const MANY = { failedLoginsPerAddress: 1e6, failedLoginsPerUser: 1e6, failedLoginWindowS: 300 };

describe('a rejected login', () => {
  const { now } = performance;
  let passedMs: number;
  let requested: number;
  let identity: Authenticator;
  beforeEach(() => {
    [passedMs, requested] = [0, 0];
    performance.now = () => now.call(performance) + passedMs;
    const account = async () => {
      requested += 1;
      throw new CmsRejected('unauthenticated', 'No.');
    };
    identity = new Authenticator({ account, readLogin }, new LoginLimit(MANY));
  });
  afterEach(() => {
    performance.now = now;
  });

  async function guess(password: string): Promise<void> {
    const request = {
      authorization: basic('editor', password),
      nonce: undefined,
      address: '203.0.113.1',
      isRead: true,
    };
    const refused = await identity.authenticate(request).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(ApiError).and.to.include({ status: 401 });
  }

  async function pass(ms: number): Promise<void> {
    passedMs += ms;
    // The cache reads its clock at most once per millisecond.
    await sleep(5);
  }

  it('reaches the CMS once in five seconds', async () => {
    await guess('one');
    await pass(4000);
    await guess('one');
    expect(requested).to.equal(1);
    await pass(1500);
    await guess('one');
    expect(requested).to.equal(2);
  });
});

describe('accepted credentials', () => {
  it('are kept for a minute from when the CMS was asked, however late it answers', async () => {
    let nowMs = 0;
    let asked = 0;
    async function setTo(ms: number): Promise<void> {
      nowMs = ms;
      // The cache reads its clock at most once per millisecond.
      await sleep(5);
    }
    const account = async () => {
      asked += 1;
      await setTo(nowMs + 14_000);
      return { userId: 1, roles: [], permissions: new Set<string>(), mayUpload: false };
    };
    const identity = new Authenticator({ account, readLogin }, new LoginLimit(MANY), () => nowMs);
    const login = { authorization: basic('editor', 'right'), nonce: undefined, address: '203.0.113.1', isRead: true };
    await identity.authenticate(login);
    await setTo(59_000);
    await identity.authenticate(login);
    expect(asked).to.equal(1);
    await setTo(61_000);
    await identity.authenticate(login);
    expect(asked).to.equal(2);
  });
});

describe('credentials', () => {
  const RIGHT = basic('editor', 'right');
  let calls: CallOptions[];
  let limit: LoginLimit;
  let identity: Authenticator;
  beforeEach(() => {
    calls = [];
    limit = new LoginLimit(MANY);
    const account = async (options: CallOptions) => {
      calls.push(options);
      if (options.credentials !== RIGHT) throw new CmsRejected('unauthenticated', 'No.');
      return { userId: 1, roles: [], permissions: new Set<string>(), mayUpload: false };
    };
    identity = new Authenticator({ account, readLogin }, limit);
  });
  const received = (authorization: string, address = '203.0.113.1', isRead = true) =>
    identity.authenticate({ authorization, nonce: undefined, address, isRead }).catch((error: unknown) => error);
  const encoded = (text: string | Buffer) => Buffer.from(text).toString('base64');

  for (const [what, authorization] of Object.entries({
    'letters of another alphabet': 'Basic ----YWRtaW46Z3Vlc3M=',
    'letters of the alphabet for URLs': `Basic ${encoded('admin:guess>>>>???').replaceAll('+', '-').replaceAll('/', '_')}`,
    'no padding': 'Basic YWRtaW46Z3Vlc3M',
    'too much padding': 'Basic YWRtaW46Z3Vlc3M==',
    'padding in between': 'Basic YWRt=aW46Z3Vlc3M=',
    'blanks in between': 'Basic YWRt aW46Z3Vlc3M=',
    'bits that are left over': 'Basic YWRtaW46Z3Vlc3N=',
    'a tag in the name': `Basic ${encoded('admin<b>:guess')}`,
    'a control character in the name': `Basic ${encoded('admin\0:guess')}`,
    'a line break in the name': `Basic ${encoded('admin\n:guess')}`,
    'a name that is not UTF-8': `Basic ${encoded(Buffer.from([0xe4, 0x64, 0x6d, 0x69, 0x6e, 0x3a, 0x78]))}`,
    'a name beyond all bounds': `Basic ${encoded(`${'%00'.repeat(1000)}admin:guess`)}`,
  })) {
    it(`are rejected without a CMS call: ${what}`, async () => {
      expect(await received(authorization)).to.include({ status: 401, code: 'incorrect_password' });
      expect(calls).to.deep.equal([]);
    });
  }

  it('are ignored if WordPress would ignore them', () => {
    for (const header of ['Bearer', 'Basic', 'Basic !!', 'Basic ====', `Basic ${encoded('admin')}`, 'Basic Og=='])
      expect(readLogin(header), header).to.equal(undefined);
    expect(readLogin(RIGHT)).to.deep.equal({ kind: 'password', user: 'editor' });
    expect(readLogin(`basic  ${encoded('müller: x')}`)).to.deep.equal({ kind: 'password', user: 'müller' });
    expect(readLogin(`Basic ${encoded(':x')}`)).to.deep.equal({ kind: 'password', user: '' });
    expect(readLogin('Bearer x')).to.deep.equal({ kind: 'token' });
  });

  describe('of another scheme', () => {
    const TOKEN = 'Bearer accepted';
    let ofSubscriber: CallOptions[];
    let passedMs: number;
    beforeEach(() => {
      [ofSubscriber, passedMs] = [[], 1];
      const account = async (options: CallOptions) => {
        ofSubscriber.push(options);
        if (options.credentials?.startsWith('Bearer ignored')) throw new CmsRejected('unknown-scheme', 'No.');
        if (options.credentials === RIGHT)
          return { userId: 1, roles: [], permissions: new Set<string>(), mayUpload: false };
        if (options.credentials !== TOKEN) throw new CmsRejected('forbidden', 'Expired token');
        return { userId: 7, roles: [], permissions: new Set<string>(), mayUpload: false };
      };
      limit = new LoginLimit({ ...MANY, failedLoginsPerAddress: 3 });
      const cms = { account, readLogin };
      identity = new Authenticator(cms, limit, () => passedMs);
    });

    it('are those of the account that the CMS names', async () => {
      expect(await received(TOKEN))
        .to.deep.include({ credentials: TOKEN })
        .and.to.have.nested.property('account.userId', 7);
    });

    it('are 401 if the CMS rejects them', async () => {
      expect(await received('Bearer expired')).to.include({ status: 401 });
    });

    it('make an anonymous caller only if the CMS ignores them, which it is asked once', async () => {
      for (let n = 0; n < 10; n += 1)
        expect(await received('Bearer ignored')).to.deep.equal({ ...ANONYMOUS, network: '203.0.113.1' });
      expect(ofSubscriber).to.have.length(1);
    });

    it('reach the CMS no more often than the login limit of the address allows', async () => {
      const statuses = [];
      for (let n = 0; n < 5; n += 1) statuses.push(((await received(`Bearer guess ${n}`)) as ApiError).status);
      expect(statuses).to.deep.equal([401, 401, 401, 429, 429]);
    });

    describe('that the CMS ignores', () => {
      const anonymous = { ...ANONYMOUS, network: '203.0.113.1' };
      const statusOf = async (...request: Parameters<typeof received>) =>
        ((await received(...request)) as ApiError).status;
      async function pass(ms: number): Promise<void> {
        passedMs += ms;
        // The cache reads its clock at most once per millisecond.
        await sleep(5);
      }
      const ignore = async (from: number, count: number) => {
        for (let n = from; n < from + count; n += 1)
          expect(await received(`Bearer ignored ${n}`)).to.deep.equal(anonymous);
      };

      it('never block public reads, and reach the CMS no more often than the login limit allows', async () => {
        await ignore(0, 50);
        expect(ofSubscriber).to.have.length(3);
      });

      it('block writes by another token, which the CMS is not asked about', async () => {
        await ignore(0, 3);
        expect(await received('Bearer ignored write', undefined, false)).to.include({
          status: 429,
          code: 'rest_too_many_logins',
        });
        expect(ofSubscriber).to.have.length(3);
      });

      it('leave the logins by password from the address as they are: allowed, and with the same limit', async () => {
        await ignore(0, 50);
        expect(await received(RIGHT)).to.have.nested.property('account.userId', 1);
        const statuses = [];
        for (let n = 0; n < 5; n += 1) statuses.push(await statusOf(basic(`user${n}`, 'wrong')));
        expect(statuses).to.deep.equal([401, 401, 401, 429, 429]);
      });

      it('do not reset what failed logins have counted', async () => {
        for (let n = 0; n < 2; n += 1) expect(await statusOf(basic(`user${n}`, 'wrong'))).to.equal(401);
        await ignore(0, 50);
        expect(await statusOf(basic('user3', 'wrong'))).to.equal(401);
        expect(await statusOf(basic('user4', 'wrong'))).to.equal(429);
        expect(await statusOf('Bearer ignored after these')).to.equal(429);
      });

      it('do not lock out a token that was accepted from the address', async () => {
        await received(TOKEN);
        await ignore(0, 50);
        await pass(61_000);
        expect(await received(TOKEN)).to.have.nested.property('account.userId', 7);
        expect(ofSubscriber).to.have.length(5);
      });

      it('are asked about again after a minute: they may be accepted by then', async () => {
        await ignore(0, 1);
        await pass(59_000);
        await ignore(0, 1);
        expect(ofSubscriber).to.have.length(1);
        await pass(2_000);
        await ignore(0, 1);
        expect(ofSubscriber).to.have.length(2);
      });
    });
  });

  it('have their own bulkhead if they are new from an address', async () => {
    await received(basic('editor', 'wrong'));
    await received(RIGHT);
    await received(basic('editor', 'another'));
    await received(basic('editor', 'third'), '203.0.113.2');
    expect(calls.map(({ bulkhead }) => bulkhead)).to.deep.equal(['logins', 'logins', 'callers', 'logins']);
  });

  it('get the same response if the login limit cannot store a failure', async () => {
    const unhandled: unknown[] = [];
    const listeners = process.listeners('unhandledRejection');
    const listen = (error: unknown) => void unhandled.push(error);
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', listen);
    try {
      const failing = async () => {
        throw new Error('no count');
      };
      const logins: Pick<LoginLimit, 'start'> = { start: async () => ({ isTrusted: false, end: failing }) };
      const account = async () => {
        throw new CmsRejected('unauthenticated', 'No.');
      };
      identity = new Authenticator({ account, readLogin }, logins);
      expect(await received(basic('editor', 'wrong'))).to.include({ status: 401 });
      await sleep(5);
      expect(unhandled).to.deep.equal([]);
    } finally {
      process.off('unhandledRejection', listen);
      for (const item of listeners) process.on('unhandledRejection', item);
    }
  });
});
