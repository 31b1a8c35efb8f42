<?php
// As much of WordPress as the companion plugin calls while it registers: hooks in the order of their priorities, and one table of meta keys.

const ABSPATH = '/';
$hooks      = array();
$registered = array();
$supports   = array();
$stored     = array();
/** The function of a meta key that prepares its value for a REST response. */
$prepare    = array();

function add_filter( $hook, $callback, $priority = 10 ) {
	global $hooks;
	$hooks[ $hook ][ $priority ][] = $callback;
}
function add_action( $hook, $callback, $priority = 10 ) {
	add_filter( $hook, $callback, $priority );
}
function apply_filters( $hook, $value = null, ...$more ) {
	global $hooks;
	$steps = $hooks[ $hook ] ?? array();
	ksort( $steps );
	foreach ( array_merge( ...array_values( $steps ) ) as $callback ) {
		$value = $callback( $value, ...$more );
	}
	return $value;
}
function register_meta( $object, $key, $args ) {
	global $registered, $prepare;
	$prepare[ $key ] = $args['show_in_rest']['prepare_callback'] ?? null;
	$registered[] = array( 'key' => $key, 'subtype' => $args['object_subtype'] ?? '', 'type' => $args['type'], 'single' => $args['single'] ?? false, 'default' => array_key_exists( 'default', $args ) );
}
function registered_meta_key_exists( $object, $key, $subtype = '' ) {
	global $registered;
	return (bool) array_filter( $registered, static fn( $one ) => $one['key'] === $key && $one['subtype'] === $subtype );
}
class WP_REST_Meta_Fields {
	public static function prepare_value( $value ) {
		return '' === $value ? 0 : (float) $value;
	}
}
function post_type_exists( $type ) {
	return true;
}
function taxonomy_exists( $taxonomy ) {
	return true;
}
function register_taxonomy_for_object_type() {}
function post_type_supports( $type, $feature ) {
	global $supports;
	return in_array( "$type $feature", $supports, true );
}
function add_post_type_support( $type, $feature ) {
	global $supports;
	$supports[] = "$type $feature";
}
$routes = array();
function register_rest_route( $space, $route, $args ) {
	global $routes;
	$routes[ "$space$route" ] = $args['callback'];
}
function get_option( $name ) {
	return false;
}
function update_option( $name ) {
	global $stored;
	$stored[] = $name;
}
function flush_rewrite_rules() {
	global $stored;
	$stored[] = 'rewrite_rules';
}
function wp_json_encode( $value ) {
	return json_encode( $value );
}
function is_serialized( $value ) {
	return 1 === preg_match( '/^[aOs]:\d+:/', $value );
}
$wpdb = new class() {
	public $postmeta = 'wp_postmeta';
	public $termmeta = 'wp_termmeta';
	/** Ids of the rows of a table with the key of a create. */
	public $marked = array();
	private $sql   = '';
	public function prepare( $sql, $key ) {
		$this->sql = $sql;
		return $key;
	}
	public function get_col() {
		foreach ( $this->marked as $table => $ids ) {
			if ( strpos( $this->sql, $table ) ) {
				return $ids;
			}
		}
		return array();
	}
	public function get_var( $key ) {
		return ROWS[ $key ] ?? null;
	}
};
