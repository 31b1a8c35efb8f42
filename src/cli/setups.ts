// The setups that come with the gateway, and how each is recognised on a site: by its collections, its keys, its plugin.

import { loadMapping, mappingNames } from '../mapping/load.ts';
import { metaKeys } from '../mapping/meta-keys.ts';
import type { FieldSource, KindSource, MappingSource, SpotSource } from '../mapping/source.ts';
import { KINDS, type Kind } from '../records.ts';
import type { SiteFacts, TypeFacts } from './probe.ts';

interface Setup {
  title: string;
  /** Folder of the plugin. */
  plugin?: RegExp;
  /** What has to be said when it is chosen. */
  note?: string;
}

/** By the name of the mapping. */
const SETUPS: Readonly<Record<string, Setup>> = {
  'wordpress-meta': { title: "post types of the gateway's own PHP file" },
  acf: { title: 'post types with Advanced Custom Fields', plugin: /^(advanced-custom-fields|secure-custom-fields)/ },
  pods: { title: 'post types made with Pods', plugin: /^pods$/ },
  gatherpress: { title: 'GatherPress', plugin: /^gatherpress$/ },
  'tribe-events-native': {
    title: 'The Events Calendar',
    plugin: /^the-events-calendar$/,
    note: 'The Events Calendar lists upcoming events only. Its own interface (/wp-json/tribe/events/v1) answers the same questions: if it is open, clients need no gateway.',
  },
  'wp-event-manager': { title: 'WP Event Manager', plugin: /^wp-event-manager$/ },
  eventon: { title: 'EventON', plugin: /^eventon/i },
  'event-organiser': { title: 'Event Organiser', plugin: /^event-organiser$/ },
  'events-manager': { title: 'Events Manager', plugin: /^events-manager$/ },
  'modern-events-calendar': { title: 'Modern Events Calendar', plugin: /^modern-events-calendar/ },
};

export interface Recognised {
  name: string;
  title: string;
  note?: string;
  source: MappingSource;
  /** Lines of which the site shows the place, and all lines. */
  found: number;
  lines: number;
  /** The dates can be read as the site is. Otherwise the PHP file has to go in first. */
  open: boolean;
  /** Why the site was taken for this. */
  because: string;
}

/** Collections that anybody may have; they say nothing by themselves. */
const COMMON = new Set([
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

/** How one shipped mapping and a site go together; `undefined` when they do not. */
function fitting(name: string, site: SiteFacts): Recognised | undefined {
  const source = loadMapping(name).source;
  const setup = SETUPS[name] ?? { title: name };
  const bases = KINDS.flatMap((kind) => source[kind]?.posts ?? source[kind]?.terms ?? []);
  const present = bases.filter((base) => hasBase(site, base));
  const type = site.types.find(({ base }) => base === source.event.posts);
  const paths = KINDS.flatMap((kind) => linesOf(source, kind, typeOf(site, source[kind])));
  const dates = type
    ? ['start_date', 'end_date'].every((field) =>
        pathsOf(source.event.fields?.[field]).every((path) => shows(type, path)),
      )
    : false;
  const plugin = site.plugins?.find((folder) => setup.plugin?.test(folder));
  const own = present.filter((base) => !COMMON.has(base));
  const known: Omit<Recognised, 'open' | 'because'> = {
    name,
    title: setup.title,
    ...(setup.note ? { note: setup.note } : {}),
    source,
    found: paths.filter(Boolean).length,
    lines: paths.length,
  };
  if (type && dates)
    return {
      ...known,
      open: true,
      because: `the collection ${type.base} has ${pathsOf(source.event.fields?.start_date).join(' and ')}`,
    };
  // Its dates are not shown. That it is there can be told by collections that nobody else has, or by the plugin itself.
  if (!source.requiresHelper || name === 'wordpress-meta') return undefined;
  if (plugin !== undefined)
    return { ...known, found: present.length, open: false, because: `the plugin ${plugin} is active` };
  if (own.length > 0)
    return { ...known, found: present.length, open: false, because: `the site has ${own.join(', ')}` };
  return undefined;
}

/** The shipped mappings that a site looks made for: readable ones first, then those that more of the site speaks for. */
export function recognise(site: SiteFacts): Recognised[] {
  return mappingNames()
    .flatMap((name) => fitting(name, site) ?? [])
    .sort(
      (one, other) =>
        Number(other.open) - Number(one.open) ||
        other.found - one.found ||
        other.found / other.lines - one.found / one.lines,
    );
}

/** List parameters of the shipped mappings by collection: some plugins hide records without them. */
export function listQuirks(): Record<string, KindSource> {
  return Object.fromEntries(
    mappingNames().flatMap((name) => {
      const source = loadMapping(name).source;
      return KINDS.flatMap((kind) => {
        const base = source[kind]?.posts;
        return base !== undefined && source[kind]?.listParams ? [[base, source[kind]]] : [];
      });
    }),
  );
}

/** Paths that a line reads. */
export function pathsOf(line: string | FieldSource | undefined): string[] {
  if (line === undefined) return [];
  if (typeof line === 'string') return [line];
  if (line.inline) return Object.values(line.inline);
  const spot: string | SpotSource = line.read ?? line;
  if (typeof spot === 'string') return [spot];
  return spot.parts ? spot.parts.map(({ at }) => at) : spot.at === undefined ? [] : [spot.at];
}

/** Whether the site shows this place of a type, in its schema or in a record. What the core has is always there. */
export function shows(type: TypeFacts, path: string): boolean {
  const plain = path.split(/\[\d+\]/, 1)[0]!;
  if (/^(title|content|excerpt)\b/.test(plain)) return true;
  return (
    type.terms.includes(plain) ||
    type.places.some(({ path: known }) => known === plain || plain.startsWith(`${known}.`))
  );
}

/**
 * The key by which the events' plugin hides some of them, as a path, where the site does not show it. Only the PHP file opens it: without
 * it the gateway lists what the plugin hides.
 */
export function unseenHiding(source: MappingSource, site: SiteFacts): string | undefined {
  const type = typeOf(site, source.event);
  const given = source.wordpress?.posts?.[source.event.posts ?? ''];
  if (given !== undefined && given.existing !== true) return undefined;
  const [path = ''] = pathsOf(source.event.fields?.hide_from_listings);
  return type && path.startsWith('meta.') && !shows(type, path) ? path : undefined;
}

/**
 * The mapping without the kinds and lines that this site does not have; what was left out, in words. Keys stay where the site needs the PHP
 * file in any case, since that opens them.
 */
export function pruned(source: MappingSource, site: SiteFacts): { source: MappingSource; dropped: string[] } {
  const cut = structuredClone(source);
  const dropped: string[] = [];
  const opens = unseenHiding(source, site) !== undefined;
  for (const kind of KINDS) {
    const about = cut[kind];
    const base = about?.posts ?? about?.terms;
    if (!about || base === undefined || kind === 'event') continue;
    if (hasBase(site, base)) continue;
    delete (cut as Partial<MappingSource>)[kind];
    const fields = cut.event.fields ?? {};
    if (kind in fields) delete fields[kind];
    dropped.push(`${kind}: the site has no collection ${base}`);
  }
  for (const kind of KINDS) {
    const type = typeOf(site, cut[kind]);
    const fields = cut[kind]?.fields;
    if (!type || !fields || type.places.length === 0) continue;
    for (const [field, line] of Object.entries(fields)) {
      const paths = pathsOf(line);
      if (field === 'start_date' || field === 'end_date' || paths.every((path) => shows(type, path))) continue;
      if (opens && paths.every((path) => path.startsWith('meta.'))) continue;
      delete fields[field];
      dropped.push(`${kind}.${field}: ${type.base} has no ${paths.join(', ')}`);
    }
  }
  return { source: cut, dropped };
}

/** `meta` keys that the mapping uses and the site's schema does not have, by collection. */
export function missingKeys(source: MappingSource, site: SiteFacts): Record<string, string[]> {
  const missing: Record<string, string[]> = {};
  for (const kind of KINDS) {
    const about = source[kind];
    if (about?.posts === undefined) continue;
    const type = typeOf(site, about);
    const keys = metaKeys(kind, about, source.event).map(({ key }) => key);
    const absent = keys.filter((key) => !type?.places.some(({ path }) => path === `meta.${key}`));
    if (absent.length > 0) missing[about.posts] = absent;
  }
  return missing;
}

function hasBase({ types, taxonomies }: SiteFacts, base: string): boolean {
  return types.some((type) => type.base === base) || taxonomies.some((taxonomy) => taxonomy.base === base);
}

function typeOf({ types }: SiteFacts, about: KindSource | undefined): TypeFacts | undefined {
  return about?.posts === undefined ? undefined : types.find(({ base }) => base === about.posts);
}

function linesOf(source: MappingSource, kind: Kind, type: TypeFacts | undefined): boolean[] {
  const lines = Object.values(source[kind]?.fields ?? {});
  return lines.map((line) => type !== undefined && pathsOf(line).every((path) => shows(type, path)));
}
