// The schemas of the responses: records, lists and errors.

import { KINDS, type Kind, type LinkedKind, PLURALS } from '../model/records.ts';
import { copiedFields, type Field } from './fields.ts';
import type { Schema } from './parameter.ts';

const textSchema = (description?: string): Schema => ({ type: 'string', ...(description && { description }) });
const integerSchema = (description?: string): Schema => ({ ...textSchema(description), type: 'integer' });
const urlSchema = (description?: string): Schema => ({ ...textSchema(description), format: 'uri' });
const dateTimeSchema = (description: string): Schema => ({
  ...textSchema(`${description}, as YYYY-MM-DD HH:MM:SS`),
  pattern: '^(\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2})?$',
});
/** `null` only in a protected event, venue or organizer. */
const flagSchema = (description: string): Schema => ({ type: 'boolean', nullable: true, description });
const listSchema = (items: Schema, description: string): Schema => ({ type: 'array', items, description });
const emptyListSchema: Schema = { type: 'array', maxItems: 0, items: {} };

function objectSchema(properties: Record<string, Schema>, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required };
}

export const schemaRef = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

const postProperties = {
  id: integerSchema(),
  author: textSchema('User id of the author'),
  status: textSchema('publish, draft, pending, private, future or trash'),
  date: dateTimeSchema('Publication date, site time'),
  date_utc: dateTimeSchema('Publication date, UTC; all zeros when never published'),
  modified: dateTimeSchema('Last change, site time'),
  modified_utc: dateTimeSchema('Last change, UTC'),
  url: urlSchema('Page of the record on the site'),
  global_id: textSchema('Host of the site and id'),
  global_id_lineage: listSchema(textSchema(), 'Global ids that it had or has'),
  description: textSchema('HTML'),
  excerpt: textSchema('HTML'),
  slug: textSchema(),
  json_ld: { type: 'object', description: 'The same for search engines (schema.org); only in a single read' },
};

function propertyOf({ type, words, parameter }: Field): Schema {
  const { description } = parameter!;
  if (type === 'boolean') return flagSchema(description);
  if (type === 'number') return { type: 'number', format: 'double', description };
  return { ...textSchema(description), ...(words && { enum: words }) };
}

const copiedProperties = (kind: Kind): Record<string, Schema> =>
  Object.fromEntries(copiedFields(kind).map(([name, field]) => [name, propertyOf(field)]));

const customFields: Schema = {
  type: 'object',
  additionalProperties: objectSchema({
    label: textSchema('Name for people'),
    value: { oneOf: [textSchema(), { type: 'boolean' }] },
  }),
};

function linkedSchema(kind: LinkedKind): Schema {
  const textsAndNumbers = copiedFields(kind).flatMap(([name, { type }]) => (type === 'boolean' ? [] : [name]));
  return objectSchema(
    {
      ...postProperties,
      [kind]: {
        oneOf: [textSchema(), emptyListSchema],
        description: 'Name, HTML; an empty list when it asks for a password',
      },
      image: schemaRef('Image'),
      ...copiedProperties(kind),
      custom_fields: { ...customFields, description: 'By name; absent without any' },
    },
    // The serializer leaves out properties that are empty, but for flags.
    ['description', 'excerpt', 'slug', 'image', ...textsAndNumbers, 'custom_fields', 'json_ld'],
  );
}

/** Responses leave these properties out if the CMS has no value. */
const additions = (kind: Kind): string[] =>
  copiedFields(kind).flatMap(([name, field]) => (field.parameter?.addition ? [name] : []));

export const RECORD_SCHEMAS = {
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
        ...copiedProperties('category'),
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
      ['parent', 'url', 'meta', 'term_group', 'term_taxonomy_id', 'filter', '_links', ...additions('category')],
    ),
    description: 'A category or tag; its name is HTML. Inside an event it has no url, meta and _links',
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
      original_image: textSchema('Name of the uploaded file, if this one is a smaller copy of it'),
    },
    ['sizes', 'original_image'],
  ),
  DateDetails: objectSchema(
    Object.fromEntries(
      ['year', 'month', 'day', 'hour', 'minutes', 'seconds'].map((part) => [part, textSchema('Digits')]),
    ),
  ),
  Event: objectSchema(
    {
      ...postProperties,
      rest_url: urlSchema('The event in this API'),
      title: textSchema('HTML'),
      image: { oneOf: [{ type: 'boolean', enum: [false] }, schemaRef('Image')], description: 'false for none' },
      all_day: flagSchema('Whether it lasts whole days'),
      start_date: dateTimeSchema('Start, in the time zone of the event, or blank'),
      start_date_details: schemaRef('DateDetails'),
      end_date: dateTimeSchema('End, in the time zone of the event, or blank'),
      end_date_details: schemaRef('DateDetails'),
      utc_start_date: dateTimeSchema('Start, UTC, or blank'),
      utc_start_date_details: schemaRef('DateDetails'),
      utc_end_date: dateTimeSchema('End, UTC, or blank'),
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
      source: textSchema('The source that it comes from; absent for an event of the CMS'),
      also_at: listSchema(
        objectSchema({ source: textSchema('Name of the source'), url: textSchema('Its page there, or nothing') }),
        'Other sources that have the same event; absent without any',
      ),
    },
    ['json_ld', ...additions('event'), 'source', 'also_at'],
  ),
  Venue: linkedSchema('venue'),
  Organizer: linkedSchema('organizer'),
} satisfies Record<string, Schema>;

export type SchemaName = keyof typeof RECORD_SCHEMAS;

export const SCHEMA_NAMES: Record<Kind, SchemaName> = {
  event: 'Event',
  venue: 'Venue',
  organizer: 'Organizer',
  category: 'Term',
  tag: 'Term',
};

const textsByName = (description: string): Schema => ({
  type: 'object',
  description,
  additionalProperties: textSchema(),
});

export const ERROR_SCHEMA: Schema = objectSchema(
  {
    code: textSchema(),
    message: textSchema(),
    data: {
      type: 'object',
      nullable: true,
      properties: {
        status: integerSchema(),
        params: {
          oneOf: [textsByName('What is wrong, by parameter'), listSchema(textSchema(), 'Missing parameters')],
        },
        hints: textsByName('What to write instead, by parameter'),
      },
    },
  },
  ['data'],
);

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

export function listEnvelope(kind: Kind): Schema {
  return objectSchema(
    {
      [PLURALS[kind]]: { type: 'array', items: schemaRef(SCHEMA_NAMES[kind]) },
      rest_url: urlSchema(),
      next_rest_url: urlSchema('Absent on the last page'),
      previous_rest_url: urlSchema('Absent on the first page'),
      total: integerSchema(),
      total_pages: integerSchema(),
    },
    ['next_rest_url', 'previous_rest_url'],
  );
}
