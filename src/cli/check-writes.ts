// Checks of writing: each field is written on a draft, read back, cleared, and the draft is removed for good.

import { randomBytes } from 'node:crypto';
import { GatewayError, UpstreamRefused } from '../errors.ts';
import { FIELDS, type FieldInfo, REFERS_TO } from '../mapping/fields.ts';
import { fittedUpstream } from '../mapping/fitting.ts';
import type { JoinTables } from '../mapping/joins.ts';
import type { KindMapping } from '../mapping/mapping.ts';
import type { Kind } from '../records.ts';
import type { CallOptions, Native, Upstream } from '../upstream/port.ts';
import { rowsOf, snippetAdvice } from './check-rows.ts';
import { type Checked, kindsOf } from './check-site.ts';
import { joinTables, type Records } from './preview.ts';
import type { Row } from './table.ts';
import { shown } from './words.ts';

/** Fields that are not tried: they say who and when, or change what else is tried. */
const NOT_TRIED = new Set(['title', 'status', 'author', 'date', 'dateUtc', 'image', 'slug', 'parent', 'name']);

type Values = Record<string, unknown>;

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
    const bad = tried.filter(({ says }) => says !== undefined);
    for (const { field, says, todo } of bad) fail(`${kind.kind}.${field}`, says ?? '', todo);
    const good = tried.length - bad.length;
    ok(
      kind.kind,
      `${kind.as === 'posts' ? 'a draft' : 'a term'} was made in ${kind.base}; ${good} of ${tried.length} fields were written, read back and cleared`,
    );
    const untried = untriedLinks(bench, kind);
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

interface Tried {
  field: string;
  /** What went wrong; undefined for nothing. */
  says: string | undefined;
  todo?: string;
}

async function fieldsTried(bench: Bench, kind: KindMapping<Kind>, id: number): Promise<Tried[]> {
  const steps = stepsFor(bench, kind);
  const tried: Tried[] = [];
  for (const step of steps) {
    const found = await tryStep(bench, kind, id, step, false);
    const sound = found.filter(({ says }) => says === undefined).map(({ field }) => field);
    tried.push(...found.filter(({ says }) => says !== undefined));
    const empty = emptied(step, kind, sound);
    const cleared = Object.keys(empty).length > 0 ? await tryStep(bench, kind, id, empty, true) : [];
    for (const field of sound) tried.push(cleared.find((each) => each.field === field) ?? { field, says: undefined });
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
    ? 'Say in the mapping what the site takes for an empty value: "clearWith": null, [] or "0" (docs/mapping.md).'
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
      if (same(after[key], values[key])) return { field, says: undefined };
      const place = (kind.places as ReadonlyMap<string, string>).get(key) ?? '';
      return {
        field,
        says: `${verb} was accepted, but ${place} reads back as ${shown(after[key])} in place of ${shown(values[key])}`,
        todo: advice ?? snippetAdvice(checked.config.mapping, place.match(/\bmeta\.[^\s,.]+/g) ?? []),
      };
    });
  } catch (error) {
    if (!(error instanceof UpstreamRefused || error instanceof GatewayError)) throw error;
    const says = `${verb} is refused: ${reasonOf(error)}`;
    return names.map((key) => ({
      field: fieldName(kind.kind, key),
      says,
      todo:
        advice ??
        'Compare the codec of the line with what the site takes (docs/mapping.md), and the rights of the account.',
    }));
  }
}

/** Begin and end together, since plugins compare them; then every other field by itself. */
function stepsFor(bench: Bench, kind: KindMapping<Kind>): Values[] {
  const writable = kind.writable as ReadonlySet<string>;
  const dates = { start: '2031-05-01 19:30:00', end: '2031-05-01 21:00:00' };
  const steps: Values[] = [];
  if (kind.kind === 'event') steps.push(Object.fromEntries(Object.entries(dates).filter(([key]) => writable.has(key))));
  for (const [name, info] of Object.entries(FIELDS[kind.kind])) {
    if (!writable.has(info.key) || NOT_TRIED.has(info.key) || info.type === 'wall') continue;
    const value = valueFor(bench, name, info);
    if (value !== undefined) steps.push({ [info.key]: value });
  }
  return steps.filter((step) => Object.keys(step).length > 0);
}

function valueFor(bench: Bench, name: string, info: FieldInfo): unknown {
  switch (info.type) {
    case 'boolean':
      return info.empty !== true;
    case 'zone':
      return bench.checked.site.timezone === 'Europe/Paris' ? 'Europe/Rome' : 'Europe/Paris';
    case 'ids': {
      const id = linkable(bench, name)?.id;
      return id === undefined ? undefined : [id];
    }
    case 'text':
      if (name === 'website') return 'https://check.example/?a=1';
      if (name === 'email') return 'check@example.org';
      return name === 'cost' ? '12' : 'Check 12';
    case 'html':
      return 'Written by check.';
    default:
      return undefined;
  }
}

function linkable({ records }: Bench, field: string) {
  const kind = REFERS_TO[field];
  const found = kind && records[kind]?.find(({ record }) => !('status' in record) || record.status === 'publish');
  return found?.record;
}

function untriedLinks(bench: Bench, kind: KindMapping<Kind>): string[] {
  if (kind.kind !== 'event') return [];
  const writable = kind.writable as ReadonlySet<string>;
  return Object.keys(REFERS_TO).filter((name) => writable.has(FIELDS.event[name]?.key ?? '') && !linkable(bench, name));
}

/** Empty values for the texts and lists of a step. */
function emptied(step: Values, kind: KindMapping<Kind>, sound: readonly string[]): Values {
  const clears = Object.entries(FIELDS[kind.kind]).filter(
    ([name, { key, type }]) => key in step && sound.includes(name) && (type === 'text' || type === 'ids'),
  );
  return Object.fromEntries(clears.map(([, { key, empty }]) => [key, empty]));
}

function fieldName(kind: Kind, key: string): string {
  return Object.entries(FIELDS[kind]).find(([, info]) => info.key === key)?.[0] ?? key;
}

function same(read: unknown, written: unknown): boolean {
  if (Array.isArray(written)) return JSON.stringify(read) === JSON.stringify(written);
  // "0" is the empty value of a website (docs/mapping.md).
  if (written === '') return read === '' || read === '0' || read === undefined;
  // What the site renders stands between tags.
  return typeof written === 'string' && typeof read === 'string' ? read.includes(written) : read === written;
}

function reasonOf(error: unknown): string {
  if (error instanceof UpstreamRefused || error instanceof GatewayError) {
    const params = error.data.params;
    const why = typeof params === 'object' && params !== null ? Object.values(params).join(' ') : '';
    return `${error.code}, ${why || error.message}`;
  }
  return error instanceof Error ? error.message : String(error);
}
