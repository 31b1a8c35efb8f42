<?php
// Reads the recurrences that Events Manager keeps in tables of its own, hides cancelled events if the plugin does,
// and shows the notes of an event as its description.
//
// The plugin also has "repeating" events. They need nothing: each of their repetitions is a post of its own.

namespace CalendarGateway\Site;

/** The format is such as "# @": the amount, a blank, the sign. */
function plugin_settings() {
    $code = (string) \get_option('dbem_bookings_currency');
    list($before, $after) = \explode('#', \get_option('dbem_bookings_currency_format', '@#') . '#');
    $symbols = \function_exists('em_get_currencies') ? \em_get_currencies()->true_symbols : [];
    return $code === '' ? [] : [
        'currency_symbol' => \str_replace('@', $symbols[$code] ?? $code, $before . $after),
        'currency_code' => $code,
        'currency_position' => \strpos($before, '@') === false ? 'postfix' : 'prefix',
    ];
}

/** Whether the lists of the plugin leave out cancelled events. */
function hides_cancelled() {
    return \get_option('dbem_event_status_enabled') && !\get_option('dbem_events_include_status_cancelled');
}

/** The plugin's "active status" in the words of the API; '' while statuses are off: it ignores what is stored then. */
function status_word($stored) {
    $states = ['0' => 'cancelled', '1' => 'scheduled'];
    return \get_option('dbem_event_status_enabled') ? $states[(string) $stored] ?? '' : '';
}

register_state('event', function ($id) {
    $types = \get_option('dbem_location_types');
    $is_online = !empty($types['url']) && \get_post_meta($id, '_event_location_type', true) === 'url';
    return ['event_status' => status_word(\get_post_meta($id, '_event_active_status', true))]
        + ($is_online ? [
            'attendance_mode' => 'online',
            'online_url' => (string) \get_post_meta($id, '_event_location_url', true),
        ] : []);
});

/** The occurrences that start on these days; null if the event is not a series. */
function occurrences_of($id, $from, $to, $today) {
    global $wpdb;
    $events = "{$wpdb->prefix}em_events";
    $query = "SELECT event_id FROM $events WHERE post_id = %d AND event_type = 'recurring'";
    $series = rows_of($wpdb->prepare($query, $id));
    if (!$series) {
        return null;
    }
    $rows = rows_of($wpdb->prepare(
        "SELECT event_start_date, event_start_time, event_end_date, event_end_time,
                event_all_day, event_timezone, event_active_status
        FROM $events WHERE event_type = 'recurrence' AND event_status = 1 AND (event_active_status <> 0 OR %d)
        AND event_start_date BETWEEN %s AND %s
        AND recurrence_set_id IN (SELECT recurrence_set_id FROM {$wpdb->prefix}em_event_recurrences WHERE event_id = %d)
        ORDER BY ABS(DATEDIFF(event_start_date, %s)), event_start_date, event_start_time LIMIT %d",
        !hides_cancelled(), $from, $to, $series[0]->event_id, $today, MAX_OCCURRENCES
    ));
    return \array_map(function ($row) {
        $own = \array_filter(['all_day' => $row->event_all_day, 'timezone' => $row->event_timezone], 'is_string');
        if (isset($own['all_day'])) {
            $own['all_day'] = (bool) $own['all_day'];
        }
        return $own + [
            'start' => "$row->event_start_date $row->event_start_time",
            'end' => "$row->event_end_date $row->event_end_time",
            'event_status' => status_word($row->event_active_status),
        ];
    }, $rows);
}

\add_action('rest_api_init', function () {
    if (!is_gateway_request()) {
        return;
    }
    // Around the notes the plugin puts its page: dates, a map, a booking form, with ids such as em-view-123 that
    // differ each time. While WordPress makes an excerpt, the plugin takes its page away, and then puts it back.
    foreach (['EM_Event_Post', 'EM_Location_Post'] as $page) {
        \remove_filter('the_content', [$page, 'the_content']);
        \remove_filter('get_the_excerpt', [$page, 'enable_the_content'], 100);
    }
    \register_rest_field('event', 'calendar_hidden', [
        'get_callback' => function ($record) {
            return hides_cancelled() && \get_post_meta((int) $record['id'], '_event_active_status', true) === '0';
        },
        'schema' => ['type' => 'boolean', 'readonly' => true],
    ]);
});

// The plugin changes, cancels and deletes single occurrences in its own tables only, and cancels an event without a
// hook of WordPress. Without webhooks there is nothing to report.
function event_changed($result, $event) {
    if (\defined(__NAMESPACE__ . '\\WEBHOOK_URL') && \is_callable([$event, 'get_post_id'])) {
        post_changed($event->get_post_id());
    }
    return $result;
}
foreach (['em_event_save_meta', 'em_event_delete'] as $hook) {
    \add_filter($hook, __NAMESPACE__ . '\\event_changed', 10, 2);
}
\add_filter('em_event_set_active_status', function ($result, $status, $event) {
    return event_changed($result, $event);
}, 10, 3);
// This setting shows or hides all events that are cancelled, and changes none: the gateway is to read them again.
\add_action('update_option_dbem_events_include_status_cancelled', function () {
    global $wpdb;
    $query = "SELECT post_id FROM {$wpdb->prefix}em_events WHERE event_active_status = 0";
    $rows = \defined(__NAMESPACE__ . '\\WEBHOOK_URL') ? rows_of($query) : [];
    \array_map(__NAMESPACE__ . '\\post_changed', \array_column($rows, 'post_id'));
});
