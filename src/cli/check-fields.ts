// Checks of the fields: whether each place is in the answers, reads as what it should be, and would keep what is written.

import { FIELDS, type FieldInfo } from '../mapping/fields.ts';
import type { KindMapping } from '../mapping/mapping.ts';
import { parsePath, valueAt } from '../mapping/paths.ts';
import type { FieldSource } from '../mapping/source.ts';
import type { Kind } from '../records.ts';
import type { Native } from '../upstream/port.ts';
import { rowsOf, snippetAdvice } from './check-rows.ts';
import { type Checked, kindsOf } from './check-site.ts';
import { unlessRefused } from './open-site.ts';
import type { Read, Records } from './preview.ts';
import { pathsOf } from './setups.ts';
import type { Row } from './table.ts';
import { shown } from './words.ts';

/** A row for each line of the mapping. `records`: a few of each kind, read by it. */
export async function fieldRows(checked: Checked, records: Records): Promise<Row[]> {
  const { mapping, open, config } = checked;
  const source = mapping.source;
  const options = open.credentials === undefined ? {} : { credentials: open.credentials };
  const rows: Row[] = [];
  for (const kind of kindsOf(mapping)) {
    const facts = await unlessRefused(open.upstream.facts(kind.base, options), undefined);
    if (!facts) continue;
    const lines = Object.entries(source[kind.kind]?.fields ?? {});
    const found: Row[] = [];
    for (const [field, line] of lines) {
      const info = FIELDS[kind.kind][field];
      if (info)
        found.push(
          fieldRow({
            kind,
            field,
            line,
            info,
            records: records[kind.kind] ?? [],
            writable: facts.writable,
            mapping: config.mapping,
          }),
        );
    }
    rows.push(...(records[kind.kind]?.length ? found : folded(found)));
  }
  return rows;
}

/** Without records there is the same to say of every line that is right. */
function folded(rows: readonly Row[]): Row[] {
  const good = rows.filter(({ state }) => state === 'ok');
  const [first] = good;
  const rest = rows.filter(({ state }) => state !== 'ok');
  if (!first) return rest;
  const says = `the schema has all that is asked of it for ${good.map(({ what }) => what).join(', ')}; there is no record to read`;
  return [...rest, { ...first, what: `${good.length} of ${rows.length}`, says }];
}

interface FieldCheck {
  kind: KindMapping<Kind>;
  field: string;
  line: string | FieldSource;
  info: FieldInfo;
  records: readonly Read[];
  /** What the site's schema takes; undefined where it shows none. */
  writable: string[] | undefined;
  /** As the configuration names the mapping. */
  mapping: string;
}

/** What the records and the schema say about one line. */
function fieldRow({ kind, field, line, info, records, writable, mapping }: FieldCheck): Row {
  const { rows, ok, warn, fail } = rowsOf(`${kind.kind} fields`);
  const paths = pathsOf(line);
  const place = paths.join(', ');
  const natives = records.map(({ native }) => native);
  const present = records.filter(({ native }) => paths.every((path) => has(native, path)));
  const isSwitch = info.type === 'boolean';
  const stored = isSwitch ? present : records.filter(({ native }) => paths.some((path) => !isBlank(at(native, path))));
  const read = stored.filter(({ record }) => !isEmpty((record as unknown as Record<string, unknown>)[info.key], info));
  const dropped = droppedKeys(kind, info, writable);
  const telling = stored.find(({ native }) => paths.some((path) => !isBlank(at(native, path))));
  const example = telling && paths.map((path) => shown(at(telling.native, path))).join(' ');
  if (paths.length === 0) ok(field, 'fixed in the mapping');
  else if (info.key === 'hidden' && place.startsWith('meta.') && natives.length > 0 && present.length === 0)
    fail(
      field,
      `${place} is in none of ${natives.length} records: the gateway lists the events that the site hides from its lists`,
      `${absentAdvice(kind, paths, natives, mapping)}\nIf nothing is hidden on this site, take the line ${kind.kind}.${field} out of the mapping.`,
    );
  else if (dropped.length > 0)
    fail(
      field,
      `${dropped.join(', ')} is not in the schema of ${kind.base}: what is written there is dropped`,
      snippetAdvice(mapping, { dropped: true }),
    );
  else if (natives.length > 0 && present.length === 0 && !info.required && kind.as === 'posts')
    fail(field, `${place} is in none of ${natives.length} records`, absentAdvice(kind, paths, natives, mapping));
  else if (natives.length > 0 && present.length === 0)
    fail(
      field,
      `${place} is in none of ${natives.length} records${info.required ? ', and no event is shown without it' : ''}`,
      absentAdvice(kind, paths, natives, mapping),
    );
  else if (stored.length > 0 && read.length === 0 && !isSwitch)
    fail(
      field,
      `${place} holds ${example}, which cannot be read`,
      `Say in the mapping how it is written down ("as", see the codecs in docs/mapping.md): ${kind.kind}.${field}.`,
    );
  else if (info.required && read.length < records.length)
    warn(
      field,
      `${place}: ${records.length - read.length} of ${records.length} events have none that can be read, and are in no list by date`,
      'Fill it in in wp-admin, or leave these events as they are.',
    );
  else if (records.length === 0) ok(field, place);
  else
    ok(
      field,
      `${place}: ${stored.length} of ${records.length} have it${example === undefined ? '' : `, such as ${example}`}`,
    );
  return rows[0]!;
}

/** `meta` and `acf` keys that a write of the field would use and that the schema does not have. */
function droppedKeys(kind: KindMapping<Kind>, info: FieldInfo, writable: string[] | undefined): string[] {
  const places = kind.places as ReadonlyMap<string, string>;
  const used = places.get(info.key)?.match(/\b(meta|acf)\.[^\s,.]+/g) ?? [];
  return writable === undefined ? [] : [...new Set(used)].filter((key) => !writable.includes(key));
}

function absentAdvice(
  kind: KindMapping<Kind>,
  paths: readonly string[],
  natives: readonly Native[],
  mapping: string,
): string {
  const [first = ''] = paths;
  if (first.startsWith('acf.'))
    return 'Switch on "Show in REST API" in the field group of Advanced Custom Fields, and compare the field names.';
  if (first.startsWith('meta.')) return snippetAdvice(mapping, { dropped: true });
  const known = Object.keys(natives[0] ?? {}).join(', ');
  return `Compare the path with what the site answers for ${kind.base}: ${known}.`;
}

function at(native: Native, text: string): unknown {
  const path = parsePath(text);
  return path && valueAt(native, path);
}

/** A list position may be empty: its list counts. */
function has(native: Native, text: string): boolean {
  return at(native, text.split(/\[\d+\]/, 1)[0]!) !== undefined || at(native, text) !== undefined;
}

function isBlank(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    value === 0 ||
    value === false ||
    (Array.isArray(value) && value.length === 0)
  );
}

function isEmpty(value: unknown, info: FieldInfo): boolean {
  return Array.isArray(value) ? value.length === 0 : value === info.empty || value === '';
}
