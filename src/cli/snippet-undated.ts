// The part of the snippet that keeps a draft without a date of publication: no UTC date that nobody has given.

/** Marks such drafts and answers their `date_gmt` with null, for the types of `TYPES` that the snippet registers itself. */
export const UNDATED_PHP = String.raw`
// A draft has no UTC date of publication until it is published or given one. WordPress makes one up from the local date where it
// answers, and stores that where only the local date was sent: such drafts are marked, and both are answered with null.
\define(__NAMESPACE__ . '\\UNDATED', '_calendar_gateway_undated');

foreach (TYPES as $type => $about) {
    if (empty($about['existing'])) {
        \add_filter("rest_pre_insert_$type", __NAMESPACE__ . '\\mark_undated', 10, 2);
        \add_filter("rest_prepare_$type", __NAMESPACE__ . '\\show_undated', 10, 2);
    }
}

function has_no_utc_date($post) {
    return $post->post_date_gmt === '0000-00-00 00:00:00' || \get_post_meta($post->ID, UNDATED, true);
}

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
`;
