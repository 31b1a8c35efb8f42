<?php
// Plugin Name: Site: types of one's own
// Description: Stands for a site whose developer made the types by hand (upstream-wordpress 3, register_post_meta): gigs with dates, ticket and the id
// of a hall in registered meta, the core's categories and tags. docs/mapping.md has the mapping of twenty lines for it, and the contract runs that very
// one.

add_action(
	'init',
	static function () {
		$supports = array( 'title', 'editor', 'author', 'thumbnail', 'excerpt', 'custom-fields' );
		$type     = array( 'public' => true, 'show_in_rest' => true, 'supports' => $supports );
		register_post_type( 'gig', $type + array( 'label' => 'Gigs', 'rest_base' => 'gigs', 'taxonomies' => array( 'category', 'post_tag' ) ) );
		register_post_type( 'hall', $type + array( 'label' => 'Halls', 'rest_base' => 'halls' ) );
		$keys = array(
			'gig'  => array( 'gig_start' => 'string', 'gig_end' => 'string', 'whole_day' => 'string', 'ticket' => 'string', 'hall' => 'integer' ),
			'hall' => array( 'town' => 'string', 'postcode' => 'string' ),
		);
		foreach ( $keys as $post_type => $meta ) {
			foreach ( $meta as $key => $kind ) {
				register_post_meta( $post_type, $key, array( 'type' => $kind, 'single' => true, 'show_in_rest' => true ) );
			}
		}
	}
);
