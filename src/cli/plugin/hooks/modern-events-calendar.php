<?php
// Reads the occurrences of Modern Events Calendar, which it keeps in a table of its own, and the state of its events.

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

/** The state of an event, or of an occurrence: $own is what an editor has changed for it alone. */
function state_of($id, $own = []) {
    $value = function ($name) use ($id, $own) {
        $text = \is_scalar($own[$name] ?? '') ? \trim((string) ($own[$name] ?? '')) : '';
        return $text !== '' ? $text : (string) \get_post_meta($id, "mec_$name", true);
    };
    $words = [
        'EventScheduled' => 'scheduled', 'EventPostponed' => 'postponed', 'EventCancelled' => 'cancelled',
        'EventMovedOnline' => 'moved_online',
    ];
    $status = $words[$value('event_status')] ?? '';
    // Both texts stay stored when the status changes. The plugin shows a reason only if the editor has ticked that.
    $has_reason = $status === 'cancelled' && $value('display_cancellation_reason_in_single_page');
    return [
        'event_status' => $status,
        'event_status_reason' => $has_reason ? $value('cancelled_reason') : '',
        'attendance_mode' => $status === 'moved_online' ? 'online' : '',
        'online_url' => $status === 'moved_online' ? \html_entity_decode($value('moved_online_link')) : '',
    ];
}

register_state('mec-events', __NAMESPACE__ . '\\state_of');

/** What editors have changed for single occurrences, by the start of each. The plugin takes the last row of each. */
function changed_occurrences($id) {
    global $wpdb;
    $changed = [];
    // Versions of before 2021 have no such table.
    if (\class_exists('MEC_feature_occurrences')) {
        $query = "SELECT occurrence, params FROM {$wpdb->prefix}mec_occurrences WHERE post_id = %d ORDER BY id";
        foreach (rows_of($wpdb->prepare($query, $id)) as $row) {
            $changed[$row->occurrence] = (array) \json_decode((string) $row->params, true);
        }
    }
    return $changed;
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
    $changed = changed_occurrences($id);
    return \array_map(function ($row) use ($id, $changed) {
        // The seconds count from 1970 on a clock that shows the event's wall time in UTC.
        $times = [
            'start' => \gmdate('Y-m-d H:i:s', (int) $row->tstart),
            'end' => \gmdate('Y-m-d H:i:s', (int) $row->tend),
        ];
        return $times + state_of($id, $changed[$row->tstart] ?? []);
    }, $rows);
}
