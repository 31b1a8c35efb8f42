// A field's access to a native record: what the lines of a mapping are compiled to.

import type { Native } from '../upstream/port.ts';
import type { Zones } from './codecs.ts';
import { type Path, parsePath } from './paths.ts';

/** What a field's value is put into. */
export interface WriteTarget {
  body: Native;
  /** The native record as it is, where there is one. */
  before: Native | undefined;
  zones: Zones;
}

export interface Access {
  /** @returns `undefined` when nothing readable is stored. */
  read(native: Native, zones: Zones): unknown;
  /** Absent for a field that cannot be written. Throws `Unholdable`. */
  write?(value: unknown, target: WriteTarget): void;
  /** What `_fields` has to name. */
  select: string[];
  /** Where it is written, for people. */
  place: string;
  /** An instant is stored, so the zone must be known to write it. */
  needsZone: boolean;
  /** A part of a text is replaced, so the text must be known to write it. */
  merges: boolean;
}

/** Refuses a line of a mapping: the place below the field's, and why. */
export class BadLine extends Error {
  readonly below: string;

  constructor(below: string, reason: string) {
    super(reason);
    this.below = below;
  }
}

/** Reads a path of a mapping. Throws `BadLine`. */
export function pathOf(text: string, below: string): Path {
  const path = parsePath(text);
  if (!path) throw new BadLine(below, `"${text}" is no path such as meta.cost or venue[0].ID`);
  return path;
}

/** As `pathOf`, for a path that is written as well. Throws `BadLine`. */
export function writablePathOf(text: string, below: string): Path {
  const path = pathOf(text, below);
  if (!path.every((key) => typeof key === 'string')) throw new BadLine(below, `"${text}" cannot be written`);
  return path;
}
