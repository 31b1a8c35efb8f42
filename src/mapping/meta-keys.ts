// The `meta` keys that the fields of a mapping use, with the type with which WordPress must register each.

import { FIELDS, type Field } from '../interface/fields.ts';
import type { Kind } from '../model/records.ts';
import { selectCodec } from './codecs/registry.ts';
import { customFieldRow } from './custom-fields.ts';
import type { MetaType } from './field-accessor.ts';
import { type FieldSpec, fieldSpecOf, type KindSpec, type LocationSpec } from './mapping-file.ts';
import { parsePath } from './paths.ts';

export interface MetaKey extends Omit<MetaType, 'default'> {
  key: string;
  default: string | boolean | number | readonly never[];
  /** Name of the field that uses the key first. Of a venue's `_location_id`, which events have too (`via`): `venue`. */
  field: string;
  writable: boolean;
}

const DEFAULTS = { string: '', boolean: false, integer: 0, number: 0, array: [], object: [] } as const;

interface FieldAtPath {
  field: string;
  path: string;
  type: MetaType;
  writable: boolean;
}

/**
 * The keys directly under `meta` that the fields of a kind use, each once, in the order of the fields. `events`, the
 * mapping of events, adds the keys by which events refer to records of the kind.
 */
export function metaKeys(kind: Kind, spec: KindSpec, events: KindSpec): MetaKey[] {
  const { fields = {}, custom_fields = {}, readOnly = false } = spec;
  const uses: FieldAtPath[] = [
    ...Object.entries(fields).flatMap(([name, one]) => fieldsAtPaths(name, one, FIELDS[kind][name]!)),
    ...Object.entries(custom_fields).flatMap(([name, one]) => fieldsAtPaths(name, one, customFieldRow(name, one))),
    ...linkKeysOf(kind, events).map(
      ({ name, key }): FieldAtPath => ({ field: name, path: key, type: { type: 'integer' }, writable: false }),
    ),
  ];
  const keys = new Map<string, MetaKey>();
  for (const { field, path, type, ...use } of uses) {
    const [root, key, ...rest] = parsePath(path) ?? [];
    if (root !== 'meta' || typeof key !== 'string') continue;
    const metaType: MetaType = rest.length > 0 ? { type: 'object' } : type;
    const writable = use.writable && !readOnly;
    // The first use decides the type. `{ "read": "meta.fee", "write": "meta.fee" }` uses the key twice: it is writable.
    const known = keys.get(key);
    if (known) known.writable ||= writable;
    else keys.set(key, { key, default: DEFAULTS[metaType.type], ...metaType, field, writable });
  }
  return [...keys.values()];
}

/** The keys of records of the kind by which events refer to them (`via`), each with the event's field. */
export const linkKeysOf = (kind: Kind, { fields = {} }: KindSpec): { name: string; key: string }[] =>
  Object.entries(fields).flatMap(([name, spec]) => {
    const key = fieldSpecOf(spec).via?.key;
    return key !== undefined && FIELDS.event[name]?.targetKind === kind ? [{ name, key }] : [];
  });

/** Paths such as `meta.start` that the password of an event does not hide: lists find and show the event by these. */
export const pathsWithoutPassword = (events: KindSpec): string[] =>
  ['start_date', 'end_date', 'all_day', 'timezone', 'hide_from_listings'].flatMap((name) =>
    fieldsAtPaths(name, events.fields?.[name] ?? {}, FIELDS.event[name]!).map(({ path }) => parsePath(path)!.join('.')),
  );

const TEXT: MetaType = { type: 'string' };

function fieldsAtPaths(name: string, fieldSpec: string | FieldSpec, field: Field): FieldAtPath[] {
  const spec = fieldSpecOf(fieldSpec);
  const isWritable = !spec.readOnly;
  const at = (location: string | LocationSpec, writable: boolean): FieldAtPath[] =>
    typedPathsOf(location, field).map(([path, type]) => ({ field: name, path, type, writable }));
  const embedded = Object.values(spec.embedded ?? {}).map(
    (path): FieldAtPath => ({ field: name, path, type: TEXT, writable: false }),
  );
  // The spec itself has the properties of a location, such as `at` and `as`.
  if (spec.read === undefined) return [...embedded, ...at(spec, isWritable)];
  return [...embedded, ...at(spec.read, false), ...[spec.write ?? []].flat().flatMap((each) => at(each, isWritable))];
}

/** The paths of a location, each with the type of what is stored there. */
function typedPathsOf(location: string | LocationSpec, field: Field): [path: string, type: MetaType][] {
  const { parts, at, as, json } = fieldSpecOf(location);
  if (parts) return parts.map((part) => [part.at, TEXT]);
  if (at === undefined) return [];
  const { codec, options } = selectCodec(as, field, '');
  const type = json === undefined ? (codec.metaType?.(options, field) ?? TEXT) : TEXT;
  // `currency` has the path of the symbol in its options: only its accessor knows that. `''`: it tells no errors here.
  const paths = codec.createAccessor?.(parsePath(at) ?? [], options, '').selectedPaths ?? [at];
  return paths.map((path) => [path, type]);
}
