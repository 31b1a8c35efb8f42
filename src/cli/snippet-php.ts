// The PHP of the snippet that is the same for every mapping; what differs comes before it as constants.

/** Registers what TYPES and TAXONOMIES say, and fits the REST answers to what the gateway relies on. */
export const REGISTRATION_PHP = String.raw`
\add_filter('register_post_type_args', function ($args, $type) {
    if (!empty(TYPES[$type]['existing'])) {
        $args['show_in_rest'] = true;
        $args['rest_base'] = TYPES[$type]['base'];
    }
    return $args;
}, 99, 2);

\add_filter('register_taxonomy_args', function ($args, $taxonomy) {
    if (!empty(TAXONOMIES[$taxonomy]['existing'])) {
        $args['show_in_rest'] = true;
        $args['rest_base'] = TAXONOMIES[$taxonomy]['base'];
    }
    return $args;
}, 99, 2);

\add_action('init', function () {
    foreach (TYPES as $type => $about) {
        if (empty($about['existing'])) {
            register_type($type, $about);
        }
    }
    foreach (TAXONOMIES as $taxonomy => $about) {
        if (empty($about['existing'])) {
            register_tax($taxonomy, $about);
        }
    }
}, 5);

// Late, so that plugins have registered their own types and keys.
\add_action('init', function () {
    foreach (TAXONOMIES as $taxonomy => $about) {
        foreach ($about['types'] as $type) {
            if (\taxonomy_exists($taxonomy) && \post_type_exists($type)) {
                \register_taxonomy_for_object_type($taxonomy, $type);
            }
        }
        register_keys('term', $taxonomy, $about['meta']);
    }
    foreach (TYPES as $type => $about) {
        if ($about['meta']) {
            // Without it the REST answers have no "meta" at all.
            \add_post_type_support($type, 'custom-fields');
        }
        register_keys('post', $type, $about['meta']);
    }
    $rules = \md5((string) \wp_json_encode([TYPES, TAXONOMIES]));
    if (\get_option('calendar_gateway_rules') !== $rules) {
        \flush_rewrite_rules(false);
        \update_option('calendar_gateway_rules', $rules);
    }
}, 99);

function register_type($type, $about) {
    $one = $about['singular'];
    $many = $about['plural'];
    \register_post_type($type, [
        'labels' => [
            'name' => $many,
            'singular_name' => $one,
            'menu_name' => $many,
            'add_new_item' => "Add $one",
            'edit_item' => "Edit $one",
            'view_item' => "View $one",
            'all_items' => $many,
            'search_items' => "Search $many",
            'not_found' => "No $many found",
        ],
        'public' => true,
        'show_in_rest' => true,
        'rest_base' => $about['base'],
        'has_archive' => false,
        'menu_icon' => $about['icon'],
        'supports' => ['title', 'editor', 'author', 'thumbnail', 'excerpt', 'revisions', 'custom-fields'],
        // The roles may do with these what they may do with posts.
        'capability_type' => 'post',
        'map_meta_cap' => true,
        'rewrite' => ['slug' => $about['rewrite'], 'with_front' => false],
    ]);
}

function register_tax($taxonomy, $about) {
    \register_taxonomy($taxonomy, $about['types'], [
        'labels' => ['name' => $about['plural'], 'singular_name' => $about['singular']],
        'public' => true,
        'show_in_rest' => true,
        'rest_base' => $about['base'],
        'show_admin_column' => true,
        'hierarchical' => $about['hierarchical'],
        'rewrite' => ['slug' => $about['rewrite'], 'with_front' => false, 'hierarchical' => $about['hierarchical']],
        // Who publishes keeps the terms; who only writes may add one while writing.
        'capabilities' => [
            'manage_terms' => 'publish_posts',
            'delete_terms' => 'publish_posts',
            'edit_terms' => 'edit_posts',
            'assign_terms' => 'edit_posts',
        ],
    ]);
}

function register_keys($object, $subtype, $keys) {
    foreach ($keys as $key => $about) {
        if (\registered_meta_key_exists($object, $key, $subtype)) {
            continue;
        }
        $schema = ['type' => $about['type'], 'default' => $about['default']];
        if ($about['type'] === 'array') {
            $schema['items'] = ['type' => 'integer'];
        }
        if ($about['type'] === 'object') {
            $schema = ['type' => 'object', 'additionalProperties' => true];
        }
        \register_meta($object, $key, [
            'object_subtype' => $subtype,
            'type' => $about['type'],
            'single' => true,
            'default' => $about['type'] === 'object' ? (object) [] : $about['default'],
            'show_in_rest' => ['schema' => $schema],
            'auth_callback' => function ($allowed, $name, $id, $user) use ($object) {
                return \user_can($user, $object === 'term' ? 'edit_term' : 'edit_post', $id);
            },
        ]);
    }
}

// An excerpt is what somebody wrote; none is made out of the content.
\add_filter('get_the_excerpt', function ($text, $post = null) {
    if ($post && isset(TYPES[$post->post_type]) && \defined('REST_REQUEST') && \REST_REQUEST) {
        \remove_filter('get_the_excerpt', 'wp_trim_excerpt', 10);
    }
    return $text;
}, 9, 2);

\add_filter('get_the_excerpt', function ($text, $post = null) {
    if ($post && isset(TYPES[$post->post_type]) && \defined('REST_REQUEST') && \REST_REQUEST) {
        \add_filter('get_the_excerpt', 'wp_trim_excerpt', 10, 2);
    }
    return $text;
}, 11, 2);

// WordPress looks at credentials only when something asks who the user is. Asked here, wrong ones are answered
// with 401 on every route, public reads too.
\add_filter('rest_authentication_errors', function ($result) {
    \wp_get_current_user();
    return $result;
}, 5);

// Venues and organizers have their slug from the start, drafts as well.
\add_filter('wp_insert_post_data', function ($data, $given) {
    $about = TYPES[$data['post_type']] ?? null;
    if ($about && empty($about['existing']) && $about['kind'] !== 'event' && $data['post_name'] === ''
        && \in_array($data['post_status'], ['draft', 'pending'], true) && $data['post_title'] !== '') {
        $slug = \sanitize_title(\wp_unslash($data['post_title']), (string) ($given['ID'] ?? ''));
        $data['post_name'] = \wp_unique_post_slug($slug, $given['ID'] ?? 0, 'publish', $data['post_type'], 0);
    }
    return $data;
}, 10, 2);

// A draft has no UTC date of publication until it is published or given one. WordPress makes one up from the local date where it
// answers, and stores that where only the local date was sent: such drafts are marked, and both are answered with null.
const UNDATED = '_calendar_gateway_undated';

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

/** A plain form for the keys on the edit screen, for the types the snippet registers itself. */
export const EDIT_FORM_PHP = String.raw`
\add_action('add_meta_boxes', function ($type) {
    if (isset(TYPES[$type]) && empty(TYPES[$type]['existing']) && TYPES[$type]['meta']) {
        \add_meta_box('calendar-gateway', TYPES[$type]['singular'] . ' details', __NAMESPACE__ . '\\show_form', $type, 'normal', 'high');
        \remove_meta_box('postcustom', $type, 'normal');
    }
});

function show_form($post) {
    \wp_nonce_field('calendar_gateway', 'calendar_gateway_nonce');
    echo '<table class="form-table" role="presentation">';
    foreach (TYPES[$post->post_type]['meta'] as $key => $about) {
        $value = \get_post_meta($post->ID, $key, true);
        $name = \esc_attr("calendar_gateway[$key]");
        $label = \esc_html(\ucfirst(\str_replace('_', ' ', \trim($key, '_'))));
        echo "<tr><th scope='row'><label for='$name'>$label</label></th><td>";
        if ($about['type'] === 'boolean') {
            echo "<input type='checkbox' id='$name' name='$name' value='1' " . \checked((bool) $value, true, false) . '>';
        } else {
            $text = \esc_attr(\is_array($value) ? \implode(', ', $value) : (string) $value);
            echo "<input type='text' class='regular-text' id='$name' name='$name' value='$text'>";
        }
        if ($about['hint'] !== '') {
            echo ' <span class="description">' . \esc_html($about['hint']) . '</span>';
        }
        echo '</td></tr>';
    }
    echo '</table>';
}

\add_action('save_post', function ($id, $post) {
    $nonce = $_POST['calendar_gateway_nonce'] ?? '';
    if (!isset(TYPES[$post->post_type]) || !\is_string($nonce) || !\wp_verify_nonce($nonce, 'calendar_gateway')
        || !\current_user_can('edit_post', $id)) {
        return;
    }
    $given = \is_array($_POST['calendar_gateway'] ?? null) ? $_POST['calendar_gateway'] : [];
    foreach (TYPES[$post->post_type]['meta'] as $key => $about) {
        $text = \is_string($given[$key] ?? null) ? \trim($given[$key]) : '';
        if ($about['type'] === 'boolean') {
            $value = $text === '1';
        } elseif ($about['type'] === 'array') {
            $value = \array_values(\array_filter(\array_map('intval', \explode(',', $text))));
        } elseif ($about['type'] === 'integer') {
            $value = (int) $text;
        } elseif ($about['type'] === 'number') {
            $value = (float) $text;
        } else {
            $value = $text;
        }
        \update_post_meta($id, $key, $value);
    }
}, 10, 2);
`;

/** Tells the gateway what has changed, once at the end of a request; needs NOTICE_URL and NOTICE_SECRET. */
export const NOTICES_PHP = String.raw`
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
    if ($type === 'attachment') {
        note('media', $id);
    } elseif ($type && isset(TYPES[$type]) && \get_post_status($id) !== 'auto-draft') {
        note(TYPES[$type]['base'], $id);
    }
}

function note_meta($row, $id) {
    note_post($id);
}

function note_term($id, $row, $taxonomy) {
    if (isset(TAXONOMIES[$taxonomy])) {
        note(TAXONOMIES[$taxonomy]['base'], $id);
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
    if (!$chunks) {
        return;
    }
    foreach (['fastcgi_finish_request', 'litespeed_finish_request'] as $finish) {
        if (\function_exists($finish)) {
            $finish();
            break;
        }
    }
    foreach ($chunks as $changes) {
        tell(\wp_json_encode(['kind' => 'changes', 'changes' => $changes]));
    }
}, \PHP_INT_MAX);

function tell($body) {
    $now = \time();
    $headers = [
        'Content-Type' => 'application/json',
        'X-Calendar-Signature' => "t=$now,v1=" . \hash_hmac('sha256', "$now.$body", NOTICE_SECRET),
    ];
    $requests = '\\WpOrg\\Requests\\Requests';
    if (!\class_exists($requests) || (new \WP_HTTP_Proxy())->is_enabled()) {
        \wp_remote_post(NOTICE_URL, ['blocking' => false, 'timeout' => 1, 'headers' => $headers, 'body' => $body]);
        return;
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
        return;
    }
}
`;
