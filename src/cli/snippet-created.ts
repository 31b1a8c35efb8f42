// The part of the snippet that tells the gateway which records a request created.

/**
 * WordPress inserts a record before it checks terms and meta, and keeps it when it refuses them. This part adds to every refused create
 * what the request inserted, so that the gateway removes that and nothing else. A create with a key of the gateway is found again by it.
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

\add_action('wp_insert_post', function ($id, $post, $update) {
    if ($update || !is_rest() || !isset(TYPES[$post->post_type])) {
        return;
    }
    $collection = TYPES[$post->post_type]['base'];
    created('post', $collection, $id);
    if (key_for($collection) !== '') {
        \update_post_meta($id, KEY_META, key_for($collection));
    }
}, 1, 3);

\add_action('created_term', function ($id, $row, $taxonomy) {
    if (!is_rest() || !isset(TAXONOMIES[$taxonomy])) {
        return;
    }
    $collection = TAXONOMIES[$taxonomy]['base'];
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

// Still there, and not in the trash: whoever refuses may have cleared up.
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
    if (!$ours || !\is_array($body) || !isset($body['code']) || !\is_user_logged_in()) {
        return $response;
    }
    $kept = \array_filter(created(), __NAMESPACE__ . '\\is_kept');
    // A list that leaves something out would say that nothing more is there.
    if (\count(\array_filter($kept, __NAMESPACE__ . '\\may_be_named')) === \count($kept)) {
        $data = isset($body['data']) && \is_array($body['data']) ? $body['data'] : [];
        $body['data'] = $data + ['calendar_created' => named($kept)];
        $response->set_data($body);
    }
    return $response;
}, \PHP_INT_MAX, 3);

// Which record was created with this key: asked when a create with it ended in silence.
\add_action('rest_api_init', function () {
    \register_rest_route('calendar-gateway/v1', '/created', [
        'methods' => 'GET',
        'args' => ['key' => ['required' => true, 'type' => 'string', 'pattern' => '^[a-f0-9]{64}$']],
        'permission_callback' => 'is_user_logged_in',
        'callback' => function ($request) {
            $found = [];
            $wanted = ['meta_key' => KEY_META, 'meta_value' => $request['key']];
            $statuses = \array_values(\get_post_stati());
            $posts = ['post_type' => \array_keys(TYPES), 'post_status' => $statuses, 'posts_per_page' => 10];
            foreach (TYPES ? (new \WP_Query($posts + $wanted + ['no_found_rows' => true]))->posts : [] as $post) {
                $found[] = ['type' => 'post', 'collection' => TYPES[$post->post_type]['base'], 'id' => $post->ID];
            }
            $taxonomies = \array_filter(\array_keys(TAXONOMIES), 'taxonomy_exists');
            $terms = $taxonomies ? \get_terms(['taxonomy' => $taxonomies, 'hide_empty' => false] + $wanted) : [];
            foreach (\is_array($terms) ? $terms : [] as $term) {
                $found[] = ['type' => 'term', 'collection' => TAXONOMIES[$term->taxonomy]['base'], 'id' => $term->term_id];
            }
            return ['created' => named(\array_filter($found, __NAMESPACE__ . '\\may_be_named'))];
        },
    ]);
});
`;
