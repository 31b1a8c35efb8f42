// What `init` prints of a site, of the proposal for it, and of why there is none.

import { collectionName, type KindSpec } from '../../mapping/mapping-file.ts';
import { KINDS } from '../../model/records.ts';
import { formatSample, readPathsOf } from '../open-site.ts';
import { columns, pluralized } from '../table.ts';
import { fieldEvidence, OWN_TYPES_PRESET, unknownEventPlugins, unsupportedPlugins } from './presets.ts';
import { findEventTypes, OTHER_EVENTS, type Proposal } from './propose.ts';
import { type ProbedSite, type ProbedType, type SiteField, typeAt } from './site.ts';

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
  const { isSeenOnSite, summary, preset, mapping, needsPlugin } = proposal;
  const hasNoEvents = typeAt(site, collectionName(mapping.event))?.total === 0;
  const notes = [
    ...(proposal.unmapped.length > 0 ? [unsureOf(mapping.event, proposal.unmapped)] : []),
    ...proposal.notes,
    // Nobody can make an event of a type that the companion plugin has yet to register: the next steps say when.
    ...(hasNoEvents && !needsPlugin ? [NO_EVENT] : []),
  ];
  const rows = KINDS.flatMap((kind) => {
    const spec = mapping[kind];
    if (!spec) return [];
    const type = typeAt(site, spec.posts);
    // `init` has read no values of terms.
    const fields = isSeenOnSite && spec.terms === undefined ? Object.entries(spec.fields ?? {}) : [];
    return [
      [kind, collectionName(spec), describeCollection(site, collectionName(spec))],
      ...fields.map(([name, field]) => [`${kind}.${name}`, readPathsOf(field).join(' + '), fieldEvidence(type, field)]),
    ];
  });
  return [
    ...proposal.assumed.map((what) => `Assumed     ${what}`),
    `Proposal    ${summary}.`,
    `Mapping     ${preset === undefined ? 'a file of its own, which you may edit' : `${preset}, a bundled mapping`}`,
    '',
    ...columns(rows).map((row) => `  ${row}`),
    ...(notes.length > 0 ? [''] : []),
    ...notes.map((note) => `  note: ${note}`),
    '',
  ];
}

const unsureOf = (event: KindSpec, fields: readonly SiteField[]): string =>
  `not sure what these fields of ${collectionName(event)} are, so the mapping leaves them out: ` +
  `${shownFields(fields)}; name one with --field KIND.NAME=PATH, or as a custom field in the mapping (docs/mapping.md)`;

function describeCollection(site: ProbedSite, base: string): string {
  const type = typeAt(site, base);
  if (type) return `${type.label === base ? '' : `${type.label}, `}${pluralized(type.total, 'record')}`;
  const taxonomy = site.taxonomies.find((each) => each.base === base);
  return taxonomy ? `${taxonomy.label}, a taxonomy` : 'not in the REST API';
}

/**
 * Why there is no proposal, by the first row that holds:
 *
 *   --event-type (`wanted`)   the site has                                 what is said
 *   gigs                      a type `gigs` without dates                  what gigs shows, and how to name a date
 *   none                      My Calendar, which the gateway cannot read   that its events cannot be served
 *   none                      a type `gigs` without dates                  as in the first row
 *   none                      eventprime, unknown here                     that the events may be there
 */
export function whyNothingLines(site: ProbedSite, wanted: string | undefined): string[] {
  // `propose` has thrown if the site has no such type.
  if (wanted !== undefined) return [...withoutDates(typeAt(site, wanted)!), OWN_TYPES];
  const types = findEventTypes(site);
  const plugins = unsupportedPlugins(site);
  const unknown = plugins.length + types.length > 0 ? [] : unknownEventPlugins(site);
  const reasons = [
    ...plugins.map(
      (title) =>
        `This site has its events in ${title}. The gateway cannot serve them: their dates are in database tables of ` +
        'its own, which no route of the REST API lists by their changes.',
    ),
    ...unknown.map(
      (name) =>
        `This site may have its events in ${name}. The gateway cannot serve them: the REST API shows none with a date.`,
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
    `  It shows: ${shownFields(fields) || 'nothing else'}`,
    `  Add --event-type ${base} ${OTHER_EVENTS}. If the meta key is not in the REST API yet, init also ` +
      'writes a companion plugin that opens it. For Advanced Custom Fields switch on "Show in REST API" ' +
      'in the field group.',
    '  If a field holds the date in another form, name it in the same way, and say its form: ' +
      "--date-format 'd/m/Y H:i' (letters: docs/mapping.md, Dates).",
  ];
}

const MAX_SHOWN = 12;

/** The first fields, with a value of each. */
function shownFields(fields: readonly SiteField[]): string {
  const example = ({ values }: SiteField) => (values.length > 0 ? ` (${formatSample(values[0])})` : '');
  const shown = fields.slice(0, MAX_SHOWN).map((field) => field.path + example(field));
  return shown.join(', ') + (fields.length > MAX_SHOWN ? ' ...' : '');
}
