// The paths of a mapping's field, and the values that a record has there.

import type { CmsRecord } from '../cms/port.ts';
import { parsePath, valueAt } from '../mapping/field-accessor.ts';
import type { DatePartSpec, FieldSpec, LocationSpec } from '../mapping/mapping-file.ts';

const SHOWN_CHARACTERS = 40;

/** The paths that a field reads. */
export function pathsOf(field: string | FieldSpec | undefined): string[] {
  if (field === undefined) return [];
  if (typeof field === 'string') return [field];
  if (field.embedded) return Object.values(field.embedded);
  const location: string | LocationSpec = field.read ?? field;
  if (typeof location === 'string') return [location];
  if (location.parts) return location.parts.map(({ at }) => at);
  return location.at === undefined ? [] : [location.at];
}

/** The places from which the field is read, each with a format of its own; undefined if it is read from one. */
export function partsOf(field: string | FieldSpec): DatePartSpec[] | undefined {
  const location = typeof field === 'string' ? field : (field.read ?? field);
  return typeof location === 'string' ? undefined : location.parts;
}

export function valueAtPath(cmsRecord: CmsRecord, text: string): unknown {
  const path = parsePath(text);
  return path && valueAt(cmsRecord, path);
}

/** `venue[0].ID` -> `venue`: a list may be empty. */
export const listPath = (path: string): string => path.split(/\[\d+\]/, 1)[0] ?? path;

/** A value as an example in a message; of a path that the record lacks: `nothing`. */
export function formatSample(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS - 1)}…` : text;
}
