<?php
// Fills a site through GatherPress's own class Event: save_datetimes(). It makes the term of a venue when WordPress saves the venue.

use GatherPress\Core\Event\Event;

$post  = static function ( string $type, string $title, array $meta = array(), string $status = 'publish' ): int {
	$id = wp_insert_post( array( 'post_type' => $type, 'post_title' => $title, 'post_content' => "About $title.", 'post_status' => $status ), true );
	if ( is_wp_error( $id ) ) {
		throw new Exception( $id->get_error_message() );
	}
	foreach ( $meta as $key => $value ) {
		update_post_meta( $id, $key, $value );
	}
	return $id;
};
$event = static function ( string $title, string $start, string $end, string $zone, array $terms = array(), string $status = 'publish' ) use ( $post ): int {
	$id = $post( 'gatherpress_event', $title, array(), $status );
	( new Event( $id ) )->save_datetimes( array( 'datetime_start' => $start, 'datetime_end' => $end, 'timezone' => $zone ) );
	foreach ( $terms as $taxonomy => $slugs ) {
		wp_set_object_terms( $id, $slugs, $taxonomy );
	}
	return $id;
};
$music = wp_insert_term( 'Music', 'gatherpress_topic' )['term_id'];
$hall  = $post( 'gatherpress_venue', 'Quay Hall', array( 'gatherpress_address' => '1 Quay Street, Galway', 'gatherpress_phone' => '+353 91 1', 'gatherpress_website' => 'https://quay.example/' ) );
$ids   = array(
	'music'   => $music,
	'hall'    => $hall,
	'mill'    => $post( 'gatherpress_venue', 'Old Mill' ),
	'concert' => $event( 'Harbour concert', '2031-05-01 19:30:00', '2031-05-01 22:00:00', 'Europe/Paris', array( '_gatherpress_venue' => '_quay-hall', 'gatherpress_topic' => 'music' ) ),
	'call'    => $event( 'Conference call', '2031-05-02 10:00:00', '2031-05-02 11:00:00', '+05:30', array( '_gatherpress_venue' => 'online-event' ) ),
	'hybrid'  => $event( 'Talk', '2031-05-03 10:00:00', '2031-05-03 11:00:00', 'Europe/Paris', array( '_gatherpress_venue' => array( 'online-event', '_quay-hall' ) ) ),
	'past'    => $event( 'Old fair', '2020-03-01 10:00:00', '2020-03-01 18:00:00', 'America/New_York' ),
	'draft'   => $event( 'Sketch', '2031-05-05 10:00:00', '2031-05-05 11:00:00', 'America/New_York', array(), 'draft' ),
);
update_post_meta( $ids['call'], 'gatherpress_online_event_link', 'https://meet.example/1' );
echo "\n", wp_json_encode( $ids ), "\n";
