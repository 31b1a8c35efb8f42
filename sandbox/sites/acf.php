<?php
// Plugin Name: Site: Advanced Custom Fields
// Description: Behaves like post types with ACF 6.8 field groups that are shown in REST. Observed there:
// - "acf object beside meta"; "an array [] when no group is exposed" (taxonomies and pages have none here)
// - "date_time_picker | "2027-05-01 19:30:00" raw"; "Dates are not validated: ... is stored as is and read back"
// - "true_false | true | boolean only; "yes" -> 400"; "text fields for cost stay strings"
// - "relationship | [60] | [ids]; [] -> 400 (min 1); use null to clear | reads back null"; "wrong post id -> 400"
// - "Unknown or hidden field names are ignored silently"
// - A field that its group calls required must be in every request that has any field: "start_date is a required property of acf." (400)
// - A name in "_acf_field_key_map" is looked up by the key given there; with a key that no field has, its value is not stored
// - google_map | {"address": ..., "lat": 53.27, "lng": -9.05} | null
// Not observed: what a field reads as that was never set. Here: null for dates and relationships, "" for texts, false for switches.

const SITE_FIELDS = array(
	'event'     => array(
		'date'     => array( 'start_date', 'end_date' ),
		'text'     => array( 'timezone', 'cost', 'website' ),
		'switch'   => array( 'all_day', 'show_map', 'show_map_link', 'hide_from_listings', 'sticky', 'featured' ),
		'relation' => array( 'venue' => 'venue', 'organizer' => 'organizer' ),
	),
	'venue'     => array(
		'text'   => array( 'address', 'city', 'country', 'province', 'state', 'stateprovince', 'zip', 'phone', 'website' ),
		'switch' => array( 'show_map', 'show_map_link' ),
		'place'  => array( 'map' ),
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
					'supports'     => array( 'title', 'editor', 'author', 'thumbnail', 'excerpt', 'custom-fields' ),
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
			$shapes = array();
			foreach ( $fields['date'] ?? array() as $name ) {
				$shapes[ $name ] = array( 'type' => array( 'string', 'null' ), 'required' => true );
			}
			foreach ( $fields['text'] ?? array() as $name ) {
				$shapes[ $name ] = array( 'type' => array( 'string', 'null' ) );
			}
			foreach ( $fields['switch'] ?? array() as $name ) {
				$shapes[ $name ] = array( 'type' => array( 'boolean', 'null' ) );
			}
			foreach ( $fields['place'] ?? array() as $name ) {
				$shapes[ $name ] = array( 'type' => array( 'object', 'null' ) );
			}
			foreach ( array_keys( $fields['relation'] ?? array() ) as $name ) {
				$shapes[ $name ] = array( 'type' => array( 'array', 'null' ), 'items' => array( 'type' => 'integer' ), 'minItems' => 1 );
			}
			register_rest_field(
				$type,
				'acf',
				array(
					'get_callback'    => static fn( array $post ) => site_read( $post['id'], $fields ),
					'update_callback' => static fn( array $values, WP_Post $post ) => site_write( $post->ID, $fields, $values ),
					'schema'          => array(
						'type'        => 'object',
						'properties'  => $shapes,
						'arg_options' => array(
							'validate_callback' => static function ( $values, WP_REST_Request $request, string $name ) use ( $fields ) {
								$checked = rest_validate_request_arg( $values, $request, $name );
								return is_wp_error( $checked ) ? $checked : site_check_relations( $fields['relation'] ?? array(), $values );
							},
						),
					),
				)
			);
		}
	}
);

/** True, or an error for an id that is not a post of the field's type. */
function site_check_relations( array $relations, array $values ) {
	foreach ( $relations as $name => $type ) {
		foreach ( (array) ( $values[ $name ] ?? array() ) as $id ) {
			if ( get_post_type( $id ) !== $type ) {
				return new WP_Error( 'rest_invalid_param', "acf[$name] is not a valid post.", array( 'status' => 400 ) );
			}
		}
	}
	return true;
}

function site_read( int $id, array $fields ): array {
	$values = array();
	foreach ( $fields['date'] ?? array() as $name ) {
		$values[ $name ] = metadata_exists( 'post', $id, $name ) ? get_post_meta( $id, $name, true ) : null;
	}
	foreach ( $fields['text'] ?? array() as $name ) {
		$values[ $name ] = (string) get_post_meta( $id, $name, true );
	}
	foreach ( $fields['switch'] ?? array() as $name ) {
		$values[ $name ] = '1' === get_post_meta( $id, $name, true );
	}
	// Venues with an address have been placed on the map.
	foreach ( $fields['place'] ?? array() as $name ) {
		$address         = (string) get_post_meta( $id, 'address', true );
		$values[ $name ] = '' === $address ? null : array( 'address' => $address, 'lat' => 53.27, 'lng' => -9.05 );
	}
	foreach ( array_keys( $fields['relation'] ?? array() ) as $name ) {
		$ids             = get_post_meta( $id, $name, true );
		$values[ $name ] = $ids ? array_map( 'intval', $ids ) : null;
	}
	return $values;
}

function site_write( int $id, array $fields, array $values ): void {
	$values = array_diff_key( $values, $values['_acf_field_key_map'] ?? array() );
	foreach ( array_merge( $fields['date'] ?? array(), $fields['text'] ?? array() ) as $name ) {
		if ( array_key_exists( $name, $values ) ) {
			update_post_meta( $id, $name, wp_slash( (string) $values[ $name ] ) );
		}
	}
	foreach ( $fields['switch'] ?? array() as $name ) {
		if ( array_key_exists( $name, $values ) ) {
			update_post_meta( $id, $name, rest_sanitize_boolean( $values[ $name ] ) ? '1' : '0' );
		}
	}
	foreach ( array_keys( $fields['relation'] ?? array() ) as $name ) {
		if ( array_key_exists( $name, $values ) ) {
			// ACF stores ids as strings.
			update_post_meta( $id, $name, null === $values[ $name ] ? '' : array_map( 'strval', $values[ $name ] ) );
		}
	}
}
