<?php
// Adds its occurrences to the record of an event, for requests that ask for them by the parameter calendar_occurrences.
//
// Calls occurrences_of(), which the file of the event plugin in hooks/ defines.

namespace CalendarGateway\Site;

// The most occurrences of one series. The nearest to today are sent.
\define(__NAMESPACE__ . '\\MAX_OCCURRENCES', 1000);
// The most days before today, and after today, that a request may ask for. A mapping may name no more.
\define(__NAMESPACE__ . '\\MAX_OCCURRENCE_DAYS', 3660);

/** The rows of a query. Throws if it fails: without its occurrences, a series would look as if it had none. */
function rows_of($query) {
    global $wpdb;
    $rows = $wpdb->get_results($query);
    if ($wpdb->last_error !== '') {
        throw new \RuntimeException('The occurrences could not be read from the database.');
    }
    return $rows;
}

/** The days before today [1] and after it [2] that the request asks for; null unless it names two such numbers. */
function requested_days() {
    $value = $_GET['calendar_occurrences'] ?? null;
    $is_valid = \is_string($value) && \preg_match('/^(\d{1,4}),(\d{1,4})$/D', $value, $days)
        && \max((int) $days[1], (int) $days[2]) <= MAX_OCCURRENCE_DAYS;
    return $is_valid ? $days : null;
}

\add_action('rest_api_init', function () {
    $days = requested_days();
    if (!$days) {
        return;
    }
    $today = \current_datetime();
    $from = $today->modify("-{$days[1]} days")->format('Y-m-d');
    $to = $today->modify("+{$days[2]} days")->format('Y-m-d');
    foreach (TYPES as $type => $definition) {
        if ($definition['kind'] !== 'event') {
            continue;
        }
        \register_rest_field($type, 'calendar_occurrences', [
            'get_callback' => function ($record, $name, $request) use ($from, $to, $today) {
                $id = (int) $record['id'];
                $occurrences = occurrences_of($id, $from, $to, $today->format('Y-m-d'));
                // A password does not hide when they take place.
                $times = \array_flip(['start', 'end', 'timezone', 'all_day']);
                return $occurrences && is_locked(\get_post($id), $request)
                    ? \array_map(function ($one) use ($times) {
                        // A row of the database is an object.
                        return \array_intersect_key((array) $one, $times);
                    }, $occurrences)
                    : $occurrences;
            },
            'schema' => ['type' => ['array', 'null'], 'items' => ['type' => 'object'], 'readonly' => true],
        ]);
    }
});
