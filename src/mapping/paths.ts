// Paths into a native record: `meta.cost`, `title.rendered`, `venue[0].ID`.

import type { Native } from '../upstream/port.ts';

/** Keys (text) and list positions (numbers) from the record inwards. */
export type Path = readonly (string | number)[];

const PATH = /^[^.[\]\s]+(?:\.[^.[\]\s]+|\[\d+\])*$/;
const UNSAFE = new Set(['__proto__', 'constructor', 'prototype']);

/** Reads the text of a path. @returns `undefined` when it is no path. */
export function parsePath(text: string): Path | undefined {
  if (!PATH.test(text)) return undefined;
  const path: (string | number)[] = [];
  for (const segment of text.matchAll(/\[(\d+)\]|[^.[\]]+/g)) {
    const key = segment[1] === undefined ? segment[0] : Number(segment[1]);
    if (typeof key === 'string' && UNSAFE.has(key)) return undefined;
    path.push(key);
  }
  return path;
}

/** What lies at a path; `undefined` where a step is missing. */
export function valueAt(from: unknown, path: Path): unknown {
  let here = from;
  for (const key of path) {
    if (here === null || typeof here !== 'object' || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string | number, unknown>)[key];
  }
  return here;
}

/** Puts a value at a path of keys, making the objects on the way; what stands in the way and is no object is replaced. */
export function putAt(into: Native, path: Path, value: unknown): void {
  let here = into;
  for (const key of path.slice(0, -1)) {
    const next = here[key];
    if (isObject(next)) here = next;
    else {
      const made: Native = {};
      here[key] = made;
      here = made;
    }
  }
  const last = path.at(-1);
  if (last !== undefined) here[last] = value;
}

/** Whether a value is a JSON object (and no list). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** How WordPress' `_fields` names a path: the keys as far as the first list position. */
export function selectOf(path: Path): string {
  const end = path.findIndex((key) => typeof key === 'number');
  return (end < 0 ? path : path.slice(0, end)).join('.');
}
