// Compiles a mapping file to functions that read and write records of each kind. What the CMS decides: cms-rules.ts.

import { FIELDS, type Field } from '../interface/fields.ts';
import { isTermKind, KINDS, type Kind, PLURALS, TERM_ID_OFFSET } from '../model/records.ts';
import { CMS_RULES } from './cms-rules.ts';
import { type CompiledField, compileField, endOnDayOfStart } from './compile-field.ts';
import { type CustomFields, compileCustomFields } from './custom-fields.ts';
import type { FieldAccessor } from './field-accessor.ts';
import type { KindMapping, Mapping } from './mapping.ts';
import {
  collectionName,
  type FieldSpec,
  fieldSpecOf,
  type KindSpec,
  type MappingFile,
  mappingError,
  validateMappingFile,
} from './mapping-file.ts';
import { createSeriesReaders, occurrenceParams } from './occurrences.ts';
import { MappingFieldError, within } from './paths.ts';
import { createReader } from './read-record.ts';
import { compileEmbedded, compileLinkField } from './references.ts';
import { createWriter, sendDependentTogether } from './write-record.ts';

/**
 * @param name names the mapping in error messages
 * @throws ConfigError with the JSON pointer and the reason: the file violates the schema, names a collection twice,
 * names a field that the API lacks, lacks a required field, or names a codec that does not fit
 */
export function compileMapping(json: unknown, name: string): Mapping {
  const file = validateMappingFile(json, name);
  try {
    const rules = CMS_RULES[file.upstream];
    rules.checkSite?.(file);
    const imageCollection = rules.imageCollection(file);
    checkCollections(file, imageCollection);
    const kinds: Record<string, unknown> = {};
    for (const kind of KINDS) {
      const spec = file[kind];
      if (spec) kinds[kind] = within(`/${kind}`, () => compileKind(kind, spec, file));
    }
    return { name: file.name, cms: file.upstream, imageCollection, file, kinds: kinds as unknown as Mapping['kinds'] };
  } catch (error) {
    if (!(error instanceof MappingFieldError)) throw error;
    throw mappingError(name, error.pointer, error.message);
  }
}

/** Refuses two kinds of one collection, and a kind in that of the images: webhooks tell the kind by the collection. */
function checkCollections(mapping: MappingFile, imageCollection: string): void {
  const users = new Map([[imageCollection, 'the images']]);
  for (const kind of KINDS.filter((each) => mapping[each])) {
    const collection = collectionName(mapping[kind]!);
    const user = users.get(collection);
    const remedy = kind === 'event' ? 'name another one' : `name another one, or leave "${kind}" out`;
    if (user) throw new MappingFieldError(`/${kind}`, `"${collection}" is the collection of ${user} too: ${remedy}`);
    users.set(collection, `"${kind}"`);
  }
}

/** Compiles the fields of a kind, and puts together what readers, writers, adapters and messages need of them. */
function compileKind(kind: Kind, spec: KindSpec, mapping: MappingFile): KindMapping<Kind> {
  const { occurrences, readOnly = false } = spec;
  const storedAs = storedAsOf(kind, spec);
  const isWritable = ({ field, accessor }: CompiledField): boolean =>
    accessor.write !== undefined && !field.derived && !readOnly;
  const fields = sendDependentTogether(compileFields(kind, spec, mapping), isWritable);
  const customFields = compileCustomFields(spec);
  const readPathsOfKind = [...fields, ...customFields.values()].flatMap(({ accessor }) => accessor.selectedPaths);
  const asRulesSeeIt = { kind, spec, storedAs, fields, readPathsOfKind };
  const rules = CMS_RULES[mapping.upstream];
  rules.checkFields(asRulesSeeIt);
  if (occurrences && fields.some(({ embedded }) => embedded))
    throw new MappingFieldError('/occurrences', 'events with embedded venues or organizers cannot have occurrences');
  const linkFields = fields.flatMap(({ linkField }) => linkField ?? []);
  const postOptions = storedAs === 'posts' ? postOptionsOf(spec, mapping) : undefined;
  const writable = fields.filter(isWritable);
  const propertiesOf = (some: readonly CompiledField[]) => new Set(some.map(({ field }) => field.property));
  const readOne = createReader(kind, fields, customFields, linkFields, postOptions);
  const readers = occurrences ? createSeriesReaders(readOne as KindMapping<'event'>['read']) : { read: readOne };
  return {
    kind,
    collection: collectionName(spec),
    storedAs,
    readOnly,
    cmsSettings: spec[mapping.upstream] ?? {},
    ...(occurrences && { recordParams: occurrenceParams(occurrences) }),
    dedupe: spec.dedupe ?? false,
    paths: new Map(fields.flatMap(singlePath)),
    selectedFields: rules.selectFields(asRulesSeeIt, mapping.event),
    requiredPaths: fields.flatMap(requiredPaths),
    writable: propertiesOf(writable) as KindMapping<Kind>['writable'],
    customFields,
    writtenPathsByProperty: writtenPathsOf(writable, customFields),
    storedAsNumber: propertiesOf(fields.filter(({ accessor }) => accessor.isStoredAsNumber)),
    embedded: Object.fromEntries(fields.flatMap(({ name, embedded }) => (embedded ? [[name, embedded]] : []))),
    linkFields,
    ...readers,
    ...createWriter(fields, writable, customFields, linkFields, readOne),
  } as KindMapping<Kind>;
}

/** A CMS whose collections are all alike has categories and tags as terms, and the other kinds as posts. */
const storedAsOf = (kind: Kind, { terms, collection }: KindSpec): 'posts' | 'terms' =>
  terms !== undefined || (collection !== undefined && isTermKind(kind)) ? 'terms' : 'posts';

function postOptionsOf({ posts = '', fields }: KindSpec, { wordpress }: MappingFile) {
  const type = wordpress?.posts?.[posts];
  // The companion plugin registers the post type: it is not another plugin's.
  const isOfCompanionPlugin = wordpress?.requiresCompanionPlugin === true && type !== undefined && !type.existing;
  return { usesCoreExcerpt: fields?.excerpt === undefined, hasTrueDraftDates: isOfCompanionPlugin };
}

/** Where the field is, by its property. None for a date in two keys, or an embedded venue. */
const singlePath = ({ field, accessor: { selectedPaths }, embedded }: CompiledField): [string, string][] =>
  selectedPaths.length === 1 && !embedded ? [[field.property, selectedPaths[0]!]] : [];

function writtenPathsOf(writable: readonly CompiledField[], customFields: CustomFields): Map<string, string[]> {
  const paths = new Map(writable.map(({ field, accessor }) => [field.property, accessor.storedPaths]));
  for (const [name, { accessor }] of customFields)
    if (accessor.write) paths.set(`customFields.${name}`, accessor.storedPaths);
  return paths;
}

/**
 * What records must have: the paths of start and end, and of `hidden` those in `meta`. If only the companion plugin
 * showed that key, and the plugin is removed, the gateway would list events that WordPress still hides.
 */
function requiredPaths({ field, accessor: { selectedPaths } }: CompiledField): string[] {
  if (field.required) return selectedPaths;
  return field.property === 'hidden' ? selectedPaths.filter((path) => path.startsWith('meta.')) : [];
}

function compileFields(kind: Kind, spec: KindSpec, mapping: MappingFile): CompiledField[] {
  const names = Object.keys(FIELDS[kind]);
  const unknown = Object.keys(spec.fields ?? {}).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const reason = `the API has no such field of ${PLURALS[kind]}; it has ${names.join(', ')}`;
    throw new MappingFieldError(`/fields/${unknown}`, reason);
  }
  const fields = names.flatMap((name) =>
    within(`/fields/${name}`, () => compileNamed(kind, name, spec, mapping) ?? []),
  );
  const start = fields.find(({ name }) => name === 'start_date');
  if (!start) return fields;
  return fields.map((each) =>
    each.name === 'end_date' ? { ...each, accessor: endOnDayOfStart(start.accessor, each.accessor) } : each,
  );
}

/** The field of the API with this name. Returns `undefined` if the site does not have it. */
function compileNamed(kind: Kind, name: string, spec: KindSpec, mapping: MappingFile): CompiledField | undefined {
  const field = FIELDS[kind][name]!;
  const fieldSpec = spec.fields?.[name];
  const { sentWith = [] } = fieldSpecOf(fieldSpec ?? {});
  const unknown = sentWith.find((one) => !Object.hasOwn(FIELDS[kind], one));
  if (unknown !== undefined)
    throw new MappingFieldError('/sentWith', `the API has no field "${unknown}" of ${PLURALS[kind]}`);
  if (field.targetKind) {
    const reference = compileReference(field.targetKind, field, fieldSpec, mapping);
    return reference && { name, field, sentWith, ...reference };
  }
  const location = fieldSpec ?? CMS_RULES[mapping.upstream].coreLocations[storedAsOf(kind, spec)][field.property];
  if (field.required && location === undefined) throw new MappingFieldError('', 'is required: say where it is');
  return location === undefined ? undefined : { name, field, sentWith, accessor: compileField(location, field) };
}

/** An event's reference to records of another kind. Returns `undefined` if the site has no such reference. */
function compileReference(
  target: Exclude<Kind, 'event'>,
  field: Field,
  spec: string | FieldSpec | undefined,
  mapping: MappingFile,
): Pick<CompiledField, 'accessor' | 'embedded' | 'linkField'> | undefined {
  const isLinked = target === 'venue' || target === 'organizer';
  const { embedded, via } = fieldSpecOf(spec ?? {});
  if (embedded && isLinked) return compileEmbedded(target, embedded);
  const targetSpec = mapping[target];
  // WordPress names the terms of a post by the last segment of their collection.
  const location = spec ?? targetSpec?.terms?.split('/').at(-1);
  if (location === undefined) return undefined;
  if (!targetSpec)
    throw new MappingFieldError('', `the mapping does not say where ${PLURALS[target]} are: add "${target}"`);
  const accessor = compileField(location, field);
  if (via && isLinked) return { accessor, linkField: compileLinkField(target, via) };
  return { accessor: isLinked && targetSpec.terms !== undefined ? withIdOffset(accessor) : accessor };
}

/** A venue or organizer that is stored as the term 7 has the id 1,000,000,000,007 in the API (`TERM_ID_OFFSET`). */
function withIdOffset(accessor: FieldAccessor): FieldAccessor {
  const { read, write } = accessor;
  const shift = (ids: unknown, offset: number) => (ids as readonly number[]).map((id) => id + offset);
  return {
    ...accessor,
    read: (cmsRecord, zones) => shift(read(cmsRecord, zones) ?? [], TERM_ID_OFFSET),
    ...(write ? { write: (ids, target) => write(shift(ids, -TERM_ID_OFFSET), target) } : {}),
  };
}
