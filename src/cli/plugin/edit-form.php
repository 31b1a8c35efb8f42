<?php
// Shows the meta keys on the edit screen of WordPress, for the post types that this plugin registers itself.

namespace CalendarGateway\Site;

\add_action('add_meta_boxes', function ($type) {
    if (isset(TYPES[$type]) && empty(TYPES[$type]['existing']) && form_keys($type)) {
        $title = TYPES[$type]['singular'] . ' details';
        \add_meta_box('calendar-gateway', $title, __NAMESPACE__ . '\\show_form', $type, 'normal', 'high');
        \remove_meta_box('postcustom', $type, 'normal');
    }
});

/** The keys that fit into one line of text. An object does not: the form leaves it as it is. */
function form_keys($type) {
    return \array_filter(TYPES[$type]['meta'], function ($definition) {
        return $definition['type'] !== 'object';
    });
}

function show_form($post) {
    \wp_nonce_field('calendar_gateway', 'calendar_gateway_nonce');
    echo '<table class="form-table" role="presentation">';
    foreach (form_keys($post->post_type) as $key => $definition) {
        $value = \get_post_meta($post->ID, $key, empty($definition['multiple']));
        $name = \esc_attr("calendar_gateway[$key]");
        $label = \esc_html(\ucfirst(\str_replace('_', ' ', \trim($key, '_'))));
        echo "<tr><th scope='row'><label for='$name'>$label</label></th><td>";
        if ($definition['type'] === 'boolean') {
            $checked = \checked((bool) $value, true, false);
            echo "<input type='checkbox' id='$name' name='$name' value='1' $checked>";
        } else {
            $is_unset = $definition['type'] === 'number' && !\metadata_exists('post', $post->ID, $key);
            $text = $is_unset ? '' : \esc_attr(\is_array($value) ? \implode(', ', $value) : (string) $value);
            echo "<input type='text' class='regular-text' id='$name' name='$name' value='$text'>";
        }
        if ($definition['hint'] !== '') {
            echo ' <span class="description">' . \esc_html($definition['hint']) . '</span>';
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
    $fields = \is_array($_POST['calendar_gateway'] ?? null) ? $_POST['calendar_gateway'] : [];
    foreach (form_keys($post->post_type) as $key => $definition) {
        $text = \is_string($fields[$key] ?? null) ? \trim($fields[$key]) : '';
        if ($definition['type'] === 'boolean') {
            $value = $text === '1';
        } elseif ($definition['type'] === 'array' || !empty($definition['multiple'])) {
            $value = \array_values(\array_filter(\array_map('intval', \explode(',', $text))));
        } elseif ($definition['type'] === 'integer') {
            $value = (int) $text;
        } elseif ($definition['type'] === 'number') {
            $value = (float) $text;
        } else {
            $value = $text;
        }
        if ($definition['type'] === 'number' && $text === '') {
            \delete_post_meta($id, $key);
        } elseif (!empty($definition['multiple'])) {
            \delete_post_meta($id, $key);
            foreach ($value as $item) {
                \add_post_meta($id, $key, $item);
            }
        } else {
            \update_post_meta($id, $key, $value);
        }
    }
}, 10, 2);
