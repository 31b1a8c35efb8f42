<?php
// Fills a site of The Events Calendar, whose days start at $day_starts, with odd but legal content, the same for the same
// $seed; and adds the route differential/v1/rows, which shows what the database has of a record.

namespace Differential;

$turn = 0;
/** A number from 0 to $below - 1. Not mt_rand(): plugins draw from it too. */
$draw  = static function ( int $below ) use ( $seed, &$turn ): int {
	return hexdec( substr( sha1( "$seed/" . $turn++ ), 0, 8 ) ) % $below;
};
$pick  = static fn( array $list ) => $list[ $draw( count( $list ) ) ];
$maybe = static fn( int $percent ): bool => $draw( 100 ) < $percent;
/** Up to $most elements of the list, in a random order. */
$some  = static function ( array $list, int $most ) use ( $draw ): array {
	usort( $list, static fn() => $draw( 3 ) - 1 );
	return array_slice( $list, 0, $draw( $most + 1 ) );
};
/** Rows of the database, as an import or an old version of the plugin may have left them. */
$rows  = static function ( int $id, array $values ): void {
	foreach ( $values as $key => $value ) update_post_meta( $id, $key, wp_slash( $value ) );
};

const TEXTS = array(
	'Music by the water.',
	'',
	"First paragraph.\n\nSecond & third \"quoted\".",
	'Before the fold.<!--more-->After the fold.',
	'<!-- wp:paragraph --><p>In a block, <strong>bold</strong>.</p><!-- /wp:paragraph -->',
	'<p>Doors 19:00</p><table><tr><td>20:00</td><td>Band</td></tr></table>',
	'[caption width="100"]<img src="/a.jpg" alt="A" />The caption[/caption] and more.',
	'Emoji 🎉, עברית, Größe, 日本語.',
	'<a href="https://a.example/?a=1&amp;b=2">Link</a> to a page',
);
const TITLES = array( 'Harbour concert', 'Open day & fair', 'Jazz "night"', 'Größe', 'The <em>late</em> show', 'Market’s end', 'Reading – part 2', '日本の夜', 'R&B 100%', 'Gala' );
const COSTS  = array( '', '0', '10', '12.50', '5-25', '10 - 20', 'Free', 'Donation', '$15', '€10', '20€', '12.50 €', 'CHF 20', '20 kr.', 'Pay what you want', '1,000', '0 - 20' );
const ZONES  = array( 'America/New_York', 'Europe/Paris', 'Asia/Kathmandu', 'UTC', 'UTC+5.5', 'UTC-3', 'Pacific/Auckland' );

tribe_update_option( 'multiDayCutoff', $day_starts );

// Terms: four levels, a name in two places, entities, some without events.
$terms = array( 'tribe_events_cat' => array(), 'post_tag' => array() );
foreach ( array( 'Music', 'Markets', 'R&B', 'Kids "n" teens', 'Ärger', 'Empty one' ) as $name ) {
	$parent = 0;
	for ( $level = 0, $depth = 1 + $draw( 4 ); $level < $depth; ++$level ) {
		$term = wp_insert_term( 0 === $level ? $name : "$name $level", 'tribe_events_cat', array( 'parent' => $parent, 'description' => $pick( array( '', 'About <b>it</b> & more' ) ) ) );
		$terms['tribe_events_cat'][] = $parent = $term['term_id'];
	}
}
wp_insert_term( 'Music', 'tribe_events_cat', array( 'parent' => end( $terms['tribe_events_cat'] ), 'slug' => 'music-again' ) );
foreach ( array( 'open air', 'R&B', '50+', 'free', 'unused', 'Größe' ) as $name ) $terms['post_tag'][] = wp_insert_term( $name, 'post_tag' )['term_id'];
// Tags are shared with posts.
wp_set_post_terms( wp_insert_post( array( 'post_title' => 'A post', 'post_status' => 'publish' ) ), array( $terms['post_tag'][0] ), 'post_tag' );

$minute  = 0;
$dated   = static function ( int $id ) use ( &$minute ): int {
	// Lists of venues and organizers begin with the newest, and the database decides between equal dates.
	$date = gmdate( 'Y-m-d H:i:s', strtotime( '2026-01-01 12:00:00' ) + 60 * ++$minute );
	// WordPress's REST API shows no UTC date of a draft.
	if ( ! in_array( get_post_status( $id ), array( 'draft', 'pending' ), true ) ) wp_update_post( array( 'ID' => $id, 'post_date' => $date, 'post_date_gmt' => get_gmt_from_date( $date ), 'edit_date' => true ) );
	return $id;
};
$authors = get_users( array( 'role__in' => array( 'administrator', 'editor', 'author' ), 'fields' => 'ID', 'orderby' => 'ID' ) );
$linked  = static function ( string $type, string $prefix, array $keys ) use ( $pick, $maybe, $rows, $dated, $authors ): array {
	$ids = array();
	foreach ( array( 'Quay Hall', 'Old & new', 'Größe', 'Town “Council”', 'The Players', 'Sketch', 'Locked' ) as $name ) {
		$id = wp_insert_post( array( 'post_type' => $type, 'post_title' => wp_slash( $name ), 'post_content' => wp_slash( $pick( TEXTS ) ), 'post_excerpt' => $pick( array( '', 'Short.' ) ), 'post_author' => $pick( $authors ), 'post_status' => 'Sketch' === $name ? 'draft' : 'publish', 'post_password' => 'Locked' === $name ? 'sesame' : '' ) );
		foreach ( $keys as $key => $values ) if ( $maybe( 70 ) ) $rows( $id, array( "$prefix$key" => $pick( $values ) ) );
		$ids[] = $dated( $id );
	}
	return $ids;
};
$venues     = $linked( 'tribe_venue', '_Venue', array(
	'Address' => array( '1 Quay Street', '' ), 'City' => array( 'Galway', 'Köln', '' ), 'Country' => array( 'Ireland', 'United States', '' ),
	'Province' => array( 'Connacht', '' ), 'State' => array( 'NY', '' ), 'StateProvince' => array( 'NY', 'Connacht', '' ), 'Zip' => array( 'H91 X5', '0' ),
	'Phone' => array( '+353 91 1', '' ), 'URL' => array( 'https://quay.example/?a=1&b=2', '' ),
	'ShowMap' => array( '1', '', 'true', 'false' ), 'ShowMapLink' => array( '1', '0' ),
) );
$organizers = $linked( 'tribe_organizer', '_Organizer', array(
	'Phone' => array( '+353 91 2', '' ), 'Website' => array( 'https://players.example/', '' ), 'Email' => array( 'hello@players.example', '' ),
) );

for ( $index = 0; $index < $events; ++$index ) {
	$day   = gmdate( 'Y-m-d', strtotime( '2031-05-01' ) + 86400 * ( $maybe( 15 ) ? -2000 + $draw( 3000 ) : $draw( 30 ) ) );
	$start = "$day " . $pick( array( '00:00:00', '02:00:00', '02:30:00', '10:00:00', '19:30:00', '23:30:00' ) );
	$end   = gmdate( 'Y-m-d H:i:s', strtotime( "$start UTC" ) + $pick( array( 0, 1800, 7200, 7200, 10800, 86400, 4 * 86400 ) ) );
	$whole = $maybe( 20 );
	// No filter of the gateway finds what a password hides.
	$locked = $maybe( 5 );
	$args  = array(
		'title' => $pick( TITLES ) . ( $maybe( 50 ) ? " $index" : '' ), 'content' => $pick( TEXTS ), 'excerpt' => $pick( array( '', 'By the water.' ) ),
		'status' => $maybe( 80 ) ? 'publish' : $pick( array( 'draft', 'private', 'pending' ) ), 'author' => $pick( $authors ), 'timezone' => $pick( ZONES ),
		'start_date' => $start, 'end_date' => $end, 'all_day' => $whole, 'cost' => $pick( COSTS ),
		'category' => $some( $terms['tribe_events_cat'], 3 ), 'tag' => $some( array_slice( $terms['post_tag'], 0, 4 ), 2 ),
		'venue' => $maybe( 70 ) ? $pick( $venues ) : '', 'organizer' => $some( $organizers, 3 ), 'featured' => $maybe( 15 ), 'sticky' => $maybe( 10 ),
	);
	if ( $locked ) $args = array( 'content' => 'Sesame.', 'excerpt' => 'Opened.', 'category' => array(), 'tag' => array(), 'venue' => '', 'organizer' => array(), 'featured' => false ) + $args;
	$event = tribe_events()->set_args( array_filter( $args, static fn( $value ) => '' !== $value && array() !== $value && false !== $value ) )->create();
	if ( ! $event ) continue;
	$dated( $event->ID );
	$odd = array(
		'_EventURL' => array( '', 'https://tickets.example/7?a=1&b=2' ), '_EventCurrencySymbol' => array( '', '$', '£', '€', 'CHF' ),
		'_EventCurrencyPosition' => array( '', 'prefix', 'postfix', 'suffix' ), '_EventCurrencyCode' => array( '', 'GBP', 'EUR' ),
		'_EventShowMap' => array( '1', '', '0' ), '_EventShowMapLink' => array( '1', '' ), '_EventHideFromUpcoming' => array( 'yes' ),
		'_EventOrganizerID' => array( '' ),
	);
	$share = array( '_EventHideFromUpcoming' => 8, '_EventCurrencyCode' => 20, '_EventOrganizerID' => 0 );
	foreach ( $odd as $key => $values ) if ( $maybe( $share[ $key ] ?? 40 ) ) $rows( $event->ID, array( $key => $pick( $values ) ) );
	if ( $maybe( 20 ) ) {
		$state = $pick( array( 'canceled', 'postponed', 'scheduled' ) );
		$rows( $event->ID, array( '_tribe_events_status' => $state, '_tribe_events_status_reason' => $pick( array( '', 'Singer ill & away' ) ) ) );
	}
	if ( $locked ) wp_update_post( array( 'ID' => $event->ID, 'post_password' => 'sesame' ) );
}

file_put_contents( WPMU_PLUGIN_DIR . '/differential.php', <<<'PHP'
<?php
add_action( 'rest_api_init', static function () {
	register_rest_route( 'differential/v1', '/rows/(?P<id>\d+)', array(
		'permission_callback' => static fn() => current_user_can( 'manage_options' ),
		'callback'            => static function ( $request ) {
			global $wpdb;
			$id    = (int) $request['id'];
			$metas = array();
			foreach ( $wpdb->get_results( "SELECT meta_key, meta_value FROM $wpdb->postmeta WHERE post_id = $id ORDER BY meta_key, meta_id" ) as $row ) {
				$metas[ $row->meta_key ][] = $row->meta_value;
			}
			$terms = $wpdb->get_col( "SELECT CONCAT( taxonomy, ' ', term_id ) FROM $wpdb->term_relationships JOIN $wpdb->term_taxonomy USING ( term_taxonomy_id ) WHERE object_id = $id ORDER BY 1" );
			return array(
				'post'        => $wpdb->get_row( "SELECT post_title, post_content, post_excerpt, post_status, post_name, post_author, menu_order, post_password FROM $wpdb->posts WHERE ID = $id" ),
				'meta'        => (object) $metas,
				'terms'       => $terms,
				'event'       => $wpdb->get_results( "SELECT start_date, end_date, timezone, start_date_utc, end_date_utc, duration FROM {$wpdb->prefix}tec_events WHERE post_id = $id" ),
				'occurrences' => $wpdb->get_results( "SELECT start_date, end_date, start_date_utc, end_date_utc, duration FROM {$wpdb->prefix}tec_occurrences WHERE post_id = $id ORDER BY 1" ),
			);
		},
	) );
} );
PHP
);
echo "\n{}\n";
