<?php
// Says which events of GatherPress are online: their venues include the term "online-event", which is no venue.

namespace CalendarGateway\Site;

register_state('gatherpress_event', function ($id) {
    $terms = \get_the_terms($id, '_gatherpress_venue');
    $slugs = \is_array($terms) ? \wp_list_pluck($terms, 'slug') : [];
    if (!\in_array('online-event', $slugs, true)) {
        return [];
    }
    return ['attendance_mode' => \count($slugs) > 1 ? 'mixed' : 'online'];
});
