<?php
// Plugin Name: Site: Pods
// Description: Behaves like post types made with Pods 3.3, fields with REST read and write on. Observed there:
// - "values are top-level properties"; "OPTIONS schema lists none of them"
// - "datetime "Y-m-d H:i:s", boolean reads "1"/"0" string, currency string"
// - "relationships read as array of whole post objects even when single (venue[0].ID), write ids"; "empty multi reads false"
// - "null does not clear a single relation"; ""01/05/2027 8:00 pm" is reparsed as US m/d"
// - "garbage -> 500 with {"message":...} and no code"
// Not observed: what a never set field reads as ("" here, false for relationships), and whether [] clears a single relation (here it does).

const SITE_FIELDS = array(
	'event'     => array(
		'date'     => array( 'start_date', 'end_date' ),
		'text'     => array( 'timezone', 'cost', 'website' ),
		'switch'   => array( 'all_day', 'show_map', 'show_map_link', 'hide_from_listings', 'sticky_event', 'featured' ),
		'relation' => array( 'venue' => 'single', 'organizer' => 'multi' ),
	),
	'venue'     => array(
		'text'   => array( 'address', 'city', 'country', 'province', 'state', 'stateprovince', 'zip', 'phone', 'website' ),
		'switch' => array( 'show_map', 'show_map_link' ),
	),
	'organizer' => array( 'text' => array( 'phone', 'website', 'email' ) ),
);

add_action(
	'init',
	static function () {
		foreach ( array_keys( SITE_FIELDS ) as $type ) {
			register_post_type(
				$type,
				array(
					'label'        => ucfirst( $type ) . 's',
					'public'       => true,
					'show_in_rest' => true,
					'rest_base'    => $type . 's',
					'supports'     => array( 'title', 'editor', 'author', 'thumbnail', 'excerpt' ),
					'taxonomies'   => 'event' === $type ? array( 'post_tag' ) : array(),
				)
			);
		}
		register_taxonomy( 'event_category', 'event', array( 'public' => true, 'hierarchical' => true, 'show_in_rest' => true, 'rest_base' => 'event_categories' ) );
	}
);

add_action(
	'rest_api_init',
	static function () {
		foreach ( SITE_FIELDS as $type => $fields ) {
			foreach ( $fields as $kind => $names ) {
				foreach ( 'relation' === $kind ? $names : array_fill_keys( $names, $kind ) as $name => $form ) {
					register_rest_field(
						$type,
						$name,
						array(
							'get_callback'    => static fn( array $post ) => site_read( $post['id'], $name, $form ),
							'update_callback' => static fn( $value, WP_Post $post ) => site_write( $post->ID, $name, $form, $value ),
						)
					);
				}
			}
		}
	}
);

function site_read( int $id, string $name, string $form ) {
	if ( 'switch' === $form ) {
		return get_post_meta( $id, $name, true ) ? '1' : '0';
	}
	if ( 'single' !== $form && 'multi' !== $form ) {
		return (string) get_post_meta( $id, $name, true );
	}
	$posts = array_filter( array_map( 'get_post', get_post_meta( $id, $name ) ) );
	return $posts ? array_map( static fn( WP_Post $post ) => $post->to_array(), array_values( $posts ) ) : false;
}

function site_write( int $id, string $name, string $form, $value ): void {
	if ( 'single' === $form || 'multi' === $form ) {
		if ( null === $value && 'single' === $form ) {
			return;
		}
		delete_post_meta( $id, $name );
		foreach ( array_slice( (array) $value, 0, 'single' === $form ? 1 : null ) as $other ) {
			add_post_meta( $id, $name, (string) $other );
		}
		return;
	}
	if ( 'switch' === $form ) {
		update_post_meta( $id, $name, $value ? '1' : '0' );
		return;
	}
	if ( 'date' === $form && '' !== (string) $value ) {
		$seconds = strtotime( (string) $value . ' UTC' );
		if ( false === $seconds ) {
			wp_send_json( array( 'message' => "$name is no date" ), 500 );
		}
		$value = gmdate( 'Y-m-d H:i:s', $seconds );
	}
	update_post_meta( $id, $name, wp_slash( (string) $value ) );
}
