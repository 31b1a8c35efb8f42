// Decides on a mapping for a site: a bundled one that fits, or one made from what the site shows. What is sure is in
// the mapping. What is not is an assumption with an option, a note, or an unmapped field.

import { ConfigError } from '../../errors.ts';
import { FIELDS } from '../../interface/fields.ts';
import { loadMapping, mappingNames } from '../../mapping/load.ts';
import { collectionName, type MappingFile } from '../../mapping/mapping-file.ts';
import { KINDS, type Kind } from '../../model/records.ts';
import { readPathsOf } from '../open-site.ts';
import { proposeDates } from './dates.ts';
import { inferFields, inferLink, LINK_FIELDS, LINKED_KINDS, likeness, namedLocation } from './infer.ts';
import type { SomeOptions } from './options.ts';
import {
  GENERIC_COLLECTIONS,
  matchPresets,
  OWN_TYPES_PRESET,
  type PresetMatch,
  showsAllKeys,
  unknownEventPlugins,
  unsupportedPlugins,
} from './presets.ts';
import { fieldAt, type ProbedSite, type ProbedType, type SiteField, typeAt } from './site.ts';

type Decisions = SomeOptions<'mapping' | 'eventType' | 'fields' | 'seconds' | 'dateFormat'>;

/** What `init` writes. */
export interface ChosenMapping {
  /** Name of the bundled mapping if it is used unchanged. */
  preset: string | undefined;
  mapping: MappingFile;
  /** False: a bundled mapping, or a copy of Payload's, and nothing on the site tells that it has these collections. */
  isSeenOnSite: boolean;
  /** Without the companion plugin the gateway cannot read all of this. */
  needsPlugin: boolean;
}

export interface Proposal extends ChosenMapping {
  /** What the mapping is, and why it was chosen. */
  summary: string;
  notes: string[];
  /** What the samples leave open: what the proposal assumes, and the option to change it. */
  assumed: string[];
  /** Fields of events that have values, and of which `init` does not know what they are. */
  unmapped: SiteField[];
}

/** How to name the dates of a type, after `--event-type BASE`. */
export const OTHER_EVENTS =
  '--field event.start_date=meta.KEY --field event.end_date=meta.KEY: KEY is the name under which ' +
  'the site stores the date (docs/setup.md, "Dates that the site does not show")';
const HIDDEN_EVENTS =
  'Some event plugins show nothing of theirs to the REST API. If the site has one, run init again ' +
  'with --force and --mapping (events-manager, event-organiser ...), or with --force and the ' +
  'application password of an administrator.';

/**
 * What is proposed, by the first row that holds:
 *
 *     --mapping NAME                                  this mapping, whether the site shows its fields or not
 *     a preset fits (`fittingPreset`)                 the preset
 *     a type (that of --event-type) has a start       a mapping made for the type
 *     a type looks like events, or is named           undefined: only the operator can tell
 *     an unsupported plugin, or one named `my-events` undefined
 *     none of these                                   the companion plugin's own types
 *
 * Throws `ConfigError` if a collection, field or mapping that the operator named does not fit the site.
 */
export function propose(site: ProbedSite, decisions: Decisions = {}): Proposal | undefined {
  assertDecisions(site, decisions);
  const { mapping: name, eventType } = decisions;
  const presets = matchPresets(site);
  const unsupported = unsupportedPlugins(site);
  const notes = unsupported.map((title) => `events in ${title} are not served: the gateway cannot reach them`);
  if (name !== undefined) {
    const named = presets.find((each) => each.name === name);
    return named
      ? presetProposal(named, site, decisions, notes)
      : proposeUnseen(name, 'you named it, though the site does not show the fields that it reads', []);
  }
  const eventTypes = findEventTypes(site);
  // Without `decisions.fields`: with `--field event.start_date=meta.day` each of these types would seem to have dates.
  const dated = eventTypes.filter(({ fields }) => proposeDates(fields, { dateFormat: decisions.dateFormat }));
  const preset = fittingPreset(presets, eventType, dated);
  const type = typeAt(site, eventType ?? dated[0]?.base);
  const proposal = preset
    ? presetProposal(preset, site, decisions, notes)
    : type && generatedProposal(type, site, decisions, eventTypes, notes);
  if (proposal) return proposal;
  const mayHaveEvents = eventTypes.length + unsupported.length + unknownEventPlugins(site).length > 0;
  return mayHaveEvents || eventType !== undefined ? undefined : proposeOwnTypes(site);
}

/**
 * The preset of the type that the operator names, or the first that matches, unless other dates are better:
 *
 *   --event-type    the site shows                           preset
 *   gigs            (no preset has this type)                none
 *   ajde_events     (only the plugin has this type)          its preset
 *   event           the dates of its preset                  its preset
 *   event           other dates of event, as of a theme      none: who names the type means the records with these
 *   event           no dates of event                        its preset: the companion plugin will show its dates
 *   not given       the dates of the first preset            the first, even if gigs have dates too
 *   not given       not these, but dates of gigs             none: init can read the dates of gigs
 *   not given       no dates, or other dates of that type    the first: the site has its plugin (`matchPreset`)
 */
function fittingPreset(
  presets: readonly PresetMatch[],
  eventType: string | undefined,
  dated: readonly ProbedType[],
): PresetMatch | undefined {
  const preset = presets.find(({ mapping }) => eventType === undefined || mapping.event.posts === eventType);
  const base = preset?.mapping.event.posts ?? '';
  if (preset?.showsDates) return preset;
  const hasOtherDates =
    eventType === undefined
      ? dated.some((each) => each.base !== base)
      : GENERIC_COLLECTIONS.has(base) && dated.some((each) => each.base === base);
  return hasOtherDates ? undefined : preset;
}

function assertDecisions({ types }: ProbedSite, { mapping, eventType }: Decisions): void {
  const names = mappingNames('wordpress');
  if (mapping !== undefined && !names.includes(mapping))
    throw new ConfigError('--mapping', `there is no ${mapping} for WordPress`, `There are ${names.join(', ')}.`);
  const bases = types.map(({ base }) => base);
  if (eventType !== undefined && !bases.includes(eventType))
    throw new ConfigError(
      '--event-type',
      `the site has no collection "${eventType}"`,
      `It has ${bases.join(', ') || 'none'}. Of a type that is not in the REST API: docs/mapping.md, "Open the type".`,
    );
}

/**
 * The likeliest first. A name such as `event` counts 2, dates in records 3, dates in the schema alone 1. For posts and
 * pages, dates in records count 1; without dates in records they are left out.
 */
export function findEventTypes({ types }: ProbedSite): ProbedType[] {
  const score = ({ type, base, label, fields }: ProbedType): number => {
    const byName = [type, base, label].some((each) => likeness(each, 'event') > 0) ? 2 : 0;
    const dates = proposeDates(fields);
    const hasValues = dates !== undefined && dates.startField.values.length > 0;
    if (base === 'posts' || base === 'pages') return hasValues ? byName + 1 : 0;
    return byName + (hasValues ? 3 : dates ? 1 : 0);
  };
  const scored = types.map((type) => ({ type, score: score(type) })).filter((each) => each.score > 0);
  return scored.sort((a, b) => b.score - a.score).map(({ type }) => type);
}

function presetProposal(preset: PresetMatch, site: ProbedSite, decisions: Decisions, notes: string[]): Proposal {
  const { name, mapping: bundled, showsDates } = preset;
  const { title = name, note } = bundled.preset ?? {};
  const mapping = structuredClone(bundled);
  setNamedFields(mapping, site, decisions);
  const isUnchanged = JSON.stringify(mapping) === JSON.stringify(bundled);
  const lacksKeys = mapping.wordpress?.requiresCompanionPlugin === true && !showsAllKeys(mapping, site);
  return {
    preset: isUnchanged ? name : undefined,
    mapping: isUnchanged ? mapping : { ...mapping, name: `${name}-here` },
    isSeenOnSite: true,
    needsPlugin: !showsDates || lacksKeys,
    summary: `${title}${isUnchanged ? '' : ', with settings of this site'}: ${preset.reason}`,
    notes: [...(note === undefined ? [] : [note]), ...notes],
    assumed: [],
    unmapped: [],
  };
}

function generatedProposal(
  type: ProbedType,
  site: ProbedSite,
  decisions: Decisions,
  eventTypes: readonly ProbedType[],
  notes: string[],
): Proposal | undefined {
  const { base } = type;
  const dates = proposeDates(type.fields, decisions);
  if (!dates) return undefined;
  const mapping: MappingFile = {
    name: 'site',
    upstream: 'wordpress',
    event: { posts: base, fields: { start_date: dates.start, end_date: dates.end } },
  };
  // Links first: what holds ids of venues is no text of the event. What the operator named comes last, and wins.
  addLinked(mapping, type, site);
  mapping.event.fields = { ...mapping.event.fields, ...inferFields('event', type, eventPathsOf(mapping)) };
  setNamedFields(mapping, site, decisions);
  Object.assign(mapping, wordpressNames(mapping, site));
  const bases = eventTypes.map((each) => each.base);
  const isChoice = bases.length > 1 && decisions.eventType === undefined;
  const choice = `that ${base} are the events; else add --event-type (${bases.join(', ')}) --force`;
  return {
    preset: undefined,
    mapping,
    isSeenOnSite: true,
    needsPlugin: !showsAllKeys(mapping, site),
    summary: `a mapping of its own for ${base}: the start is in ${dates.startField.path}`,
    notes,
    assumed: isChoice ? [choice, ...dates.assumed] : dates.assumed,
    unmapped: unmappedFields(type, mapping),
  };
}

/** Adds to the mapping the kinds that events refer to, and the fields of the event that hold the links. */
function addLinked(mapping: MappingFile, event: ProbedType, site: ProbedSite): void {
  for (const kind of LINKED_KINDS) {
    // The collections of the kinds before this one are taken too: no collection is used twice.
    const taken = new Set(KINDS.map((each) => collectionName(mapping[each] ?? {})));
    const found = inferLink(kind, event, site, new Set(eventPathsOf(mapping)), taken);
    if (found?.link !== undefined) mapping.event.fields![LINK_FIELDS[kind]] = found.link;
    if (!found?.collection) continue;
    const target = typeAt(site, found.collection.posts);
    const fields = target ? inferFields(kind, target) : {};
    mapping[kind] = { ...found.collection, ...(Object.keys(fields).length > 0 && { fields }) };
  }
}

const eventPathsOf = ({ event }: Pick<MappingFile, 'event'>): string[] =>
  Object.values(event.fields ?? {}).flatMap(readPathsOf);

/** The fields of the type that have values and that the mapping does not read. */
function unmappedFields({ fields, termBases }: ProbedType, { event }: MappingFile): SiteField[] {
  const known = [...eventPathsOf({ event }), ...termBases, 'menu_order'];
  // A mapped `acf.place.city` is a part of the field `acf.place`.
  const isKnown = (path: string) => known.some((each) => each === path || each.startsWith(`${path}.`));
  return fields.filter(({ path, values }) => values.length > 0 && !isKnown(path));
}

/** Sets the fields that the operator named, in the form of their values. Removes those that the operator leaves out. */
function setNamedFields(mapping: MappingFile, site: ProbedSite, decisions: Decisions): void {
  for (const [name, path] of Object.entries(decisions.fields ?? {})) {
    const [kind, field] = name.split('.') as [Kind, string];
    const spec = mapping[kind];
    if (path === 'none') {
      delete spec?.fields?.[field];
      continue;
    }
    if (!spec)
      throw new ConfigError(
        `--field ${name}=${path}`,
        `the proposal has no collection of the kind ${kind}`,
        'Leave this option out, and add the kind to mapping.json (docs/mapping.md).',
      );
    const { fields = [] } = typeAt(site, spec.posts) ?? {};
    const isDate = kind === 'event' && (field === 'start_date' || field === 'end_date');
    const dates = isDate ? proposeDates(fields, decisions) : undefined;
    const date = field === 'end_date' ? dates?.end : dates?.start;
    const target = FIELDS[kind][field]?.targetKind;
    const isLinked = target !== undefined && mapping[target] !== undefined;
    spec.fields = { ...spec.fields, [field]: date ?? namedLocation(kind, field, fieldAt(path, fields), isLinked) };
  }
}

/** Types and taxonomies whose collection has another name: the companion plugin needs their own names. */
function wordpressNames(mapping: MappingFile, { types, taxonomies }: ProbedSite): Pick<MappingFile, 'wordpress'> {
  const mapped = new Set(KINDS.map((kind) => collectionName(mapping[kind] ?? {})));
  const posts = types.filter(({ type, base }) => type !== base && mapped.has(base));
  const terms = taxonomies.filter(({ taxonomy, base }) => taxonomy !== base && mapped.has(base));
  if (posts.length + terms.length === 0) return {};
  return {
    wordpress: {
      posts: Object.fromEntries(posts.map(({ type, base }) => [base, { type, existing: true }])),
      terms: Object.fromEntries(terms.map(({ taxonomy, base }) => [base, { taxonomy, existing: true }])),
    },
  };
}

/** The companion plugin's own types, for a site without any that look like events. */
function proposeOwnTypes({ types }: ProbedSite): Proposal {
  const undated = types.filter(({ base, total }) => total > 0 && base !== 'posts' && base !== 'pages');
  const notes = undated.map(
    ({ base }) =>
      `The site shows no dates of ${base}. If these are the events, run init again with --force ` +
      `--event-type ${base} ${OTHER_EVENTS}.`,
  );
  return proposeUnseen(OWN_TYPES_PRESET, 'the site has no type that looks like events', [...notes, HIDDEN_EVENTS]);
}

/** A bundled mapping whose post types the companion plugin registers or opens, because the site shows none of them. */
function proposeUnseen(name: string, reason: string, notes: string[]): Proposal {
  const mapping = loadMapping(name).file;
  const needsPlugin = mapping.wordpress?.requiresCompanionPlugin === true;
  const summary = `${mapping.preset?.title ?? name}: ${reason}`;
  return { preset: name, mapping, isSeenOnSite: false, needsPlugin, summary, notes, assumed: [], unmapped: [] };
}
