// A site and small mappings for the tests of the mapping language.

import { compileMapping } from '../../src/mapping/compile.ts';
import schema from '../../src/mapping/mapping.schema.json' with { type: 'json' };
import type { Mapping } from '../../src/mapping/mapping.ts';
import type { Site } from '../../src/model/records.ts';

const [byName, withOptions] = schema.definitions.codec.oneOf;

/** JSON Schema of the options of each codec that has some. */
export const OPTIONS_OF_CODECS: Readonly<Record<string, object>> = withOptions!.properties!;
/** The codecs that a mapping can name. */
export const NAMED_CODECS: readonly string[] = [...new Set([...byName!.enum!, ...Object.keys(OPTIONS_OF_CODECS)])];

export const site: Site = { url: 'http://cms.example', name: 'Town', timezone: 'America/New_York' };

/**
 * A mapping file whose events have these fields, besides the two required ones.
 * @param event further keys of the events
 */
export function sourceWith(fields: object, more: object = {}, event: object = {}): Record<string, unknown> {
  return {
    name: 'sample',
    upstream: 'wordpress',
    event: { posts: 'events', fields: { start_date: 'meta.start', end_date: 'meta.end', ...fields }, ...event },
    venue: { posts: 'venues' },
    organizer: { posts: 'organizers' },
    category: { terms: 'event_categories' },
    tag: { terms: 'tags' },
    ...more,
  };
}

export function mappingWith(fields: object, more: object = {}, event: object = {}): Mapping {
  // As in a file: `venue: undefined` leaves the venues out.
  return compileMapping(JSON.parse(JSON.stringify(sourceWith(fields, more, event))), 'sample');
}
