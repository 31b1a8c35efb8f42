<?php
// Stores the gateway's key of a create with the record, by which the gateway finds the record later: if it got no
// response, or if WordPress refused the terms or meta of a record that it had inserted before, and kept it.

namespace CalendarGateway\Site;

\define(__NAMESPACE__ . '\\KEY_META', '_calendar_gateway_key');

/** The gateway's key of the create, if this request creates a record in this collection; otherwise ''. */
function creation_key($collection) {
    $key = isset($_SERVER['HTTP_X_CALENDAR_KEY']) ? (string) $_SERVER['HTTP_X_CALENDAR_KEY'] : '';
    $is_create = \trim(requested_route(), '/') === "wp/v2/$collection";
    return $is_create && \preg_match('/^[a-f0-9]{64}$/D', $key) ? $key : '';
}

\add_action('wp_insert_post', function ($id, $post, $update) {
    $collection = collection_of_type($post->post_type);
    $key = !$update && is_rest() && $collection !== '' ? creation_key($collection) : '';
    if ($key !== '') {
        \update_post_meta($id, KEY_META, $key);
    }
}, 1, 3);

\add_action('created_term', function ($id, $row, $taxonomy) {
    $collection = collection_of_taxonomy($taxonomy);
    $key = is_rest() && $collection !== '' ? creation_key($collection) : '';
    if ($key !== '') {
        \update_term_meta($id, KEY_META, $key);
    }
}, 1, 3);

function may_edit($record) {
    return \current_user_can($record['type'] === 'term' ? 'edit_term' : 'edit_post', $record['id']);
}

/** An author may see a record that they may no longer edit, such as a draft that an editor published. */
function is_author($record) {
    return $record['type'] === 'post' && (int) \get_post_field('post_author', $record['id']) === \get_current_user_id();
}

/**
 * Ids with this key, the oldest first: later ones are copies of the record. Reads the table itself, because plugins
 * filter the queries of WordPress by language, date or role, and the gateway creates a record again if it does not
 * find it.
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

// Returns the record that was created with a key. The gateway calls this if a create had no response, or an error.
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
                $reason = 'This record is not yours any more.';
                return new \WP_Error('calendar_created_hidden', $reason, ['status' => 403]);
            }
            return ['created' => references($visible)];
        },
    ]);
});
