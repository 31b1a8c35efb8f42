// Checks of writing: each field is written on a draft, read back, cleared, and the draft is removed for good.

import { randomBytes } from 'node:crypto';
import { GatewayError, UpstreamRefused } from '../errors.ts';
import { fittedUpstream } from '../mapping/fitting.ts';
import type { JoinTables } from '../mapping/joins.ts';
import type { KindMapping } from '../mapping/mapping.ts';
import type { Kind } from '../records.ts';
import type { CallOptions, Native, Upstream } from '../upstream/port.ts';
import { rowsOf, snippetAdvice } from './check-rows.ts';
import { type Checked, kindsOf } from './check-site.ts';
import { emptied, fieldName, same, stepsFor, type Trial, untriedLinks, type Values } from './check-values.ts';
import { unlessRefused } from './open-site.ts';
import { joinTables, type Records } from './preview.ts';
import type { Row } from './table.ts';
import { shown } from './words.ts';

/** What the core keeps only for types that support it. */
const CORE_PLACES = new Set(['excerpt', 'content']);
const SUPPORT_ADVICE =
  "The type does not keep it. If it should: add_post_type_support('TYPE', 'excerpt') (or 'editor') in PHP on the site.";

/** Rows for every kind that can be written. Leaves nothing behind, whatever happens, if the site lets it. */
export async function writeRows(checked: Checked, records: Records): Promise<Row[]> {
  const { mapping, open } = checked;
  if (open.credentials === undefined) {
    const { rows, fail } = rowsOf('writes');
    fail(
      'service',
      'nothing can be written without a service account',
      'Set CALENDAR_UPSTREAM_USER and CALENDAR_UPSTREAM_PASSWORD.',
    );
    return rows;
  }
  const natives = Object.fromEntries(
    Object.entries(records).map(([kind, read]) => [kind, read.map(({ native }) => native)]),
  ) as Partial<Record<Kind, Native[]>>;
  const bench: Bench = {
    checked,
    upstream: fittedUpstream(open.upstream, mapping),
    options: { credentials: open.credentials },
    joins: await joinTables(open, mapping, natives),
    records,
  };
  const rows: Row[] = [];
  for (const kind of kindsOf(mapping)) rows.push(...(await kindRows(bench, kind)));
  return rows;
}

interface Bench {
  checked: Checked;
  upstream: Upstream;
  options: CallOptions;
  joins: JoinTables;
  records: Records;
}

async function kindRows(bench: Bench, kind: KindMapping<Kind>): Promise<Row[]> {
  const { rows, ok, warn, fail } = rowsOf('writes');
  const { upstream, options, checked } = bench;
  if (kind.readOnly) {
    ok(kind.kind, 'not written: the mapping is read-only here');
    return rows;
  }
  if (kind.as === 'terms' && !(await maySweep(bench, kind))) {
    warn(kind.kind, `not tried: the account may not delete terms of ${kind.base}, and this one would stay`);
    return rows;
  }
  const name = `calendar-gateway check ${randomBytes(4).toString('hex')}`;
  const fresh = kind.as === 'posts' ? { title: name, status: 'draft' } : { name, title: name };
  let made: Native;
  try {
    made = await upstream.create(kind.base, kind.write(fresh, { site: checked.site }), options);
  } catch (error) {
    fail(
      kind.kind,
      `a new record in ${kind.base} is refused: ${reasonOf(error)}`,
      'See the rights of the account (account, above); a type without "title" in its supports cannot be written.',
    );
    return rows;
  }
  const draft = Number(made.id);
  try {
    const tried = await fieldsTried(bench, kind, draft);
    const bad = tried.filter(isTrouble);
    for (const { field, says, todo, mild } of bad) (mild ? warn : fail)(`${kind.kind}.${field}`, says, todo);
    const good = tried.length - bad.length;
    ok(
      kind.kind,
      `${kind.as === 'posts' ? 'a draft' : 'a term'} was made in ${kind.base}; ${good} of ${tried.length} fields were written, read back and cleared`,
    );
    const untried = untriedLinks(trialOf(bench), kind);
    if (untried.length > 0)
      warn(`${kind.kind} links`, `not tried, since there is no published record to link: ${untried.join(', ')}`);
  } finally {
    await upstream.remove(kind.base, draft, { force: true }, options).catch((error: unknown) => {
      fail(
        `${kind.kind} removal`,
        `record ${draft} of ${kind.base} could not be removed: ${reasonOf(error)}`,
        `Remove "${name}" in wp-admin.`,
      );
    });
  }
  return rows;
}

/** A contributor may make terms on some sites, and remove them on none. */
async function maySweep({ checked, upstream, options }: Bench, kind: KindMapping<Kind>): Promise<boolean> {
  const { capabilities } = await upstream.account(options);
  const facts = await unlessRefused(checked.open.upstream.facts(kind.base, options), undefined);
  return capabilities.has(facts?.capabilities.delete_terms ?? 'manage_categories');
}

interface Trouble {
  field: string;
  says: string;
  todo: string;
  /** It can be lived with. */
  mild: boolean;
}

/** A field that was tried, and what went wrong with it. */
type Tried = { field: string } | Trouble;

const isTrouble = (tried: Tried): tried is Trouble => 'says' in tried;

async function fieldsTried(bench: Bench, kind: KindMapping<Kind>, id: number): Promise<Tried[]> {
  const steps = stepsFor(trialOf(bench), kind);
  const tried: Tried[] = [];
  for (const step of steps) {
    const found = await tryStep(bench, kind, id, step, false);
    const sound = found.filter((each) => !isTrouble(each)).map(({ field }) => field);
    tried.push(...found.filter(isTrouble));
    const empty = emptied(step, kind, sound);
    const cleared = Object.keys(empty).length > 0 ? await tryStep(bench, kind, id, empty, true) : [];
    for (const field of sound) tried.push(cleared.find((each) => each.field === field) ?? { field });
  }
  return tried;
}

/** Writes the values, reads them back and compares. */
async function tryStep(
  bench: Bench,
  kind: KindMapping<Kind>,
  id: number,
  values: Values,
  clearing: boolean,
): Promise<Tried[]> {
  const { upstream, options, checked, joins } = bench;
  const names = Object.keys(values);
  const query = { context: 'edit', _fields: kind.select };
  const verb = clearing ? 'clearing it' : 'writing it';
  const advice = clearing
    ? 'Say in the mapping what the site takes for an empty value: "clearWith": null, [] or, of a website, "-" (docs/mapping.md).'
    : undefined;
  try {
    const before = await upstream.read(kind.base, id, query, options);
    const body = kind.write(values as never, { site: checked.site, before, joins });
    await upstream.update(kind.base, id, body, options);
    const after = kind.read(
      await upstream.read(kind.base, id, query, options),
      checked.site,
      joins,
    ) as unknown as Values;
    return names.map((key) => {
      const field = fieldName(kind.kind, key);
      if (same(after[key], values[key])) return { field };
      const place = (kind.places as ReadonlyMap<string, string>).get(key) ?? '';
      const core = CORE_PLACES.has(place);
      const back = isNothing(after[key]) ? 'nothing' : shown(after[key]);
      return {
        field,
        says: `${verb} was accepted, but ${place} reads back as ${back} in place of ${isNothing(values[key]) ? 'nothing' : shown(values[key])}`,
        todo:
          advice ??
          (core ? SUPPORT_ADVICE : snippetAdvice(checked.config.mapping, { dropped: place.includes('meta.') })),
        mild: clearing || core,
      };
    });
  } catch (error) {
    if (!(error instanceof UpstreamRefused || error instanceof GatewayError)) throw error;
    const says = `${verb} is refused: ${reasonOf(error)}`;
    return names.map((key) => ({
      field: fieldName(kind.kind, key),
      says,
      mild: clearing,
      todo:
        advice ??
        'Compare the codec of the line with what the site takes (docs/mapping.md), and the rights of the account.',
    }));
  }
}

const trialOf = ({ checked, records }: Bench): Trial => ({ timezone: checked.site.timezone, records });

const isNothing = (value: unknown): boolean =>
  value === '' || value === undefined || (Array.isArray(value) && value.length === 0);

function reasonOf(error: unknown): string {
  if (error instanceof UpstreamRefused || error instanceof GatewayError) {
    const params = error.data.params;
    const why = typeof params === 'object' && params !== null ? Object.values(params).join(' ') : '';
    return `${error.code}, ${why || error.message}`;
  }
  return error instanceof Error ? error.message : String(error);
}
