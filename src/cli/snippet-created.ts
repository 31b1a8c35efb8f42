// The part of the snippet that tells the gateway which records a request created.

/**
 * WordPress inserts a record before it checks terms and meta, and keeps it when it refuses them. This part adds to every refused create of
 * the gateway what the request inserted, with the id of the call, so that the gateway removes that and nothing else. A create with a key of
 * the gateway is found again by it.
 * Needs the constants `TYPES` and `TAXONOMIES`.
 */
export const CREATED_PHP = String.raw`
\define(__NAMESPACE__ . '\\KEY_META', '_calendar_gateway_key');

function created($type = null, $collection = '', $id = 0) {
    static $created = [];
    if ($type !== null) {
        $created["$type $id"] = ['type' => $type, 'collection' => $collection, 'id' => (int) $id];
    }
    return \array_values($created);
}

function is_rest() {
    return \defined('REST_REQUEST') && REST_REQUEST;
}

// The key that the gateway sent, when this request creates a record in this collection.
function key_for($collection) {
    $key = isset($_SERVER['HTTP_X_CALENDAR_KEY']) ? (string) $_SERVER['HTTP_X_CALENDAR_KEY'] : '';
    $route = isset($GLOBALS['wp']->query_vars['rest_route']) ? (string) $GLOBALS['wp']->query_vars['rest_route'] : '';
    $own = \trim($route, '/') === "wp/v2/$collection";
    return $own && \preg_match('/^[a-f0-9]{64}$/D', $key) ? $key : '';
}

// The id that the gateway gave this call. By it the gateway recognises an answer to another call.
function call_id() {
    $id = isset($_SERVER['HTTP_X_CALENDAR_CREATE']) ? (string) $_SERVER['HTTP_X_CALENDAR_CREATE'] : '';
    return \preg_match('/^[a-f0-9]{32}$/D', $id) ? $id : '';
}

\add_action('wp_insert_post', function ($id, $post, $update) {
    $collection = collection_of_type($post->post_type);
    if ($update || !is_rest() || $collection === '') {
        return;
    }
    created('post', $collection, $id);
    if (key_for($collection) !== '') {
        \update_post_meta($id, KEY_META, key_for($collection));
    }
}, 1, 3);

\add_action('created_term', function ($id, $row, $taxonomy) {
    $collection = collection_of_taxonomy($taxonomy);
    if (!is_rest() || $collection === '') {
        return;
    }
    created('term', $collection, $id);
    if (key_for($collection) !== '') {
        \update_term_meta($id, KEY_META, key_for($collection));
    }
}, 1, 3);

\add_action('add_attachment', function ($id) {
    if (is_rest()) {
        created('post', 'media', $id);
    }
}, 1);

// Still exists and is not in the trash: the code that refused may have removed it itself.
function is_kept($one) {
    if ($one['type'] === 'term') {
        return \get_term($one['id']) instanceof \WP_Term;
    }
    $status = \get_post_status($one['id']);
    return $status && $status !== 'trash';
}

function may_be_named($one) {
    return \current_user_can($one['type'] === 'term' ? 'edit_term' : 'edit_post', $one['id']);
}

// If an editor published an author's draft, the author may no longer edit it, but the record is still the author's.
function is_own($one) {
    return $one['type'] === 'post' && (int) \get_post_field('post_author', $one['id']) === \get_current_user_id();
}

// Ids with this key, the oldest first; later ones are copies of the record. Read straight from the table: plugins filter the queries of
// WordPress by language, date or role, and the gateway would create a record again that it does not find.
function marked($table, $column, $key) {
    global $wpdb;
    $sql = "SELECT $column FROM {$wpdb->$table} WHERE meta_key = %s AND meta_value = %s ORDER BY $column LIMIT 10";
    return \array_map('intval', $wpdb->get_col($wpdb->prepare($sql, KEY_META, $key)));
}

function named($records) {
    return \array_map(function ($one) {
        return ['collection' => $one['collection'], 'id' => $one['id']];
    }, \array_values($records));
}

\add_filter('rest_post_dispatch', function ($response, $server, $request) {
    if (!$response instanceof \WP_REST_Response || $response->get_status() < 400 || $request->get_method() !== 'POST') {
        return $response;
    }
    $bases = \array_merge(['media'], \array_column(TYPES, 'base'), \array_column(TAXONOMIES, 'base'));
    $parts = \explode('/', \trim($request->get_route(), '/'));
    $body = $response->get_data();
    $ours = \count($parts) === 3 && $parts[0] === 'wp' && \in_array($parts[2], $bases, true);
    if (!$ours || call_id() === '' || !\is_array($body) || !isset($body['code']) || !\is_user_logged_in()) {
        return $response;
    }
    $kept = \array_filter(created(), __NAMESPACE__ . '\\is_kept');
    $data = isset($body['data']) && \is_array($body['data']) ? $body['data'] : [];
    unset($data['calendar_created'], $data['calendar_create']);
    // An incomplete list would claim that no other record stays.
    if (\count(\array_filter($kept, __NAMESPACE__ . '\\may_be_named')) === \count($kept)) {
        $data += ['calendar_created' => named($kept), 'calendar_create' => call_id()];
    }
    $body['data'] = $data;
    $response->set_data($body);
    return $response;
}, \PHP_INT_MAX, 3);

// Which record was created with this key: the gateway asks after a create that got no answer.
\add_action('rest_api_init', function () {
    \register_rest_route('calendar-gateway/v1', '/created', [
        'methods' => 'GET',
        'args' => ['key' => ['required' => true, 'type' => 'string', 'pattern' => '^[a-f0-9]{64}$']],
        'permission_callback' => 'is_user_logged_in',
        'callback' => function ($request) {
            $found = [];
            foreach (marked('postmeta', 'post_id', $request['key']) as $id) {
                $found[] = ['type' => 'post', 'collection' => collection_of_type(\get_post_type($id)), 'id' => $id];
            }
            foreach (marked('termmeta', 'term_id', $request['key']) as $id) {
                $term = \get_term($id);
                $collection = $term instanceof \WP_Term ? collection_of_taxonomy($term->taxonomy) : '';
                $found[] = ['type' => 'term', 'collection' => $collection, 'id' => $id];
            }
            $found = \array_filter($found, function ($one) {
                return $one['collection'] !== '';
            });
            $shown = \array_filter($found, function ($one) {
                return is_own($one) || may_be_named($one);
            });
            // An empty answer would make the gateway create the record again.
            if ($found && !$shown) {
                return new \WP_Error('calendar_created_hidden', 'This record is not yours any more.', ['status' => 403]);
            }
            return ['created' => named($shown)];
        },
    ]);
});
`;
