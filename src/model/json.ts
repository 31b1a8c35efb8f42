// JSON values: the type of an object, and the test for one.

export type JsonObject = Record<string, unknown>;

/** True for a JSON object: neither an array nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Names that every object inherits, which a key would shadow, and `prototype`, which leads to those of classes. */
export const INHERITED_NAMES: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  'prototype',
]);
