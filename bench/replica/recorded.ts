// WordPress's responses from the recordings of a real site, as templates of the generated records.

import { readFileSync } from 'node:fs';

export type CmsRecord = Record<string, unknown>;

interface Recorded {
  method: string;
  path: string;
  status: number;
  response: unknown;
}

const recordings = ['gateway-events', 'gateway-links', 'media'].flatMap(
  (name) =>
    JSON.parse(readFileSync(new URL(`../../test/fixtures/${name}.json`, import.meta.url), 'utf8')) as Recorded[],
);

function responseTo(part: string, has: string): unknown {
  const recording = recordings.find(
    ({ method, path, status, response }) =>
      method === 'GET' &&
      status === 200 &&
      path.includes(part) &&
      path.includes(has) &&
      (!Array.isArray(response) || response.length > 0),
  );
  if (!recording) throw new Error(`No recording of a request for ${part} with ${has}.`);
  return recording.response;
}

function firstOf(part: string, has: string, matches: (row: CmsRecord) => boolean = () => true): CmsRecord {
  const row = (responseTo(part, has) as CmsRecord[]).find(matches);
  if (!row) throw new Error(`No row of the recording of ${part} matches.`);
  return row;
}

/** One whole record of each kind, as the service account gets it. */
export const TEMPLATES = {
  index: responseTo('/wp-json/?_fields=name', 'timezone_string') as CmsRecord,
  events: firstOf('/wp/v2/events?', 'title.raw'),
  venues: firstOf('/wp/v2/venues?', 'title.raw'),
  organizers: firstOf('/wp/v2/organizers?', 'title.raw'),
  event_categories: firstOf('/wp/v2/event_categories?', 'description'),
  tags: firstOf('/wp/v2/tags?', 'description'),
  media: firstOf('/wp/v2/media?', 'media_details', ({ media_details }) =>
    Object.hasOwn((media_details as { sizes: object }).sizes, 'medium'),
  ),
};
