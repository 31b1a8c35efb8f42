// Proposes a mapping for a site, each line with its reason: a setup that is known, or one made of what the records hold.

import type { MappingSource, PostTypeSource, TaxonomySource } from '../mapping/source.ts';
import { KINDS, type Kind } from '../records.ts';
import { counted } from './check-rows.ts';
import type { SiteFacts, TypeFacts } from './probe.ts';
import { type DateAnswers, proposeDates } from './propose-dates.ts';
import { type Line, proposeFields } from './propose-fields.ts';
import { proposeLinked, proposeTaxonomy } from './propose-linked.ts';
import { seen } from './seen.ts';
import { missingKeys, pathsOf, pruned, type Recognised, recognise, unseenHiding } from './setups.ts';
import { KIND_WORDS } from './words.ts';

/** What the operator has decided: flags, or answers to questions. */
export interface Decisions extends DateAnswers {
  /** A shipped mapping by name. */
  mapping?: string;
  /** Collections by kind; `none` leaves the kind out. */
  collections?: Partial<Record<Kind, string>>;
  /** `event.start_date` -> path. */
  fields?: Record<string, string>;
}

export type Question = keyof DateAnswers | 'event-type' | 'start';

export interface Proposal {
  how: 'shipped' | 'own' | 'nothing';
  /** Name of the shipped mapping when it is taken as it is. */
  shipped: string | undefined;
  title: string;
  because: string;
  source: MappingSource;
  /** Where each kind lives, and each field. */
  kinds: { kind: Kind; base: string; reason: string }[];
  lines: Line[];
  notes: string[];
  /** The generated PHP has to go into the site first. */
  needsSnippet: boolean;
  /** The key by which the site hides events, where only the generated PHP shows it. */
  unseenHiding?: string;
  /** What the samples do not tell; `yes` would take the assumption. */
  open: Question[];
  /** Other types that look like events, best first. */
  candidates: TypeFacts[];
}

/** `undefined` when an event type is there (or was named) of which no begin can be found: only the operator knows it. */
export function propose(site: SiteFacts, decisions: Decisions = {}): Proposal | undefined {
  const candidates = eventTypes(site);
  const known = recognise(site);
  const wanted = decisions.mapping;
  const chosen = wanted === undefined ? known[0] : known.find(({ name }) => name === wanted);
  const type = decisions.collections?.event;
  if (chosen && (type === undefined || chosen.source.event.posts === type)) {
    const rival = candidates.find(({ base }) => base !== chosen.source.event.posts && proposable(site, base));
    if (chosen.open || !rival || wanted !== undefined) return shipped(chosen, site, decisions, candidates);
  }
  const own = type ?? candidates.find(({ base }) => proposable(site, base))?.base;
  return own === undefined ? undefined : ownMapping(site, own, decisions, candidates);
}

const proposable = (site: SiteFacts, base: string): boolean => {
  const type = site.types.find((each) => each.base === base);
  return type !== undefined && proposeDates(type.places).start !== undefined;
};

/** Types that look like events: by name, and by holding dates. Posts and pages only when they hold some. */
export function eventTypes(site: SiteFacts): TypeFacts[] {
  const scored = site.types.map((type) => {
    const named = KIND_WORDS.event.test(`${type.type} ${type.base} ${type.label}`.toLowerCase()) ? 2 : 0;
    const { start } = proposeDates(type.places);
    const dated = start ? (start.place.values.length > 0 ? 3 : 1) : 0;
    const common = type.base === 'posts' || type.base === 'pages';
    return { type, score: common && dated < 3 ? 0 : named + dated - (common ? 2 : 0) };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ type }) => type);
}

function shipped(chosen: Recognised, site: SiteFacts, decisions: Decisions, candidates: TypeFacts[]): Proposal {
  const cut = chosen.open ? pruned(chosen.source, site) : { source: chosen.source, dropped: [] };
  const source = withDecisions(cut.source, decisions);
  const same = JSON.stringify(source) === JSON.stringify(chosen.source);
  const missing = Object.entries(missingKeys(source, site));
  const hiding = chosen.open ? unseenHiding(source, site) : undefined;
  const needsSnippet = !chosen.open || (source.requiresHelper === true && missing.length > 0);
  return {
    how: 'shipped',
    shipped: same ? chosen.name : undefined,
    title: chosen.title,
    because: chosen.because,
    source: same ? source : { ...source, name: `${chosen.name}-here` },
    kinds: kindsOf(source, (base) => present(site, base)),
    lines: linesOf(source, site),
    notes: [...(chosen.note ? [chosen.note] : []), ...cut.dropped.map((what) => `left out ${what}`)],
    needsSnippet,
    ...(hiding === undefined ? {} : { unseenHiding: hiding }),
    open: [],
    candidates,
  };
}

/** What is to be said where an event plugin might hide all it has: it would be known by its folder. */
const HIDDEN =
  'Some event plugins show nothing of theirs to the REST interface. If the site has one, name it with --mapping (' +
  'events-manager, event-organiser ...), or look again with the application password of an administrator.';

/** The proposal for a site that has nothing yet: the gateway's own types. `plugins`: the active ones, where they are known. */
export function proposeNothingThere(source: MappingSource, plugins?: readonly string[]): Proposal {
  return {
    how: 'nothing',
    shipped: source.name,
    title: "post types of the gateway's own PHP file",
    because: 'the site has no type that looks like events',
    source,
    kinds: kindsOf(source, (base) => (base === 'tags' ? "the site's own tags" : 'made by the PHP file')),
    lines: [],
    notes: plugins === undefined ? [HIDDEN] : [],
    needsSnippet: true,
    open: [],
    candidates: [],
  };
}

function ownMapping(
  site: SiteFacts,
  base: string,
  decisions: Decisions,
  candidates: TypeFacts[],
): Proposal | undefined {
  const type = site.types.find((each) => each.base === base);
  if (!type) return undefined;
  const { start, end, open } = proposeDates(type.places, decisions);
  const given = decisions.fields ?? {};
  const lines: Line[] = [];
  const kinds: Proposal['kinds'] = [
    {
      kind: 'event',
      base,
      reason: `${type.label}, ${counted(type.total, 'record')}${start ? `, with dates in ${start.place.path}` : ''}`,
    },
  ];
  const taken = new Set<string>();
  const first = given['event.start_date'];
  if (!start && first === undefined) return undefined;
  if (start) lines.push({ kind: 'event', field: 'start_date', line: start.line, reason: start.reason });
  if (end) lines.push({ kind: 'event', field: 'end_date', line: end.line, reason: end.reason });
  for (const { line } of lines) for (const path of pathsOf(line)) taken.add(path);
  const source = { name: 'site', upstream: 'wordpress', event: { posts: base } } as MappingSource;
  for (const kind of ['venue', 'organizer'] as const) {
    const linked = proposeLinked(kind, type, site, decisions.collections?.[kind], taken);
    if (!linked) continue;
    if (linked.about) {
      source[kind] = linked.about;
      kinds.push({ kind, base: linked.about.posts ?? linked.about.terms ?? '', reason: linked.reason });
    }
    if (linked.line) lines.push(linked.line);
    lines.push(...linked.fields);
  }
  lines.push(...proposeFields('event', type.places, taken));
  for (const kind of ['category', 'tag'] as const) {
    const found = proposeTaxonomy(kind, type, site, source, decisions.collections?.[kind]);
    if (!found) continue;
    source[kind] = { terms: found.base };
    kinds.push({ kind, ...found });
  }
  for (const kind of KINDS) {
    const fields = lines.filter((line) => line.kind === kind).map(({ field, line }) => [field, line] as const);
    const about = source[kind];
    if (about && fields.length > 0) about.fields = Object.fromEntries(fields);
  }
  const whole = { ...withDecisions(source, decisions), ...typeNames(source, site) };
  return {
    how: 'own',
    shipped: undefined,
    title: `a mapping of its own for ${type.label} (${base})`,
    because: start ? `its records hold dates in ${start.place.path}` : 'you named it',
    source: whole,
    kinds,
    lines: [...lines.filter(({ kind, field }) => !given[`${kind}.${field}`]), ...givenLines(given)],
    notes: [],
    // Keys that were named and that no schema has: the PHP file opens them.
    needsSnippet: Object.keys(missingKeys(whole, site)).length > 0,
    open: [
      ...open,
      ...(candidates.length > 1 && decisions.collections?.event === undefined ? (['event-type'] as const) : []),
    ],
    candidates,
  };
}

/** Types and taxonomies whose collection is called otherwise: the PHP file has to know them by their own names. */
function typeNames(source: MappingSource, site: SiteFacts): Pick<MappingSource, 'wordpress'> {
  const posts: Record<string, PostTypeSource> = {};
  const terms: Record<string, TaxonomySource> = {};
  for (const kind of KINDS) {
    const type = site.types.find(({ base }) => base === source[kind]?.posts);
    if (type && type.type !== type.base && !CORE_BASES.has(type.base))
      posts[type.base] = { type: type.type, singular: type.label, plural: type.label, existing: true };
    const taxonomy = site.taxonomies.find(({ base }) => base === source[kind]?.terms);
    if (taxonomy && taxonomy.taxonomy !== taxonomy.base && !CORE_BASES.has(taxonomy.base))
      terms[taxonomy.base] = { taxonomy: taxonomy.taxonomy, existing: true };
  }
  const some = Object.keys(posts).length + Object.keys(terms).length > 0;
  return some ? { wordpress: { posts, terms } } : {};
}

const CORE_BASES = new Set(['posts', 'pages', 'categories', 'tags']);

function withDecisions(source: MappingSource, { fields = {} }: Decisions): MappingSource {
  const changed = structuredClone(source);
  for (const [name, path] of Object.entries(fields)) {
    const [kind, field] = name.split('.') as [Kind, string];
    const about = changed[kind];
    if (!about) continue;
    about.fields = { ...about.fields };
    if (path === 'none') delete about.fields[field];
    else about.fields[field] = path;
  }
  return changed;
}

const givenLines = (given: Record<string, string>): Line[] =>
  Object.entries(given)
    .filter(([, path]) => path !== 'none')
    .map(([name, line]) => ({
      kind: name.split('.')[0] as Kind,
      field: name.split('.')[1] ?? '',
      line,
      reason: 'you said so',
    }));

function kindsOf(source: MappingSource, reason: (base: string) => string): Proposal['kinds'] {
  return KINDS.flatMap((kind) => {
    const base = source[kind]?.posts ?? source[kind]?.terms;
    return base === undefined ? [] : [{ kind, base, reason: reason(base) }];
  });
}

function present({ types, taxonomies }: SiteFacts, base: string): string {
  const type = types.find((each) => each.base === base);
  if (type) return `${type.label}, ${counted(type.total, 'record')}`;
  const taxonomy = taxonomies.find((each) => each.base === base);
  return taxonomy ? `${taxonomy.label}, a taxonomy` : 'not open to the REST interface yet: the PHP file does that';
}

function linesOf(source: MappingSource, site: SiteFacts): Line[] {
  return KINDS.flatMap((kind) => {
    const type = site.types.find(({ base }) => base === source[kind]?.posts);
    return Object.entries(source[kind]?.fields ?? {}).map(([field, line]) => ({
      kind,
      field,
      line,
      reason: seen(type, line),
    }));
  });
}
