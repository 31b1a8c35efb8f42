// A field accessor reads and writes one field of a CMS record. A mapping's fields compile to accessors.

import type { CmsRecord } from '../cms/port.ts';
import { type Path, parsePath } from './paths.ts';

/** The time zones, as texts, in which a date is read and written. */
export interface Zones {
  /** The event's zone. The text may be invalid. */
  event: string;
  site: string;
}

export interface WriteTarget {
  /** Body of the request to the CMS, which collects the written values. */
  body: CmsRecord;
  /** The CMS record before the write, if it is known. */
  current: CmsRecord | undefined;
  zones: Zones;
}

export interface FieldAccessor {
  /** Returns `undefined` if nothing usable is stored. */
  read(cmsRecord: CmsRecord, zones: Zones): unknown;
  /**
   * Absent for a read-only field.
   * @throws UnrepresentableValue
   */
  write?: (value: unknown, target: WriteTarget) => void;
  /** Paths that `_fields` must name to read the field. */
  selectedPaths: string[];
  /** Where the field is written, for messages to operators. */
  location: string;
  /** The stored form depends on the event's time zone, so writing needs to know the zone. */
  needsZone: boolean;
  /** Writing changes a part of a stored text, so it needs the CMS record before the write. */
  needsCurrent: boolean;
  /** The CMS stores a number for the text of the field. */
  isNumeric?: boolean;
}

/** An error in one field of a mapping. `pointer` is a JSON pointer relative to the field. */
export class MappingFieldError extends Error {
  readonly pointer: string;

  constructor(pointer: string, reason: string) {
    super(reason);
    this.pointer = pointer;
  }
}

/** @throws MappingFieldError if the text is not a path */
export function parsePathOrThrow(text: string, pointer: string): Path {
  const path = parsePath(text);
  if (!path) throw new MappingFieldError(pointer, `"${text}" is no path such as meta.cost or venue[0].ID`);
  return path;
}

/** @throws MappingFieldError if the text is not a path, or goes through a list, which a write cannot */
export function parseWritablePath(text: string, pointer: string): Path {
  const path = parsePathOrThrow(text, pointer);
  if (!isWritablePath(path)) throw new MappingFieldError(pointer, `"${text}" cannot be written`);
  return path;
}

export const isWritablePath = (path: Path): boolean => path.every((key) => typeof key === 'string');
