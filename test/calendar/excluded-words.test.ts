// A search that only excludes words finds no record that needs a password, whose visible title may have such a word.

import { expect } from 'chai';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { startGateway } from '../start-gateway.ts';

const NOW = Date.UTC(2027, 0, 1);

for (const as of [undefined, 'admin'])
  it(`search=-rock lists no event that needs a password (${as ?? 'visitor'})`, async () => {
    const cms = createFakeCms(() => NOW);
    const meta = { start_date: '2027-02-01 10:00:00', end_date: '2027-02-01 11:00:00' };
    for (const status of ['publish', 'draft'])
      cms.createPost('events', { title: `Rock night ${status}`, password: 'secret', status, meta });
    const jazz = cms.createPost('events', { title: 'Jazz', meta });
    const gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS, nowMs: () => NOW });
    const { body } = await gateway.request('/events?search=-rock', as === undefined ? {} : { as });
    expect(body.events.map((event: { title: string }) => event.title)).to.deep.equal([jazz.title]);
    await gateway.stop();
  });
