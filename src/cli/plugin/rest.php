<?php
// Adapts the REST API to the gateway: excerpts as authors wrote them, 401 for wrong credentials, and slugs for venues
// and organizers that are not published.

namespace CalendarGateway\Site;

// The excerpt is the author's text: WordPress would otherwise derive one from the content. For types of other plugins
// this holds for requests of the gateway only.
\add_filter('get_the_excerpt', function ($text, $post = null) {
    if (keeps_written_excerpt($post)) {
        \remove_filter('get_the_excerpt', 'wp_trim_excerpt', 10);
    }
    return $text;
}, 9, 2);

\add_filter('get_the_excerpt', function ($text, $post = null) {
    if (keeps_written_excerpt($post)) {
        \add_filter('get_the_excerpt', 'wp_trim_excerpt', 10, 2);
    }
    return $text;
}, 11, 2);

function keeps_written_excerpt($post) {
    return $post && isset(TYPES[$post->post_type]) && is_rest()
        && (empty(TYPES[$post->post_type]['existing']) || is_gateway_request());
}

function is_rest() {
    return \defined('REST_REQUEST') && \REST_REQUEST;
}

/** The route of this REST request, such as "/wp/v2/events/7"; '' for any other request. */
function requested_route() {
    return (string) ($GLOBALS['wp']->query_vars['rest_route'] ?? '');
}

/** Whether the gateway sent this request, by its User-Agent. Grants no rights. */
function is_gateway_request() {
    return \strpos((string) ($_SERVER['HTTP_USER_AGENT'] ?? ''), 'calendar-gateway') !== false;
}

/**
 * Adds what an event plugin says of whether and how an event takes place to its record, for the gateway, in the words
 * of its API. What $state_of leaves out, the plugin does not say.
 */
function register_state($type, $state_of) {
    \add_action('rest_api_init', function () use ($type, $state_of) {
        if (is_gateway_request()) {
            \register_rest_field($type, 'calendar_state', [
                'get_callback' => function ($record, $name, $request) use ($state_of) {
                    $id = (int) $record['id'];
                    return (object) (is_locked(\get_post($id), $request) ? [] : $state_of($id));
                },
                'schema' => ['type' => 'object', 'readonly' => true],
            ]);
        }
    });
}

// WordPress checks credentials only when code needs the user. Checking them here gives 401 for wrong ones on every
// route that the gateway calls, public reads too. For other clients nothing changes: some send credentials that are
// meant for a server in front.
\add_filter('rest_authentication_errors', function ($result) {
    if (is_gateway_request()) {
        \wp_get_current_user();
    }
    return $result;
}, 5);

// Publishes what an event plugin keeps in its options and its records depend on. The description of the site is
// public, so that the gateway needs no account for it. A hook names the values: plugin_settings().
\add_filter('rest_index', function ($response) {
    $name = __NAMESPACE__ . '\\plugin_settings';
    $settings = \function_exists($name) ? \array_filter($name(), 'is_string') : [];
    if ($settings) {
        $response->data['calendar_gateway'] = $settings;
    }
    return $response;
});

// Gives a new venue or organizer a slug while it is a draft or pending, as The Events Calendar does; in a type of
// another plugin, if the gateway sends it. A pending one of a user who may not publish gets none: WordPress removes the
// slug of such a post, and only its publication gives it one again.
\add_filter('wp_insert_post_data', function ($data, $given) {
    $definition = TYPES[$data['post_type']] ?? null;
    $is_linked = $definition && $definition['kind'] !== 'event' && (!$definition['existing'] || is_gateway_request());
    if (!$is_linked || !empty($given['ID']) || $data['post_name'] !== '' || $data['post_title'] === '') {
        return $data;
    }
    $type = \get_post_type_object($data['post_type']);
    $status = $data['post_status'];
    if ($status === 'draft' || ($status === 'pending' && \current_user_can($type->cap->publish_posts))) {
        $slug = \sanitize_title(\wp_unslash($data['post_title']));
        $data['post_name'] = \wp_unique_post_slug($slug, 0, 'publish', $data['post_type'], 0);
    }
    return $data;
}, 10, 2);
