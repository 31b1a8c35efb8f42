// The part of the snippet that fits the REST answers and what is stored to what the gateway relies on.

/** Excerpts as they were written, 401 for wrong credentials of the gateway's requests, slugs for drafts of venues and organizers; reads `TYPES`. */
export const REST_PHP = String.raw`
// An excerpt is what an author wrote; WordPress would otherwise derive one from the content. For another plugin's types this holds for
// requests of the gateway only.
\add_filter('get_the_excerpt', function ($text, $post = null) {
    if (is_written_excerpt($post)) {
        \remove_filter('get_the_excerpt', 'wp_trim_excerpt', 10);
    }
    return $text;
}, 9, 2);

\add_filter('get_the_excerpt', function ($text, $post = null) {
    if (is_written_excerpt($post)) {
        \add_filter('get_the_excerpt', 'wp_trim_excerpt', 10, 2);
    }
    return $text;
}, 11, 2);

function is_written_excerpt($post) {
    return $post && isset(TYPES[$post->post_type]) && \defined('REST_REQUEST') && \REST_REQUEST
        && (empty(TYPES[$post->post_type]['existing']) || is_gateway());
}

/** Whether the gateway sends this request, by its User-Agent. Grants no rights. */
function is_gateway() {
    return \strpos((string) ($_SERVER['HTTP_USER_AGENT'] ?? ''), 'calendar-gateway') === 0;
}

// WordPress looks at credentials only when something asks who the user is. Asked here, wrong ones are answered
// with 401 on every route that the gateway asks, public reads too. For other clients nothing changes: some send
// credentials that are meant for a server in front of the site.
\add_filter('rest_authentication_errors', function ($result) {
    if (is_gateway()) {
        \wp_get_current_user();
    }
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
`;
