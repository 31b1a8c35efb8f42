// The schemas of the responses: records, lists and errors.

import { KINDS, type Kind, type LinkedKind, PLURALS } from '../model/records.ts';
import { copiedFields } from './fields.ts';
import {
  dateTimeSchema,
  emptyListSchema,
  eventDateSchema,
  flagSchema,
  integerSchema,
  listSchema,
  objectSchema,
  type Schema,
  textSchema,
  urlSchema,
} from './schema.ts';

export type SchemaName =
  | 'ImageSize'
  | 'CostDetails'
  | 'Term'
  | 'Image'
  | 'DateDetails'
  | 'Event'
  | 'Venue'
  | 'Organizer';

/** The schema of a record of each kind. */
export const SCHEMA_NAMES: Record<Kind, SchemaName> = {
  event: 'Event',
  venue: 'Venue',
  organizer: 'Organizer',
  category: 'Term',
  tag: 'Term',
};

export const schemaRef = (name: SchemaName): Schema => ({ $ref: `#/components/schemas/${name}` });

const jsonLd: Schema = {
  type: 'object',
  description: 'The same for search engines (schema.org); only in a single read',
};

const postProperties = {
  id: integerSchema(),
  author: textSchema('User id of the author'),
  status: textSchema('publish, draft, pending, private, future or trash'),
  date: dateTimeSchema('Publication date, site time'),
  date_utc: dateTimeSchema('Publication date, UTC; all zeros when never published'),
  modified: dateTimeSchema('Last change, site time'),
  modified_utc: dateTimeSchema('Last change, UTC'),
  url: urlSchema('Page of the record on the site'),
};

const globalProperties = {
  global_id: textSchema('Host of the site and id'),
  global_id_lineage: listSchema(textSchema(), 'Global ids that it had or has'),
};

const copiedProperties = (kind: 'event' | LinkedKind): Record<string, Schema> =>
  Object.fromEntries(copiedFields(kind).map(([name, { response }]) => [name, response]));

function linkedSchema(kind: LinkedKind): Schema {
  const texts = copiedFields(kind).flatMap(([name, { type }]) => (type === 'boolean' ? [] : [name]));
  return objectSchema(
    {
      ...postProperties,
      [kind]: {
        oneOf: [textSchema(), emptyListSchema],
        description: 'Name, HTML; an empty list when it asks for a password',
      },
      description: textSchema('HTML'),
      excerpt: textSchema('HTML'),
      slug: textSchema(),
      image: schemaRef('Image'),
      ...copiedProperties(kind),
      ...globalProperties,
      custom_fields: { ...customFields, description: 'By name; absent without any' },
      json_ld: jsonLd,
    },
    // The serializer leaves out empty texts.
    ['description', 'excerpt', 'slug', 'image', ...texts, 'custom_fields', 'json_ld'],
  );
}

const customFields: Schema = {
  type: 'object',
  additionalProperties: objectSchema({
    label: textSchema('Name for people'),
    value: { oneOf: [textSchema(), { type: 'boolean' }] },
  }),
};

const addedFields = copiedFields('event').flatMap(([name, { optional }]) => (optional ? [name] : []));

/** Properties that the document of the original lacks. */
export const ADDED_PROPERTIES: Readonly<Partial<Record<SchemaName, readonly string[]>>> = {
  Event: [...addedFields, 'source', 'also_at'],
  Venue: ['custom_fields'],
  Organizer: ['custom_fields'],
};

export const RECORD_SCHEMAS: Record<SchemaName, Schema> = {
  ImageSize: objectSchema({
    width: integerSchema('Pixels'),
    height: integerSchema('Pixels'),
    'mime-type': textSchema(),
    filesize: integerSchema('Bytes'),
    url: urlSchema('Address of the file'),
  }),
  CostDetails: objectSchema({
    currency_symbol: textSchema(),
    currency_code: textSchema(),
    currency_position: { ...textSchema('Where the symbol stands'), enum: ['', 'prefix', 'postfix'] },
    values: listSchema(textSchema(), 'The distinct amounts, lowest first'),
  }),
  Term: {
    ...objectSchema(
      {
        id: integerSchema(),
        name: textSchema('HTML'),
        slug: textSchema(),
        description: textSchema('HTML'),
        taxonomy: textSchema(),
        count: integerSchema('How many published events have it'),
        parent: integerSchema('Id of the parent category, 0 for none'),
        urls: objectSchema(
          {
            self: urlSchema('The term in this API'),
            collection: urlSchema('The list of its kind'),
            up: urlSchema('Its parent'),
          },
          ['up'],
        ),
        url: urlSchema('Page of the term on the site'),
        meta: listSchema({}, 'Always empty'),
        term_group: integerSchema('Only inside an event'),
        term_taxonomy_id: integerSchema('Only inside an event'),
        filter: textSchema('Only inside an event'),
        _links: { type: 'object', description: 'Links of the CMS' },
      },
      ['parent', 'url', 'meta', 'term_group', 'term_taxonomy_id', 'filter', '_links'],
    ),
    description: 'A category or tag. Inside an event it has no url, meta and _links',
  },
  Image: objectSchema(
    {
      url: urlSchema('Address of the file'),
      id: integerSchema(),
      extension: textSchema(),
      width: integerSchema('Pixels'),
      height: integerSchema('Pixels'),
      filesize: integerSchema('Bytes'),
      sizes: { type: 'object', additionalProperties: schemaRef('ImageSize'), description: 'By name of the size' },
    },
    ['sizes'],
  ),
  DateDetails: objectSchema(
    Object.fromEntries(
      ['year', 'month', 'day', 'hour', 'minutes', 'seconds'].map((part) => [part, textSchema('Digits')]),
    ),
  ),
  Event: objectSchema(
    {
      ...postProperties,
      ...globalProperties,
      rest_url: urlSchema('The event in this API'),
      title: textSchema('HTML'),
      description: textSchema('HTML'),
      excerpt: textSchema('HTML'),
      slug: textSchema(),
      image: { oneOf: [{ type: 'boolean', enum: [false] }, schemaRef('Image')], description: 'false for none' },
      all_day: flagSchema('Whether it lasts whole days'),
      start_date: eventDateSchema('Start, in the time zone of the event'),
      start_date_details: schemaRef('DateDetails'),
      end_date: eventDateSchema('End, in the time zone of the event'),
      end_date_details: schemaRef('DateDetails'),
      utc_start_date: eventDateSchema('Start, UTC'),
      utc_start_date_details: schemaRef('DateDetails'),
      utc_end_date: eventDateSchema('End, UTC'),
      utc_end_date_details: schemaRef('DateDetails'),
      timezone: textSchema('As it was sent, or the zone of the site'),
      timezone_abbr: textSchema('EST, CEST, UTC+2 ...'),
      cost: textSchema('As it is shown'),
      cost_details: schemaRef('CostDetails'),
      website: textSchema('Address of its website'),
      ...copiedProperties('event'),
      categories: listSchema(schemaRef('Term'), 'Its categories'),
      tags: listSchema(schemaRef('Term'), 'Its tags'),
      venue: {
        oneOf: [schemaRef('Venue'), { type: 'array', items: schemaRef('Venue') }],
        description: 'An empty list for none, the venue itself for one, a list for several',
      },
      organizer: listSchema(schemaRef('Organizer'), 'Its organizers, in the order given'),
      custom_fields: { oneOf: [emptyListSchema, customFields], description: 'By name; an empty list for none' },
      json_ld: jsonLd,
      source: textSchema('The source that it comes from; absent for an event of the CMS'),
      also_at: listSchema(
        objectSchema({ source: textSchema('Name of the source'), url: textSchema('Its page there, or nothing') }),
        'Other sources that have the same event; absent without any',
      ),
    },
    ['json_ld', ...addedFields, 'source', 'also_at'],
  ),
  Venue: linkedSchema('venue'),
  Organizer: linkedSchema('organizer'),
};

export const ERROR_SCHEMA: Schema = {
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    data: { type: 'object', nullable: true, properties: { status: { type: 'integer' } } },
  },
};

/** The response of `/changes`. */
export const CHANGES_SCHEMA: Schema = objectSchema({
  changes: listSchema(
    objectSchema({
      kind: { ...textSchema(), enum: KINDS },
      id: integerSchema(),
      change: { ...textSchema('What happened to it in the public lists'), enum: ['created', 'updated', 'deleted'] },
    }),
    'Each record once, the latest change last',
  ),
  next_token: textSchema('For the next request'),
  has_more: { type: 'boolean', description: 'Whether further changes are known already' },
});

/** The schema of a page of a list. */
export function listEnvelope(kind: Kind): Schema {
  const name = PLURALS[kind];
  const link: Schema = { type: 'string', format: 'uri' };
  return {
    type: 'object',
    required: [name, 'rest_url', 'total', 'total_pages'],
    properties: {
      [name]: { type: 'array', items: schemaRef(SCHEMA_NAMES[kind]) },
      rest_url: link,
      next_rest_url: { ...link, description: 'Absent on the last page' },
      previous_rest_url: { ...link, description: 'Absent on the first page' },
      total: { type: 'integer' },
      total_pages: { type: 'integer' },
    },
  };
}
