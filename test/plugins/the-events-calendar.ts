// The Events Calendar, with a block theme and with a classic one.

import { expect } from 'chai';
import { seriesIdOf } from '../../src/model/records.ts';
import type { Json } from '../live/json-client.ts';
import { bothWays } from './both-ways.ts';
import { compareCosts, compareRule } from './costs.ts';
import { compareCpuTime, compareWithOriginal, queriesOf } from './original-api.ts';
import type { Checks, PluginRequest, PluginSite, PluginTest } from './plugin-test.ts';
import { listedOccurrences, seriesChecks } from './series-checks.ts';
import { arrives, stateOf, untilWebhook, write } from './site-requests.ts';

const DATES = { start_date: '2031-08-01 10:00:00', end_date: '2031-08-01 12:00:00', timezone: 'Europe/Paris' };

const idOf = ({ body }: { body: Json }): number => Number(body.id);

/** An event in the plugin's own REST API. */
const original = async (site: PluginSite, id: unknown): Promise<Json> =>
  (await site.wordpress(`tribe/events/v1/events/${id}`, { as: 'anonymous' })).body;

/** The rows of the plugin's tables for an event. */
const tableRows = (site: PluginSite, id: unknown): Promise<Json[]> =>
  site.php(
    `return $wpdb->get_results( "SELECT e.start_date, e.timezone, e.duration, o.start_date_utc FROM {$wpdb->prefix}tec_events e
      JOIN {$wpdb->prefix}tec_occurrences o ON o.post_id = e.post_id WHERE e.post_id = ${id}", ARRAY_A );`,
  );

/** The values of a meta key, one for each row. */
const valuesOf = async (site: PluginSite, id: unknown, key: string): Promise<string[]> =>
  (await site.rows(Number(id))).filter(([name]) => name === key).map(([, value]) => value);

async function compare(site: PluginSite, as: PluginRequest['as']): Promise<void> {
  const { queries, equal, explained, unexplained } = await compareWithOriginal(site, queriesOf(site.ids), as);
  console.log(`${site.options.name}, as ${as}: ${queries} queries, ${equal} equal; with a known difference:`);
  for (const [reason, count] of explained) console.log(`  ${count}: ${reason}`);
  expect(unexplained).to.deep.equal([]);
}

/** Status and reason of an event in the plugin's own functions, and what its own API tells search engines. */
const ownState = async (site: PluginSite, id: unknown): Promise<Json> => ({
  ...(await site.php<Json>(
    `$event = tribe_get_event( ${id}, OBJECT, 'raw', true ); return array( 'status' => $event->event_status, 'reason' => $event->event_status_reason );`,
  )),
  schema: ((await original(site, id)).json_ld as Json).eventStatus,
});

/** A save through wp/v2 by another client. */
const edit = (site: PluginSite, path: string, json: Json) => site.wordpress(`wp/v2/${path}`, { method: 'POST', json });

const read: Checks = {
  'answers as the plugin’s own REST API does, to anonymous callers': (site) => compare(site, 'anonymous'),
  'and to administrators': (site) => compare(site, 'admin'),
  async 'the state of events, as far as the plugin says something'(site) {
    const { cancelled, postponed, concert } = site.ids;
    const states = async (id: number | undefined) => stateOf((await site.request(`events/${id}`)).body);
    expect(await ownState(site, cancelled)).to.include({ status: 'canceled', reason: 'Storm & flood' });
    const reason = { event_status_reason: 'Storm & flood' };
    expect(await states(cancelled)).to.deep.equal({ event_status: 'cancelled', ...reason });
    expect(await states(postponed)).to.deep.equal({ event_status: 'postponed' });
    expect(await states(concert)).to.deep.equal({});
    const { events } = (await site.request('events?event_status=cancelled&start_date=2031-01-01&end_date=2032-01-01'))
      .body;
    expect((events as Json[]).map(({ id }) => id)).to.deep.equal([cancelled]);
  },
  async 'costs a tenth of the CPU time at most'(site) {
    for (const { what, original, here } of await compareCpuTime(site)) {
      const factor = original / here;
      console.log(
        `  ${what}: CPU time of the original ${original.toFixed(0)} ms, here ${here.toFixed(2)} ms: ${factor.toFixed(0)} times`,
      );
      expect(factor, what).to.be.above(10);
    }
  },
  async 'lists no event that the plugin hides, and nothing unpublished'(site) {
    const all = 'start_date=2000-01-01&end_date=2040-01-01&per_page=50';
    const { hidden, draft, private: secret } = site.ids;
    const listed = ((await site.request(`events?${all}`)).body.events as Json[]).map(({ id }) => id);
    expect(listed).to.not.include.members([hidden]).and.not.include.members([draft]).and.not.include.members([secret]);
    for (const id of [draft, secret]) expect((await site.request(`events/${id}`)).status).to.be.oneOf([401, 403, 404]);
    expect(JSON.stringify((await site.request(`events/${site.ids.locked}`)).body)).to.not.match(/Secret|Hidden/);
  },
};

const written: Checks = {
  async 'the state of an event, in the words of the plugin'(site) {
    const { id, url } = await write(site, 'events', { title: 'In doubt', ...DATES }, 201);
    const page = async () => (await site.page(new URL(String(url)).pathname)).text;
    for (const [sent, status] of [
      ['cancelled', 'canceled'],
      ['postponed', 'postponed'],
      ['scheduled', 'scheduled'],
      ['', ''],
    ] as const) {
      const body = await write(site, `events/${id}`, { event_status: sent, event_status_reason: 'Storm & flood' });
      const hasReason = status === 'canceled' || status === 'postponed';
      const shown = { ...(sent && { event_status: sent }), ...(hasReason && { event_status_reason: 'Storm & flood' }) };
      expect(stateOf(body)).to.deep.equal(shown);
      const own = await ownState(site, id);
      expect(own).to.include({ status, reason: hasReason ? 'Storm & flood' : '' });
      const { json_ld: ld } = (await site.request(`events/${id}`)).body;
      expect((ld as Json).eventStatus, sent).to.equal(own.schema);
      // With this block theme the plugin shows the details of an event in its lists only.
      if (site.options.theme === 'classic' && hasReason) expect(await page()).to.match(/(Canceled|Postponed).*Storm/);
      else expect(await page()).to.not.match(/Canceled|Postponed/);
    }
    for (const [name, value] of [
      ['event_status', 'moved_online'],
      ['attendance_mode', 'online'],
      ['online_url', 'https://meet.example/1'],
    ] as const) {
      const refused = await site.request(`events/${id}`, { method: 'PATCH', json: { [name]: value } });
      expect([refused.status, Object.keys((refused.body.data as Json).params as Json)]).to.deep.equal([400, [name]]);
    }
  },
  async 'an event is in the plugin’s tables, with the rows that the plugin itself writes'(site) {
    const { hall, players, council } = site.ids;
    const fields = { title: 'Made by the gateway', ...DATES, cost: '$15', venue: hall, organizer: [players, council] };
    const { id } = await write(site, 'events', { ...fields, featured: true, sticky: true, show_map: true }, 201);
    expect(await tableRows(site, id)).to.deep.equal([
      {
        start_date: DATES.start_date,
        timezone: 'Europe/Paris',
        duration: '7200',
        start_date_utc: '2031-08-01 08:00:00',
      },
    ]);
    const rows = (await site.rows(Number(id))).filter(([key]) => /^_(Event|tribe_featured)/.test(key));
    expect(rows).to.deep.equal([
      ['_EventCost', '$15'],
      ['_EventCurrencyPosition', 'prefix'],
      ['_EventCurrencySymbol', '$'],
      ['_EventDuration', '7200'],
      ['_EventEndDate', DATES.end_date],
      ['_EventEndDateUTC', '2031-08-01 10:00:00'],
      ['_EventOrganizerID', String(players)],
      ['_EventOrganizerID', String(council)],
      ['_EventOrigin', 'events-calendar'],
      ['_EventShowMap', '1'],
      ['_EventShowMapLink', ''],
      ['_EventStartDate', DATES.start_date],
      ['_EventStartDateUTC', '2031-08-01 08:00:00'],
      ['_EventTimezone', 'Europe/Paris'],
      ['_EventTimezoneAbbr', 'CEST'],
      ['_EventVenueID', String(hall)],
      ['_tribe_featured', '1'],
    ]);
    const expected = { featured: true, sticky: true, show_map: true, cost: '$15', timezone_abbr: 'CEST' };
    expect(await original(site, id)).to.include(expected);
  },
  async 'a changed zone, start or end moves the event in the plugin'(site) {
    const { id } = await write(site, 'events', { title: 'Moved', ...DATES }, 201);
    await write(site, `events/${id}`, { timezone: 'America/Chicago' });
    expect((await tableRows(site, id))[0]).to.include({
      timezone: 'America/Chicago',
      start_date_utc: '2031-08-01 15:00:00',
    });
    expect((await original(site, id)).utc_start_date).to.equal('2031-08-01 15:00:00');
    await write(site, `events/${id}`, { end_date: '2031-08-01 13:00:00' });
    expect((await tableRows(site, id))[0]).to.include({ duration: '10800' });
    expect((await original(site, id)).utc_end_date).to.equal('2031-08-01 18:00:00');
  },
  async 'switches are stored as the plugin stores them, and leave no row when they are off'(site) {
    const { id } = await write(site, 'events', { title: 'Switched', ...DATES }, 201);
    const switches = { hide_from_listings: true, featured: true, sticky: true, show_map: false, show_map_link: false };
    await write(site, `events/${id}`, switches);
    expect(await original(site, id)).to.include(switches);
    expect(await valuesOf(site, id, '_EventHideFromUpcoming')).to.deep.equal(['yes']);
    await write(site, `events/${id}`, { hide_from_listings: false, featured: false, sticky: false });
    expect(await original(site, id)).to.include({ hide_from_listings: false, featured: false, sticky: false });
    for (const key of ['_EventHideFromUpcoming', '_tribe_featured'])
      expect(await valuesOf(site, id, key), key).to.deep.equal([]);
  },
  async 'whole days, maps and manual offsets are stored as the plugin’s own REST API stores them'(site) {
    const setZone = (name: string, hours: string) =>
      site.php(`update_option( 'timezone_string', '${name}' ); return update_option( 'gmt_offset', '${hours}' );`);
    const zone = await site.php<string>(`return get_option( 'timezone_string' );`);
    await setZone('', '5.5');
    await site.restartGateway();
    const json = { title: 'Fair', start_date: '2031-08-02', end_date: '2031-08-03', all_day: true };
    const ours = (await write(site, 'events', json, 201)).id;
    const theirs = idOf(await site.wordpress('tribe/events/v1/events', { method: 'POST', json }));
    const keys = ['_EventAllDay', '_EventStartDate', '_EventEndDate', '_EventTimezone', '_EventTimezoneAbbr'];
    for (const key of keys)
      expect(await valuesOf(site, ours, key), key).to.deep.equal(await valuesOf(site, theirs, key));
    const shown = ['show_map', 'show_map_link', 'timezone', 'timezone_abbr', 'start_date', 'end_date', 'all_day'];
    const [here, there] = [await original(site, ours), await original(site, theirs)];
    for (const name of shown) expect(here[name], name).to.deep.equal(there[name]);
    await setZone(zone, '');
    await site.restartGateway();
  },
  async 'a website that the plugin stores empty stays empty'(site) {
    const { free } = site.ids;
    await site.php(`return update_post_meta( ${free}, '_EventURL', '' );`);
    await site.php(`return wp_update_post( array( 'ID' => ${free}, 'post_content' => 'All day.' ) );`);
    await arrives(site, `events/${free}`, ({ website }) => website === '');
    expect((await original(site, free)).website).to.equal('');
  },
  async 'with days from 05:00 and times in the site’s zone, days and lists are those of the plugin'(site) {
    const set = (cutoff: string, mode: string) =>
      site.php(
        `tribe_update_option( 'multiDayCutoff', '${cutoff}' ); return tribe_update_option( 'tribe_events_timezone_mode', '${mode}' );`,
      );
    const make = (fields: string) =>
      site.php<number>(`return tribe_events()->set_args( array( 'status' => 'publish', ${fields} ) )->create()->ID;`);
    await set('05:00', 'site');
    const ids = [
      await make(`'title' => 'Day', 'start_date' => '2031-10-11', 'end_date' => '2031-10-11', 'all_day' => true`),
      await make(`'title' => 'Night', 'start_date' => '2031-10-12 02:00:00', 'end_date' => '2031-10-12 03:00:00'`),
      await make(
        `'title' => 'Away', 'start_date' => '2031-10-12 02:00:00', 'end_date' => '2031-10-12 03:00:00', 'timezone' => 'Asia/Tokyo'`,
      ),
    ];
    await site.restartGateway();
    for (const id of ids) {
      const [here, there] = [(await site.request(`events/${id}`)).body, await original(site, id)];
      for (const name of ['start_date', 'end_date', 'utc_start_date', 'utc_end_date', 'timezone'])
        expect(here[name], `${name} of ${there.title}`).to.equal(there[name]);
      for (const name of ['startDate', 'endDate'])
        expect((here.json_ld as Json)[name], `${name} of ${there.title}`).to.equal((there.json_ld as Json)[name]);
    }
    for (const query of [
      '10-10&end_date=2031-10-10',
      '10-11&end_date=2031-10-11',
      '10-12&end_date=2031-10-12',
      '10-10',
    ]) {
      const path = `events?start_date=2031-${query}`;
      const [here, there] = [(await site.request(path)).body, (await site.wordpress(`tribe/events/v1/${path}`)).body];
      const idsOf = ({ events }: Json) => (events as Json[]).map(({ id }) => id);
      expect(idsOf(here), path).to.deep.equal(idsOf(there));
    }
    for (const id of ids) await site.wordpress(`wp/v2/tribe_events/${id}?force=true`, { method: 'DELETE' });
    await set('00:00', 'event');
    await site.restartGateway();
  },
  async 'past events, drafts that are published and deleted events are right in the plugin'(site) {
    const past = await write(
      site,
      'events',
      { ...DATES, title: 'Past', start_date: '2019-02-01', end_date: '2019-02-02' },
      201,
    );
    expect((await original(site, past.id)).start_date).to.equal('2019-02-01 00:00:00');
    const { id } = await write(site, 'events', { title: 'Later', ...DATES, status: 'draft' }, 201);
    expect((await original(site, id)).id).to.equal(undefined);
    await write(site, `events/${id}`, { status: 'publish' });
    expect((await original(site, id)).title).to.equal('Later');
    expect((await site.request(`events/${id}`, { method: 'DELETE' })).status).to.equal(200);
    const listed = await site.wordpress(
      'tribe/events/v1/events?start_date=2031-08-01&end_date=2031-08-01&search=Later',
    );
    expect(listed.body.events).to.deep.equal([]);
  },
  async 'a save by another client through wp/v2 leaves the same rows as without the companion plugin'(site) {
    const keys = /^_(Event(Venue|Organizer)ID|Venue|Organizer)/;
    const linked = {
      meta: { _EventVenueID: [site.ids.mill], _EventOrganizerID: [site.ids.council, site.ids.players] },
    };
    const stored = async () => (await site.rows(site.ids.fair!)).filter(([key]) => keys.test(key));
    const saved = async (json: Json): Promise<unknown[]> => {
      expect((await edit(site, `tribe_events/${site.ids.fair}`, json)).status).to.equal(200);
      return stored();
    };
    const before = await stored();
    const rows = await saved(linked);
    console.log(`  rows before a save through wp/v2 ${JSON.stringify(before)}, after it ${JSON.stringify(rows)}`);
    expect(rows).to.deep.equal([
      ['_EventOrganizerID', String(site.ids.council)],
      ['_EventOrganizerID', String(site.ids.players)],
      ['_EventVenueID', String(site.ids.mill)],
    ]);
    await saved({ meta: { _EventVenueID: [], _EventOrganizerID: [] } });
    if (site.options.theme === 'block') {
      site.setCompanionPlugin(false);
      expect(await saved(linked), 'without it').to.deep.equal(rows);
      site.setCompanionPlugin(true);
      await saved({ meta: { _EventVenueID: [], _EventOrganizerID: [] } });
    }
  },
  async 'organizers are stored in the order that was sent, also those that were there before'(site) {
    const { players, council } = site.ids;
    const { id } = await write(site, 'events', { title: 'Ordered', ...DATES, organizer: [players] }, 201);
    const { organizer } = await write(site, `events/${id}`, { organizer: [council, players] });
    expect((organizer as Json[]).map((each) => each.id)).to.deep.equal([council, players]);
    expect(await valuesOf(site, id, '_EventOrganizerID')).to.deep.equal([council, players].map(String));
  },
  async 'a title alone leaves the rows as they are'(site) {
    const { free } = site.ids;
    const rows = async () => (await site.rows(free!)).filter(([key]) => /^_(Event|Venue|Organizer)/.test(key));
    const before = await rows();
    await write(site, `events/${free}`, { title: 'Open day, again' });
    expect(await rows(), 'through the gateway').to.deep.equal(before);
    // With a block theme the plugin itself overwrites the cost: "Free" for 0.
    if (site.options.theme === 'block') return;
    expect((await edit(site, `tribe_events/${free}`, { title: 'Open day' })).status).to.equal(200);
    expect(await rows(), 'through wp/v2').to.deep.equal(before);
  },
  'costs are stored and shown as by the plugin’s own REST API': compareCosts,
  'currencies of generated costs are those of the plugin’s own functions': compareRule,
  async 'the plugin’s own REST API saves as without the companion plugin'(site) {
    const made = async (): Promise<unknown[]> => {
      const json = { title: 'By the plugin', ...DATES, all_day: true, cost: '7', venue: site.ids.hall };
      const id = idOf(await site.wordpress('tribe/events/v1/events', { method: 'POST', json }));
      const rows = (await site.rows(id)).filter(([key]) => key !== '_tribe_modified_fields');
      await site.wordpress(`wp/v2/tribe_events/${id}?force=true`, { method: 'DELETE' });
      return rows;
    };
    const rows = await made();
    site.setCompanionPlugin(false);
    expect(await made()).to.deep.equal(rows);
    site.setCompanionPlugin(true);
  },
};

const shown: Checks = {
  async 'the plugin’s template tags and the event’s page have its date, price, venue and organizers'(site) {
    const { hall, players, council } = site.ids;
    const fields = { title: 'On a page', ...DATES, cost: '$15', venue: hall, organizer: [players, council] };
    const { id, url } = await write(site, 'events', fields, 201);
    const tags = await site.php<string[]>(
      `return array( tribe_get_start_date( ${id}, true ), tribe_get_cost( ${id}, true ), tribe_get_venue( ${id} ), ...array_map( 'get_the_title', tribe_get_organizer_ids( ${id} ) ) );`,
    );
    expect(tags).to.deep.equal(['August 1, 2031 @ 10:00 am', '$15', 'Quay Hall', 'The Players', 'Town Council']);
    const { status, text } = await site.page(new URL(String(url)).pathname);
    expect(status).to.equal(200);
    expect(text).to.contain('On a page');
    // With this block theme the plugin shows the details of an event in its lists only, of its own events too.
    if (site.options.theme === 'classic') for (const tag of tags) expect(text).to.contain(tag);
  },
  async 'the plugin’s list of that day has it'(site) {
    const { text } = await site.page('/?post_type=tribe_events&eventDisplay=day&eventDate=2031-08-01');
    expect(text).to.contain('On a page');
  },
};

const save = (field: string, value = '$value') =>
  `tribe_events()->where( 'id', $id )->set( '${field}', ${value} )->save()`;

const valueByValue = bothWays(
  {
    start_date: {
      values: () => ['2031-08-01 00:00:00', '2031-07-31 23:59:59', '2031-03-01 02:30:00'],
      read: "tribe_get_start_date( $id, true, 'Y-m-d H:i:s' )",
      write:
        "tribe_events()->where( 'id', $id )->set_args( array( 'start_date' => $value, 'end_date' => '2031-08-01 12:00:00' ) )->save()",
    },
    timezone: {
      values: () => ['Europe/Paris', 'America/New_York', 'UTC', 'UTC+5.5', 'Asia/Kathmandu'],
      read: 'Tribe__Events__Timezones::get_event_timezone_string( $id )',
      write: save('timezone'),
    },
    cost: {
      values: () => ['15', '$15', '15€', '€12.50', '5-25', 'Free', 'Donation'],
      read: 'tribe_get_cost( $id, true )',
      // As its own API does: the sign is in rows of its own too.
      write:
        "$request = new WP_REST_Request( 'POST', \"/tribe/events/v1/events/$id\" ); $request->set_body_params( array( 'cost' => $value ) ); rest_do_request( $request )",
    },
    website: {
      values: () => ['https://a.example/', 'https://b.example/?a=1&b=2'],
      read: 'tribe_get_event_website_url( $id )',
      write: save('url'),
    },
    all_day: { values: () => [true, false], read: '(bool) tribe_event_is_all_day( $id )', write: save('all_day') },
    featured: {
      values: () => [true, false],
      read: "tribe( 'tec.featured_events' )->is_featured( $id )",
      write: save('featured'),
    },
    venue: {
      values: ({ hall, mill }) => [hall, mill],
      read: "array( 'id' => (int) tribe_get_venue_id( $id ) )",
      write: save('venue'),
    },
    organizer: {
      values: ({ players, council }) => [[players], [players, council]],
      read: "array_map( 'intval', tribe_get_organizer_ids( $id ) )",
      write: save('organizer'),
    },
  },
  DATES,
);

/** The rows of the plugin's table for an event. */
const occurrencesOf = (site: PluginSite, id: number): Promise<{ start: string; end: string }[]> =>
  site.php(
    `return $wpdb->get_results( "SELECT start_date AS start, end_date AS end FROM {$wpdb->prefix}tec_occurrences WHERE post_id = ${id} ORDER BY 1" );`,
  );

/**
 * Gives each event so many more rows, a week apart, as the plugin's paid extension would store a series. The extension
 * itself was not tried.
 */
export const repeatWeekly = (site: PluginSite, weeks: ReadonlyMap<number, number>): Promise<unknown> =>
  site.php(
    `foreach ( json_decode( '${JSON.stringify(Object.fromEntries(weeks))}', true ) as $id => $more ) {
      for ( $week = 1; $week <= $more; ++$week ) {
        $at = static fn( $column ) => "DATE_ADD( $column, INTERVAL $week WEEK )";
        $wpdb->query( "INSERT INTO {$wpdb->prefix}tec_occurrences ( event_id, post_id, start_date, start_date_utc, end_date, end_date_utc, duration, hash )
          SELECT event_id, post_id, {$at( 'start_date' )}, {$at( 'start_date_utc' )}, {$at( 'end_date' )}, {$at( 'end_date_utc' )}, duration, SHA1( CONCAT( hash, $week ) )
          FROM {$wpdb->prefix}tec_occurrences WHERE post_id = $id ORDER BY occurrence_id LIMIT 1" );
      }
    }
    return true;`,
  );

/** After another poll the gateway is live, and has every published event of the site that needs no password. */
async function expectAllPosts(site: PluginSite): Promise<void> {
  await site.nextPoll();
  const { state } = (await (await fetch(`${site.gateway.adminUrl}/status`)).json()) as Json;
  expect(state).to.equal('live');
  const ids = await site.php<number[]>(
    `return array_map( 'intval', $wpdb->get_col( "SELECT ID FROM $wpdb->posts WHERE post_type = 'tribe_events' AND post_status = 'publish' AND post_password = ''" ) );`,
  );
  for (const id of ids) expect((await site.request(`events/${id}`)).status, String(id)).to.equal(200);
}

const series: Checks = {
  async 'rows that its paid extension would store for a series neither stop the gateway nor hide an event'(site) {
    const { weekly, concert } = site.ids;
    await repeatWeekly(
      site,
      new Map([
        [weekly!, 29],
        [concert!, 4],
      ]),
    );
    await site.php(
      `foreach ( array( ${weekly}, ${concert} ) as $id ) wp_update_post( array( 'ID' => $id, 'post_name' => "series-$id" ) ); return true;`,
    );
    await arrives(site, `events/by-slug/series-${weekly}`, (_, status) => status === 200);
    await expectAllPosts(site);
  },
  async 'nor do they while an extension says that it shows each row'(site) {
    // What its paid extension hooks to say so. The plugin then lists a post once for each row.
    const file = "WPMU_PLUGIN_DIR . '/extension.php'";
    const source = "<?php add_filter( 'tec_events_custom_tables_v1_occurrence_select_fields', static fn( $f ) => $f );";
    await site.php(`return file_put_contents( ${file}, base64_decode( '${btoa(source)}' ) );`);
    await expectAllPosts(site);
    await site.php(`return unlink( ${file} );`);
  },
  async 'each window has the events that the plugin’s own API lists in it'(site) {
    for (let week = 0; week < 8; week += 1) {
      const day = (days: number) => new Date(Date.UTC(2031, 4, 1 + 7 * week + days)).toISOString().slice(0, 10);
      const query = `events?start_date=${day(0)}&end_date=${day(6)}&per_page=50`;
      const posts = ({ events }: Json) =>
        (events as Json[]).map(({ id, slug }) => (String(slug).startsWith('series-') ? site.ids.concert : id)).sort();
      const own = await site.wordpress(`tribe/events/v1/${query}`, { as: 'anonymous' });
      expect(posts((await site.request(query)).body), query).to.deep.equal(posts(own.body));
    }
  },
  ...seriesChecks(
    (site) => occurrencesOf(site, site.ids.weekly!),
    [],
    /^An occurrence of a series is for reading only/,
  ),
  async 'a series with a password shows when it takes place, and no text'(site) {
    const { locked } = site.ids;
    await repeatWeekly(site, new Map([[locked!, 2]]));
    await site.php(`wp_update_post( array( 'ID' => ${locked}, 'post_name' => 'locked-series' ) ); return true;`);
    // A filter by the series finds no event with a password.
    const listed = async () => {
      const { body } = await site.request('events?start_date=2031-05-01&end_date=2031-05-31&per_page=50');
      return (body.events as Json[]).filter(({ id }) => seriesIdOf(Number(id)) === locked);
    };
    await untilWebhook(async () => (await listed()).length === 3, 'the gateway lists three times');
    const events = await listed();
    expect(events.map(({ start_date: start }) => start)).to.deep.equal(
      (await occurrencesOf(site, locked!)).map(({ start }) => start),
    );
    expect(JSON.stringify(events)).to.not.match(/Secret|Hidden/);
  },
  async 'a write of the series changes all its occurrences'(site) {
    const { concert } = site.ids;
    await write(site, `events/${concert}`, { title: 'Harbour concerts' });
    const listed = await listedOccurrences(site, concert!);
    expect(listed.map(({ title }) => title)).to.deep.equal(
      (await occurrencesOf(site, concert!)).map(() => 'Harbour concerts'),
    );
  },
};

const webhook: Checks = {
  async 'an event that the plugin cancels, and puts back'(site) {
    const { fair } = site.ids;
    const editor = 'tribe( Tribe\\Events\\Event_Status\\Classic_Editor::class )';
    const data = "array( 'status' => 'canceled', 'status-reason' => 'Rain' )";
    await site.php(`${editor}->update_fields( ${fair}, ${data} ); return true;`);
    await arrives(site, `events/${fair}`, ({ event_status: status }) => status === 'cancelled');
    await site.php(`${editor}->delete_fields( ${fair}, array() ); return true;`);
    await arrives(site, `events/${fair}`, (body) => !('event_status' in body) && !('event_status_reason' in body));
  },
  async 'an event that the plugin changes'(site) {
    const { fair } = site.ids;
    await site.php(`return tribe_events()->where( 'id', ${fair} )->set( 'title', 'Town fair' )->save();`);
    await arrives(site, `events/${fair}`, ({ title }) => title === 'Town fair');
  },
  async 'an event that the plugin moves'(site) {
    const { free } = site.ids;
    await site.php(
      `return tribe_events()->where( 'id', ${free} )->set_args( array( 'start_date' => '2031-09-09 10:00:00', 'end_date' => '2031-09-09 11:00:00' ) )->save();`,
    );
    await arrives(site, `events/${free}`, ({ start_date: start }) => start === '2031-09-09 10:00:00');
  },
  async 'an event that the plugin hides'(site) {
    const { featured } = site.ids;
    const day = 'events?start_date=2031-05-03&end_date=2031-05-03';
    await site.php(`return update_post_meta( ${featured}, '_EventHideFromUpcoming', 'yes' );`);
    await arrives(site, day, ({ events }) => (events as Json[]).length === 0);
  },
  async 'a venue, an organizer and a category that are renamed'(site) {
    const { hall, players, music, concert } = site.ids;
    await site.php(
      `wp_update_post( array( 'ID' => ${hall}, 'post_title' => 'Quay Hall II' ) );
      wp_update_post( array( 'ID' => ${players}, 'post_title' => 'The Old Players' ) );
      return wp_update_term( ${music}, 'tribe_events_cat', array( 'name' => 'Concerts' ) );`,
    );
    await arrives(site, `events/${concert}`, ({ venue, organizer, categories }) => {
      const names = [(venue as Json).venue, (organizer as Json[])[0]?.organizer, (categories as Json[])[0]?.name];
      return names.join() === 'Quay Hall II,The Old Players,Concerts';
    });
  },
  async 'an event that the plugin deletes'(site) {
    await site.php(`return tribe_events()->where( 'id', ${site.ids.longAgo} )->delete();`);
    await arrives(site, `events/${site.ids.longAgo}`, (_, status) => status !== 200);
  },
};

export const plugin: PluginTest = {
  mapping: 'tribe-events-native',
  sites: [
    { name: 'block theme', theme: 'block' },
    { name: 'classic theme', theme: 'classic' },
  ],
  columns: {
    recognised: {},
    read,
    written: { ...written, ...valueByValue },
    shown,
    webhook,
    series,
  },
};
