<?php
// Fills a site in one run of PHP: each entry of a JSON file is a create request of WordPress's REST API, sent inside the process by the editor.

$_SERVER['HTTP_HOST']      = '127.0.0.1';
$_SERVER['REQUEST_METHOD'] = 'POST';

require __DIR__ . '/wp-load.php';

// WordPress's own hint that much is written at once: it counts the posts of terms at the end.
wp_defer_term_counting( true );
wp_set_current_user( get_user_by( 'login', 'editor' )->ID );

$entries = json_decode( file_get_contents( __DIR__ . '/sandbox-seed.json' ), true );
$ids     = array();

// Replaces array( 'ref' => KEY ) by the id of the entry with that key.
$resolve = static function ( $value ) use ( &$resolve, &$ids ) {
	if ( ! is_array( $value ) ) {
		return $value;
	}
	if ( isset( $value['ref'] ) ) {
		if ( ! isset( $ids[ $value['ref'] ] ) ) {
			throw new RuntimeException( "{$value['ref']} is linked before it is created" );
		}
		return $ids[ $value['ref'] ];
	}
	return array_map( $resolve, $value );
};

foreach ( $entries as $entry ) {
	$request = new WP_REST_Request( 'POST', '/wp/v2/' . $entry['collection'] );
	if ( isset( $entry['png'] ) ) {
		$request->set_header( 'Content-Type', 'image/png' );
		$request->set_header( 'Content-Disposition', "attachment; filename=\"{$entry['name']}\"" );
		$request->set_body( base64_decode( $entry['png'] ) );
	} else {
		$request->set_header( 'Content-Type', 'application/json' );
		$request->set_body( wp_json_encode( $resolve( $entry['body'] ) ) );
	}
	$response = rest_do_request( $request );
	if ( 201 !== $response->get_status() ) {
		throw new RuntimeException( wp_json_encode( array( $entry['collection'], $entry['body'] ?? null, $response->get_data() ) ) );
	}
	if ( isset( $entry['key'] ) ) {
		$ids[ $entry['key'] ] = $response->get_data()['id'];
	}
}

wp_defer_term_counting( false );
echo 'sandbox: created ' . count( $entries ) . "\n";
