<?php
// Plugin Name: Sandbox
// Description: What makes this WordPress a sandbox: no news from outside, and rewrite rules that follow the must-use plugins.

// No server is asked for updates, so the places that would ask are told that it was done just now.
foreach ( array( 'update_core', 'update_plugins', 'update_themes' ) as $what ) {
	add_filter(
		"pre_site_transient_$what",
		static fn() => (object) array(
			'last_checked'    => time(),
			'version_checked' => get_bloginfo( 'version' ),
			'updates'         => array(),
			'response'        => array(),
			'translations'    => array(),
			'no_update'       => array(),
			'checked'         => array(),
		)
	);
}
add_filter( 'pre_wp_mail', '__return_true' );

// What the start of the sandbox wishes for is done once; what is changed in wp-admin afterwards stays changed. This runs
// before WordPress reads the permalink structure, so that this very request already registers its post types by the new one.
if ( ! wp_installing() && defined( 'SANDBOX_OPTIONS' ) && get_option( 'sandbox_options' ) !== SANDBOX_OPTIONS ) {
	foreach ( json_decode( SANDBOX_OPTIONS, true ) as $name => $value ) {
		update_option( $name, $value );
	}
	update_option( 'sandbox_options', SANDBOX_OPTIONS );
}

// A new set of must-use plugins may bring post types with addresses of their own.
add_action(
	'init',
	static function () {
		if ( ! wp_installing() && defined( 'SANDBOX_RULES' ) && get_option( 'sandbox_rules' ) !== SANDBOX_RULES ) {
			flush_rewrite_rules( false );
			update_option( 'sandbox_rules', SANDBOX_RULES );
		}
	},
	PHP_INT_MAX
);
