<?php
// Fills a site with WP Event Manager, as its edit screen saves events (wp-event-manager-writepanels.php).

$post = static function ( string $type, string $title, array $meta, string $status = 'publish' ): int {
	$id = wp_insert_post( array( 'post_type' => $type, 'post_title' => $title, 'post_status' => 'draft' ) );
	foreach ( $meta as $key => $value ) {
		update_post_meta( $id, $key, $value );
	}
	// The plugin sets the expiry date when an event is published.
	wp_update_post( array( 'ID' => $id, 'post_status' => $status ) );
	return $id;
};
$event = static fn( string $title, string $start, string $end, array $meta = array(), string $status = 'publish' ) => $post(
	'event_listing',
	$title,
	$meta + array(
		'_event_start_date' => $start,
		'_event_start_time' => substr( $start, 11 ),
		'_event_end_date'   => $end,
		'_event_end_time'   => substr( $end, 11 ),
		'_featured'         => 0,
		'_cancelled'        => 0,
	),
	$status
);
update_option( 'event_manager_submission_expire_options', 'event_end_date' );
// Its setup page switches these on.
foreach ( array( 'enable_event_organizer', 'enable_event_venue', 'event_manager_enable_event_types', 'event_manager_enable_categories' ) as $option ) {
	update_option( $option, 1 );
}

$hall    = $post( 'event_venue', 'Quay Hall', array( '_venue_name' => 'Quay Hall', '_venue_website' => 'https://quay.example/', '_venue_location' => '1 Quay Street', '_venue_zipcode' => 'H91 X5' ) );
$players = $post( 'event_organizer', 'The Players', array( '_organizer_name' => 'The Players', '_organizer_email' => 'hello@players.example', '_organizer_website' => 'https://players.example/' ) );
$council = $post( 'event_organizer', 'Town Council', array( '_organizer_name' => 'Town Council' ) );
$ids     = array(
	'hall'    => $hall,
	'players' => $players,
	'council' => $council,
	'concert' => $event( 'Harbour concert', '2031-05-01 19:30:00', '2031-05-01 22:00:00', array( '_event_timezone' => 'Europe/Paris', '_event_ticket_options' => 'paid', '_event_ticket_price' => '$15', '_event_venue_ids' => $hall, '_event_organizer_ids' => array( $players, $council ) ) ),
	'fair'    => $event( 'Village fair', '2031-06-12 10:00:00', '2031-06-12 18:00:00', array( '_event_ticket_options' => 'free', '_event_ticket_price' => '' ) ),
	'storm'   => $event( 'Storm night', '2031-06-13 10:00:00', '2031-06-13 18:00:00', array( '_cancelled' => 1, '_event_online' => 'yes' ) ),
	'draft'   => $event( 'Sketch', '2031-05-05 10:00:00', '2031-05-05 11:00:00', array(), 'draft' ),
);
echo "\n", wp_json_encode( $ids ), "\n";
