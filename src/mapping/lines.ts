// One line of a mapping, compiled to an access.

import type { Native } from '../upstream/port.ts';
import { type Access, BadLine, pathOf, type WriteTarget } from './access.ts';
import { currencyAccess, partsAccess } from './access-composed.ts';
import { codecOf } from './codec-names.ts';
import type { CorePlace, FieldInfo, FieldType } from './fields.ts';
import { isObject, type Path, putAt, selectOf, valueAt } from './paths.ts';
import type { FieldSource, SpotSource } from './source.ts';

/** Compiles the line of a field. Throws `BadLine`. */
export function accessOf(line: string | FieldSource, info: FieldInfo): Access {
  const source: FieldSource = typeof line === 'string' ? { at: line } : line;
  if (source.value !== undefined) return fixedAccess(source.value, info);
  if (source.read === undefined && source.write !== undefined)
    throw new BadLine('/write', '"write" goes with "read"; "at" is for both');
  const read = spotAccess(source.read ?? line, info, source.read === undefined ? '' : '/read');
  if (source.readOnly || (source.read !== undefined && source.write === undefined)) return withoutWrite(read);
  if (source.write === undefined) return read;
  const several = Array.isArray(source.write);
  const writes = [source.write]
    .flat()
    .map((spot, index) => spotAccess(spot, info, several ? `/write/${index}` : '/write', true));
  return {
    read: read.read,
    write: (value, target) => {
      for (const one of writes) one.write?.(value, target);
    },
    // What is merged into must be read as well.
    select: [...read.select, ...writes.filter((one) => one.merges).flatMap((one) => one.select)],
    place: writes.map((one) => one.place).join(', '),
    needsZone: writes.some((one) => one.needsZone),
    merges: writes.some((one) => one.merges),
  };
}

/** The access of a field that a mapping need not name. */
export function coreAccess(info: FieldInfo, place: CorePlace): Access {
  const read = spotAccess(place.read, info, '');
  if (place.write === undefined) return withoutWrite(read);
  return { ...spotAccess(place.write, info, ''), read: read.read, select: read.select };
}

function withoutWrite({ read, select, place }: Access): Access {
  return { read, select, place, needsZone: false, merges: false };
}

function fixedAccess(value: string | number | boolean, info: FieldInfo): Access {
  if (info.type === 'ids') throw new BadLine('/value', 'a list of ids cannot be fixed');
  const wanted = info.type === 'boolean' || info.type === 'number' ? info.type : 'string';
  if (typeof value !== wanted) throw new BadLine('/value', `must be a ${wanted}`);
  return { read: () => value, select: [], place: 'fixed', needsZone: false, merges: false };
}

function spotAccess(line: string | SpotSource, info: FieldInfo, below: string, writeOnly = false): Access {
  const spot: SpotSource = typeof line === 'string' ? { at: line } : line;
  if (spot.parts) {
    if (info.type !== 'wall') throw new BadLine(`${below}/parts`, 'only a date is put together of parts');
    return partsAccess(spot.parts, spot.clock ?? 'event', below, spot.clearWith);
  }
  const path = pathOf(spot.at ?? '', typeof line === 'string' ? below : `${below}/at`);
  if (isObject(spot.as) && spot.as.currency) {
    if (info.key !== 'cost') throw new BadLine(`${below}/as`, 'only a cost has a currency');
    return currencyAccess(path, spot.as.currency, below);
  }
  const codec = codecOf(spot.as, info.type, `${below}/as`, writeOnly);
  const inner = spot.json === undefined ? undefined : pathOf(spot.json, `${below}/json`);
  const access: Access = {
    read: (native, zones) => {
      const stored = valueAt(native, path);
      return codec.read(inner ? valueAt(parsedJson(stored), inner) : stored, zones);
    },
    select: [selectOf(path)],
    place: inner ? `${spot.at} (${spot.json} in its JSON)` : (spot.at ?? ''),
    needsZone: codec.needsZone === true,
    merges: inner !== undefined,
  };
  // A place inside a list can be read only.
  if (!path.every((key) => typeof key === 'string')) return withoutWrite(access);
  access.write = (value, target) => {
    const clears = spot.clearWith !== undefined && isEmpty(value, info.type);
    const stored = clears ? spot.clearWith : codec.write(value, target.zones);
    if (inner) mergeJson(target, path, inner, stored);
    else putAt(target.body, path, stored);
  };
  return access;
}

function isEmpty(value: unknown, type: FieldType): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === '' || value === null || (type === 'number' && value === 0);
}

function parsedJson(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Replaces one value in a JSON text and leaves the others; what this write has already put there counts first. */
function mergeJson({ body, before }: WriteTarget, path: Path, inner: Path, value: unknown): void {
  const here = parsedJson(valueAt(body, path) ?? valueAt(before, path));
  const object: Native = isObject(here) ? structuredClone(here) : {};
  putAt(object, inner, value);
  putAt(body, path, JSON.stringify(object));
}
