// Infers which field of a site is which field of the API: one inference for every CMS, from the similarity of names and
// from sample values. What is not sure is left out.

import { FIELDS, type Field } from '../../interface/fields.ts';
import { parseNumber } from '../../interface/param-types.ts';
import { isCoreField } from '../../mapping/core-locations.ts';
import type { FieldSpec, KindSpec } from '../../mapping/mapping-file.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { isPostKind, type Kind } from '../../model/records.ts';
import { foldName } from '../../text/html.ts';
import { parseZone } from '../../time/zones.ts';
import { likeness, plainName } from '../names.ts';
import { idsIn, inferBoolean, inferIds } from './sample-values.ts';
import type { ProbedSite, ProbedType, SourceField } from './site.ts';

export type Source = string | FieldSpec;

/** Fields of a kind in a mapping. */
export type Sources = Record<string, Source>;

/** The field of an event that refers to each other kind. */
export const LINK_FIELDS = { venue: 'venue', organizer: 'organizer', category: 'categories', tag: 'tags' } as const;

/**
 * Returns at most one site field for each field of the kind. Adds the paths that it uses to `used`, and uses none that
 * is there.
 */
export function inferFields(kind: Kind, type: ProbedType, site: ProbedSite, used: Set<string>): Sources {
  // WordPress has its own fields in every record; Payload has only what the collection defines.
  const mappable = Object.entries(FIELDS[kind]).filter(([, { key }]) => site.cms === 'payload' || !isCoreField(key));
  const pairs = mappable.flatMap(([field, definition]) =>
    type.fields.flatMap((siteField) => {
      const score =
        likeness(siteField.path, isName(field, kind) ? 'title' : field) || (tells(field, siteField) ? 0.05 : 0);
      const source = score > 0 ? sourceFor(kind, field, definition, siteField, type.fields) : undefined;
      return source === undefined ? [] : [{ field, siteField, source, score }];
    }),
  );
  const proposed: Sources = {};
  // The best pair first: `show_map_link` also fits `show_map`.
  for (const { field, siteField, source } of pairs.sort((a, b) => b.score - a.score)) {
    if (used.has(siteField.path) || field in proposed) continue;
    used.add(siteField.path);
    proposed[field] = source;
  }
  return Object.fromEntries(mappable.flatMap(([field]) => (field in proposed ? [[field, proposed[field]!]] : [])));
}

/** The name of a venue, an organizer or a term, which is called a title or a name. */
const isName = (field: string, kind: Kind): boolean => field === kind || field === 'name';

/** Values that say what they are, whatever their field is called. */
function tells(field: string, { values }: SourceField): boolean {
  const are = (test: (text: string) => boolean) =>
    values.length > 0 && values.every((value) => typeof value === 'string' && test(value));
  if (field === 'timezone') return are((text) => text.includes('/') && parseZone(text) !== undefined);
  if (field === 'cost') return are((text) => /^[$€£¥]\s?\d|\d\s?[$€£¥]$/.test(text));
  return field === 'email' && are((text) => /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text));
}

/** Texts that a site may store as numbers. In another text, such as a city, a number is likelier to be an id. */
const NUMERIC_FIELDS: ReadonlySet<string> = new Set(['cost', 'zip', 'phone']);

/** The source of a text that the site stores as a number; undefined for another field. */
export function numberSource(field: string, { path, values, type }: SourceField): FieldSpec | undefined {
  if (!NUMERIC_FIELDS.has(field)) return undefined;
  const isNumber =
    /number|integer/.test(type ?? '') || (values.length > 0 && values.every((value) => typeof value === 'number'));
  if (!isNumber) return undefined;
  // Pods ignores null. The others refuse a blank text for a number.
  const clearWith = /^(acf|meta)\./.test(path) ? null : '';
  return { at: path, as: 'number', clearWith };
}

/** How the mapping reads a site field as `field`; undefined if its values do not fit. */
function sourceFor(
  kind: Kind,
  field: string,
  { type: fieldType, words }: Field,
  siteField: SourceField,
  all: readonly SourceField[],
): Source | undefined {
  const { path, values, type } = siteField;
  const isAcf = path.startsWith('acf.');
  const isText = (type ?? 'string') === 'string' && values.every((value) => typeof value === 'string');
  if (fieldType === 'boolean') {
    // Payload does not tell the type of a checkbox without a value.
    const isBlank = values.length === 0 && type === undefined;
    const as = isBlank ? null : inferBoolean(siteField);
    return as === null ? path : as && { at: path, as };
  }
  if (fieldType === 'coordinate') {
    const areNumbers = values.length > 0 && values.every((value) => parseNumber(value) !== undefined);
    return areNumbers ? (isAcf ? { at: path, clearWith: null } : path) : undefined;
  }
  // An author, an image or a parent: of Payload, the id of a record.
  if (fieldType === 'number') return values.every((value) => /^(string|number)$/.test(typeof value)) ? path : undefined;
  if (fieldType === 'ids' || fieldType.endsWith('time') || field === 'status') return undefined;
  if (words) return values.length > 0 && values.every((value) => words.includes(String(value))) ? path : undefined;
  const number = numberSource(field, siteField);
  if (number) return number;
  if (!isText) return undefined;
  if (isName(field, kind) || field === 'title') return { at: path, as: 'plain-text' };
  if (field === 'excerpt') return { at: path, as: { 'plain-text': 'paragraphs' } };
  if (field === 'description' && isPostKind(kind)) return htmlSource(path, all);
  if (!values.every((value) => fitsText(field, fieldType, String(value)))) return undefined;
  // ACF refuses a blank text where it expects an address, and takes null for "none" in every field.
  if (siteField.readOnly) return { at: path, readOnly: true };
  return isAcf && (field === 'email' || field === 'website') ? { at: path, clearWith: null } : path;
}

function fitsText(field: string, type: Field['type'], value: string): boolean {
  if (type === 'zone') return parseZone(value) !== undefined;
  if (field === 'website' || field === 'online_url') return /^(https?:\/\/|www\.)|^0$/.test(value);
  return field !== 'email' || value.includes('@');
}

/**
 * `descriptionHtml`, which Payload makes of a rich text, is read there and written to `description`, if that is there.
 */
function htmlSource(path: string, all: readonly SourceField[]): Source | undefined {
  const richText = path.replace(/_?html$/i, '');
  if (richText === path) return undefined;
  const isThere = all.some((each) => each.path === richText);
  return isThere ? { read: path, write: { at: richText, as: 'lexical' } } : { at: path, readOnly: true };
}

export interface ProposedLink {
  /** Absent if the record is only text in the event. */
  collection?: KindSpec;
  /** How the event holds the link, unless it is a term. */
  link?: Source;
}

/**
 * Where the records of a kind are that events refer to: a collection whose ids the event holds, a taxonomy of the
 * event, or only text in the event.
 * @param wanted the collection that the operator named, or `none`
 * @param isLinkNamed the operator named the field that refers to them
 * @param taken collections of other kinds
 */
export function inferLink(
  kind: Exclude<Kind, 'event'>,
  event: ProbedType,
  site: ProbedSite,
  { wanted, isLinkNamed }: { wanted: string | undefined; isLinkNamed: boolean },
  used: Set<string>,
  taken: ReadonlySet<string>,
): ProposedLink | undefined {
  if (wanted === 'none') return undefined;
  // The list of a taxonomy's terms has ids of terms: many are also ids of posts.
  const free = event.fields.filter(({ path }) => !used.has(path) && !event.termBases.includes(path));
  const byName = (a: SourceField, b: SourceField) => likeness(b.path, kind) - likeness(a.path, kind);
  for (const field of free.toSorted(byName)) {
    const owner = ownerOf(kind, field, event, site, wanted, taken);
    if (!owner || (wanted === undefined && !refersTo(kind, field, owner))) continue;
    used.add(field.path);
    return { collection: specOf(owner, site), link: linkSource(field, site) };
  }
  const taxonomy = wordPressTaxonomy(kind, event, site, wanted, taken);
  if (taxonomy) return taxonomy;
  const isVenueOrOrganizer = kind === 'venue' || kind === 'organizer';
  const [text] = free
    .filter((field) => isVenueOrOrganizer && likeness(field.path, kind) > 0 && field.values.length > 0)
    .filter(({ values }) => values.every((value) => typeof value === 'string' && idsIn(value).length === 0))
    .toSorted(byName);
  if (text) return { link: embedded(kind, event, text, site, used) };
  const named = wanted === undefined && !isLinkNamed ? undefined : namedType(kind, site, wanted, taken);
  return named && { collection: specOf(named, site) };
}

const specOf = ({ base }: ProbedType, { cms }: ProbedSite): KindSpec =>
  cms === 'payload' ? { collection: base } : { posts: base };

const namedType = (kind: Kind, { types }: ProbedSite, wanted: string | undefined, taken: ReadonlySet<string>) =>
  types.find(({ type, base }) =>
    wanted === undefined ? !taken.has(base) && (likeness(base, kind) > 0 || likeness(type, kind) > 0) : base === wanted,
  );

/**
 * The collection of the records that the field's ids belong to, by their names where the field shows them: ids alone
 * that are those of pages or of several types are rather ids of terms, users or rows of a plugin's table.
 */
function ownerOf(
  kind: Kind,
  field: SourceField,
  event: ProbedType,
  site: ProbedSite,
  wanted: string | undefined,
  taken: ReadonlySet<string>,
): ProbedType | undefined {
  const isFree = (type: ProbedType | undefined): type is ProbedType =>
    type !== undefined && type !== event && !taken.has(type.base) && (wanted ?? type.base) === type.base;
  if (site.cms === 'payload')
    return site.types.find((type) => isFree(type) && isRelation(kind, field, type, wanted !== undefined));
  const inferred = inferIds(field);
  if (!inferred) return undefined;
  const isNamed = likeness(field.path, kind) > 0;
  // Without an id, only the name of the type tells.
  if (inferred.ids.length === 0) {
    const named = isNamed ? namedType(kind, site, wanted, taken) : undefined;
    return isFree(named) ? named : undefined;
  }
  const { typeById, titleById = {} } = site;
  const [owner, ...others] = new Set(inferred.ids.flatMap((id) => typeById[id] ?? []));
  const shown = field.values.flat().filter(isObject);
  const isOther = ({ ID, id, post_title, name, display_name }: JsonObject): boolean => {
    const [own, title] = [post_title ?? name ?? display_name, titleById[Number(ID ?? id)]];
    return own !== undefined && title !== undefined && foldName(String(own)) !== foldName(title);
  };
  if (others.length > 0 || shown.some(isOther)) return undefined;
  if ((owner === 'page' || owner === 'post') && shown.length === 0 && wanted === undefined) return undefined;
  const type = site.types.find((each) => each.type === owner);
  return isFree(type) ? type : undefined;
}

/** Payload shows ids without their collection: the names tell, and one of the ids must be there. */
function isRelation(kind: Kind, { path, values }: SourceField, type: ProbedType, isWanted: boolean): boolean {
  const ids = values.flat();
  const known = new Set(type.samples.map(({ id }) => id));
  const isComplete = type.total <= type.samples.length;
  const isThere = ids.length === 0 || !isComplete || ids.some((id) => known.has(id as number));
  const singular = (name: string) => plainName(name).replace(/s$/, '');
  const isAlike = singular(path) === singular(type.base);
  const isOfKind = likeness(path, kind) > 0 && (isWanted || likeness(type.base, kind) > 0);
  return (isAlike || isOfKind) && isThere && ids.every((id) => typeof id === 'number' || typeof id === 'string');
}

/** Fields by which a linked collection tells its kind, whatever it is called. */
const TELLING = { venue: ['address', 'city', 'zip', 'geo_lat'], organizer: ['email'], category: [], tag: [] } as const;

/** By the name of the field or of the collection; if neither is that of a kind, by the fields of the collection. */
function refersTo(kind: Exclude<Kind, 'event'>, { path }: SourceField, { type, base, fields }: ProbedType): boolean {
  const score = (each: Exclude<Kind, 'event'>) =>
    Math.max(likeness(path, each) + 1e-3 || 0, likeness(base, each), likeness(type, each));
  const kinds = (['venue', 'organizer', 'category', 'tag'] as const).filter((each) => score(each) > 1e-3);
  if (kinds.length > 0) return kinds.includes(kind) && kinds.every((each) => score(each) <= score(kind));
  return TELLING[kind].some((name) => fields.some((field) => likeness(field.path, name) > 0));
}

/** A relation to one record, or a list of ids, in the form of its values. */
export function linkSource(field: SourceField, { cms }: ProbedSite): Source {
  const { path, values } = field;
  if (cms === 'payload') {
    // Without a value, a name in the plural tells that it is a list.
    const isList = values.length > 0 ? values.every((value) => Array.isArray(value)) : path.endsWith('s');
    return isList ? path : { at: path, as: { ids: 'one' } };
  }
  const as = inferIds(field)?.as;
  // ACF refuses an empty list.
  const clear = path.startsWith('acf.') ? { clearWith: null } : {};
  return as === undefined && !path.startsWith('acf.')
    ? path
    : { at: path, ...(as === undefined ? {} : { as }), ...clear };
}

/** The categories of an event are a hierarchical taxonomy, its tags a flat one; venues and organizers may be either. */
function wordPressTaxonomy(
  kind: Exclude<Kind, 'event'>,
  event: ProbedType,
  { taxonomies }: ProbedSite,
  wanted: string | undefined,
  taken: ReadonlySet<string>,
): ProposedLink | undefined {
  const own = taxonomies.filter(({ taxonomy, base }) => event.taxonomies.includes(taxonomy) && !taken.has(base));
  const isTerm = kind === 'category' || kind === 'tag';
  const fitting = own.filter(({ hierarchical }) => !isTerm || hierarchical === (kind === 'category'));
  const named = fitting.find(({ taxonomy }) => likeness(taxonomy, kind) > 0);
  const chosen =
    wanted === undefined
      ? (named ?? (isTerm ? fitting[0] : undefined))
      : (isTerm ? taxonomies : own).find(({ base }) => base === wanted);
  return chosen && { collection: { terms: chosen.base } };
}

/** Fields of a venue that can be read from the event itself. */
const NOT_EMBEDDED: ReadonlySet<string> = new Set(['website', 'show_map', 'show_map_link', 'geo_lat', 'geo_lng']);

/** A venue or organizer that is only text: other texts of the event may be its address, city ... */
function embedded(kind: Kind, event: ProbedType, text: SourceField, site: ProbedSite, used: Set<string>): Source {
  used.add(text.path);
  const paths: Record<string, string> = { [kind]: text.path };
  const ofEvent = { ...site, cms: 'wordpress' } as const;
  for (const [field, source] of Object.entries(inferFields(kind, event, ofEvent, new Set(used))))
    if (typeof source === 'string' && !NOT_EMBEDDED.has(field)) {
      paths[field] = source;
      used.add(source);
    }
  return { embedded: paths };
}

/**
 * How the mapping reads a field that the operator named: by its values. A text holds every form, so a key without
 * values is a text: WordPress shows nothing of `yes` in a key of booleans, and stores a list in a key of lists.
 * @param isLinked whether the kind that the field refers to has records of its own
 */
export function namedSource(
  kind: Kind,
  field: string,
  siteField: SourceField,
  site: ProbedSite,
  { fields, isLinked }: { fields: readonly SourceField[]; isLinked: boolean },
): Source {
  const { path, values, type } = siteField;
  const definition = FIELDS[kind][field];
  const isText = values.length === 0 && (type ?? 'string') === 'string' && path.startsWith('meta.');
  if (definition?.references !== undefined) {
    if (!isLinked) return { embedded: { [field]: path } };
    return isText ? { at: path, as: { ids: 'csv' } } : linkSource(siteField, site);
  }
  if (definition?.type === 'boolean' && isText) return { at: path, as: { boolean: ['1', ''] } };
  return (definition && sourceFor(kind, field, definition, siteField, fields)) ?? path;
}
