// The field table: every field of each kind, with its type, its parameter in creates and updates, and its response
// property. Parameters, response schemas, mappings, the serializer and the writers derive their fields from it.

import { ATTENDANCE_MODES, EVENT_STATUSES } from '../model/event-state.ts';
import { isPostKind, type Kind, type LinkedKind, NO_TIME, type PostKind, type TermKind } from '../model/records.ts';
import { type Parameter, type ParameterOptions, type ParamType, parameter } from './parameter.ts';
import { type Limit, SIZES } from './value-lengths.ts';
import * as types from './value-types.ts';

export type FieldType =
  | 'text'
  | 'html'
  /** One of `words`, or `''`. */
  | 'word'
  | 'boolean'
  /** Of one record, such as the image; 0 if there is none. */
  | 'id'
  /** A latitude or longitude; null if the record lacks it. The codec `coordinate` fits it, the codec `number` not. */
  | 'number'
  | 'ids'
  /** The event's own wall time. */
  | 'wall-time'
  | 'site-time'
  | 'utc-time'
  | 'zone';

export interface Field {
  /** Property of the record (model/records.ts). */
  property: string;
  type: FieldType;
  /** Value if the CMS stores none. */
  empty: string | number | boolean | readonly number[] | null;
  words?: readonly string[];
  /** A mapping must have the field. */
  required?: true;
  /** The CMS determines the value: it is never written. */
  derived?: true;
  searched?: true;
  /** The kind of the records that the ids refer to. */
  targetKind?: Exclude<Kind, 'event'>;
  /** The field's parameter in creates and updates. Absent: clients cannot set the field. */
  parameter?: Omit<Parameter, 'name' | 'property'>;
  /** The response property is the record's value, which the serializer copies. */
  copied?: true;
}

type FieldOptions = Partial<Omit<Field, 'property' | 'type' | 'empty'>>;
type FieldTable = Readonly<Record<string, Field>>;

// Parts of rows. `settable` gives a row its parameter. `plain` does too, and responses copy the value. For a new field
// that the original lacks take `addedText` or `addedWord`. Examples of parts, and the rows that they make:
//
//   cost: text('cost', settable(types.anyValue, SIZES.cost, 'Cost'))
//     { property: 'cost', type: 'text', empty: '', parameter: { type: types.anyValue, limit: SIZES.cost, ... } }
//   city: linkedText('city', 'City', SEARCHED)
//     { property: 'city', type: 'text', empty: '', searched: true, copied: true,
//       parameter: { type: types.clearableText, limit: SIZES.line, description: 'City', shownDefault: null } }
//   event_status: addedWord('eventStatus', EVENT_STATUSES, 'Status')
//     { property: 'eventStatus', type: 'word', words: EVENT_STATUSES, empty: '', copied: true,
//       parameter: { type: types.clearableWord(EVENT_STATUSES), limit: SIZES.flag, ..., addition: true } }

const settable = (
  type: ParamType,
  limit: Limit,
  description: string,
  options: ParameterOptions = {},
): Pick<Field, 'parameter'> => ({ parameter: { type, limit, description, ...options } });

const plain = (...settings: Parameters<typeof settable>): FieldOptions => ({ ...settable(...settings), copied: true });

const fieldOf =
  (type: FieldType, empty: Field['empty']) =>
  (property: string, options: FieldOptions = {}): Field => ({ property, type, empty, ...options });

const text = fieldOf('text', '');
const html = fieldOf('html', '');
const id = fieldOf('id', 0);
const boolean = (property: string, empty: boolean, options: FieldOptions): Field =>
  fieldOf('boolean', empty)(property, options);
const links = (property: string, targetKind: Exclude<Kind, 'event'>, options: FieldOptions): Field =>
  fieldOf('ids', [])(property, { targetKind, ...options });
const date = (property: string, type: 'site-time' | 'utc-time', options: FieldOptions): Field =>
  fieldOf(type, NO_TIME)(property, options);
/** A coordinate of a venue. The original shows it, but lacks a parameter to write it. */
const coordinate = (property: string, type: ParamType, name: string): Field =>
  fieldOf('number', null)(property, plain(type, SIZES.number, `${name} in degrees (WGS 84)`, { addition: true }));

/** The default that the namespace index shows for optional values. It has no effect. */
const DEFAULT_NULL = { shownDefault: null };

/**
 * The fields that events, venues and organizers share. As in the original, the index shows the default null of a
 * description or image for venues and organizers (`nullIfLinked`), of the others for organizers (`nullIfOrganizer`).
 */
const postFields = (kind: PostKind): FieldTable => {
  const isEvent = kind === 'event';
  const nullIfLinked = isEvent ? {} : DEFAULT_NULL;
  const nullIfOrganizer = kind === 'organizer' ? DEFAULT_NULL : {};
  const textType = isEvent ? types.text : types.clearableText;
  const imageType = isEvent ? types.image : types.clearableImage;
  const title = settable(types.text, SIZES.text, isEvent ? 'Title' : 'Name', { required: true, ...nullIfOrganizer });
  return {
    [isEvent ? 'title' : kind]: html('title', title),
    slug: text('slug', isEvent ? settable(types.text, SIZES.slug, 'Slug') : {}),
    description: html('description', settable(textType, SIZES.longText, 'Description, HTML', nullIfLinked)),
    excerpt: html('excerpt', isEvent ? settable(types.text, SIZES.text, 'Excerpt, HTML') : {}),
    status: fieldOf('text', 'publish')('status', settable(types.status, SIZES.status, 'Status', nullIfOrganizer)),
    author: id('author', settable(types.author, SIZES.number, 'User id of the author', nullIfOrganizer)),
    date: date('date', 'site-time', settable(types.date, SIZES.date, 'Publication date, site time', nullIfOrganizer)),
    date_utc: date('dateUtc', 'utc-time', settable(types.date, SIZES.date, 'Publication date, UTC', nullIfOrganizer)),
    modified: date('modified', 'site-time', { derived: true }),
    modified_utc: date('modifiedUtc', 'utc-time', { derived: true }),
    url: text('url', { derived: true }),
    protected: boolean('protected', false, { derived: true }),
    image: id('image', settable(imageType, SIZES.url, 'Id or URL of the featured image', nullIfLinked)),
  };
};

const eventFlag = (property: string, description: string): Field =>
  boolean(property, false, plain(types.flag, SIZES.flag, description));

/** An addition, of any kind of posts: `''` is left out of responses. An occurrence may have its own value. */
const addedText = (property: string, type: ParamType, limit: Limit, description: string): Field =>
  text(property, plain(type, limit, description, { addition: true }));

const addedWord = (property: string, words: readonly string[], description: string): Field => ({
  ...addedText(property, types.clearableWord(words), SIZES.flag, description),
  type: 'word',
  words,
});

const linkedText = (property: string, description: string, options: FieldOptions = {}): Field =>
  text(property, { ...plain(types.clearableText, SIZES.line, description, DEFAULT_NULL), ...options });

const LINKED_WEBSITE = plain(types.linkedWebsite, SIZES.url, 'Address of its website', DEFAULT_NULL);

const venueFlag = (property: string, description: string): Field =>
  boolean(property, true, plain(types.textFlag, SIZES.flag, description, DEFAULT_NULL));

const SEARCHED = { searched: true } as const;

const VENUE: FieldTable = {
  ...postFields('venue'),
  address: linkedText('address', 'Street and number', SEARCHED),
  city: linkedText('city', 'City', SEARCHED),
  country: linkedText('country', 'Country'),
  province: linkedText('province', 'Province', SEARCHED),
  state: linkedText('state', 'State', SEARCHED),
  stateprovince: linkedText('stateprovince', 'State or province; found from the two when not sent', SEARCHED),
  zip: linkedText('zip', 'Postal code', SEARCHED),
  phone: linkedText('phone', 'Phone number', SEARCHED),
  website: text('website', LINKED_WEBSITE),
  geo_lat: coordinate('latitude', types.clearableLatitude, 'Latitude'),
  geo_lng: coordinate('longitude', types.clearableLongitude, 'Longitude'),
  show_map: venueFlag('showMap', 'Whether its events show a map'),
  show_map_link: venueFlag('showMapLink', 'Whether its events show a link to a map'),
};

const ORGANIZER: FieldTable = {
  ...postFields('organizer'),
  phone: linkedText('phone', 'Phone number', SEARCHED),
  email: linkedText('email', 'E-mail address', SEARCHED),
  website: text('website', { ...LINKED_WEBSITE, ...SEARCHED }),
};

const termFields = (kind: TermKind): FieldTable => ({
  name: text('name', plain(types.text, SIZES.line, 'Name', { required: true })),
  slug: text('slug', plain(types.text, SIZES.slug, 'Slug')),
  description: text('description', plain(types.text, SIZES.longText, 'Description, HTML')),
  url: text('url', { derived: true }),
  ...(kind === 'category' && {
    parent: id('parent', settable(types.parentTerm, SIZES.line, 'Id of the parent category')),
  }),
});

/** Errors list parameters in the order in which The Events Calendar declares them. All others follow in table order. */
const PARAMETER_ORDER: Readonly<Record<Kind, string>> = {
  event: 'author date date_utc title description slug excerpt status timezone all_day start_date end_date image',
  venue:
    'author date date_utc venue description status show_map show_map_link ' +
    'address city country province state zip phone stateprovince website image',
  organizer: 'author date date_utc organizer description status phone website email image',
  category: 'name description slug parent',
  tag: 'name description slug',
};

/** The names and values depend on the mapping. */
const customFields = parameter(
  'custom_fields',
  types.valuesByName,
  SIZES.customFields,
  'Custom fields: values by name; the others stay as they are',
  { addition: true, property: 'customFields' },
);

function parametersOf(kind: Kind, table: FieldTable): readonly Parameter[] {
  const order = [...PARAMETER_ORDER[kind].split(' '), ...Object.keys(table)];
  const ordered = Object.entries(table).toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  const parameters = ordered.flatMap(([name, field]) =>
    field.parameter ? [{ ...field.parameter, name, property: field.property }] : [],
  );
  return isPostKind(kind) ? [...parameters, customFields] : parameters;
}

const LINKED_PARAMETERS = { venue: parametersOf('venue', VENUE), organizer: parametersOf('organizer', ORGANIZER) };

const inlineRecords = (kind: LinkedKind, description: string): FieldOptions =>
  settable(types.linkedRecords(kind, LINKED_PARAMETERS[kind]), SIZES.inlineRecords, description, DEFAULT_NULL);

const wallTime = (property: string, description: string): Field =>
  fieldOf('wall-time', '')(property, {
    required: true,
    ...settable(types.date, SIZES.date, description, { required: true }),
  });

const attachedTerms = (property: 'categories' | 'tags', kind: TermKind, plural: string): Field => {
  const description = `${plural}: ids, slugs or names; new names are created`;
  return links(property, kind, settable(types.termsToAttach, SIZES.newTerms, description, DEFAULT_NULL));
};

const EVENT: FieldTable = {
  ...postFields('event'),
  all_day: boolean(
    'allDay',
    false,
    settable(types.flag, SIZES.flag, 'Whether it lasts whole days', { shownDefault: false }),
  ),
  start_date: wallTime('start', 'When it starts'),
  end_date: wallTime('end', 'When it ends'),
  timezone: fieldOf('zone', '')(
    'timezone',
    settable(types.timeZone, SIZES.timeZone, 'Time zone: a name of the time-zone database, or an offset such as UTC+2'),
  ),
  cost: text('cost', settable(types.anyValue, SIZES.cost, 'Cost')),
  website: text('website', settable(types.website, SIZES.url, 'Address of its website', DEFAULT_NULL)),
  show_map: eventFlag('showMap', 'Whether to show a map'),
  show_map_link: eventFlag('showMapLink', 'Whether to show a link to a map'),
  hide_from_listings: eventFlag('hidden', 'Whether lists leave it out'),
  sticky: eventFlag('sticky', 'Whether it is sticky in the calendar'),
  featured: eventFlag('featured', 'Whether it is featured'),
  post_parent: id('parent'),
  event_status: addedWord('eventStatus', EVENT_STATUSES, 'Whether it takes place'),
  event_status_reason: addedText(
    'eventStatusReason',
    types.clearableText,
    SIZES.text,
    'Why it is cancelled, postponed or moved online',
  ),
  attendance_mode: addedWord('attendanceMode', ATTENDANCE_MODES, 'Whether people attend at the venue, online or both'),
  online_url: addedText('onlineUrl', types.linkedWebsite, SIZES.url, 'Where people attend online'),
  categories: attachedTerms('categories', 'category', 'Categories'),
  tags: attachedTerms('tags', 'tag', 'Tags'),
  venue: links('venues', 'venue', inlineRecords('venue', 'Venues: ids or data')),
  organizer: links('organizers', 'organizer', inlineRecords('organizer', 'Organizers: ids or data')),
};

export const FIELDS: Readonly<Record<Kind, FieldTable>> = {
  event: EVENT,
  venue: VENUE,
  organizer: ORGANIZER,
  category: termFields('category'),
  tag: termFields('tag'),
};

export function emptyRecord(kind: Kind, id: number): Record<string, unknown> {
  const record: Record<string, unknown> = { kind, id };
  for (const { property, empty } of Object.values(FIELDS[kind])) record[property] = Array.isArray(empty) ? [] : empty;
  return record;
}

export const BODY_PARAMETERS: Readonly<Record<Kind, readonly Parameter[]>> = {
  event: parametersOf('event', EVENT),
  ...LINKED_PARAMETERS,
  category: parametersOf('category', FIELDS.category),
  tag: parametersOf('tag', FIELDS.tag),
};

/** The parameters of updates: none is required, and a category can move to the top level. */
export const updateParameters = (kind: Kind): readonly Parameter[] =>
  BODY_PARAMETERS[kind].map((declared) => ({
    ...declared,
    required: false,
    ...(declared.type === types.parentTerm && { type: types.newParentTerm }),
  }));

/** The fields that the serializer copies as they are. Writers do too, but for booleans and texts to clean. */
export const copiedFields = (kind: Kind): [name: string, field: Field][] =>
  Object.entries(FIELDS[kind]).filter(([, field]) => field.copied);
