// The part of the snippet that registers: post types, taxonomies and the keys of both, and opens to REST those that others register.

/** Registers what the constants `TYPES` and `TAXONOMIES` say; types and taxonomies that they call `existing` are only shown in REST. */
export const TYPES_PHP = String.raw`
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
`;
