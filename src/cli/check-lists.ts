// Checks of the site's lists: whether each collection is there, and whether walking it gives each record once and as many as it says.

import { UpstreamRefused } from '../errors.ts';
import type { KindMapping } from '../mapping/mapping.ts';
import type { EventRecord, Kind } from '../records.ts';
import { counted, rowsOf, snippetAdvice } from './check-rows.ts';
import { type Checked, kindsOf } from './check-site.ts';
import { unlessRefused } from './open-site.ts';
import { scopeOf } from './preview.ts';
import type { Row } from './table.ts';

const PAGE = 100;
const MOST_PAGES = 50;

/** What a walk through a list came to. */
export interface Walk {
  /** As the site counts. */
  total: number;
  /** Rows in the order they came. */
  ids: number[];
  /** Rows on the first page; fewer than asked for where the site allows less. */
  firstPage: number;
  /** The walk was cut off. */
  cut: boolean;
}

/** One row a collection, by walking it. Throws `UpstreamAway`. */
export async function listRows(checked: Checked): Promise<Row[]> {
  const { rows, fail } = rowsOf('lists');
  for (const kind of kindsOf(checked.mapping)) {
    try {
      rows.push(listRow(kind, await walk(checked, kind)));
    } catch (error) {
      if (!(error instanceof UpstreamRefused)) throw error;
      const missing = error.status === 404;
      fail(
        kind.base,
        missing
          ? `the site has no collection "${kind.base}" for each ${kind.kind}`
          : `the site refuses the list: ${error.code}, ${error.message}`,
        missing
          ? checked.mapping.requiresHelper
            ? snippetAdvice(checked.config.mapping)
            : `Compare "posts" and "terms" in the mapping with what the site has (rest_base), or open the collections to the REST interface.\n${snippetAdvice(checked.config.mapping)}`
          : 'See whether the service account may read this collection (account, above), and whether a plugin closes the REST interface.',
      );
    }
  }
  return rows;
}

async function walk({ open }: Checked, kind: KindMapping<Kind>): Promise<Walk> {
  const scope = scopeOf(kind, open.credentials !== undefined);
  const options = open.credentials === undefined ? {} : { credentials: open.credentials };
  const ids: number[] = [];
  let total = 0;
  let firstPage = 0;
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const query = { ...scope, per_page: PAGE, page, orderby: 'id', order: 'asc', _fields: 'id' };
    const answer = await open.upstream.list(kind.base, query, options);
    total = answer.total;
    if (page === 1) firstPage = answer.items.length;
    ids.push(...answer.items.map(({ id }) => Number(id)));
    if (answer.items.length === 0 || page >= answer.totalPages) return { total, ids, firstPage, cut: false };
  }
  return { total, ids, firstPage, cut: true };
}

/** What a walk says about a list. */
export function listRow(
  kind: Pick<KindMapping<Kind>, 'base' | 'kind' | 'dedupe'>,
  { total, ids, firstPage, cut }: Walk,
): Row {
  const { rows, ok, warn, fail } = rowsOf('lists');
  const distinct = new Set(ids).size;
  const repeated = ids.length - distinct;
  const records = counted(distinct, 'record');
  if (repeated > 0 && !kind.dedupe)
    fail(
      kind.base,
      `${repeated} of ${ids.length} rows repeat an id, and the total of ${total} counts them`,
      `Add "dedupe": true to "${kind.kind}" in the mapping.`,
    );
  else if (!kind.dedupe && !cut && firstPage < Math.min(PAGE, total))
    fail(
      kind.base,
      `${distinct} of ${total} records are shown`,
      'The account is not shown all of them (it lacks the right to edit those of others), or a plugin limits or filters lists: see listParams in docs/mapping.md.',
    );
  else if (!kind.dedupe && !cut && distinct < total)
    fail(
      kind.base,
      `${distinct} records were walked, and the site counts ${total}`,
      'A plugin changes lists; see listParams and dedupe in docs/mapping.md.',
    );
  else if (repeated > 0) warn(kind.base, `${records} in ${ids.length} rows; the mapping knows it (dedupe)`);
  else if (distinct === 0 && (kind.kind === 'category' || kind.kind === 'tag')) ok(kind.base, 'none yet');
  else if (distinct === 0)
    warn(
      kind.base,
      'empty: nothing can be said about its fields',
      kind.kind === 'event'
        ? 'Make an event in wp-admin. Until then check --write tries the fields on a draft, which it removes.'
        : undefined,
    );
  else
    ok(
      kind.base,
      cut ? `the first ${records} of ${total}, each once` : distinct === 1 ? records : `${records}, each once`,
    );
  return rows[0]!;
}

/** Number of published records that `check` also reads anonymously. */
const READERS_SAMPLE = 20;

/** Which published records of the service account an anonymous reader sees too: one row for each collection. Throws `UpstreamAway`. */
export async function readerRows({ mapping, open: { upstream, credentials } }: Checked): Promise<Row[]> {
  const { rows, ok, warn } = rowsOf('readers');
  if (credentials === undefined) return rows;
  for (const { as, base, listParams } of kindsOf(mapping)) {
    if (as === 'terms') continue;
    const query = { ...listParams, per_page: READERS_SAMPLE, _fields: 'id' };
    const own = await unlessRefused(upstream.list(base, { ...query, context: 'edit' }, { credentials }), undefined);
    if (!own || own.items.length === 0) continue;
    const include = [...new Set(own.items.map(({ id }) => id))];
    const open = await unlessRefused(upstream.list(base, { ...query, include: include.join(',') }), undefined);
    const shown = new Set(open?.items.map(({ id }) => id));
    const hidden = include.filter((id) => !shown.has(id)).length;
    if (!open)
      warn(
        base,
        'the site refuses anonymous readers: if it refuses them everywhere, everybody is shown what the site renders for the service account',
        'See SECURITY.md, "A site that refuses anonymous readers". Open the REST API to anonymous readers, or choose a service account that sees no more than the public may see.',
      );
    else if (hidden > 0)
      warn(
        base,
        `${hidden} of ${counted(include.length, 'published record')} are not shown to anonymous readers: the gateway shows them to staff alone`,
        'If the public should see them, find the plugin that hides them from the REST API.',
      );
    else ok(base, 'shown to the public as the site renders them for anonymous readers');
  }
  return rows;
}

/** Events enough to wonder why none of them is over. */
const ENOUGH = 10;

/** Plugins that hide past events from lists are told by there being none. `nowUtc`: `YYYY-MM-DD HH:MM:SS`. */
export function pastRows(events: readonly Pick<EventRecord, 'endUtc'>[], nowUtc: string): Row[] {
  const { rows, warn } = rowsOf('lists');
  const ends = events.map(({ endUtc }) => endUtc).filter((end) => end !== '');
  if (ends.length >= ENOUGH && ends.every((end) => end > nowUtc))
    warn(
      'past events',
      `none among ${ends.length} events: some plugins list upcoming ones only`,
      'If the site has past events, find the list parameter that shows them and put it into "listParams" of the mapping. The Events Calendar has none: its past events cannot be copied.',
    );
  return rows;
}
