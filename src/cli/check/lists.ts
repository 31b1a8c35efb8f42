// Checks of the site's lists: each collection exists, its pages give each record once, and as many as its
// total says; series have their occurrences.

import type { Cms, CmsRecord, Credentials, ListRequest } from '../../cms/port.ts';
import { CmsRejected } from '../../errors.ts';
import type { KindMapping } from '../../mapping/mapping.ts';
import { isSeries, OCCURRENCES_FIELD } from '../../mapping/occurrences.ts';
import { isTermKind, type Kind } from '../../model/records.ts';
import { orIfRefused, type SiteConnection } from '../open-site.ts';
import { pluralized } from '../table.ts';
import { type Check, type CheckContext, type CmsWords, type Finding, fail, ok, warn } from './checks.ts';

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
    const { occurrences } = mapping.source.event;
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
  if (kind !== 'event')
    return warn(
      `the site has no collection "${collection}": the gateway serves no ${kind} until it has`,
      `If the calendar is to have none, leave "${kind}" out of the mapping (of a copy, if it is a ` +
        `bundled one). Otherwise: ${words.collection(pluginOptions)}`,
    );
  return fail(
    `the site has no collection "${collection}", which the mapping names for events`,
    words.collection(pluginOptions),
  );
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
