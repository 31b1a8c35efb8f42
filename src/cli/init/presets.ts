// Recognizes the site of a bundled mapping by its collections, its fields and its plugin, and fits the
// mapping to the site.

import type { Query } from '../../cms/port.ts';
import { settingsOf } from '../../cms/wordpress/record-form.ts';
import { loadMapping, mappingNames } from '../../mapping/load.ts';
import type { FieldSpec, KindSpec, MappingFile } from '../../mapping/mapping-file.ts';
import { metaKeys } from '../../mapping/meta-keys.ts';
import { KINDS } from '../../model/records.ts';
import { formatSample, listPath, pathsOf, valueAtPath } from '../field-samples.ts';
import { OWN_TYPES_PRESET } from './advice.ts';
import type { ProbedSite, ProbedType } from './probe.ts';
import { numberSource } from './propose-fields.ts';

export interface PresetMatch {
  name: string;
  title: string;
  note: string | undefined;
  mapping: MappingFile;
  /** The site shows the dates of events. Otherwise the companion plugin has to open them first. */
  isReadable: boolean;
  /** How much of the mapping the site has: fields if it is readable, otherwise collections. */
  matches: number;
  totalFields: number;
  reason: string;
}

/** Collections that any site may have. */
const GENERIC_COLLECTIONS = new Set([
  'events',
  'event',
  'venues',
  'organizers',
  'tags',
  'categories',
  'location',
  'locations',
  'event_categories',
]);

/** The bundled mappings that fit the site: readable ones first, then those of which the site has more. */
export function matchPresets(site: ProbedSite): PresetMatch[] {
  return mappingNames('wordpress')
    .flatMap((name) => matchPreset(name, site) ?? [])
    .sort(
      (a, b) =>
        Number(b.isReadable) - Number(a.isReadable) ||
        b.matches - a.matches ||
        b.matches / b.totalFields - a.matches / a.totalFields,
    );
}

function matchPreset(name: string, site: ProbedSite): PresetMatch | undefined {
  const mapping = loadMapping(name).source;
  const { title = name, note, wordpress: { plugins = [], namespaces = [] } = {} } = mapping.preset ?? {};
  const fields = KINDS.flatMap((kind) =>
    Object.values(mapping[kind]?.fields ?? {}).map((field) => hasField(postTypeOf(site, mapping[kind]), field)),
  );
  const match = { name, title, note, mapping, totalFields: fields.length };
  const type = postTypeOf(site, mapping.event);
  const { start_date: start, end_date: end } = mapping.event.fields ?? {};
  if (type && hasField(type, start) && hasField(type, end))
    return {
      ...match,
      isReadable: true,
      matches: fields.filter(Boolean).length,
      reason: `the collection ${type.base} has ${pathsOf(start).join(' and ')}`,
    };
  if (!mapping.wordpress?.requiresCompanionPlugin || name === OWN_TYPES_PRESET) return undefined;
  // The site does not show the dates. Its plugin, or a collection that only this plugin has, is evidence too.
  const plugin = site.plugins?.find((folder) => plugins.some((pattern) => isFolder(folder, pattern)));
  const present = KINDS.flatMap((kind) => collectionOf(mapping[kind]) ?? []).filter((base) =>
    hasCollection(site, base),
  );
  const specific = present.filter((base) => !GENERIC_COLLECTIONS.has(base));
  const namespace = namespaces.find((each) => site.namespaces.includes(each));
  const evidence = plugin === undefined ? [...specific, ...(namespace === undefined ? [] : [namespace])] : [plugin];
  if (evidence.length === 0) return undefined;
  const reason = plugin === undefined ? `the site has ${evidence.join(', ')}` : `the plugin ${plugin} is active`;
  return { ...match, isReadable: false, matches: present.length, reason };
}

function isFolder(folder: string, pattern: string): boolean {
  const [name, wanted] = [folder.toLowerCase(), pattern.toLowerCase()];
  return wanted.endsWith('*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted;
}

/** List parameters of the bundled mappings by collection: some plugins hide records from lists without them. */
export function presetListParams(): Record<string, Query> {
  const kinds = mappingNames('wordpress').flatMap((name) => Object.values(loadMapping(name).kinds));
  return Object.fromEntries(
    kinds.flatMap((kind) => {
      const { listParams } = settingsOf(kind);
      return listParams ? [[kind.collection, listParams]] : [];
    }),
  );
}

/** Whether the site shows every path of the field, in the schema or in a record. */
function hasField(type: ProbedType | undefined, field: string | FieldSpec | undefined): boolean {
  return type !== undefined && pathsOf(field).every((path) => hasPath(type, path));
}

function hasPath({ termBases, fields }: ProbedType, path: string): boolean {
  const plain = listPath(path);
  return (
    /^(title|content|excerpt)\b/.test(plain) || // Every post has these.
    termBases.includes(plain) ||
    fields.some((field) => field.path === plain || plain.startsWith(`${field.path}.`))
  );
}

const AFTER_PLUGIN = 'shown once the companion plugin is installed';

/** In how many of the records that were read the field has a value, with an example. */
export function filledReason(values: readonly unknown[], { samples, total }: ProbedType): string {
  const sampled = samples.length < total ? `the ${samples.length} newest` : samples.length;
  return `${values.length} of ${sampled} records have it, such as ${formatSample(values[0])}`;
}

/** What the site shows of the field. `type`: undefined if the site does not show it. */
export function fieldEvidence(type: ProbedType | undefined, field: string | FieldSpec): string {
  if (!type) return AFTER_PLUGIN;
  const paths = pathsOf(field);
  const inFields = type.fields.find(({ path, values }) => paths.includes(path) && values.length > 0)?.values;
  // Terms and WordPress's own fields are not among `fields`.
  const inSamples = type.samples.flatMap((sample) => {
    const value = paths.map((path) => valueAtPath(sample, path)).find(isFilled);
    return value === undefined ? [] : [value];
  });
  const values = inFields ?? inSamples;
  if (values.length > 0) return filledReason(values, type);
  if (hasField(type, field)) return 'in the schema; no record has a value yet';
  return type.samples.length === 0 ? 'no record yet that could have it' : AFTER_PLUGIN;
}

const isFilled = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : typeof value === 'string' && value !== '';

/**
 * The key by which an event plugin hides events, as a path, if the site does not show it. Only the companion
 * plugin opens it: without it the gateway lists the hidden events.
 */
export function hiddenFlagPath(mapping: MappingFile, site: ProbedSite): string | undefined {
  const type = postTypeOf(site, mapping.event);
  const registered = mapping.wordpress?.posts?.[mapping.event.posts ?? ''];
  if (registered !== undefined && registered.existing !== true) return undefined;
  const [path = ''] = pathsOf(mapping.event.fields?.hide_from_listings);
  return type && path.startsWith('meta.') && !hasPath(type, path) ? path : undefined;
}

/**
 * Removes the kinds and fields that the site does not have, which `dropped` names; a cost in a number field
 * gets its codec.
 */
export function prunePreset(preset: MappingFile, site: ProbedSite): { mapping: MappingFile; dropped: string[] } {
  const mapping = structuredClone(preset);
  const dropped: string[] = [];
  // If the site needs the companion plugin anyway, that opens the other keys too; its hooks open fields that
  // are no keys.
  const opensKeys = hiddenFlagPath(preset, site) !== undefined;
  const opensAll = preset.wordpress?.hooks !== undefined;
  for (const kind of KINDS) {
    const base = collectionOf(mapping[kind]);
    if (base === undefined || kind === 'event' || hasCollection(site, base)) continue;
    delete (mapping as Partial<MappingFile>)[kind];
    delete mapping.event.fields?.[kind];
    dropped.push(`${kind}: the site has no collection ${base}`);
  }
  for (const kind of KINDS) {
    const type = postTypeOf(site, mapping[kind]);
    const fields = mapping[kind]?.fields;
    if (!type || !fields || type.fields.length === 0) continue;
    for (const [name, field] of Object.entries(fields)) {
      const paths = pathsOf(field);
      const siteField = type.fields.find(({ path }) => path === field);
      const number = siteField && numberSource(name, siteField);
      if (number) fields[name] = number;
      if (name === 'start_date' || name === 'end_date' || hasField(type, field)) continue;
      if (opensAll || (opensKeys && paths.every((path) => path.startsWith('meta.')))) continue;
      delete fields[name];
      dropped.push(`${kind}.${name}: ${type.base} has no ${paths.join(', ')}`);
    }
  }
  return { mapping, dropped };
}

/** Whether the mapping uses `meta` keys that the site's schema lacks. */
export function lacksMetaKeys(mapping: MappingFile, site: ProbedSite): boolean {
  return KINDS.some((kind) => {
    const spec = mapping[kind];
    if (spec?.posts === undefined) return false;
    const known = new Set(postTypeOf(site, spec)?.fields.map(({ path }) => path));
    return metaKeys(kind, spec, mapping.event).some(({ key }) => !known.has(`meta.${key}`));
  });
}

const collectionOf = (spec: KindSpec | undefined): string | undefined => spec?.posts ?? spec?.terms;

const hasCollection = ({ types, taxonomies }: ProbedSite, base: string): boolean =>
  [...types, ...taxonomies].some((each) => each.base === base);

const postTypeOf = ({ types }: ProbedSite, spec: KindSpec | undefined): ProbedType | undefined =>
  spec?.posts === undefined ? undefined : types.find(({ base }) => base === spec.posts);
