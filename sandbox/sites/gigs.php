<?php
// Plugin Name: Site: custom post types
// Description: A site whose developer registered the post types: gigs with dates, ticket and the id of a hall in registered meta, and
// WordPress's own categories and tags. docs/mapping.md has a mapping for it, which the site contract uses.

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
