<?php
// Fills a site as the event editor of Event Organiser does: eo_insert_event(), eo_insert_venue().

$zone  = eo_get_blog_timezone();
$venue = eo_insert_venue(
	'Old Mill',
	array( 'address' => '1 Mill Lane', 'city' => 'Ely', 'state' => 'Cambs', 'postcode' => 'CB7', 'country' => 'England', 'description' => 'By the river.' )
);
$insert = static function ( string $title, string $start, string $end, array $schedule = array(), string $status = 'publish' ) use ( $zone, $venue ) {
	$post  = array(
		'post_title'   => $title,
		'post_content' => "About $title.",
		'post_status'  => $status,
		'tax_input'    => array( 'event-venue' => array( $venue['term_id'] ) ),
	);
	$dates = array( 'start' => new DateTime( $start, $zone ), 'end' => new DateTime( $end, $zone ) );
	if ( isset( $schedule['until'] ) ) {
		$schedule['until'] = new DateTime( $schedule['until'], $zone );
	}
	$id = eo_insert_event( $post, $dates + $schedule );
	if ( is_wp_error( $id ) ) {
		throw new Exception( $id->get_error_message() );
	}
	return $id;
};
$day    = static fn( string $when ) => ( new DateTime( $when, $zone ) )->format( 'Y-m-d' );
$first  = $day( 'last sunday' );
$weekly = array( 'schedule' => 'weekly', 'schedule_meta' => array( 'SU' ), 'frequency' => 1, 'until' => $day( "$first +40 weeks" ) );
$daily  = array( 'schedule' => 'daily', 'frequency' => 1, 'until' => $day( '+20 days' ) );
$ids    = array(
	'concert' => $insert( 'Concert', $day( '+50 days' ) . ' 19:30', $day( '+50 days' ) . ' 22:00' ),
	'past'    => $insert( 'Old fair', $day( '-60 days' ) . ' 10:00', $day( '-60 days' ) . ' 18:00' ),
	'weekly'  => $insert( 'Yoga', "$first 10:00", "$first 11:30", $weekly ),
	'draft'   => $insert( 'Planned class', $day( '-1 day' ) . ' 08:00', $day( '-1 day' ) . ' 09:00', $daily, 'draft' ),
	'private' => $insert( 'Staff class', $day( '-1 day' ) . ' 08:00', $day( '-1 day' ) . ' 09:00', $daily, 'private' ),
	'venue'   => (int) $venue['term_id'],
);
echo "\n", wp_json_encode( $ids ), "\n";
