// Quirks of single plugins that test/plugins does not check with the plugin itself: the site really has the
// quirk, and the gateway handles it.

import { expect } from 'chai';
import { storedMetaValues, withoutCompanionPlugin } from './plugin-coexistence.ts';
import type { Json, TestSite } from './test-site.ts';

/** By title. The contract deletes the records that they create. */
type Quirks = Readonly<Record<string, (site: TestSite) => Promise<void>>>;

const DATES = { start_date: '2031-02-01 10:00:00', end_date: '2031-02-01 11:00:00' };
const SAME_DAY = 'start_date=2031-02-01&end_date=2031-02-01';
const LONG_AGO = { start_date: '2020-03-01 19:00:00', end_date: '2020-03-01 21:00:00' };
const IN_2020 = 'start_date=2020-01-01&end_date=2020-12-31';

const ids = (records: unknown): unknown[] => (records as Json[]).map(({ id }) => id);
/** A record from WordPress itself, for editing. */
const raw = async (site: TestSite, collection: string, id: unknown): Promise<Json> =>
  (await site.wordpress(`wp/v2/${collection}/${id}?context=edit`)).body;
const rawMeta = async (site: TestSite, collection: string, id: unknown): Promise<Json> =>
  (await raw(site, collection, id)).meta as Json;
const update = async (site: TestSite, id: unknown, json: Json): Promise<Json> =>
  (await site.request(`events/${id}`, { method: 'POST', json })).body;

const gatherpress: Quirks = {
  async 'keeps the other values of the JSON text, and sends no time zone that breaks the site'(site) {
    const { id } = await site.create('events', { title: 'Call', ...LONG_AGO, timezone: 'UTC+2' });
    const stored = async () => JSON.parse(String((await rawMeta(site, 'gatherpress_events', id)).gatherpress_datetime));
    expect(await stored()).to.deep.equal({
      dateTimeStart: LONG_AGO.start_date,
      dateTimeEnd: LONG_AGO.end_date,
      timezone: '+02:00',
    });
    await update(site, id, { end_date: '2020-03-01 22:00:00' });
    expect(await stored()).to.include({ dateTimeStart: LONG_AGO.start_date, dateTimeEnd: '2020-03-01 22:00:00' });
  },
  async 'rejects a link to a venue without a term, and follows a renamed venue'(site) {
    const draft = await site.create('venues', { venue: 'Cellar', status: 'draft' });
    const json = { title: 'Down there', ...LONG_AGO, venue: draft.id };
    const rejected = await site.request('events', { method: 'POST', json });
    expect([rejected.status, rejected.body.code]).to.deep.equal([400, 'rest_invalid_param']);
    const venue = await site.create('venues', { venue: 'Loft' });
    const event = await site.create('events', { title: 'Up there', ...LONG_AGO, venue: venue.id });
    expect((event.venue as Json).id).to.equal(venue.id);
    const renamed = { slug: 'attic', title: 'Attic' };
    await site.wordpress(`wp/v2/gatherpress_venues/${venue.id}`, { method: 'POST', json: renamed });
    await site.nextPoll();
    const { body } = await site.request(`events/${event.id}`);
    expect(body.venue).to.include({ id: venue.id, venue: 'Attic', slug: 'attic' });
    expect(await site.titles(`${IN_2020}&venue=${venue.id}`)).to.deep.equal(['Up there']);
  },
};

const wpEventManager: Quirks = {
  async 'shows expired events'(site) {
    const { id } = await site.create('events', { title: 'Long ago', ...LONG_AGO });
    const meta = await rawMeta(site, 'event_listing', id);
    expect(meta).to.include({ _event_start_date: LONG_AGO.start_date, _event_start_time: '19:00:00' });
    await site.sandbox.wp(['cron', 'event', 'run', 'event_manager_check_for_expired_events']);
    expect((await raw(site, 'event_listing', id)).status).to.equal('expired');
    expect(ids((await site.wordpress('wp/v2/event_listing')).body)).to.not.include(id);
    await site.nextPoll();
    expect(await site.titles(IN_2020)).to.deep.equal(['Long ago']);
    expect((await site.request(`events/${id}`)).body.status).to.equal('publish');
  },
};

const theEventsCalendar: Quirks = {
  async 'stores each linked id in a row of its own, with and without the companion plugin'(site) {
    const { id: hall } = await site.create('venues', { venue: 'Hall' });
    const { id: mill } = await site.create('venues', { venue: 'Mill' });
    const { id: first } = await site.create('organizers', { organizer: 'One' });
    const { id: second } = await site.create('organizers', { organizer: 'Two' });
    const { id } = await site.create('events', { title: 'Linked', ...DATES, venue: hall, organizer: [first, second] });
    const rows = async () => [
      await storedMetaValues(site, id, '_EventVenueID'),
      await storedMetaValues(site, id, '_EventOrganizerID'),
    ];
    expect(await rows(), 'the gateway').to.deep.equal([[String(hall)], [String(first), String(second)]]);
    const edit = async (meta: Json) => {
      const { status } = await site.wordpress(`wp/v2/tribe_events/${id}`, { method: 'POST', json: { meta } });
      expect(status).to.equal(200);
      return rows();
    };
    const other = { _EventVenueID: [mill], _EventOrganizerID: [second] };
    const both = { _EventVenueID: [hall], _EventOrganizerID: [second, first] };
    const edited = [await edit(other), await edit(both)];
    expect(edited[0], 'an editor').to.deep.equal([[String(mill)], [String(second)]]);
    // With a classic theme the plugin takes no keys.
    if (!site.hasClassicTheme)
      expect(edited).to.deep.equal(
        await withoutCompanionPlugin(site, async () => [await edit(other), await edit(both)]),
      );
    await update(site, id, { organizer: [first] });
    expect((await rows())[1], 'an update').to.deep.equal([String(first)]);
  },
  async 'hides the events that the plugin hides, and stores no row for others'(site) {
    const { id } = await site.create('events', { title: 'Behind the curtain', ...DATES });
    const key = '_EventHideFromUpcoming';
    expect(await storedMetaValues(site, id, key)).to.deep.equal([]);
    await update(site, id, { hide_from_listings: true });
    expect(await storedMetaValues(site, id, key)).to.deep.equal(['yes']);
    expect(await site.titles(SAME_DAY)).to.deep.equal([]);
    expect((await site.request(`events/${id}`)).body.hide_from_listings).to.equal(true);
    await update(site, id, { hide_from_listings: false });
    expect(await storedMetaValues(site, id, key)).to.deep.equal([]);
    expect(await site.titles(SAME_DAY)).to.have.length(1);
    // The plugin's own screen writes the row without the REST API.
    await site.sandbox.wp(['post', 'meta', 'update', String(id), key, 'yes']);
    await site.sandbox.wp(['post', 'update', String(id), '--post_title=Behind the curtain again']);
    await site.nextPoll();
    expect(await site.titles(SAME_DAY)).to.deep.equal([]);
    const json = { meta: { [key]: '' } };
    const { status } = await site.wordpress(`wp/v2/tribe_events/${id}`, { method: 'POST', json });
    expect([status, await storedMetaValues(site, id, key)]).to.deep.equal([200, []]);
  },
  async 'makes events that are in the calendar of the plugin, and no other client’s create does'(site) {
    const meta = { _EventStartDate: DATES.start_date, _EventEndDate: DATES.end_date };
    const json = { title: 'Unlisted', status: 'publish', meta };
    const unlisted = (await site.wordpress('wp/v2/tribe_events', { method: 'POST', json })).body;
    const { id } = await site.create('events', { title: 'Listed', ...DATES });
    expect(ids((await site.wordpress('wp/v2/tribe_events')).body)).to.deep.equal([id]);
    await site.wordpress(`wp/v2/tribe_events/${unlisted.id}?force=true`, { method: 'DELETE' });
  },
  async 'lists past events, which the site hides from its lists'(site) {
    const { id } = await site.create('events', { title: 'Long ago', ...LONG_AGO });
    expect(ids((await site.wordpress('wp/v2/tribe_events')).body)).to.not.include(id);
    await site.nextPoll();
    expect(await site.titles(IN_2020)).to.deep.equal(['Long ago']);
  },
  async 'a changed zone changes the plugin’s UTC dates'(site) {
    const { id } = await site.create('events', { title: 'Moved', ...DATES, timezone: 'Europe/Paris' });
    const stored = async () => [
      ...(await storedMetaValues(site, id, '_EventStartDateUTC')),
      ...(await storedMetaValues(site, id, '_EventTimezoneAbbr')),
    ];
    expect(await stored()).to.deep.equal(['2031-02-01 09:00:00', 'CET']);
    await update(site, id, { timezone: 'America/Chicago' });
    expect(await stored()).to.deep.equal(['2031-02-01 16:00:00', 'CST']);
    expect(await storedMetaValues(site, id, '_EventDuration')).to.deep.equal(['3600']);
  },
  async 'stores sticky as the plugin does, and no map unless one is asked for'(site) {
    const { id, show_map: map } = await site.create('events', { title: 'Pinned', ...DATES, sticky: true });
    const order = async () => Number(await site.sandbox.wp(['post', 'get', String(id), '--field=menu_order']));
    expect([await order(), map]).to.deep.equal([-1, false]);
    expect((await update(site, id, { sticky: false, show_map: true })).show_map).to.equal(true);
    expect(await order()).to.equal(0);
  },
  async 'stores a price as it was typed, and its currency sign beside it, as the plugin does'(site) {
    const { id, cost } = await site.create('events', { title: 'Dear', ...DATES, cost: '20€' });
    const stored = { _EventCost: '20€', _EventCurrencySymbol: '€', _EventCurrencyPosition: 'postfix' };
    expect(await rawMeta(site, 'tribe_events', id)).to.include(stored);
    expect(cost).to.equal('20€');
  },
};

const eventsManager: Quirks = {
  async 'shows the text of an event, although the site renders a whole page'(site) {
    const { content } = (await site.wordpress(`wp/v2/event/${site.seeded.concert}`, { anonymous: true })).body;
    expect(String((content as Json).rendered).length).to.be.above(2000);
    const { description } = (await site.request(`events/${site.seeded.concert}`)).body;
    expect(description).to.equal('<p>Music by the water.</p>');
  },
};

const termVenues: Quirks = {
  async 'gives a venue that is a term an id that no post has'(site) {
    const { collection } = site.mapping.kinds.venue!;
    const terms = ids((await site.wordpress(`wp/v2/${collection}`)).body) as number[];
    const { venues } = (await site.request('venues')).body;
    expect(ids(venues)).to.have.members(terms.map((id) => id + 1_000_000_000_000));
  },
};

const eventOn: Quirks = {
  ...termVenues,
  async 'hides the events that the plugin hides from its calendars'(site) {
    const times = { start: '2031-02-01 18:00:00', end: '2031-02-01 19:00:00' };
    await site.seed({ title: 'Hidden', ...times, hidden: true });
    await site.seed({ title: 'Shown', ...times, hidden: false });
    await site.nextPoll();
    expect(await site.titles(SAME_DAY)).to.deep.equal(['Shown']);
  },
};

/** By mapping. They run before the contract. */
export const quirks: Readonly<Record<string, Quirks>> = {
  gatherpress,
  eventon: eventOn,
  'wp-event-manager': wpEventManager,
  'tribe-events-native': theEventsCalendar,
  'events-manager': eventsManager,
  'event-organiser': termVenues,
  'modern-events-calendar': termVenues,
};
