// The part of the snippet that registers: post types, taxonomies and the keys of both, and opens to REST those that others register.

/** Registers what the constants `TYPES` and `TAXONOMIES` say; types and taxonomies that they call `existing` are another plugin's, and are only opened to REST. */
export const TYPES_PHP = String.raw`
// Collections that other plugins keep from REST are opened; those that they show stay as they are.
\add_filter('register_post_type_args', function ($args, $type) {
    if (!empty(TYPES[$type]['existing']) && empty($args['show_in_rest'])) {
        opened($type);
        $args['show_in_rest'] = true;
        $args['rest_base'] = TYPES[$type]['base'];
    }
    return $args;
}, 99, 2);

\add_filter('register_taxonomy_args', function ($args, $taxonomy) {
    if (!empty(TAXONOMIES[$taxonomy]['existing']) && empty($args['show_in_rest'])) {
        $args['show_in_rest'] = true;
        $args['rest_base'] = TAXONOMIES[$taxonomy]['base'];
    }
    return $args;
}, 99, 2);

// WordPress edits types in REST with the block editor: a type that is only opened here keeps the edit screen that its plugin made for it.
\add_filter('use_block_editor_for_post_type', function ($use, $type) {
    return $use && !\in_array($type, opened(), true);
}, \PHP_INT_MAX, 2);

/** The types that were opened here, with this one. */
function opened($type = null) {
    static $types = [];
    if ($type !== null) {
        $types[] = $type;
    }
    return $types;
}

/**
 * The collection of the mapping that records of a type or taxonomy are in; '' for others. Where the mapping does not name the type, the REST
 * base that its plugin gave it tells.
 */
function collection_in($abouts, $name, $object) {
    if (isset($abouts[$name])) {
        return $abouts[$name]['base'];
    }
    $base = $object && !empty($object->show_in_rest) ? (string) ($object->rest_base ?: $object->name) : '';
    return \in_array($base, \array_column($abouts, 'base'), true) ? $base : '';
}

function collection_of_type($type) {
    return $type ? collection_in(TYPES, $type, \get_post_type_object($type)) : '';
}

function collection_of_taxonomy($taxonomy) {
    return collection_in(TAXONOMIES, $taxonomy, \get_taxonomy($taxonomy));
}

\add_action('init', function () {
    foreach (TYPES as $type => $about) {
        if (empty($about['existing']) && !\post_type_exists($type)) {
            register_type($type, $about);
        }
    }
    foreach (TAXONOMIES as $taxonomy => $about) {
        if (empty($about['existing']) && !\taxonomy_exists($taxonomy)) {
            register_tax($taxonomy, $about);
        }
    }
}, 5);

// Late, so that plugins have registered their own types and keys.
\add_action('init', function () {
    $own = [];
    foreach (TAXONOMIES as $taxonomy => $about) {
        foreach ($about['types'] as $type) {
            if (\taxonomy_exists($taxonomy) && \post_type_exists($type)) {
                \register_taxonomy_for_object_type($taxonomy, $type);
            }
        }
        if (empty($about['existing'])) {
            $own[$taxonomy] = $about;
            register_keys('term', $taxonomy, $about['meta']);
        }
    }
    foreach (TYPES as $type => $about) {
        if (empty($about['existing'])) {
            $own[$type] = $about;
            register_keys('post', $type, $about['meta']);
        }
    }
    $rules = \md5((string) \wp_json_encode([TYPES, TAXONOMIES]));
    if ($own && \get_option('calendar_gateway_rules') !== $rules) {
        \flush_rewrite_rules(false);
        \update_option('calendar_gateway_rules', $rules);
    }
}, 99);

// Keys of other plugins are opened for REST requests alone, and just before WordPress makes its routes (99): by then the plugins
// have registered theirs, and what their own code and screens read and write is as without this file.
\add_action('rest_api_init', function () {
    foreach (TAXONOMIES as $taxonomy => $about) {
        if (!empty($about['existing']) && \taxonomy_exists($taxonomy)) {
            open_keys('term', $taxonomy, $about['meta']);
        }
    }
    foreach (TYPES as $type => $about) {
        if (!empty($about['existing']) && $about['meta'] && \post_type_exists($type)) {
            // Without it the REST answers have no "meta" at all.
            \add_post_type_support($type, 'custom-fields');
            open_keys('post', $type, $about['meta']);
        }
    }
}, 98);

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

/** Whether the key is registered already: for this type, or for all types. */
function is_registered($object, $key, $subtype) {
    return \registered_meta_key_exists($object, $key, $subtype) || \registered_meta_key_exists($object, $key, '');
}

/** Keys of types that this file registers. */
function register_keys($object, $subtype, $keys) {
    foreach ($keys as $key => $about) {
        if (is_registered($object, $key, $subtype)) {
            continue;
        }
        $more = [];
        if (empty($about['rows'])) {
            $more['default'] = $about['type'] === 'object' ? (object) [] : $about['default'];
        }
        \register_meta($object, $key, $more + key_args($object, $subtype, $about));
    }
}

/**
 * Keys of types that belong to another plugin, which keeps them without registering them. They get no default outside of REST:
 * the plugin's code reads an unset key as it did.
 */
function open_keys($object, $subtype, $keys) {
    $opened = [];
    foreach ($keys as $key => $about) {
        if (is_registered($object, $key, $subtype)) {
            continue;
        }
        if ($about['type'] === 'array' && is_plain($object, $key)) {
            $about = ['type' => 'integer', 'default' => 0, 'rows' => true] + $about;
        }
        \register_meta($object, $key, key_args($object, $subtype, $about));
        $opened[$key] = $about;
    }
    if ($opened) {
        \add_filter("rest_pre_insert_$subtype", function ($prepared, $request) use ($object, $subtype, $opened) {
            if (\is_array($request['meta'])) {
                $request['meta'] = changes_of($request, $object, $subtype, $opened);
            }
            return $prepared;
        }, 10, 2);
    }
}

function key_args($object, $subtype, $about) {
    $schema = ['type' => $about['type'], 'default' => $about['default']];
    if ($about['type'] === 'array') {
        $schema['items'] = ['type' => 'integer'];
    }
    if ($about['type'] === 'object') {
        $schema = ['type' => 'object', 'additionalProperties' => true];
    }
    return [
        'object_subtype' => $subtype,
        'type' => $about['type'],
        'single' => empty($about['rows']),
        'show_in_rest' => ['schema' => $schema],
        'auth_callback' => function ($allowed, $name, $id, $user) use ($object) {
            return \user_can($user, $object === 'term' ? 'edit_term' : 'edit_post', $id);
        },
    ];
}

/** Whether a plugin stores the values of a key as they are, each in a row: one row that holds a list would then mislead it. */
function is_plain($object, $key) {
    global $wpdb;
    $table = $object === 'term' ? $wpdb->termmeta : $wpdb->postmeta;
    $value = $wpdb->get_var($wpdb->prepare("SELECT meta_value FROM $table WHERE meta_key = %s AND meta_value <> '' LIMIT 1", $key));
    return $value !== null && !\is_serialized($value);
}

/**
 * The meta of a request without what it leaves as it is. Editors send back every key that they were shown: stored as sent, an unset key
 * would get a row, and a plugin may take the row itself for an answer. What the mapping only reads is never stored.
 */
function changes_of($request, $object, $subtype, $keys) {
    $fields = $object === 'term' ? new \WP_REST_Term_Meta_Fields($subtype) : new \WP_REST_Post_Meta_Fields($subtype);
    $stored = $fields->get_value((int) $request['id'], $request);
    $meta = $request['meta'];
    foreach ($keys as $key => $about) {
        if (!\array_key_exists($key, $meta)) {
            continue;
        }
        if (!empty($about['absent']) && \in_array($meta[$key], ['', false], true)) {
            $meta[$key] = null;
        }
        if (!empty($about['readonly']) || \wp_json_encode($meta[$key]) === \wp_json_encode($stored[$key] ?? null)) {
            unset($meta[$key]);
        }
    }
    return $meta;
}
`;
