// Compiles a mapping file to functions that read and write the records of each kind. Fields that the file does not name
// are where the CMS itself stores them (`CORE_LOCATIONS`).

import { FIELDS, type Field } from '../interface/fields.ts';
import { INHERITED_NAMES } from '../model/json.ts';
import { DAY_MS, isTermKind, KINDS, type Kind, TERM_ID_OFFSET } from '../model/records.ts';
import { wallAfter } from '../time/wall-time.ts';
import { parseZone } from '../time/zones.ts';
import {
  type CompiledField,
  type CustomField,
  type CustomFields,
  compileCustomField,
  compileField,
  linkKeysOf,
} from './compile-field.ts';
import { createReader, createWriter } from './convert-record.ts';
import { type FieldAccessor, MappingFieldError, valueAt } from './field-accessor.ts';
import type { KindMapping, Mapping } from './mapping.ts';
import {
  type CmsName,
  collectionName,
  type FieldSpec,
  type KindSpec,
  type MappingFile,
  mappingError,
  validateMappingFile,
} from './mapping-file.ts';
import { createSeriesReaders, OCCURRENCES_FIELD, occurrenceParams } from './occurrences.ts';
import { compileLinkField, type EmbeddedReader, embeddedAccessor, type LinkField } from './references.ts';

/** By the record's property (`key` in the field table). */
type CoreLocations = Readonly<Record<string, FieldSpec>>;

const same = (path: string): FieldSpec => ({ at: path });
const rendered = (path: string): FieldSpec => ({ read: `${path}.rendered`, write: path });
const readOnly = (path: string): FieldSpec => ({ at: path, readOnly: true });
const instant = (path: string): FieldSpec => ({ at: path, as: 'instant' });

const WORDPRESS_POSTS: CoreLocations = {
  title: rendered('title'),
  slug: same('slug'),
  description: rendered('content'),
  excerpt: rendered('excerpt'),
  status: same('status'),
  author: same('author'),
  date: same('date'),
  dateUtc: same('date_gmt'),
  modified: readOnly('modified'),
  modifiedUtc: readOnly('modified_gmt'),
  url: readOnly('link'),
  protected: readOnly('content.protected'),
  image: same('featured_media'),
  parent: readOnly('parent'),
};

const WORDPRESS_TERMS: CoreLocations = {
  /** The name of a venue or organizer that is a term. */
  title: same('name'),
  name: same('name'),
  slug: same('slug'),
  description: same('description'),
  url: readOnly('link'),
  parent: same('parent'),
};

/** Payload adds these to every record. The adapter translates the status. */
const PAYLOAD_POSTS: CoreLocations = {
  status: same('status'),
  date: instant('createdAt'),
  dateUtc: instant('createdAt'),
  modified: { ...instant('updatedAt'), readOnly: true },
  modifiedUtc: { ...instant('updatedAt'), readOnly: true },
};

export const CORE_LOCATIONS: Readonly<Record<CmsName, Readonly<Record<'posts' | 'terms', CoreLocations>>>> = {
  wordpress: { posts: WORDPRESS_POSTS, terms: WORDPRESS_TERMS },
  payload: { posts: PAYLOAD_POSTS, terms: {} },
};

/** True for a field that every post, or every term, of WordPress has. */
export const isCoreField = (key: string): boolean => key in WORDPRESS_POSTS || key in WORDPRESS_TERMS;

/**
 * @param name names the mapping in error messages
 * @throws ConfigError with the JSON pointer and the reason: the file violates the schema, names a collection twice,
 * names a field that the API lacks, lacks a required field, or names a codec that does not fit
 */
export function compileMapping(json: unknown, name: string): Mapping {
  const file = validateMappingFile(json, name);
  try {
    const zone = file.payload?.timezone;
    if (zone !== undefined && !parseZone(zone))
      throw new MappingFieldError('/payload/timezone', 'must be a time zone, such as Europe/Vienna or +02:00');
    checkCollections(file);
    const kinds: Record<string, unknown> = {};
    for (const kind of KINDS) {
      const spec = file[kind];
      if (spec) kinds[kind] = within(`/${kind}`, () => compileKind(kind, spec, file));
    }
    return { name: file.name, cms: file.upstream, file, kinds: kinds as unknown as Mapping['kinds'] };
  } catch (error) {
    if (!(error instanceof MappingFieldError)) throw error;
    throw mappingError(name, error.pointer, error.message, error.remedy);
  }
}

/** Webhooks and created records name their collection alone, and all posts of WordPress share one id space. */
function checkCollections(mapping: MappingFile): void {
  const mapped = KINDS.filter((kind) => mapping[kind]);
  for (const [index, kind] of mapped.entries()) {
    const collection = collectionName(mapping[kind]!);
    const other = mapped.slice(0, index).find((earlier) => collectionName(mapping[earlier]!) === collection);
    if (!other) continue;
    const reason = `"${collection}" is the collection of "${other}" too`;
    throw new MappingFieldError(`/${kind}`, reason, `Name another collection, or leave "${kind}" out.`);
  }
}

/** Compiles the part of a mapping at this pointer. Errors have the pointer before their own. */
function within<T>(pointer: string, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (!(error instanceof MappingFieldError)) throw error;
    throw new MappingFieldError(pointer + error.pointer, error.message, error.remedy);
  }
}

function compileKind(kind: Kind, spec: KindSpec, mapping: MappingFile): KindMapping<Kind> {
  const { fields, embedded, linkFields } = compileFields(kind, spec, mapping);
  const customFields = compileCustomFields(kind, spec);
  const writableCustom = [...customFields].filter(([, { accessor }]) => accessor.write);
  const writable = fields.filter(({ field, accessor }) => accessor.write && !field.derived && !spec.readOnly);
  sendDependentTogether(writable);
  const storedAs = storedAsOf(kind, spec);
  const postType = mapping.wordpress?.posts?.[spec.posts ?? ''];
  const { occurrences } = spec;
  if (occurrences && kind !== 'event') throw new MappingFieldError('/occurrences', 'only events can have occurrences');
  if (occurrences && Object.keys(embedded).length > 0)
    throw new MappingFieldError('/occurrences', 'events with embedded venues or organizers cannot have occurrences');
  if (mapping.upstream === 'payload') {
    checkReferencePaths(spec, fields, embedded);
    if (storedAs === 'posts') checkStatusPath(spec, fields);
  } else if (storedAs === 'posts') checkVisibilityFields(spec);
  const readOne = createReader(kind, fields, customFields, linkFields, {
    storedAs,
    usesCoreExcerpt: spec.fields?.excerpt === undefined,
    hasTrueDraftDates:
      mapping.wordpress?.requiresCompanionPlugin === true && postType !== undefined && !postType.existing,
  });
  const single = fields.filter(({ name, accessor }) => accessor.selectedPaths.length === 1 && !(name in embedded));
  const fieldPaths = [...fields, ...customFields.values()].flatMap(({ accessor }) => accessor.selectedPaths);
  const readers = occurrences ? createSeriesReaders(readOne as KindMapping<'event'>['read']) : { read: readOne };
  return {
    kind,
    collection: collectionName(spec),
    storedAs,
    readOnly: spec.readOnly ?? false,
    cmsSettings: spec.wordpress ?? {},
    ...(occurrences && { recordParams: occurrenceParams(occurrences) }),
    dedupe: spec.dedupe ?? false,
    paths: new Map(single.map(({ field, accessor }) => [field.key, accessor.selectedPaths[0]])),
    selectedFields: selectFields(kind, storedAs, fieldPaths, mapping),
    requiredPaths: fields.flatMap(requiredPaths),
    writable: new Set(writable.map(({ field }) => field.key)) as KindMapping<Kind>['writable'],
    customFields,
    writtenPaths: new Map([
      ...writable.map(({ field, accessor }) => [field.key, accessor.storedPaths] as const),
      ...writableCustom.map(([name, { accessor }]) => [`customFields.${name}`, accessor.storedPaths] as const),
    ]),
    numeric: new Set(fields.filter(({ accessor }) => accessor.isNumeric).map(({ field }) => field.key)),
    embedded,
    linkFields,
    ...readers,
    ...createWriter(fields, writable, customFields, readers.read, linkFields),
  } as KindMapping<Kind>;
}

/** A CMS whose collections are all alike has categories and tags as terms, and the other kinds as posts. */
const storedAsOf = (kind: Kind, { terms, collection }: KindSpec): 'posts' | 'terms' =>
  terms !== undefined || (collection !== undefined && isTermKind(kind)) ? 'terms' : 'posts';

/**
 * The companion plugin may be the only one that shows a `meta` key. If the plugin is removed, WordPress stops showing
 * the key but keeps hiding events by it, so lists need the key too.
 */
function requiredPaths({ field, accessor: { selectedPaths } }: CompiledField): string[] {
  if (field.required) return selectedPaths;
  return field.key === 'hidden' ? selectedPaths.filter((path) => path.startsWith('meta.')) : [];
}

interface CompiledFields {
  fields: CompiledField[];
  embedded: Record<string, EmbeddedReader>;
  linkFields: LinkField[];
}

function compileFields(kind: Kind, spec: KindSpec, mapping: MappingFile): CompiledFields {
  const definitions = FIELDS[kind];
  const remedy = `Its fields are: ${Object.keys(definitions).join(', ')}.`;
  for (const name of Object.keys(spec.fields ?? {}))
    if (!Object.hasOwn(definitions, name))
      throw new MappingFieldError(`/fields/${name}`, `the API has no such field of ${withArticle(kind)}`, remedy);
  const coreLocations = CORE_LOCATIONS[mapping.upstream][storedAsOf(kind, spec)];
  const compiled: CompiledFields = { fields: [], embedded: {}, linkFields: [] };
  for (const [name, field] of Object.entries(definitions)) {
    within(`/fields/${name}`, () => {
      const fieldSpec = spec.fields?.[name];
      const { embedded, via } = typeof fieldSpec === 'object' ? fieldSpec : {};
      const isLinked = field.references === 'venue' || field.references === 'organizer';
      if (!isLinked && (embedded || via))
        throw new MappingFieldError(embedded ? '/embedded' : '/via', 'is for a venue or an organizer of an event');
      const location = fieldSpec ?? coreLocations[field.key];
      if (field.required && location === undefined) throw new MappingFieldError('', 'is required: say where it is');
      const accessor = field.references
        ? compileReference(field.references, field, fieldSpec, mapping, compiled)
        : location && compileField(location, field);
      if (accessor) compiled.fields.push({ name, field, accessor, sentWith: sentWith(kind, fieldSpec) });
    });
  }
  const find = (name: string) => compiled.fields.find((field) => field.name === name);
  const [start, end] = [find('start_date'), find('end_date')];
  if (start && end) end.accessor = endOnDayOfStart(start.accessor, end.accessor);
  return compiled;
}

function compileCustomFields(kind: Kind, { custom_fields = {}, readOnly = false }: KindSpec): CustomFields {
  if (Object.keys(custom_fields).length > 0 && isTermKind(kind))
    throw new MappingFieldError('/custom_fields', 'only events, venues and organizers have custom fields');
  const compiled = new Map<string, CustomField>();
  for (const [name, spec] of Object.entries(custom_fields)) {
    within(`/custom_fields/${name}`, () => {
      if (INHERITED_NAMES.has(name)) throw new MappingFieldError('', 'no request can send this name: choose another');
      const field = compileCustomField(name, spec);
      if (readOnly) delete field.accessor.write;
      compiled.set(name, field);
    });
  }
  return compiled;
}

function sentWith(kind: Kind, spec: string | FieldSpec | undefined): readonly string[] {
  const names = typeof spec === 'object' ? (spec.sentWith ?? []) : [];
  const unknown = names.find((name) => !Object.hasOwn(FIELDS[kind], name));
  if (unknown !== undefined)
    throw new MappingFieldError('/sentWith', `the API has no field "${unknown}" of ${withArticle(kind)}`);
  return names;
}

/**
 * Compiles an event's reference to records of another kind. Returns `undefined` if the site has no such reference. Adds
 * the reader of embedded records, and a link field, to `compiled`.
 */
function compileReference(
  target: Exclude<Kind, 'event'>,
  field: Field,
  spec: string | FieldSpec | undefined,
  mapping: MappingFile,
  compiled: CompiledFields,
): FieldAccessor | undefined {
  const isLinked = target === 'venue' || target === 'organizer';
  if (typeof spec === 'object' && spec.embedded && isLinked) {
    const { accessor, reader } = embeddedAccessor(target, spec.embedded);
    compiled.embedded[target] = reader;
    return accessor;
  }
  const targetSpec = mapping[target];
  if (spec !== undefined && !targetSpec)
    throw new MappingFieldError('', `the mapping does not say where ${withArticle(target)} is: add "${target}"`);
  const link = typeof spec === 'object' ? spec.via : undefined;
  if (link && isLinked) compiled.linkFields.push(compileLinkField(target, link));
  if (spec === undefined && targetSpec?.terms === undefined) return undefined;
  // WordPress names the terms of a post by the last segment of their collection.
  const accessor = compileField(spec ?? targetSpec!.terms!.split('/').at(-1)!, field);
  return isLinked && targetSpec?.terms !== undefined && !link ? withIdOffset(accessor) : accessor;
}

/** A term that serves as a venue or organizer has an id of its own in the API (model/records.ts). */
function withIdOffset(accessor: FieldAccessor): FieldAccessor {
  const { read, write } = accessor;
  const shift = (ids: unknown, offset: number) => (ids as readonly number[]).map((id) => id + offset);
  return {
    ...accessor,
    read: (cmsRecord, zones) => shift(read(cmsRecord, zones) ?? [], TERM_ID_OFFSET),
    ...(write ? { write: (ids, target) => write(shift(ids, -TERM_ID_OFFSET), target) } : {}),
  };
}

const withArticle = (kind: Kind): string => `${/^[aeo]/.test(kind) ? 'an' : 'a'} ${kind}`;

/** Of WordPress: for the recognition of generated excerpts. */
const POST_PATHS = ['id', 'type', 'title.raw', 'content.raw', 'excerpt.raw'];
/** What searches look at. */
const RENDERED_PATHS = ['title.rendered', 'content.rendered', 'excerpt.rendered'];

/** The fields that a request for records of the kind names. */
function selectFields(
  kind: Kind,
  storedAs: 'posts' | 'terms',
  fieldPaths: readonly string[],
  mapping: MappingFile,
): string {
  if (mapping.upstream === 'payload') return [...new Set(['id', ...fieldPaths])].join(',');
  const termPaths = isTermKind(kind) ? ['id', 'count'] : ['id'];
  const basePaths = storedAs === 'posts' ? POST_PATHS : termPaths;
  // Link tables need the key by which events refer to records of this kind.
  const linkKeys = linkKeysOf(kind, mapping.event).map(({ key }) => key);
  const rendered = storedAs === 'posts' ? RENDERED_PATHS : [];
  const series = mapping[kind]?.occurrences ? [OCCURRENCES_FIELD] : [];
  const paths = [...basePaths, ...fieldPaths, ...linkKeys, ...rendered, ...series];
  // WordPress answers no `meta` of a term if `_fields` names a key of it; of a post it answers only that key.
  return [...new Set(storedAs === 'posts' ? paths : paths.map((path) => path.split('.', 1)[0]))].join(',');
}

/**
 * Sends fields that share a path along with each other: only then the writer sees whether both fit. Sends a date that
 * is stored as an instant along with the zone: its wall time stays when the zone changes.
 */
function sendDependentTogether(fields: CompiledField[]): void {
  const zone = fields.filter(({ name }) => name === 'timezone').map(({ name }) => name);
  const instants = fields.filter(({ accessor }) => accessor.needsZone);
  for (const field of instants) field.sentWith = [...field.sentWith, ...zone];
  const whole = fields.filter(({ accessor }) => !accessor.isPartOfText);
  for (const field of whole) {
    const paths = field.accessor.storedPaths;
    const sharing = whole.filter(({ accessor }) => accessor.storedPaths.some((path) => paths.includes(path)));
    field.sentWith = [...field.sentWith, ...sharing.filter((one) => one !== field).map(({ name }) => name)];
  }
}

/**
 * The accessor of an end that has a time of its own and the day of the start. If the time is before the start, it is
 * one of the next day: a concert from 20:00 to 01:00.
 */
function endOnDayOfStart(start: FieldAccessor, end: FieldAccessor): FieldAccessor {
  const ownPaths = end.selectedPaths.filter((path) => !start.selectedPaths.includes(path));
  if (ownPaths.length === 0 || ownPaths.length === end.selectedPaths.length) return end;
  const read: FieldAccessor['read'] = (cmsRecord, zones) => {
    const [from, to] = [start.read(cmsRecord, zones), end.read(cmsRecord, zones)];
    if (typeof from !== 'string' || typeof to !== 'string' || to >= from) return to;
    const hasTime = ownPaths.some((path) => valueAt(cmsRecord, path.split('.')));
    return hasTime ? wallAfter(to, DAY_MS) : undefined;
  };
  const write: FieldAccessor['write'] = (value, target) => {
    const from = start.read(target.body, target.zones);
    const dayBefore = wallAfter(String(value), -DAY_MS);
    const isNextDay = typeof from === 'string' && dayBefore.slice(0, 10) === from.slice(0, 10) && dayBefore < from;
    end.write?.(isNextDay ? dayBefore : value, target);
  };
  return { ...end, read, ...(end.write && { write }) };
}

/** Fields that decide who may list a record, or who may read all of it. */
const VISIBILITY_FIELDS = ['status', 'author', 'protected'];

/** Refuses a mapping in which something else than WordPress would decide who sees a post. */
function checkVisibilityFields({ fields = {} }: KindSpec): void {
  for (const name of VISIBILITY_FIELDS) {
    const spec = fields[name];
    if (spec === undefined) continue;
    const { at: path } = CORE_LOCATIONS.wordpress.posts[name]!;
    const { at, readOnly: _, ...others } = typeof spec === 'string' ? { at: spec } : spec;
    if (at === path && Object.keys(others).length === 0) continue;
    const reason = `decides who sees a record, so it must be at "${path}", without another key than "readOnly"`;
    throw new MappingFieldError(`/fields/${name}`, reason);
  }
}

/** The adapter of Payload replaces what is at one path, when it reads and when it writes. */
function assertOnePath({ name, accessor }: CompiledField): void {
  const { selectedPaths, storedPaths, isPartOfText } = accessor;
  const isOnePath = selectedPaths.length === 1 && storedPaths.join() === selectedPaths[0];
  if (!isOnePath || isPartOfText)
    throw new MappingFieldError(`/fields/${name}`, 'must be one path, to read and to write, and not in a list');
}

/** Where the adapter of Payload puts the API's status, and where Payload has its own and the time of a deletion. */
const ADAPTER_FIELDS = ['status', '_status', 'deletedAt'];

/** A mapping may name the field of a site of Payload that holds `pending` or `private`. */
function checkStatusPath({ fields: specs = {} }: KindSpec, fields: readonly CompiledField[]): void {
  const status = fields.find(({ name }) => name === 'status');
  if (specs.status === undefined || !status) return;
  assertOnePath(status);
  const [path = ''] = status.accessor.storedPaths;
  const [root = ''] = path.split('.', 1);
  if (ADAPTER_FIELDS.includes(root))
    throw new MappingFieldError(
      '/fields/status',
      `must not be at "${path}", where Payload or its adapter has a status`,
    );
}

/** Refuses references of Payload that the adapter cannot convert: it replaces the ids that are there. */
function checkReferencePaths(
  { fields: specs = {} }: KindSpec,
  fields: readonly CompiledField[],
  embedded: Readonly<Record<string, unknown>>,
): void {
  // All numbers of the API are ids too.
  const references = fields.filter(({ field }) => field.type === 'ids' || field.type === 'number');
  for (const reference of references) {
    const { name, accessor } = reference;
    const isFixed = accessor.selectedPaths.length === 0;
    if (isFixed || name in embedded) continue;
    assertOnePath(reference);
    const spec = specs[name];
    const codec = typeof spec === 'object' ? spec.as : undefined;
    if (typeof codec === 'object' && typeof codec.ids === 'object')
      throw new MappingFieldError(`/fields/${name}/as`, 'Payload answers ids, and no records that have them at a path');
  }
}
