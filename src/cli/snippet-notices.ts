// The part of the snippet that tells the gateway what has changed.

/** Sends the changes of a request once, at its end; needs the constants `TYPES`, `TAXONOMIES`, `NOTICE_URL` and `NOTICE_SECRET`. */
export const NOTICES_PHP = String.raw`
\define(__NAMESPACE__ . '\\PAUSED', 'calendar_gateway_paused');

function note($collection = null, $id = 0) {
    static $noted = [];
    if ($collection === null) {
        return \array_values($noted);
    }
    $noted["$collection $id"] = ['collection' => $collection, 'id' => (int) $id];
    return [];
}

function note_post($id) {
    // A key that is deleted from all posts at once is of no single one; WordPress would take the post of the page for it.
    $type = (int) $id > 0 ? \get_post_type($id) : false;
    $collection = $type === 'attachment' ? 'media' : collection_of_type($type);
    if ($collection !== '' && \get_post_status($id) !== 'auto-draft') {
        note($collection, $id);
    }
}

// Some plugins count the visits of a page in its meta: what a visitor's request writes there is no edit. Before "init" no code may ask
// who the user is: WordPress would decide it too early.
function note_meta($row, $id) {
    if (!\did_action('init') || \is_user_logged_in() || \wp_doing_cron() || \PHP_SAPI === 'cli') {
        note_post($id);
    }
}

function note_term($id, $row, $taxonomy) {
    if (collection_of_taxonomy($taxonomy) !== '') {
        note(collection_of_taxonomy($taxonomy), $id);
    }
}

function note_term_meta($row, $id) {
    $term = \get_term($id);
    if ($term instanceof \WP_Term) {
        note_term($id, 0, $term->taxonomy);
    }
}

\add_action('wp_after_insert_post', __NAMESPACE__ . '\\note_post');
\add_action('before_delete_post', __NAMESPACE__ . '\\note_post');
foreach (['set_object_terms', 'deleted_term_relationships', 'add_attachment', 'edit_attachment', 'delete_attachment'] as $hook) {
    \add_action($hook, __NAMESPACE__ . '\\note_post');
}
foreach (['added_post_meta', 'updated_post_meta', 'deleted_post_meta'] as $hook) {
    \add_action($hook, __NAMESPACE__ . '\\note_meta', 10, 2);
}
foreach (['added_term_meta', 'updated_term_meta', 'deleted_term_meta'] as $hook) {
    \add_action($hook, __NAMESPACE__ . '\\note_term_meta', 10, 2);
}
foreach (['created_term', 'edited_term', 'delete_term'] as $hook) {
    \add_action($hook, __NAMESPACE__ . '\\note_term', 10, 3);
}
\add_action('transition_post_status', function ($new, $old, $post) {
    if ($new !== $old) {
        note_post($post->ID);
    }
}, 10, 3);

// Last of all, and after the page has gone out where PHP can do that: nobody who saves waits for the gateway.
\add_action('shutdown', function () {
    $chunks = \array_chunk(note(), 500);
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
        $begun = \microtime(true);
        // The gateway takes each notice once: the id tells this one from another of the same second.
        $told = tell(\wp_json_encode(['kind' => 'changes', 'id' => \wp_generate_uuid4(), 'changes' => $changes]));
        // An address that swallows connections costs a second each time. The gateway polls, so it misses nothing in the pause.
        if (!$told && \microtime(true) - $begun > 0.5) {
            \set_transient(PAUSED, 1, 60);
            return;
        }
    }
}, \PHP_INT_MAX);

/** Whether the notice was sent; does not wait for the answer. */
function tell($body) {
    $now = \time();
    $headers = [
        'Content-Type' => 'application/json',
        'X-Calendar-Signature' => "t=$now,v1=" . \hash_hmac('sha256', "$now.$body", NOTICE_SECRET),
    ];
    $requests = '\\WpOrg\\Requests\\Requests';
    if (!\class_exists($requests) || (new \WP_HTTP_Proxy())->is_enabled()) {
        return !\is_wp_error(\wp_remote_post(NOTICE_URL, ['blocking' => false, 'timeout' => 1, 'headers' => $headers, 'body' => $body]));
    }
    // By a socket: with cURL, even a request that is not to block waits up to a second for an answer that does not come.
    try {
        $requests::post(NOTICE_URL, $headers, $body, [
            'blocking' => false,
            'timeout' => 1,
            'connect_timeout' => 1,
            'transport' => '\\WpOrg\\Requests\\Transport\\Fsockopen',
        ]);
    } catch (\Exception $error) {
        // The gateway is not there; it looks by itself when it is back.
        return false;
    }
    return true;
}
`;
