<?php
// Plugin Name: Site: Event Organiser
// Description: Behaves like Event Organiser 3.12. Observed there:
// - "event": in wp/v2 "no; only taxonomy event-venue (and event-tag when on) is"; "event-category / event-tag (no REST by default)"
// - "_eventorganiser_schedule_start_start / _start_finish local string (first occurrence); _last_finish"; "site zone only"
// - all day "inside object _eventorganiser_event_schedule.all_day (0/1)"; "term event-venue (one per event)"; "address/lat/lng in
//   wp_eo_venuemeta, not term meta"
// - "list joins wp_eo_events, so a weekly event appears once per occurrence with the same id (5 rows), X-WP-Total counts occurrences, and a
//   REST-made post without a row is published yet never listed (GET by id works)"; without "showpastevents" past occurrences are not listed
// - eo_get_venue_address(), eo_get_venue_description(), eo_get_venue_lat(), eo_get_venue_lng() read wp_eo_venuemeta
// - Event tags are off after the installation; they are on here
// - Capabilities: "use their own capability names (edit_events, manage_venues, ...)"; only administrators have them here
// The companion plugin opens the type and registers the meta.

sandbox_grant( array_merge( sandbox_caps( 'events' ), array( 'manage_venues', 'manage_event_categories' ) ) );

add_action(
	'init',
	static function () {
		global $wpdb;
		$supports = array( 'title', 'editor', 'author', 'thumbnail', 'excerpt', 'custom-fields' );
		register_post_type( 'event', array( 'label' => 'Events', 'public' => true, 'show_in_rest' => false, 'supports' => $supports, 'capability_type' => array( 'event', 'events' ), 'map_meta_cap' => true, 'rewrite' => array( 'slug' => 'events/event' ) ) );
		$own = static fn( string $name ) => array( 'manage_terms' => $name, 'edit_terms' => $name, 'delete_terms' => $name, 'assign_terms' => 'edit_events' );
		register_taxonomy( 'event-venue', 'event', array( 'public' => true, 'show_in_rest' => true, 'capabilities' => $own( 'manage_venues' ) ) );
		register_taxonomy( 'event-category', 'event', array( 'public' => true, 'hierarchical' => true, 'show_in_rest' => false, 'capabilities' => $own( 'manage_event_categories' ) ) );
		register_taxonomy( 'event-tag', 'event', array( 'public' => true, 'show_in_rest' => false, 'capabilities' => $own( 'manage_event_categories' ) ) );
		if ( ! wp_installing() && ! get_option( 'site_table' ) ) {
			$wpdb->query( "CREATE TABLE IF NOT EXISTS {$wpdb->prefix}eo_events (event_id bigint(20) NOT NULL AUTO_INCREMENT, post_id bigint(20) NOT NULL, StartDate varchar(10) NOT NULL, StartTime varchar(8) NOT NULL, EndDate varchar(10) NOT NULL, FinishTime varchar(8) NOT NULL, PRIMARY KEY (event_id))" );
			update_option( 'site_table', '1' );
		}
	}
);

add_filter(
	'posts_join',
	static function ( string $join, WP_Query $query ) {
		global $wpdb;
		$here = 'event' === $query->get( 'post_type' ) || array( 'event' ) === $query->get( 'post_type' );
		return $here ? "$join INNER JOIN {$wpdb->prefix}eo_events ON {$wpdb->posts}.ID = {$wpdb->prefix}eo_events.post_id" : $join;
	},
	10,
	2
);
add_filter(
	'posts_where',
	static function ( string $where, WP_Query $query ) {
		global $wpdb;
		$lists = 'event' === $query->get( 'post_type' ) && ! $query->get( 'showpastevents' ) && ! $query->is_singular();
		return $lists ? "$where AND {$wpdb->prefix}eo_events.EndDate >= '" . wp_date( 'Y-m-d' ) . "'" : $where;
	},
	10,
	2
);
// One row for each occurrence.
add_filter( 'posts_groupby', static fn( string $groups, WP_Query $query ) => 'event' === $query->get( 'post_type' ) ? '' : $groups, 10, 2 );

function sandbox_seed( array $event ): int {
	global $wpdb;
	$meta = array();
	if ( isset( $event['start'], $event['end'] ) ) {
		$meta['_eventorganiser_schedule_start_start']  = $event['start'];
		$meta['_eventorganiser_schedule_start_finish'] = $event['end'];
		$meta['_eventorganiser_schedule_last_finish']  = $event['end'];
	}
	if ( ! isset( $event['id'] ) ) {
		$weekly                                 = ( $event['weeks'] ?? 1 ) > 1;
		$meta['_eventorganiser_event_schedule'] = array( 'all_day' => empty( $event['all_day'] ) ? 0 : 1, 'schedule' => $weekly ? 'weekly' : 'once', 'schedule_meta' => $weekly ? array( 'TH' ) : '', 'frequency' => 1 );
	}
	$id = sandbox_post( 'event', $event, $meta );
	for ( $week = 0; ! isset( $event['id'] ) && $week < ( $event['weeks'] ?? 1 ); $week++ ) {
		$start = ( new DateTimeImmutable( $event['start'] ) )->modify( "+$week weeks" );
		$end   = ( new DateTimeImmutable( $event['end'] ) )->modify( "+$week weeks" );
		$wpdb->insert( "{$wpdb->prefix}eo_events", array( 'post_id' => $id, 'StartDate' => $start->format( 'Y-m-d' ), 'StartTime' => $start->format( 'H:i:s' ), 'EndDate' => $end->format( 'Y-m-d' ), 'FinishTime' => $end->format( 'H:i:s' ) ) );
	}
	if ( isset( $event['venue'] ) ) {
		sandbox_assign( $id, 'event-venue', array( $event['venue']['name'] ) );
		$term   = sandbox_term( 'event-venue', $event['venue']['name'] );
		$stored = (array) get_option( 'site_venuemeta', array() );
		update_option( 'site_venuemeta', array( $term => $event['venue'] ) + $stored );
	}
	sandbox_assign( $id, 'event-category', $event['categories'] ?? null );
	sandbox_assign( $id, 'event-tag', $event['tags'] ?? null );
	return $id;
}

function eo_get_venue_address( int $id ): array {
	$stored = get_option( 'site_venuemeta', array() )[ $id ] ?? array();
	return array( 'address' => $stored['address'] ?? '', 'city' => $stored['city'] ?? '', 'state' => $stored['state'] ?? '', 'postcode' => $stored['zip'] ?? '', 'country' => $stored['country'] ?? '' );
}

function eo_get_venue_description( int $id ): string {
	return '';
}

function eo_get_venue_lat( int $id ): float {
	return 0.0;
}

function eo_get_venue_lng( int $id ): float {
	return 0.0;
}
