<?php
// Fills a site as the event editor of Events Manager does: EM_Event::get_post() reads the form, save() stores it.

$fail     = static fn( $object ) => throw new Exception( implode( ' ', array_map( 'strval', (array) $object->get_errors() ) ) );
$location = static function ( string $name, array $fields ) use ( $fail ): array {
	$location = new EM_Location();
	$location->to_object( array( 'location_name' => $name, 'location_country' => 'GB' ) + $fields );
	$location->force_status = 'publish';
	if ( ! $location->save() ) {
		$fail( $location );
	}
	return array( 'id' => (int) $location->location_id, 'post' => (int) $location->post_id );
};
$event    = static function ( string $title, array $form, string $status = 'publish' ) use ( $fail ): int {
	$form    += array( 'event_name' => $title, 'content' => "About $title.", 'event_type' => 'single', 'location_type' => '0', 'data_privacy_consent' => 1, 'event_timezone' => 'America/New_York' );
	$_POST    = $form;
	$_REQUEST = $form;
	$event    = new EM_Event();
	$event->force_status = $status;
	if ( ! $event->get_post() || ! $event->save() ) {
		$fail( $event );
	}
	return (int) $event->post_id;
};
$times    = static fn( string $start, string $end ) => array( array( 'start' => $start, 'end' => $end ) );
$once     = static fn( string $day, string $start, string $end ) => array( 'event_start_date' => $day, 'event_end_date' => $day, 'event_timeranges' => $times( $start, $end ) );
$series   = static fn( array $set, string $from, string $to, array $ranges ) => array(
	'event_type'  => 'recurring',
	'recurrences' => array(
		'include' => array( $set + array( 'recurrence_interval' => 1, 'recurrence_start_date' => $from, 'recurrence_end_date' => $to, 'recurrence_timezone' => 'America/New_York', 'timeranges' => $ranges ) ),
	),
);
$day      = static fn( string $when ) => wp_date( 'Y-m-d', strtotime( $when ) );
$weekly   = array( 'recurrence_freq' => 'weekly', 'recurrence_bydays' => array( wp_date( 'w', strtotime( '-2 days' ) ) ) );
$daily    = array( 'recurrence_freq' => 'daily' );
$mill     = $location( 'Old Mill', array( 'location_address' => '1 Mill Lane', 'location_town' => 'Ely', 'location_state' => 'Cambs', 'location_postcode' => 'CB7' ) );
$at_mill  = array( 'location_type' => 'location', 'location_id' => $mill['id'] );
$slots    = array( array( 'start' => '10:00', 'end' => '12:00', 'timeslots' => 1, 'frequency' => array( 'qty' => 1, 'unit' => 'H' ), 'duration' => array( 'qty' => 1, 'unit' => 'H' ), 'buffer' => array( 'qty' => 0, 'unit' => 'M' ) ) );
$ids      = array(
	'venue'     => $mill['post'],
	'concert'   => $event( 'Concert', $once( $day( '+50 days' ), '19:30', '22:00' ) + array( 'event_timezone' => 'Europe/Paris' ) + $at_mill ),
	'fair'      => $event( 'Fair', array( 'event_timeranges' => array( array( 'all_day' => 1 ) ) ) + $once( $day( '+51 days' ), '', '' ) ),
	'past'      => $event( 'Old fair', $once( $day( '-60 days' ), '10:00', '18:00' ) ),
	'cancelled' => $event( 'Called off', $once( $day( '+52 days' ), '10:00', '11:00' ) ),
	'slots'     => $event( 'Tours', array( 'event_timeranges' => $slots ) + $once( $day( '+53 days' ), '10:00', '12:00' ) ),
	'online'    => $event( 'Webinar', $once( $day( '+55 days' ), '10:00', '11:00' ) + array( 'location_type' => 'url', 'event_location_url' => 'https://meet.example/?a=1&b=2', 'event_location_url_text' => 'Join' ) ),
	'locked'    => $event( 'Club night', $once( $day( '+56 days' ), '20:00', '22:00' ) + $at_mill ),
	'sketch'    => $event( 'Sketch', $once( $day( '+54 days' ), '10:00', '11:00' ), 'draft' ),
	'weekly'    => $event( 'Yoga', $series( $weekly, $day( '-2 days' ), $day( '+40 weeks' ), $times( '10:00', '11:30' ) ) + $at_mill ),
	'private'   => $event( 'Staff class', $series( $daily, $day( '-1 day' ), $day( '+20 days' ), $times( '08:00', '09:00' ) ), 'private' ),
	'shifts'    => $event( 'Shifts', $series( $daily, $day( '+60 days' ), $day( '+64 days' ), array_merge( $times( '08:00', '09:00' ), $times( '14:00', '15:00' ) ) ) ),
);
em_get_event( $ids['cancelled'], 'post_id' )->cancel();
// In the table itself, so that the plugin does not save the event again.
global $wpdb;
$wpdb->update( $wpdb->posts, array( 'post_password' => 'word' ), array( 'ID' => $ids['locked'] ) );
clean_post_cache( $ids['locked'] );
$notes = "First paragraph.\n\nSecond & last.\n\n[caption id=\"attachment_1\" width=\"300\"]<img src=\"/a.png\" alt=\"\" /> A caption[/caption]";
wp_update_post( array( 'ID' => $ids['fair'], 'post_content' => $notes ) );
wp_update_post( array( 'ID' => $ids['venue'], 'post_content' => "One line.\n\nAnother." ) );
$ids['music'] = wp_insert_term( 'Music', 'event-categories' )['term_id'];
wp_set_object_terms( $ids['concert'], 'music', 'event-categories' );
echo "\n", wp_json_encode( $ids ), "\n";
