<?php
// Plugin Name: Site: WP Event Manager
// Description: Behaves like WP Event Manager 3.1. Observed there:
// - "event_listing (event_organizer, event_venue optional, not in REST)"; in wp/v2 "post yes, meta []"; "plain meta only"
// - "_event_start_date "Y-m-d H:i:s" AND _event_start_time "H:i:s""; "_event_timezone"; "_event_venue_ids single post id"
// - "_event_organizer_ids serialized array"; "_featured 0/1"; "_event_online yes/no"
// - "event_listing_category, event_listing_type (admin options switch them on)" (here they are on, and in REST)
// - "extra statuses expired, preview"; "Past events turn to status expired by cron: ask status=publish,expired or they vanish"
// - Capabilities: "use their own capability names"; only administrators have them here
// The companion plugin opens the types and registers the meta.

sandbox_grant( sandbox_caps( 'event_listings' ) );

add_action(
	'init',
	static function () {
		$supports = array( 'title', 'editor', 'author', 'thumbnail', 'excerpt', 'custom-fields' );
		$types    = array( 'capability_type' => array( 'event_listing', 'event_listings' ), 'map_meta_cap' => true, 'public' => true, 'supports' => $supports );
		register_post_type( 'event_listing', $types + array( 'label' => 'Events', 'show_in_rest' => true, 'rewrite' => array( 'slug' => 'event' ) ) );
		register_post_type( 'event_venue', $types + array( 'label' => 'Venues', 'show_in_rest' => false ) );
		register_post_type( 'event_organizer', $types + array( 'label' => 'Organizers', 'show_in_rest' => false ) );
		$own = array( 'manage_terms' => 'edit_event_listings', 'edit_terms' => 'edit_event_listings', 'delete_terms' => 'edit_event_listings', 'assign_terms' => 'edit_event_listings' );
		foreach ( array( 'event_listing_category', 'event_listing_type' ) as $taxonomy ) {
			register_taxonomy( $taxonomy, 'event_listing', array( 'public' => true, 'hierarchical' => true, 'show_in_rest' => true, 'capabilities' => $own ) );
		}
		register_post_status( 'expired', array( 'label' => 'Expired', 'public' => true ) );
		register_post_status( 'preview', array( 'label' => 'Preview', 'public' => false ) );
		if ( ! wp_installing() && ! wp_next_scheduled( 'event_manager_check_for_expired_events' ) ) {
			wp_schedule_event( time() + HOUR_IN_SECONDS, 'hourly', 'event_manager_check_for_expired_events' );
		}
	}
);

add_action(
	'event_manager_check_for_expired_events',
	static function () {
		$past = array( array( 'key' => '_event_end_date', 'value' => array( '0001-01-01', current_time( 'mysql' ) ), 'compare' => 'BETWEEN' ) );
		foreach ( get_posts( array( 'post_type' => 'event_listing', 'post_status' => 'publish', 'numberposts' => -1, 'meta_query' => $past ) ) as $post ) {
			wp_update_post( array( 'ID' => $post->ID, 'post_status' => 'expired' ) );
		}
	}
);
