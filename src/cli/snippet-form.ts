// The part of the snippet that shows the keys on the edit screen of WordPress.

/** A plain form for the keys, for the types of `TYPES` that the snippet registers itself. */
export const FORM_PHP = String.raw`
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
        $value = \get_post_meta($post->ID, $key, empty($about['rows']));
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
        } elseif ($about['type'] === 'array' || !empty($about['rows'])) {
            $value = \array_values(\array_filter(\array_map('intval', \explode(',', $text))));
        } elseif ($about['type'] === 'integer') {
            $value = (int) $text;
        } elseif ($about['type'] === 'number') {
            $value = (float) $text;
        } else {
            $value = $text;
        }
        if (!empty($about['rows'])) {
            \delete_post_meta($id, $key);
            foreach ($value as $one) {
                \add_post_meta($id, $key, $one);
            }
        } else {
            \update_post_meta($id, $key, $value);
        }
    }
}, 10, 2);
`;
