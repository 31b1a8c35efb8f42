<?php
// WP Event Manager: lists of the REST API have expired events, an event that the gateway moves expires after its new
// date, and its pages show the names of venues and organizers.
//
// The plugin's hourly task takes events off its pages after `_event_expiry_date`. Its own form for visitors
// recomputes this date with every change of an event's dates, by the rule in the plugin's settings; the REST API
// knows nothing of it.

namespace CalendarGateway\Site;

/** The plugin's pages show a price as it was typed: `12` has no currency. */
function plugin_settings() {
    return ['currency_symbol' => ''];
}

// An expired event is public: its page opens for every visitor. WordPress itself lists only `publish` to visitors.
\add_filter('rest_event_listing_query', function ($args) {
    if ((array) ($args['post_status'] ?? 'publish') === ['publish']) {
        $args['post_status'] = ['publish', 'expired'];
    }
    return $args;
});

\add_action('rest_after_insert_event_listing', function ($post, $request) {
    $meta = \is_array($request['meta']) ? $request['meta'] : [];
    $is_moved = isset($meta['_event_start_date']) || isset($meta['_event_end_date']);
    // An administrator's own expiry date stays as long as the event is not moved.
    if ($is_moved && is_gateway_request() && \function_exists('get_event_expiry_date')) {
        \update_post_meta($post->ID, '_event_expiry_date', \get_event_expiry_date($post->ID));
    }
}, 10, 2);

// The plugin's pages show the name from a key, which its own screens set to the title with every save.
foreach (['event_venue' => '_venue_name', 'event_organizer' => '_organizer_name'] as $type => $key) {
    \add_action("rest_after_insert_$type", function ($post) use ($key) {
        if (is_gateway_request()) {
            \update_post_meta($post->ID, $key, \wp_slash(\sanitize_text_field($post->post_title)));
        }
    });
}
