<?php
// Fills a site with post types, a taxonomy and fields of Pods, by its own API: save_pod(), save_field(), pods()->add().

if ( ! taxonomy_exists( 'event_category' ) ) {
	$api  = pods_api();
	$text = static fn( string $name, array $more = array() ) => array( 'name' => $name, 'label' => ucfirst( $name ), 'type' => 'text' ) + $more;
	$type = static fn( string $kind, array $names ) => array_map( static fn( $name ) => array( 'name' => $name, 'label' => ucfirst( $name ), 'type' => $kind ), $names );
	$link = static fn( string $name, string $to, string $format ) => array( 'name' => $name, 'label' => ucfirst( $name ), 'type' => 'pick', 'pick_object' => 'post_type', 'pick_val' => $to, 'pick_format_type' => $format );
	$pod  = static function ( string $name, array $fields ) use ( $api ): void {
		$id = $api->save_pod( array( 'name' => $name, 'label' => ucfirst( $name ) . 's', 'type' => 'post_type', 'storage' => 'meta', 'public' => 1, 'rest_enable' => 1, 'rest_base' => "{$name}s", 'read_all' => 1, 'write_all' => 1, 'supports_title' => 1, 'supports_editor' => 1, 'supports_excerpt' => 1, 'supports_author' => 1, 'supports_thumbnail' => 1, 'built_in_taxonomies_post_tag' => 'event' === $name ? 1 : 0 ) );
		foreach ( $fields as $field ) {
			$api->save_field( array( 'pod' => $name, 'pod_id' => $id ) + $field );
		}
	};
	$switches = array( 'show_map', 'show_map_link' );
	$pod( 'venue', array_merge( $type( 'text', array( 'address', 'city', 'country', 'province', 'state', 'stateprovince', 'zip' ) ), $type( 'phone', array( 'phone' ) ), $type( 'website', array( 'website' ) ), $type( 'boolean', $switches ) ) );
	$pod( 'organizer', array_merge( $type( 'phone', array( 'phone' ) ), array( array( 'name' => 'mobile', 'label' => 'Mobile', 'type' => 'phone', 'phone_format' => 'international' ) ), $type( 'website', array( 'website' ) ), $type( 'email', array( 'email' ) ) ) );
	$pod(
		'event',
		array_merge(
			$type( 'datetime', array( 'start_date', 'end_date' ) ),
			array( $text( 'timezone' ), $text( 'cost' ) ),
			// For the model of the field types: the mapping has no lines for them.
			$type( 'currency', array( 'surcharge' ) ),
			array( array( 'name' => 'surcharge_comma', 'label' => 'Surcharge', 'type' => 'currency', 'currency_format' => '9.999,99' ) ),
			$type( 'number', array( 'seats' ) ),
			$type( 'date', array( 'season' ) ),
			$type( 'website', array( 'website' ) ),
			$type( 'boolean', array( 'all_day', 'hide_from_listings', 'sticky_event', 'featured', ...$switches ) ),
			array( $link( 'venue', 'venue', 'single' ), $link( 'organizer', 'organizer', 'multi' ) )
		)
	);
	$api->save_pod( array( 'name' => 'event_category', 'label' => 'Event categories', 'type' => 'taxonomy', 'storage' => 'none', 'public' => 1, 'hierarchical' => 1, 'rest_enable' => 1, 'rest_base' => 'event_categories', 'built_in_post_types_event' => 1 ) );
	$api->cache_flush_pods();
	// The types exist from the next request on.
	echo WP_CLI::runcommand( 'eval-file ' . escapeshellarg( __FILE__ ) . ' --user=admin', array( 'return' => true ) );
	return;
}
$add     = static fn( string $pod, string $title, array $values ) => (int) pods( $pod )->add( array( 'post_title' => $title, 'post_status' => 'publish' ) + $values );
$hall    = $add( 'venue', 'Quay Hall', array( 'address' => '1 Quay Street', 'city' => 'Galway', 'phone' => '+353 91 1', 'website' => 'https://quay.example/' ) );
$mill    = $add( 'venue', 'Old Mill', array() );
$players = $add( 'organizer', 'The Players', array( 'email' => 'hello@players.example', 'phone' => '+353 91 2' ) );
$council = $add( 'organizer', 'Town Council', array() );
$dates   = static fn( string $day ) => array( 'start_date' => "$day 19:30:00", 'end_date' => "$day 22:00:00" );
$ids     = array(
	'hall'    => $hall,
	'mill'    => $mill,
	'players' => $players,
	'council' => $council,
	'concert' => $add( 'event', 'Harbour concert', $dates( '2031-05-01' ) + array( 'timezone' => 'Europe/Paris', 'cost' => '$12.50', 'website' => 'https://tickets.example/7', 'featured' => 1, 'venue' => $hall, 'organizer' => array( $players, $council ) ) ),
	'fair'    => $add( 'event', 'Village fair', $dates( '2031-06-12' ) ),
	'hidden'  => $add( 'event', 'Behind the curtain', $dates( '2031-05-01' ) + array( 'hide_from_listings' => 1 ) ),
	'draft'   => $add( 'event', 'Sketch', $dates( '2031-05-05' ) + array( 'post_status' => 'draft' ) ),
);
wp_update_post( array( 'ID' => $ids['draft'], 'post_status' => 'draft' ) );
$ids['music'] = wp_insert_term( 'Music', 'event_category' )['term_id'];
wp_set_object_terms( $ids['concert'], 'music', 'event_category' );
echo "\n", wp_json_encode( $ids ), "\n";
