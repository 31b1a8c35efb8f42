<?php
// Fills a site through the ORM of The Events Calendar: tribe_events(), tribe_venues(), tribe_organizers().

$venue = static fn( array $args ) => tribe_venues()->set_args( $args + array( 'status' => 'publish' ) )->create()->ID;
$event = static fn( array $args ) => tribe_events()->set_args( $args + array( 'status' => 'publish' ) )->create()->ID;
$person = static fn( array $args ) => tribe_organizers()->set_args( $args + array( 'status' => 'publish' ) )->create()->ID;

$term   = static fn( string $taxonomy, string $name ) => wp_insert_term( $name, $taxonomy )['term_id'];
$music  = $term( 'tribe_events_cat', 'Music' );
$market = $term( 'tribe_events_cat', 'Markets' );
$crafts = wp_insert_term( 'Crafts', 'tribe_events_cat', array( 'parent' => $market ) )['term_id'];
$open   = $term( 'post_tag', 'open air' );

$hall    = $venue(
	array(
		'title'   => 'Quay Hall',
		'address' => '1 Quay Street',
		'city'    => 'Galway',
		'province' => 'Connacht',
		'zip'     => 'H91 X5',
		'country' => 'Ireland',
		'phone'   => '+353 91 1',
		'website' => 'https://quay.example/',
	)
);
$mill    = $venue( array( 'title' => 'Old Mill' ) );
$players = $person( array( 'title' => 'The Players', 'phone' => '+353 91 2', 'email' => 'hello@players.example', 'website' => 'https://players.example/' ) );
$council = $person( array( 'title' => 'Town Council' ) );

$at  = static fn( string $day, string $from = '10:00:00', string $to = '11:00:00' ) => array( 'start_date' => "$day $from", 'end_date' => str_contains( $to, ' ' ) ? $to : "$day $to" );
$ids = array(
	'hall'     => $hall,
	'mill'     => $mill,
	'players'  => $players,
	'council'  => $council,
	'music'    => $music,
	'markets'  => $market,
	'crafts'   => $crafts,
	'open'     => $open,
	'concert'  => $event(
		array(
			'title'             => 'Harbour concert',
			'content'           => 'Music by the water.',
			'excerpt'           => 'By the water.',
			'timezone'          => 'Europe/Paris',
			'cost'              => '12.50',
			'currency_symbol'   => '$',
			'currency_position' => 'prefix',
			'url'               => 'https://tickets.example/7',
			'venue'             => $hall,
			'organizer'         => array( $players, $council ),
			'category'          => array( $music ),
			'tag'               => array( $open ),
		) + $at( '2031-05-01', '19:30:00', '22:00:00' )
	),
	'fair'     => $event( array( 'title' => 'Village fair', 'all_day' => true, 'category' => array( $market ) ) + $at( '2031-06-12', '00:00:00', '23:59:59' ) ),
	'longAgo'  => $event( array( 'title' => 'Long ago', 'venue' => $mill ) + $at( '2020-03-01' ) ),
	'lastYear' => $event( array( 'title' => 'Last year', 'category' => array( $music ) ) + $at( '2025-06-01' ) ),
	'hidden'   => $event( array( 'title' => 'Behind the curtain', 'hide_from_upcoming' => 'yes' ) + $at( '2031-05-02' ) ),
	'featured' => $event( array( 'title' => 'Gala', 'featured' => true ) + $at( '2031-05-03' ) ),
	'sticky'   => $event( array( 'title' => 'Season opening', 'sticky' => true ) + $at( '2031-05-04' ) ),
	'weekend'  => $event( array( 'title' => 'Weekend away', 'timezone' => 'Asia/Kolkata', 'cost' => '20', 'currency_symbol' => '$', 'organizer' => array( $council ), 'tag' => array( $open ) ) + $at( '2031-07-04', '18:00:00', '2031-07-06 12:00:00' ) ),
	'free'     => $event( array( 'title' => 'Open day', 'cost' => '0', 'venue' => $mill, 'category' => array( $market, $crafts ) ) + $at( '2031-07-10' ) ),
	'weekly'   => $event( array( 'title' => 'Yoga' ) + $at( gmdate( 'Y-m-d', time() + 7 * 86400 ) ) ),
	'cancelled' => $event( array( 'title' => 'Called off' ) + $at( '2031-05-08' ) ),
	'postponed' => $event( array( 'title' => 'Put off' ) + $at( '2031-05-09' ) ),
	'draft'    => $event( array( 'title' => 'Sketch', 'status' => 'draft' ) + $at( '2031-05-05' ) ),
	'private'  => $event( array( 'title' => 'Members only', 'status' => 'private' ) + $at( '2031-05-06' ) ),
	'locked'   => $event( array( 'title' => 'With password', 'content' => 'Secret words.', 'excerpt' => 'Hidden words.' ) + $at( '2031-05-07' ) ),
);
foreach ( array( 'cancelled' => array( 'canceled', 'Storm & flood' ), 'postponed' => array( 'postponed', '' ) ) as $name => $state ) {
	tribe( Tribe\Events\Event_Status\Classic_Editor::class )->update_fields( $ids[ $name ], array( 'status' => $state[0], 'status-reason' => $state[1] ) );
}
wp_update_post( array( 'ID' => $ids['locked'], 'post_password' => 'open sesame' ) );
// Lists of venues and organizers begin with the newest, and the database decides between equal dates.
foreach ( array( $hall, $mill, $players, $council ) as $minutes => $id ) {
	wp_update_post( array( 'ID' => $id, 'post_date' => gmdate( 'Y-m-d H:i:s', strtotime( '2026-01-01 12:00:00' ) + 60 * $minutes ) ) );
}
echo "\n", wp_json_encode( $ids ), "\n";
