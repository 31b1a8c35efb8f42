// Decides on a mapping for a site: a bundled one that fits, or one made from what the site shows, and the lines that
// say so. The mapping holds what is sure; what is not is an assumption with an option, a note, or a name in its
// description.

import { ConfigError } from '../../errors.ts';
import { loadMapping, mappingNames } from '../../mapping/load.ts';
import { collectionName, type MappingFile } from '../../mapping/mapping-file.ts';
import { KINDS, type Kind } from '../../model/records.ts';
import { formatSample, pathsOf } from '../open-site.ts';
import { columns, pluralized } from '../table.ts';
import { proposeDates } from './dates.ts';
import * as inference from './infer.ts';
import type { InitOptions } from './options.ts';
import {
  fieldEvidence,
  matchPresets,
  OWN_TYPES_PRESET,
  type PresetMatch,
  unknownEventPlugins,
  unseenKeys,
  unsupportedPlugins,
} from './presets.ts';
import { fieldAt, type ProbedSite, type ProbedType, type SiteField, typeAt } from './site.ts';

/** What the operator decided by options. */
export type Decisions = Pick<InitOptions, 'mapping' | 'eventType' | 'fields' | 'seconds' | 'dateFormat'>;

/** What `init` writes. */
export interface ChosenMapping {
  /** Name of the bundled mapping if it is used unchanged. */
  preset: string | undefined;
  mapping: MappingFile;
  /** The site shows none of its collections yet: the companion plugin registers or opens them. */
  isUnseen: boolean;
  /** Without the companion plugin the gateway cannot read all of this. */
  needsPlugin: boolean;
}

export interface Proposal extends ChosenMapping {
  /** What the mapping is, and why it was chosen. */
  summary: string;
  notes: string[];
  /** What the samples leave open: what the proposal assumes, and the option to change it. */
  assumed: string[];
}

/** How to name the dates of a type, after `--event-type BASE`. */
const OTHER_EVENTS =
  '--field event.start_date=meta.KEY --field event.end_date=meta.KEY: KEY is the name under which ' +
  'the site stores the date (docs/setup.md, "Dates that the site does not show").';
const HIDDEN_EVENTS =
  'Some event plugins show nothing of theirs to the REST API. If the site has one, run init again ' +
  'with --force and --mapping (events-manager, event-organiser ...), or with --force and the ' +
  'application password of an administrator.';

/**
 * Returns undefined if only the operator can tell: if a type looks like events (or the operator named it) and has no
 * start, and if the events are, or may be, in a plugin that the gateway cannot read. Throws `ConfigError` for
 * collections, fields and mappings that the operator named and that do not fit the site.
 */
export function propose(site: ProbedSite, decisions: Decisions = {}): Proposal | undefined {
  assertDecisions(site, decisions);
  const { mapping: name, eventType } = decisions;
  const presets = matchPresets(site);
  const unserved = unsupportedPlugins(site);
  if (name !== undefined) {
    const named = presets.find((each) => each.name === name);
    return named
      ? withUnserved(presetProposal(named, site, decisions), unserved)
      : proposeUnseen(name, 'you named it, though the site does not show the fields that it reads', []);
  }
  const eventTypes = findEventTypes(site);
  const dated = eventTypes.filter(({ fields }) => proposeDates(fields, { dateFormat: decisions.dateFormat }));
  const preset = fittingPreset(presets[0], eventType, dated);
  const type = typeAt(site, eventType ?? dated[0]?.base);
  const proposal = preset
    ? presetProposal(preset, site, decisions)
    : type && generatedProposal(type, site, decisions, eventTypes);
  if (proposal) return withUnserved(proposal, unserved);
  const isElsewhere = eventTypes.length + unserved.length + unknownEventPlugins(site).length > 0;
  return isElsewhere || eventType !== undefined ? undefined : proposeOwnTypes(site);
}

/** Another type whose dates are readable is better than a preset whose dates are not. */
function fittingPreset(
  preset: PresetMatch | undefined,
  eventType: string | undefined,
  dated: readonly ProbedType[],
): PresetMatch | undefined {
  const base = preset?.mapping.event.posts;
  const isBest = preset?.isReadable || dated.every((each) => each.base === base);
  return isBest && (eventType ?? base) === base ? preset : undefined;
}

function withUnserved(proposal: Proposal, unserved: readonly string[]): Proposal {
  const notes = unserved.map((title) => `events in ${title} are not served: the gateway cannot reach them`);
  return { ...proposal, notes: [...proposal.notes, ...notes] };
}

function assertDecisions({ types }: ProbedSite, { mapping, eventType }: Decisions): void {
  const names = mappingNames('wordpress');
  if (mapping !== undefined && !names.includes(mapping))
    throw new ConfigError('--mapping', `${mapping} is not for WordPress`, `Those for it are ${names.join(', ')}.`);
  const bases = types.map(({ base }) => base);
  if (eventType !== undefined && !bases.includes(eventType))
    throw new ConfigError(
      '--event-type',
      `the site has no collection "${eventType}"`,
      `It has ${bases.join(', ') || 'none'}. Of a type that is not in the REST API: docs/mapping.md, "Open the type".`,
    );
}

/** By name and by the dates in their records. Posts and pages only count if their records have dates. */
export function findEventTypes({ types }: ProbedSite): ProbedType[] {
  const score = ({ type, base, label, fields }: ProbedType): number => {
    const name = [type, base, label].some((each) => inference.likeness(each, 'event') > 0) ? 2 : 0;
    const dates = proposeDates(fields);
    const hasValues = dates !== undefined && dates.startField.values.length > 0;
    if (base === 'posts' || base === 'pages') return hasValues ? name + 1 : 0;
    return name + (hasValues ? 3 : dates ? 1 : 0);
  };
  const scored = types.map((type) => ({ type, score: score(type) })).filter((each) => each.score > 0);
  return scored.sort((a, b) => b.score - a.score).map(({ type }) => type);
}

function presetProposal(preset: PresetMatch, site: ProbedSite, decisions: Decisions): Proposal {
  const { name, mapping: whole, isReadable } = preset;
  const { title = name, note } = whole.preset ?? {};
  const mapping = structuredClone(whole);
  setNamedFields(mapping, site, decisions);
  const isUnchanged = JSON.stringify(mapping) === JSON.stringify(whole);
  const needsKeys = mapping.wordpress?.requiresCompanionPlugin === true && unseenKeys(mapping, site).length > 0;
  return {
    preset: isUnchanged ? name : undefined,
    mapping: isUnchanged ? mapping : { ...mapping, name: `${name}-here` },
    isUnseen: false,
    needsPlugin: !isReadable || needsKeys,
    summary: `${title}${isUnchanged ? '' : ', with settings of this site'}: ${preset.reason}`,
    notes: note === undefined ? [] : [note],
    assumed: [],
  };
}

function generatedProposal(
  type: ProbedType,
  site: ProbedSite,
  decisions: Decisions,
  eventTypes: readonly ProbedType[],
): Proposal | undefined {
  const { base } = type;
  const dates = proposeDates(type.fields, decisions);
  if (!dates) return undefined;
  const mapping: MappingFile = {
    name: 'site',
    upstream: 'wordpress',
    event: { posts: base, fields: { start_date: dates.start, end_date: dates.end } },
  };
  const used = new Set([dates.start, dates.end].flatMap(pathsOf));
  addLinked(mapping, type, site, used);
  mapping.event.fields = { ...mapping.event.fields, ...inference.inferFields('event', type, used) };
  setNamedFields(mapping, site, decisions);
  Object.assign(mapping, wordpressNames(mapping, site));
  const unmapped = unmappedFields(type, mapping);
  const notes: string[] = [];
  if (unmapped.length > 0) {
    const names = unmapped.map(({ path }) => path).join(', ');
    mapping.description = `Made by init. Fields of ${base} that it does not map: ${names}.`;
    notes.push(
      `not sure what these fields of ${base} are, so the mapping leaves them out: ${shownFields(unmapped)}; name one ` +
        'with --field KIND.NAME=PATH, or as a custom field in the mapping (docs/mapping.md)',
    );
  }
  const bases = eventTypes.map((each) => each.base);
  if (bases.length > 1 && decisions.eventType === undefined)
    dates.assumed.unshift(`that ${base} are the events; else add --event-type (${bases.join(', ')}) --force`);
  const { path, values } = dates.startField;
  const found = values.length > 0 ? 'its records hold dates in' : 'the start is in';
  return {
    preset: undefined,
    mapping,
    isUnseen: false,
    needsPlugin: unseenKeys(mapping, site).length > 0,
    summary: `a mapping of its own for ${nameOf(type)}: ${found} ${path}`,
    notes,
    assumed: dates.assumed,
  };
}

/** `Gigs (gigs_2)`; only the name of the collection if the label is the same. */
const nameOf = ({ label, base }: ProbedType): string => (label === base ? base : `${label} (${base})`);

/**
 * Adds to the mapping the kinds that events refer to, with their fields, and the fields of the event that hold the
 * links.
 */
function addLinked(mapping: MappingFile, event: ProbedType, site: ProbedSite, used: Set<string>): void {
  for (const kind of inference.LINKED_KINDS) {
    const taken = new Set(KINDS.map((each) => collectionName(mapping[each] ?? {})));
    const found = inference.inferLink(kind, event, site, used, taken);
    if (found?.link !== undefined) mapping.event.fields![inference.LINK_FIELDS[kind]] = found.link;
    if (!found?.collection) continue;
    const target = typeAt(site, found.collection.posts);
    const fields = target ? inference.inferFields(kind, target, new Set()) : {};
    mapping[kind] = { ...found.collection, ...(Object.keys(fields).length > 0 && { fields }) };
  }
}

/** The type's fields that have values and that the mapping does not read. */
function unmappedFields({ fields, termBases }: ProbedType, { event }: MappingFile): SiteField[] {
  const read = [...JSON.stringify(event.fields).matchAll(/"([^"]+)"/g)].map(([, path = '']) => path);
  const known = [...read, ...termBases, 'menu_order'];
  const isKnown = (path: string) => known.some((each) => each === path || each.startsWith(`${path}.`));
  return fields.filter(({ path, values }) => values.length > 0 && !isKnown(path)).slice(0, MAX_SHOWN);
}

/**
 * Sets the fields that the operator named, in the form of their values, and removes those that the operator leaves out.
 */
function setNamedFields(mapping: MappingFile, site: ProbedSite, decisions: Decisions): void {
  for (const [name, path] of Object.entries(decisions.fields ?? {})) {
    const [kind, field] = name.split('.') as [Kind, string];
    const linked = inference.LINKED_KINDS.find((each) => inference.LINK_FIELDS[each] === field);
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
    const dates = kind === 'event' && /^(start|end)_date$/.test(field) ? proposeDates(fields, decisions) : undefined;
    const date = dates && (field === 'end_date' ? dates.end : dates.start);
    const isLinked = kind === 'event' && linked !== undefined && mapping[linked] !== undefined;
    spec.fields ??= {};
    spec.fields[field] = date ?? inference.namedLocation(kind, field, fieldAt(path, fields), isLinked);
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
  const bases = types.filter(({ total }) => total > 0).map(({ base }) => base);
  const undated = bases.filter((base) => base !== 'posts' && base !== 'pages');
  const notes = undated.map(
    (base) =>
      `The site shows no dates of ${base}. If these are the events, run init again with --force ` +
      `--event-type ${base} ${OTHER_EVENTS}`,
  );
  return proposeUnseen(OWN_TYPES_PRESET, 'the site has no type that looks like events', [...notes, HIDDEN_EVENTS]);
}

/** A bundled mapping whose post types the companion plugin registers or opens, because the site shows none of them. */
function proposeUnseen(name: string, reason: string, notes: string[]): Proposal {
  const mapping = loadMapping(name).file;
  const needsPlugin = mapping.wordpress?.requiresCompanionPlugin === true;
  const summary = `${mapping.preset?.title ?? name}: ${reason}`;
  return { preset: name, mapping, isUnseen: true, needsPlugin, summary, notes, assumed: [] };
}

const MAX_SHOWN = 12;

/** The first fields, with a value of each. */
function shownFields(fields: readonly SiteField[]): string {
  const example = ({ values }: SiteField) => (values.length > 0 ? ` (${formatSample(values[0])})` : '');
  const shown = fields.slice(0, MAX_SHOWN).map((field) => field.path + example(field));
  return shown.join(', ');
}

const NO_ACCOUNT =
  'none: only public records are readable. With a user and an application password check sees what an editor may do; ' +
  'to an administrator the site also shows its active plugins.';
const NO_EVENT =
  'there is no event to read yet. Make one in the CMS, and run the same init with --force: it takes ' +
  'the form of each field from the values.';
const OWN_TYPES = `  To use the companion plugin's own types instead, add --mapping ${OWN_TYPES_PRESET}`;

export function siteLines({ url, name, timezone, account, plugins, types }: ProbedSite): string[] {
  const roles = account && `${account.name} (${account.roles.join(', ') || 'no role'})`;
  return [
    `Site        ${name} (${url}), time zone ${timezone}`,
    `Account     ${roles ?? NO_ACCOUNT}`,
    ...(plugins ? [`Plugins     ${plugins.join(', ') || 'none'}`] : []),
    `Collections ${types.map(({ base, total }) => `${base} (${total})`).join(', ') || 'none'}`,
  ];
}

/** The mapping, with what the site shows of each collection and field. */
export function proposalLines(proposal: Proposal, site: ProbedSite): string[] {
  const { isUnseen, summary, preset, mapping, needsPlugin } = proposal;
  // Nobody can make an event of a type that the companion plugin has yet to register: the next steps say when.
  const isEmpty = typeAt(site, collectionName(mapping.event))?.total === 0 && !needsPlugin;
  const notes = [...proposal.notes, ...(isEmpty ? [NO_EVENT] : [])];
  const rows = KINDS.flatMap((kind) => {
    const spec = mapping[kind];
    if (!spec) return [];
    const type = typeAt(site, spec.posts);
    const fields = isUnseen ? [] : Object.entries(spec.fields ?? {});
    return [
      [kind, collectionName(spec), describeCollection(site, collectionName(spec))],
      ...fields.map(([name, field]) => [`${kind}.${name}`, pathsOf(field).join(' + '), fieldEvidence(type, field)]),
    ];
  });
  return [
    `Proposal    ${summary}.`,
    `Mapping     ${preset === undefined ? 'a file of its own, which you may edit' : `${preset}, a bundled mapping`}`,
    '',
    ...columns(rows).map((row) => `  ${row}`),
    ...(notes.length > 0 ? [''] : []),
    ...notes.map((note) => `  note: ${note}`),
  ];
}

function describeCollection(site: ProbedSite, base: string): string {
  const type = typeAt(site, base);
  if (type) return `${type.label === base ? '' : `${type.label}, `}${pluralized(type.total, 'record')}`;
  const taxonomy = site.taxonomies.find((each) => each.base === base);
  return taxonomy ? `${taxonomy.label}, a taxonomy` : 'not in the REST API';
}

const IN_TABLES =
  'their dates are in database tables of its own, which no route of the REST API lists by their changes.';
const UNDATED = 'the REST API shows none with a date.';

/**
 * Why there is no proposal: the events are in a plugin that the gateway cannot read, or types that look like events (or
 * that the operator named: `wanted`) have no start.
 */
export function whyNothingLines(site: ProbedSite, wanted: string | undefined): string[] {
  const types = wanted === undefined ? findEventTypes(site) : [typeAt(site, wanted)!];
  const plugins = wanted === undefined ? unsupportedPlugins(site) : [];
  const unknown = plugins.length + types.length > 0 ? [] : unknownEventPlugins(site);
  const reasons = [
    ...plugins.map(
      (title) => `This site has its events in ${title}. The gateway cannot serve its events: ${IN_TABLES}`,
    ),
    ...unknown.map(
      (name) => `This site may have its events in ${name}. The gateway cannot serve its events: ${UNDATED}`,
    ),
  ];
  if (reasons.length > 0)
    return [
      ...reasons,
      '  To serve events of another type of this site, name it: --event-type BASE, or --mapping NAME ' +
        'for one that comes with the gateway.',
      OWN_TYPES,
    ];
  return [...types.flatMap(withoutDates), OWN_TYPES];
}

function withoutDates({ base, total, fields: all, termBases }: ProbedType): string[] {
  const fields = all.filter(({ path }) => path !== 'menu_order' && !termBases.includes(path));
  return [
    `The collection ${base} (${pluralized(total, 'record')}) shows no field that init can read as a date.`,
    fields.length > 0
      ? `  It shows: ${shownFields(fields)}${fields.length > MAX_SHOWN ? ' ...' : ''}`
      : '  It shows no fields at all: no meta is registered for the REST API, and no ACF field group is shown in it.',
    `  Add --event-type ${base} ${OTHER_EVENTS} If the meta key is not in the REST API yet, init also ` +
      'writes a companion plugin that opens it. For Advanced Custom Fields switch on "Show in REST API" ' +
      'in the field group.',
    '  If a field holds the date in another form, name it in the same way, and say its form: ' +
      "--date-format 'd/m/Y H:i' (letters: docs/mapping.md, Dates).",
  ];
}
