<?php
// Plugin Name: Site: GatherPress
// Description: Behaves like GatherPress 0.34 and 0.35. Observed there:
// - "gatherpress_event -> gatherpress_events; gatherpress_venue -> gatherpress_venues", in wp/v2 "yes, with meta"; "All meta is readable anonymously"
// - "write meta.gatherpress_datetime = JSON string {dateTimeStart, dateTimeEnd, timezone}; read gatherpress_datetime_start/_end (local) and _gmt"
// - "GET returns upcoming events only, even with status=any or context=edit: its own REST arg gatherpress_event_query defaults to upcoming";
//   "=all (also shows events with no date)"
// - "An unknown zone gives 500 and the bad value is already stored; non-JSON is accepted"; "Derived keys sent in a write are dropped quietly"
// - "term in _gatherpress_venue, slug = _ + venue post slug"; "exists only for published venues; it follows rename and slug change; goes away on
//   force delete"; "online-event is a special term in the same taxonomy without leading underscore"
// - "Structured city/state/postcode are read-only; writable: address, latitude, longitude, phone, website (strings)"

const SITE_DERIVED = array( 'gatherpress_datetime_start', 'gatherpress_datetime_start_gmt', 'gatherpress_datetime_end', 'gatherpress_datetime_end_gmt', 'gatherpress_timezone' );
const SITE_VENUE   = array( 'gatherpress_address', 'gatherpress_latitude', 'gatherpress_longitude', 'gatherpress_phone', 'gatherpress_website', 'gatherpress_city', 'gatherpress_state', 'gatherpress_postcode' );

add_action(
	'init',
	static function () {
		$supports = array( 'title', 'editor', 'author', 'thumbnail', 'excerpt', 'custom-fields' );
		register_post_type( 'gatherpress_event', array( 'label' => 'Events', 'public' => true, 'show_in_rest' => true, 'rest_base' => 'gatherpress_events', 'supports' => $supports, 'rewrite' => array( 'slug' => 'event' ) ) );
		register_post_type( 'gatherpress_venue', array( 'label' => 'Venues', 'public' => true, 'show_in_rest' => true, 'rest_base' => 'gatherpress_venues', 'supports' => $supports, 'rewrite' => array( 'slug' => 'venue' ) ) );
		register_taxonomy( 'gatherpress_topic', 'gatherpress_event', array( 'public' => true, 'hierarchical' => true, 'show_in_rest' => true ) );
		register_taxonomy( '_gatherpress_venue', 'gatherpress_event', array( 'public' => true, 'show_in_rest' => true ) );
		$shown = array( 'single' => true, 'type' => 'string', 'show_in_rest' => true, 'auth_callback' => static fn() => current_user_can( 'edit_posts' ) );
		foreach ( array( 'gatherpress_datetime', 'gatherpress_online_event_link', ...SITE_DERIVED ) as $key ) {
			register_post_meta( 'gatherpress_event', $key, $shown );
		}
		foreach ( SITE_VENUE as $key ) {
			register_post_meta( 'gatherpress_venue', $key, $shown );
		}
		if ( ! wp_installing() && ! term_exists( 'online-event', '_gatherpress_venue' ) ) {
			wp_insert_term( 'Online event', '_gatherpress_venue', array( 'slug' => 'online-event' ) );
		}
	}
);

// Derived keys are not writable.
add_filter(
	'rest_request_before_callbacks',
	static function ( $response, $handler, WP_REST_Request $request ) {
		if ( is_array( $request['meta'] ) ) {
			$derived = array_merge( SITE_DERIVED, array( 'gatherpress_city', 'gatherpress_state', 'gatherpress_postcode' ) );
			$request->set_param( 'meta', array_diff_key( $request['meta'], array_flip( $derived ) ) );
		}
		return $response;
	},
	10,
	3
);

function site_derive( $row, int $id, string $key, $value ): void {
	$when = 'gatherpress_datetime' === $key ? json_decode( (string) $value, true ) : null;
	if ( ! is_array( $when ) ) {
		return;
	}
	// Throws for an unknown zone, after the text is stored.
	$zone = new DateTimeZone( $when['timezone'] ?? wp_timezone_string() );
	update_post_meta( $id, 'gatherpress_timezone', $zone->getName() );
	foreach ( array( 'start' => 'dateTimeStart', 'end' => 'dateTimeEnd' ) as $end => $name ) {
		// A date that the text lacks is deleted.
		$moment = empty( $when[ $name ] ) ? null : new DateTimeImmutable( $when[ $name ], $zone );
		update_post_meta( $id, "gatherpress_datetime_$end", $moment ? $moment->format( 'Y-m-d H:i:s' ) : '' );
		update_post_meta( $id, "gatherpress_datetime_{$end}_gmt", $moment ? $moment->setTimezone( new DateTimeZone( 'UTC' ) )->format( 'Y-m-d H:i:s' ) : '' );
	}
}
add_action( 'added_post_meta', 'site_derive', 10, 4 );
add_action( 'updated_post_meta', 'site_derive', 10, 4 );

add_filter(
	'rest_gatherpress_event_collection_params',
	static fn( array $params ) => $params + array( 'gatherpress_event_query' => array( 'type' => 'string', 'enum' => array( 'upcoming', 'past', 'all' ), 'default' => 'upcoming' ) )
);
add_filter(
	'rest_gatherpress_event_query',
	static function ( array $args, WP_REST_Request $request ) {
		$asked = $request['gatherpress_event_query'] ?? 'upcoming';
		if ( 'all' !== $asked ) {
			$args['meta_query'][] = array( 'key' => 'gatherpress_datetime_end_gmt', 'value' => gmdate( 'Y-m-d H:i:s' ), 'compare' => 'upcoming' === $asked ? '>=' : '<' );
		}
		return $args;
	},
	10,
	2
);

// Each venue has a term with its slug, and events have that term.
add_action(
	'save_post_gatherpress_venue',
	static function ( int $id, WP_Post $post ) {
		$known = (int) get_post_meta( $id, '_shadow_term', true );
		if ( $known ) {
			wp_update_term( $known, '_gatherpress_venue', array( 'name' => $post->post_title, 'slug' => '_' . $post->post_name ) );
		} elseif ( 'publish' === $post->post_status ) {
			$made = wp_insert_term( $post->post_title, '_gatherpress_venue', array( 'slug' => '_' . $post->post_name ) );
			if ( ! is_wp_error( $made ) ) {
				update_post_meta( $id, '_shadow_term', $made['term_id'] );
			}
		}
	},
	10,
	2
);
add_action(
	'before_delete_post',
	static function ( int $id, WP_Post $post ) {
		$known = 'gatherpress_venue' === $post->post_type ? (int) get_post_meta( $id, '_shadow_term', true ) : 0;
		if ( $known ) {
			wp_delete_term( $known, '_gatherpress_venue' );
		}
	},
	10,
	2
);
