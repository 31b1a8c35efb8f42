<?php
// Tells the gateway which records a request created.
//
// WordPress inserts a record before it validates terms and meta, and keeps it if it then rejects them. This part adds to the error of a
// create the records that the request inserted, with the gateway's id of the call, so that the gateway deletes these and no others. It
// also stores the gateway's key of a create, by which the gateway finds the record if it got no response.

namespace CalendarGateway\Site;

\define(__NAMESPACE__ . '\\KEY_META', '_calendar_gateway_key');

/** The records that this request created. Adds one, if given. */
function created_records($type = null, $collection = '', $id = 0) {
    static $created = [];
    if ($type !== null) {
        $created["$type $id"] = ['type' => $type, 'collection' => $collection, 'id' => (int) $id];
    }
    return \array_values($created);
}

/** The gateway's key of the create, if this request creates a record in this collection; otherwise ''. */
function creation_key($collection) {
    $key = isset($_SERVER['HTTP_X_CALENDAR_KEY']) ? (string) $_SERVER['HTTP_X_CALENDAR_KEY'] : '';
    $is_create = \trim(requested_route(), '/') === "wp/v2/$collection";
    return $is_create && \preg_match('/^[a-f0-9]{64}$/D', $key) ? $key : '';
}

/** The gateway's id of this call, which the response repeats: by it the gateway recognizes the response to another call. */
function creation_id() {
    $id = isset($_SERVER['HTTP_X_CALENDAR_CREATE']) ? (string) $_SERVER['HTTP_X_CALENDAR_CREATE'] : '';
    return \preg_match('/^[a-f0-9]{32}$/D', $id) ? $id : '';
}

\add_action('wp_insert_post', function ($id, $post, $update) {
    $collection = collection_of_type($post->post_type);
    if ($update || !is_rest() || $collection === '') {
        return;
    }
    created_records('post', $collection, $id);
    if (creation_key($collection) !== '') {
        \update_post_meta($id, KEY_META, creation_key($collection));
    }
}, 1, 3);

\add_action('created_term', function ($id, $row, $taxonomy) {
    $collection = collection_of_taxonomy($taxonomy);
    if (!is_rest() || $collection === '') {
        return;
    }
    created_records('term', $collection, $id);
    if (creation_key($collection) !== '') {
        \update_term_meta($id, KEY_META, creation_key($collection));
    }
}, 1, 3);

\add_action('add_attachment', function ($id) {
    if (is_rest()) {
        created_records('post', 'media', $id);
    }
}, 1);

/** False for a record that was deleted or is in the trash: the code that rejected the request may have removed the record itself. */
function still_exists($record) {
    if ($record['type'] === 'term') {
        return \get_term($record['id']) instanceof \WP_Term;
    }
    $status = \get_post_status($record['id']);
    return $status && $status !== 'trash';
}

function may_edit($record) {
    return \current_user_can($record['type'] === 'term' ? 'edit_term' : 'edit_post', $record['id']);
}

/** An author may see a record that they may no longer edit, such as a draft that an editor published. */
function is_author($record) {
    return $record['type'] === 'post' && (int) \get_post_field('post_author', $record['id']) === \get_current_user_id();
}

/**
 * Ids with this key, the oldest first: later ones are copies of the record. Reads the table itself, because plugins filter the queries of
 * WordPress by language, date or role, and the gateway creates a record again if it does not find it.
 */
function ids_with_key($table, $column, $key) {
    global $wpdb;
    $sql = "SELECT $column FROM {$wpdb->$table} WHERE meta_key = %s AND meta_value = %s ORDER BY $column LIMIT 10";
    return \array_map('intval', $wpdb->get_col($wpdb->prepare($sql, KEY_META, $key)));
}

/** The records as the gateway reads them: collection and id. */
function references($records) {
    return \array_map(function ($record) {
        return ['collection' => $record['collection'], 'id' => $record['id']];
    }, \array_values($records));
}

\add_filter('rest_post_dispatch', function ($response, $server, $request) {
    if (!$response instanceof \WP_REST_Response || $response->get_status() < 400 || $request->get_method() !== 'POST') {
        return $response;
    }
    $bases = \array_merge(['media'], \array_column(TYPES, 'base'), \array_column(TAXONOMIES, 'base'));
    $parts = \explode('/', \trim($request->get_route(), '/'));
    $body = $response->get_data();
    $is_create = \count($parts) === 3 && $parts[0] === 'wp' && \in_array($parts[2], $bases, true);
    if (!$is_create || creation_id() === '' || !\is_array($body) || !isset($body['code']) || !\is_user_logged_in()) {
        return $response;
    }
    $remaining = \array_filter(created_records(), __NAMESPACE__ . '\\still_exists');
    $data = isset($body['data']) && \is_array($body['data']) ? $body['data'] : [];
    unset($data['calendar_created'], $data['calendar_create']);
    // The list is complete or absent: the gateway takes it for all records that remain.
    if (\count(\array_filter($remaining, __NAMESPACE__ . '\\may_edit')) === \count($remaining)) {
        $data += ['calendar_created' => references($remaining), 'calendar_create' => creation_id()];
    }
    $body['data'] = $data;
    $response->set_data($body);
    return $response;
}, \PHP_INT_MAX, 3);

// Returns the record that was created with a key. The gateway calls this after a create without a response.
\add_action('rest_api_init', function () {
    \register_rest_route('calendar-gateway/v1', '/created', [
        'methods' => 'GET',
        'args' => ['key' => ['required' => true, 'type' => 'string', 'pattern' => '^[a-f0-9]{64}$']],
        'permission_callback' => 'is_user_logged_in',
        'callback' => function ($request) {
            $records = [];
            foreach (ids_with_key('postmeta', 'post_id', $request['key']) as $id) {
                $records[] = ['type' => 'post', 'collection' => collection_of_type(\get_post_type($id)), 'id' => $id];
            }
            foreach (ids_with_key('termmeta', 'term_id', $request['key']) as $id) {
                $term = \get_term($id);
                $collection = $term instanceof \WP_Term ? collection_of_taxonomy($term->taxonomy) : '';
                $records[] = ['type' => 'term', 'collection' => $collection, 'id' => $id];
            }
            $records = \array_filter($records, function ($record) {
                return $record['collection'] !== '';
            });
            $visible = \array_filter($records, function ($record) {
                return is_author($record) || may_edit($record);
            });
            // With an empty response the gateway would create the record again.
            if ($records && !$visible) {
                return new \WP_Error('calendar_created_hidden', 'This record is not yours any more.', ['status' => 403]);
            }
            return ['created' => references($visible)];
        },
    ]);
});
