<?php
// Reads the occurrences of Modern Events Calendar, which it keeps in a table of its own.

namespace CalendarGateway\Site;

/** Its settings name the currency by a sign or a code. A blank between sign and amount is part of the sign here. */
function plugin_settings() {
    $main = \class_exists('MEC') ? \MEC::getInstance('app.libraries.main') : null;
    $sign = $main ? (string) $main->get_currency_sign() : '';
    $position = $main ? (string) $main->get_currency_sign_position() : '';
    $blank = \strpos($position, '_space') ? ' ' : '';
    $is_after = \strpos($position, 'after') === 0;
    return $sign === '' ? [] : [
        'currency_symbol' => $is_after ? "$blank$sign" : "$sign$blank",
        'currency_code' => $main->get_currency_code(),
        'currency_position' => $is_after ? 'postfix' : 'prefix',
    ];
}

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
