<?php
// Installs WordPress: the site and a user for each role, each with an application password.
// Reads the title and the passwords from a JSON file, and replaces it with the credentials.

$_SERVER['HTTP_HOST']      = '127.0.0.1';
$_SERVER['REQUEST_METHOD'] = 'GET';
define( 'WP_INSTALLING', true );

$settings_file = __DIR__ . '/sandbox-setup.json';
$settings      = json_decode( file_get_contents( $settings_file ), true );

require __DIR__ . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
require_once ABSPATH . 'wp-admin/includes/user.php';

$users     = $settings['users'];
$installed = wp_install( $settings['title'], 'admin', 'admin@example.org', true, '', $users['admin'] );

foreach ( get_posts( array( 'post_type' => 'any', 'post_status' => 'any', 'numberposts' => -1 ) ) as $post ) {
	wp_delete_post( $post->ID, true );
}

$credentials = array();
foreach ( $users as $role => $password ) {
	$id = 'admin' === $role ? $installed['user_id'] : wp_insert_user(
		array(
			'user_login'   => $role,
			'user_pass'    => $password,
			'user_email'   => "$role@example.org",
			'display_name' => ucfirst( $role ),
			'role'         => $role,
		)
	);
	if ( is_wp_error( $id ) ) {
		throw new RuntimeException( $id->get_error_message() );
	}
	$application = WP_Application_Passwords::create_new_application_password( $id, array( 'name' => 'sandbox' ) );
	if ( is_wp_error( $application ) ) {
		throw new RuntimeException( $application->get_error_message() );
	}
	$credentials[ $role ] = array(
		'user'                => 'admin' === $role ? 'admin' : $role,
		'password'            => $password,
		'applicationPassword' => WP_Application_Passwords::chunk_password( $application[0] ),
	);
}

file_put_contents( $settings_file, json_encode( $credentials ) );
echo "sandbox: installed\n";
