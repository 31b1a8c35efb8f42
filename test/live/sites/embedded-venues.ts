// The contract for venues that are only text in events, on a site with WP Event Manager.

import { expect } from 'chai';
import type { Results } from './results.ts';
import { testSameAsFreshReplica } from './same-as-fresh-replica.ts';
import type { Json, TestSite } from './test-site.ts';

export const EMBEDDED_VENUES_MAPPING = 'test/live/sites/embedded-venues.json';

const LISTINGS = 'wp/v2/event_listing';
const MILL_META = { _event_location: 'Old Mill', _event_pincode: 'CB6 1', _event_country: 'England' };

export async function testEmbeddedVenues(site: TestSite, results: Results): Promise<void> {
  const { check } = results;
  /** Writes the text as the plugin's own screen does: the companion plugin stores no key that the mapping only reads. */
  const setLocation = async (id: number, title: string, location: Record<string, string>): Promise<void> => {
    for (const [key, value] of Object.entries(location))
      await site.sandbox.wp(['post', 'meta', 'update', String(id), key, value]);
    await site.sandbox.wp(['post', 'update', String(id), `--post_title=${title}`]);
  };
  const add = async (title: string, day: string, location: Record<string, string>): Promise<number> => {
    const meta = { _event_start_date: `${day} 10:00:00`, _event_end_date: `${day} 12:00:00` };
    const { body } = await site.wordpress(LISTINGS, { method: 'POST', json: { title, status: 'publish', meta } });
    await setLocation(Number(body.id), title, location);
    return Number(body.id);
  };
  const venueOf = async (id: number): Promise<Json> => (await site.request(`events/${id}`)).body.venue as Json;
  const names = async (): Promise<unknown[]> =>
    ((await site.request('venues')).body.venues as Json[]).map(({ venue }) => venue).sort();
  const first = await add('First', '2031-05-01', MILL_META);
  const second = await add('Second', '2031-05-02', MILL_META);
  const third = await add('Third', '2031-05-03', { _event_location: 'Barn' });
  await site.nextPoll();

  await check('reads the text as a venue, the same text as the same venue', async () => {
    expect(await venueOf(first)).to.include({ venue: 'Old Mill', zip: 'CB6 1', country: 'England' });
    expect((await venueOf(second)).id).to.equal((await venueOf(first)).id);
    expect(await names()).to.deep.equal(['Barn', 'Old Mill']);
  });
  await check('reads it by id and slug, and filters by it', async () => {
    const { id, slug } = await venueOf(first);
    expect((await site.request(`venues/${id}`)).body).to.include({ id, venue: 'Old Mill' });
    expect((await site.request(`venues/by-slug/${slug}`)).body.id).to.equal(id);
    const { events } = (await site.request(`events?start_date=2031-01-01&end_date=2031-12-31&venue=${id}`)).body;
    expect((events as Json[]).map(({ title }) => title)).to.deep.equal(['First', 'Second']);
  });
  await check('keeps it when the event is updated, and refuses to write it', async () => {
    const answer = await site.request(`events/${third}`, { method: 'POST', json: { title: 'Third, later' } });
    expect(answer.body.venue).to.include({ venue: 'Barn' });
    expect((await site.request('venues', { method: 'POST', json: { venue: 'New' } })).status).to.equal(403);
  });
  await check('follows the text, and removes a venue that no event has', async () => {
    await setLocation(third, 'Third', { _event_location: 'Yard' });
    await site.nextPoll();
    expect(await venueOf(third)).to.include({ venue: 'Yard' });
    expect(await names()).to.deep.equal(['Old Mill', 'Yard']);
  });
  await testSameAsFreshReplica(site, results);
}
