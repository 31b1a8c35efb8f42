<?php
// For The Events Calendar: saves in wp/v2 make complete events on every theme, and the gateway reads past events,
// series, sticky ones and maps.

namespace CalendarGateway\Site;

// With a classic theme and its block editor off, The Events Calendar does not show its keys in wp/v2. Nor does it
// compute what its calendar reads (UTC dates, rows of its tables): an event that is saved in wp/v2 would not be in
// the calendar. This registers the plugin's own keys and code for wp/v2 on these routes only, so that its screens and
// its own REST API save as before. Priority 97: registration.php opens the remaining keys at 98.
\add_action('rest_api_init', function () {
    $bases = \implode('|', \array_map('preg_quote', \array_column(TYPES, 'base')));
    if (\preg_match("#^/wp/v2/($bases)(/|\$)#", requested_route()) && \class_exists('Tribe__Events__Editor__Meta')
        && !\registered_meta_key_exists('post', '_EventStartDate')) {
        $meta = new \Tribe__Events__Editor__Meta();
        $meta->register();
        // Without its block editor the plugin stores "yes", of which the editor's registration would make "1".
        \remove_all_filters('sanitize_post_meta__EventAllDay');
        \array_map(__NAMESPACE__ . '\\hide_with_password', \array_keys(TYPES));
        keep_cost($meta);
    } elseif (is_gateway_request() && \function_exists('tribe') && \tribe()->isBound('events.editor.meta')) {
        keep_cost(\tribe('events.editor.meta'));
    }
    if (is_gateway_request()) {
        // Opens "menu_order": -1 is a sticky event.
        \add_post_type_support('tribe_events', 'page-attributes');
    }
}, 97);

// The plugin's code for wp/v2 overwrites the cost with every save, in the form that its pages show: "Free" for 0.
// With this, a save without a cost keeps the cost.
function keep_cost($meta) {
    \add_filter('rest_pre_insert_tribe_events', function ($prepared, $request) use ($meta) {
        if (!isset($request['meta']['_EventCost'])) {
            \remove_filter('rest_after_insert_tribe_events', [$meta, 'update_cost']);
        }
        return $prepared;
    }, 10, 2);
}

// The plugin's code for wp/v2 takes the id from the request, which has none in a create: the event would be in no
// list until its next update. An event that was created without saying whether it has a map has none.
\add_action('rest_after_insert_tribe_events', function ($post, $request, $is_new) {
    if ($is_new && is_gateway_request()) {
        $request->set_param('id', $post->ID);
        \add_post_meta($post->ID, '_EventShowMap', '', true);
        \add_post_meta($post->ID, '_EventShowMapLink', '', true);
    }
}, 5, 3);

// WordPress keeps those rows of a list that are sent again, and adds the others behind them: after 21, the list 27,
// 21 would become 21, 27. The first organizer is the one that the plugin names.
\add_action('rest_after_insert_tribe_events', function ($post, $request) {
    foreach (['_EventVenueID', '_EventOrganizerID'] as $key) {
        $sent = \array_map('strval', (array) ($request['meta'][$key] ?? []));
        if (!is_gateway_request() || !$sent || $sent === \get_post_meta($post->ID, $key)) {
            continue;
        }
        \delete_post_meta($post->ID, $key);
        foreach ($sent as $id) {
            \add_post_meta($post->ID, $key, $id);
        }
    }
}, 20, 2);

// Updates what the plugin's code for wp/v2 does not: the duration and the abbreviation of the zone. Priority 20: the
// plugin writes the rows of its tables at 100.
\add_action('rest_after_insert_tribe_events', function ($post, $request, $is_new) {
    $values = \array_map(function ($key) use ($post) {
        return (string) \get_post_meta($post->ID, $key, true);
    }, ['_EventStartDate', '_EventStartDateUTC', '_EventEndDateUTC', '_EventTimezone']);
    list($start, $start_utc, $end_utc, $zone) = $values;
    $is_other = !is_gateway_request() || !$request['meta'] || \in_array('', $values, true);
    if ($is_other || !\class_exists('Tribe__Timezones')) {
        return;
    }
    \update_post_meta($post->ID, '_EventDuration', \strtotime("$end_utc UTC") - \strtotime("$start_utc UTC"));
    // An offset such as UTC+5.5 is its own abbreviation.
    $abbreviation = \strpos($zone, 'UTC') === 0 ? $zone : \Tribe__Timezones::abbr($start, $zone);
    \update_post_meta($post->ID, '_EventTimezoneAbbr', $abbreviation);
    // wp/v2 stores "1" and "", the plugin "yes" and "no", or no row in a create.
    $is_all_day = $request['meta']['_EventAllDay'] ?? null;
    if ($is_new && !$is_all_day) {
        \delete_post_meta($post->ID, '_EventAllDay');
    } elseif ($is_all_day !== null) {
        \update_post_meta($post->ID, '_EventAllDay', $is_all_day ? 'yes' : 'no');
    }
}, 20, 3);

// The plugin limits lists of wp/v2 to upcoming events, and lists one row for each occurrence: with a series of five,
// X-WP-Total would be four more than the posts that there are.
\add_filter('rest_tribe_events_query', function ($query) {
    if (is_gateway_request()) {
        $query['tribe_suppress_query_filters'] = true;
        \add_filter('tec_events_custom_tables_v1_query_modifier_applies_to_query', '__return_false');
    }
    return $query;
});

/** The occurrences that start on these days; null for an event that is no series: the plugin has one row of it. */
function occurrences_of($id, $from, $to, $today) {
    global $wpdb;
    static $has_table = null;
    $table = "{$wpdb->prefix}tec_occurrences";
    $has_table = $has_table ?? (bool) rows_of($wpdb->prepare('SHOW TABLES LIKE %s', $wpdb->esc_like($table)));
    $count = "SELECT count(*) AS rows_ FROM $table WHERE post_id = %d";
    if (!$has_table || rows_of($wpdb->prepare($count, $id))[0]->rows_ < 2) {
        return null;
    }
    return rows_of($wpdb->prepare(
        "SELECT start_date AS start, end_date AS end FROM $table
         WHERE post_id = %d AND DATE(start_date) BETWEEN %s AND %s
        ORDER BY ABS(DATEDIFF(start_date, %s)), start_date LIMIT %d",
        $id, $from, $to, $today, MAX_OCCURRENCES
    ));
}

/** What the site chose, without the plugin's defaults: where nobody chose a currency, nothing is in dollars. */
function plugin_settings() {
    $of = function ($option) {
        return \function_exists('tribe_get_option') ? \tribe_get_option($option, null) : null;
    };
    $is_after = $of('reverseCurrencyPosition');
    return [
        'currency_symbol' => $of('defaultCurrencySymbol'),
        'currency_code' => $of('defaultCurrencyCode'),
        'currency_position' => $is_after === null
            ? null
            : (\filter_var($is_after, \FILTER_VALIDATE_BOOLEAN) ? 'postfix' : 'prefix'),
        'day_starts' => $of('multiDayCutoff'),
        'timezone_mode' => $of('tribe_events_timezone_mode'),
    ];
}

// What wp/v2 does not say of the plugin's types. The plugin shows a map if the key is not set, where wp/v2 says
// false. A website that is stored empty stays empty ("-"), an event without one shows its own address. An event may
// have a parent, and several costs: 10 and 20 are two rows, as Event Tickets stores its prices.
foreach (['tribe_events' => '_Event', 'tribe_venue' => '_Venue'] as $type => $prefix) {
    \add_filter("rest_prepare_$type", function ($response, $post) use ($prefix) {
        if (!is_gateway_request()) {
            return $response;
        }
        foreach (["{$prefix}ShowMap", "{$prefix}ShowMapLink"] as $key) {
            if (isset($response->data['meta'][$key]) && !\metadata_exists('post', $post->ID, $key)) {
                $response->data['meta'][$key] = true;
            }
        }
        if (($response->data['meta']['_EventURL'] ?? null) === '' && \metadata_exists('post', $post->ID, '_EventURL')) {
            $response->data['meta']['_EventURL'] = '-';
        }
        $costs = \array_values(\array_unique(\get_post_meta($post->ID, '_EventCost')));
        if (isset($response->data['meta']['_EventCost']) && \count($costs) > 1) {
            $response->data['meta']['_EventCost'] = \wp_json_encode($costs);
        }
        $response->data['parent'] = $post->post_parent;
        return $response;
    }, 10, 2);
}
