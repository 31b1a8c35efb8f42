<?php
// Keeps drafts without a publication date undated.
//
// A draft has no UTC publication date until it is published or a user enters one. WordPress derives one from the
// local date in responses, and stores it if a request has only the local date. This part marks such drafts, and sends
// null instead.

namespace CalendarGateway\Site;

\define(__NAMESPACE__ . '\\UNDATED', '_calendar_gateway_undated');

foreach (TYPES as $type => $definition) {
    if (empty($definition['existing'])) {
        \add_filter("rest_pre_insert_$type", __NAMESPACE__ . '\\mark_undated', 10, 2);
        \add_filter("rest_prepare_$type", __NAMESPACE__ . '\\show_undated', 10, 2);
    }
}

function has_no_utc_date($post) {
    return $post->post_date_gmt === '0000-00-00 00:00:00' || \get_post_meta($post->ID, UNDATED, true);
}

/**
 * A new draft is marked if the request has its local date alone. Without any date WordPress itself keeps it undated. A
 * draft that was undated before stays so.
 */
function mark_undated($post, $request) {
    $before = isset($post->ID) ? \get_post($post->ID) : null;
    $status = $post->post_status ?? ($before ? $before->post_status : 'draft');
    $undated = \in_array($status, ['draft', 'pending'], true) && empty($request['date_gmt'])
        && ($before ? has_no_utc_date($before) : !empty($request['date']));
    if ($undated) {
        $post->meta_input = [UNDATED => 1];
    } elseif ($before) {
        \delete_post_meta($before->ID, UNDATED);
    }
    return $post;
}

function show_undated($response, $post) {
    if (isset($response->data['date_gmt']) && \in_array($post->post_status, ['draft', 'pending', 'auto-draft'], true)
        && has_no_utc_date($post)) {
        $response->data['date_gmt'] = null;
    }
    return $response;
}
