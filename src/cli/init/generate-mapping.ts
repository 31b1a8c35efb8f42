// Generates a mapping for a post type without a preset, from the names and values of its fields.

import {
  collectionOf,
  type KindSpec,
  type MappingFile,
  type PostTypeSpec,
  type TaxonomySpec,
} from '../../mapping/mapping-file.ts';
import { KINDS, type Kind } from '../../model/records.ts';
import { pathsOf } from '../field-samples.ts';
import type { ProbedSite, ProbedType } from './probe.ts';
import { type DateDecisions, type ProposedDates, proposeDates } from './propose-dates.ts';
import { type ProposedField, proposeFields } from './propose-fields.ts';
import { proposeLinked, proposeTaxonomy } from './propose-linked.ts';

/** What the operator decided by options or in answers. */
export interface Decisions extends DateDecisions {
  /** Name of a bundled mapping. */
  mapping?: string | undefined;
  /** Of the calendar, for a CMS that does not know it. */
  name?: string | undefined;
  /** Collections by kind; `none` leaves the kind out. */
  collections?: Partial<Record<Kind, string>> | undefined;
  /** `event.start_date` -> path; `none` leaves the field out. */
  fields?: Record<string, string> | undefined;
}

export interface ProposedCollection {
  kind: Kind;
  base: string;
  reason: string;
}

export interface GeneratedMapping {
  mapping: MappingFile;
  dates: ProposedDates;
  /** Of the linked kinds. */
  collections: ProposedCollection[];
  fields: ProposedField[];
}

/** Returns undefined if no field looks like the start of an event and the operator named none. */
export function generateMapping(
  { base }: ProbedType,
  probed: ProbedSite,
  decisions: Decisions,
): GeneratedMapping | undefined {
  const site = { ...probed, types: withOwnFields(probed.types) };
  const type = site.types.find((each) => each.base === base)!;
  const dates = proposeDates(type.fields, decisions, decisions.fields?.['event.start_date']);
  if (!dates) return undefined;
  const fields: ProposedField[] = [
    { kind: 'event', field: 'start_date', ...dates.start },
    { kind: 'event', field: 'end_date', ...dates.end },
  ];
  const used = new Set(fields.flatMap(({ source }) => pathsOf(source)));
  const mapping = { name: 'site', upstream: 'wordpress', event: { posts: type.base } } as MappingFile;
  const collections: ProposedCollection[] = [];
  for (const kind of ['venue', 'organizer'] as const) {
    const taken = collectionsOfOthers(kind, mapping, decisions);
    const linked = proposeLinked(kind, type, site, decisions.collections?.[kind], used, taken);
    if (!linked) continue;
    const { collection, link, reason } = linked;
    if (collection) {
      mapping[kind] = collection;
      collections.push({ kind, base: collection.posts ?? collection.terms ?? '', reason });
    }
    if (link) fields.push(link);
    fields.push(...linked.fields);
  }
  fields.push(...proposeFields('event', type.fields, used));
  for (const kind of ['category', 'tag'] as const) {
    const taken = collectionsOfOthers(kind, mapping, decisions);
    const taxonomy = proposeTaxonomy(kind, type, site, taken, decisions.collections?.[kind]);
    if (!taxonomy) continue;
    mapping[kind] = { terms: taxonomy.base };
    collections.push({ kind, ...taxonomy });
  }
  for (const { kind, field, source } of fields) {
    const spec = mapping[kind];
    if (spec) spec.fields = { ...spec.fields, [field]: source };
  }
  return { mapping: { ...mapping, ...wordpressNames(mapping, site) }, dates, collections, fields };
}

/**
 * Leaves out the fields that posts or pages show too, and of which no record of the type has a value: The Events
 * Calendar registers `_EventStartDate` and `_VenuePhone` for all types.
 */
function withOwnFields(types: readonly ProbedType[]): ProbedType[] {
  const isGeneral = ({ base }: ProbedType) => base === 'posts' || base === 'pages';
  const general = new Set(types.filter(isGeneral).flatMap(({ fields }) => fields.map(({ path }) => path)));
  return types.map((type) => {
    const own = type.fields.filter(({ path, values }) => values.some(Boolean) || !general.has(path));
    return isGeneral(type) ? type : { ...type, fields: own };
  });
}

/**
 * The collections of all other kinds, in the mapping so far or by the operator's choice: no two kinds can have
 * the same.
 */
export function collectionsOfOthers(
  kind: Kind,
  mapping: Partial<Record<Kind, KindSpec>>,
  { collections = {} }: Decisions,
): ReadonlySet<string> {
  const others = KINDS.filter((each) => each !== kind);
  return new Set(others.flatMap((other) => [collectionOf(mapping[other] ?? {}), collections[other] ?? '']));
}

/** Types and taxonomies whose collection has another name: the companion plugin needs their own names. */
function wordpressNames(mapping: MappingFile, site: ProbedSite): Pick<MappingFile, 'wordpress'> {
  const posts: Record<string, PostTypeSpec> = {};
  const terms: Record<string, TaxonomySpec> = {};
  for (const kind of KINDS) {
    const type = site.types.find(({ base }) => base === mapping[kind]?.posts);
    if (type && type.type !== type.base && !CORE_COLLECTIONS.has(type.base))
      posts[type.base] = { type: type.type, singular: type.label, plural: type.label, existing: true };
    const taxonomy = site.taxonomies.find(({ base }) => base === mapping[kind]?.terms);
    if (taxonomy && taxonomy.taxonomy !== taxonomy.base && !CORE_COLLECTIONS.has(taxonomy.base))
      terms[taxonomy.base] = { taxonomy: taxonomy.taxonomy, existing: true };
  }
  return Object.keys({ ...posts, ...terms }).length > 0 ? { wordpress: { posts, terms } } : {};
}

const CORE_COLLECTIONS = new Set(['posts', 'pages', 'categories', 'tags']);
