// Validates what comes out of Redis, which others can write to, before the gateway uses it.

import { Ajv, type JSONSchemaType } from 'ajv';
import { KINDS } from '../model/records.ts';
import { TRANSITIONS } from '../sync/sync-state.ts';

/** Data in Redis that no gateway wrote. The error names the location of the defect and quotes nothing. */
export class MalformedMessage extends Error {
  constructor(name: string, reason: string) {
    super(`${name}: ${reason}`);
    this.name = 'MalformedMessage';
  }
}

/** Characters: more than the largest webhook or list of keys. */
const MAX_MESSAGE = 1024 * 1024;
const MAX_ITEMS = 20_000;

const text = { type: 'string', maxLength: 1000 };
const id = { type: 'integer', minimum: 1 };
const flag = { type: 'boolean' };
const number = { type: 'number' };
const list = (items: object) => ({ type: 'array', items, maxItems: MAX_ITEMS });
const object = (properties: Record<string, object>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
});

const records = list(object({ kind: { enum: KINDS }, id }));
const images = list(object({ id, sizes: { type: 'object' } }));
const state = { type: 'object', additionalProperties: { type: 'string' } };
const change = object(
  {
    upserts: records,
    images,
    deletes: list(object({ kind: { enum: [...KINDS, 'image'] }, ids: list(id) })),
    state,
  },
  [],
);
const keys = list(text);
const entryId = { type: 'string', pattern: '^\\d{1,15}-\\d{1,20}$' };
const request = {
  oneOf: [
    object({ type: { const: 'poll' } }),
    object({ type: { const: 'fetchChanged' }, changes: list(object({ collection: text, id })) }),
    object({ type: { const: 'refetch' }, keys }),
    object({ type: { const: 'snapshot' }, list: text }),
  ],
};
const syncState = object(
  {
    state: { enum: Object.keys(TRANSITIONS) },
    sinceMs: number,
    complete: flag,
    failures: { type: 'integer', minimum: 0 },
    lastCaughtUpMs: number,
    reason: { type: 'string' },
  },
  ['state', 'sinceMs', 'complete', 'failures'],
);

const SCHEMAS = {
  request: object({ from: text, id: text, request }),
  response: object({ id: text, offset: entryId }, ['id']),
  entry: object({ from: text, type: { enum: ['poll', 'write', 'baseline'] }, change }),
  leaderStatus: object({ bootstrapping: flag, syncState }),
  snapshotPart: {
    oneOf: [
      object({ type: { const: 'start' }, offset: entryId, state }),
      object({ type: { const: 'records' }, records }),
      object({ type: { const: 'images' }, images }),
      object({ type: { const: 'end' }, unpublished: keys }),
    ],
  },
  compatibility: { type: 'object' },
  idempotencyEntry: object(
    {
      fingerprint: text,
      state: { enum: ['running', 'done', 'unknown'] },
      startedMs: number,
      holder: text,
      id,
      response: object({ status: { type: 'integer' }, headers: { type: 'object' } }, ['status']),
    },
    ['fingerprint', 'state', 'startedMs', 'holder'],
  ),
};

const SHORT_MESSAGES: ReadonlySet<string> = new Set(['request', 'response', 'leaderStatus']);

const ajv = new Ajv({ strict: false });
const validators = new Map(
  Object.entries(SCHEMAS).map(([name, schema]) => [name, ajv.compile(schema as object as JSONSchemaType<unknown>)]),
);

/**
 * Parses and validates a message. The caller names the type that the schema describes.
 * @throws MalformedMessage
 */
export function parseMessage<T>(name: keyof typeof SCHEMAS, json: unknown): T {
  if (typeof json !== 'string') throw new MalformedMessage(name, 'is not text');
  if (SHORT_MESSAGES.has(name) && json.length > MAX_MESSAGE)
    throw new MalformedMessage(name, `is longer than ${MAX_MESSAGE} characters`);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new MalformedMessage(name, 'is not JSON');
  }
  const validate = validators.get(name)!;
  if (!validate(value)) {
    const [error] = validate.errors ?? [];
    throw new MalformedMessage(name, `${error?.instancePath || 'the root'} ${error?.message ?? 'is not valid'}`);
  }
  return value as T;
}

const ENTRY_ID = new RegExp(entryId.pattern);

export const isEntryId = (value: string): boolean => ENTRY_ID.test(value);
