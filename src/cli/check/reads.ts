// Checks of what the site sends: its clock and time zone, the account, each list to its end, the occurrences of series,
// and each field of the mapping in a few records. The CMS may tell more of a field than its values do.

import type { Cms, CmsRecord, Credentials, ListRequest } from '../../cms/port.ts';
import { CmsRejected } from '../../errors.ts';
import { FIELDS, type Field } from '../../interface/fields.ts';
import { customFieldType, hasUnreadableTime } from '../../mapping/compile-field.ts';
import type { KindMapping } from '../../mapping/mapping.ts';
import type { FieldSpec } from '../../mapping/mapping-file.ts';
import { isSeries, OCCURRENCES_FIELD } from '../../mapping/occurrences.ts';
import { isTermKind, KINDS, type Kind } from '../../model/records.ts';
import { parseZone } from '../../time/zones.ts';
import {
  formatSample,
  isBlank,
  listPath,
  orIfRefused,
  pathsOf,
  type SampledRecord,
  type SiteConnection,
  valueAtPath,
} from '../open-site.ts';
import { pluralized } from '../table.ts';
import {
  type Check,
  type CheckContext,
  type CmsWords,
  type Finding,
  fail,
  type MappedField,
  ok,
  warn,
} from './checks.ts';

const CLOCK_TIMEOUT_MS = 10_000;
const SKEW_WARN_S = 5;
/** The gateway refuses webhooks beyond this. */
const SKEW_FAIL_S = 300;
const BY_CLOCK = "a poll compares times of the site's clock";

export const SITE_CHECKS: readonly Check[] = [
  {
    area: 'site',
    name: 'address',
    run: async ({ site, connection: { url } }) => ok(`${site.name}, ${url}`),
  },
  {
    area: 'site',
    name: 'clock',
    async run({ connection: { url } }) {
      const beforeMs = Date.now();
      const options = { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(CLOCK_TIMEOUT_MS) } as const;
      const response = await fetch(url, options).catch(() => undefined);
      const siteTimeMs = Date.parse(response?.headers.get('date') ?? '');
      if (Number.isNaN(siteTimeMs))
        return warn(
          'the site sends no Date header: its clock is unknown',
          `Let the site's web server, or the proxy in front of it, send the header Date: ${BY_CLOCK}.`,
        );
      // The header has whole seconds, rounded down.
      const skewS = Math.round((siteTimeMs + 500 - (beforeMs + Date.now()) / 2) / 1000);
      const skew = `${Math.abs(skewS)} s ${skewS > 0 ? 'ahead' : 'behind'}`;
      const advice = `Set both machines' clocks by NTP: ${BY_CLOCK}, and the signature of a webhook holds a time.`;
      if (Math.abs(skewS) > SKEW_FAIL_S) return fail(`${skew}: the gateway refuses webhooks`, advice);
      return Math.abs(skewS) > SKEW_WARN_S ? warn(skew, advice) : ok(`within ${SKEW_WARN_S} s of this machine's`);
    },
  },
  {
    area: 'site',
    name: 'time zone',
    async run({ site: { timezone }, mapping, cms: { words } }) {
      if (mapping.cms === 'payload' && mapping.file.payload?.timezone === undefined)
        return warn('the mapping names no time zone: times of events without one are in UTC', words.timeZone);
      const zone = parseZone(timezone);
      if (!zone) return fail(`"${timezone}" is not a known time zone`, words.timeZone);
      if (zone.kind === 'fixed' && timezone !== 'UTC')
        return warn(`${timezone}, a fixed offset: it does not follow summer time`, words.timeZone);
      return ok(timezone);
    },
  },
  {
    area: 'account',
    name: 'service',
    async run({ config, cms: { words }, connection: { cms, credentials } }) {
      if (credentials === undefined)
        return warn(
          'none: check sees only what visitors see, and images that were uploaded to a draft are missing',
          words.account,
        );
      const { user, readAs } = config.upstream;
      const effect = readAs === 'account' ? ': everybody sees what this account sees (upstream.readAs)' : '';
      return ok(`${user} (${(await cms.account({ credentials })).roles.join(', ') || 'no role'})${effect}`);
    },
  },
];

const PAGE_SIZE = 100;
const MAX_PAGES = 50;

export const LIST_CHECK: Check = {
  area: 'lists',
  async run(context) {
    const { kinds, cms, connection, config, unlisted } = context;
    // As the gateway reads them.
    const credentials = config.upstream.readAs === 'account' ? connection.credentials : undefined;
    const findings: Finding[] = [];
    for (const kind of kinds) {
      const name = kind.collection;
      try {
        const scan = await scanList(connection.cms, kind, credentials);
        const finding = judgeList(cms.words, kind, scan);
        if (finding.state === 'fail') unlisted.add(kind.kind);
        findings.push({ name, ...finding });
      } catch (error) {
        if (!(error instanceof CmsRejected)) throw error;
        unlisted.add(kind.kind);
        const isMissing = await isAbsent(connection, kind, error);
        findings.push({ name, ...(isMissing ? missingCollection(kind, context) : refusedList(error)) });
      }
    }
    return findings;
  },
};

export const SERIES_CHECK: Check = {
  area: 'lists',
  name: 'series',
  async run({ cms: { words }, pluginOptions, mapping, samples }) {
    const { occurrences } = mapping.file.event;
    const events = occurrences ? ((await samples()).records.event ?? []) : [];
    const cmsRecords = events.map(({ cmsRecord }) => cmsRecord);
    return judgeSeries(cmsRecords, words.plugin(pluginOptions), occurrences?.note);
  },
};

/** `showOccurrences`: how the site comes to send them. */
export function judgeSeries(events: readonly CmsRecord[], showOccurrences: string, note?: string): Finding[] {
  if (events.length === 0) return [];
  if (events.some((event) => event[OCCURRENCES_FIELD] === undefined))
    return [
      warn(
        'the site does not send the occurrences of series: the gateway lists the first occurrence only',
        showOccurrences,
      ),
    ];
  const series = events.filter(isSeries);
  const total = series.reduce((sum, event) => sum + (event[OCCURRENCES_FIELD] as unknown[]).length, 0);
  const found = `${series.length} of ${pluralized(events.length, 'event')} are series, with ${total} occurrences`;
  return [ok(note !== undefined && total > 0 ? `${found} (${note})` : found)];
}

/** A CMS may refuse a list before it looks for the collection. */
async function isAbsent({ cms, credentials }: SiteConnection, kindMapping: KindMapping<Kind>, { status }: CmsRejected) {
  return status === 404 || !(await orIfRefused(cms.hasCollection(kindMapping, { credentials }), true));
}

/** The gateway serves a calendar without venues, organizers or terms, and nothing without events. */
function missingCollection(
  { kind, collection }: KindMapping<Kind>,
  { cms: { words }, pluginOptions }: CheckContext,
): Finding {
  const message = `the site has no collection "${collection}": the gateway serves no ${kind} until it has`;
  const advice = words.collection(pluginOptions);
  if (kind === 'event') return fail(message, advice);
  const orNone = `If the calendar is to have none, leave "${kind}" out of the mapping (of a copy of a bundled one).`;
  return warn(message, `${orNone} Otherwise: ${advice}`);
}

const refusedList = ({ code, message }: CmsRejected): Finding =>
  fail(
    `the site refuses the list to visitors: ${code}, ${message}`,
    'See SECURITY.md, "A site that refuses anonymous readers". Open the REST API to anonymous readers ' +
      '(of Payload: access.read of the collection), or set upstream.readAs to "account" for a service ' +
      'account that sees no more than the public may see.',
  );

/** All pages of a list. */
export interface ListScan {
  /** According to the site. */
  total: number;
  ids: number[];
  truncated: boolean;
}

async function scanList(cms: Cms, kindMapping: KindMapping<Kind>, credentials: Credentials): Promise<ListScan> {
  const scan: ListScan = { total: 0, ids: [], truncated: false };
  /** Fewer than requested if the site has a lower limit. */
  let pageSize = PAGE_SIZE;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const request: ListRequest = { view: 'public', limit: PAGE_SIZE, page, order: 'id', detail: 'id' };
    const { total, records } = await cms.list(kindMapping, request, { credentials });
    scan.total = total;
    scan.ids.push(...records.map(({ id }) => Number(id)));
    if (page === 1) pageSize = records.length;
    if (records.length === 0 || page * pageSize >= total) return scan;
  }
  return { ...scan, truncated: true };
}

export function judgeList(
  words: CmsWords,
  { kind, dedupe }: Pick<KindMapping<Kind>, 'kind' | 'dedupe'>,
  { total, ids, truncated }: ListScan,
): Finding {
  const distinct = new Set(ids).size;
  const repeated = ids.length - distinct;
  const records = pluralized(distinct, 'record');
  if (repeated > 0 && dedupe) return ok(`${records} in ${ids.length} rows; the mapping allows for it (dedupe)`);
  if (repeated > 0)
    return fail(
      `${repeated} of ${ids.length} rows repeat an id, and the total of ${total} counts them`,
      `Add "dedupe": true to "${kind}" in the mapping.`,
    );
  if (!dedupe && !truncated && distinct < total)
    return fail(`the site shows ${distinct} of ${total} records`, words.hiddenRecords);
  if (distinct === 0 && isTermKind(kind)) return ok('none yet');
  if (distinct === 0)
    return warn(
      'no published record',
      `${kind === 'event' ? 'Make an event' : `If the calendar is to have ${kind}s, make one`} in ` +
        `${words.admin}. Until then check --write tries the fields on a draft, which it removes.`,
    );
  if (truncated) return ok(`the first ${records} of ${total}, each once`);
  return ok(distinct === 1 ? records : `${records}, each once`);
}

export const FIELD_CHECKS: readonly Check[] = KINDS.map((kind) => ({
  area: `${kind} fields`,
  async run(context) {
    const kindMapping = context.kinds.find((each) => each.kind === kind);
    return kindMapping ? checkFields(context, kindMapping) : [];
  },
}));

async function checkFields(context: CheckContext, kindMapping: KindMapping<Kind>): Promise<Finding[]> {
  const { kind } = kindMapping;
  const { cms, credentials } = context.connection;
  const info = await orIfRefused(cms.collectionInfo(kindMapping, { credentials }), undefined);
  const sampled = (await context.samples()).records[kind];
  // Without records and a schema nothing tells of its fields: the lists say that it is missing.
  if (!info || (!sampled && !info.writableFields)) return [];
  const records = sampled ?? [];
  const { fields = {}, custom_fields = {} } = context.mapping.file[kind] ?? {};
  const findings: Finding[] = [];
  const judge = async (name: string, spec: string | FieldSpec, definition: Field): Promise<void> => {
    const paths = pathsOf(spec);
    const isMissing = records.length > 0 && !records.some(({ cmsRecord }) => hasPaths(cmsRecord, paths));
    const field = { kindMapping, name, spec, definition, writableFields: info.writableFields, records, isMissing };
    const ofCms = paths.length > 0 ? await context.cms.judgeField(field, context) : undefined;
    findings.push({ name, ...(ofCms ?? judgeValues(field, context.cms.words.admin)) });
  };
  for (const [name, spec] of Object.entries(fields)) await judge(name, spec, FIELDS[kind][name]!);
  for (const [name, spec] of Object.entries(custom_fields)) {
    const definition = { ...customFieldType(name, spec), key: `customFields.${name}` };
    await judge(`custom_fields.${name}`, spec, definition);
  }
  return findings;
}

/** What the records show about one field. */
function judgeValues({ kindMapping, name, spec, definition, records, isMissing }: MappedField, admin: string): Finding {
  const paths = pathsOf(spec);
  const path = paths.join(', ');
  if (paths.length === 0) return ok('fixed in the mapping');
  if (isMissing)
    return fail(
      `${path} is in none of ${records.length} ` +
        `records${definition.required ? ', and the gateway lists no event without it' : ''}`,
      `Compare the path with what the site sends for ${kindMapping.collection}: ${shownFields(records).join(', ')}.`,
    );
  const location = typeof spec === 'object' ? (spec.read ?? spec) : spec;
  const parts = typeof location === 'object' ? location.parts : undefined;
  const isFlag = definition.type === 'boolean';
  const hasValue = ({ cmsRecord }: SampledRecord) =>
    paths.some((each) => !isUnset(valueAtPath(cmsRecord, each), definition));
  const filled = records.filter((each) => (isFlag ? hasPaths(each.cmsRecord, paths) : hasValue(each)));
  // Of a custom field the record has nothing at this key: what the site has is readable.
  const isEmpty = (value: unknown) => value !== undefined && (isBlank(value) || value === definition.empty);
  const readable = filled.filter(({ record }) => !isEmpty(Reflect.get(record, definition.key)));
  const exampleIn = (found: SampledRecord | undefined): string | undefined =>
    found && paths.map((each) => formatSample(valueAtPath(found.cmsRecord, each))).join(' ');
  const example = exampleIn(filled.find(hasValue));
  const codecAdvice =
    `Give ${kindMapping.kind}.${name} the format of these values in the mapping: "as", or the "format" of each of ` +
    'the "parts" (docs/mapping.md, Dates and codecs).';
  if (filled.length > 0 && readable.length === 0 && !isFlag)
    return fail(`${path} holds ${example}, which is not readable`, codecAdvice);
  if (definition.required && readable.length < records.length) {
    const unreadable = exampleIn(filled.find((each) => !readable.includes(each)));
    const such = unreadable === undefined ? '' : ` (such as ${unreadable})`;
    const effect = definition.key === 'end' ? 'end when they start' : 'are in no list by date';
    return warn(
      `${path}: ${records.length - readable.length} of ${records.length} events have no readable ` +
        `value${such}, and ${effect}`,
      // A wrong format leaves at least half of the values unreadable. A few are slips of editors.
      unreadable !== undefined && 2 * readable.length <= filled.length
        ? codecAdvice
        : `Fill it in in ${admin}, or leave these events as they are. If they have dates there, the site stores them ` +
            'under another name: docs/mapping.md, "Find the facts", says how to find it.',
    );
  }
  const untimed = parts ? filled.filter(({ cmsRecord }) => hasUnreadableTime(parts, cmsRecord)) : [];
  if (untimed.length > 0)
    return warn(
      `${path}: ${untimed.length} of ${records.length} events have a time of day that is not readable ` +
        `(such as ${exampleIn(untimed[0])}): it is taken for midnight`,
      codecAdvice,
    );
  if (records.length === 0) return ok(`${path}: there is no record to read`);
  return ok(
    `${path}: ${filled.length} of ${records.length} have it${example === undefined ? '' : `, such as ${example}`}`,
  );
}

/** The fields of a record as the site sends it. */
const shownFields = ([first]: readonly SampledRecord[]): string[] =>
  // `modifiedUtc` is the adapter's, not the site's.
  Object.keys(first?.cmsRecord ?? {}).filter((name) => name !== 'modifiedUtc');

const hasPaths = (cmsRecord: CmsRecord, paths: readonly string[]): boolean =>
  paths.every((path) => [listPath(path), path].some((each) => valueAtPath(cmsRecord, each) !== undefined));

/** Plugins store zeros, as text too, for a venue without coordinates. */
const isUnset = (value: unknown, { type }: Field): boolean =>
  isBlank(value) || value === 0 || value === false || (type === 'coordinate' && Number(value) === 0);
