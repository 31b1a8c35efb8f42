// The parameters of lists and paths, in the order in which The Events Calendar declares them. Those of bodies are in
// fields.ts. `types.flag` and its three siblings: the table at `flag` (value-types.ts).

import { EVENT_STATUSES } from '../model/event-state.ts';
import type { Kind, LinkedKind, PostKind, TermKind } from '../model/records.ts';
import { type Parameter, type ParameterOptions, parameter } from './parameter.ts';
import { RECORD_SCHEMAS, SCHEMA_NAMES } from './response-schemas.ts';
import { SIZES } from './value-lengths.ts';
import * as types from './value-types.ts';

const paging = (plural: string): Parameter[] => [
  parameter('page', { ...types.count, jsonType: 'integer' }, SIZES.number, `The page of the list of ${plural}`, {
    shownDefault: 1,
  }),
  parameter('per_page', types.count, SIZES.number, `How many ${plural} a page holds`, { shownDefault: 'computed' }),
];

const modifiedAfter = (plural: string, condition = 'that changed after this time'): Parameter =>
  parameter('modified_after', types.instant, SIZES.date, `Only ${plural} ${condition}, in UTC unless it names a zone`, {
    addition: true,
  });

const customFields = (plural: string): Parameter =>
  parameter(
    'custom_fields',
    types.textsByName,
    SIZES.customFilters,
    `Only ${plural} whose custom fields have these values, for the fields by which the mapping lets lists filter`,
    { addition: true },
  );

/** `json_ld` is in single reads only. */
function fields(kind: Kind): Parameter {
  const names = Object.keys(RECORD_SCHEMAS[SCHEMA_NAMES[kind]].properties!).filter((name) => name !== 'json_ld');
  const description = 'Only these properties of each record, even where the schema requires others';
  return parameter('fields', types.someOf(names), SIZES.line, description, { addition: true });
}

export const EVENT_ORDERS = ['start_date', 'modified', 'title'] as const;

const bound = (name: string, description: string, options: ParameterOptions = {}): Parameter =>
  parameter(name, types.dateBound, SIZES.date, description, options);

/** Which events a list holds, and which an iCalendar file (`events.ics?venue=5`) or an Atom feed. */
export const eventListParameters: Parameter[] = [
  ...paging('events'),
  bound('start_date', 'Events that start on this date or later', { shownDefault: 'computed' }),
  bound('end_date', 'Events that end on this date or earlier', { shownDefault: 'computed' }),
  bound('starts_before', 'Events that start before this date'),
  bound('starts_after', 'Events that start after this date'),
  bound('ends_before', 'Events that end before this date'),
  bound('ends_after', 'Events that end after this date'),
  parameter(
    'strict_dates',
    types.nonBlankFlag,
    SIZES.flag,
    'Whether dates apply to the second; otherwise to whole days',
    { shownDefault: 'false' },
  ),
  parameter('search', types.text, SIZES.search, 'Text in title, excerpt or description'),
  parameter(
    'categories',
    types.existingTerms('category'),
    SIZES.terms,
    'Events in any of these categories, by id or slug',
  ),
  parameter('tags', types.existingTerms('tag'), SIZES.terms, 'Events with any of these tags, by id or slug'),
  parameter('venue', types.existingIds('venue'), SIZES.ids, 'Events at any of these venues, by id'),
  parameter('organizer', types.existingIds('organizer'), SIZES.ids, 'Events of any of these organizers, by id'),
  parameter('featured', types.flag, SIZES.flag, 'Only featured events, or only the others'),
  parameter('status', types.listedStatus, SIZES.status, 'Events in these statuses'),
  parameter('geoloc', types.flag, SIZES.flag, 'Only events at venues with coordinates, or only the others'),
  parameter('geoloc_lat', types.latitude, SIZES.number, 'Events near this latitude; with geoloc_lng'),
  parameter('geoloc_lng', types.longitude, SIZES.number, 'Events near this longitude; with geoloc_lat'),
  parameter(
    'geoloc_distance',
    types.distanceKm,
    SIZES.number,
    'How far the venue may be from geoloc_lat and geoloc_lng, in kilometres; 25 if it is not sent',
    { addition: true },
  ),
  parameter('include', types.uncheckedIds, SIZES.terms, 'Only these events, by id; dates are not looked at'),
  parameter('post_parent', types.existingId('event'), SIZES.number, 'Events below this event'),
  // No list filters by it: `true` is an error, as in the original without the extension, and `false` has no effect.
  parameter('ticketed', types.tickets, SIZES.flag, 'Events with tickets: belongs to an extension of the original'),
  parameter('order', types.knownWord(['asc', 'desc']), SIZES.flag, 'Ascending or descending', { addition: true }),
  parameter('orderby', types.knownWord(EVENT_ORDERS), SIZES.flag, 'What to sort by', { addition: true }),
  parameter('event_status', types.someOf(EVENT_STATUSES), SIZES.status, 'Events of which the CMS says one of these', {
    addition: true,
  }),
  parameter('source', types.sourceNames, SIZES.status, 'Events that any of these sources has', { addition: true }),
  modifiedAfter('events'),
  customFields('events'),
];

const linkedList = (kind: LinkedKind, plural: string): Parameter[] => [
  ...paging(plural),
  parameter('search', types.text, SIZES.search, 'Text in name, description and other fields'),
  parameter('event', types.existingId('event'), SIZES.number, `The ${plural} of this event, by id`),
  parameter('has_events', types.looseFlag, SIZES.flag, `Only ${plural} with events, or only those without`),
  parameter('only_with_upcoming', types.looseFlag, SIZES.flag, `Only ${plural} with upcoming events`, {
    shownDefault: false,
  }),
  parameter('status', types.listedStatus, SIZES.status, `Only ${plural} in these statuses`),
  modifiedAfter(plural),
  customFields(plural),
  fields(kind),
];

export const TERM_ORDERS = [
  'name',
  'id',
  'slug',
  'count',
  'description',
  'term_group',
  'include',
  'include_slugs',
  'parent',
  'none',
] as const;

export type TermOrder = (typeof TERM_ORDERS)[number];

const termList = (kind: TermKind, plural: string): Parameter[] => [
  ...paging(plural),
  parameter('search', types.text, SIZES.search, 'Text in name or slug'),
  parameter('exclude', types.existingTerms(kind), SIZES.terms, `Without these ${plural}, by id or slug`),
  parameter('include', types.existingTerms(kind), SIZES.terms, `Only these ${plural}, by id or slug`),
  parameter('order', { ...types.oneOf(['asc', 'desc']), jsonType: 'string' }, SIZES.flag, 'Ascending or descending'),
  parameter('orderby', { ...types.oneOf(TERM_ORDERS), jsonType: 'string' }, SIZES.flag, 'What to sort by'),
  parameter('hide_empty', types.flag, SIZES.flag, `Whether to leave out ${plural} without events`, {
    shownDefault: '1',
  }),
  ...(kind === 'category'
    ? [parameter('parent', types.parentFilter, SIZES.line, 'Children of this category, by id')]
    : []),
  parameter('post', types.existingId('event'), SIZES.number, `The ${plural} of this event, by id`),
  parameter('event', types.existingId('event'), SIZES.number, 'The same as post'),
  parameter('slug', types.text, SIZES.slug, 'The one with this slug'),
  modifiedAfter(plural, 'whose last change the gateway noticed at this time or later'),
  fields(kind),
];

export const LIST_PARAMETERS: Readonly<Record<Kind, Parameter[]>> = {
  event: [...eventListParameters, fields('event')],
  venue: linkedList('venue', 'venues'),
  organizer: linkedList('organizer', 'organizers'),
  category: termList('category', 'categories'),
  tag: termList('tag', 'tags'),
};

export const eventPassword = parameter('password', types.text, SIZES.password, 'Password of a protected event');

/**
 * The parameters that identify a record by id, in the path. The use case looks an event up, because an unknown one is a
 * 404; the unknown id of another record is an invalid parameter (400).
 */
export function idParameters(kind: Kind): Parameter[] {
  const type = kind === 'event' ? { schema: { type: 'integer' } } : types.existingId(kind);
  const options = { required: true, inPath: true };
  const id = parameter('id', { ...type, parse: types.parsePathId }, SIZES.line, `Id of the ${kind}`, options);
  return kind === 'event' ? [id, eventPassword] : [id];
}

/** In the path: an unknown slug is an invalid parameter (400). */
export const slugParameters = (kind: PostKind): Parameter[] => [
  parameter('slug', types.existingSlug(kind), SIZES.slug, `Slug of the ${kind}`, { required: true, inPath: true }),
];

/** In the path of an update of an event: an unknown slug is a 404 of the use case. */
export const eventSlugToUpdate = parameter('slug', types.text, SIZES.slug, 'Slug of the event', { inPath: true });

export const namespaceParameters: Parameter[] = [
  parameter('namespace', types.anyValue, SIZES.slug, 'The namespace to describe', { shownDefault: 'computed' }),
  parameter('context', types.anyValue, SIZES.slug, 'No effect', { shownDefault: 'view' }),
];

export const changesParameters: Parameter[] = [
  parameter('since', types.changeToken, SIZES.line, 'The token of an earlier response; without one, no changes'),
  parameter('limit', types.count, SIZES.number, 'How many changes at most, up to 1000', { shownDefault: 500 }),
];
