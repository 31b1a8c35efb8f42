<?php
// Reads what Event Organiser keeps in tables of its own: occurrences, and the addresses and coordinates of venues.

namespace CalendarGateway\Site;

// The plugin lists one row for each occurrence, and by default leaves out past events.
\add_filter('rest_event_query', function ($args) {
    if (is_gateway_request()) {
        $args['showpastevents'] = true;
        \add_filter('posts_groupby', __NAMESPACE__ . '\\group_by_post', 20, 2);
    }
    return $args;
});

function group_by_post($groups, $query) {
    global $wpdb;
    return \in_array('event', (array) $query->get('post_type'), true) ? "{$wpdb->posts}.ID" : $groups;
}

/** The occurrences that start on these days; null if the event is not a series. */
function occurrences_of($id, $from, $to, $today) {
    global $wpdb;
    $schedule = \get_post_meta($id, '_eventorganiser_event_schedule', true);
    if (empty($schedule['schedule']) || $schedule['schedule'] === 'once') {
        return null;
    }
    $rows = rows_of($wpdb->prepare(
        "SELECT StartDate, StartTime, EndDate, FinishTime FROM {$wpdb->prefix}eo_events
        WHERE post_id = %d AND StartDate BETWEEN %s AND %s
        ORDER BY ABS(DATEDIFF(StartDate, %s)), StartDate, StartTime LIMIT %d",
        $id, $from, $to, $today, MAX_OCCURRENCES
    ));
    return \array_map(function ($row) {
        return ['start' => "$row->StartDate $row->StartTime", 'end' => "$row->EndDate $row->FinishTime"];
    }, $rows);
}

\add_action('rest_api_init', function () {
    if (!is_gateway_request()) {
        return;
    }
    \register_rest_field('event-venue', 'calendar_venue', [
        'get_callback' => function ($term) {
            if (!\function_exists('eo_get_venue_address')) {
                return null;
            }
            $id = (int) $term['id'];
            return \array_map('strval', \eo_get_venue_address($id)) + [
                'description' => (string) \eo_get_venue_description($id),
                'latitude' => (string) \eo_get_venue_lat($id),
                'longitude' => (string) \eo_get_venue_lng($id),
            ];
        },
        'schema' => ['type' => ['object', 'null'], 'readonly' => true],
    ]);
});

// The plugin changes single occurrences, and venues, in its own tables only. Without webhooks nothing is reported.
foreach (['eventorganiser_delete_event_occurrences', 'eventorganiser_updated_event'] as $hook) {
    \add_action($hook, function ($id) {
        if (\defined(__NAMESPACE__ . '\\WEBHOOK_URL')) {
            post_changed($id);
        }
    });
}
foreach (['added_eo_venue_meta', 'updated_eo_venue_meta', 'deleted_eo_venue_meta'] as $hook) {
    \add_action($hook, function ($row, $id) {
        if (\defined(__NAMESPACE__ . '\\WEBHOOK_URL')) {
            term_changed($id, 0, 'event-venue');
        }
    }, 10, 2);
}
