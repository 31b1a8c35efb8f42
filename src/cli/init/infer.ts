// Infers which field of a site is which of the API, from words in names and sample values. Leaves out what is not sure.

import { FIELDS, type Field } from '../../interface/fields.ts';
import { parseNumber } from '../../interface/value-types.ts';
import { isCoreField } from '../../mapping/cms-rules.ts';
import type { FieldSpec, KindSpec } from '../../mapping/mapping-file.ts';
import { isObject } from '../../model/json.ts';
import type { Kind } from '../../model/records.ts';
import { parseZone } from '../../time/zones.ts';
import type { ProbedSite, ProbedType, SiteField } from './site.ts';

export type FieldLocation = string | FieldSpec;

/** Usual words for fields and kinds of the API, besides their own names. Several words of one name: `whole+day`. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  venue: 'location place hall room',
  organizer: 'organiser host',
  category: 'categories genre topic',
  start_date: 'start begin from',
  end_date: 'end until to',
  utc: 'gmt',
  timezone: 'zone',
  all_day: 'whole+day full+day',
  cost: 'price fee',
  website: 'url link',
  address: 'street',
  city: 'town',
  zip: 'postcode',
  phone: 'tel',
  geo_lat: 'lat latitude',
  geo_lng: 'lng lon longitude',
};

/** `_EventStartDate` -> `event_start_date`; `acf.address.city` -> `address_city`. */
export function plainName(path: string): string {
  const name = path
    .replace(/^(meta|acf)\./, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase();
  return (name.match(/[\p{L}\d]+/gu) ?? []).join('_');
}

/** `starts`, `startdate`, `eventstart` and `eventstarts` are `start`. But `date` and `us` stay as they are. */
const stemOf = (word: string): string => word.replace(/(?<=..)(s|date|time)$/, '').replace(/^event/, '');

/**
 * How well a name fits a field, from 0 to 1: the share of the name that means the field. Of the field `cost`, or
 * `price`: `cost` 1, `ticket_price` 0.9 × 5 of 12 letters, `price_of_the_hall` 0.9 × 5 of 17, `hall` 0.
 */
export function likeness(path: string, field: string): number {
  const name = plainName(path);
  if (name === field) return 1;
  const words = name.split('_').flatMap((word) => [word, stemOf(word)]);
  const shares = [field, ...(OTHER_NAMES[field]?.split(' ') ?? [])].map((other) => {
    const wanted = other.split(/[_+]/);
    const length = wanted.join('').length;
    return wanted.every((each) => words.includes(each)) ? (0.9 * length) / Math.max(name.length, length) : 0;
  });
  return Math.max(...shares);
}

/** The field of an event that refers to each other kind. */
export const LINK_FIELDS = { venue: 'venue', organizer: 'organizer', category: 'categories', tag: 'tags' } as const;
export const LINKED_KINDS = ['venue', 'organizer', 'category', 'tag'] as const;

/** At most one of the site's fields for each field of the kind, and none of those that have another use already. */
export function inferFields(
  kind: Kind,
  { fields }: ProbedType,
  usedPaths: Iterable<string> = [],
): Record<string, FieldLocation> {
  const used = new Set(usedPaths);
  const mappable = Object.entries(FIELDS[kind]).filter(([, { property }]) => !isCoreField(property));
  const pairs = mappable.flatMap(([field, definition]) =>
    fields.flatMap((siteField) => {
      const score = likeness(siteField.path, field);
      const location = score > 0 ? locationFor(field, definition, siteField) : undefined;
      return location === undefined ? [] : [{ field, path: siteField.path, location, score }];
    }),
  );
  const proposed: Record<string, FieldLocation> = {};
  // The best pair first: `show_map_link` also fits `show_map`.
  for (const { field, path, location } of pairs.sort((a, b) => b.score - a.score)) {
    if (used.has(path) || field in proposed) continue;
    used.add(path);
    proposed[field] = location;
  }
  return proposed;
}

/** Texts that a site may store as numbers. In another text, such as a city, a number is likelier to be an id. */
const NUMERIC_FIELDS: ReadonlySet<string> = new Set(['cost', 'zip', 'phone']);

/** Where a text is that the site stores as a number; undefined for another field. */
export function numberLocation(field: string, { path, values, type }: SiteField): FieldSpec | undefined {
  if (!NUMERIC_FIELDS.has(field)) return undefined;
  const isNumber =
    /number|integer/.test(type ?? '') || (values.length > 0 && values.every((value) => typeof value === 'number'));
  if (!isNumber) return undefined;
  // `acf` and `meta` refuse a blank text for a number. Pods, whose fields are in neither, ignores null.
  const clearWith = /^(acf|meta)\./.test(path) ? null : '';
  return { at: path, as: 'number', clearWith };
}

/**
 * How the mapping reads a site field as `field`; undefined if its values do not fit. Of `meta.x`:
 *
 *   all_day   'yes', 'no'   { at: 'meta.x', as: { boolean: ['yes', 'no'] } }
 *   cost      12            { at: 'meta.x', as: 'number', clearWith: null }
 *   email     'a@b.example' 'meta.x'; of ACF { at: 'acf.x', clearWith: null }
 *   email     'by post'     undefined
 */
function locationFor(
  field: string,
  { property, type: fieldType, words }: Field,
  siteField: SiteField,
): FieldLocation | undefined {
  const { path, values, type } = siteField;
  // ACF refuses a blank text where it expects a number or an address, and takes null for "none" in every field.
  const clearable = path.startsWith('acf.') ? { at: path, clearWith: null } : path;
  if (fieldType === 'boolean') return booleanLocation(siteField);
  if (fieldType === 'number') {
    const areNumbers = values.length > 0 && values.every((value) => parseNumber(value) !== undefined);
    return areNumbers ? clearable : undefined;
  }
  if (fieldType === 'id' || fieldType === 'ids' || fieldType.endsWith('time')) return undefined;
  if (words) return values.length > 0 && values.every((value) => words.includes(String(value))) ? path : undefined;
  const number = numberLocation(field, siteField);
  if (number) return number;
  const isText = (type ?? 'string') === 'string' && values.every((value) => typeof value === 'string');
  if (!isText) return undefined;
  if (property === 'title' || property === 'name') return { at: path, as: 'plain-text' };
  if (property === 'excerpt') return { at: path, as: { 'plain-text': 'paragraphs' } };
  if (!values.every((value) => fitsText(field, fieldType, String(value)))) return undefined;
  if (siteField.readOnly) return { at: path, readOnly: true };
  return field === 'email' || field === 'website' ? clearable : path;
}

function fitsText(field: string, type: Field['type'], value: string): boolean {
  if (type === 'zone') return parseZone(value) !== undefined;
  // `0` is no address: The Events Calendar stores it for none.
  if (field === 'website' || field === 'online_url') return /^(https?:\/\/|www\.)|^0$/.test(value);
  return field !== 'email' || value.includes('@');
}

interface ProposedLink {
  /** Absent if the record is only text in the event. */
  collection?: KindSpec;
  /** How the event holds the link, unless it is a term. */
  link?: FieldLocation;
}

/**
 * Where the records of a kind are that events refer to: a collection whose ids the event holds, a taxonomy of the
 * event, or only text in the event.
 * @param used fields that have another use already
 * @param taken collections of other kinds
 */
export function inferLink(
  kind: Exclude<Kind, 'event'>,
  event: ProbedType,
  site: ProbedSite,
  used: ReadonlySet<string>,
  taken: ReadonlySet<string>,
): ProposedLink | undefined {
  // The event's lists of terms are left out: many ids of terms are also ids of posts.
  const free = event.fields
    .filter(({ path }) => !used.has(path) && !event.termBases.includes(path))
    .toSorted((a, b) => likeness(b.path, kind) - likeness(a.path, kind));
  const types = site.types.filter((type) => type !== event && !taken.has(type.base));
  return linkedPosts(kind, free, types, site) ?? wordPressTaxonomy(kind, event, site, taken) ?? textOf(kind, free);
}

function linkedPosts(
  kind: Kind,
  fields: readonly SiteField[],
  types: readonly ProbedType[],
  site: ProbedSite,
): ProposedLink | undefined {
  for (const field of fields) {
    const isFieldNamed = likeness(field.path, kind) > 0;
    const owner = types.find((type) => {
      const isTypeNamed = likeness(type.base, kind) > 0 || likeness(type.type, kind) > 0;
      return (isFieldNamed || isTypeNamed) && refersTo(field, type, site, isFieldNamed && isTypeNamed);
    });
    if (owner) return { collection: { posts: owner.base }, link: linkLocation(field) };
  }
  return undefined;
}

/** A venue or an organizer that is text in the event, such as `location: Old Mill`. */
function textOf(kind: Kind, fields: readonly SiteField[]): ProposedLink | undefined {
  if (kind !== 'venue' && kind !== 'organizer') return undefined;
  const isText = (value: unknown) => typeof value === 'string' && idsIn(value).length === 0;
  const text = fields.find(({ path, values }) => likeness(path, kind) > 0 && values.length > 0 && values.every(isText));
  return text && { link: { embedded: { [kind]: text.path } } };
}

/**
 * Whether the field holds ids of this type's records.
 *
 *   its ids are those of newest records    result
 *   of no type                             true if `areBothNamed`
 *   of this type alone                     true; of pages and posts only if `areBothNamed`: 3 may also be a term's id
 *   of another type, or of several         false
 * @param areBothNamed whether field and type are named like the kind: `venue_id`, `places`. One of the two always is.
 */
function refersTo(field: SiteField, type: ProbedType, { types }: ProbedSite, areBothNamed: boolean): boolean {
  const ids = inferIds(field)?.ids;
  if (!ids) return false;
  const owners = types.filter(({ newestRecords }) => newestRecords.some(({ id }) => ids.includes(Number(id))));
  if (owners.length === 0) return areBothNamed;
  const isPage = type.type === 'page' || type.type === 'post';
  return owners.length === 1 && owners[0] === type && (!isPage || areBothNamed);
}

/** A relation to one record, or a list of ids, in the form of its values. */
function linkLocation(field: SiteField): FieldLocation {
  const { path } = field;
  const as = inferIds(field)?.as;
  const isAcf = path.startsWith('acf.');
  if (as === undefined && !isAcf) return path;
  // ACF refuses an empty list.
  return { at: path, ...(as !== undefined && { as }), ...(isAcf && { clearWith: null }) };
}

/** The categories of an event are a hierarchical taxonomy, its tags a flat one; venues and organizers may be either. */
function wordPressTaxonomy(
  kind: Exclude<Kind, 'event'>,
  event: ProbedType,
  { taxonomies }: ProbedSite,
  taken: ReadonlySet<string>,
): ProposedLink | undefined {
  const own = taxonomies.filter(({ base }) => event.termBases.includes(base) && !taken.has(base));
  const isTerm = kind === 'category' || kind === 'tag';
  const fitting = own.filter(({ hierarchical }) => !isTerm || hierarchical === (kind === 'category'));
  const named = fitting.find(({ taxonomy }) => likeness(taxonomy, kind) > 0) ?? (isTerm ? fitting[0] : undefined);
  return named && { collection: { terms: named.base } };
}

/**
 * How the mapping reads a field that the operator named: by its values. Without values, the companion plugin registers
 * a `meta` key as text.
 * @param isLinked whether the kind that the field refers to has records of its own
 */
export function namedLocation(kind: Kind, field: string, siteField: SiteField, isLinked: boolean): FieldLocation {
  const { path, values, type } = siteField;
  const definition = FIELDS[kind][field];
  const isText = values.length === 0 && (type ?? 'string') === 'string' && path.startsWith('meta.');
  if (definition?.targetKind !== undefined) {
    if (!isLinked) return { embedded: { [field]: path } };
    // `csv`, so that the plugin registers a text: in a key of numbers WordPress would not keep `7,8`.
    return isText ? { at: path, as: { ids: 'csv' } } : linkLocation(siteField);
  }
  // A codec, so that the plugin registers a text: of a key of booleans WordPress would not show a stored `yes`.
  if (definition?.type === 'boolean' && isText) return { at: path, as: { boolean: ['1', ''] } };
  return (definition && locationFor(field, definition, siteField)) ?? path;
}

const BOOLEAN_PAIRS: readonly (readonly [unknown, unknown])[] = [
  ['yes', 'no'],
  ['on', 'off'],
  ['true', 'false'],
  ['1', '0'],
  [1, 0],
];

/** Undefined: its values are no booleans. */
export function booleanLocation({ path, values, type }: SiteField): FieldLocation | undefined {
  // True and false need no codec.
  if (type === 'boolean' || (values.length > 0 && values.every((value) => typeof value === 'boolean'))) return path;
  if (values.length === 0) return type === 'integer' ? { at: path, as: { boolean: [1, 0] } } : undefined;
  const pair = BOOLEAN_PAIRS.find(([yes, no]) => values.every((value) => value === yes || value === no));
  return pair && { at: path, as: { boolean: [pair[0], pair[1]] } };
}

/** The integers of a value that may be ids of records. */
export function idsIn(value: unknown): number[] {
  if (Array.isArray(value)) return value.flatMap(idsIn);
  if (isObject(value)) return idsIn(value.ID ?? value.id);
  if (typeof value === 'string' && /^\d{1,9}(,\s*\d{1,9})*$/.test(value)) return value.split(',').map(Number);
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value < 1e9 ? [value] : [];
}

/**
 * The ids in a field, and the codec that reads its form:
 *
 *   values                              codec (`as`)
 *   no value, of an integer; an array   { ids: 'one' }; no codec is needed
 *   'Old Mill'                          the result is undefined: these are no ids
 *   [{ ID: 12 }]                        { ids: { objects: 'ID' } }
 *   [12, 13]                            no codec is needed
 *   '12,13' or '12'; 12                 { ids: 'csv' }; { ids: 'one' }
 */
export function inferIds({ values: allValues, type }: SiteField): { as: FieldSpec['as']; ids: number[] } | undefined {
  // Pods sends false for an empty relation.
  const values = allValues.filter((value) => value !== false);
  const ids = values.flatMap(idsIn);
  if (values.length === 0 && type === 'integer') return { as: { ids: 'one' }, ids };
  if (values.length === 0) return type === 'array' ? { as: undefined, ids } : undefined;
  if (!values.every((value) => idsIn(value).length > 0)) return undefined;
  const object = values.flat().find(isObject);
  if (object) return { as: { ids: { objects: 'ID' in object ? 'ID' : 'id' } }, ids };
  if (values.every((value) => Array.isArray(value))) return { as: undefined, ids };
  // Texts stay texts, also `'12'` alone: a site with a text field refuses numbers.
  return { as: { ids: values.every((value) => typeof value === 'string') ? 'csv' : 'one' }, ids };
}
