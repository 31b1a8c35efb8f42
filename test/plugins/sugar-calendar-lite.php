<?php
// Fills a site as the event editor of Sugar Calendar does: a post, and sugar_calendar_add_event() for its dates.

// The plugin makes its table when an administrator first opens wp-admin.
( new Sugar_Calendar\Events_Table() )->maybe_upgrade();

$save = static function ( string $title, string $start, string $end ) {
	$id = wp_insert_post( array( 'post_type' => 'sc_event', 'post_title' => $title, 'post_status' => 'publish' ), true );
	$row = sugar_calendar_add_event(
		array(
			'object_id'      => $id,
			'object_type'    => 'post',
			'object_subtype' => 'sc_event',
			'title'          => $title,
			'status'         => 'publish',
			'start'          => $start,
			'end'            => $end,
		)
	);
	if ( ! $row ) {
		throw new Exception( "no dates were saved for $title" );
	}
	return $id;
};
echo "\n", wp_json_encode(
	array(
		'concert' => $save( 'Harbour concert', '2031-05-01 19:30:00', '2031-05-01 21:00:00' ),
		'fair'    => $save( 'Village fair', '2031-06-12 00:00:00', '2031-06-12 23:59:59' ),
	)
), "\n";
