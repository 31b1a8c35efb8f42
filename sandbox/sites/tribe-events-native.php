<?php
// Plugin Name: Site: The Events Calendar
// Description: Behaves like The Events Calendar 6.17 through wp/v2. Observed there:
// - "tribe_events, tribe_venue, tribe_organizer (same bases)", in wp/v2 "yes, with meta"
// - "All _Event*, _Venue*, _Organizer* keys appear on all three types, with defaults; a venue answer has _EventStartDate: """
// - registers its keys for all posts, without a subtype, at priority 15 of init (6.17.2, src/Tribe/Editor/Meta.php): texts, booleans, and
//   _EventVenueID, _EventOrganizerID as "number" with "single" false, one row an id; _EventHideFromUpcoming ("yes" or no row) and
//   _tribe_featured ("1" or no row) not at all
// - "_EventStartDate, _EventEndDate "Y-m-d H:i:s"; UTC twins derived"; "_EventTimezone"; "_EventAllDay boolean"; "_EventCost (+CurrencySymbol/Code/
//   Position)"; "_EventVenueID array of post ids"; "_EventOrganizerID array"; "tribe_events_cat / core post_tag"
// - "POST create stores meta but the event is absent from every list: the custom tables row is missing, since REST writes meta after the insert
//   hook. A second POST that carries a date meta key (same value is fine) creates the row and the UTC keys; an empty POST {} does not"
// - "Lists show only indexed upcoming events; include=<past id> is hidden too; GET by id works. No REST parameter found to lift it"
// The row of the custom table is a meta key here.

const SITE_TEXTS    = array(
	'_EventStartDate', '_EventEndDate', '_EventStartDateUTC', '_EventEndDateUTC', '_EventTimezone', '_EventCost', '_EventCurrencySymbol',
	'_EventCurrencyCode', '_EventCurrencyPosition', '_EventURL', '_VenueAddress', '_VenueCity', '_VenueCountry', '_VenueProvince', '_VenueState',
	'_VenueStateProvince', '_VenueZip', '_VenuePhone', '_VenueURL', '_OrganizerPhone', '_OrganizerWebsite', '_OrganizerEmail',
);
const SITE_SWITCHES = array( '_EventAllDay', '_EventShowMap', '_EventShowMapLink', '_VenueShowMap', '_VenueShowMapLink' );

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
		$shown = array( 'single' => true, 'show_in_rest' => true, 'auth_callback' => static fn() => current_user_can( 'edit_posts' ) );
		foreach ( SITE_TEXTS as $key ) {
			register_meta( 'post', $key, array( 'type' => 'string', 'sanitize_callback' => 'sanitize_text_field' ) + $shown );
		}
		foreach ( SITE_SWITCHES as $key ) {
			register_meta( 'post', $key, array( 'type' => 'boolean' ) + $shown );
		}
		foreach ( array( '_EventVenueID', '_EventOrganizerID' ) as $key ) {
			register_meta( 'post', $key, array( 'type' => 'number', 'single' => false ) + $shown );
		}
	},
	15
);

add_action(
	'rest_after_insert_tribe_events',
	static function ( WP_Post $post, WP_REST_Request $request, bool $creating ) {
		$dates = array( '_EventStartDate', '_EventEndDate', '_EventTimezone' );
		if ( $creating || ! array_intersect( $dates, array_keys( (array) $request['meta'] ) ) ) {
			return;
		}
		$zone = new DateTimeZone( get_post_meta( $post->ID, '_EventTimezone', true ) ?: wp_timezone_string() );
		foreach ( array( 'Start', 'End' ) as $end ) {
			$moment = new DateTimeImmutable( get_post_meta( $post->ID, "_Event{$end}Date", true ), $zone );
			update_post_meta( $post->ID, "_Event{$end}DateUTC", $moment->setTimezone( new DateTimeZone( 'UTC' ) )->format( 'Y-m-d H:i:s' ) );
		}
		update_post_meta( $post->ID, '_site_occurrence', get_post_meta( $post->ID, '_EventEndDateUTC', true ) );
	},
	10,
	3
);

add_filter(
	'rest_tribe_events_query',
	static function ( array $args ) {
		$args['meta_query'][] = array( 'key' => '_site_occurrence', 'value' => gmdate( 'Y-m-d H:i:s' ), 'compare' => '>=' );
		return $args;
	}
);
