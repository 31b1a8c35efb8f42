// Which `meta` keys a mapping uses, and what type WordPress has to register each with.

import type { Kind } from '../records.ts';
import { FIELDS, type FieldInfo, REFERS_TO } from './fields.ts';
import { isObject, parsePath } from './paths.ts';
import type { FieldSource, KindSource, SpotSource } from './source.ts';

export interface MetaKey {
  key: string;
  type: 'string' | 'boolean' | 'integer' | 'number' | 'array' | 'object';
  /** Each value has a row of its own: `type` is one value's. Absent: one row holds everything. */
  rows?: true;
  /** "No" is stored as no row at all. */
  absentIsNo?: true;
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
  const take = (path: string | undefined, stored: Stored, field: string, writable: boolean): void => {
    const keys = path === undefined ? undefined : parsePath(path);
    const key = keys?.[0] === 'meta' ? keys[1] : undefined;
    if (typeof key !== 'string' || keys === undefined) return;
    const { type, ...shape }: Stored = keys.length > 2 ? { type: 'object' } : stored;
    const info = FIELDS[kind][field];
    const fallback = type === 'boolean' && info?.empty === true ? true : EMPTY[type];
    const known = found.get(key);
    if (known) known.writable ||= writable;
    else found.set(key, { key, type, ...shape, default: fallback, field, writable });
  };
  for (const [field, line] of Object.entries(source.fields ?? {})) {
    const info = FIELDS[kind][field];
    if (!info) continue;
    const whole: FieldSource = typeof line === 'string' ? { at: line } : line;
    for (const path of Object.values(whole.inline ?? {})) take(path, { type: 'string' }, field, false);
    const canWrite = !source.readOnly && !whole.readOnly;
    const spots: [string | SpotSource, boolean][] = [];
    if (whole.read === undefined) spots.push([whole, canWrite]);
    else
      spots.push(
        [whole.read, false],
        ...[whole.write ?? []].flat().map((spot): [string | SpotSource, boolean] => [spot, canWrite]),
      );
    for (const [spot, writable] of spots) takeSpot(spot, info, (path, stored) => take(path, stored, field, writable));
  }
  for (const [field, line] of Object.entries(events?.fields ?? {}))
    if (REFERS_TO[field] === kind && typeof line === 'object') take(line.via?.key, { type: 'integer' }, field, false);
  return [...found.values()];
}

/** How WordPress stores the values of a key. */
type Stored = Pick<MetaKey, 'type' | 'rows' | 'absentIsNo'>;

function takeSpot(
  line: string | SpotSource,
  info: FieldInfo,
  take: (path: string | undefined, stored: Stored) => void,
): void {
  const spot: SpotSource = typeof line === 'string' ? { at: line } : line;
  for (const part of spot.parts ?? []) take(part.at, { type: part.number ? 'integer' : 'string' });
  take(spot.at, spot.json === undefined ? storedAs(spot, info) : { type: 'string' });
  if (isObject(spot.as) && spot.as.currency) {
    take(spot.as.currency.symbol, { type: 'string' });
    take(spot.as.currency.position, { type: 'string' });
  }
}

function storedAs(spot: SpotSource, info: FieldInfo): Stored {
  const as = spot.as;
  const options = isObject(as) ? as : {};
  switch (info.type) {
    case 'boolean': {
      const [yes, no] = options.boolean ?? [true, false];
      const type = typeof yes === 'boolean' ? 'boolean' : typeof yes === 'number' ? 'integer' : 'string';
      return no === null ? { type, absentIsNo: true } : { type };
    }
    case 'ids':
      if (options.ids === 'rows') return { type: 'integer', rows: true };
      return { type: options.ids === 'one' ? 'integer' : options.ids === 'csv' ? 'string' : 'array' };
    case 'number':
      return { type: 'integer' };
    case 'wall':
      return { type: as === 'unix' || (options.unix && !options.unix.asText) ? 'integer' : 'string' };
    default:
      return { type: as === 'number' ? 'number' : 'string' };
  }
}
