// Paths of a mapping, such as `meta.cost` or `venue[0].ID`: what a CMS record has there, and the errors at them.

import { SIZES } from '../interface/value-lengths.ts';
import { INHERITED_NAMES } from '../model/json.ts';
import { cutHtml } from '../text/text.ts';

/** An error in a part of a mapping. `pointer` is a JSON pointer relative to the part that is being compiled. */
export class MappingFieldError extends Error {
  readonly pointer: string;

  constructor(pointer: string, reason: string) {
    super(reason);
    this.pointer = pointer;
  }
}

/** The CMS's stored form cannot express a value. The message says which values it can. */
export class UnrepresentableValue extends Error {}

/** Compiles the part of a mapping at this pointer. Errors have the pointer before their own. */
export function within<T>(pointer: string, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (!(error instanceof MappingFieldError)) throw error;
    throw new MappingFieldError(pointer + error.pointer, error.message);
  }
}

/** Keys (strings) and array indexes (numbers), the outermost first. */
export type Path = readonly (string | number)[];

const PATH = /^[^.[\]\s]+(?:\.[^.[\]\s]+|\[\d+\])*$/;

/** Returns `undefined` if the text is not a path. */
export function parsePath(text: string): Path | undefined {
  if (!PATH.test(text)) return undefined;
  const path: (string | number)[] = [];
  for (const segment of text.matchAll(/\[(\d+)\]|[^.[\]]+/g)) {
    const key = segment[1] === undefined ? segment[0] : Number(segment[1]);
    if (typeof key === 'string' && INHERITED_NAMES.has(key)) return undefined;
    path.push(key);
  }
  return path;
}

/**
 * A longer text of the CMS is cut at twice the length that a client may write: a client that sends the cut text back
 * gets 400, and destroys nothing. Reading and indexing one takes about 30 ms.
 */
export const MAX_READ_CHARACTERS = 2 * SIZES.longText.characters;

/**
 * Every value of the CMS is read here. Returns `undefined` if a step of the path is missing. A text is cut at
 * `MAX_READ_CHARACTERS` before any expression, parser or index sees it.
 */
export function readAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const key of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return typeof value === 'string' ? cutHtml(value, MAX_READ_CHARACTERS) : value;
}

export function readText(stored: unknown): string | undefined {
  if (typeof stored === 'string') return stored;
  return typeof stored === 'number' && Number.isFinite(stored) ? String(stored) : undefined;
}

/** `''` if the path has no text. */
export const textAt = (root: unknown, path: Path): string => readText(readAt(root, path)) ?? '';

export function readInteger(stored: unknown): number | undefined {
  const number = typeof stored === 'string' && stored.trim() !== '' ? Number(stored) : stored;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

/** The part of a path that WordPress's `_fields` can name: the keys before the first array index. */
export function selectorOf(path: Path): string {
  const end = path.findIndex((key) => typeof key === 'number');
  return (end < 0 ? path : path.slice(0, end)).join('.');
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
