// Compiles a mapping file to functions that read and write the records of each kind. What depends on the CMS is in
// cms-rules.ts.

import { FIELDS, type Field } from '../interface/fields.ts';
import { isTermKind, KINDS, type Kind, TERM_ID_OFFSET } from '../model/records.ts';
import { DAY_MS, wallAfter } from '../time/wall-time.ts';
import { parseZone } from '../time/zones.ts';
import { CMS_RULES } from './cms-rules.ts';
import { type CompiledField, compileField } from './compile-field.ts';
import { compileCustomFields } from './custom-fields.ts';
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
import { MappingFieldError, readAt, within } from './paths.ts';
import { createReader } from './read-record.ts';
import { compileEmbedded, compileLinkField } from './references.ts';
import { createWriter } from './write-record.ts';

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

/** Compiles the fields of a kind, and puts together what readers, writers, adapters and messages need of them. */
function compileKind(kind: Kind, spec: KindSpec, mapping: MappingFile): KindMapping<Kind> {
  const { occurrences, readOnly = false } = spec;
  const storedAs = storedAsOf(kind, spec);
  const isWritable = ({ field, accessor }: CompiledField): boolean =>
    accessor.write !== undefined && !field.derived && !readOnly;
  const fields = sendDependentTogether(compileFields(kind, spec, mapping), isWritable);
  const writable = fields.filter(isWritable);
  const embedded = Object.fromEntries(fields.flatMap(({ name, embedded }) => (embedded ? [[name, embedded]] : [])));
  const linkFields = fields.flatMap(({ linkField }) => linkField ?? []);
  const customFields = compileCustomFields(kind, spec);
  const writableCustom = [...customFields].filter(([, { accessor }]) => accessor.write);
  const readPaths = [...fields, ...customFields.values()].flatMap(({ accessor }) => accessor.selectedPaths);
  const ruled = { kind, spec, storedAs, fields, readPaths };
  const rules = CMS_RULES[mapping.upstream];
  rules.checkFields(ruled);
  if (occurrences) checkOccurrences(kind, fields);
  const postOptions = {
    usesCoreExcerpt: spec.fields?.excerpt === undefined,
    hasTrueDraftDates: isTypeOfCompanionPlugin(spec, mapping),
  };
  const readOne = createReader(kind, fields, customFields, linkFields, storedAs === 'posts' ? postOptions : undefined);
  const readers = occurrences ? createSeriesReaders(readOne as KindMapping<'event'>['read']) : { read: readOne };
  const single = fields.filter(({ accessor, embedded }) => accessor.selectedPaths.length === 1 && !embedded);
  return {
    kind,
    collection: collectionName(spec),
    storedAs,
    readOnly,
    cmsSettings: spec.wordpress ?? {},
    ...(occurrences && { recordParams: occurrenceParams(occurrences) }),
    dedupe: spec.dedupe ?? false,
    paths: new Map(single.map(({ field, accessor }) => [field.key, accessor.selectedPaths[0]])),
    selectedFields: rules.selectFields(ruled, mapping.event),
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
    ...createWriter(fields, writable, customFields, linkFields, readers.read),
  } as KindMapping<Kind>;
}

/** A CMS whose collections are all alike has categories and tags as terms, and the other kinds as posts. */
const storedAsOf = (kind: Kind, { terms, collection }: KindSpec): 'posts' | 'terms' =>
  terms !== undefined || (collection !== undefined && isTermKind(kind)) ? 'terms' : 'posts';

function checkOccurrences(kind: Kind, fields: readonly CompiledField[]): void {
  if (kind !== 'event') throw new MappingFieldError('/occurrences', 'only events can have occurrences');
  if (fields.some(({ embedded }) => embedded))
    throw new MappingFieldError('/occurrences', 'events with embedded venues or organizers cannot have occurrences');
}

/** The companion plugin registers the post type: it is not another plugin's. */
function isTypeOfCompanionPlugin({ posts = '' }: KindSpec, { wordpress }: MappingFile): boolean {
  const type = wordpress?.posts?.[posts];
  return wordpress?.requiresCompanionPlugin === true && type !== undefined && !type.existing;
}

/**
 * The companion plugin may be the only one that shows a `meta` key. If the plugin is removed, WordPress stops showing
 * the key but keeps hiding events by it, so lists need the key too.
 */
function requiredPaths({ field, accessor: { selectedPaths } }: CompiledField): string[] {
  if (field.required) return selectedPaths;
  return field.key === 'hidden' ? selectedPaths.filter((path) => path.startsWith('meta.')) : [];
}

function compileFields(kind: Kind, spec: KindSpec, mapping: MappingFile): CompiledField[] {
  const names = Object.keys(FIELDS[kind]);
  const unknown = Object.keys(spec.fields ?? {}).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new MappingFieldError(
      `/fields/${unknown}`,
      `the API has no such field of ${withArticle(kind)}`,
      `Its fields are: ${names.join(', ')}.`,
    );
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
  const { sentWith = [], embedded, via } = fieldSpecOf(fieldSpec ?? {});
  const unknown = sentWith.find((one) => !Object.hasOwn(FIELDS[kind], one));
  if (unknown !== undefined)
    throw new MappingFieldError('/sentWith', `the API has no field "${unknown}" of ${withArticle(kind)}`);
  if ((embedded || via) && field.targetKind !== 'venue' && field.targetKind !== 'organizer')
    throw new MappingFieldError(embedded ? '/embedded' : '/via', 'is for a venue or an organizer of an event');
  if (field.targetKind) {
    const reference = compileReference(field.targetKind, field, fieldSpec, mapping);
    return reference && { name, field, sentWith, ...reference };
  }
  const location = fieldSpec ?? CMS_RULES[mapping.upstream].coreLocations[storedAsOf(kind, spec)][field.key];
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
  if (spec !== undefined && !targetSpec)
    throw new MappingFieldError('', `the mapping does not say where ${withArticle(target)} is: add "${target}"`);
  if (spec === undefined && targetSpec?.terms === undefined) return undefined;
  // WordPress names the terms of a post by the last segment of their collection.
  const accessor = compileField(spec ?? targetSpec!.terms!.split('/').at(-1)!, field);
  if (via && isLinked) return { accessor, linkField: compileLinkField(target, via) };
  return { accessor: isLinked && targetSpec?.terms !== undefined ? withIdOffset(accessor) : accessor };
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

/**
 * The accessor of an end that has a time of its own and the day of the start (in `parts`: `meta.day`, `meta.until`). If
 * the time is before the start, it is one of the next day: a concert from 20:00 to 01:00.
 */
function endOnDayOfStart(start: FieldAccessor, end: FieldAccessor): FieldAccessor {
  const ownPaths = end.selectedPaths.filter((path) => !start.selectedPaths.includes(path));
  const isOnDayOfStart = ownPaths.length > 0 && ownPaths.length < end.selectedPaths.length;
  if (!isOnDayOfStart) return end;
  const read: FieldAccessor['read'] = (cmsRecord, zones) => {
    const [from, to] = [start.read(cmsRecord, zones), end.read(cmsRecord, zones)];
    if (typeof from !== 'string' || typeof to !== 'string' || to >= from) return to;
    // Without its time the end reads as the midnight at which the day begins: then nobody knows it.
    const hasTime = ownPaths.some((path) => readAt(cmsRecord, path.split('.')));
    return hasTime ? wallAfter(to, DAY_MS) : undefined;
  };
  const write: FieldAccessor['write'] = (value, target) => {
    // The start is in the body: it is written before the end, and sent along with it (`sendDependentTogether`).
    const from = start.read(target.body, target.zones);
    const dayBefore = wallAfter(String(value), -DAY_MS);
    const isNextDay = typeof from === 'string' && dayBefore.slice(0, 10) === from.slice(0, 10) && dayBefore < from;
    end.write?.(isNextDay ? dayBefore : value, target);
  };
  return { ...end, read, ...(end.write && { write }) };
}

/**
 * Sends fields that share a path along with each other: only then the writer sees whether both fit. Sends a date that
 * is stored as an instant along with the zone: its wall time stays when the zone changes.
 */
function sendDependentTogether(
  fields: readonly CompiledField[],
  isWritable: (field: CompiledField) => boolean,
): CompiledField[] {
  const writable = fields.filter(isWritable);
  const hasZone = writable.some(({ name }) => name === 'timezone');
  // The parts of a JSON text do not exclude each other.
  const whole = writable.filter(({ accessor }) => !accessor.isPartOfText);
  return fields.map((field) => {
    if (!isWritable(field)) return field;
    const zone = hasZone && field.accessor.needsZone ? ['timezone'] : [];
    const others = whole.includes(field) ? whole.filter((other) => other !== field) : [];
    const sharing = others.filter(({ accessor }) =>
      accessor.storedPaths.some((path) => field.accessor.storedPaths.includes(path)),
    );
    return { ...field, sentWith: [...field.sentWith, ...zone, ...sharing.map(({ name }) => name)] };
  });
}

const withArticle = (kind: Kind): string => `${/^[aeo]/.test(kind) ? 'an' : 'a'} ${kind}`;
