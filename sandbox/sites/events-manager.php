<?php
// Plugin Name: Site: Events Manager
// Description: Behaves like Events Manager 7.2. Observed there:
// - "event, location": in wp/v2 "no (404)"; "event-categories / event-tags"; "_event_* meta mirror + table"
// - "_event_start_date + _event_start_time (split), or _event_start_local; _event_start is UTC"; "_event_timezone"; "_event_all_day "1""
// - "_location_id = location table id, not the post id; location post meta _location_id joins back, _location_address, _town, _state, _postcode,
//   _region, _country"
// - "content.rendered is the whole event page HTML (2.6-5.5 kB for a 4-letter body)", with ids that differ each time, made by
//   EM_Event_Post::the_content
// - "REST never runs its save code: _event_id stays empty, no table row" (so the seeding stands for its edit form)
// - Table em_events: post_id, and event_type "single" or "recurring" (a series). Series are tested with the real plugin only
// - Capabilities: "use their own capability names (edit_events, ...)"; only administrators have them here
// The companion plugin opens the types and registers the meta.

sandbox_grant( array_merge( sandbox_caps( 'events' ), sandbox_caps( 'locations' ), array( 'edit_event_categories', 'delete_event_categories' ) ) );

add_action(
	'init',
	static function () {
		global $wpdb;
		if ( ! wp_installing() && ! get_option( 'site_table' ) ) {
			$wpdb->query( "CREATE TABLE IF NOT EXISTS {$wpdb->prefix}em_events (event_id bigint(20) NOT NULL AUTO_INCREMENT, post_id bigint(20) NOT NULL, event_type varchar(20) NOT NULL, PRIMARY KEY (event_id))" );
			update_option( 'site_table', '1' );
		}
		$supports = array( 'title', 'editor', 'author', 'thumbnail', 'excerpt', 'custom-fields' );
		$own      = array( 'manage_terms' => 'edit_event_categories', 'edit_terms' => 'edit_event_categories', 'delete_terms' => 'delete_event_categories', 'assign_terms' => 'edit_events' );
		register_post_type( 'event', array( 'label' => 'Events', 'public' => true, 'show_in_rest' => false, 'supports' => $supports, 'capability_type' => array( 'event', 'events' ), 'map_meta_cap' => true, 'rewrite' => array( 'slug' => 'events' ) ) );
		register_post_type( 'location', array( 'label' => 'Locations', 'public' => true, 'show_in_rest' => false, 'supports' => $supports, 'capability_type' => array( 'location', 'locations' ), 'map_meta_cap' => true, 'rewrite' => array( 'slug' => 'locations' ) ) );
		register_taxonomy( 'event-categories', 'event', array( 'public' => true, 'hierarchical' => true, 'show_in_rest' => false, 'capabilities' => $own ) );
		register_taxonomy( 'event-tags', 'event', array( 'public' => true, 'show_in_rest' => false, 'capabilities' => $own ) );
	}
);

class EM_Event_Post {
	public static function the_content( string $html ): string {
		return 'event' === get_post_type()
			? '<div class="em em-view-container" id="em-view-' . wp_rand() . '">' . str_repeat( '<div class="em-item-meta-line em-event-date"></div>', 40 ) . "<section>$html</section></div>"
			: $html;
	}
}
add_filter( 'the_content', array( 'EM_Event_Post', 'the_content' ) );

function sandbox_seed( array $event ): int {
	global $wpdb;
	$meta = array();
	foreach ( array( 'start', 'end' ) as $end ) {
		if ( isset( $event[ $end ] ) ) {
			$meta[ "_event_{$end}_date" ]  = sandbox_part( $event[ $end ], 'Y-m-d' );
			$meta[ "_event_{$end}_time" ]  = sandbox_part( $event[ $end ], 'H:i:s' );
			$meta[ "_event_{$end}_local" ] = $event[ $end ];
			$meta[ "_event_$end" ]         = sandbox_moment( $event[ $end ], $event['timezone'] ?? null )->setTimezone( new DateTimeZone( 'UTC' ) )->format( 'Y-m-d H:i:s' );
		}
	}
	if ( ! isset( $event['id'] ) ) {
		$meta['_event_timezone'] = $event['timezone'] ?? wp_timezone_string();
		$meta['_event_all_day']  = empty( $event['all_day'] ) ? '0' : '1';
	}
	if ( isset( $event['venue'] ) ) {
		$meta['_location_id'] = site_location( $event['venue'] );
	}
	$id = sandbox_post( 'event', $event, $meta );
	if ( ! isset( $event['id'] ) ) {
		$wpdb->insert( "{$wpdb->prefix}em_events", array( 'post_id' => $id, 'event_type' => 'single' ) );
	}
	sandbox_assign( $id, 'event-categories', $event['categories'] ?? null );
	sandbox_assign( $id, 'event-tags', $event['tags'] ?? null );
	return $id;
}

/** The id of a location in the plugin's own table. */
function site_location( array $venue ): string {
	$found = get_posts( array( 'post_type' => 'location', 'title' => $venue['name'] ) );
	if ( $found ) {
		return get_post_meta( $found[0]->ID, '_location_id', true );
	}
	$number = (int) get_option( 'site_locations' ) + 1;
	update_option( 'site_locations', $number );
	$meta = array( '_location_id' => (string) $number );
	foreach ( array( 'address' => 'address', 'city' => 'town', 'state' => 'state', 'zip' => 'postcode', 'country' => 'country' ) as $name => $key ) {
		$meta[ "_location_$key" ] = $venue[ $name ] ?? '';
	}
	sandbox_post( 'location', array( 'title' => $venue['name'], 'content' => '' ), $meta );
	return (string) $number;
}
