// JSON values: the type of an object, the test for one, and values of other types than expected.

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for what can be the id of a record: a text, or a whole number above 0. */
export const isId = (value: unknown): boolean =>
  typeof value === 'string' ? value !== '' : Number.isSafeInteger(value) && Number(value) > 0;

/** Returns an object as it is, and `{}` for any other value: PHP serialises an empty object as `[]`. */
export const objectOrEmpty = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The number, which may be written as text. 0 for any other value, and for a number that JSON cannot express. */
export function numberOrZero(value: unknown): number {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : 0;
}

/** The value at a path of keys. Undefined if a step is missing. */
export const valueIn = (root: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), root);

/** Sets the value at a path of keys. Creates missing objects, and replaces values on the way that are not objects. */
export function setAt(root: JsonObject, path: readonly (string | number)[], value: unknown): void {
  let target = root;
  for (const key of path.slice(0, -1)) {
    const next = target[key];
    const inner: JsonObject = isObject(next) ? next : {};
    target[key] = inner;
    target = inner;
  }
  target[path.at(-1)!] = value;
}

/** Both objects as one, key by key. Where both have a value that is no object, that of `above` counts. */
export function merged<Below extends object, Above extends object>(below: Below, above: Above): Below & Above {
  const result = { ...below } as JsonObject;
  for (const [key, value] of Object.entries(above)) {
    const current = result[key];
    result[key] = isObject(current) && isObject(value) ? merged(current, value) : value;
  }
  return result as Below & Above;
}

/** Keys such as `__proto__` and `constructor`, which every object inherits, and `prototype`: no input may set them. */
export const INHERITED_NAMES: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  'prototype',
]);
