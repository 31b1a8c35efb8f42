<?php
// Registers the post types, taxonomies and meta keys of the mapping, and opens those of other plugins to the REST API.
//
// Reads the constants TYPES and TAXONOMIES. What they call "existing" is another plugin's: this file only opens it.

namespace CalendarGateway\Site;

// Adds the types of other plugins to the REST API, unless they are in it already.
\add_filter('register_post_type_args', function ($args, $type) {
    if (!empty(TYPES[$type]['existing']) && empty($args['show_in_rest'])) {
        opened_types($type);
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

// WordPress uses the block editor for types in the REST API. A type opened here keeps the edit screen of its plugin.
\add_filter('use_block_editor_for_post_type', function ($use, $type) {
    return $use && !\in_array($type, opened_types(), true);
}, \PHP_INT_MAX, 2);

/** The types that this file opened. Adds $type, if given. */
function opened_types($type = null) {
    static $types = [];
    if ($type !== null) {
        $types[] = $type;
    }
    return $types;
}

/**
 * The collection of the mapping that has the records of a type or taxonomy; '' if none has. If the mapping does not
 * name the type, its REST base decides.
 */
function collection_in($definitions, $name, $object) {
    if (isset($definitions[$name])) {
        return $definitions[$name]['base'];
    }
    $base = $object && !empty($object->show_in_rest) ? (string) ($object->rest_base ?: $object->name) : '';
    return \in_array($base, \array_column($definitions, 'base'), true) ? $base : '';
}

function collection_of_type($type) {
    return $type ? collection_in(TYPES, $type, \get_post_type_object($type)) : '';
}

function collection_of_taxonomy($taxonomy) {
    return collection_in(TAXONOMIES, $taxonomy, \get_taxonomy($taxonomy));
}

\add_action('init', function () {
    foreach (TYPES as $type => $definition) {
        if (empty($definition['existing']) && !\post_type_exists($type)) {
            define_type($type, $definition);
        }
    }
    foreach (TAXONOMIES as $taxonomy => $definition) {
        if (empty($definition['existing']) && !\taxonomy_exists($taxonomy)) {
            define_taxonomy($taxonomy, $definition);
        }
    }
}, 5);

// Priority 99: plugins have registered their own types and keys by then.
\add_action('init', function () {
    $own = [];
    foreach (TAXONOMIES as $taxonomy => $definition) {
        foreach ($definition['types'] as $type) {
            if (\taxonomy_exists($taxonomy) && \post_type_exists($type)) {
                \register_taxonomy_for_object_type($taxonomy, $type);
            }
        }
        if (empty($definition['existing'])) {
            $own[$taxonomy] = $definition;
            register_keys('term', $taxonomy, $definition['meta']);
        }
    }
    foreach (TYPES as $type => $definition) {
        if (empty($definition['existing'])) {
            $own[$type] = $definition;
            register_keys('post', $type, $definition['meta']);
            hide_with_password($type);
        }
    }
    $rules = \md5((string) \wp_json_encode([TYPES, TAXONOMIES]));
    if ($own && \get_option('calendar_gateway_rules') !== $rules) {
        \flush_rewrite_rules(false);
        \update_option('calendar_gateway_rules', $rules);
    }
}, 99);

// Opens keys of other plugins for REST requests only, just before WordPress creates its routes (99): by then the
// plugins have registered theirs, and their own code and screens read and write the same values as without this file.
\add_action('rest_api_init', function () {
    foreach (TAXONOMIES as $taxonomy => $definition) {
        if (!empty($definition['existing']) && \taxonomy_exists($taxonomy)) {
            open_keys('term', $taxonomy, $definition['meta']);
        }
    }
    foreach (TYPES as $type => $definition) {
        if (!empty($definition['existing']) && $definition['meta'] && \post_type_exists($type)) {
            // Without it REST responses have no "meta".
            if (!\post_type_supports($type, 'custom-fields')) {
                \add_post_type_support($type, 'custom-fields');
                hide_with_password($type);
            }
            open_keys('post', $type, $definition['meta']);
        }
    }
}, 98);

function define_type($type, $definition) {
    $singular = $definition['singular'];
    $plural = $definition['plural'];
    \register_post_type($type, [
        'labels' => [
            'name' => $plural,
            'singular_name' => $singular,
            'add_new_item' => "Add $singular",
            'edit_item' => "Edit $singular",
            'view_item' => "View $singular",
            'search_items' => "Search $plural",
            'not_found' => "No $plural found",
        ],
        'public' => true,
        'show_in_rest' => true,
        'rest_base' => $definition['base'],
        'menu_icon' => $definition['icon'],
        'supports' => ['title', 'editor', 'author', 'thumbnail', 'excerpt', 'revisions', 'custom-fields'],
        'rewrite' => ['slug' => $definition['rewrite'], 'with_front' => false],
    ]);
}

function define_taxonomy($taxonomy, $definition) {
    \register_taxonomy($taxonomy, $definition['types'], [
        'labels' => ['name' => $definition['plural'], 'singular_name' => $definition['singular']],
        'public' => true,
        'show_in_rest' => true,
        'rest_base' => $definition['base'],
        'show_admin_column' => true,
        'hierarchical' => $definition['hierarchical'],
        'rewrite' => [
            'slug' => $definition['rewrite'], 'with_front' => false, 'hierarchical' => $definition['hierarchical'],
        ],
        // Users who may publish manage the terms; users who may only write add terms while writing.
        'capabilities' => [
            'manage_terms' => 'publish_posts',
            'delete_terms' => 'publish_posts',
            'edit_terms' => 'edit_posts',
            'assign_terms' => 'edit_posts',
        ],
    ]);
}

/** Whether a plugin registered the key, for this type or for all types. */
function is_registered($object, $key, $subtype) {
    return \registered_meta_key_exists($object, $key, $subtype) || \registered_meta_key_exists($object, $key, '');
}

/** Registers keys of types that this file registers. */
function register_keys($object, $subtype, $keys) {
    $numbers = [];
    foreach ($keys as $key => $definition) {
        if (is_registered($object, $key, $subtype)) {
            continue;
        }
        $more = [];
        if (empty($definition['multiple'])) {
            $more['default'] = $definition['type'] === 'object' ? (object) [] : $definition['default'];
        }
        \register_meta($object, $key, $more + key_args($object, $subtype, $definition));
        if ($definition['type'] === 'number') {
            $numbers[$key] = [];
        }
    }
    // A number that is not set is null in responses (see key_args). WordPress refuses a request that sends this null
    // back if the row has a text that is no number, such as a blank one of an import.
    ignore_unchanged($object, $subtype, $numbers);
}

/**
 * Registers keys that another plugin stores without registering them. They get no default outside the REST schema:
 * the plugin's code reads an unset key as before.
 */
function open_keys($object, $subtype, $keys) {
    $opened = [];
    foreach ($keys as $key => $definition) {
        if (is_registered($object, $key, $subtype)) {
            continue;
        }
        if ($definition['type'] === 'array' && has_plain_rows($object, $key)) {
            $definition = ['type' => 'integer', 'default' => 0, 'multiple' => true] + $definition;
        }
        \register_meta($object, $key, key_args($object, $subtype, $definition));
        $opened[$key] = $definition;
    }
    ignore_unchanged($object, $subtype, $opened);
    if ($object === 'post') {
        hide_with_password($subtype, \array_keys($opened));
    }
}

/** Whether the record has a password that this request does not give, of somebody who may not edit the record. */
function is_locked($post, $request) {
    $password = $request['password'];
    $is_given = \is_string($password) && \hash_equals((string) $post->post_password, $password);
    return \post_password_required($post) && !$is_given && !\current_user_can('edit_post', $post->ID);
}

/**
 * WordPress hides the content of a record with a password, and shows its meta. Empties the meta too, but for the
 * event's dates, for everybody who has neither given the password nor may edit the record. $keys: only these.
 */
function hide_with_password($type, $keys = null) {
    \add_filter("rest_prepare_$type", function ($response, $post, $request) use ($type, $keys) {
        if (!is_locked($post, $request)) {
            return $response;
        }
        // Advanced Custom Fields itself shows its fields of other types.
        foreach (empty(TYPES[$type]['existing']) ? ['meta', 'acf'] : ['meta'] as $root) {
            foreach ($response->data[$root] ?? [] as $key => $value) {
                if ($keys === null || \in_array($key, $keys, true)) {
                    $response->data[$root][$key] = emptied($value, "$root.$key", TYPES[$type]['without_password']);
                }
            }
        }
        return $response;
    }, \PHP_INT_MAX, 3);
}

/** The value at $path, such as "meta.place", emptied but for its parts at $shown, such as "meta.place.zone". */
function emptied($value, $path, $shown) {
    if (\in_array($path, $shown, true)) {
        return $value;
    }
    $has_shown_parts = \is_array($value) && \array_filter($shown, function ($one) use ($path) {
        return \strpos($one, "$path.") === 0;
    });
    if ($has_shown_parts) {
        foreach ($value as $key => $part) {
            $value[$key] = emptied($part, "$path.$key", $shown);
        }
        return $value;
    }
    return \is_string($value) ? '' : (\is_array($value) ? [] : null);
}

/** Drops keys that a REST request sends back unchanged, so that WordPress does not write them. */
function ignore_unchanged($object, $subtype, $keys) {
    if ($keys) {
        \add_filter("rest_pre_insert_$subtype", function ($prepared, $request) use ($object, $subtype, $keys) {
            if (\is_array($request['meta'])) {
                $request['meta'] = changed_meta($request, $object, $subtype, $keys);
            }
            return $prepared;
        }, 10, 2);
    }
}

function key_args($object, $subtype, $definition) {
    $schema = ['type' => $definition['type'], 'default' => $definition['default']];
    if ($definition['type'] === 'array') {
        $schema['items'] = ['type' => 'integer'];
    }
    if ($definition['type'] === 'object') {
        $schema = ['type' => 'object', 'additionalProperties' => true];
    }
    $rest = ['schema' => $schema];
    if ($definition['type'] === 'number') {
        // WordPress shows its default, the number 0, for a key that is not set. A stored 0 is the text "0".
        $rest['prepare_callback'] = function ($value, ...$more) {
            return $value === 0 || $value === '' ? null : \WP_REST_Meta_Fields::prepare_value($value, ...$more);
        };
    }
    return [
        'object_subtype' => $subtype,
        'type' => $definition['type'],
        'single' => empty($definition['multiple']),
        'show_in_rest' => $rest,
        'auth_callback' => function ($allowed, $name, $id, $user) use ($object) {
            return \user_can($user, $object === 'term' ? 'edit_term' : 'edit_post', $id);
        },
    ];
}

/** Whether a plugin stores each value of the key in a row of its own: one row with a list would mislead it. */
function has_plain_rows($object, $key) {
    global $wpdb;
    $table = $object === 'term' ? $wpdb->termmeta : $wpdb->postmeta;
    $query = "SELECT meta_value FROM $table WHERE meta_key = %s AND meta_value <> '' LIMIT 1";
    $value = $wpdb->get_var($wpdb->prepare($query, $key));
    return $value !== null && !\is_serialized($value);
}

/**
 * The meta of a request without unchanged values. Editors send back every key that they received: an unset key would
 * get a row, and a plugin may interpret the row's mere existence. Keys that the mapping only reads are never stored.
 */
function changed_meta($request, $object, $subtype, $keys) {
    $fields = $object === 'term' ? new \WP_REST_Term_Meta_Fields($subtype) : new \WP_REST_Post_Meta_Fields($subtype);
    $stored = $fields->get_value((int) $request['id'], $request);
    $meta = $request['meta'];
    foreach ($keys as $key => $definition) {
        if (!\array_key_exists($key, $meta)) {
            continue;
        }
        if (!empty($definition['absent_when_false']) && \in_array($meta[$key], ['', false], true)) {
            $meta[$key] = null;
        }
        $is_same = \wp_json_encode($meta[$key]) === \wp_json_encode($stored[$key] ?? null);
        if (!empty($definition['readonly']) || $is_same) {
            unset($meta[$key]);
        }
    }
    return $meta;
}
