<?php
// Reads the repeats of EventON, the state of its events, and the addresses and coordinates of its locations, which it
// keeps in an option.

namespace CalendarGateway\Site;

/** The occurrences that start on these days; null if the event is not a series. */
function occurrences_of($id, $from, $to, $today) {
    $repeats = \get_post_meta($id, 'repeat_intervals', true);
    // With one repeat the plugin shows the event's own dates.
    if (\get_post_meta($id, 'evcal_repeat', true) !== 'yes' || !\is_array($repeats) || \count($repeats) < 2) {
        return null;
    }
    $event = \class_exists('EVO_Event') ? new \EVO_Event($id) : null;
    $occurrences = [];
    foreach ($repeats as $index => $times) {
        // The seconds count from 1970 on a clock that shows the event's wall time in UTC.
        $start = \gmdate('Y-m-d H:i:s', (int) ($times[0] ?? 0));
        $day = \substr($start, 0, 10);
        if ($day < $from || $day > $to) {
            continue;
        }
        $distance = \abs(\strtotime("$day UTC") - \strtotime("$today UTC"));
        $end = \gmdate('Y-m-d H:i:s', (int) ($times[1] ?? $times[0]));
        $occurrences[] = [$distance, $start, ['start' => $start, 'end' => $end], $index];
    }
    // By the distance from today, then by the start.
    \sort($occurrences);
    return \array_map(function ($occurrence) use ($event) {
        return $occurrence[2] + ($event ? ['url' => (string) $event->get_permalink($occurrence[3])] : []);
    }, \array_slice($occurrences, 0, MAX_OCCURRENCES));
}

register_state('ajde_events', function ($id) {
    if (!\class_exists('EVO_Event')) {
        return [];
    }
    $event = new \EVO_Event($id);
    // The class answers "scheduled" and "offline" too if nothing is stored. A rescheduled event takes place at its
    // present dates.
    $words = [
        'scheduled' => 'scheduled', 'rescheduled' => 'scheduled',
        'cancelled' => 'cancelled', 'postponed' => 'postponed',
        'movedonline' => 'moved_online',
    ];
    $is_said = $event->get_prop('_status') || $event->is_cancelled();
    return [
        'event_status' => $is_said ? $words[$event->get_event_status()] ?? '' : '',
        'event_status_reason' => (string) $event->get_status_reason(),
        'attendance_mode' => $event->get_prop('_attendance_mode') || $event->is_virtual()
            ? $event->get_attendance_mode()
            : '',
        // Leads through the event's page, if the plugin hides the address.
        'online_url' => $event->is_virtual() ? (string) $event->virtual_url() : '',
    ];
});

\add_action('rest_api_init', function () {
    if (!is_gateway_request()) {
        return;
    }
    \register_rest_field('event_location', 'calendar_venue', [
        'get_callback' => function ($term) {
            $stored = \get_option('evo_tax_meta');
            $meta = $stored['event_location'][(int) $term['id']] ?? [];
            $venue = [];
            $keys = [
                'address' => 'address', 'city' => 'city', 'state' => 'state', 'country' => 'country',
                'latitude' => 'lat', 'longitude' => 'lon',
            ];
            foreach ($keys as $name => $key) {
                $venue[$name] = \wp_unslash((string) ($meta["location_$key"] ?? ''));
            }
            return $venue;
        },
        'schema' => ['type' => 'object', 'readonly' => true],
    ]);
});
