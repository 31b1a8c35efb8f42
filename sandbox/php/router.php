<?php
// The router of PHP's built-in server: serves existing files, and passes everything else to WordPress, as its .htaccess does.

$root = $_SERVER['DOCUMENT_ROOT'];
$path = rawurldecode( (string) parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH ) );

if ( str_contains( $path, '/.' ) || str_contains( $path, "\0" ) ) {
	http_response_code( 404 );
	return true;
}

$file = $root . $path;
if ( $path !== '/' && is_dir( $file ) && is_file( rtrim( $file, '/' ) . '/index.php' ) ) {
	if ( ! str_ends_with( $path, '/' ) ) {
		header( 'Location: ' . $path . '/', true, 301 );
		return true;
	}
	return false;
}
if ( is_file( $file ) ) {
	return false;
}

$_SERVER['SCRIPT_NAME']     = '/index.php';
$_SERVER['SCRIPT_FILENAME'] = $root . '/index.php';
$_SERVER['PHP_SELF']        = '/index.php';
unset( $_SERVER['PATH_INFO'] );
chdir( $root );
require $root . '/index.php';
