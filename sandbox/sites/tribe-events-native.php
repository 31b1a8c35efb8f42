<?php
// Plugin Name: Site: The Events Calendar
// Description: Behaves like The Events Calendar 6.17.2 through wp/v2, as test/plugins/the-events-calendar.ts observes it in the real one:
// - registers its keys for all posts, without a subtype, at priority 15 of init (src/Tribe/Editor/Meta.php): texts, booleans, and
//   _EventVenueID, _EventOrganizerID as "number" with "single" false, one row an id; _EventHideFromUpcoming ("yes" or no row) and
//   _tribe_featured ("1" or no row) not at all. With a classic theme and its block editor off it registers none: Tribe__Events__Editor__Meta
//   exists and is not called. The constant SITE_CLASSIC_THEME (classic-theme.php) makes it so here.
// - all keys appear on all three types, with defaults; a venue answer has _EventStartDate: ""
// - computes _EventStartDateUTC, _EventEndDateUTC after a save in wp/v2 with a start or end in it, by the "id" of the request, which a create has
//   not; a time zone alone leaves them as they are
// - puts an event into its own table, which is its calendar, after a save that changed a date key, if the event has its UTC keys
// - overwrites _EventCost with every such save, with an empty text if there is none
// - lists only upcoming events of its table, with include too, unless the query has tribe_suppress_query_filters; GET by id works
// - a sticky event has the menu order -1; a map without a row is shown
// The row of the table is a meta key here, _site_occurrence.

const SITE_TEXTS    = array(
	'_EventStartDate', '_EventEndDate', '_EventStartDateUTC', '_EventEndDateUTC', '_EventTimezone', '_EventCost', '_EventCurrencySymbol',
	'_EventCurrencyCode', '_EventCurrencyPosition', '_EventURL', '_VenueAddress', '_VenueCity', '_VenueCountry', '_VenueProvince', '_VenueState',
	'_VenueStateProvince', '_VenueZip', '_VenuePhone', '_VenueURL', '_OrganizerPhone', '_OrganizerWebsite', '_OrganizerEmail',
);
const SITE_SWITCHES = array( '_EventAllDay', '_EventShowMap', '_EventShowMapLink', '_VenueShowMap', '_VenueShowMapLink' );

class Tribe__Timezones {
	public static function abbr( $date, $zone ) {
		return ( new DateTimeImmutable( $date, new DateTimeZone( $zone ) ) )->format( 'T' );
	}
}

class Tribe__Events__Editor__Meta {
	public function register() {
		add_filter( 'rest_after_insert_tribe_events', array( $this, 'add_utc_dates' ), 10, 2 );
		add_filter( 'rest_after_insert_tribe_events', array( $this, 'update_cost' ), 10, 2 );
		$shown = array( 'single' => true, 'show_in_rest' => true, 'auth_callback' => static fn() => current_user_can( 'edit_posts' ) );
		foreach ( SITE_TEXTS as $key ) {
			register_meta( 'post', $key, array( 'type' => 'string', 'sanitize_callback' => 'sanitize_text_field' ) + $shown );
		}
		foreach ( SITE_SWITCHES as $key ) {
			register_meta( 'post', $key, array( 'type' => 'boolean' ) + $shown );
		}
		// The plugin stores "yes", which is no boolean of wp/v2.
		add_filter(
			'rest_prepare_tribe_events',
			static function ( $response, $post ) {
				$response->data['meta']['_EventAllDay'] = in_array( get_post_meta( $post->ID, '_EventAllDay', true ), array( 'yes', '1' ), true );
				return $response;
			},
			10,
			2
		);
		foreach ( array( '_EventVenueID', '_EventOrganizerID' ) as $key ) {
			register_meta( 'post', $key, array( 'type' => 'number', 'single' => false ) + $shown );
		}
	}

	public function add_utc_dates( $post, WP_REST_Request $request ) {
		$meta = $request->get_json_params()['meta'] ?? array();
		$id   = (int) $request->get_param( 'id' );
		if ( $id && ( isset( $meta['_EventStartDate'] ) || isset( $meta['_EventEndDate'] ) ) ) {
			$zone = new DateTimeZone( get_post_meta( $id, '_EventTimezone', true ) ?: wp_timezone_string() );
			foreach ( array( 'Start', 'End' ) as $end ) {
				$moment = new DateTimeImmutable( get_post_meta( $id, "_Event{$end}Date", true ), $zone );
				update_post_meta( $id, "_Event{$end}DateUTC", $moment->setTimezone( new DateTimeZone( 'UTC' ) )->format( 'Y-m-d H:i:s' ) );
			}
		}
		return $post;
	}

	public function update_cost( $post, WP_REST_Request $request ) {
		$id = (int) $request->get_param( 'id' );
		if ( $id ) {
			update_post_meta( $id, '_EventCost', get_post_meta( $id, '_EventCost', true ) );
		}
		return $post;
	}
}

add_action(
	'init',
	static function () {
		foreach ( array( 'tribe_events', 'tribe_venue', 'tribe_organizer' ) as $type ) {
			register_post_type(
				$type,
				array(
					'label'        => $type,
					'public'       => true,
					'show_in_rest' => true,
					'supports'     => array( 'title', 'editor', 'author', 'thumbnail', 'excerpt', 'custom-fields' ),
					'taxonomies'   => 'tribe_events' === $type ? array( 'post_tag' ) : array(),
				)
			);
		}
		register_taxonomy( 'tribe_events_cat', 'tribe_events', array( 'public' => true, 'hierarchical' => true, 'show_in_rest' => true ) );
	}
);

add_action(
	'init',
	static function () {
		if ( ! defined( 'SITE_CLASSIC_THEME' ) ) {
			( new Tribe__Events__Editor__Meta() )->register();
		}
	},
	15
);

add_filter( 'use_block_editor_for_post_type', static fn( $use, $type ) => $use && ! ( defined( 'SITE_CLASSIC_THEME' ) && str_starts_with( $type, 'tribe_' ) ), 10, 2 );

// The table follows any change of a date key, at the end of the request.
foreach ( array( 'updated_postmeta', 'added_post_meta' ) as $hook ) {
	add_action(
		$hook,
		static function ( $row, $id, $key ) {
			if ( in_array( $key, array( '_EventStartDate', '_EventEndDate', '_EventStartDateUTC', '_EventEndDateUTC', '_EventTimezone', '_EventAllDay' ), true ) ) {
				site_changed( (int) $id );
			}
		},
		10,
		3
	);
}

/** The events whose dates this request changed. Adds one, if given. */
function site_changed( ?int $id = null ): array {
	static $ids = array();
	if ( null !== $id ) {
		$ids[ $id ] = $id;
	}
	return $ids;
}

function site_commit(): void {
	foreach ( site_changed() as $id ) {
		$end = get_post_meta( $id, '_EventEndDateUTC', true );
		if ( 'tribe_events' === get_post_type( $id ) && $end ) {
			update_post_meta( $id, '_site_occurrence', $end );
		}
	}
}
add_action( 'rest_after_insert_tribe_events', 'site_commit', 100 );
add_action( 'shutdown', 'site_commit' );

add_filter(
	'rest_tribe_events_query',
	static function ( array $args ) {
		if ( empty( $args['tribe_suppress_query_filters'] ) ) {
			$args['meta_query'][] = array( 'key' => '_site_occurrence', 'value' => gmdate( 'Y-m-d H:i:s' ), 'compare' => '>=' );
		}
		return $args;
	},
	20
);
