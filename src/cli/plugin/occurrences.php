<?php
// Adds its occurrences to the record of an event, for requests that ask for them by the parameter calendar_occurrences.
//
// Calls occurrences_of(), which the part of the event plugin defines.

namespace CalendarGateway\Site;

// Of one series: those that are nearest to today.
\define(__NAMESPACE__ . '\\MAX_OCCURRENCES', 1000);

/** The rows of a query. Throws if it fails: without its occurrences, a series would look as if it had none. */
function rows_of($query) {
    global $wpdb;
    $rows = $wpdb->get_results($query);
    if ($wpdb->last_error !== '') {
        throw new \RuntimeException('The occurrences could not be read from the database.');
    }
    return $rows;
}

// The parameter is the number of days before and after today. A request without it gets the same record as without this file.
\add_action('rest_api_init', function () {
    $window = isset($_GET['calendar_occurrences']) && \is_string($_GET['calendar_occurrences']) ? $_GET['calendar_occurrences'] : '';
    if (!\preg_match('/^(\d{1,4}),(\d{1,4})$/D', $window, $days)) {
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
            'get_callback' => function ($record) use ($from, $to, $today) {
                return occurrences_of((int) $record['id'], $from, $to, $today->format('Y-m-d'));
            },
            'schema' => ['type' => ['array', 'null'], 'items' => ['type' => 'object'], 'readonly' => true],
        ]);
    }
});
