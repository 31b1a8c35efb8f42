// Decides on a mapping for a site, with a reason for each field: a bundled one that fits, or one made from what the site
// shows. It holds what is sure; what is not is a question, a note, or a name in its description.

import { ConfigError } from '../../errors.ts';
import { collectionOf, type MappingFile, type PostTypeSpec, type TaxonomySpec } from '../../mapping/mapping-file.ts';
import { isObject } from '../../model/json.ts';
import { KINDS, type Kind } from '../../model/records.ts';
import { parseZone } from '../../time/zones.ts';
import { likeness } from '../names.ts';
import { formatSample, pathsOf } from '../samples.ts';
import { pluralized } from '../table.ts';
import { type DateDecisions, type ProposedDates, proposeDates } from './dates.ts';
import * as inference from './infer.ts';
import {
  fieldEvidence,
  hiddenFlagPath,
  lacksMetaKeys,
  matchPresets,
  type PresetMatch,
  prunePreset,
} from './presets.ts';
import { fieldAt, type ProbedSite, type ProbedType, typeAt } from './site.ts';

/** What the operator decided by options or in answers. */
export interface Decisions extends DateDecisions {
  /** Name of a bundled mapping. */
  mapping?: string | undefined;
  /** Of the calendar, for a CMS that does not know it. */
  name?: string | undefined;
  /** Collections by kind; `none` leaves the kind out. */
  collections?: Partial<Record<Kind, string>> | undefined;
}

export interface ProposedCollection {
  kind: Kind;
  base: string;
  reason: string;
}

export interface Proposal {
  origin: 'preset' | 'generated' | 'own-types';
  /** Name of the bundled mapping if it is used unchanged. */
  preset: string | undefined;
  title: string;
  reason: string;
  mapping: MappingFile;
  collections: ProposedCollection[];
  fields: inference.ProposedField[];
  notes: string[];
  /** Without the companion plugin the gateway cannot read the events. */
  needsPlugin: boolean;
  /** The path by which the site hides events, if only the companion plugin opens it. */
  hiddenFlag?: string | undefined;
  /** What the samples leave open: what the proposal assumes, and the option to change it. */
  assumed: string[];
}

const LINKED_KINDS = ['venue', 'organizer', 'category', 'tag'] as const;

/**
 * Returns undefined if a type looks like events (or the operator named it) and has no start: only the operator knows the
 * field. Throws `ConfigError` for collections, fields and mappings that the operator named and that do not fit the site.
 */
export function propose(site: ProbedSite, decisions: Decisions = {}): Proposal | undefined {
  assertCollections(site, decisions);
  const eventTypes = findEventTypes(site);
  const wanted = decisions.collections?.event;
  const dated = eventTypes.filter(({ fields }) => proposeDates(fields, { dateFormat: decisions.dateFormat }));
  const preset = choosePreset(site, decisions, dated);
  if (preset) return presetProposal(preset, site, decisions);
  const type = typeAt(site, wanted ?? dated[0]?.base);
  return type && generatedProposal(type, site, decisions, eventTypes);
}

/** A readable preset, or one that the operator named; another type whose dates are readable is better than one whose dates are not. */
function choosePreset(site: ProbedSite, decisions: Decisions, dated: readonly ProbedType[]): PresetMatch | undefined {
  const { mapping: name, collections = {}, fields = {} } = decisions;
  const presets = matchPresets(site);
  const preset = name === undefined ? presets[0] : presets.find((each) => each.name === name);
  if (!preset || name !== undefined) return preset;
  if (site.cms === 'payload') {
    const isDecided = Object.keys({ ...collections, ...fields }).length > 0;
    return preset.isReadable && !isDecided ? preset : undefined;
  }
  const base = preset.mapping.event.posts;
  const isBest = preset.isReadable || dated.every((each) => each.base === base);
  return isBest && (collections.event ?? base) === base ? preset : undefined;
}

function assertCollections(site: ProbedSite, { collections = {} }: Decisions): void {
  const types = site.types.map(({ base }) => base);
  // Of WordPress, venues and organizers may be terms.
  const terms = site.taxonomies.map(({ base }) => base);
  for (const kind of KINDS) {
    const base = collections[kind];
    if (base === undefined || (base === 'none' && kind !== 'event')) continue;
    const isTerm = kind === 'category' || kind === 'tag';
    const bases = [...(isTerm && site.cms === 'wordpress' ? [] : types), ...(kind === 'event' ? [] : terms)];
    if (!bases.includes(base))
      throw new ConfigError(
        `--${kind}-type`,
        `the site has no collection "${base}"`,
        `It has ${bases.join(', ') || 'none of that kind'}.${site.cms === 'payload' ? '' : ' Of a type that is not in the REST API: docs/mapping-tutorial.md, "3. Open the type to the REST API".'}`,
      );
    const other = KINDS.find((each) => collections[each] === base);
    if (other !== kind)
      throw new ConfigError(
        `--${kind}-type`,
        `"${base}" is the collection of --${other}-type too`,
        'Name another, or none.',
      );
  }
}

/** By name and by the dates in their records. Posts and pages only count if their records have dates. */
export function findEventTypes({ types }: ProbedSite): ProbedType[] {
  const score = ({ type, base, label, fields }: ProbedType): number => {
    const name = [type, base, label].some((each) => likeness(each, 'event') > 0) ? 2 : 0;
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

function presetProposal(preset: PresetMatch, site: ProbedSite, decisions: Decisions): Proposal {
  const { name, title, note, mapping: whole, isReadable, missing } = preset;
  const isPayload = site.cms === 'payload';
  const pruned = isReadable && !isPayload ? prunePreset(whole, site) : { mapping: whole, dropped: [] };
  const named = namedFields(pruned.mapping, site, decisions);
  const settings = isPayload ? { payload: { ...whole.payload, ...payloadSettings(site, whole, decisions.name) } } : {};
  const mapping = withFields({ ...pruned.mapping, ...settings }, named, decisions);
  const isUnchanged = JSON.stringify(mapping) === JSON.stringify(whole);
  const notes = [...(note === undefined ? [] : [note]), ...pruned.dropped.map((what) => `left out ${what}`)];
  if (isPayload)
    notes.push(
      ...missing.map((path) => `the site does not show ${path}: check tells more`),
      `the time zone of the calendar is ${mapping.payload?.timezone ?? 'UTC'}, and its name ${mapping.payload?.name ?? site.name}: "payload" in a mapping of your own sets them`,
    );
  return {
    origin: 'preset',
    preset: isUnchanged ? name : undefined,
    title: isUnchanged || !isPayload ? title : `${title}, with settings of this site`,
    reason: isPayload && missing.length > 0 ? 'you named it' : preset.reason,
    mapping: isUnchanged ? mapping : { ...mapping, name: `${name}-here` },
    collections: collectionsOf(mapping, (base) => describeCollection(site, base)),
    fields: KINDS.flatMap((kind) => {
      const type = typeAt(site, mapping[kind]?.posts ?? mapping[kind]?.collection);
      const fields = Object.entries(mapping[kind]?.fields ?? {});
      return fields.map(([field, source]) => ({ kind, field, source, reason: fieldEvidence(type, source) }));
    }),
    notes,
    needsPlugin:
      !isPayload &&
      (!isReadable || (mapping.wordpress?.requiresCompanionPlugin === true && lacksMetaKeys(mapping, site))),
    hiddenFlag: isReadable && !isPayload ? hiddenFlagPath(mapping, site) : undefined,
    assumed: [],
  };
}

function generatedProposal(
  { base }: ProbedType,
  probed: ProbedSite,
  decisions: Decisions,
  eventTypes: readonly ProbedType[],
): Proposal | undefined {
  const site = { ...probed, types: withOwnFields(probed.types) };
  const type = typeAt(site, base)!;
  const { fields: namedPaths = {} } = decisions;
  const dates = proposeDates(type.fields, decisions);
  if (!dates) return undefined;
  const isPayload = site.cms === 'payload';
  const mapping = { name: 'site', upstream: site.cms } as MappingFile;
  mapping.event = isPayload ? { collection: base } : { posts: base };
  const [start, end] = [dates.start, dates.end].map((each) => (isPayload ? inUtc(each) : each));
  const fields: inference.ProposedField[] = [
    { kind: 'event', field: 'start_date', ...start! },
    { kind: 'event', field: 'end_date', ...end! },
  ];
  const used = new Set(fields.flatMap(({ source }) => pathsOf(source)));
  const linked = addLinked(mapping, type, site, decisions, used);
  fields.push(...linked.fields, ...inference.inferFields('event', type, site, used));
  const named = namedFields(mapping, site, decisions);
  const isNamed = ({ kind, field }: inference.ProposedField) => `${kind}.${field}` in namedPaths;
  const proposed = [...fields.filter((each) => !isNamed(each)), ...named];
  const isUnseen = namedPaths['event.start_date'] !== undefined && dates.startField.values.length === 0;
  const { path } = dates.startField;
  const complete = { ...withFields(mapping, proposed, decisions), ...wordpressNames(mapping, site) };
  if (isPayload) complete.payload = payloadSettings(site, complete, decisions.name);
  const unmapped = unmappedFields(type, complete);
  if (unmapped.length > 0)
    complete.description = `Made by init. Fields of ${base} that it does not map: ${unmapped.join(', ')}.`;
  return {
    origin: 'generated',
    preset: undefined,
    title: `a mapping of its own for ${type.label}${type.label === base ? '' : ` (${base})`}`,
    reason: isUnseen ? 'you named it' : `its records hold dates in ${path}`,
    mapping: complete,
    collections: [
      { kind: 'event', base, reason: `${describeCollection(site, base)}${isUnseen ? '' : `, with dates in ${path}`}` },
      ...linked.collections,
    ],
    fields: proposed,
    notes: [
      ...(isPayload ? payloadNotes(site, type, complete) : []),
      ...(unmapped.length > 0
        ? [
            `not sure what these fields of ${base} are, so the mapping leaves them out: ${unmapped.join(', ')}; name one with --field KIND.NAME=PATH, or as a custom field in the mapping (docs/mapping.md)`,
          ]
        : []),
    ],
    needsPlugin: !isPayload && lacksMetaKeys(complete, site),
    assumed: assumptions(dates, decisions, eventTypes),
  };
}

/** Adds to the mapping the kinds that events refer to. Returns their fields, and those of the event that hold the links. */
function addLinked(
  mapping: MappingFile,
  event: ProbedType,
  site: ProbedSite,
  { collections: chosen = {}, fields: named = {} }: Decisions,
  used: Set<string>,
): { collections: ProposedCollection[]; fields: inference.ProposedField[] } {
  const collections: ProposedCollection[] = [];
  const fields: inference.ProposedField[] = [];
  for (const kind of LINKED_KINDS) {
    const isLinkNamed = named[`event.${inference.LINK_FIELDS[kind]}`] !== undefined;
    const others = KINDS.filter((each) => each !== kind);
    const taken = new Set(others.flatMap((each) => [collectionOf(mapping[each] ?? {}), chosen[each] ?? '']));
    const found = inference.inferLink(kind, event, site, { wanted: chosen[kind], isLinkNamed }, used, taken);
    if (!found) continue;
    const { collection, link, reason } = found;
    if (link) fields.push(link);
    if (!collection) continue;
    mapping[kind] = collection;
    collections.push({ kind, base: collectionOf(collection), reason });
    const target = typeAt(site, collection.posts ?? collection.collection);
    if (target) fields.push(...inference.inferFields(kind, target, site, new Set()));
  }
  return { collections, fields };
}

/** Payload stores instants; without a value the proposal would be the usual format of WordPress. */
function inUtc({ source, reason }: ProposedDates['start']): ProposedDates['start'] {
  const spec = typeof source === 'string' ? { at: source } : source;
  return { source: { ...spec, as: spec.as ?? { 'utc-datetime': 'Y-m-d\\TH:i:s.v\\Z' } }, reason };
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

const MAX_UNMAPPED = 12;

/** Paths of the type's fields that have values and that the mapping does not read, each with an example. */
function unmappedFields({ fields, termBases }: ProbedType, { event }: MappingFile): string[] {
  const read = Object.values(event.fields ?? {}).flatMap((source) => [
    ...JSON.stringify(source).matchAll(/"([^"]+)"/g),
  ]);
  const known = new Set([...read.map(([, path]) => path), ...termBases]);
  const isKnown = (path: string) => [...known].some((each) => each === path || each?.startsWith(`${path}.`));
  return fields
    .filter(({ path, values }) => values.length > 0 && !isKnown(path))
    .slice(0, MAX_UNMAPPED)
    .map(({ path, values }) => `${path} (${formatSample(values[0])})`);
}

function assumptions({ open }: ProposedDates, { collections }: Decisions, eventTypes: readonly ProbedType[]): string[] {
  const bases = eventTypes.map(({ base }) => base);
  return [
    ...(bases.length > 1 && collections?.event === undefined
      ? [`that ${bases[0]} are the events; else add --event-type (${bases.join(', ')}) --force`]
      : []),
    ...(open.includes('dateOrder')
      ? ['that the day comes before the month in dates; else add --date-order mdy --force']
      : []),
    ...(open.includes('seconds') ? ['that seconds since 1970 count the instant; else add --seconds wall --force'] : []),
  ];
}

/** The fields that the operator named, in the form of their values. */
function namedFields(mapping: MappingFile, site: ProbedSite, decisions: Decisions): inference.ProposedField[] {
  return Object.entries(decisions.fields ?? {}).flatMap(([name, path]) => {
    if (path === 'none') return [];
    const [kind, field] = name.split('.') as [Kind, string];
    const linked = LINKED_KINDS.find((each) => inference.LINK_FIELDS[each] === field);
    const isLink = kind === 'event' && linked !== undefined;
    const lacking = mapping[kind] === undefined ? kind : isLink && site.cms === 'payload' && !mapping[linked] && linked;
    if (lacking)
      throw new ConfigError(
        `--field ${name}=${path}`,
        `the proposal has no collection of the kind ${lacking}`,
        `Name it with --${lacking}-type, or leave this option out.`,
      );
    const { fields = [] } = typeAt(site, mapping[kind]?.posts ?? mapping[kind]?.collection) ?? {};
    const dates = kind === 'event' && /^(start|end)_date$/.test(field) ? proposeDates(fields, decisions) : undefined;
    if (dates) {
      const moment = dates[field === 'end_date' ? 'end' : 'start'];
      return [{ kind, field, ...(site.cms === 'payload' ? inUtc(moment) : moment) }];
    }
    const isLinked = isLink && mapping[linked] !== undefined;
    const source = inference.namedSource(kind, field, fieldAt(path, fields), site, { fields, isLinked });
    return [{ kind, field, source, reason: 'you named it' }];
  });
}

/** The mapping with these fields, and without those that the operator leaves out. */
function withFields(
  mapping: MappingFile,
  fields: readonly inference.ProposedField[],
  { fields: namedPaths = {} }: Decisions,
): MappingFile {
  const changed = structuredClone(mapping);
  for (const { kind, field, source } of fields) {
    const spec = changed[kind];
    if (spec) spec.fields = { ...spec.fields, [field]: source };
  }
  for (const [name, path] of Object.entries(namedPaths)) {
    const [kind, field = ''] = name.split('.') as [Kind, string];
    if (path === 'none') delete changed[kind]?.fields?.[field];
  }
  return changed;
}

/** Types and taxonomies whose collection has another name: the companion plugin needs their own names. */
function wordpressNames(mapping: MappingFile, site: ProbedSite): Pick<MappingFile, 'wordpress'> {
  const posts: Record<string, PostTypeSpec> = {};
  const terms: Record<string, TaxonomySpec> = {};
  for (const kind of KINDS) {
    const type = typeAt(site, mapping[kind]?.posts);
    if (type && type.type !== type.base && !CORE_COLLECTIONS.has(type.base))
      posts[type.base] = { type: type.type, singular: type.label, plural: type.label, existing: true };
    const taxonomy = site.taxonomies.find(({ base }) => base === mapping[kind]?.terms);
    if (taxonomy && taxonomy.taxonomy !== taxonomy.base && !CORE_COLLECTIONS.has(taxonomy.base))
      terms[taxonomy.base] = { taxonomy: taxonomy.taxonomy, existing: true };
  }
  return Object.keys({ ...posts, ...terms }).length > 0 ? { wordpress: { posts, terms } } : {};
}

const CORE_COLLECTIONS = new Set(['posts', 'pages', 'categories', 'tags']);

/** A mapping whose post types the companion plugin registers or opens, because the site shows none of them. */
export function proposeUnseen(mapping: MappingFile, { reason, notes }: Pick<Proposal, 'reason' | 'notes'>): Proposal {
  return {
    origin: 'own-types',
    preset: mapping.name,
    title: mapping.preset?.title ?? mapping.name,
    reason,
    mapping,
    collections: collectionsOf(mapping, (base) =>
      base === 'tags' ? "the site's own tags" : 'registered by the companion plugin',
    ),
    fields: [],
    notes,
    needsPlugin: mapping.wordpress?.requiresCompanionPlugin === true,
    assumed: [],
  };
}

function collectionsOf(mapping: MappingFile, reasonFor: (base: string) => string): ProposedCollection[] {
  return KINDS.flatMap((kind) => {
    const base = collectionOf(mapping[kind] ?? {});
    return base === '' ? [] : [{ kind, base, reason: reasonFor(base) }];
  });
}

function describeCollection({ cms, types, taxonomies }: ProbedSite, base: string): string {
  const type = types.find((each) => each.base === base);
  const count = pluralized(type?.total ?? 0, 'record');
  if (type) return type.label === base ? count : `${type.label}, ${count}`;
  const taxonomy = taxonomies.find((each) => each.base === base);
  if (taxonomy) return `${taxonomy.label}, a taxonomy`;
  return cms === 'payload' ? 'the site does not show it' : 'not in the REST API yet: the companion plugin opens it';
}

/** What Payload itself does not know: the zone that most events have, and collections with other names than usual. */
function payloadSettings({ types, payload }: ProbedSite, { event }: Pick<MappingFile, 'event'>, name?: string) {
  const type = types.find(({ base }) => base === event.collection);
  const { values } = fieldAt(pathsOf(event.fields?.timezone)[0] ?? '', type?.fields ?? []);
  const zones = values.filter((value): value is string => typeof value === 'string' && parseZone(value) !== undefined);
  const counts = Map.groupBy(zones, (zone) => zone);
  const [timezone] = [...counts].sort(([, a], [, b]) => b.length - a.length)[0] ?? [];
  const { media = 'media', users = 'users' } = payload ?? {};
  return {
    ...(name === undefined ? {} : { name }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(media === 'media' ? {} : { media }),
    ...(users === 'users' ? {} : { users }),
  };
}

function payloadNotes({ payload }: ProbedSite, event: ProbedType, mapping: MappingFile): string[] {
  const richText = event.fields.find(({ values }) => values.some((value) => isObject(value) && isObject(value.root)));
  const absent = KINDS.filter((kind) => mapping[kind] === undefined);
  return [
    ...(mapping.payload?.timezone === undefined
      ? [
          'no record tells the time zone of the site: "payload": { "timezone": "Europe/Vienna" } in the mapping sets it, else it is UTC',
        ]
      : []),
    ...(richText && !mapping.event.fields?.description
      ? [`${richText.path} is rich text: add Payload's lexicalHTMLField beside it, and the API has a description`]
      : []),
    payload?.withDrafts.has(event.base)
      ? 'the API shows everything unpublished as draft; --field event.status=PATH names a field (not "status") that says pending or private'
      : `${event.base} has no drafts: every event is public as soon as it is saved`,
    ...(absent.length > 0
      ? [
          `no collection looks like ${absent.join(', ')}: the API's lists of these are missing; name one with --${absent[0]}-type SLUG`,
        ]
      : []),
  ];
}
