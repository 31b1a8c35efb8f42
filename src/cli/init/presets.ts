// The mappings that come with the gateway: recognizes the site of one by its collections, its fields and its plugin,
// and fits the mapping to the site. Recognizes event plugins that no mapping can serve, too.

import { loadMapping, mappingNames } from '../../mapping/load.ts';
import { collectionName, type FieldSpec, type KindSpec, type MappingFile } from '../../mapping/mapping-file.ts';
import { metaKeys } from '../../mapping/meta-keys.ts';
import { KINDS } from '../../model/records.ts';
import { formatSample, isBlank, listPath, readPathsOf, valueAtPath } from '../open-site.ts';
import { numberLocation } from './infer.ts';
import { type ProbedSite, type ProbedType, typeAt } from './site.ts';

/**
 * The mapping whose post types the companion plugin registers, for a site without events. All its collections are in
 * `GENERIC_COLLECTIONS`, and it names no plugin: `matchPreset` finds it only where the site shows each of its fields.
 */
export const OWN_TYPES_PRESET = 'wordpress-meta';

export type PresetMatch = NonNullable<ReturnType<typeof matchPreset>>;

/** Names that a theme gives to its own types, too: such a collection does not tell which plugin the site has. */
export const GENERIC_COLLECTIONS: ReadonlySet<string> = new Set(
  'events event venues organizers tags categories location locations event_categories'.split(' '),
);

/** The bundled mappings that fit the site: first those whose dates the site shows. */
export const matchPresets = (site: ProbedSite): PresetMatch[] =>
  mappingNames('wordpress')
    .flatMap((name) => matchPreset(name, site) ?? [])
    .sort((a, b) => Number(b.showsDates) - Number(a.showsDates));

/**
 * Of event-organiser, whose mapping has the collections `event`, which a theme may have too, and `event-venue`:
 *
 *   the site shows                                    result
 *   each of its collections, with each of its fields  `showsDates` (`showsAll`)
 *   event-venue, and the start and end of `event`     `showsDates` (`showsOwnDates`)
 *   event-venue; or the plugin or its routes          not `showsDates`: the companion plugin has to open the dates
 *   `event`, with its start and end                   none
 */
function matchPreset(name: string, site: ProbedSite) {
  const mapping = loadMapping(name).file;
  const specs = KINDS.flatMap((kind) => mapping[kind] ?? []);
  const showsAll = specs.every((spec) => isShown(site, spec));
  const signs = specs.map(collectionName).filter((base) => hasCollection(site, base) && !GENERIC_COLLECTIONS.has(base));
  const type = typeAt(site, mapping.event.posts);
  const { start_date: start, end_date: end } = mapping.event.fields ?? {};
  const showsOwnDates = signs.length > 0 && hasField(type, start) && hasField(type, end);
  if (showsAll || showsOwnDates) {
    const reason = `the collection ${collectionName(mapping.event)} has ${readPathsOf(start).join(' and ')}`;
    return { name, mapping, showsDates: true, reason };
  }
  // ACF and GatherPress show their fields themselves: there is nothing to open.
  if (!mapping.wordpress?.requiresCompanionPlugin) return undefined;
  const { plugins = [], namespaces = [] } = mapping.preset?.wordpress ?? {};
  const active = site.plugins?.filter((folder) => plugins.some((pattern) => isFolder(folder, pattern))) ?? [];
  const routes = namespaces.filter((each) => site.namespaces.includes(each));
  const evidence = [...active.map((folder) => `the plugin ${folder}`), ...signs, ...routes];
  if (evidence.length === 0) return undefined;
  return { name, mapping, showsDates: false, reason: `the site has ${evidence.join(', ')}` };
}

/** Whether the site has the collection, and shows every field of its records. Of terms no field is looked at. */
function isShown(site: ProbedSite, spec: KindSpec): boolean {
  const type = typeAt(site, spec.posts);
  if (!type) return hasCollection(site, collectionName(spec));
  return Object.entries(spec.fields ?? {}).every(([name, field]) => {
    const whereWritten = typeof field === 'string' ? [] : [field.write ?? []].flat();
    const hasAll = hasField(type, field) && whereWritten.every((each) => hasField(type, each));
    return hasAll && !isTextOfNumber(type, name, field);
  });
}

/** Such as `"cost": "meta.fee"` of a site with numbers in `meta.fee`, which refuses the gateway's text. */
function isTextOfNumber({ fields }: ProbedType, name: string, field: string | FieldSpec): boolean {
  const siteField = fields.find(({ path }) => path === field);
  return siteField !== undefined && numberLocation(name, siteField) !== undefined;
}

/** The folder of a plugin that is not on wordpress.org may have capitals, such as `eventON`. */
function isFolder(folder: string, pattern: string): boolean {
  const name = folder.toLowerCase();
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** What every post of WordPress has. */
const CORE_PATH = /^(title\.|content\.|excerpt\.)/;

/** Whether the site shows every path of the field, in the schema or in a record. */
function hasField(type: ProbedType | undefined, field: string | FieldSpec | undefined): boolean {
  if (!type) return false;
  return readPathsOf(field).every((path) => {
    const plain = listPath(path);
    const isIn = (each: { path: string }) => each.path === plain || plain.startsWith(`${each.path}.`);
    return CORE_PATH.test(plain) || type.termBases.includes(plain) || type.fields.some(isIn);
  });
}

/** In how many of the newest records the field has a value, with an example. */
export function fieldEvidence(type: ProbedType | undefined, field: string | FieldSpec): string {
  const { newestRecords: records = [] } = type ?? {};
  const shown = records.map((record) => readPathsOf(field).map((path) => valueAtPath(record, path)));
  const values = shown.flatMap((each) => each.filter((value) => !isBlank(value)).slice(0, 1));
  const count = `${values.length} of the ${records.length} newest records`;
  if (values.length > 0) return `${count} have it, such as ${formatSample(values[0])}`;
  return hasField(type, field) ? 'no record has a value yet' : 'shown once the companion plugin is installed';
}

/** Whether the site's schema has every `meta` key of the mapping. */
export const showsAllKeys = (mapping: MappingFile, site: ProbedSite): boolean =>
  KINDS.every((kind) => {
    const spec = mapping[kind];
    if (spec?.posts === undefined) return true;
    const shown = new Set(typeAt(site, spec.posts)?.fields.map(({ path }) => path));
    return metaKeys(kind, spec, mapping.event).every(({ key }) => shown.has(`meta.${key}`));
  });

const hasCollection = ({ types, taxonomies }: ProbedSite, base: string): boolean =>
  [...types, ...taxonomies].some((each) => each.base === base);

/**
 * Plugins whose events no mapping can serve, with what shows that a site has one: folders (only administrators see
 * them), namespaces of routes, collections. Observed on WordPress 7.1.1 with the versions in docs/mapping.md.
 */
const UNSUPPORTED_PLUGINS: Readonly<Record<string, readonly string[]>> = {
  'My Calendar': ['my-calendar', 'my-calendar-pro', 'my-calendar/v1', 'mc-events', 'mc-locations'],
  'Sugar Calendar': [
    ...['sugar-calendar', 'sugar-calendar-lite', 'sugar-calendar/v1', 'sugar-calendar/setup-wizard/v1', 'sc_event'],
  ],
  'Events Made Easy': ['events-made-easy', 'events-made-easy/v1'],
  'All-in-One Event Calendar': ['all-in-one-event-calendar', 'ai1ec_event'],
};

export function unsupportedPlugins({ types, plugins = [], namespaces }: ProbedSite): string[] {
  const shown = new Set([...plugins, ...namespaces, ...types.map(({ base }) => base)]);
  return Object.entries(UNSUPPORTED_PLUGINS).flatMap(([title, signs]) =>
    signs.some((each) => shown.has(each)) ? [title] : [],
  );
}

/**
 * Names of event plugins that no mapping knows, such as `eventprime-event-calendar-management`: their folders, or, for
 * an account that may not see folders, the namespaces of their routes.
 */
export const unknownEventPlugins = ({ plugins, namespaces }: ProbedSite): string[] =>
  (plugins ?? namespaces).filter((name) => /(^|[-_/])(event|calend|kalend)/i.test(name) && !OWN_ROUTES.test(name));

const OWN_ROUTES = /^calendar-gateway\b/;
