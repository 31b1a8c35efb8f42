// Records of the live site that tests change.

/** Events that are edited together: more than a page of a list. */
export const BULK = 450;

/** Ids by the change made to the record. */
export interface Fixtures {
  events: Record<string, number>;
  venues: Record<string, number>;
  terms: Record<string, number>;
  images: Record<string, number>;
}

/** Creates the records to change, before the gateways start. */
export async function createFixtures(php: (code: string) => Promise<string>): Promise<Fixtures> {
  const ids = await php(`
    $ids = ['events' => [], 'venues' => [], 'terms' => [], 'images' => []];
    update_user_meta(1, 'edit_calendar_event_per_page', 200);
    foreach (['edited', 'trashed', 'deleted'] as $name)
      $ids['venues'][$name] = wp_insert_post(['post_type' => 'calendar_venue', 'post_status' => 'publish', 'post_title' => "Venue $name"]);
    foreach (['renamed', 'deleted', 'merged', 'into', 'given'] as $name)
      $ids['terms'][$name] = wp_insert_term("Term $name " . uniqid(), 'event_category')['term_id'];
    foreach (['turned', 'replaced', 'deleted', 'set'] as $name) {
      $picture = imagecreatetruecolor(60, 40);
      $path = wp_upload_dir()['path'] . '/' . uniqid("picture-$name-") . '.png';
      imagepng($picture, $path);
      $id = wp_insert_attachment(['post_title' => $name, 'post_mime_type' => 'image/png'], $path);
      wp_update_attachment_metadata($id, wp_generate_attachment_metadata($id, $path));
      $ids['images'][$name] = $id;
    }
    $event = function ($name, $meta = [], $more = []) use (&$ids) {
      return wp_insert_post($more + ['post_type' => 'calendar_event', 'post_status' => 'publish', 'post_title' => "Event $name",
        'meta_input' => $meta + ['start_date' => '2033-03-04 10:00:00', 'end_date' => '2033-03-04 12:00:00']]);
    };
    foreach (['edited', 'dated', 'slug', 'unpublished', 'trashed', 'deleted', 'deletedFromTrash', 'twice', 'meta', 'given', 'pictured', 'zoned'] as $name)
      $ids['events'][$name] = $event($name);
    foreach (['edited', 'trashed', 'deleted'] as $name)
      $ids['events']["at $name"] = $event("at $name", ['venue_ids' => [$ids['venues'][$name]]]);
    foreach (['renamed', 'deleted', 'merged'] as $name) {
      $ids['events']["in $name"] = $event("in $name");
      wp_set_object_terms($ids['events']["in $name"], [$ids['terms'][$name]], 'event_category');
    }
    foreach (['turned', 'replaced', 'deleted'] as $name) $ids['events']["with $name"] = $event("with $name", ['_thumbnail_id' => $ids['images'][$name]]);
    for ($n = 0; $n < ${BULK}; $n++) $event("bulk $n", [], ['post_date' => '2020-01-01 10:00:00']);
    echo json_encode($ids);`);
  return JSON.parse(ids) as Fixtures;
}
