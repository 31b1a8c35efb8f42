// A lookup of a record whose route the CMS lacks.

import { expect } from 'chai';
import { CmsRejected } from '../../src/errors.ts';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { startGateway } from '../start-gateway.ts';

const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };

describe('a lookup whose route the CMS lacks', () => {
  const withoutRoutes = async (path: string, request: object) => {
    const cms = createFakeCms(() => Date.UTC(2027, 0, 1));
    const gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS });
    try {
      const missing = async (): Promise<never> => {
        throw new CmsRejected('no-collection', 'The CMS has no route GET /wp/v2/venues.');
      };
      Object.assign(cms, { read: missing, list: missing });
      return await gateway.request(path, request);
    } finally {
      await gateway.stop();
    }
  };

  it('is 503 for a venue id in an event', async () => {
    const json = { title: 'Party', ...times, venue: 12 };
    expect(await withoutRoutes('/events', { method: 'POST', as: 'admin', json })).to.include({ status: 503 });
  });

  it('is 503 for a slug', async () => {
    expect(await withoutRoutes('/venues/by-slug/hall', {})).to.include({ status: 503 });
  });
});
