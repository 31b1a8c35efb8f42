// Fields of the API that share a field of the CMS, such as the start and the end of an event that has one day and two
// times.

import { wallAfter } from '../time/wall-time.ts';
import type { CompiledField } from './compile-field.ts';
import { type FieldAccessor, valueAt } from './field-accessor.ts';

const DAY_MS = 86_400_000;

/** The paths that a write sets. */
export const writtenPaths = ({ location }: FieldAccessor): string[] => location.split(', ');

/** Sends fields that share a path along with each other: only then the writer sees whether both fit. */
export function sendSharedTogether(fields: CompiledField[]): void {
  for (const field of fields) {
    const paths = writtenPaths(field.accessor);
    const sharing = fields.filter(({ accessor }) => writtenPaths(accessor).some((path) => paths.includes(path)));
    field.sentWith = [...field.sentWith, ...sharing.filter((one) => one !== field).map(({ name }) => name)];
  }
}

/**
 * The accessor of an end that has a time of its own and the day of the start. If the time is before the start, it is
 * one of the next day: a concert from 20:00 to 01:00.
 */
export function endOnDayOfStart(start: FieldAccessor, end: FieldAccessor): FieldAccessor {
  const ownPaths = end.selectedPaths.filter((path) => !start.selectedPaths.includes(path));
  if (ownPaths.length === 0 || ownPaths.length === end.selectedPaths.length) return end;
  const read: FieldAccessor['read'] = (cmsRecord, zones) => {
    const [from, to] = [start.read(cmsRecord, zones), end.read(cmsRecord, zones)];
    if (typeof from !== 'string' || typeof to !== 'string' || to >= from) return to;
    const hasTime = ownPaths.some((path) => valueAt(cmsRecord, path.split('.')));
    return hasTime ? wallAfter(to, DAY_MS) : undefined;
  };
  const write: FieldAccessor['write'] = (value, target) => {
    const from = start.read(target.body, target.zones);
    const dayBefore = wallAfter(String(value), -DAY_MS);
    const isNextDay = typeof from === 'string' && dayBefore.slice(0, 10) === from.slice(0, 10) && dayBefore < from;
    end.write?.(isNextDay ? dayBefore : value, target);
  };
  return { ...end, read, ...(end.write && { write }) };
}
