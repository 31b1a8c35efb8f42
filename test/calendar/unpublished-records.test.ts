// The databases with the unpublished records of callers: a few at a time, each for one caller.

import { expect } from 'chai';
import type { CallContext } from '../../src/calendar/request.ts';
import { MAX_UNPUBLISHED_DATABASES } from '../../src/calendar/unpublished-records.ts';
import { ApiError, CmsUnavailable } from '../../src/errors.ts';
import type { CallerDatabase } from '../../src/store/caller-database.ts';
import { CREDENTIALS, type FakeCms } from '../cms/fake-cms.ts';
import type { TestGateway } from '../start-gateway.ts';
import { seededGateway } from './seeded-gateway.ts';

const callerWith = (userId: number): CallContext => ({
  actor: { credentials: CREDENTIALS.admin, account: { userId, roles: [], permissions: new Set(), mayUpload: false } },
});

describe('the unpublished records of callers', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await seededGateway();
  });
  afterEach(() => gateway.stop());

  const use = <T>(userId: number, work: (records: CallerDatabase) => Promise<T>): Promise<T> =>
    gateway.services.unpublishedRecords.use(callerWith(userId), {}, ({ records }) => work(records));
  const databaseOf = (userId: number): Promise<string> => use(userId, async ({ callerSchema }) => callerSchema);

  it('have a database for each caller, and one that no request uses makes room for another caller', async () => {
    const first = await databaseOf(1);
    expect(await databaseOf(1)).to.equal(first);
    for (let userId = 2; userId <= 3 * MAX_UNPUBLISHED_DATABASES; userId += 1) await databaseOf(userId);
  });

  it('are refused to a caller while requests of others use all databases', async () => {
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const inUse = Array.from({ length: MAX_UNPUBLISHED_DATABASES }, (_, n) => use(n, () => end));
    const refused = await databaseOf(100).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(CmsUnavailable).with.property('reason', 'busy');
    resolve();
    await Promise.all(inUse);
    expect(await databaseOf(100)).to.match(/^caller\d$/);
  });

  it('are read again after the CMS failed', async () => {
    const cms = gateway.cms as FakeCms;
    const drafts = { event: [{ statuses: ['draft'] }] };
    const read = () => gateway.services.unpublishedRecords.use(callerWith(1), drafts, async () => 'read');
    const { list } = cms;
    cms.list = async () => {
      throw new CmsUnavailable('reset', 'away');
    };
    expect(await read().catch((error: unknown) => error)).to.be.instanceOf(CmsUnavailable);
    cms.list = list;
    expect(await read()).to.equal('read');
  });

  it('are kept after an error of the response, such as 404 for a page after the last one', async () => {
    const cms = gateway.cms as FakeCms;
    const { list } = cms;
    let calls = 0;
    cms.list = (...request) => {
      calls += 1;
      return list.apply(cms, request);
    };
    const pageNotFound = async () => {
      throw new ApiError(404, 'event-archive-page-not-found', 'No such page.');
    };
    const drafts = { event: [{ statuses: ['draft'] }] };
    for (let n = 0; n < 3; n += 1) {
      const response = gateway.services.unpublishedRecords.use(callerWith(1), drafts, pageNotFound);
      expect(await response.catch((error: unknown) => error)).to.be.instanceOf(ApiError);
    }
    expect(calls).to.equal(1);
  });
});
