<?php
// Reads the occurrences of Modern Events Calendar, which it keeps in a table of its own.

namespace CalendarGateway\Site;

/** The occurrences that start on these days; null if the event is not a series. */
function occurrences_of($id, $from, $to, $today) {
    global $wpdb;
    if ((string) \get_post_meta($id, 'mec_repeat_status', true) !== '1') {
        return null;
    }
    $rows = rows_of($wpdb->prepare(
        "SELECT dstart, tstart, tend FROM {$wpdb->prefix}mec_dates
        WHERE post_id = %d AND dstart BETWEEN %s AND %s
        ORDER BY ABS(DATEDIFF(dstart, %s)), tstart LIMIT %d",
        $id, $from, $to, $today, MAX_OCCURRENCES
    ));
    return \array_map(function ($row) {
        // The seconds count from 1970 on a clock that shows the event's wall time in UTC.
        return ['start' => \gmdate('Y-m-d H:i:s', (int) $row->tstart), 'end' => \gmdate('Y-m-d H:i:s', (int) $row->tend)];
    }, $rows);
}
