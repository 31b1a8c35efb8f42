// A site whose ids are texts: what the gateway says when the numbers of its records would be forgotten.

import { expect } from 'chai';
import { loadConfig } from '../../../src/config.ts';
import { openCms } from '../../../src/gateway.ts';
import { loadMapping } from '../../../src/mapping/load.ts';
import type { Observation } from '../../../src/observability/observations.ts';
import { startFakePayload } from '../../cli/fake-payload.ts';

describe('ids of Payload that are texts', () => {
  const observedWith = async (ids: readonly unknown[]): Promise<Observation[]> => {
    const docs = ids.map((id) => ({ id, title: 'A', _status: 'published', updatedAt: '2033-01-01T00:00:00.000Z' }));
    const site = await startFakePayload({ collections: { events: { fields: ['title', 'workflow'], docs } } });
    const observed: Observation[] = [];
    const mapping = loadMapping('payload');
    const config = loadConfig({ env: { CALENDAR_UPSTREAM_URL: site.url, CALENDAR_MAPPING: 'payload' } });
    const { cms } = openCms(config, mapping, (event) => void observed.push(event));
    try {
      await cms.list(mapping.kinds.event, { view: 'public' });
      return observed.filter((event) => event.type === 'message');
    } finally {
      await cms.close();
      await site.close();
    }
  };

  it('are warned of once without a data directory', async () => {
    const observed = await observedWith(['0b9f5c1e-7a53-4e0c-9d5e-2f9b8a6d1c11', 'a2c4']);
    expect(observed).to.have.length(1);
    expect(observed[0])
      .to.include({ level: 'warn' })
      .and.to.have.property('message')
      .that.includes('CALENDAR_DATA_DIR');
  });

  it('are not mentioned on a site that counts its records', async () => {
    expect(await observedWith([1, 2])).to.deep.equal([]);
  });
});
