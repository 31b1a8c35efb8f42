// Every query, path and body parameter of the interface, once, in the order in which the original declares them (interface-behaviour 0.1).

import type { PostKind, TermKind } from '../records.ts';
import * as kinds from './kinds.ts';
import { LIMITS, type Limit, type LimitName, type Limits } from './limits.ts';
import type { Lookups, ValueKind } from './value-kind.ts';

export interface Parameter {
  name: string;
  kind: ValueKind;
  /** Shown in the root description and in `/doc`. */
  about: string;
  required?: boolean;
  /** As the root description shows it. `computed`: made for each answer (the page size, the default window). */
  default?: string | number | boolean | null | 'computed';
  /** The record's own name for the field, where it is another. */
  field?: string;
  /** Its value is a part of the path; what a body or query says under the same name is another parameter. */
  inPath?: boolean;
  /** How long its value may be. */
  limit: Limit;
  /** The parameters of the records that its value may describe. */
  records?: () => Parameter[];
}

type More = Partial<Omit<Parameter, 'limit'>>;

/** A parameter with the limit that stands under its own name. */
const parameter = (name: LimitName, kind: ValueKind, about: string, more: More = {}): Parameter =>
  limited(name, name, kind, about, more);

/** A parameter with the limit that stands under another name. */
const limited = (limit: LimitName, name: string, kind: ValueKind, about: string, more: More = {}): Parameter => ({
  name,
  kind,
  about,
  limit: LIMITS[limit],
  ...more,
});

/** The limits of these parameters by name. A path's parameter and one of the same name have the same. */
export const limitsOf = (parameters: readonly Parameter[]): Limits =>
  new Map(
    parameters.map(({ name, limit, records }) => [name, { limit, fields: records && limitsOf(records()) }] as const),
  );

const paging = (what: string): Parameter[] => [
  parameter('page', kinds.count, `The page of the list of ${what}`, { default: 1 }),
  parameter('per_page', kinds.count, `How many ${what} a page holds`, { default: 'computed' }),
];

export const eventList: Parameter[] = [
  ...paging('events'),
  parameter('start_date', kinds.dateBound, 'Events that start on this date or later', { default: 'computed' }),
  parameter('end_date', kinds.dateBound, 'Events that end on this date or earlier', { default: 'computed' }),
  parameter('starts_before', kinds.dateBound, 'Events that start before this date'),
  parameter('starts_after', kinds.dateBound, 'Events that start after this date'),
  parameter('ends_before', kinds.dateBound, 'Events that end before this date'),
  parameter('ends_after', kinds.dateBound, 'Events that end after this date'),
  parameter('strict_dates', kinds.strictFlag, 'Whether dates apply to the second; otherwise to whole days', {
    default: 'false',
  }),
  parameter('search', kinds.text, 'Text in title, excerpt or description'),
  limited(
    'filter by categories',
    'categories',
    kinds.terms('category'),
    'Events in any of these categories, by id or slug',
  ),
  limited('filter by tags', 'tags', kinds.terms('tag'), 'Events with any of these tags, by id or slug'),
  limited('filter by venue', 'venue', kinds.ids('venue'), 'Events at any of these venues, by id'),
  limited('filter by organizer', 'organizer', kinds.ids('organizer'), 'Events of any of these organizers, by id'),
  parameter('featured', kinds.flag, 'Only featured events, or only the others'),
  parameter('status', kinds.listedStatus, 'Events in these statuses'),
  parameter('geoloc', kinds.flag, 'No effect: belongs to an extension of the original'),
  parameter('geoloc_lat', kinds.coordinate, 'No effect: belongs to an extension of the original'),
  parameter('geoloc_lng', kinds.coordinate, 'No effect: belongs to an extension of the original'),
  parameter('include', kinds.anyIds, 'Only these events, by id; dates are not looked at'),
  parameter('post_parent', kinds.id('event'), 'Events below this event'),
  parameter('ticketed', kinds.tickets, 'Events with tickets: belongs to an extension of the original'),
];

const published: Parameter[] = [
  parameter('author', kinds.author, 'User id of the author'),
  parameter('date', kinds.publicationDate, 'Publication date, site time'),
  parameter('date_utc', kinds.publicationDate, 'Publication date, UTC', { field: 'dateUtc' }),
];

/** `interface.md` 2 says which fields have the default null. It has no effect, but the root description shows it. */
const NONE = { default: null };
const textsDefaultToNone = (parameters: Parameter[]): Parameter[] =>
  parameters.map((one) => (one.kind.schema.type === 'string' && !one.required ? { ...one, ...NONE } : one));

/**
 * Whether an object in an event's `venue` or `organizer` is something its create route would take. A venue's blank name passes here and
 * fails when it is created, an organizer's does not (interface-behaviour 5.6, 10).
 */
const createsFrom =
  (fields: () => Parameter[], blankName: boolean) => async (data: Record<string, unknown>, lookups: Lookups) => {
    for (const { name, kind, required } of fields()) {
      const value = data[name];
      if (value === undefined || value === null) {
        if (required) return false;
        continue;
      }
      if (required && blankName && value === '') continue;
      if (kind.accepts && !kind.accepts(value)) return false;
      if (kind.found && (await kind.found(value, lookups)) !== true) return false;
    }
    return true;
  };

export const eventFields: Parameter[] = [
  ...published,
  parameter('title', kinds.text, 'Title', { required: true }),
  parameter('description', kinds.text, 'Description, HTML'),
  parameter('slug', kinds.text, 'Slug'),
  parameter('excerpt', kinds.text, 'Excerpt, HTML'),
  parameter('status', kinds.status, 'Status'),
  parameter('timezone', kinds.zone, 'Time zone: a name of the time-zone database, or an offset such as UTC+2'),
  parameter('all_day', kinds.flag, 'Whether it lasts whole days', { default: false, field: 'allDay' }),
  parameter('start_date', kinds.eventDate, 'When it starts', { required: true, field: 'start' }),
  parameter('end_date', kinds.eventDate, 'When it ends', { required: true, field: 'end' }),
  parameter('image', kinds.image, 'Id or URL of the featured image'),
  parameter('cost', kinds.anything, 'Cost'),
  parameter('website', kinds.website, 'Address of its website', NONE),
  parameter('show_map', kinds.flag, 'Whether to show a map', { field: 'showMap' }),
  parameter('show_map_link', kinds.flag, 'Whether to show a link to a map', { field: 'showMapLink' }),
  parameter('hide_from_listings', kinds.flag, 'Whether lists leave it out', { field: 'hidden' }),
  parameter('sticky', kinds.flag, 'Whether it is sticky in the calendar'),
  parameter('featured', kinds.flag, 'Whether it is featured'),
  parameter('categories', kinds.attachedTerms, 'Categories: ids, slugs or names; new names are created', NONE),
  parameter('tags', kinds.attachedTerms, 'Tags: ids, slugs or names; new names are created', NONE),
  parameter(
    'venue',
    kinds.linked(
      'venue',
      createsFrom(() => venueFields, true),
    ),
    'Venues: ids or data',
    { ...NONE, field: 'venues', records: () => venueFields },
  ),
  parameter(
    'organizer',
    kinds.linked(
      'organizer',
      createsFrom(() => organizerFields, false),
    ),
    'Organizers: ids or data',
    { ...NONE, field: 'organizers', records: () => organizerFields },
  ),
];

export const venueFields: Parameter[] = textsDefaultToNone([
  ...published,
  limited('name of a venue', 'venue', kinds.text, 'Name', { required: true, field: 'title' }),
  parameter('description', kinds.blankableText, 'Description, HTML'),
  parameter('status', kinds.status, 'Status'),
  parameter('show_map', kinds.textFlag, 'Whether its events show a map', { field: 'showMap' }),
  parameter('show_map_link', kinds.textFlag, 'Whether its events show a link to a map', { field: 'showMapLink' }),
  parameter('address', kinds.blankableText, 'Street and number'),
  parameter('city', kinds.blankableText, 'City'),
  parameter('country', kinds.blankableText, 'Country'),
  parameter('province', kinds.blankableText, 'Province'),
  parameter('state', kinds.blankableText, 'State'),
  parameter('zip', kinds.blankableText, 'Postal code'),
  parameter('phone', kinds.blankableText, 'Phone number'),
  parameter('stateprovince', kinds.blankableText, 'State or province; found from the two when not sent'),
  parameter('website', kinds.linkedWebsite, 'Address of its website'),
  parameter('image', kinds.clearableImage, 'Id or URL of the featured image'),
]);

export const organizerFields: Parameter[] = textsDefaultToNone([
  ...published,
  limited('name of an organizer', 'organizer', kinds.text, 'Name', { required: true, field: 'title' }),
  parameter('description', kinds.blankableText, 'Description, HTML'),
  parameter('status', kinds.status, 'Status'),
  parameter('phone', kinds.blankableText, 'Phone number'),
  parameter('website', kinds.linkedWebsite, 'Address of its website'),
  parameter('email', kinds.blankableText, 'E-mail address'),
  parameter('image', kinds.clearableImage, 'Id or URL of the featured image'),
]);

/** Of the lists of venues and organizers (interface-behaviour 3.5); `what`: their plural, for the descriptions. */
export const linkedList = (what: string): Parameter[] => [
  ...paging(what),
  parameter('search', kinds.text, 'Text in name, description and other fields'),
  parameter('event', kinds.id('event'), `The ${what} of this event, by id`),
  parameter('has_events', kinds.looseFlag, `Only ${what} with events, or only those without`),
  parameter('only_with_upcoming', kinds.looseFlag, `Only ${what} with upcoming events`, { default: false }),
  parameter('status', kinds.listedStatus, `${what} in these statuses`),
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

/** Of the lists of categories and tags (interface-behaviour 3.6); `what`: their plural, for the descriptions. */
export const termList = (kind: TermKind, what: string): Parameter[] => [
  ...paging(what),
  parameter('search', kinds.text, 'Text in name or slug'),
  parameter('exclude', kinds.terms(kind), `Without these ${what}, by id or slug`),
  parameter('include', kinds.terms(kind), `Only these ${what}, by id or slug`),
  parameter('order', kinds.oneOf(['asc', 'desc']), 'Ascending or descending'),
  parameter('orderby', kinds.oneOf(TERM_ORDERS), 'What to sort by'),
  parameter('hide_empty', kinds.flag, `Whether to leave out ${what} without events`, { default: '1' }),
  ...(kind === 'category' ? [parameter('parent', kinds.parentFilter, 'Children of this category, by id')] : []),
  parameter('post', kinds.id('event'), `The ${what} of this event, by id`),
  parameter('event', kinds.id('event'), 'The same as post'),
  parameter('slug', kinds.text, 'The one with this slug'),
];

const PARENT = { create: kinds.parentTerm, update: kinds.movedTo };

/** What is written of a term (interface-behaviour 5.8). An update can move a category back to the top, which a create need not. */
export const termFields = (kind: TermKind, operation: keyof typeof PARENT): Parameter[] => [
  parameter('name', kinds.text, 'Name', { required: true }),
  parameter('description', kinds.text, 'Description, HTML'),
  parameter('slug', kinds.text, 'Slug'),
  ...(kind === 'category' ? [parameter('parent', PARENT[operation], 'Id of the parent category')] : []),
];

/** In the path of an event's own route; which id exists is the handler's to say (404, not 400). */
export const eventId = parameter('id', { schema: { type: 'integer' }, read: kinds.pathId }, 'Id of the event', {
  required: true,
  inPath: true,
});
/** In the path of all records but events: an unknown id is a refused parameter (400). */
export const recordId = (kind: PostKind | TermKind): Parameter =>
  parameter('id', { ...kinds.id(kind), read: kinds.pathId }, `Id of the ${kind}`, { required: true, inPath: true });
/** In the path; an unknown slug is a refused parameter (400). */
export const recordSlug = (kind: PostKind): Parameter =>
  parameter('slug', kinds.slug(kind), `Slug of the ${kind}`, { required: true, inPath: true });
/** An update of an event by an unknown slug is a 404 of its handler. */
export const eventSlugToUpdate = parameter('slug', kinds.text, 'Slug of the event', { inPath: true });
export const password = parameter('password', kinds.text, 'Password of a protected event');

/** What a create route requires, an update route takes or leaves. */
export const optional = (parameters: Parameter[]): Parameter[] =>
  parameters.map((one) => ({ ...one, required: false }));

export const describe: Parameter[] = [
  parameter('namespace', kinds.anything, 'The namespace to describe', { default: 'calendar/events/v1' }),
  parameter('context', kinds.anything, 'No effect', { default: 'view' }),
];
