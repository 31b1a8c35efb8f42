// JSON values: the type of an object, the test for one, and values of other types than expected.

export type JsonObject = Record<string, unknown>;

/** True for a JSON object: neither an array nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns an object as it is, and `{}` for any other value: PHP serialises an empty object as `[]`. */
export const objectOrEmpty = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** Returns a text as it is, and `''` for any other value. */
export const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The number, which may be written as text. 0 for any other value, and for a number that JSON cannot express. */
export function numberOrZero(value: unknown): number {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : 0;
}

/** Names that every object inherits, which a key would shadow, and `prototype`, which leads to those of classes. */
export const INHERITED_NAMES: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  'prototype',
]);
