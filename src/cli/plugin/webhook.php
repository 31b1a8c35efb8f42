<?php
// Sends a webhook to the gateway at the end of every request that changed records of the mapping.
//
// Reads the constants TYPES, TAXONOMIES, WEBHOOK_URL and WEBHOOK_SECRET.

namespace CalendarGateway\Site;

\define(__NAMESPACE__ . '\\PAUSED', 'calendar_gateway_paused');

/** The records that this request changed. Adds one, if given. */
function changed_records($collection = null, $id = 0, $trashed = false) {
    static $changed = [];
    if ($collection !== null) {
        $changed["$collection $id"] = ['collection' => $collection, 'id' => (int) $id]
            + ($trashed ? ['trashed' => true] : []);
    }
    return \array_values($changed);
}

function post_changed($id) {
    // For a key that is deleted from all posts WordPress passes no id: get_post_type() would use the page's post.
    $type = (int) $id > 0 ? \get_post_type($id) : false;
    $collection = $type === 'attachment' ? 'media' : collection_of_type($type);
    if ($collection !== '' && \get_post_status($id) !== 'auto-draft') {
        changed_records($collection, $id, \get_post_status($id) === 'trash');
    }
}

// Some plugins count the visits of a page in its meta: what the request of a visitor writes there is no edit. Before
// "init" this reports every change of meta: a call of is_user_logged_in() at that time would fix the user before
// plugins can log one in.
function post_meta_changed($row, $id) {
    if (!\did_action('init') || \is_user_logged_in() || \wp_doing_cron() || \PHP_SAPI === 'cli') {
        post_changed($id);
    }
}

function term_changed($id, $row, $taxonomy) {
    if (collection_of_taxonomy($taxonomy) !== '') {
        changed_records(collection_of_taxonomy($taxonomy), $id);
    }
}

function term_meta_changed($row, $id) {
    $term = \get_term($id);
    if ($term instanceof \WP_Term) {
        term_changed($id, 0, $term->taxonomy);
    }
}

foreach ([
    'wp_after_insert_post', 'before_delete_post',
    'set_object_terms', 'deleted_term_relationships',
    'add_attachment', 'edit_attachment', 'delete_attachment',
] as $hook) {
    \add_action($hook, __NAMESPACE__ . '\\post_changed');
}
foreach (['added_post_meta', 'updated_post_meta', 'deleted_post_meta'] as $hook) {
    \add_action($hook, __NAMESPACE__ . '\\post_meta_changed', 10, 2);
}
foreach (['added_term_meta', 'updated_term_meta', 'deleted_term_meta'] as $hook) {
    \add_action($hook, __NAMESPACE__ . '\\term_meta_changed', 10, 2);
}
foreach (['created_term', 'edited_term', 'delete_term'] as $hook) {
    \add_action($hook, __NAMESPACE__ . '\\term_changed', 10, 3);
}
\add_action('transition_post_status', function ($new, $old, $post) {
    if ($new !== $old) {
        post_changed($post->ID);
    }
}, 10, 3);

// Runs after all other code, and after the response if PHP can do that: a user who saves does not wait for the gateway.
\add_action('shutdown', function () {
    $chunks = \array_chunk(changed_records(), 500);
    if (!$chunks || \get_transient(PAUSED)) {
        return;
    }
    foreach (['fastcgi_finish_request', 'litespeed_finish_request'] as $finish) {
        if (\function_exists($finish)) {
            $finish();
            break;
        }
    }
    foreach ($chunks as $changes) {
        $started = \microtime(true);
        $sent = send_webhook(\wp_json_encode(['changes' => $changes]));
        // An address that does not answer costs a second each time. The gateway polls: it misses nothing meanwhile.
        if (!$sent && \microtime(true) - $started > 0.5) {
            \set_transient(PAUSED, 1, 60);
            return;
        }
    }
}, \PHP_INT_MAX);

/** Returns whether the webhook was sent; does not wait for the response. */
function send_webhook($body) {
    $now = \time();
    $headers = [
        'Content-Type' => 'application/json',
        'X-Calendar-Signature' => "t=$now,v1=" . \hash_hmac('sha256', "$now.$body", WEBHOOK_SECRET),
    ];
    $requests = '\\WpOrg\\Requests\\Requests';
    if (!\class_exists($requests) || (new \WP_HTTP_Proxy())->is_enabled()) {
        $request = ['blocking' => false, 'timeout' => 1, 'headers' => $headers, 'body' => $body];
        return !\is_wp_error(\wp_remote_post(WEBHOOK_URL, $request));
    }
    // By a socket: with cURL, even a non-blocking request waits up to a second for a response.
    try {
        $requests::post(WEBHOOK_URL, $headers, $body, [
            'blocking' => false,
            'timeout' => 1,
            'connect_timeout' => 1,
            'transport' => '\\WpOrg\\Requests\\Transport\\Fsockopen',
        ]);
    } catch (\Exception $error) {
        // The gateway is not running; it polls when it is back.
        return false;
    }
    return true;
}
