<?php
// Fills a site as the event editor of EventON does: its keys, and the repeats that eventon_get_repeat_intervals() makes of the form.

$add = static function ( string $title, int $start, int $end, array $form = array(), string $status = 'publish' ) {
	$id   = wp_insert_post( array( 'post_type' => 'ajde_events', 'post_title' => $title, 'post_content' => "About $title.", 'post_status' => $status ) );
	$keys = array( 'evcal_srow' => $start, 'evcal_erow' => $end, 'evcal_allday' => 'no', '_evo_tz' => 'America/New_York', 'evcal_repeat' => $form ? 'yes' : 'no' );
	if ( $form ) {
		$_POST                    = $form;
		$keys['repeat_intervals'] = eventon_get_repeat_intervals( $start, $end );
	}
	foreach ( $keys as $key => $value ) {
		update_post_meta( $id, $key, $value );
	}
	return $id;
};
// The plugin's seconds count from 1970 on a clock that shows the wall time in UTC.
$at     = static fn( string $when ) => strtotime( "$when UTC" );
$first  = gmdate( 'Y-m-d', $at( 'last sunday' ) );
$weekly = array( 'evcal_rep_freq' => 'weekly', 'evcal_rep_num' => 40, 'evcal_rep_gap' => 1, 'evp_repeat_rb_wk' => 'sing' );
$daily  = array( 'evcal_rep_freq' => 'daily', 'evcal_rep_num' => 20, 'evcal_rep_gap' => 1 );
$day    = static fn( string $when ) => gmdate( 'Y-m-d', $at( $when ) );
$ids    = array(
	'concert' => $add( 'Concert', $at( $day( '+50 days' ) . ' 19:30' ), $at( $day( '+50 days' ) . ' 22:00' ) ),
	'weekly'  => $add( 'Yoga', $at( "$first 10:00" ), $at( "$first 11:30" ), $weekly ),
	'draft'   => $add( 'Planned class', $at( $day( '-1 day' ) . ' 08:00' ), $at( $day( '-1 day' ) . ' 09:00' ), $daily, 'draft' ),
	'private' => $add( 'Staff class', $at( $day( '-1 day' ) . ' 08:00' ), $at( $day( '-1 day' ) . ' 09:00' ), $daily, 'private' ),
);
$states = array(
	'silent'      => array(),
	'scheduled'   => array( '_status' => 'scheduled', '_attendance_mode' => 'offline' ),
	'cancelled'   => array( '_status' => 'cancelled', '_cancel_reason' => 'Storm' ),
	'oldstyle'    => array( '_cancel' => 'yes' ),
	'postponed'   => array( '_status' => 'postponed', '_postponed_reason' => 'Snow', '_cancel_reason' => 'Left over' ),
	'moved'       => array( '_status' => 'movedonline', '_virtual' => 'yes', '_vir_url' => 'https://meet.example/1', '_vir_nohiding' => 'yes' ),
	'rescheduled' => array( '_status' => 'rescheduled', '_attendance_mode' => 'mixed' ),
	'tentative'   => array( '_status' => 'tentative' ),
	'virtual'     => array( '_virtual' => 'yes', '_vir_url' => 'https://meet.example/2' ),
);
foreach ( array_keys( $states ) as $days => $name ) {
	$ids[ $name ] = $add( "State $name", $at( $day( '+' . ( 60 + $days ) . ' days' ) . ' 19:30' ), $at( $day( '+' . ( 60 + $days ) . ' days' ) . ' 22:00' ) );
	foreach ( $states[ $name ] as $key => $value ) {
		( new EVO_Event( $ids[ $name ] ) )->set_prop( $key, $value );
	}
}
$term = wp_insert_term( 'Old Mill', 'event_location' );
wp_set_object_terms( $ids['weekly'], array( $term['term_id'] ), 'event_location' );
evo_save_term_metas( 'event_location', $term['term_id'], array( 'location_address' => '1 Mill Lane', 'location_city' => 'Ely', 'location_country' => 'England' ) );
echo "\n", wp_json_encode( $ids + array( 'venue' => $term['term_id'] ) ), "\n";
