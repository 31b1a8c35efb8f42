<?php
// Plugin Name: Site: Modern Events Calendar
// Description: Behaves like Modern Events Calendar Lite 5.21. Observed there:
// - "mec-events": in wp/v2 "post yes, no meta property at all (no custom-fields support)"
// - "mec_start_date + mec_start_time_hour (1-12) + _minutes + _ampm; plus mec_start_day_seconds; same for end"
// - "mec_timezone ('global' = site)"; "mec_allday 0/1"; "mec_cost / mec_read_more"
// - "mec_location_id = term id in mec_location (term meta address, latitude, longitude, url), term often not assigned"; "mec_organizer_id = term id
//   in mec_organizer (term meta tel, email, url)"; "mec_category (REST yes), mec_label / core post_tag"
// - in 5.21.2: the occurrences in the table mec_dates (dstart, dend; tstart, tend count seconds on a clock that shows wall time in UTC; public);
//   mec_repeat_status 1 of a series; mec_public 0 of an event that its calendars do not show
// Not observed: whether minutes have two digits. Here they have as many as they need ("5"), which is the harder case to read.
// The companion plugin opens its types and registers the meta.

add_action(
	'init',
	static function () {
		global $wpdb;
		if ( ! wp_installing() && ! get_option( 'site_table' ) ) {
			$wpdb->query( "CREATE TABLE IF NOT EXISTS {$wpdb->prefix}mec_dates (id int(10) NOT NULL AUTO_INCREMENT, post_id int(10) NOT NULL, dstart date NOT NULL, dend date NOT NULL, tstart int(11) NOT NULL, tend int(11) NOT NULL, public int(4) NOT NULL DEFAULT 1, PRIMARY KEY (id))" );
			update_option( 'site_table', '1' );
		}
		register_post_type( 'mec-events', array( 'label' => 'Events', 'public' => true, 'show_in_rest' => true, 'supports' => array( 'title', 'editor', 'author', 'thumbnail', 'excerpt' ), 'taxonomies' => array( 'post_tag' ), 'rewrite' => array( 'slug' => 'events' ) ) );
		register_taxonomy( 'mec_category', 'mec-events', array( 'public' => true, 'hierarchical' => true, 'show_in_rest' => true ) );
		register_taxonomy( 'mec_location', 'mec-events', array( 'public' => true, 'show_in_rest' => false ) );
		register_taxonomy( 'mec_organizer', 'mec-events', array( 'public' => true, 'show_in_rest' => false ) );
	}
);

function sandbox_seed( array $event ): int {
	global $wpdb;
	$meta = array();
	foreach ( array( 'start', 'end' ) as $end ) {
		if ( isset( $event[ $end ] ) ) {
			$meta[ "mec_{$end}_date" ]         = sandbox_part( $event[ $end ], 'Y-m-d' );
			$meta[ "mec_{$end}_time_hour" ]    = sandbox_part( $event[ $end ], 'g' );
			$meta[ "mec_{$end}_time_minutes" ] = (string) (int) sandbox_part( $event[ $end ], 'i' );
			$meta[ "mec_{$end}_time_ampm" ]    = sandbox_part( $event[ $end ], 'A' );
			$meta[ "mec_{$end}_day_seconds" ]  = (string) ( strtotime( $event[ $end ] . ' UTC' ) % DAY_IN_SECONDS );
		}
	}
	if ( ! isset( $event['id'] ) ) {
		$meta['mec_repeat_status'] = ( $event['weeks'] ?? 1 ) > 1 ? '1' : '0';
		$meta['mec_public']    = empty( $event['hidden'] ) ? '1' : '0';
		$meta['mec_timezone']  = $event['timezone'] ?? 'global';
		$meta['mec_allday']    = empty( $event['all_day'] ) ? '0' : '1';
		$meta['mec_cost']      = $event['cost'] ?? '';
		$meta['mec_read_more'] = $event['website'] ?? '';
	}
	if ( isset( $event['venue'] ) ) {
		$meta['mec_location_id'] = (string) sandbox_term( 'mec_location', $event['venue']['name'], array( 'address' => $event['venue']['address'] ?? '', 'url' => $event['venue']['website'] ?? '' ) );
	}
	if ( isset( $event['organizer'] ) ) {
		$person                   = $event['organizer'];
		$meta['mec_organizer_id'] = (string) sandbox_term( 'mec_organizer', $person['name'], array( 'tel' => $person['phone'] ?? '', 'email' => $person['email'] ?? '', 'url' => $person['website'] ?? '' ) );
	}
	$id = sandbox_post( 'mec-events', $event, $meta );
	for ( $week = 0; ! isset( $event['id'] ) && $week < ( $event['weeks'] ?? 1 ); $week++ ) {
		$start = strtotime( "{$event['start']} UTC" ) + $week * WEEK_IN_SECONDS;
		$end   = strtotime( "{$event['end']} UTC" ) + $week * WEEK_IN_SECONDS;
		$wpdb->insert( "{$wpdb->prefix}mec_dates", array( 'post_id' => $id, 'dstart' => gmdate( 'Y-m-d', $start ), 'dend' => gmdate( 'Y-m-d', $end ), 'tstart' => $start, 'tend' => $end, 'public' => (int) $meta['mec_public'] ) );
	}
	sandbox_assign( $id, 'mec_category', $event['categories'] ?? null );
	sandbox_assign( $id, 'post_tag', $event['tags'] ?? null );
	return $id;
}
