<?php
// Plugin Name: Site: Modern Events Calendar
// Description: Behaves like Modern Events Calendar Lite 5.21. Observed there:
// - "mec-events": in wp/v2 "post yes, no meta property at all (no custom-fields support)"
// - "mec_start_date + mec_start_time_hour (1-12) + _minutes + _ampm; plus mec_start_day_seconds; same for end"
// - "mec_timezone ('global' = site)"; "mec_allday 0/1"; "mec_cost / mec_read_more"
// - "mec_location_id = term id in mec_location (term meta address, latitude, longitude, url), term often not assigned"; "mec_organizer_id = term id
//   in mec_organizer (term meta tel, email, url)"; "mec_category (REST yes), mec_label / core post_tag"
// Not observed: whether minutes have two digits. Here they have as many as they need ("5"), which is the harder case to read.
// The companion plugin opens its types and registers the meta.

add_action(
	'init',
	static function () {
		register_post_type( 'mec-events', array( 'label' => 'Events', 'public' => true, 'show_in_rest' => true, 'supports' => array( 'title', 'editor', 'author', 'thumbnail', 'excerpt' ), 'taxonomies' => array( 'post_tag' ), 'rewrite' => array( 'slug' => 'events' ) ) );
		register_taxonomy( 'mec_category', 'mec-events', array( 'public' => true, 'hierarchical' => true, 'show_in_rest' => true ) );
		register_taxonomy( 'mec_location', 'mec-events', array( 'public' => true, 'show_in_rest' => false ) );
		register_taxonomy( 'mec_organizer', 'mec-events', array( 'public' => true, 'show_in_rest' => false ) );
	}
);

function sandbox_seed( array $event ): int {
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
	sandbox_assign( $id, 'mec_category', $event['categories'] ?? null );
	sandbox_assign( $id, 'post_tag', $event['tags'] ?? null );
	return $id;
}
