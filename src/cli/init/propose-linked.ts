// Proposes where the venues, organizers, categories and tags of a site's events are.

import type { KindSpec } from '../../mapping/mapping-file.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { LinkedKind } from '../../model/records.ts';
import { foldName } from '../../text/html.ts';
import { formatSample } from '../field-samples.ts';
import { KIND_WORDS, kindWords, nameScore, normalizedName } from './field-synonyms.ts';
import { type InferredIds, inferIds } from './infer-codecs.ts';
import type { ProbedSite, ProbedType, SourceField } from './probe.ts';
import { nameReason, type ProposedField, proposeFields } from './propose-fields.ts';

export interface ProposedLink {
  /** Absent if the record is embedded in the event. */
  collection?: KindSpec;
  reason: string;
  /** The field of the event that holds the link. */
  link?: ProposedField;
  fields: ProposedField[];
}

/**
 * Venues and organizers are records that the event holds the ids of, or terms, or only text in the event.
 * @param wanted the collection that the operator named, or `none`
 * @param taken collections of other kinds
 */
export function proposeLinked(
  kind: LinkedKind,
  event: ProbedType,
  site: ProbedSite,
  wanted: string | undefined,
  used: Set<string>,
  taken: ReadonlySet<string>,
): ProposedLink | undefined {
  if (wanted === 'none') return undefined;
  const words = KIND_WORDS[kind];
  const candidates = event.fields.filter(
    // The list of a taxonomy's terms has ids of terms: many are also ids of posts.
    ({ path }) => words.test(normalizedName(path)) && !used.has(path) && !event.termBases.includes(path),
  );
  const named = site.types.find(
    ({ type, base }) =>
      !taken.has(base) && (wanted === undefined ? words.test(`${type} ${base}`.toLowerCase()) : base === wanted),
  );
  for (const field of candidates) {
    const inferred = inferIds(field);
    const owner = inferred && ownerOf(inferred, field, event, site, wanted);
    // Without an id, only the name of the type tells.
    const type = owner ?? (inferred?.ids.length === 0 ? named : undefined);
    if (!inferred || !type || taken.has(type.base) || (wanted !== undefined && type.base !== wanted)) continue;
    used.add(field.path);
    const isAcf = field.path.startsWith('acf.');
    const as = inferred.as === undefined ? {} : { as: inferred.as };
    return {
      collection: { posts: type.base },
      reason: owner ? `${field.path} of ${event.base} holds its ids` : 'has a similar name',
      link: {
        kind: 'event',
        field: kind,
        // ACF refuses an empty list.
        source: inferred.as || isAcf ? { at: field.path, ...as, ...(isAcf ? { clearWith: null } : {}) } : field.path,
        reason: owner ? `holds ids of ${type.base}: ${formatSample(field.values[0])}` : nameReason(field),
      },
      fields: proposeFields(kind, type.fields, new Set()),
    };
  }
  const taxonomy = site.taxonomies.find(
    ({ taxonomy, base }) =>
      event.taxonomies.includes(taxonomy) &&
      !taken.has(base) &&
      (wanted === undefined ? words.test(taxonomy) : base === wanted),
  );
  if (taxonomy) return { collection: { terms: taxonomy.base }, reason: `a taxonomy of ${event.base}`, fields: [] };
  const text = candidates
    .filter(({ values }) => values.length > 0 && values.every((value) => typeof value === 'string'))
    .sort((a, b) => nameScore(b.path, kindWords(kind)) - nameScore(a.path, kindWords(kind)))[0];
  if (text) return embedded(kind, event, text, used);
  if (!named || wanted === undefined) return undefined;
  const fields = proposeFields(kind, named.fields, new Set());
  return { collection: { posts: named.base }, reason: 'you named it', fields };
}

/**
 * The post type of the records that the ids belong to, by their names where the field shows them. Ids alone that
 * are those of pages or of several types are rather ids of terms, users or rows of a plugin's table.
 */
function ownerOf(
  { ids }: InferredIds,
  { values }: SourceField,
  event: ProbedType,
  { typeById, titleById = {}, types }: ProbedSite,
  wanted: string | undefined,
): ProbedType | undefined {
  const [owner, ...others] = new Set(ids.flatMap((id) => typeById[id] ?? []));
  const named = values.flat().filter(isObject);
  const isOther = ({ ID, id, post_title, name, display_name }: JsonObject): boolean => {
    const [shown, title] = [post_title ?? name ?? display_name, titleById[Number(ID ?? id)]];
    return shown !== undefined && title !== undefined && foldName(String(shown)) !== foldName(title);
  };
  if (others.length > 0 || owner === event.type || named.some(isOther)) return undefined;
  const isPage = owner === 'page' || owner === 'post';
  return isPage && named.length === 0 && wanted === undefined ? undefined : types.find(({ type }) => type === owner);
}

/** A venue or organizer that is only text: other texts of the event may be its address, city ... */
function embedded(kind: LinkedKind, event: ProbedType, text: SourceField, used: Set<string>): ProposedLink {
  used.add(text.path);
  const embedded: Record<string, string> = { [kind]: text.path };
  for (const { field, source } of proposeFields(kind, event.fields, new Set(used)))
    if (typeof source === 'string' && !['website', 'show_map', 'show_map_link', 'geo_lat', 'geo_lng'].includes(field)) {
      embedded[field] = source;
      used.add(source);
    }
  const reason = `only text in the event, so read-only: ${formatSample(text.values[0])}`;
  return { reason: '', link: { kind: 'event', field: kind, source: { embedded }, reason }, fields: [] };
}

/** The collection of the categories (hierarchical) or tags (flat) of a type. */
export function proposeTaxonomy(
  kind: 'category' | 'tag',
  event: ProbedType,
  { taxonomies }: ProbedSite,
  taken: ReadonlySet<string>,
  wanted: string | undefined,
): { base: string; reason: string } | undefined {
  const candidates = taxonomies.filter(
    ({ taxonomy, base, hierarchical }) =>
      event.taxonomies.includes(taxonomy) && !taken.has(base) && hierarchical === (kind === 'category'),
  );
  const chosen =
    wanted === undefined
      ? (candidates.find(({ taxonomy }) => KIND_WORDS[kind].test(taxonomy)) ?? candidates[0])
      : taxonomies.find(({ base }) => base === wanted);
  if (!chosen) return undefined;
  return { base: chosen.base, reason: `a ${chosen.hierarchical ? 'hierarchical' : 'flat'} taxonomy of ${event.base}` };
}
