<?php
// Fills a site as the event editor of My Calendar does: mc_check_data(), my_calendar_save().

$save = static function ( string $title, string $day, array $more = array() ) {
	$checked = mc_check_data(
		'add',
		$more + array(
			'event_title'      => $title,
			'content'          => "About $title.",
			'event_begin'      => array( $day ),
			'event_end'        => array( $day ),
			'event_time'       => array( '19:30:00' ),
			'event_endtime'    => array( '21:00:00' ),
			'event_recur'      => 'S',
			'event_every'      => 1,
			'event_repeats'    => 0,
			'event_category'   => array( 1 ),
			'event_author'     => 1,
			'event_host'       => 1,
			'event_approved'   => 1,
			'event_nonce_name' => wp_create_nonce( 'event_nonce' ),
		),
		0,
		true
	);
	$saved   = my_calendar_save( 'add', $checked );
	if ( empty( $saved['event_id'] ) ) {
		throw new Exception( 'not saved: ' . wp_json_encode( $saved ) );
	}
	return $saved;
};
$concert = $save( 'Harbour concert', '2031-05-01' );
$class   = $save( 'Weekly class', '2031-05-05', array( 'event_recur' => 'W', 'event_repeats' => 5 ) );
echo "\n", wp_json_encode( array( 'concert' => (int) $concert['event_post'], 'class' => (int) $class['event_post'] ) ), "\n";
