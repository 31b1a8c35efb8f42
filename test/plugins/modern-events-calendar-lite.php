<?php
// Fills a site as the importers of Modern Events Calendar do: save_location(), save_organizer(), save_category(), save_event().

$main  = MEC::getInstance( 'app.libraries.main' );
$venue = (int) $main->save_location( array( 'name' => 'Old Mill', 'address' => '1 Mill Lane', 'url' => 'https://mill.example/', 'latitude' => '52.4', 'longitude' => '0.26' ) );
$host  = (int) $main->save_organizer( array( 'name' => 'The Players', 'tel' => '+353 91 2', 'email' => 'hello@players.example', 'url' => 'https://players.example/' ) );
$music = (int) $main->save_category( array( 'name' => 'Music' ) );
$day   = static fn( string $when ) => ( new DateTime( $when, wp_timezone() ) )->format( 'Y-m-d' );
$save  = static function ( string $title, string $start, array $more = array() ) use ( $main ) {
	$event = array(
		'title'              => $title,
		'content'            => "About $title.",
		'start'              => $start,
		'start_time_hour'    => 7,
		'start_time_minutes' => 5,
		'start_time_ampm'    => 'PM',
		'end'                => $start,
		'end_time_hour'      => 9,
		'end_time_minutes'   => 30,
		'end_time_ampm'      => 'PM',
		'repeat_status'      => 0,
		'repeat_type'        => '',
		'interval'           => null,
	);
	return (int) $main->save_event( $more + $event );
};
$first  = $day( 'last sunday' );
$weekly = array( 'repeat_status' => 1, 'repeat_type' => 'weekly', 'interval' => 7, 'finish' => $day( "$first +40 weeks" ) );
$daily  = array( 'repeat_status' => 1, 'repeat_type' => 'daily', 'interval' => 1, 'finish' => $day( '+20 days' ) );
$ids    = array(
	'venue'    => $venue,
	'host'     => $host,
	'music'    => $music,
	'concert'  => $save( 'Concert', '2031-05-01', array( 'location_id' => $venue, 'organizer_id' => $host, 'meta' => array( 'mec_timezone' => 'Europe/Paris', 'mec_cost' => '$15', 'mec_read_more' => 'https://tickets.example/7' ) ) ),
	'fair'     => $save( 'Fair', '2031-06-12', array( 'allday' => 1 ) ),
	'past'     => $save( 'Old fair', $day( '-60 days' ) ),
	'unlisted' => $save( 'Behind the curtain', '2031-05-01', array( 'meta' => array( 'mec_public' => 0 ) ) ),
	'sketch'   => $save( 'Sketch', '2031-05-02', array( 'status' => 'draft' ) ),
	'weekly'   => $save( 'Yoga', $first, array( 'location_id' => $venue ) + $weekly ),
	'draft'    => $save( 'Planned class', $day( '-1 day' ), array( 'status' => 'draft' ) + $daily ),
	'private'  => $save( 'Staff class', $day( '-1 day' ), array( 'status' => 'private' ) + $daily ),
);
$states = array(
	'cancelled' => array( 'event_status' => 'EventCancelled', 'cancelled_reason' => 'Storm &amp; flood', 'display_cancellation_reason_in_single_page' => 1 ),
	'hushed'    => array( 'event_status' => 'EventCancelled', 'cancelled_reason' => 'Secret reason' ),
	'postponed' => array( 'event_status' => 'EventPostponed', 'cancelled_reason' => 'Left over', 'display_cancellation_reason_in_single_page' => 1 ),
	'moved'     => array( 'event_status' => 'EventMovedOnline', 'moved_online_link' => esc_url( 'https://meet.example/?a=1&b=2' ) ),
	'scheduled' => array( 'event_status' => 'EventScheduled', 'moved_online_link' => 'https://meet.example/left-over' ),
);
foreach ( $states as $name => $state ) {
	$ids[ $name ] = $save( "State $name", '2031-09-0' . ( 1 + array_search( $name, array_keys( $states ), true ) ) );
	foreach ( $state as $key => $value ) {
		update_post_meta( $ids[ $name ], "mec_$key", $value );
	}
}
wp_set_object_terms( $ids['concert'], $music, 'mec_category' );
echo "\n", wp_json_encode( $ids ), "\n";
