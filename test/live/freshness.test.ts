// A change made in WordPress shows through the gateway, by polling and at once with a notice; the copies equal the site in the end; own writes show always.

import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { CHANGES } from './changes.ts';
import { type Measuring, startMeasuring, tableOf, WAYS } from './measuring.ts';
import { adminUrl, ask, calendar, dataDir, siteUrl, until, users } from './site.ts';

interface Event {
  id: number;
  title: string;
}
type Listed = { events: Event[]; total: number };

const wp = `${siteUrl}/wp-json/wp/v2`;
const DATES = { start_date: '2033-03-04 10:00:00', end_date: '2033-03-04 12:00:00' };
const onTheDay = `${calendar}/events?start_date=2033-03-04&end_date=2033-03-04&per_page=50`;
const say = (text: string): void => void process.stderr.write(`live: ${text}\n`);

async function make(title: string, more: object = {}): Promise<Event> {
  const { status, body } = await ask<Event>(`${calendar}/events`, {
    as: 'admin',
    method: 'POST',
    json: { title, ...DATES, ...more },
  });
  expect(status).to.equal(201);
  return body;
}

const listed = async (id: number): Promise<Event | undefined> =>
  (await ask<Listed>(onTheDay)).body.events.find((event) => event.id === id);

describe('a write through the gateway', () => {
  it('shows in the next read, in single reads, lists and counts', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await make(`Round ${round}`);
      expect(await listed(id)).to.include({ title: `Round ${round}` });
      await ask(`${calendar}/events/${id}`, { as: 'editor', method: 'PATCH', json: { title: `Turned ${round}` } });
      expect((await ask<Event>(`${calendar}/events/${id}`)).body.title).to.equal(`Turned ${round}`);
      expect(await listed(id)).to.include({ title: `Turned ${round}` });
      await ask(`${calendar}/events/${id}`, { as: 'editor', method: 'DELETE' });
      expect(await listed(id)).to.equal(undefined);
    }
  });

  it('is an ordinary post in WordPress, to be edited there', async () => {
    const { id } = await make('Seen in WordPress');
    const { status, body } = await ask<{ title: { raw: string }; meta: { start_date: string } }>(
      `${wp}/events/${id}?context=edit`,
      { as: 'editor' },
    );
    expect(status).to.equal(200);
    expect(body.title.raw).to.equal('Seen in WordPress');
    expect(body.meta.start_date).to.equal(DATES.start_date);
  });
});

describe('a change made in WordPress', () => {
  it('shows at once to a request that says no-cache', async () => {
    const { id } = await make('Looked for');
    await ask(`${wp}/events/${id}`, { as: 'editor', method: 'POST', json: { title: 'Looked for and found' } });
    const { body } = await ask<Event>(`${calendar}/events/${id}`, { headers: { 'cache-control': 'no-cache' } });
    expect(body.title).to.equal('Looked for and found');
  });

  it('shows at once with a change notice that somebody else signed', async () => {
    const { id } = await make('Noticed');
    await ask(`${wp}/events/${id}`, { as: 'editor', method: 'POST', json: { title: 'Noticed and changed' } });
    const body = JSON.stringify({ kind: 'changes', changes: [{ collection: 'events', id }] });
    const time = Math.floor(Date.now() / 1000);
    const signature = `t=${time},v1=${createHmac('sha256', 'live-suite').update(`${time}.${body}`).digest('hex')}`;
    const headers = { 'x-calendar-signature': signature };
    const answer = await fetch(`${adminUrl}/-/changes`, { method: 'POST', body, headers });
    expect(answer.status).to.equal(202);
    await until(async () => (await listed(id))?.title === 'Noticed and changed', 5000);
  });

  describe('of every kind, in front of gateways that poll, are told, and have another clock', () => {
    let measuring: Measuring;
    before(async () => {
      measuring = await startMeasuring({ url: siteUrl, dataDir, credentials: users });
    });
    after(async () => {
      process.stderr.write(`${tableOf(measuring.rows)}\n`);
      await measuring.close();
    });

    for (const change of CHANGES) {
      it(`shows: ${change.kind}`, async () => {
        const { tookMs } = await measuring.measure(change);
        const seen = { pass: ['polling', 'notice'], 'pass, no notice': ['polling'] } as const;
        for (const way of change.seen ? seen[change.seen] : WAYS) expect(tookMs[way], way).to.be.finite;
      });
    }

    it('costs one request a collection, and one for the media, where nothing changed', async () => {
      const { requests, sentBytes, receivedBytes } = await measuring.idleRound();
      say(`an idle round: ${requests} requests, ${sentBytes} bytes sent, ${receivedBytes} bytes received`);
      expect(requests).to.be.at.most(6);
    });

    it('is in every copy in the end: record by record, the copies equal the site', async () => {
      const found = await measuring.differences();
      expect(found).to.deep.equal({ notice: [], pass: [], ahead: [], behind: [] });
    }).timeout(200_000);

    it('is not lost in the middle of a first copy', async () => {
      const { changes, records, differences } = await measuring.firstCopyAmidChanges();
      say(`a first copy of ${records} records amid ${changes} changes`);
      expect(differences).to.deep.equal([]);
      expect(changes).to.be.greaterThan(0);
    });

    it('does not keep its editor waiting for the gateway', async () => {
      const waits = await measuring.editorWaits();
      const told = Object.entries(waits).map(([name, ms]) => `${Math.round(ms)} ms where the notice is ${name}`);
      say(`a save takes ${told.join(', ')}`);
      // WordPress's own way of not waiting waits a second.
      for (const [name, ms] of Object.entries(waits)) expect(ms, name).to.be.below((waits['not sent'] ?? 0) + 600);
    });
  });
});
