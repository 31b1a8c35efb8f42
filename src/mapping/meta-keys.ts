// The `meta` keys that the fields of a mapping use, with the type with which WordPress must register each.

import { FIELDS, type Field } from '../interface/fields.ts';
import type { Kind } from '../model/records.ts';
import { selectCodec } from './codecs/registry.ts';
import { customFieldType } from './compile-field.ts';
import { type MetaType, parsePath } from './field-accessor.ts';
import { type FieldSpec, fieldSpecOf, type KindSpec, type LocationSpec } from './mapping-file.ts';

export interface MetaKey extends Omit<MetaType, 'default'> {
  key: string;
  /** Value of a key that is not set. */
  default: string | boolean | number | readonly never[];
  /** Name of the field that uses the key first. */
  field: string;
  writable: boolean;
}

const DEFAULTS = { string: '', boolean: false, integer: 0, number: 0, array: [], object: [] } as const;

interface Use {
  path: string;
  type: MetaType;
  writable: boolean;
}

/**
 * The keys directly under `meta` that the fields of a kind use, each once, in the order of the fields. `events`, the
 * mapping of events, adds the keys by which events refer to records of the kind.
 */
export function metaKeys(kind: Kind, spec: KindSpec, events?: KindSpec): MetaKey[] {
  const keys = new Map<string, MetaKey>();
  const add = (field: string, { path, type, writable }: Use): void => {
    const [root, key, ...rest] = parsePath(path) ?? [];
    if (root !== 'meta' || typeof key !== 'string') return;
    const known = keys.get(key);
    if (known) {
      known.writable ||= writable;
      return;
    }
    const metaType: MetaType = rest.length > 0 ? { type: 'object' } : type;
    keys.set(key, { key, default: DEFAULTS[metaType.type], ...metaType, field, writable });
  };
  const { fields = {}, custom_fields = {}, readOnly = false } = spec;
  for (const [name, fieldSpec] of Object.entries(fields))
    for (const use of usesOf(fieldSpec, FIELDS[kind][name]!, readOnly)) add(name, use);
  for (const [name, fieldSpec] of Object.entries(custom_fields))
    for (const use of usesOf(fieldSpec, customFieldType(name, fieldSpec), readOnly)) add(name, use);
  for (const { name, key } of events ? linkKeysOf(kind, events) : [])
    add(name, { path: key, type: { type: 'integer' }, writable: false });
  return [...keys.values()];
}

/** The keys of records of the kind by which events refer to them (`via`), each with the event's field. */
export const linkKeysOf = (kind: Kind, { fields = {} }: KindSpec): { name: string; key: string }[] =>
  Object.entries(fields).flatMap(([name, spec]) => {
    const key = fieldSpecOf(spec).via?.key;
    return key !== undefined && FIELDS.event[name]?.references === kind ? [{ name, key }] : [];
  });

/** What its password does not hide of an event, because lists find and show it by these: paths such as `meta.start`. */
export const pathsWithoutPassword = (events: KindSpec): string[] =>
  ['start_date', 'end_date', 'all_day', 'timezone', 'hide_from_listings'].flatMap((name) =>
    usesOf(events.fields?.[name] ?? {}, FIELDS.event[name]!, true).map(({ path }) => parsePath(path)!.join('.')),
  );

function usesOf(fieldSpec: string | FieldSpec, field: Field, readOnly: boolean): Use[] {
  const spec = fieldSpecOf(fieldSpec);
  const writable = !readOnly && !spec.readOnly;
  const embedded = Object.values(spec.embedded ?? {}).map((path) => ({ path, type: TEXT, writable: false }));
  if (spec.read === undefined) return [...embedded, ...usesOfLocation(spec, field, writable)];
  const writes = [spec.write ?? []].flat().flatMap((location) => usesOfLocation(location, field, writable));
  return [...embedded, ...usesOfLocation(spec.read, field, false), ...writes];
}

const TEXT: MetaType = { type: 'string' };

function usesOfLocation(location: string | LocationSpec, field: Field, writable: boolean): Use[] {
  const spec = fieldSpecOf(location);
  const uses: Use[] = (spec.parts ?? []).map(({ at }) => ({ path: at, type: TEXT, writable }));
  if (spec.at === undefined) return uses;
  const { codec, options } = selectCodec(spec.as, field, '');
  const type = spec.json === undefined ? (codec.metaType?.(options, field) ?? TEXT) : TEXT;
  const paths = codec.createAccessor?.(parsePath(spec.at) ?? [], options, '').selectedPaths ?? [spec.at];
  for (const path of paths) uses.push({ path, type, writable });
  return uses;
}
