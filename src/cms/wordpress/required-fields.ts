// Adds to an update what Advanced Custom Fields demands in every request that has any of its fields: the
// fields that a field group calls required. The gateway sends only what changes.

import { isDeepStrictEqual } from 'node:util';
import { CmsRejected } from '../../errors.ts';
import { isObject } from '../../model/json.ts';
import type { RestCall } from '../client.ts';
import type { CmsResponse } from '../http-exchange.ts';
import type { CallOptions, CmsRecord } from '../port.ts';
import { objectOrEmpty, recordOf } from './rest-api.ts';

/** The request's property of Advanced Custom Fields. */
const HOLDER = 'acf';

/**
 * The plugin looks up a field by the key that this property gives for its name, instead of by the name. It
 * stores no value whose key no field has, but accepts it as present (`update_fields` of version 6.8.0, and of
 * Secure Custom Fields).
 */
const KEY_MAP = '_acf_field_key_map';
const NO_FIELD = '(none)';

type Update = (collection: string, id: number, body: CmsRecord, options: CallOptions) => Promise<CmsResponse>;

/**
 * Creates the function that sends updates. If the site refuses an update of `acf`, it reads which fields are
 * required, and sends the update again with the stored values of those that it lacks. The refusal came before
 * anything was written.
 *
 * The added values are marked so that the plugin does not store them: an editor's change between the read and
 * the update stays. A version of the plugin that ignored the mark would store a value that was read one call
 * earlier. Required fields inside a group cannot be marked: those of a group that the update changes are
 * stored as read.
 */
export function createUpdate(call: RestCall): Update {
  return async (collection, id, body, options) => {
    const route = `wp/v2/${collection}/${id}`;
    const send = (json: CmsRecord) => call('POST', route, { json }, options);
    const sent = body[HOLDER];
    if (!isObject(sent)) return send(body);
    try {
      return await send(body);
    } catch (error) {
      if (!(error instanceof CmsRejected && error.written === 'no' && error.fields.includes(HOLDER))) throw error;
      // Which field groups a record has may depend on the record.
      const { schema } = recordOf(await call('OPTIONS', route, {}, options));
      const rules = objectOrEmpty(objectOrEmpty(objectOrEmpty(schema).properties)[HOLDER]);
      const query = { context: 'edit', _fields: HOLDER };
      const stored = recordOf(await call('GET', route, { query }, options))[HOLDER];
      const all = withRequired(sent, objectOrEmpty(stored), rules);
      if (isDeepStrictEqual(all, sent)) throw error;
      const added = Object.keys(all).filter((name) => !Object.hasOwn(sent, name));
      const marks = Object.fromEntries(added.map((name) => [name, NO_FIELD]));
      return send({ ...body, [HOLDER]: { ...all, [KEY_MAP]: marks } });
    }
  };
}

/** `sent` with the stored values of the required properties that it lacks, at every depth. */
function withRequired(sent: CmsRecord, stored: CmsRecord, schema: CmsRecord): CmsRecord {
  const all = { ...sent };
  // Typed fields refuse the blank text that the plugin shows for a field without a value.
  for (const name of requiredKeys(schema))
    if (!Object.hasOwn(sent, name)) all[name] = stored[name] === '' ? null : (stored[name] ?? null);
  for (const [name, inner] of Object.entries(objectOrEmpty(schema.properties)))
    if (isObject(sent[name])) all[name] = withRequired(sent[name], objectOrEmpty(stored[name]), objectOrEmpty(inner));
  return all;
}

/** The required properties of an object schema. Each may say so itself, or the object lists them. */
function requiredKeys({ properties, required }: CmsRecord): string[] {
  const listed = Array.isArray(required) ? required : [];
  return Object.entries(objectOrEmpty(properties)).flatMap(([name, rule]) =>
    objectOrEmpty(rule).required === true || listed.includes(name) ? [name] : [],
  );
}
