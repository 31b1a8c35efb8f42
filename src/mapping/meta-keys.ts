// Which `meta` keys a mapping uses, and what type WordPress has to register each with.

import type { Kind } from '../records.ts';
import { FIELDS, type FieldInfo, REFERS_TO } from './fields.ts';
import { isObject, parsePath } from './paths.ts';
import type { FieldSource, KindSource, SpotSource } from './source.ts';

export interface MetaKey {
  key: string;
  type: 'string' | 'boolean' | 'integer' | 'number' | 'array' | 'object';
  /** What an unset key reads as. */
  default: string | boolean | number | readonly never[];
  /** The interface field it belongs to. */
  field: string;
  writable: boolean;
}

const EMPTY: Readonly<Record<MetaKey['type'], MetaKey['default']>> = {
  string: '',
  boolean: false,
  integer: 0,
  number: 0,
  array: [],
  object: [],
};

/** The keys directly under `meta` that the lines of a kind read or write, each once, in the order of the fields; with the keys by which `events` find a record of the kind. */
export function metaKeys(kind: Kind, source: KindSource, events?: KindSource): MetaKey[] {
  const found = new Map<string, MetaKey>();
  const take = (path: string | undefined, type: MetaKey['type'], field: string, writable: boolean): void => {
    const keys = path === undefined ? undefined : parsePath(path);
    const key = keys?.[0] === 'meta' ? keys[1] : undefined;
    if (typeof key !== 'string' || keys === undefined) return;
    if (keys.length > 2) type = 'object';
    const info = FIELDS[kind][field];
    const fallback = type === 'boolean' && info?.empty === true ? true : EMPTY[type];
    const known = found.get(key);
    if (known) known.writable ||= writable;
    else found.set(key, { key, type, default: fallback, field, writable });
  };
  for (const [field, line] of Object.entries(source.fields ?? {})) {
    const info = FIELDS[kind][field];
    if (!info) continue;
    const whole: FieldSource = typeof line === 'string' ? { at: line } : line;
    for (const path of Object.values(whole.inline ?? {})) take(path, 'string', field, false);
    const canWrite = !source.readOnly && !whole.readOnly;
    const spots: [string | SpotSource, boolean][] = [];
    if (whole.read === undefined) spots.push([whole, canWrite]);
    else
      spots.push(
        [whole.read, false],
        ...[whole.write ?? []].flat().map((spot): [string | SpotSource, boolean] => [spot, canWrite]),
      );
    for (const [spot, writable] of spots) takeSpot(spot, info, (path, type) => take(path, type, field, writable));
  }
  for (const [field, line] of Object.entries(events?.fields ?? {}))
    if (REFERS_TO[field] === kind && typeof line === 'object') take(line.via?.key, 'integer', field, false);
  return [...found.values()];
}

function takeSpot(
  line: string | SpotSource,
  info: FieldInfo,
  take: (path: string | undefined, type: MetaKey['type']) => void,
): void {
  const spot: SpotSource = typeof line === 'string' ? { at: line } : line;
  for (const part of spot.parts ?? []) take(part.at, part.number ? 'integer' : 'string');
  take(spot.at, spot.json === undefined ? typeOf(spot, info) : 'string');
  if (isObject(spot.as) && spot.as.currency) {
    take(spot.as.currency.symbol, 'string');
    take(spot.as.currency.position, 'string');
  }
}

function typeOf(spot: SpotSource, info: FieldInfo): MetaKey['type'] {
  const as = spot.as;
  const options = isObject(as) ? as : {};
  switch (info.type) {
    case 'boolean': {
      const yes = options.boolean?.[0] ?? true;
      return typeof yes === 'boolean' ? 'boolean' : typeof yes === 'number' ? 'integer' : 'string';
    }
    case 'ids':
      return options.ids === 'one' ? 'integer' : options.ids === 'csv' ? 'string' : 'array';
    case 'number':
      return 'integer';
    case 'wall':
      return as === 'unix' || (options.unix && !options.unix.asText) ? 'integer' : 'string';
    default:
      return as === 'number' ? 'number' : 'string';
  }
}
