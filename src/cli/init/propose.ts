// Proposes a mapping for a site, with a reason for each field: a bundled mapping that fits, or one generated
// from the records.

import { ConfigError } from '../../errors.ts';
import type { MappingFile } from '../../mapping/mapping-file.ts';
import { KINDS, type Kind } from '../../model/records.ts';
import { pluralized } from '../check/checks.ts';
import { formatSample } from '../field-samples.ts';
import { advise } from './advice.ts';
import { KIND_WORDS } from './field-synonyms.ts';
import { type Decisions, generateMapping, type ProposedCollection } from './generate-mapping.ts';
import {
  fieldEvidence,
  hiddenFlagPath,
  lacksMetaKeys,
  matchPresets,
  type PresetMatch,
  prunePreset,
} from './presets.ts';
import type { ProbedSite, ProbedType } from './probe.ts';
import { type DateQuestion, namedDate, type ProposedDate, proposeDates, unreadableNamed } from './propose-dates.ts';
import { namedSource, type ProposedField } from './propose-fields.ts';

export type Question = DateQuestion | 'eventType';

export interface Proposal {
  origin: 'preset' | 'generated' | 'own-types';
  /** Name of the bundled mapping if it is used unchanged. */
  preset: string | undefined;
  title: string;
  reason: string;
  mapping: MappingFile;
  collections: ProposedCollection[];
  fields: ProposedField[];
  notes: string[];
  /** Without the companion plugin the gateway cannot read the events. */
  needsPlugin: boolean;
  /** The path by which the site hides events, if only the companion plugin opens it. */
  hiddenFlag?: string | undefined;
  /** What the samples leave open: the proposal holds an assumption. */
  openQuestions: Question[];
  /** Post types that look like events, best first. */
  eventTypes: ProbedType[];
}

/**
 * Throws `ConfigError` for a collection that the operator named and the site does not show, or that the
 * operator named for two kinds.
 * @param basesOf the collections of the site that may hold records of a kind
 * @param adviseOn what to do, by these
 */
export function assertCollections(
  { collections = {} }: Decisions,
  basesOf: (kind: Kind) => readonly string[],
  adviseOn: (bases: readonly string[]) => string,
): void {
  for (const kind of KINDS) {
    const base = collections[kind];
    const bases = basesOf(kind);
    if (base === undefined || (base === 'none' && kind !== 'event')) continue;
    if (!bases.includes(base))
      throw new ConfigError(`--${kind}-type`, `the site has no collection "${base}"`, adviseOn(bases));
    const other = KINDS.find((each) => collections[each] === base);
    if (other !== kind)
      throw new ConfigError(
        `--${kind}-type`,
        `"${base}" is the collection of --${other}-type too`,
        `Name another, or none.`,
      );
  }
}

/**
 * Returns undefined if a type looks like events (or the operator named it) and has no start: only the
 * operator knows the field.
 */
export function propose(site: ProbedSite, decisions: Decisions = {}): Proposal | undefined {
  const eventTypes = findEventTypes(site);
  const presets = matchPresets(site);
  const preset = decisions.mapping === undefined ? presets[0] : presets.find(({ name }) => name === decisions.mapping);
  const wanted = decisions.collections?.event;
  const isWanted = preset && (wanted === undefined || preset.mapping.event.posts === wanted);
  const dated = eventTypes.filter(({ fields }) => proposeDates(fields, decisions));
  // Another type whose dates are readable is better than a preset whose dates are not.
  const isBest = preset?.isReadable || dated.every(({ base }) => base === preset?.mapping.event.posts);
  if (isWanted && (isBest || decisions.mapping !== undefined))
    return presetProposal(preset, site, decisions, eventTypes);
  const base = wanted ?? dated[0]?.base;
  const type = site.types.find((each) => each.base === base);
  return type && generatedProposal(type, site, decisions, eventTypes);
}

/** By name and by the dates in their records. Posts and pages only count if their records have dates. */
export function findEventTypes({ types }: ProbedSite): ProbedType[] {
  const score = ({ type, base, label, fields }: ProbedType): number => {
    const name = KIND_WORDS.event.test(`${type} ${base} ${label}`.toLowerCase()) ? 2 : 0;
    const dates = proposeDates(fields);
    const hasValues = dates !== undefined && dates.startField.values.length > 0;
    if (base === 'posts' || base === 'pages') return hasValues ? name + 1 : 0;
    return name + (hasValues ? 3 : dates ? 1 : 0);
  };
  const scored = types.map((type) => ({ type, score: score(type) }));
  return scored
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ type }) => type);
}

function presetProposal(
  { name, title, reason, note, mapping: preset, isReadable }: PresetMatch,
  site: ProbedSite,
  decisions: Decisions,
  eventTypes: ProbedType[],
): Proposal {
  const pruned = isReadable ? prunePreset(preset, site) : { mapping: preset, dropped: [] };
  const mapping = withDecidedFields(pruned.mapping, decisions, sourceIn(site, pruned.mapping, decisions));
  const isUnchanged = JSON.stringify(mapping) === JSON.stringify(preset);
  return {
    origin: 'preset',
    preset: isUnchanged ? name : undefined,
    title,
    reason,
    mapping: isUnchanged ? mapping : { ...mapping, name: `${name}-here` },
    collections: collectionsOf(mapping, (base) => describeCollection(site, base)),
    fields: KINDS.flatMap((kind) => {
      const type = site.types.find(({ base }) => base === mapping[kind]?.posts);
      const fields = Object.entries(mapping[kind]?.fields ?? {});
      return fields.map(([field, source]) => ({ kind, field, source, reason: fieldEvidence(type, source) }));
    }),
    notes: [...(note === undefined ? [] : [note]), ...pruned.dropped.map((what) => `left out ${what}`)],
    needsPlugin: !isReadable || (mapping.wordpress?.requiresCompanionPlugin === true && lacksMetaKeys(mapping, site)),
    hiddenFlag: isReadable ? hiddenFlagPath(mapping, site) : undefined,
    openQuestions: [],
    eventTypes,
  };
}

function generatedProposal(
  type: ProbedType,
  site: ProbedSite,
  decisions: Decisions,
  eventTypes: ProbedType[],
): Proposal | undefined {
  const generated = generateMapping(type, site, decisions);
  if (!generated) return undefined;
  const { dates, collections, fields } = generated;
  const sourceOf = sourceIn(site, generated.mapping, decisions);
  const mapping = withDecidedFields(generated.mapping, decisions, sourceOf);
  const decided = decidedFields(mapping, decisions, sourceOf);
  const isDecided = ({ kind, field }: ProposedField) => `${kind}.${field}` in (decisions.fields ?? {});
  const isUnseen = decisions.fields?.['event.start_date'] !== undefined && dates.startField.values.length === 0;
  const dateField = isUnseen ? undefined : dates.startField.path;
  return {
    origin: 'generated',
    preset: undefined,
    title: `a mapping of its own for ${type.label} (${type.base})`,
    reason: dateField === undefined ? 'you named it' : `its records hold dates in ${dateField}`,
    mapping,
    collections: [
      {
        kind: 'event',
        base: type.base,
        reason: `${describeCollection(site, type.base)}${dateField === undefined ? '' : `, with dates in ${dateField}`}`,
      },
      ...collections,
    ],
    fields: [...fields.filter((field) => !isDecided(field)), ...decided],
    notes: [],
    needsPlugin: lacksMetaKeys(mapping, site),
    openQuestions: [
      ...dates.openQuestions,
      ...(eventTypes.length > 1 && decisions.collections?.event === undefined ? (['eventType'] as const) : []),
    ],
    eventTypes,
  };
}

/**
 * For a site without events: post types that the companion plugin registers.
 * @param plugins the active ones, if the account may see them
 * @param undated types of the site with records, which may be events whose dates it does not show
 */
export function proposeOwnTypes(
  mapping: MappingFile,
  plugins?: readonly string[],
  undated: readonly string[] = [],
): Proposal {
  return {
    origin: 'own-types',
    preset: mapping.name,
    title: mapping.preset?.title ?? mapping.name,
    reason: 'the site has no type that looks like events',
    mapping,
    collections: collectionsOf(mapping, (base) =>
      base === 'tags' ? "the site's own tags" : 'registered by the companion plugin',
    ),
    fields: [],
    notes: [
      ...(undated.length > 0 ? [advise('undated-types', undated)] : []),
      ...(plugins === undefined ? [advise('hidden-plugins')] : []),
    ],
    needsPlugin: true,
    openQuestions: [],
    eventTypes: [],
  };
}

/** How a field that the operator named is read. */
export type SourceOf = (kind: Kind, field: string, path: string) => ProposedDate;

/** By the values that a WordPress site shows. */
const sourceIn =
  (site: ProbedSite, mapping: MappingFile, decisions: Decisions): SourceOf =>
  (kind, field, path) => {
    const siteFields = site.types.find(({ base }) => base === mapping[kind]?.posts)?.fields ?? [];
    const isDate = kind === 'event' && (field === 'start_date' || field === 'end_date');
    const unreadable = isDate ? unreadableNamed(path, siteFields, decisions) : undefined;
    if (unreadable)
      throw new ConfigError(
        `--field ${kind}.${field}=${path}`,
        `${unreadable.path} has no value that init can read: ${unreadable.values.slice(0, 3).map(formatSample).join(', ')}`,
        advise('date-format', [mapping[kind]?.posts ?? '', path]),
      );
    const date = isDate ? namedDate(path, siteFields, decisions) : undefined;
    const source = date?.source ?? namedSource(kind, field, path, siteFields, mapping[field as Kind] !== undefined);
    return { source, reason: date ? `you named it; ${date.reason}` : 'you named it' };
  };

export function withDecidedFields(mapping: MappingFile, decisions: Decisions, sourceOf: SourceOf): MappingFile {
  const changed = structuredClone(mapping);
  for (const { kind, field, source } of decisionsOf(mapping, decisions, sourceOf)) {
    const spec = changed[kind];
    if (!spec) continue;
    spec.fields = { ...spec.fields };
    if (source === undefined) delete spec.fields[field];
    else spec.fields[field] = source;
  }
  return changed;
}

export const decidedFields = (mapping: MappingFile, decisions: Decisions, sourceOf: SourceOf): ProposedField[] =>
  decisionsOf(mapping, decisions, sourceOf).flatMap(({ kind, field, source, reason }) =>
    source === undefined ? [] : [{ kind, field, source, reason }],
  );

/**
 * `source` is undefined for a field to leave out. @throws ConfigError if the mapping has no such kind: the
 * field would be lost
 */
function decisionsOf(mapping: MappingFile, { fields = {} }: Decisions, sourceOf: SourceOf) {
  return Object.entries(fields).map(([name, path]) => {
    const [kind, field] = name.split('.') as [Kind, string];
    if (path === 'none') return { kind, field, source: undefined, reason: '' };
    if (mapping[kind] === undefined) throw missingKind(kind, name, path);
    return { kind, field, ...sourceOf(kind, field, path) };
  });
}

/** The error for a field that needs a kind for which the proposal has no collection. */
export const missingKind = (kind: Kind, name: string, path: string): ConfigError =>
  new ConfigError(
    `--field ${name}=${path}`,
    `the proposal has no collection of the kind ${kind}`,
    `Name it with --${kind}-type, or leave this option out.`,
  );

function collectionsOf(mapping: MappingFile, reasonFor: (base: string) => string): ProposedCollection[] {
  return KINDS.flatMap((kind) => {
    const base = mapping[kind]?.posts ?? mapping[kind]?.terms;
    return base === undefined ? [] : [{ kind, base, reason: reasonFor(base) }];
  });
}

function describeCollection({ types, taxonomies }: ProbedSite, base: string): string {
  const type = types.find((each) => each.base === base);
  if (type) return `${type.label}, ${pluralized(type.total, 'record')}`;
  const taxonomy = taxonomies.find((each) => each.base === base);
  return taxonomy ? `${taxonomy.label}, a taxonomy` : 'not in the REST API yet: the companion plugin opens it';
}
