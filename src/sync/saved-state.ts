// Reads what the sync saved in the replica, and checks it: a disk, or another program, may have changed it.

import { Ajv } from 'ajv';
import { KINDS } from '../model/records.ts';
import type { Observe } from '../observability/observations.ts';
import type { Replica } from '../store/replica.ts';
import { getState } from '../store/state.ts';

const text = { type: 'string', maxLength: 2000 };
/** An id, or how many there are. */
const number = { type: 'integer', minimum: 0 };
/** The latest that a `Date` can be. */
const timeMs = { type: 'number', minimum: 0, maximum: 8.64e15 };
const list = (items: object) => ({ type: 'array', items });
const object = (properties: Record<string, object>, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
});
const perKind = (value: object) => Object.fromEntries(KINDS.map((kind) => [kind, value]));

const pairs = list({ type: 'array', items: [number, number], minItems: 2 });

const SCHEMAS = {
  site: object({ url: { ...text, format: 'url' }, name: text, timezone: text }, ['url', 'name', 'timezone']),
  polled: object({ ...perKind(timeMs), image: timeMs, mediaTotal: number }),
  caughtUp: timeMs,
  linkTables: list({ type: 'array', items: [text, pairs, pairs], minItems: 3 }),
  fields: list(text),
};

const ajv = new Ajv({ strict: false, formats: { url: URL.canParse } });

/** The value under `key`, or `fallback` if there is none or it is not as `schema` says; then it warns. */
export function readState<T>(
  { replica, observe }: { replica: Replica; observe: Observe },
  schema: keyof typeof SCHEMAS,
  key: string,
  fallback: T,
): T {
  const json = getState(replica.db, key);
  if (json === undefined) return fallback;
  try {
    const value: unknown = JSON.parse(json);
    if (ajv.validate(SCHEMAS[schema], value)) return value as T;
  } catch {
    // Not JSON.
  }
  const message = `The saved state "${key}" is not one that a gateway writes`;
  observe({ type: 'message', level: 'warn', message: `${message}. It is ignored, and read from the CMS again.` });
  return fallback;
}
