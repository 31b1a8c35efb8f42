// The header `Allow` of responses that have no record: of an event in the trash nobody gets one.

import { expect } from 'chai';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { startGateway } from '../start-gateway.ts';

const NOW = Date.UTC(2027, 0, 1);

it('Allow of an event in the trash names all methods for those who edit the events of others', async () => {
  const cms = createFakeCms(() => NOW);
  const meta = { start_date: '2027-02-01 10:00:00', end_date: '2027-02-01 11:00:00' };
  const { id } = cms.createPost('events', { title: 'Leaves', status: 'trash', meta });
  const gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS, nowMs: () => NOW });
  for (const [as, methods] of [
    ['editor', 'GET, DELETE, POST, PUT, PATCH'],
    ['contributor', 'GET'],
    [undefined, 'GET'],
  ] as const) {
    const { status, headers } = await gateway.request(`/events/${id}`, as === undefined ? {} : { as });
    expect([status, headers.allow], as).to.deep.equal([403, methods]);
  }
  await gateway.stop();
});
