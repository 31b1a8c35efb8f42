// What comes out of the engine, which others can write to: checked for its shape before anything is done with it.

import { Ajv, type JSONSchemaType } from 'ajv';
import { KINDS } from '../records.ts';
import { TRANSITIONS } from '../replica/sync-state.ts';

/** Text of the engine that is no message of a gateway. The message tells where it is wrong, and quotes nothing. */
export class Malformed extends Error {
  constructor(what: string, why: string) {
    super(`${what}: ${why}`);
    this.name = 'Malformed';
  }
}

/** Characters: more than the largest change notice or list of keys. */
const MAX_MESSAGE = 1024 * 1024;
const MAX_ITEMS = 20_000;

const text = { type: 'string', maxLength: 1000 };
const id = { type: 'integer', minimum: 1 };
const flag = { type: 'boolean' };
const list = (items: object) => ({ type: 'array', items, maxItems: MAX_ITEMS });
const object = (properties: Record<string, object>, required = Object.keys(properties)) => ({
  ...{ type: 'object', properties, required },
});
const recordOf = (kinds: readonly string[]) => object({ kind: { enum: kinds }, id });

const images = list(object({ id, sizes: { type: 'object' } }));
const records = list(recordOf(KINDS));
const state = { type: 'object', additionalProperties: { type: 'string' } };
const change = object(
  {
    put: records,
    images,
    state,
    remove: list(object({ kind: { enum: [...KINDS, 'image'] }, ids: list(id) })),
  },
  [],
);
const keys = list(text);
const entryId = { type: 'string', pattern: '^\\d{1,15}-\\d{1,20}$' };
const ask = {
  oneOf: [
    object({ type: { const: 'look' } }),
    object({ type: { const: 'changed' }, changes: list(object({ collection: text, id })) }),
    object({ type: { const: 'read' }, keys }),
    object({ type: { const: 'copy' }, list: text }),
  ],
};
const standing = object(
  {
    ...{ state: { enum: Object.keys(TRANSITIONS) }, sinceMs: { type: 'number' }, complete: flag },
    ...{ failures: { type: 'integer', minimum: 0 }, lastInStepMs: { type: 'number' }, reason: { type: 'string' } },
  },
  ['state', 'sinceMs', 'complete', 'failures'],
);

const SCHEMAS = {
  ask: object({ from: text, nonce: text, ask }),
  told: object({ nonce: text, at: entryId }, ['nonce']),
  entry: object({ from: text, type: { enum: ['look', 'write', 'begin'] }, change }),
  word: object({ founding: flag, standing }),
  piece: {
    oneOf: [
      object({ type: { const: 'begin' }, at: entryId, state }),
      object({ type: { const: 'records' }, records }),
      object({ type: { const: 'images' }, images }),
      object({ type: { const: 'end' }, beside: keys }),
    ],
  },
  identity: { type: 'object' },
  createKey: object(
    {
      ...{ fingerprint: text, state: { enum: ['running', 'done', 'unknown'] }, atMs: { type: 'number' }, by: text, id },
      answer: object({ status: { type: 'integer' }, headers: { type: 'object' } }, ['status']),
    },
    ['fingerprint', 'state', 'atMs', 'by'],
  ),
};

const ajv = new Ajv({ strict: false });
const validators = new Map(
  Object.entries(SCHEMAS).map(([name, schema]) => [name, ajv.compile(schema as unknown as JSONSchemaType<unknown>)]),
);

/**
 * A message of another gateway out of its text. The caller names the type that the schema stands for.
 * @throws Malformed
 */
export function readMessage<T>(name: keyof typeof SCHEMAS, json: unknown): T {
  if (typeof json !== 'string') throw new Malformed(name, 'is not text');
  const isLong = (name === 'ask' || name === 'told' || name === 'word') && json.length > MAX_MESSAGE;
  if (isLong) throw new Malformed(name, `is longer than ${MAX_MESSAGE} characters`);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Malformed(name, 'is not JSON');
  }
  const validator = validators.get(name)!;
  if (!validator(value)) {
    const [error] = validator.errors ?? [];
    throw new Malformed(name, `${error?.instancePath || 'the whole'} ${error?.message ?? 'is not as expected'}`);
  }
  return value as T;
}

export const isEntryId = (value: string): boolean => new RegExp(entryId.pattern).test(value);
