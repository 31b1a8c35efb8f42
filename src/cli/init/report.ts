// What `init` prints: the site, the proposal, some events as the API would show them, and the next steps.

import { createSerializer } from '../../calendar/serializer.ts';
import type { Mapping } from '../../mapping/mapping.ts';
import type { FieldSpec } from '../../mapping/mapping-file.ts';
import type { JsonObject } from '../../model/json.ts';
import type { EventRecord, Site, SiteSettings } from '../../model/records.ts';
import { PUBLIC_VISIBILITIES } from '../../store/filters.ts';
import { openReplica } from '../../store/replica.ts';
import { pluralized } from '../check/checks.ts';
import { formatSample } from '../field-samples.ts';
import type { SampledRecords } from '../sample-records.ts';
import { columns, wrapText } from '../table.ts';
import { advise } from './advice.ts';
import type { ProbedSite } from './probe.ts';
import type { Proposal } from './propose.ts';
import { unreadableFields } from './propose-dates.ts';

const SHOWN_FIELDS = 12;
const WIDTH = 116;
const PREVIEW_COUNT = 3;

export function siteLines({ url, name, timezone, settings, account, plugins, types }: ProbedSite): string[] {
  const content = types.filter(({ base }) => base !== 'posts' && base !== 'pages');
  return [
    `Site        ${name} (${url}), time zone ${timezone}`,
    account
      ? `Account     ${account.name} (${account.roles.join(', ') || 'no role'})`
      : 'Account     none: only public records are readable. With a user and an application password the replica also has drafts\n            and private records, and lists for staff are exact; to an administrator the site also shows its active plugins.',
    ...(plugins ? [`Plugins     ${plugins.join(', ') || 'none'}`] : []),
    ...(account && !plugins ? ['Plugins     not shown to this account; to an administrator they are'] : []),
    ...currencyLines(settings),
    `Types       ${content.map(({ base, total }) => `${base} (${total})`).join(', ') || 'posts and pages only'}`,
  ];
}

/** What the event plugin says of costs that name no currency. */
function currencyLines({ currencySymbol, currencyCode, currencyPosition }: SiteSettings = {}): string[] {
  const names = [currencySymbol?.trim(), currencyCode].filter(Boolean).join(', ');
  const place = currencyPosition === 'postfix' ? 'after' : 'before';
  return names === '' ? [] : [`Currency    ${names}, ${place} the amount: as the event plugin is set`];
}

export function proposalLines({ title, reason, preset, collections, fields, notes }: Proposal): string[] {
  const rows = [
    ...collections.map(({ kind, base, reason }) => [kind, base, reason]),
    ...fields.map(({ kind, field, source, reason }) => [`${kind}.${field}`, fieldText(source), reason]),
  ];
  return [
    `Proposal    ${title}: ${reason}.`,
    `Mapping     ${preset === undefined ? 'a file of its own, which you may edit' : `${preset}, which comes with the gateway`}`,
    '',
    ...columns(rows).map((row) => `  ${row}`),
    ...(notes.length > 0 ? [''] : []),
    ...notes.flatMap((note) => wrapText(`note: ${note}`, WIDTH).map((line) => `  ${line}`)),
  ];
}

/** A field of a mapping in one line: its path, and its codec unless that is the default. */
function fieldText(field: string | FieldSpec): string {
  if (typeof field === 'string') return field;
  const { embedded, read, parts, at, as, value } = field;
  if (value !== undefined) return `always ${JSON.stringify(value)}`;
  if (embedded) return `text: ${Object.values(embedded).join(', ')}`;
  if (parts) return parts.map((part) => `${part.at} (${part.format})`).join(' + ');
  if (read !== undefined) return fieldText(read);
  return as === undefined ? (at ?? '') : `${at} as ${typeof as === 'string' ? as : JSON.stringify(as)}`;
}

/** Some events as the API would show them, or why there are none to show. */
export function previewLines(
  records: SampledRecords,
  mapping: Mapping,
  site: Site,
  baseUrl: string,
  { origin, needsPlugin }: Pick<Proposal, 'origin' | 'needsPlugin'>,
): string[] {
  const events = previewEvents(records, mapping, site, baseUrl);
  const count = records.event?.length ?? 0;
  if (events.length > 0)
    return [
      `${events.length} of the ${count} newest events, as the API shows them:`,
      ...events.flatMap((event) => ['', ...eventLines(event).map((line) => `  ${line}`)]),
    ];
  if (needsPlugin && origin !== 'own-types')
    return ['The site does not show the dates of its events yet: the companion plugin opens them.'];
  // Nobody can make an event of a type that the companion plugin has yet to register: the next steps say when.
  if (count === 0) return ['There is no event to read yet.', ...(needsPlugin ? [] : [advise('no-event')])];
  return [`The mapping can read the start of none of the ${count} newest events.`];
}

/** Published events first. */
function previewEvents(records: SampledRecords, mapping: Mapping, site: Site, baseUrl: string): JsonObject[] {
  const replica = openReplica({ identity: 'preview' });
  try {
    const all = Object.values(records).flat();
    replica.upsert(all.map(({ record }) => record));
    for (const readEmbedded of Object.values(mapping.kinds.event.embedded))
      replica.upsert((records.event ?? []).flatMap(({ cmsRecord }) => readEmbedded(cmsRecord) ?? []));
    const serializer = createSerializer(replica, mapping, () => site);
    const events = (records.event ?? []).map(({ record }) => record as EventRecord).filter(({ start }) => start !== '');
    return events
      .sort((a, b) => Number(b.status === 'publish') - Number(a.status === 'publish'))
      .slice(0, PREVIEW_COUNT)
      .map((event) => serializer.event(event, { baseUrl, visibilities: PUBLIC_VISIBILITIES }, { unlocked: true }));
  } finally {
    replica.close();
  }
}

/** The values of an event that an operator compares first, one a line. */
function eventLines(event: JsonObject): string[] {
  const names = (value: unknown, key: string): string =>
    [value]
      .flat()
      .map((each) => String((each as JsonObject)[key] ?? ''))
      .filter((name) => name !== '')
      .join(', ');
  const venue = [event.venue].flat()[0] as JsonObject | undefined;
  const values: Record<string, unknown> = {
    id: event.id,
    title: event.title,
    status: event.status === 'publish' ? '' : event.status,
    start_date: event.start_date,
    end_date: event.end_date,
    timezone: event.timezone,
    all_day: event.all_day === true ? 'true' : '',
    cost: event.cost,
    website: event.website === event.url ? '' : event.website,
    venue: [names(event.venue, 'venue'), venue?.address, venue?.city].filter(Boolean).join(', '),
    organizer: names(event.organizer, 'organizer'),
    categories: names(event.categories, 'name'),
    tags: names(event.tags, 'name'),
    url: event.url,
  };
  return Object.entries(values)
    .filter(([, value]) => value !== '' && value !== undefined)
    .map(([name, value]) => `${name.padEnd(11)} ${String(value)}`);
}

/**
 * For types that look like events, or that the operator named, and have no start: their fields, and how to
 * name the right one.
 */
export function missingDatesLines(site: ProbedSite, bases: readonly string[]): string[] {
  return bases.flatMap((base) => {
    const type = site.types.find((each) => each.base === base);
    const fields = (type?.fields ?? []).filter(({ path }) => path !== 'menu_order' && !type?.termBases.includes(path));
    const shown = fields
      .slice(0, SHOWN_FIELDS)
      .map(({ path, values }) => `${path}${values.length > 0 ? ` (${formatSample(values[0])})` : ''}`);
    const [unreadable] = unreadableFields(fields);
    const advice = unreadable
      ? [advise('date-format', [base, unreadable.path])]
      : [
          advise('name-dates', base),
          ...(fields.some(({ path }) => path.startsWith('acf.')) ? [] : [advise('show-acf')]),
        ];
    return [
      `The collection ${base} (${pluralized(type?.total ?? 0, 'record')}) shows no field that ${unreadable ? 'init can read as a date' : 'looks like a date'}.`,
      fields.length > 0
        ? `  It shows: ${shown.join(', ')}${fields.length > SHOWN_FIELDS ? ' ...' : ''}`
        : '  It shows no fields at all: no meta is registered for the REST API, and no ACF field group is shown in it.',
      ...advice.flatMap((each) => wrapText(each, WIDTH).map((line) => `  ${line}`)),
    ];
  });
}

/** What `init` assumed because it did not ask, each with the option to change it. */
export function assumptionLines({ openQuestions, eventTypes }: Proposal): string[] {
  const bases = eventTypes.map(({ base }) => base);
  const assumptions: Record<Proposal['openQuestions'][number], string> = {
    dateOrder: advise('date-order'),
    seconds: advise('seconds'),
    eventType: advise('events-among', bases),
  };
  return openQuestions.map((question) => `Assumed     ${assumptions[question]}`);
}
