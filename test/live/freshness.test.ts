// Changes in WordPress become visible through the gateway, by polling and by webhook; replicas finally equal
// the site.

import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { until } from '../until.ts';
import { CHANGES } from './changes.ts';
import { adminUrl, calendar, dataDir, request, siteUrl, users } from './environment.ts';
import { formatTable, type LatencyMeasurement, SYNC_MODES, startMeasurement } from './sync-latency.ts';

interface Event {
  id: number;
  title: string;
}
type Listed = { events: Event[]; total: number };

const wp = `${siteUrl}/wp-json/wp/v2`;
const DATES = { start_date: '2033-03-04 10:00:00', end_date: '2033-03-04 12:00:00' };
const onTheDay = `${calendar}/events?start_date=2033-03-04&end_date=2033-03-04&per_page=50`;
const log = (text: string): void => void process.stderr.write(`live: ${text}\n`);

async function make(title: string, more: object = {}): Promise<Event> {
  const { status, body } = await request<Event>(`${calendar}/events`, {
    as: 'admin',
    method: 'POST',
    json: { title, ...DATES, ...more },
  });
  expect(status).to.equal(201);
  return body;
}

const listed = async (id: number): Promise<Event | undefined> =>
  (await request<Listed>(onTheDay)).body.events.find((event) => event.id === id);

describe('a write through the gateway', () => {
  it('is visible in the next single read, list and count', async () => {
    for (let run = 0; run < 10; run++) {
      const { id } = await make(`Run ${run}`);
      expect(await listed(id)).to.include({ title: `Run ${run}` });
      await request(`${calendar}/events/${id}`, { as: 'editor', method: 'PATCH', json: { title: `Turned ${run}` } });
      expect((await request<Event>(`${calendar}/events/${id}`)).body.title).to.equal(`Turned ${run}`);
      expect(await listed(id)).to.include({ title: `Turned ${run}` });
      await request(`${calendar}/events/${id}`, { as: 'editor', method: 'DELETE' });
      expect(await listed(id)).to.equal(undefined);
    }
  });

  it('is an ordinary post in WordPress and can be edited there', async () => {
    const { id } = await make('Seen in WordPress');
    const { status, body } = await request<{ title: { raw: string }; meta: { start_date: string } }>(
      `${wp}/events/${id}?context=edit`,
      { as: 'editor' },
    );
    expect(status).to.equal(200);
    expect(body.title.raw).to.equal('Seen in WordPress');
    expect(body.meta.start_date).to.equal(DATES.start_date);
  });
});

describe('a slug that WordPress keeps for no record', () => {
  it('finds no draft, and deletes none', async () => {
    const { id } = await make('A draft without a slug', { status: 'draft' });
    for (const slug of ['%25', '!', '-', '--', '%3Cb%3E']) {
      const address = `${calendar}/events/by-slug/${slug}`;
      expect((await request(address, { as: 'admin' })).status, slug).to.equal(400);
      expect((await request(address, { as: 'admin', method: 'DELETE' })).status, slug).to.equal(400);
    }
    expect((await request<Event>(`${calendar}/events/${id}`, { as: 'admin' })).body).to.include({ status: 'draft' });
    await request(`${wp}/events/${id}?force=true`, { as: 'admin', method: 'DELETE' });
  });
});

describe('a change made in WordPress', () => {
  it('is visible immediately to a request with no-cache', async () => {
    const { id } = await make('First title');
    await request(`${wp}/events/${id}`, { as: 'editor', method: 'POST', json: { title: 'Second title' } });
    const { body } = await request<Event>(`${calendar}/events/${id}`, { headers: { 'cache-control': 'no-cache' } });
    expect(body.title).to.equal('Second title');
  });

  it('is visible immediately after a signed webhook', async () => {
    const { id } = await make('Before the webhook');
    await request(`${wp}/events/${id}`, { as: 'editor', method: 'POST', json: { title: 'Changed by webhook' } });
    const body = JSON.stringify({ kind: 'changes', changes: [{ collection: 'events', id }] });
    const time = Math.floor(Date.now() / 1000);
    const signature = `t=${time},v1=${createHmac('sha256', 'live-suite').update(`${time}.${body}`).digest('hex')}`;
    const headers = { 'x-calendar-signature': signature };
    const response = await fetch(`${adminUrl}/-/changes`, { method: 'POST', body, headers });
    expect(response.status).to.equal(202);
    await until(async () => (await listed(id))?.title === 'Changed by webhook', 'the change is listed', 5000);
  });

  describe('of every kind, with polling, webhooks and skewed clocks', () => {
    let measuring: LatencyMeasurement;
    before(async () => {
      measuring = await startMeasurement({ url: siteUrl, dataDir, credentials: users });
    });
    after(async () => {
      process.stderr.write(`${formatTable(measuring.rows)}\n`);
      await measuring.close();
    });

    for (const change of CHANGES) {
      it(`is visible: ${change.kind}`, async () => {
        const { latencyMs } = await measuring.measure(change);
        const modes = { scan: ['polling', 'webhook'], 'scan, no webhook': ['polling'] } as const;
        for (const mode of change.visibleAfter ? modes[change.visibleAfter] : SYNC_MODES)
          expect(latencyMs[mode], mode).to.be.finite;
      });
    }

    it('costs one call per collection and one for the media if nothing changed', async () => {
      const { requests, sentBytes, receivedBytes } = await measuring.idlePoll();
      log(`an idle poll: ${requests} requests, ${sentBytes} bytes sent, ${receivedBytes} bytes received`);
      expect(requests).to.be.at.most(6);
    });

    it('is finally in every replica: each equals the site, record by record', async () => {
      const differing = await measuring.differences();
      expect(differing).to.deep.equal({ webhook: [], scan: [], ahead: [], behind: [] });
    }).timeout(200_000);

    it('is not lost during an initial sync', async () => {
      const { changes, records, differences } = await measuring.initialSyncDuringChanges();
      log(`an initial sync of ${records} records during ${changes} changes`);
      expect(differences).to.deep.equal([]);
      expect(changes).to.be.greaterThan(0);
    });

    it('does not make its editor wait for the gateway', async () => {
      const waits = await measuring.editorLatency();
      const lines = Object.entries(waits).map(([name, ms]) => `${Math.round(ms)} ms if the webhook is ${name}`);
      log(`a save takes ${lines.join(', ')}`);
      // WordPress's non-blocking request waits a second.
      for (const [name, ms] of Object.entries(waits)) expect(ms, name).to.be.below((waits['not sent'] ?? 0) + 600);
    });
  });
});
