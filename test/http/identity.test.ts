// Shows how long it is kept that the CMS refused a login.

import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { GatewayError, UpstreamRefused } from '../../src/errors.ts';
import { createIdentity, type Identity } from '../../src/http/identity.ts';
import { createLoginLimit } from '../../src/http/limits.ts';
import type { Upstream } from '../../src/upstream/port.ts';
import { basic } from '../faults/wordpress.ts';

const MANY = { failedLoginsPerAddress: 1e6, failedLoginsPerUser: 1e6, failedLoginWindowS: 300 };

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe('who calls', () => {
  const { now } = performance;
  let passedMs: number;
  let asked: number;
  let identity: Identity;
  beforeEach(() => {
    [passedMs, asked] = [0, 0];
    performance.now = () => now.call(performance) + passedMs;
    const account = async () => {
      asked += 1;
      throw new UpstreamRefused(401, 'incorrect_password', 'No.');
    };
    identity = createIdentity({ upstream: { account } as unknown as Upstream, logins: createLoginLimit(MANY) });
  });
  afterEach(() => {
    performance.now = now;
  });

  /** Guesses, and holds on to nothing of what it is told. */
  async function guess(password: string): Promise<WeakRef<GatewayError>> {
    const request = { authorization: basic('editor', password), nonce: undefined, address: '203.0.113.1' };
    const refused = await identity.callerOf(request).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(GatewayError).and.to.include({ status: 401 });
    return new WeakRef(refused as GatewayError);
  }

  async function pass(ms: number): Promise<void> {
    passedMs += ms;
    // What keeps them looks at the clock once a millisecond.
    await sleep(5);
  }

  it('is asked of the CMS once in five seconds, where it refused', async () => {
    await guess('one');
    await pass(4000);
    await guess('one');
    expect(asked).to.equal(1);
    await pass(1500);
    await guess('one');
    expect(asked).to.equal(2);
  });

  it('is let go of when that time is over, though nobody asks again', async () => {
    const first = await guess('first');
    await pass(4000);
    await guess('second');
    collect();
    expect(first.deref(), 'within its time').to.not.equal(undefined);
    // It is looked for with another question, once in five seconds.
    await pass(8000);
    await guess('third');
    collect();
    expect(first.deref(), 'after its time').to.equal(undefined);
  });
});
