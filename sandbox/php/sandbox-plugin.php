<?php
// Plugin Name: Sandbox
// Description: Makes this WordPress a sandbox: no requests to other servers, and rewrite rules that follow the must-use plugins.

// Prevents update checks: WordPress believes that the last one was just now.
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

// Applies the options of the sandbox once, so that later changes in wp-admin stay. Runs before WordPress reads the permalink
// structure, so that this request already registers its post types with the new one.
if ( ! wp_installing() && defined( 'SANDBOX_OPTIONS' ) && get_option( 'sandbox_options' ) !== SANDBOX_OPTIONS ) {
	foreach ( json_decode( SANDBOX_OPTIONS, true ) as $name => $value ) {
		update_option( $name, $value );
	}
	update_option( 'sandbox_options', SANDBOX_OPTIONS );
}

// Another set of must-use plugins may have post types with other URLs.
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
