<?php
// Plugin Name: Sandbox: seeding
// Description: For sites whose events the REST API cannot create: POST sandbox/v1/events {title, slug, content, start, end, timezone, all_day, cost,
// website, venue {name, address, city, ...}, organizer {name, phone, ...}, categories, tags, weeks} stores an event the way the site's own plugin
// does (each site defines sandbox_seed); with "id" it updates one. GET sandbox/v1/stored/ID shows a post's meta rows and whether wp-admin uses the block editor.

add_action(
	'rest_api_init',
	static function () {
		register_rest_route(
			'sandbox/v1',
			'/events',
			array(
				'methods'             => 'POST',
				'permission_callback' => static fn() => current_user_can( 'manage_options' ),
				'callback'            => static fn( WP_REST_Request $request ) => array( 'id' => sandbox_seed( $request->get_json_params() ) ),
			)
		);
		register_rest_route(
			'sandbox/v1',
			'/stored/(?P<id>\d+)',
			array(
				'methods'             => 'GET',
				'permission_callback' => static fn() => current_user_can( 'manage_options' ),
				'callback'            => static function ( WP_REST_Request $request ) {
					global $wpdb;
					$rows = $wpdb->get_results( $wpdb->prepare( "SELECT meta_key, meta_value FROM $wpdb->postmeta WHERE post_id = %d ORDER BY meta_key, meta_id", $request['id'] ), ARRAY_N );
					return array( 'rows' => $rows, 'block_editor' => use_block_editor_for_post_type( get_post_type( $request['id'] ) ) );
				},
			)
		);
	}
);

/** Creates or updates the post of a seeded record, with its meta. */
function sandbox_post( string $type, array $given, array $meta ): int {
	$post = array_filter(
		array(
			'ID'           => $given['id'] ?? null,
			'post_title'   => $given['title'] ?? null,
			'post_name'    => $given['slug'] ?? null,
			'post_content' => $given['content'] ?? null,
		),
		static fn( $value ) => null !== $value
	);
	$id   = wp_insert_post( wp_slash( $post + ( isset( $given['id'] ) ? get_post( $given['id'], ARRAY_A ) : array( 'post_type' => $type, 'post_status' => 'publish' ) ) ), true );
	if ( is_wp_error( $id ) ) {
		throw new RuntimeException( $id->get_error_message() );
	}
	foreach ( $meta as $key => $value ) {
		update_post_meta( $id, $key, $value );
	}
	return $id;
}

/** The id of the term with this name. Creates it with `meta` if there is none. */
function sandbox_term( string $taxonomy, string $name, array $meta = array() ): int {
	$found = get_term_by( 'name', $name, $taxonomy );
	if ( $found ) {
		return $found->term_id;
	}
	$made = wp_insert_term( $name, $taxonomy );
	if ( is_wp_error( $made ) ) {
		throw new RuntimeException( $made->get_error_message() );
	}
	foreach ( $meta as $key => $value ) {
		add_term_meta( $made['term_id'], $key, $value );
	}
	return $made['term_id'];
}

/** Assigns the terms that the record names. */
function sandbox_assign( int $id, string $taxonomy, ?array $names ): void {
	if ( null !== $names ) {
		wp_set_object_terms( $id, array_map( static fn( $name ) => sandbox_term( $taxonomy, $name ), $names ), $taxonomy );
	}
}

/** Formats a part of a local time `2031-05-01 19:30:00`, as `date()` does. */
function sandbox_part( string $wall, string $format ): string {
	return ( new DateTimeImmutable( $wall, new DateTimeZone( 'UTC' ) ) )->format( $format );
}

/** The instant of a local time in a zone. */
function sandbox_moment( string $wall, ?string $zone ): DateTimeImmutable {
	return new DateTimeImmutable( $wall, $zone ? new DateTimeZone( $zone ) : wp_timezone() );
}

/** Gives administrators a plugin's own capabilities, as its activation does. */
function sandbox_grant( array $names ): void {
	add_action(
		'init',
		static function () use ( $names ) {
			$role = wp_installing() ? null : get_role( 'administrator' );
			foreach ( $role ? array_diff( $names, array_keys( $role->capabilities ) ) : array() as $name ) {
				$role->add_cap( $name );
			}
		},
		1
	);
}

/** The capabilities of a type with `capability_type` and `map_meta_cap`. */
function sandbox_caps( string $plural ): array {
	$actions = array( 'edit', 'edit_others', 'edit_private', 'edit_published', 'publish', 'delete', 'delete_others', 'delete_private', 'delete_published', 'read_private' );
	return array_map( static fn( $action ) => $action . '_' . $plural, $actions );
}
