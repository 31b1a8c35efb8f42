// What is peculiar to one kind of site: that the site really has the quirk, and that the gateway is not misled by it.

import { expect } from 'chai';
import { seeds } from './read-only.ts';
import type { Json, SiteUnderTest } from './site-under-test.ts';
import type { Tally } from './tally.ts';
import { rowsOf, storedOf, withoutCompanion } from './unharmed.ts';

type Quirks = (site: SiteUnderTest, tally: Tally) => Promise<void>;

const YEARS_AGO = { start_date: '2020-03-01 19:00:00', end_date: '2020-03-01 21:00:00' };
const LONG_AGO = 'events?start_date=2020-01-01&end_date=2020-12-31';

const post = (site: SiteUnderTest, path: string, json: Json) => site.ask(path, { method: 'POST', json });
const titles = async (site: SiteUnderTest, path: string): Promise<unknown[]> =>
  ((await site.ask(path)).body.events as Json[]).map(({ title }) => title);
const ids = (rows: unknown): unknown[] => (rows as Json[]).map(({ id }) => id);
/** A record as WordPress has it, for editing. */
const raw = async (site: SiteUnderTest, base: string, id: unknown): Promise<Json> =>
  (await site.native(`wp/v2/${base}/${id}?context=edit`)).body;
/** Deletes it for good, so that the contract finds the site as it was. */
const erase = (site: SiteUnderTest, base: string, id: unknown) =>
  site.native(`wp/v2/${base}/${id}?force=true`, { method: 'DELETE' });

const gatherpress: Quirks = async (site, { check }) => {
  await check('shows past events, which the site hides from its lists', async () => {
    const { body } = await post(site, 'events', { title: 'Long ago', ...YEARS_AGO });
    expect(ids((await site.native('wp/v2/gatherpress_events?status=any&context=edit')).body)).to.not.include(body.id);
    await site.afterRound();
    expect(await titles(site, LONG_AGO)).to.deep.equal(['Long ago']);
    await erase(site, 'gatherpress_events', body.id);
  });
  await check('keeps the other values of the JSON text, and sends no zone that the site breaks on', async () => {
    const { body } = await post(site, 'events', { title: 'Call', ...YEARS_AGO, timezone: 'UTC+2' });
    const stored = async () =>
      JSON.parse(String(((await raw(site, 'gatherpress_events', body.id)).meta as Json).gatherpress_datetime));
    expect(await stored()).to.deep.equal({
      dateTimeStart: YEARS_AGO.start_date,
      dateTimeEnd: YEARS_AGO.end_date,
      timezone: '+02:00',
    });
    await post(site, `events/${body.id}`, { end_date: '2020-03-01 22:00:00' });
    expect(await stored()).to.include({ dateTimeStart: YEARS_AGO.start_date, dateTimeEnd: '2020-03-01 22:00:00' });
    await erase(site, 'gatherpress_events', body.id);
  });
  await check('does not link a venue without a term, and follows a venue that is renamed', async () => {
    const draft = (await post(site, 'venues', { venue: 'Cellar', status: 'draft' })).body;
    const refused = await post(site, 'events', { title: 'Down there', ...YEARS_AGO, venue: draft.id });
    expect([refused.status, refused.body.code]).to.deep.equal([400, 'rest_invalid_param']);
    const venue = (await post(site, 'venues', { venue: 'Loft' })).body;
    const event = (await post(site, 'events', { title: 'Up there', ...YEARS_AGO, venue: venue.id })).body;
    expect((event.venue as Json).id).to.equal(venue.id);
    await site.native(`wp/v2/gatherpress_venues/${venue.id}`, {
      method: 'POST',
      json: { slug: 'attic', title: 'Attic' },
    });
    await site.afterRound();
    const { body } = await site.ask(`events/${event.id}`);
    expect(body.venue).to.include({ id: venue.id, venue: 'Attic', slug: 'attic' });
    expect(await titles(site, `${LONG_AGO}&venue=${venue.id}`)).to.deep.equal(['Up there']);
    for (const id of [draft.id, venue.id]) await erase(site, 'gatherpress_venues', id);
    await erase(site, 'gatherpress_events', event.id);
    await site.afterRound();
  });
};

const wpEventManager: Quirks = async (site, { check }) => {
  await check(
    'stores links as the plugin does, and leaves venues and organizers on the plugin’s edit screen',
    async () => {
      const dates = { start_date: '2031-02-01 10:00:00', end_date: '2031-02-01 11:00:00' };
      const venue = (await post(site, 'venues', { venue: 'Hall' })).body.id;
      const organizer = (await post(site, 'organizers', { organizer: 'One' })).body.id;
      const { body } = await post(site, 'events', { title: 'Linked', ...dates, venue, organizer: [organizer] });
      expect(await rowsOf(site, body.id, '_event_venue_ids')).to.deep.equal([String(venue)]);
      expect(await rowsOf(site, body.id, '_event_organizer_ids')).to.deep.equal([`a:1:{i:0;i:${organizer};}`]);
      for (const id of [venue, organizer]) expect((await storedOf(site, id)).block_editor).to.equal(false);
      await erase(site, 'event_listing', body.id);
      await erase(site, 'event_venue', venue);
      await erase(site, 'event_organizer', organizer);
      await site.afterRound();
    },
  );
  await check('shows events that the site has let expire', async () => {
    const { body } = await post(site, 'events', { title: 'Long ago', ...YEARS_AGO });
    const { meta } = await raw(site, 'event_listing', body.id);
    expect(meta).to.include({ _event_start_date: YEARS_AGO.start_date, _event_start_time: '19:00:00' });
    await site.sandbox.wp(['cron', 'event', 'run', 'event_manager_check_for_expired_events']);
    expect((await raw(site, 'event_listing', body.id)).status).to.equal('expired');
    expect(ids((await site.native('wp/v2/event_listing')).body)).to.not.include(body.id);
    await site.afterRound();
    expect(await titles(site, LONG_AGO)).to.deep.equal(['Long ago']);
    expect((await site.ask(`events/${body.id}`)).body.status).to.equal('publish');
    await erase(site, 'event_listing', body.id);
  });
};

const tribeEvents: Quirks = async (site, { check }) => {
  const dates = { start_date: '2031-02-01 10:00:00', end_date: '2031-02-01 11:00:00' };
  await check(
    'keeps linked ids in rows of their own, by the gateway and by an editor, with and without the PHP file',
    async () => {
      const [hall, mill] = [
        (await post(site, 'venues', { venue: 'Hall' })).body.id,
        (await post(site, 'venues', { venue: 'Mill' })).body.id,
      ];
      const [one, two] = [
        (await post(site, 'organizers', { organizer: 'One' })).body.id,
        (await post(site, 'organizers', { organizer: 'Two' })).body.id,
      ];
      const { body } = await post(site, 'events', { title: 'Linked', ...dates, venue: hall, organizer: [one, two] });
      const rows = async () => [
        await rowsOf(site, body.id, '_EventVenueID'),
        await rowsOf(site, body.id, '_EventOrganizerID'),
      ];
      expect(await rows(), 'the gateway').to.deep.equal([[String(hall)], [String(one), String(two)]]);
      const edit = async (meta: Json) => {
        const { status } = await site.native(`wp/v2/tribe_events/${body.id}`, { method: 'POST', json: { meta } });
        expect(status).to.equal(200);
        return rows();
      };
      const other = { _EventVenueID: [mill], _EventOrganizerID: [two] };
      const both = { _EventVenueID: [hall], _EventOrganizerID: [two, one] };
      const without = await withoutCompanion(site, async () => [await edit(other), await edit(both)]);
      expect([await edit(other), await edit(both)], 'an editor').to.deep.equal(without);
      expect(without[0]).to.deep.equal([[String(mill)], [String(two)]]);
      await post(site, `events/${body.id}`, { organizer: [one] });
      expect((await rows())[1], 'an update').to.deep.equal([String(one)]);
      for (const id of [hall, mill]) await erase(site, 'tribe_venue', id);
      for (const id of [one, two]) await erase(site, 'tribe_organizer', id);
      await erase(site, 'tribe_events', body.id);
      await site.afterRound();
    },
  );
  await check('keeps hidden what the plugin hides, and stores no row for what it shows', async () => {
    const { body } = await post(site, 'events', { title: 'Behind the curtain', ...dates });
    const key = '_EventHideFromUpcoming';
    const day = 'events?start_date=2031-02-01&end_date=2031-02-01';
    expect(await rowsOf(site, body.id, key)).to.deep.equal([]);
    await post(site, `events/${body.id}`, { hide_from_listings: true });
    expect(await rowsOf(site, body.id, key)).to.deep.equal(['yes']);
    expect((await site.ask(day)).body.total).to.equal(0);
    expect((await site.ask(`events/${body.id}`)).body.hide_from_listings).to.equal(true);
    await post(site, `events/${body.id}`, { hide_from_listings: false });
    expect(await rowsOf(site, body.id, key)).to.deep.equal([]);
    expect((await site.ask(day)).body.total).to.equal(1);
    // The plugin's own screen writes the row without REST.
    await site.sandbox.wp(['post', 'meta', 'update', String(body.id), key, 'yes']);
    await site.sandbox.wp(['post', 'update', String(body.id), '--post_title=Behind the curtain again']);
    await site.afterRound();
    expect((await site.ask(day)).body.total).to.equal(0);
    const { status } = await site.native(`wp/v2/tribe_events/${body.id}`, {
      method: 'POST',
      json: { meta: { [key]: '' } },
    });
    expect([status, await rowsOf(site, body.id, key)]).to.deep.equal([200, []]);
    await erase(site, 'tribe_events', body.id);
    await site.afterRound();
  });
  await check('sends dates once more after a create, without which the site lists no event', async () => {
    const meta = { _EventStartDate: dates.start_date, _EventEndDate: dates.end_date };
    const json = { title: 'Unlisted', status: 'publish', meta };
    const unlisted = (await site.native('wp/v2/tribe_events', { method: 'POST', json })).body;
    const { body } = await post(site, 'events', { title: 'Listed', ...dates });
    expect(ids((await site.native('wp/v2/tribe_events')).body)).to.deep.equal([body.id]);
    for (const id of [unlisted.id, body.id]) await erase(site, 'tribe_events', id);
  });
  await check('reads a past event by its id, though the site lists none', async () => {
    const { body } = await post(site, 'events', { title: 'Long ago', ...YEARS_AGO });
    await site.afterRound();
    expect((await site.ask(`events/${body.id}`)).body).to.include({ title: 'Long ago', ...YEARS_AGO });
    await erase(site, 'tribe_events', body.id);
    await site.afterRound();
  });
  await check('keeps a price and its sign apart, as the site does', async () => {
    const { body } = await post(site, 'events', { title: 'Dear', ...dates, cost: '20€' });
    const { meta } = await raw(site, 'tribe_events', body.id);
    expect(meta).to.include({ _EventCost: '20', _EventCurrencySymbol: '€', _EventCurrencyPosition: 'suffix' });
    expect(body.cost).to.equal('20€');
    await erase(site, 'tribe_events', body.id);
    await site.afterRound();
  });
};

const acf: Quirks = async (site, { check }) => {
  await check('clears relationships with null, since the site refuses []', async () => {
    const dates = { start_date: '2031-02-01 10:00:00', end_date: '2031-02-01 11:00:00' };
    const venue = (await post(site, 'venues', { venue: 'Barn' })).body;
    const { body } = await post(site, 'events', { title: 'Dance', ...dates, venue: venue.id });
    const refused = await site.native(`wp/v2/events/${body.id}`, { method: 'POST', json: { acf: { venue: [] } } });
    expect(refused.status).to.equal(400);
    expect((await raw(site, 'events', body.id)).acf).to.deep.include({ venue: [venue.id], ...dates });
    await post(site, `events/${body.id}`, { venue: [] });
    expect((await raw(site, 'events', body.id)).acf).to.include({ venue: null });
    await erase(site, 'events', body.id);
    await erase(site, 'venues', venue.id);
    await site.afterRound();
  });
};

const pods: Quirks = async (site, { check }) => {
  await check('reads whole posts as linked records, and writes ids', async () => {
    const venue = (await post(site, 'venues', { venue: 'Barn' })).body;
    const { body } = await post(site, 'events', { title: 'Dance', ...YEARS_AGO, venue: venue.id });
    const stored = await raw(site, 'events', body.id);
    expect((stored.venue as Json[])[0]).to.include({ ID: venue.id, post_title: 'Barn' });
    expect(stored).to.include({ organizer: false, all_day: '0', start_date: YEARS_AGO.start_date });
    await erase(site, 'events', body.id);
    await erase(site, 'venues', venue.id);
    await site.afterRound();
  });
};

const eventsManager: Quirks = async (site, { check }) => {
  await check('shows the text of an event, where the site renders a whole page', async () => {
    const { content } = (await site.native(`wp/v2/event/${seeds.concert}`, { anonymous: true })).body;
    expect(String((content as Json).rendered).length).to.be.above(2000);
    expect((await site.ask(`events/${seeds.concert}`)).body.description).to.equal('<p>Music by the water.</p>');
  });
  await check('finds a location by its number in the plugin’s table, which is no post id', async () => {
    const stored = ((await raw(site, 'event', seeds.concert)).meta as Json)._location_id;
    const { venue } = (await site.ask(`events/${seeds.concert}`)).body;
    expect(venue).to.include({ venue: 'Quay Hall' });
    expect((venue as Json).id).to.not.equal(stored);
    expect(((await raw(site, 'location', (venue as Json).id)).meta as Json)._location_id).to.equal(stored);
  });
};

const eventOrganiser: Quirks = async (site, { check }) => {
  await check('takes a weekly event once, which the site lists for every week, over several pages', async () => {
    const weeks = 230;
    const times = { start: '2031-09-04 18:00:00', end: '2031-09-04 19:00:00' };
    const id = await site.seed({ title: 'Weekly', slug: 'weekly', ...times, weeks });
    const later = await site.seed({ title: 'Later', slug: 'later', ...times });
    const { body, headers } = await site.native<Json[]>('wp/v2/event?per_page=100&orderby=id&order=asc&offset=100');
    expect(new Set(ids(body))).to.deep.equal(new Set([id]));
    expect(headers.get('x-wp-total')).to.equal(String(weeks + 3));
    await site.afterRound();
    for (const gateway of [site.gateway, await site.anotherGateway()]) {
      const listed = (await site.ask('events?start_date=2031-09-01&end_date=2031-12-31', { gateway })).body;
      expect([new Set(ids(listed.events)), listed.total]).to.deep.equal([new Set([id, later]), 2]);
    }
    for (const one of [id, later]) await erase(site, 'event', one);
    await site.afterRound();
    expect((await site.ask('events?start_date=2029-01-01&end_date=2033-01-01')).body.total).to.equal(2);
  });
};

const termVenues: Quirks = async (site, { check }) => {
  await check('a venue that is a term has an id that no post has', async () => {
    const { base } = site.mapping.kinds.venue!;
    const terms = ids((await site.native(`wp/v2/${base}`)).body) as number[];
    const { venues } = (await site.ask('venues')).body as { venues: Json[] };
    expect(ids(venues)).to.have.members(terms.map((id) => id + 1_000_000_000_000));
  });
};

const eventOn: Quirks = async (site, tally) => {
  await termVenues(site, tally);
  await tally.check('keeps hidden what the plugin leaves out of its calendars', async () => {
    const times = { start: '2031-02-01 18:00:00', end: '2031-02-01 19:00:00' };
    const [hidden, shown] = [
      await site.seed({ title: 'Hidden', ...times, hidden: true }),
      await site.seed({ title: 'Shown', ...times, hidden: false }),
    ];
    await site.afterRound();
    expect(await titles(site, 'events?start_date=2031-02-01&end_date=2031-02-01')).to.deep.equal(['Shown']);
    for (const id of [hidden, shown]) await erase(site, 'ajde_events', id);
    await site.afterRound();
  });
  await tally.check('reads seconds that count the clock on the wall as if it were in UTC', async () => {
    const { meta } = await raw(site, 'ajde_events', seeds.concert);
    expect(Number((meta as Json).evcal_srow)).to.equal(Date.parse('2031-05-01T19:05:00Z') / 1000);
    const { body } = await site.ask(`events/${seeds.concert}`);
    expect(body).to.include({ start_date: '2031-05-01 19:05:00', utc_start_date: '2031-05-01 17:05:00' });
  });
};

const modernEventsCalendar: Quirks = async (site, tally) => {
  await termVenues(site, tally);
  await tally.check('reads a time in four keys, and the zone that is the site’s', async () => {
    const { meta } = await raw(site, 'mec-events', seeds.concert);
    expect(meta).to.include({ mec_start_time_hour: '7', mec_start_time_minutes: '5', mec_start_time_ampm: 'PM' });
    expect(((await raw(site, 'mec-events', seeds.fair)).meta as Json).mec_timezone).to.equal('global');
    expect((await site.ask(`events/${seeds.fair}`)).body.timezone).to.equal('America/New_York');
  });
};

/** By mapping; run on the site before the contract, which finds it as it was. */
export const quirks: Readonly<Record<string, Quirks>> = {
  ...{ acf, pods, gatherpress, eventon: eventOn },
  'wp-event-manager': wpEventManager,
  'tribe-events-native': tribeEvents,
  'events-manager': eventsManager,
  'event-organiser': async (site, tally) => {
    await termVenues(site, tally);
    await eventOrganiser(site, tally);
  },
  'modern-events-calendar': modernEventsCalendar,
};
