// Another gateway as a source: its events with what it adds to the original, and its ETags.

import { expect } from 'chai';
import { createEventsSource } from '../../../src/cms/sources/events-api.ts';
import { MOUNT, startGateway, type TestGateway } from '../../start-gateway.ts';
import { CREDENTIALS } from '../fake-accounts.ts';
import { createFakeCms } from '../fake-cms.ts';

const NOW_MS = Date.UTC(2026, 10, 28);

describe('another gateway as a source', () => {
  const cms = createFakeCms(() => NOW_MS);
  let gateway: TestGateway;
  let address: string;
  before(async () => {
    gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS, nowMs: () => NOW_MS });
    for (let index = 0; index < 60; index += 1) {
      const day = `2027-0${1 + Math.floor(index / 28)}-${String(1 + (index % 28)).padStart(2, '0')}`;
      const json = { title: `R&D "${index}"`, start_date: `${day} 10:00:00`, end_date: `${day} 12:00:00` };
      const state = index === 7 ? { event_status: 'cancelled', event_status_reason: 'Storm' } : {};
      await gateway.request('/events', { as: 'admin', method: 'POST', json: { ...json, ...state } });
    }
    address = (await gateway.listen()).url + MOUNT;
  });
  after(() => gateway.stop());

  const read = (previous?: object) => {
    const reader = createEventsSource(address, { allowPrivate: true, nowMs: () => NOW_MS }, async () => undefined);
    return reader.read(previous, AbortSignal.timeout(30_000));
  };

  it('gives all its events, and afterwards that nothing changed', async () => {
    const first = await read();
    const { body } = await gateway.request('/events?per_page=50&start_date=2026-06-01');
    expect(body.total).to.equal(60);
    expect(first?.remarks).to.deep.equal([]);
    expect(first?.events).to.have.length(60);
    for (const [index, event] of body.events.entries())
      expect(first?.events[index]).to.include({
        key: String(event.id),
        uid: event.global_id,
        title: event.title,
        start: event.start_date,
        startUtc: event.utc_start_date,
        url: event.url,
      });
    expect(first?.events[7]).to.include({ eventStatus: 'cancelled', eventStatusReason: 'Storm' });
    expect(first?.validators.etag?.split('\n')).to.have.length(2);
    expect(await read({ etag: first!.validators.etag })).to.equal(undefined);
  });

  it('gives a change', async () => {
    const first = await read();
    const path = `/events/${first!.events[55]!.key}`;
    await gateway.request(path, { as: 'admin', method: 'PUT', json: { title: 'Moved' } });
    const second = await read(first!.validators);
    expect(second?.events[55]?.title).to.equal('Moved');
  });
});
