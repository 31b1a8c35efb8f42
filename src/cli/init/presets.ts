// The mappings that come with the gateway: recognizes the site of one by its collections, its fields and its plugin,
// and fits the mapping to the site. Recognizes event plugins that no mapping can serve, too.

import type { Query } from '../../cms/port.ts';
import { settingsOf } from '../../cms/wordpress/record-form.ts';
import { loadMapping, mappingNames } from '../../mapping/load.ts';
import {
  type CmsName,
  collectionOf,
  type FieldSpec,
  type KindSpec,
  type MappingFile,
} from '../../mapping/mapping-file.ts';
import { metaKeys } from '../../mapping/meta-keys.ts';
import { KINDS } from '../../model/records.ts';
import { formatSample, listPath, pathsOf, valueAtPath } from '../samples.ts';
import { numberSource } from './infer.ts';
import { isBlank, type ProbedSite, type ProbedType, typeAt } from './site.ts';

/** The mapping whose post types the companion plugin registers, for a site without events. */
export const OWN_TYPES_PRESET = 'wordpress-meta';

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
  /** Collections and paths, such as `events.cost`, that the site does not show. */
  missing: string[];
  reason: string;
}

/** Collections that any site may have. */
const GENERIC_COLLECTIONS = new Set(
  'events event venues organizers tags categories location locations event_categories'.split(' '),
);

/** The bundled mappings that fit the site: readable ones first, then those of which the site has more. */
export function matchPresets(site: ProbedSite): PresetMatch[] {
  return mappingNames(site.cms)
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
  const { title = `the mapping ${name}`, note, wordpress = {} } = mapping.preset ?? {};
  const { plugins = [], namespaces = [] } = wordpress;
  const fields = KINDS.flatMap((kind) =>
    Object.values(mapping[kind]?.fields ?? {}).map((field) => hasField(typeOf(site, mapping[kind]), field)),
  );
  const missing = missingIn(site, mapping);
  const matches = fields.filter(Boolean).length;
  const match = { name, title, note, mapping, totalFields: fields.length, matches, missing };
  // Payload's collections have any names: those of the bundled mapping count only if all are there.
  if (site.cms === 'payload')
    return { ...match, isReadable: missing.length === 0, reason: 'the site has all its collections and fields' };
  const type = typeOf(site, mapping.event);
  const { start_date: start, end_date: end } = mapping.event.fields ?? {};
  if (type && hasField(type, start) && hasField(type, end))
    return { ...match, isReadable: true, reason: `the collection ${type.base} has ${pathsOf(start).join(' and ')}` };
  if (!mapping.wordpress?.requiresCompanionPlugin || name === OWN_TYPES_PRESET) return undefined;
  // The site does not show the dates. Its plugin, or a collection that only this plugin has, is evidence too.
  const plugin = site.plugins?.find((folder) => plugins.some((pattern) => isFolder(folder, pattern)));
  const present = KINDS.map((kind) => collectionOf(mapping[kind] ?? {})).filter((base) => hasCollection(site, base));
  const specific = present.filter((base) => !GENERIC_COLLECTIONS.has(base));
  const namespace = namespaces.find((each) => site.namespaces.includes(each));
  const evidence = plugin === undefined ? [...specific, ...(namespace === undefined ? [] : [namespace])] : [plugin];
  if (evidence.length === 0) return undefined;
  const reason = plugin === undefined ? `the site has ${evidence.join(', ')}` : `the plugin ${plugin} is active`;
  return { ...match, isReadable: false, matches: present.length, reason };
}

function missingIn(site: ProbedSite, mapping: MappingFile): string[] {
  return KINDS.flatMap((kind) => {
    const spec = mapping[kind];
    if (!spec) return [];
    const type = typeOf(site, spec);
    if (!type) return [collectionOf(spec)];
    const written = (field: string | FieldSpec) => (typeof field === 'string' ? [] : [field.write ?? []].flat());
    const paths = Object.values(spec.fields ?? {}).flatMap((field) => [field, ...written(field)].flatMap(pathsOf));
    return [...new Set(paths)].filter((path) => !hasPath(type, path)).map((path) => `${type.base}.${path}`);
  });
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

/** What every post of WordPress has. */
const CORE_PATH = /^(title\.|content\.|excerpt\.)/;

function hasPath({ termBases, fields }: ProbedType, path: string): boolean {
  const plain = listPath(path);
  const isShown = fields.some((field) => field.path === plain || plain.startsWith(`${field.path}.`));
  return CORE_PATH.test(plain) || termBases.includes(plain) || isShown;
}

/**
 * In how many of the newest records the field has a value, with an example. `type`: undefined if the site does not
 * show it.
 */
export function fieldEvidence(type: ProbedType | undefined, field: string | FieldSpec, cms: CmsName): string {
  const absent = cms === 'payload' ? 'the site does not show it' : 'shown once the companion plugin is installed';
  if (!type) return absent;
  const { samples, total } = type;
  const values = samples.flatMap((sample) => {
    const shown = pathsOf(field).map((path) => valueAtPath(sample, path));
    return shown.filter((value) => !isBlank(value)).slice(0, 1);
  });
  const read = samples.length < total ? `the ${samples.length} newest` : samples.length;
  if (values.length > 0) return `${values.length} of ${read} records have it, such as ${formatSample(values[0])}`;
  if (hasField(type, field)) return 'no record has a value yet';
  return samples.length === 0 ? 'no record yet that could have it' : absent;
}

/**
 * The key by which an event plugin hides events, as a path, if the site does not show it. Only the companion
 * plugin opens it: without it the gateway lists the hidden events.
 */
export function hiddenFlagPath(mapping: MappingFile, site: ProbedSite): string | undefined {
  const type = typeOf(site, mapping.event);
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
    const base = collectionOf(mapping[kind] ?? {});
    if (base === '' || kind === 'event' || hasCollection(site, base)) continue;
    delete (mapping as Partial<MappingFile>)[kind];
    delete mapping.event.fields?.[kind];
    dropped.push(`${kind}: the site has no collection ${base}`);
  }
  for (const kind of KINDS) {
    const type = typeOf(site, mapping[kind]);
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
    const known = new Set(typeOf(site, spec)?.fields.map(({ path }) => path));
    return metaKeys(kind, spec, mapping.event).some(({ key }) => !known.has(`meta.${key}`));
  });
}

const hasCollection = ({ types, taxonomies }: ProbedSite, base: string): boolean =>
  [...types, ...taxonomies].some((each) => each.base === base);

const typeOf = (site: ProbedSite, spec: KindSpec | undefined): ProbedType | undefined =>
  typeAt(site, spec?.posts ?? spec?.collection);

export interface UnsupportedPlugin {
  title: string;
  /** Its folders in wp-content/plugins/, which only administrators see. */
  folders: readonly string[];
  /** The namespaces of its routes, which everybody sees. */
  namespaces: readonly string[];
  /** Its post types and taxonomies in wp/v2. */
  collections: readonly string[];
  /** Why its events cannot be replicated: completes "the gateway cannot serve its events: ...". */
  reason: string;
}

/** Observed on WordPress 7.1.1 with the versions in docs/setup.md. */
const UNSUPPORTED_PLUGINS: readonly UnsupportedPlugin[] = [
  {
    title: 'My Calendar',
    folders: ['my-calendar', 'my-calendar-pro'],
    namespaces: ['my-calendar/v1'],
    collections: ['mc-events', 'mc-locations'],
    reason:
      'their dates, places and categories are in database tables of its own (wp_my_calendar ...), its post type is not in the REST API, and its route my-calendar/v1/events lists the public occurrences of some days, not the events that changed',
  },
  {
    title: 'Sugar Calendar',
    folders: ['sugar-calendar', 'sugar-calendar-lite'],
    namespaces: ['sugar-calendar/v1', 'sugar-calendar/setup-wizard/v1'],
    collections: ['sc_event', 'sc_event_category', 'sc_event_tags'],
    reason:
      'their dates are in a database table of its own (wp_sc_events), which no route of the REST API shows; its post type, if it is there at all, has the titles alone',
  },
  {
    title: 'Events Made Easy',
    folders: ['events-made-easy'],
    namespaces: ['events-made-easy/v1'],
    collections: [],
    reason: 'they are in database tables of its own (wp_eme_events ...), which no route of the REST API shows',
  },
  {
    title: 'All-in-One Event Calendar',
    folders: ['all-in-one-event-calendar'],
    namespaces: [],
    collections: ['ai1ec_event'],
    reason: 'their dates are in a database table of its own (wp_ai1ec_events), which no route of the REST API shows',
  },
];

/** The unsupported plugins of a site. */
export function unsupportedPlugins(site: ProbedSite): UnsupportedPlugin[] {
  const collections = [...site.types, ...site.taxonomies].map(({ base }) => base);
  const has = (present: readonly string[], wanted: readonly string[]) => wanted.some((each) => present.includes(each));
  return UNSUPPORTED_PLUGINS.filter(
    (plugin) =>
      has(site.plugins ?? [], plugin.folders) ||
      has(site.namespaces, plugin.namespaces) ||
      has(collections, plugin.collections),
  );
}

/**
 * Folders and namespaces of plugins whose names say that they have events. Those of a bundled mapping are among them.
 */
export function namedLikeEvents({ plugins = [], namespaces }: ProbedSite): string[] {
  const names = [...plugins, ...namespaces.map((namespace) => namespace.split('/', 1)[0] ?? '')];
  return [...new Set(names)].filter((name) => /event|calendar|kalender/i.test(name) && name !== 'calendar-gateway');
}
