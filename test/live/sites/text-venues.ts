// The contract for venues that are text inside events, on a site of WP Event Manager.

import { expect } from 'chai';
import { afterwards } from './afterwards.ts';
import type { Json, SiteUnderTest } from './site-under-test.ts';
import type { Tally } from './tally.ts';

export const TEXT_VENUES = 'test/live/sites/text-venues.json';

const LISTINGS = 'wp/v2/event_listing';
const MILL = { _event_location: 'Old Mill', _event_pincode: 'CB6 1', _event_country: 'England' };

export async function proveTextVenues(site: SiteUnderTest, tally: Tally): Promise<void> {
  const { check } = tally;
  const add = async (title: string, day: string, where: Json): Promise<number> => {
    const meta = { _event_start_date: `${day} 10:00:00`, _event_end_date: `${day} 12:00:00`, ...where };
    const { body } = await site.native(LISTINGS, { method: 'POST', json: { title, status: 'publish', meta } });
    return Number(body.id);
  };
  const venueOf = async (id: number): Promise<Json> => (await site.ask(`events/${id}`)).body.venue as Json;
  const names = async (): Promise<unknown[]> =>
    ((await site.ask('venues')).body.venues as Json[]).map(({ venue }) => venue).sort();
  const first = await add('First', '2031-05-01', MILL);
  const second = await add('Second', '2031-05-02', MILL);
  const third = await add('Third', '2031-05-03', { _event_location: 'Barn' });
  await site.afterRound();

  await check('reads the text as a venue, once for the same text', async () => {
    expect(await venueOf(first)).to.include({ venue: 'Old Mill', zip: 'CB6 1', country: 'England' });
    expect((await venueOf(second)).id).to.equal((await venueOf(first)).id);
    expect(await names()).to.deep.equal(['Barn', 'Old Mill']);
  });
  await check('reads it by id and slug, and filters by it', async () => {
    const { id, slug } = await venueOf(first);
    expect((await site.ask(`venues/${id}`)).body).to.include({ id, venue: 'Old Mill' });
    expect((await site.ask(`venues/by-slug/${slug}`)).body.id).to.equal(id);
    const { events } = (await site.ask(`events?start_date=2031-01-01&end_date=2031-12-31&venue=${id}`)).body;
    expect((events as Json[]).map(({ title }) => title)).to.deep.equal(['First', 'Second']);
  });
  await check('keeps it when the event is written, and refuses to write it', async () => {
    const answer = await site.ask(`events/${third}`, { method: 'POST', json: { title: 'Third, later' } });
    expect(answer.body.venue).to.include({ venue: 'Barn' });
    expect((await site.ask('venues', { method: 'POST', json: { venue: 'New' } })).status).to.equal(403);
  });
  await check('follows the text, and forgets a venue that no event has', async () => {
    const json = { meta: { _event_location: 'Yard' } };
    await site.native(`${LISTINGS}/${third}`, { method: 'POST', json });
    await site.afterRound();
    expect(await venueOf(third)).to.include({ venue: 'Yard' });
    expect(await names()).to.deep.equal(['Old Mill', 'Yard']);
  });
  await afterwards(site, tally);
}
