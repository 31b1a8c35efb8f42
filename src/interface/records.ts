// JSON Schemas of the records as answered, in the form that OpenAPI 3.0 takes. What is true here is what calendar/present.ts sends.

import type { Kind } from '../records.ts';
import { COLLECTIONS } from './routes.ts';

export interface Schema {
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema;
  oneOf?: Schema[];
  enum?: readonly unknown[];
  format?: string;
  pattern?: string;
  default?: unknown;
  nullable?: boolean;
  maxItems?: number;
  maxLength?: number;
  $ref?: string;
}

export type SchemaName =
  | 'ImageSize'
  | 'CostDetails'
  | 'Term'
  | 'Image'
  | 'DateDetails'
  | 'Event'
  | 'Venue'
  | 'Organizer';

/** The schema that an answer of each kind has. */
export const SCHEMA_OF: Record<Kind, SchemaName> = {
  event: 'Event',
  venue: 'Venue',
  organizer: 'Organizer',
  category: 'Term',
  tag: 'Term',
};

/** A reference to one of the document's schemas. */
export const schemaRef = (name: SchemaName): Schema => ({ $ref: `#/components/schemas/${name}` });

const plain =
  (type: string) =>
  (description?: string): Schema => ({ type, ...(description ? { description } : {}) });
const text = plain('string');
const integer = plain('integer');
const address = (description: string): Schema => ({ type: 'string', format: 'uri', description });
const moment = (description: string): Schema => ({
  type: 'string',
  pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$',
  description: `${description}, as YYYY-MM-DD HH:MM:SS`,
});
/** `null` only in an event, venue or organizer that asks for a password. */
const flag = (description: string): Schema => ({ type: 'boolean', nullable: true, description });
const listOf = (items: Schema, description: string): Schema => ({ type: 'array', items, description });
const emptyList: Schema = { type: 'array', maxItems: 0, items: {} };
const jsonLd: Schema = {
  type: 'object',
  description: 'The same for search engines (schema.org); only in a single read',
};

/** All `properties` are always there, but for those in `sometimes`. */
function object(properties: Record<string, Schema>, sometimes: string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !sometimes.includes(name));
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

const postProperties = {
  id: integer(),
  author: text('User id of the author'),
  status: text('publish, draft, pending, private, future or trash'),
  date: moment('Publication date, site time'),
  date_utc: moment('Publication date, UTC; all zeros when never published'),
  modified: moment('Last change, site time'),
  modified_utc: moment('Last change, UTC'),
  url: address('Page of the record on the site'),
};

const globalProperties = {
  global_id: text('Host of the site and id'),
  global_id_lineage: listOf(text(), 'Global ids that it had or has'),
};

/** Left out of venues and organizers when empty (interface-behaviour 1.2). */
const SOMETIMES = ['description', 'excerpt', 'image', 'phone', 'website', 'email', 'json_ld'];
const PLACE = ['address', 'city', 'country', 'province', 'state', 'zip', 'stateprovince'];

const linkedName = (description: string): Schema => ({
  oneOf: [text(), emptyList],
  description: `${description}, HTML; an empty list when it asks for a password`,
});

const linkedTexts = {
  description: text('HTML'),
  excerpt: text('HTML'),
  slug: text(),
  image: schemaRef('Image'),
  phone: text(),
  website: text('Address of its website'),
};

/** interface-behaviour 1.1-1.6. */
export const RECORD_SCHEMAS: Record<SchemaName, Schema> = {
  ImageSize: object({
    width: integer('Pixels'),
    height: integer('Pixels'),
    'mime-type': text(),
    filesize: integer('Bytes'),
    url: address('Address of the file'),
  }),
  CostDetails: object({
    currency_symbol: text(),
    currency_code: text(),
    currency_position: { ...text('Where the symbol stands'), enum: ['', 'prefix', 'postfix'] },
    values: listOf(text(), 'The distinct amounts, lowest first'),
  }),
  Term: {
    ...object(
      {
        id: integer(),
        name: text('HTML'),
        slug: text(),
        description: text('HTML'),
        taxonomy: text(),
        count: integer('How many published events have it'),
        parent: integer('Id of the parent category, 0 for none'),
        urls: object(
          {
            self: address('The term in this interface'),
            collection: address('The list of its kind'),
            up: address('Its parent'),
          },
          ['up'],
        ),
        url: address('Page of the term on the site'),
        meta: listOf({}, 'Always empty'),
        term_group: integer('Only inside an event'),
        term_taxonomy_id: integer('Only inside an event'),
        filter: text('Only inside an event'),
        _links: { type: 'object', description: 'Links of the CMS' },
      },
      ['parent', 'url', 'meta', 'term_group', 'term_taxonomy_id', 'filter', '_links'],
    ),
    description: 'A category or tag. Inside an event it has no url, meta and _links',
  },
  Image: object(
    {
      url: address('Address of the file'),
      id: integer(),
      extension: text(),
      width: integer('Pixels'),
      height: integer('Pixels'),
      filesize: integer('Bytes'),
      sizes: { type: 'object', additionalProperties: schemaRef('ImageSize'), description: 'By name of the size' },
    },
    ['sizes'],
  ),
  DateDetails: object(
    Object.fromEntries(['year', 'month', 'day', 'hour', 'minutes', 'seconds'].map((part) => [part, text('Digits')])),
  ),
  Event: object(
    {
      ...postProperties,
      ...globalProperties,
      rest_url: address('The event in this interface'),
      title: text('HTML'),
      description: text('HTML'),
      excerpt: text('HTML'),
      slug: text(),
      image: { oneOf: [{ type: 'boolean', enum: [false] }, schemaRef('Image')], description: 'false for none' },
      all_day: flag('Whether it lasts whole days'),
      start_date: moment('Start, in the time zone of the event'),
      start_date_details: schemaRef('DateDetails'),
      end_date: moment('End, in the time zone of the event'),
      end_date_details: schemaRef('DateDetails'),
      utc_start_date: moment('Start, UTC'),
      utc_start_date_details: schemaRef('DateDetails'),
      utc_end_date: moment('End, UTC'),
      utc_end_date_details: schemaRef('DateDetails'),
      timezone: text('As it was sent, or the zone of the site'),
      timezone_abbr: text('EST, CEST, UTC+2 ...'),
      cost: text('As it is shown'),
      cost_details: schemaRef('CostDetails'),
      website: text('Address of its website'),
      show_map: flag('Whether to show a map'),
      show_map_link: flag('Whether to show a link to a map'),
      hide_from_listings: flag('Whether lists leave it out'),
      sticky: flag('Whether it is sticky in the calendar'),
      featured: flag('Whether it is featured'),
      categories: listOf(schemaRef('Term'), 'Its categories'),
      tags: listOf(schemaRef('Term'), 'Its tags'),
      venue: {
        oneOf: [schemaRef('Venue'), { type: 'array', items: schemaRef('Venue') }],
        description: 'An empty list for none, the venue itself for one, a list for several',
      },
      organizer: listOf(schemaRef('Organizer'), 'Its organizers, in the order given'),
      custom_fields: { oneOf: [emptyList, { type: 'object' }], description: 'An empty list for none' },
      json_ld: jsonLd,
    },
    ['json_ld'],
  ),
  Venue: object(
    {
      ...postProperties,
      venue: linkedName('Name'),
      ...linkedTexts,
      ...Object.fromEntries(PLACE.map((part) => [part, text()])),
      show_map: flag('Whether its events show a map'),
      show_map_link: flag('Whether its events show a link to a map'),
      ...globalProperties,
      json_ld: jsonLd,
    },
    [...SOMETIMES, ...PLACE],
  ),
  Organizer: object(
    {
      ...postProperties,
      organizer: linkedName('Name'),
      ...linkedTexts,
      email: text(),
      ...globalProperties,
      json_ld: jsonLd,
    },
    SOMETIMES,
  ),
};

/** Every refusal (interface-behaviour 10). */
export const REFUSAL: Schema = {
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    data: { type: 'object', nullable: true, properties: { status: { type: 'integer' } } },
  },
};

/** A page of a list (interface-behaviour 2). */
export function listEnvelope(kind: Kind): Schema {
  const name = COLLECTIONS[kind];
  const link: Schema = { type: 'string', format: 'uri' };
  return {
    type: 'object',
    required: [name, 'rest_url', 'total', 'total_pages'],
    properties: {
      [name]: { type: 'array', items: schemaRef(SCHEMA_OF[kind]) },
      rest_url: link,
      next_rest_url: { ...link, description: 'Absent on the last page' },
      previous_rest_url: { ...link, description: 'Absent on the first page' },
      total: { type: 'integer' },
      total_pages: { type: 'integer' },
    },
  };
}
