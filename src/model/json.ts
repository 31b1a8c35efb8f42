// JSON values: the type of an object, and the test for one.

export type JsonObject = Record<string, unknown>;

/** True for a JSON object: neither an array nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
