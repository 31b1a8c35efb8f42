// The `meta` keys that a mapping uses, and the type with which WordPress must register each.

import { FIELDS, type Field } from '../interface/fields.ts';
import type { Kind } from '../model/records.ts';
import type { MetaType } from './codecs/codec.ts';
import { selectCodec } from './codecs/registry.ts';
import { customFieldType, locationOf } from './compile-field.ts';
import { parsePath } from './field-accessor.ts';
import type { FieldSpec, KindSpec, LocationSpec } from './mapping-file.ts';

export interface MetaKey extends Omit<MetaType, 'default'> {
  key: string;
  /** Value of a key that is not set. */
  default: string | boolean | number | readonly never[];
  /** Name of the field that uses the key first. */
  field: string;
  writable: boolean;
}

const DEFAULTS: Readonly<Record<MetaType['type'], MetaKey['default']>> = {
  string: '',
  boolean: false,
  integer: 0,
  number: 0,
  array: [],
  object: [],
};

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
  for (const [name, fieldSpec] of Object.entries(spec.fields ?? {})) {
    const field = FIELDS[kind][name];
    if (field) for (const use of usesOf(fieldSpec, field, spec.readOnly ?? false)) add(name, use);
  }
  for (const [name, fieldSpec] of Object.entries(spec.custom_fields ?? {}))
    for (const use of usesOf(locationOf(fieldSpec), customFieldType(name, fieldSpec), spec.readOnly ?? false))
      add(name, use);
  for (const [name, fieldSpec] of Object.entries(events?.fields ?? {}))
    if (FIELDS.event[name]?.references === kind && typeof fieldSpec === 'object' && fieldSpec.via?.key !== undefined)
      add(name, { path: fieldSpec.via.key, type: { type: 'integer' }, writable: false });
  return [...keys.values()];
}

/** What its password does not hide of an event, because lists find and show it by these: paths such as `meta.start`. */
export const pathsWithoutPassword = (events: KindSpec): string[] =>
  ['start_date', 'end_date', 'all_day', 'timezone', 'hide_from_listings'].flatMap((name) => {
    const spec = events.fields?.[name];
    return spec === undefined
      ? []
      : usesOf(spec, FIELDS.event[name]!, true).map(({ path }) => (parsePath(path) ?? []).join('.'));
  });

function usesOf(fieldSpec: string | FieldSpec, field: Field, readOnly: boolean): Use[] {
  const spec: FieldSpec = typeof fieldSpec === 'string' ? { at: fieldSpec } : fieldSpec;
  const writable = !readOnly && !spec.readOnly;
  const embedded = Object.values(spec.embedded ?? {}).map((path) => ({ path, type: TEXT, writable: false }));
  if (spec.read === undefined) return [...embedded, ...usesOfLocation(spec, field, writable)];
  const writes = [spec.write ?? []].flat().flatMap((location) => usesOfLocation(location, field, writable));
  return [...embedded, ...usesOfLocation(spec.read, field, false), ...writes];
}

const TEXT: MetaType = { type: 'string' };

function usesOfLocation(location: string | LocationSpec, field: Field, writable: boolean): Use[] {
  const spec: LocationSpec = typeof location === 'string' ? { at: location } : location;
  const uses: Use[] = (spec.parts ?? []).map(({ at }) => ({ path: at, type: TEXT, writable }));
  if (spec.at === undefined) return uses;
  const { codec, options } = selectCodec(spec.as, field, '');
  const type = spec.json === undefined ? (codec.metaType?.(options, field.type, field.empty) ?? TEXT) : TEXT;
  const paths = codec.createAccessor?.(parsePath(spec.at) ?? [], options, '').selectedPaths ?? [spec.at];
  for (const path of paths) uses.push({ path, type, writable });
  return uses;
}
