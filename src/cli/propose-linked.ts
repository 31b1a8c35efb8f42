// Finds where a site keeps what its events are linked to: venues, organizers, categories, tags.

import type { FieldSource, KindSource, MappingSource } from '../mapping/source.ts';
import { KINDS, type LinkedKind } from '../records.ts';
import type { SiteFacts, TypeFacts } from './probe.ts';
import { type Line, proposeFields, reasonFor } from './propose-fields.ts';
import { guessIds } from './recognise.ts';
import { KIND_NAMES, KIND_WORDS, nameScore, plainName, shown } from './words.ts';

export interface LinkedProposal {
  about?: KindSource;
  reason: string;
  line?: Line;
  fields: Line[];
}

/** Venues and organizers: records that are named by id, terms, or only text in the event. */
export function proposeLinked(
  kind: LinkedKind,
  event: TypeFacts,
  site: SiteFacts,
  given: string | undefined,
  taken: Set<string>,
): LinkedProposal | undefined {
  if (given === 'none') return undefined;
  const words = KIND_WORDS[kind];
  const places = event.places.filter(({ path }) => words.test(plainName(path)) && !taken.has(path));
  const named = site.types.find(
    ({ type, base }) =>
      type !== event.type && (given === undefined ? words.test(`${type} ${base}`.toLowerCase()) : base === given),
  );
  for (const place of places) {
    const guess = guessIds(place);
    if (!guess) continue;
    const owner = guess.ids.map((id) => site.owners[id]).find((type) => type !== undefined && type !== event.type);
    const type =
      owner === undefined
        ? guess.ids.length === 0
          ? named
          : undefined
        : site.types.find((each) => each.type === owner);
    if (!type || (given !== undefined && type.base !== given)) continue;
    taken.add(place.path);
    const line = guess.as === undefined ? place.path : { at: place.path, as: guess.as };
    const cleared = place.path.startsWith('acf.')
      ? { ...(typeof line === 'string' ? { at: line } : line), clearWith: null }
      : line;
    const reason = owner === undefined ? reasonFor(place) : `holds ids of ${type.base}: ${shown(place.values[0])}`;
    return {
      about: { posts: type.base },
      reason: owner === undefined ? 'named like it' : `${place.path} of ${event.base} names its records`,
      line: { kind: 'event', field: kind, line: cleared, reason },
      fields: proposeFields(kind, type.places, new Set()),
    };
  }
  const term = site.taxonomies.find(
    ({ taxonomy, base }) =>
      event.taxonomies.includes(taxonomy) && (given === undefined ? words.test(taxonomy) : base === given),
  );
  if (term) return { about: { terms: term.base }, reason: `a taxonomy of ${event.base}`, fields: [] };
  const text = places
    .filter(({ values }) => values.length > 0 && values.every((value) => typeof value === 'string'))
    .sort((one, other) => nameScore(other, KIND_NAMES[kind]) - nameScore(one, KIND_NAMES[kind]))[0];
  if (text) {
    taken.add(text.path);
    const beside = proposeFields(kind, event.places, new Set([...taken])).filter(
      ({ field, line }) => typeof line === 'string' && !['website', 'show_map', 'show_map_link'].includes(field),
    );
    const inline: Record<string, string> = { [kind]: text.path };
    for (const { field, line } of beside) {
      inline[field] = line as string;
      taken.add(line as string);
    }
    const line: FieldSource = { inline };
    return {
      reason: '',
      line: {
        kind: 'event',
        field: kind,
        line,
        reason: `only text in the event, so read-only: ${shown(text.values[0])}`,
      },
      fields: [],
    };
  }
  return named && given !== undefined
    ? { about: { posts: named.base }, reason: 'you named it', fields: proposeFields(kind, named.places, new Set()) }
    : undefined;
}

/** The collection of the categories (hierarchical) or tags (flat) of a type. */
export function proposeTaxonomy(
  kind: 'category' | 'tag',
  event: TypeFacts,
  site: SiteFacts,
  source: MappingSource,
  given: string | undefined,
) {
  if (given === 'none') return undefined;
  const used = KINDS.flatMap((each) => source[each]?.terms ?? []);
  const own = site.taxonomies.filter(
    ({ taxonomy, base }) => event.taxonomies.includes(taxonomy) && !used.includes(base),
  );
  const fitting = own.filter(({ hierarchical }) => hierarchical === (kind === 'category'));
  const found =
    given === undefined
      ? (fitting.find(({ taxonomy }) => KIND_WORDS[kind].test(taxonomy)) ?? fitting[0])
      : site.taxonomies.find(({ base }) => base === given);
  return (
    found && { base: found.base, reason: `a ${found.hierarchical ? 'hierarchical' : 'flat'} taxonomy of ${event.base}` }
  );
}
