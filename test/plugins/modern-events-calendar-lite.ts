// Modern Events Calendar Lite: its table of dates, from which it renders its calendars, judges lists and series.

import { expect } from 'chai';
import type { Json } from '../live/json-client.ts';
import { until } from '../until.ts';
import type { PluginSite, PluginTest } from './plugin-test.ts';
import { listedOccurrences, seriesChecks } from './series-checks.ts';
import { stateOf, untilWebhook } from './site-requests.ts';

/** The dates of an event that the plugin's calendars show. */
const datesOf = (site: PluginSite, postId: number): Promise<{ start: string; end: string }[]> =>
  site.php(
    `$rows = $wpdb->get_results( "SELECT tstart, tend FROM {$wpdb->prefix}mec_dates WHERE post_id = ${postId} AND public = 1 ORDER BY tstart" );
    return array_map( static fn( $row ) => array( 'start' => date( 'Y-m-d H:i:s', $row->tstart ), 'end' => date( 'Y-m-d H:i:s', $row->tend ) ), $rows );`,
  );

/** What the plugin tells search engines of an event, and the reason that its pages show if they are told to. */
const ownState = (site: PluginSite, id: unknown): Promise<{ status: string; mode: string; reason?: string }> =>
  site.php(
    `$options = get_option( 'mec_options' ); $options['settings']['schema'] = 1; update_option( 'mec_options', $options );
    $data = MEC::getInstance( 'app.libraries.render' )->data( ${id} );
    $day = get_post_meta( ${id}, 'mec_start_date', true );
    $at = array( 'date' => $day, 'timestamp' => strtotime( $day ) );
    $event = (object) array( 'ID' => ${id}, 'data' => $data, 'date' => array( 'start' => $at, 'end' => $at ) );
    $schema = new MEC_feature_schema();
    $schema->settings = $options['settings'];
    ob_start(); $schema->schema( $event ); $json = ob_get_clean();
    preg_match( '#"eventStatus": "https://schema.org/(\\w+)"#', $json, $status );
    preg_match( '#"eventAttendanceMode": "https://schema.org/(\\w+)EventAttendanceMode"#', $json, $mode );
    $reason = MEC::getInstance( 'app.libraries.main' )->display_cancellation_reason( $event, true );
    preg_match( '#<span>(.*)</span>#', $reason, $text );
    return array( 'status' => $status[1], 'mode' => $mode[1], 'reason' => $text[1] ?? '' );`,
  );

export const plugin: PluginTest = {
  mapping: 'modern-events-calendar',
  columns: {
    recognised: {},
    read: {
      async 'dates, zone, cost, website, location and organizer of an event'(site) {
        const { body } = await site.request(`events/${site.ids.concert}`);
        expect(body).to.include({
          start_date: '2031-05-01 19:05:00',
          utc_start_date: '2031-05-01 17:05:00',
          end_date: '2031-05-01 21:30:00',
          timezone: 'Europe/Paris',
          cost: '$15',
          website: 'https://tickets.example/7',
        });
        expect([{ start: body.start_date, end: body.end_date }]).to.deep.equal(await datesOf(site, site.ids.concert!));
        expect(body.venue).to.include({ venue: 'Old Mill', address: '1 Mill Lane', website: 'https://mill.example/' });
        expect((body.organizer as Json[])[0]).to.include({
          organizer: 'The Players',
          phone: '+353 91 2',
          email: 'hello@players.example',
        });
        expect((body.categories as Json[]).map(({ id }) => id)).to.deep.equal([site.ids.music]);
      },
      async 'a whole day, without a location'(site) {
        const { body } = await site.request(`events/${site.ids.fair}`);
        expect(body).to.include({ all_day: true, start_date: '2031-06-12 00:00:00', end_date: '2031-06-12 23:59:59' });
        expect([body.venue, body.organizer]).to.deep.equal([[], []]);
      },
      async 'past events; hidden ones in no list; drafts for staff only'(site) {
        const past = 'events?start_date=2000-01-01&end_date=2100-01-01&search=Old fair';
        expect((await site.request(past)).body.total).to.equal(1);
        expect(await datesOf(site, site.ids.unlisted!)).to.deep.equal([]);
        const { events } = (await site.request('events?start_date=2031-05-01&end_date=2031-05-31')).body;
        expect((events as Json[]).map(({ id }) => id)).to.deep.equal([site.ids.concert]);
        expect((await site.request(`events/${site.ids.sketch}`)).status).to.be.oneOf([401, 403]);
        expect((await site.request(`events/${site.ids.sketch}`, { as: 'admin' })).body.title).to.equal('Sketch');
      },
      async 'the state of events, as the plugin tells search engines, and reasons that its pages show'(site) {
        const states = {
          concert: {},
          cancelled: { event_status: 'cancelled', event_status_reason: 'Storm &amp; flood' },
          hushed: { event_status: 'cancelled' },
          postponed: { event_status: 'postponed' },
          moved: {
            event_status: 'moved_online',
            attendance_mode: 'online',
            online_url: 'https://meet.example/?a=1&b=2',
          },
          scheduled: { event_status: 'scheduled' },
        };
        const words: Json = {
          EventCancelled: 'cancelled',
          EventPostponed: 'postponed',
          EventMovedOnline: 'moved_online',
        };
        for (const [name, state] of Object.entries(states)) {
          const shown: Json = stateOf((await site.request(`events/${site.ids[name]}`)).body);
          expect(shown, name).to.deep.equal(state);
          const { status, mode, reason } = await ownState(site, site.ids[name]);
          expect(words[status!] ?? 'scheduled', name).to.equal(shown.event_status ?? 'scheduled');
          expect(mode, name).to.equal(shown.attendance_mode === 'online' ? 'Online' : 'Offline');
          if (name !== 'hushed') expect(reason ?? '', name).to.equal(shown.event_status_reason ?? '');
        }
      },
      async 'the state of a single occurrence'(site) {
        const { weekly } = site.ids;
        const params = {
          event_status: 'EventCancelled',
          cancelled_reason: 'Rain',
          display_cancellation_reason_in_single_page: '1',
        };
        const [, second] = await datesOf(site, weekly!);
        await site.php(
          `$start = $wpdb->get_var( "SELECT tstart FROM {$wpdb->prefix}mec_dates WHERE post_id = ${weekly} ORDER BY tstart LIMIT 1, 1" );
          $wpdb->insert( "{$wpdb->prefix}mec_occurrences", array( 'post_id' => ${weekly}, 'occurrence' => $start, 'params' => '${JSON.stringify(params)}' ) );
          wp_update_post( array( 'ID' => ${weekly}, 'post_excerpt' => 'Touched' ) );
          return MEC_feature_occurrences::param( ${weekly}, $start, 'event_status' );`,
        );
        const cancelled = async () => {
          const listed = await listedOccurrences(site, weekly!);
          return listed.filter(({ event_status: status }) => status === 'cancelled');
        };
        await until(async () => (await cancelled()).length > 0, 'the occurrence is cancelled', 60_000);
        const [occurrence, ...others] = await cancelled();
        expect(others).to.deep.equal([]);
        expect(occurrence!.start_date).to.equal(second!.start);
        expect(occurrence!.event_status_reason).to.equal('Rain');
      },
    },
    written: 'the plugin keeps dates in tables of its own, which wp/v2 does not write',
    shown: 'the gateway writes nothing',
    webhook: {
      async 'a series that the plugin ends earlier, with the same ids'(site) {
        const { weekly, venue } = site.ids;
        const before = await listedOccurrences(site, weekly!);
        await site.php(
          `$start = get_post_meta( ${weekly}, 'mec_start_date', true );
          $times = array( 'start_time_hour' => 7, 'start_time_minutes' => 5, 'start_time_ampm' => 'PM', 'end_time_hour' => 9, 'end_time_minutes' => 30, 'end_time_ampm' => 'PM' );
          return MEC::getInstance( 'app.libraries.main' )->save_event( array( 'title' => 'Yoga', 'start' => $start, 'end' => $start, 'location_id' => ${venue}, 'repeat_status' => 1, 'repeat_type' => 'weekly', 'interval' => 7, 'finish' => gmdate( 'Y-m-d', strtotime( "$start +20 weeks" ) ) ) + $times, ${weekly} );`,
        );
        await untilWebhook(
          async () => (await listedOccurrences(site, weekly!)).length < before.length,
          'the gateway lists fewer occurrences',
        );
        const listed = await listedOccurrences(site, weekly!);
        const own = await datesOf(site, weekly!);
        expect(listed.map(({ start_date: start }) => start)).to.deep.equal(own.map(({ start }) => start));
        const ids = new Set(before.map(({ id }) => id));
        expect(listed.filter(({ id }) => !ids.has(id))).to.deep.equal([]);
      },
    },
    series: seriesChecks((site) => datesOf(site, site.ids.weekly!)),
  },
};
