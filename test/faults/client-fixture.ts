// A CMS client in front of a stub CMS, behind a proxy that disturbs the connections.

import { expect } from 'chai';
import { type CmsClient, type CmsClientLimits, createCmsClient } from '../../src/cms/client.ts';
import { CmsUnavailable } from '../../src/errors.ts';
import type { Observation } from '../../src/observability/observations.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { type StubCms, startStubCms } from './stub-cms.ts';

export const SECRET = 'Basic c2VjcmV0LXVzZXI6c2VjcmV0LXBhc3M=';

/** Starts all three before each test of the suite. Afterwards, no error was lost and no secret observed. */
export function clientFixture() {
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);

  const fixture = {
    cms: undefined as unknown as StubCms,
    proxy: undefined as unknown as FaultProxy,
    client: undefined as unknown as CmsClient,
    observed: [] as Observation[],

    /** Replaces the client. */
    async fresh(limits?: Partial<CmsClientLimits>): Promise<void> {
      await fixture.client?.close();
      fixture.client = createCmsClient({
        url: fixture.proxy.url,
        observe: (observation) => fixture.observed.push(observation),
        limits: { headersTimeoutMs: 300, deadlineMs: 600, retryDelayMs: 1, retries: 0, ...limits },
      });
    },

    /** The error of a call that must fail. */
    async failure(method: 'GET' | 'OPTIONS' | 'POST' = 'GET'): Promise<CmsUnavailable> {
      const call = fixture.client.request({
        method,
        path: '/x',
        query: { search: 'private-words' },
        credentials: SECRET,
        ...(method === 'POST' ? { json: {} } : {}),
      });
      const error = await call.then(
        () => expect.fail('the call should have failed'),
        (thrown: unknown) => thrown,
      );
      if (!(error instanceof CmsUnavailable)) throw error;
      return error;
    },
  };

  before(() => {
    process.on('uncaughtException', note);
    process.on('unhandledRejection', note);
  });
  beforeEach(async () => {
    fixture.observed = [];
    fixture.cms = await startStubCms();
    fixture.proxy = await startFaultProxy(fixture.cms.url);
    await fixture.fresh();
  });
  afterEach(async () => {
    await fixture.client.close();
    await fixture.proxy.close();
    await fixture.cms.close();
    expect(JSON.stringify(fixture.observed)).to.not.contain('c2VjcmV0').and.not.contain('private-words');
  });
  after(() => {
    process.off('uncaughtException', note);
    process.off('unhandledRejection', note);
    expect(uncaught).to.deep.equal([]);
  });

  return fixture;
}
