<?php
// Fills a site with post types and field groups of Advanced Custom Fields, by its own import functions.

$define_type = static fn( string $type, string $label ) => acf_import_internal_post_type(
	array( 'key' => "post_type_$type", 'title' => $label, 'post_type' => $type, 'labels' => array( 'name' => $label, 'singular_name' => $label ), 'public' => true, 'show_in_rest' => true, 'rest_base' => "{$type}s", 'active' => true, 'supports' => array( 'title', 'editor', 'excerpt', 'thumbnail', 'author' ) ),
	'acf-post-type'
);
$define_fields = static fn( string $type, array $fields ) => acf_import_field_group(
	array(
		'key'          => "group_$type",
		'title'        => ucfirst( $type ),
		'fields'       => array_map( static fn( $field ) => $field + array( 'key' => "field_{$type}_{$field['name']}", 'label' => $field['name'] ), $fields ),
		'location'     => array( array( array( 'param' => 'post_type', 'operator' => '==', 'value' => $type ) ) ),
		'show_in_rest' => 1,
		'active'       => true,
	)
);
foreach ( array( 'happening' => 'Happenings', 'hall' => 'Halls', 'organiser' => 'Organisers' ) as $type => $label ) {
	$define_type( $type, $label );
	register_post_type( $type, array( 'public' => true ) );
}
$shown = array( 'display_format' => 'd/m/Y g:i a', 'return_format' => 'd/m/Y g:i a' );
$define_fields( 'happening', array(
	array( 'name' => 'event_start', 'type' => 'date_time_picker', 'required' => 1 ) + $shown,
	array( 'name' => 'event_end', 'type' => 'date_time_picker', 'required' => 1 ) + $shown,
	array( 'name' => 'price', 'type' => 'number', 'min' => 0 ),
	array( 'name' => 'caption', 'type' => 'text' ),
	array( 'name' => 'season', 'type' => 'date_picker', 'display_format' => 'd/m/Y', 'return_format' => 'd/m/Y' ),
	array( 'name' => 'ticket_link', 'type' => 'url' ),
	array( 'name' => 'whole_day', 'type' => 'true_false' ),
	array( 'name' => 'featured', 'type' => 'true_false' ),
	array( 'name' => 'location', 'type' => 'post_object', 'post_type' => array( 'hall' ), 'allow_null' => 1, 'return_format' => 'id' ),
	array( 'name' => 'organisers', 'type' => 'relationship', 'post_type' => array( 'organiser' ), 'return_format' => 'id' ),
) );
$define_fields( 'hall', array(
	array( 'name' => 'street', 'type' => 'text', 'required' => 1 ),
	array( 'name' => 'town', 'type' => 'text' ),
	array( 'name' => 'phone', 'type' => 'text' ),
	array( 'name' => 'website', 'type' => 'url' ),
) );
$define_fields( 'organiser', array(
	array( 'name' => 'email', 'type' => 'email' ),
	array( 'name' => 'phone', 'type' => 'text' ),
	array( 'name' => 'website', 'type' => 'url' ),
) );

$post = static function ( string $type, string $title, array $values ): int {
	$id = wp_insert_post( array( 'post_type' => $type, 'post_title' => $title, 'post_status' => 'publish' ) );
	foreach ( $values as $name => $value ) {
		update_field( "field_{$type}_$name", $value, $id );
	}
	return $id;
};
$hall    = $post( 'hall', 'Quay Hall', array( 'street' => '1 Quay Street', 'town' => 'Galway', 'phone' => '+353 91 1', 'website' => 'https://quay.example/' ) );
$players = $post( 'organiser', 'The Players', array( 'email' => 'hello@players.example', 'phone' => '+353 91 2', 'website' => 'https://players.example/' ) );
$ids     = array(
	'hall'    => $hall,
	'players' => $players,
	'concert' => $post( 'happening', 'Harbour concert', array( 'event_start' => '2031-05-01 19:30:00', 'event_end' => '2031-05-01 22:00:00', 'price' => 12.5, 'ticket_link' => 'https://tickets.example/7', 'whole_day' => 0, 'featured' => 1, 'location' => $hall, 'organisers' => array( $players ) ) ),
	'fair'    => $post( 'happening', 'Village fair', array( 'event_start' => '2031-06-12 10:00:00', 'event_end' => '2031-06-12 18:00:00', 'price' => 0 ) ),
);
echo "\n", wp_json_encode( $ids ), "\n";
