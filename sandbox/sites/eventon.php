<?php
// Plugin Name: Site: EventON
// Description: Behaves like EventON Lite 2.2. Observed there:
// - "ajde_events": in wp/v2 "post yes, meta []"; "plain meta, "wall clock as UTC" unix"
// - "evcal_srow, evcal_erow unix of the wall clock read as UTC; _unix_start_ev/_unix_end_ev real UTC"; "_evo_tz"; "evcal_allday yes/no";
//   "evcal_lmlink"; evo_exclude_ev "yes" (EventON Lite 2.2.21, "Exclude from calendar"): in none of its calendars
// - "term event_location; address in WordPress option evo_tax_meta[tax][term]: unreachable"; "term event_organizer same"
// - "event_type, event_type_2 (REST yes) / post_tag"
// - Capabilities: "use their own capability names (... manage_eventon_terms...)"; only administrators have them here
// The companion plugin opens its types and registers the meta.

sandbox_grant( array_merge( sandbox_caps( 'eventons' ), array( 'manage_eventon_terms' ) ) );

add_action(
	'init',
	static function () {
		$supports = array( 'title', 'editor', 'author', 'thumbnail', 'excerpt', 'custom-fields' );
		register_post_type( 'ajde_events', array( 'label' => 'Events', 'public' => true, 'show_in_rest' => true, 'supports' => $supports, 'taxonomies' => array( 'post_tag' ), 'capability_type' => array( 'eventon', 'eventons' ), 'map_meta_cap' => true, 'rewrite' => array( 'slug' => 'events' ) ) );
		$own = array( 'manage_terms' => 'manage_eventon_terms', 'edit_terms' => 'manage_eventon_terms', 'delete_terms' => 'manage_eventon_terms', 'assign_terms' => 'edit_eventons' );
		foreach ( array( 'event_type' => true, 'event_type_2' => true, 'event_location' => false, 'event_organizer' => false ) as $taxonomy => $open ) {
			register_taxonomy( $taxonomy, 'ajde_events', array( 'public' => true, 'hierarchical' => $open, 'show_in_rest' => $open, 'capabilities' => $own ) );
		}
	}
);

function sandbox_seed( array $event ): int {
	$meta = array();
	foreach ( array( 'start' => 's', 'end' => 'e' ) as $end => $letter ) {
		if ( isset( $event[ $end ] ) ) {
			$meta[ "evcal_{$letter}row" ]   = (string) strtotime( $event[ $end ] . ' UTC' );
			$meta[ "_unix_{$end}_ev" ] = (string) sandbox_moment( $event[ $end ], $event['timezone'] ?? null )->getTimestamp();
		}
	}
	if ( ! isset( $event['id'] ) ) {
		$meta['_evo_tz']      = $event['timezone'] ?? wp_timezone_string();
		$meta['evcal_allday'] = empty( $event['all_day'] ) ? 'no' : 'yes';
		$meta['evcal_lmlink'] = $event['website'] ?? '';
		$meta['evcal_repeat'] = 'no';
	}
	if ( isset( $event['hidden'] ) ) {
		$meta['evo_exclude_ev'] = $event['hidden'] ? 'yes' : 'no';
	}
	$id = sandbox_post( 'ajde_events', $event, $meta );
	if ( isset( $event['venue'] ) ) {
		$term   = sandbox_term( 'event_location', $event['venue']['name'] );
		$stored = (array) get_option( 'evo_tax_meta', array() );
		foreach ( array( 'address', 'city', 'state', 'country' ) as $name ) {
			$stored['event_location'][ $term ][ "location_$name" ] = $event['venue'][ $name ] ?? '';
		}
		update_option( 'evo_tax_meta', $stored );
		wp_set_object_terms( $id, $term, 'event_location' );
	}
	sandbox_assign( $id, 'event_organizer', isset( $event['organizer'] ) ? array( $event['organizer']['name'] ) : null );
	sandbox_assign( $id, 'event_type', $event['categories'] ?? null );
	sandbox_assign( $id, 'post_tag', $event['tags'] ?? null );
	return $id;
}
