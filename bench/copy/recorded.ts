// Shapes of WordPress's answers, out of the recordings of a real one: the made site only fills them.

import { readFileSync } from 'node:fs';

export type Native = Record<string, unknown>;

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

function answered(part: string, has: string): unknown {
  const found = recordings.find(
    ({ method, path, status, response }) =>
      method === 'GET' &&
      status === 200 &&
      path.includes(part) &&
      path.includes(has) &&
      (!Array.isArray(response) || response.length > 0),
  );
  if (!found) throw new Error(`No recording asks for ${part} with ${has}.`);
  return found.response;
}

function firstOf(part: string, has: string, fits: (row: Native) => boolean = () => true): Native {
  const row = (answered(part, has) as Native[]).find(fits);
  if (!row) throw new Error(`No recording of ${part} fits.`);
  return row;
}

/** One recorded answer of each kind, whole, as the service account gets it. */
export const SHAPES = {
  index: answered('/wp-json/?_fields=name', 'timezone_string') as Native,
  events: firstOf('/wp/v2/events?', 'title.raw'),
  venues: firstOf('/wp/v2/venues?', 'title.raw'),
  organizers: firstOf('/wp/v2/organizers?', 'title.raw'),
  event_categories: firstOf('/wp/v2/event_categories?', 'description'),
  tags: firstOf('/wp/v2/tags?', 'description'),
  media: firstOf('/wp/v2/media?', 'media_details', ({ media_details }) =>
    Object.hasOwn((media_details as { sizes: object }).sizes, 'medium'),
  ),
};
