// Paths into a CMS record: `meta.cost`, `title.rendered`, `venue[0].ID`.

import type { CmsRecord } from '../cms/port.ts';
import { isObject } from '../model/json.ts';

/** Keys (strings) and array indexes (numbers), the outermost first. */
export type Path = readonly (string | number)[];

const PATH = /^[^.[\]\s]+(?:\.[^.[\]\s]+|\[\d+\])*$/;
const UNSAFE_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

/** Returns `undefined` if the text is not a path. */
export function parsePath(text: string): Path | undefined {
  if (!PATH.test(text)) return undefined;
  const path: (string | number)[] = [];
  for (const segment of text.matchAll(/\[(\d+)\]|[^.[\]]+/g)) {
    const key = segment[1] === undefined ? segment[0] : Number(segment[1]);
    if (typeof key === 'string' && UNSAFE_KEYS.has(key)) return undefined;
    path.push(key);
  }
  return path;
}

/** Returns `undefined` if a step of the path is missing. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const key of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}

/**
 * Sets the value at a path of keys. Creates missing objects, and replaces values on the way that are not
 * objects.
 */
export function setAt(root: CmsRecord, path: Path, value: unknown): void {
  let target = root;
  for (const key of path.slice(0, -1)) {
    const next = target[key];
    if (isObject(next)) target = next;
    else {
      const created: CmsRecord = {};
      target[key] = created;
      target = created;
    }
  }
  const last = path.at(-1);
  if (last !== undefined) target[last] = value;
}

/** The part of a path that WordPress's `_fields` can name: the keys before the first array index. */
export function selectorOf(path: Path): string {
  const end = path.findIndex((key) => typeof key === 'number');
  return (end < 0 ? path : path.slice(0, end)).join('.');
}
