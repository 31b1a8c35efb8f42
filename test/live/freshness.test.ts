// A change made in WordPress shows through the gateway: within a sync interval by itself, at once with a change notice; own writes always.

import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { adminUrl, ask, calendar, siteUrl, until } from './site.ts';

interface Event {
  id: number;
  title: string;
  slug: string;
  status: string;
  start_date: string;
  venue: { id: number; venue: string } | [];
  categories: { id: number; name: string }[];
}
type Listed = { events: Event[]; total: number };

/** The runner's sync interval is two seconds; one more is allowed. */
const INTERVAL_MS = 3000;
/** Looking at the site takes a moment on a busy machine. */
const LIMIT_MS = INTERVAL_MS + 4000;
const wp = `${siteUrl}/wp-json/wp/v2`;
const DATES = { start_date: '2033-03-04 10:00:00', end_date: '2033-03-04 12:00:00' };
const onTheDay = `${calendar}/events?start_date=2033-03-04&end_date=2033-03-04&per_page=50`;
const lastedMs: Record<string, number> = {};

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

describe('a change made in WordPress', () => {
  after(() => {
    for (const [kind, ms] of Object.entries(lastedMs))
      process.stderr.write(`live: ${kind} shows after ${Math.round(ms)} ms\n`);
  });

  it('shows a created event', async () => {
    const json = { title: 'Made in WordPress', status: 'publish', meta: DATES };
    const { body } = await ask<{ id: number }>(`${wp}/events`, { as: 'editor', method: 'POST', json });
    lastedMs.creation = await until(async () => (await listed(body.id)) !== undefined, LIMIT_MS);
  });

  it('shows an edited title and date', async () => {
    const { id } = await make('Before the edit');
    await ask(`${wp}/events/${id}`, {
      as: 'editor',
      method: 'POST',
      json: { title: 'After the edit', meta: { start_date: '2033-03-04 11:00:00' } },
    });
    lastedMs.edit = await until(async () => (await listed(id))?.start_date === '2033-03-04 11:00:00', LIMIT_MS);
    expect((await listed(id))?.title).to.equal('After the edit');
  });

  it('hides an unpublished event, and one in the trash, and shows a restored one', async () => {
    const { id } = await make('Comes and goes');
    await ask(`${wp}/events/${id}`, { as: 'editor', method: 'POST', json: { status: 'draft' } });
    lastedMs.unpublishing = await until(async () => (await listed(id)) === undefined, LIMIT_MS);
    await ask(`${wp}/events/${id}`, { as: 'editor', method: 'POST', json: { status: 'publish' } });
    lastedMs.publishing = await until(async () => (await listed(id)) !== undefined, LIMIT_MS);
    await ask(`${wp}/events/${id}`, { as: 'editor', method: 'DELETE' });
    lastedMs.trash = await until(async () => (await listed(id)) === undefined, LIMIT_MS);
    await ask(`${wp}/events/${id}`, { as: 'editor', method: 'POST', json: { status: 'publish' } });
    lastedMs.restoring = await until(async () => (await listed(id)) !== undefined, LIMIT_MS);
  });

  it('drops an event that is deleted for good', async () => {
    const { id } = await make('Deleted for good');
    await ask(`${wp}/events/${id}?force=true`, { as: 'editor', method: 'DELETE' });
    lastedMs.deletion = await until(async () => (await ask(`${calendar}/events/${id}`)).status === 404, LIMIT_MS);
  });

  it('moves a slug', async () => {
    const { id } = await make('Slug before');
    await ask(`${wp}/events/${id}`, { as: 'editor', method: 'POST', json: { slug: 'slug-after' } });
    lastedMs.slug = await until(
      async () => (await ask<Event>(`${calendar}/events/by-slug/slug-after`)).body.id === id,
      LIMIT_MS,
    );
  });

  it('shows an edited venue in the events that refer to it, and drops a trashed one from them', async () => {
    const { id, venue } = await make('At a venue', { venue: { venue: 'Old Pier' } });
    const venueId = (venue as { id: number }).id;
    const shown = async () => ((await listed(id))?.venue as { venue?: string } | undefined)?.venue;
    await ask(`${wp}/venues/${venueId}`, { as: 'editor', method: 'POST', json: { title: 'New Pier' } });
    lastedMs['venue edit'] = await until(async () => (await shown()) === 'New Pier', LIMIT_MS);
    await ask(`${wp}/venues/${venueId}`, { as: 'editor', method: 'DELETE' });
    lastedMs['venue trash'] = await until(async () => (await shown()) === undefined, LIMIT_MS);
  });

  it('shows a renamed category, and drops a deleted one', async () => {
    const { id, categories } = await make('In a category', { categories: ['Before the rename'] });
    const termId = categories[0]!.id;
    const names = async () => (await listed(id))?.categories.map(({ name }) => name);
    await ask(`${wp}/event_categories/${termId}`, { as: 'admin', method: 'POST', json: { name: 'After the rename' } });
    lastedMs['term rename'] = await until(async () => (await names())?.[0] === 'After the rename', LIMIT_MS);
    await ask(`${wp}/event_categories/${termId}?force=true`, { as: 'admin', method: 'DELETE' });
    lastedMs['term deletion'] = await until(async () => (await names())?.length === 0, LIMIT_MS);
  });

  it('shows at once with a signed change notice', async () => {
    const { id } = await make('Noticed');
    await ask(`${wp}/events/${id}`, { as: 'editor', method: 'POST', json: { title: 'Noticed and changed' } });
    const body = JSON.stringify({ kind: 'changes', changes: [{ collection: 'events', id }] });
    const time = Math.floor(Date.now() / 1000);
    const signature = `t=${time},v1=${createHmac('sha256', 'live-suite').update(`${time}.${body}`).digest('hex')}`;
    const answer = await fetch(`${adminUrl}/-/changes`, {
      method: 'POST',
      body,
      headers: { 'x-calendar-signature': signature },
    });
    expect(answer.status).to.equal(202);
    lastedMs['noticed edit'] = await until(async () => (await listed(id))?.title === 'Noticed and changed', 1000);
  });

  it('shows at once to a request that says no-cache', async () => {
    const { id } = await make('Looked for');
    await ask(`${wp}/events/${id}`, { as: 'editor', method: 'POST', json: { title: 'Looked for and found' } });
    const { body } = await ask<Event>(`${calendar}/events/${id}`, { headers: { 'cache-control': 'no-cache' } });
    expect(body.title).to.equal('Looked for and found');
  });
});

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
