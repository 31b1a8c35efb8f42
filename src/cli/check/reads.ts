// Checks of what the site sends: its clock and time zone, the account, each list to its end, the occurrences of series,
// and each field of the mapping in a few records. The CMS may tell more of a field than its values do.

import type { Cms, CmsRecord, Credentials, ListRequest } from '../../cms/port.ts';
import { CmsRejected, ifRejected } from '../../errors.ts';
import { FIELDS, type Field } from '../../interface/fields.ts';
import { hasUnreadableTime } from '../../mapping/compile-field.ts';
import { customFieldRow } from '../../mapping/custom-fields.ts';
import type { KindMapping } from '../../mapping/mapping.ts';
import type { FieldSpec } from '../../mapping/mapping-file.ts';
import { isSeries, OCCURRENCES_FIELD } from '../../mapping/occurrences.ts';
import { isTermKind, type Kind } from '../../model/records.ts';
import { parseZone } from '../../time/zones.ts';
import {
  formatSample,
  isBlank,
  listPath,
  locationOf,
  readPathsOf,
  type SampledRecord,
  valueAtPath,
} from '../open-site.ts';
import { pluralized } from '../table.ts';
import {
  absence,
  type CheckContext,
  type CmsAdvice,
  type Finding,
  fail,
  type MappedField,
  ok,
  warn,
} from './checks.ts';

const CLOCK_TIMEOUT_MS = 10_000;
const SKEW_WARN_S = 5;
/** The gateway refuses a webhook whose time differs more from its own. */
const SKEW_FAIL_S = 300;
const BY_CLOCK = "a poll compares times of the site's clock";

export async function checkSite(context: CheckContext): Promise<Finding[]> {
  const { site, connection } = context;
  return [ok('address', `${site.name}, ${connection.url}`), await checkClock(connection.url), judgeTimeZone(context)];
}

async function checkClock(url: string): Promise<Finding> {
  const beforeMs = Date.now();
  const options = { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(CLOCK_TIMEOUT_MS) } as const;
  const response = await fetch(url, options).catch(() => undefined);
  const headerMs = Date.parse(response?.headers.get('date') ?? '');
  if (Number.isNaN(headerMs))
    return warn(
      'clock',
      'the site sends no Date header: its clock is unknown',
      `Let the site's web server, or the proxy in front of it, send the header Date: ${BY_CLOCK}.`,
    );
  // The header has whole seconds, rounded down. The site made it between the request and the response.
  const skewS = Math.round((headerMs + 500 - (beforeMs + Date.now()) / 2) / 1000);
  const skew = `${Math.abs(skewS)} s ${skewS > 0 ? 'ahead' : 'behind'}`;
  const advice = `Set both machines' clocks by NTP: ${BY_CLOCK}, and the signature of a webhook holds a time.`;
  if (Math.abs(skewS) > SKEW_FAIL_S) return fail('clock', `${skew}: the gateway refuses webhooks`, advice);
  if (Math.abs(skewS) > SKEW_WARN_S) return warn('clock', skew, advice);
  return ok('clock', `within ${SKEW_WARN_S} s of this machine's`);
}

function judgeTimeZone({ site: { timezone }, hasTimeZone, advice }: CheckContext): Finding {
  const name = 'time zone';
  if (!hasTimeZone)
    return warn(name, 'the mapping names no time zone: times of events without one are in UTC', advice.timeZone);
  const zone = parseZone(timezone);
  if (!zone) return fail(name, `"${timezone}" is not a known time zone`, advice.timeZone);
  if (zone.kind === 'fixed' && timezone !== 'UTC')
    return warn(name, `${timezone}, a fixed offset: it does not follow summer time`, advice.timeZone);
  return ok(name, timezone);
}

export async function checkAccount({ config, advice, connection }: CheckContext): Promise<Finding[]> {
  const { cms, credentials } = connection;
  if (credentials === undefined) {
    const message = 'none: check sees only what visitors see, and images that were uploaded to a draft are missing';
    return [warn('service', message, advice.account)];
  }
  const { user, readAs } = config.upstream;
  const effect = readAs === 'account' ? ': everybody sees what this account sees (upstream.readAs)' : '';
  const { roles } = await cms.account({ credentials });
  return [ok('service', `${user} (${roles.join(', ') || 'no role'})${effect}`)];
}

const PAGE_SIZE = 100;
const MAX_PAGES = 50;

export async function checkLists(context: CheckContext): Promise<Finding[]> {
  const { kindMappings, advice, connection, config } = context;
  // The lists are read as the gateway reads them.
  const credentials = config.upstream.readAs === 'account' ? connection.credentials : undefined;
  const findings: Finding[] = [];
  for (const kindMapping of kindMappings) {
    try {
      findings.push(judgeList(advice, kindMapping, await scanList(connection.cms, kindMapping, credentials)));
    } catch (error) {
      if (!(error instanceof CmsRejected)) throw error;
      findings.push(error.status === 404 ? missingCollection(kindMapping, context) : refusedList(kindMapping, error));
    }
  }
  return findings;
}

export async function checkSeries({ pluginAdvice, mapping, samples }: CheckContext): Promise<Finding[]> {
  if (!mapping.file.event.occurrences) return [];
  const { event: sampled = [] } = (await samples()).records;
  const events = sampled.map(({ cmsRecord }) => cmsRecord);
  if (events.length === 0) return [];
  if (events.some((event) => event[OCCURRENCES_FIELD] === undefined)) {
    const message = 'the site does not send the occurrences of series: the gateway lists the first occurrence only';
    return [warn('series', message, pluginAdvice())];
  }
  return [ok('series', `${events.filter(isSeries).length} of ${pluralized(events.length, 'event')} are series`)];
}

/** The gateway serves a calendar without venues, organizers or terms, and nothing without events. */
function missingCollection({ kind, collection }: KindMapping<Kind>, { advice, pluginAdvice }: CheckContext): Finding {
  const message = `the site has no collection "${collection}": the gateway serves no ${kind} until it has`;
  const show = advice.collection(pluginAdvice());
  if (kind === 'event') return fail(collection, message, show);
  const orNone = `If the calendar is to have none, leave "${kind}" out of the mapping (of a copy of a bundled one).`;
  return warn(collection, message, `${orNone} Otherwise: ${show}`);
}

const refusedList = ({ collection }: KindMapping<Kind>, { code, message }: CmsRejected): Finding =>
  fail(
    collection,
    `the site refuses the list to visitors: ${code}, ${message}`,
    'See SECURITY.md, "A site that refuses anonymous readers". Open the REST API to anonymous readers ' +
      '(of Payload: access.read of the collection), or set upstream.readAs to "account" for a service ' +
      'account that sees no more than the public may see.',
  );

async function scanList(cms: Cms, kindMapping: KindMapping<Kind>, credentials: Credentials) {
  const scan = { total: 0, ids: [] as number[], truncated: false };
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
  advice: CmsAdvice,
  { kind, collection, dedupe }: Pick<KindMapping<Kind>, 'kind' | 'collection' | 'dedupe'>,
  { total, ids, truncated }: Awaited<ReturnType<typeof scanList>>,
): Finding {
  const distinct = new Set(ids).size;
  const repeated = ids.length - distinct;
  const records = pluralized(distinct, 'record');
  if (repeated > 0 && !dedupe)
    return fail(
      collection,
      `${repeated} of ${ids.length} rows repeat an id, and the total of ${total} counts them`,
      `Add "dedupe": true to "${kind}" in the mapping.`,
    );
  if (!dedupe && !truncated && distinct < total)
    return fail(collection, `the site shows ${distinct} of ${total} records`, advice.hiddenRecords);
  if (distinct === 0 && isTermKind(kind)) return ok(collection, 'none yet');
  if (distinct === 0)
    return warn(
      collection,
      'no published record',
      `Make one in ${advice.admin}, unless the calendar is to have none. Until then check --write tries the fields ` +
        'on a draft, which it removes.',
    );
  return ok(collection, truncated ? `the first ${records} of ${total}` : records);
}

export async function checkFields(context: CheckContext, kind: Kind): Promise<Finding[]> {
  const kindMapping = context.kindMappings.find((each) => each.kind === kind);
  if (!kindMapping) return [];
  const { cms, credentials } = context.connection;
  const info = await cms.collectionInfo(kindMapping, { credentials }).catch(ifRejected(() => undefined));
  const sampled = (await context.samples()).records[kind];
  // Without records and a schema nothing tells of the kind's fields: `checkLists` says that the collection is missing.
  if (!info || (!sampled && !info.writableFields)) return [];
  const records = sampled ?? [];
  const { fields = {}, custom_fields = {} } = context.mapping.file[kind] ?? {};
  const judge = async (name: string, spec: string | FieldSpec, definition: Field): Promise<Finding> => {
    const paths = readPathsOf(spec);
    if (paths.length === 0) return ok(name, 'fixed in the mapping');
    const isMissing = records.length > 0 && !records.some(({ cmsRecord }) => hasPaths(cmsRecord, paths));
    const { writableFields } = info;
    const field = { kindMapping, name, spec, paths, definition, writableFields, records, isMissing };
    return (await context.judgeField(field, context)) ?? judgeValues(field, context.advice.admin);
  };
  const findings: Finding[] = [];
  for (const [name, spec] of Object.entries(fields)) findings.push(await judge(name, spec, FIELDS[kind][name]!));
  for (const [name, spec] of Object.entries(custom_fields)) {
    const definition: Field = { ...customFieldRow(name, spec), property: `customFields.${name}` };
    findings.push(await judge(`custom_fields.${name}`, spec, definition));
  }
  return findings;
}

/**
 * What the records show about one field. Of `start_date`, which is required, in the order of the code:
 *
 *   no record has `meta.start`                            fail
 *   there is no record                                    ok
 *   'soon', ''                                            fail: none is readable
 *   '2031-05-01 19:30:00', '', 'soon'                     warn (`incompleteDate`); ok for a field that is not required
 *   '2031-05-01' and '19:30', '2031-05-02' and 'evening'  warn: the mapping reads a day and a time (`parts`)
 *   '2031-05-01 19:30:00', '2031-05-02 20:00:00'          ok
 */
function judgeValues(field: MappedField, admin: string): Finding {
  const { kindMapping, name, spec, paths, definition, records } = field;
  const path = paths.join(', ');
  if (field.isMissing) {
    const shown = Object.keys(records[0]?.cmsRecord ?? {}).join(', ');
    const advice = `Compare the path with what the site sends for ${kindMapping.collection}: ${shown}.`;
    return fail(name, absence(field), advice);
  }
  if (records.length === 0) return ok(name, `${path}: there is no record to read`);
  const isFlag = definition.type === 'boolean';
  const hasValue = ({ cmsRecord }: SampledRecord) =>
    paths.some((each) => !isUnset(valueAtPath(cmsRecord, each), definition));
  // A flag is often false, which `hasValue` takes for none.
  const filled = records.filter((each) => (isFlag ? hasPaths(each.cmsRecord, paths) : hasValue(each)));
  const readable = filled.filter((each) => isReadable(each, definition));
  const example = exampleIn(filled.find(hasValue), paths);
  if (filled.length > 0 && readable.length === 0 && !isFlag)
    return fail(name, `no value of ${path} is readable (${example})`, codecAdvice(field));
  // The required fields are the start and the end of an event.
  if (definition.required && readable.length < records.length) return incompleteDate(field, filled, readable, admin);
  const { parts } = locationOf(spec);
  const untimed = parts ? filled.filter(({ cmsRecord }) => hasUnreadableTime(parts, cmsRecord)) : [];
  if (untimed.length > 0)
    return warn(
      name,
      `${path}: ${untimed.length} of ${records.length} events have a time of day that is not readable ` +
        `(${exampleIn(untimed[0], paths)}): it is taken for midnight`,
      codecAdvice(field),
    );
  return ok(name, `${path}: ${filled.length} of ${records.length} have it${example && `, ${example}`}`);
}

type Records = readonly SampledRecord[];

function incompleteDate(field: MappedField, filled: Records, readable: Records, admin: string): Finding {
  const { name, paths, definition, records } = field;
  const unreadRecord = filled.find((each) => !readable.includes(each));
  const unreadable = exampleIn(unreadRecord, paths);
  const effect = definition.property === 'end' ? 'end when they start' : 'are in no list by date';
  const count = `${records.length - readable.length} of ${records.length} events`;
  // A wrong format leaves at least half of the values unreadable. A few are slips of editors.
  const isWrongFormat = unreadable !== '' && 2 * readable.length <= filled.length;
  return warn(
    name,
    `${paths.join(', ')}: ${count} have no readable value${unreadable && ` (${unreadable})`}, and ${effect}`,
    isWrongFormat
      ? codecAdvice(field)
      : `Fill it in in ${admin}, or leave these events as they are. If they have dates there, the site stores them ` +
          'under another name: docs/mapping.md, "Find the facts", says how to find it.',
  );
}

function isReadable({ record }: SampledRecord, { property, empty }: Field): boolean {
  const value: unknown = Reflect.get(record, property);
  // No record has a property `customFields.seats`. A custom field may be blank: that is no fault.
  const isCustom = value === undefined;
  return isCustom || !(isBlank(value) || value === empty);
}

const exampleIn = (found: SampledRecord | undefined, paths: readonly string[]): string =>
  found ? `such as ${paths.map((each) => formatSample(valueAtPath(found.cmsRecord, each))).join(' ')}` : '';

const codecAdvice = ({ kindMapping, name }: MappedField): string =>
  `Give ${kindMapping.kind}.${name} the format of these values in the mapping: "as", or the "format" of each of ` +
  'the "parts" (docs/mapping.md, Dates and codecs).';

const hasPaths = (cmsRecord: CmsRecord, paths: readonly string[]): boolean =>
  paths.every((path) => [listPath(path), path].some((each) => valueAtPath(cmsRecord, each) !== undefined));

/** Plugins store zeros, as text too, for a venue without coordinates. */
const isUnset = (value: unknown, { type }: Field): boolean =>
  isBlank(value) || value === 0 || value === false || (type === 'number' && Number(value) === 0);
