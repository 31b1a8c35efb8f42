// Owns the check that the CMS's records have the fields that were requested: a response without them is no
// data.

import type { CmsRecord, CollectionSpec, Detail } from '../cms/port.ts';
import { CmsUnavailable } from '../errors.ts';
import type { Kind } from '../model/records.ts';
import { idOf } from './collections.ts';
import { collectionOf, isComplete, type KnownFields, STATE_KEYS, type SyncContext, scopeOf } from './context.ts';

/** Fails a poll, or the request of a caller. */
function incompleteError(name: string, missing: readonly string[], id: number, outcomeUnknown = false): CmsUnavailable {
  const which = id > 0 ? `record ${id} of ${name}` : `a record of ${name}`;
  const message = `The CMS's response is incomplete: ${which} lacks ${missing.join(', ')}.`;
  return new CmsUnavailable('incomplete', message, { outcomeUnknown });
}

/**
 * Returns if every record has what the request asked for; throws `CmsUnavailable` with the names of what is
 * missing. Three sources say which fields records have: what the CMS sends of every record; what the mapping
 * requires; and what every record of the collection has had until now, which the replica keeps. A field of the
 * last kind disappears when an operator removes a plugin: then the CMS no longer describes it.
 */
export async function checkComplete(
  context: SyncContext,
  spec: CollectionSpec,
  detail: Detail,
  records: readonly CmsRecord[],
): Promise<void> {
  const { recordForm } = context.cms;
  const requested = recordForm.requestedPaths(spec, detail);
  const roots = new Set(requested.map((path) => path.split('.', 1)[0]));
  const certain = recordForm.certainPaths(spec).filter((path) => roots.has(path));
  for (const record of records) {
    const missing = certain.filter((path) => !recordForm.hasPath(spec, record, path));
    if (missing.length > 0) throw incompleteError(spec.collection, missing, idOf(record));
  }
  const collection = spec.kind && collectionOf(context, spec.kind);
  if (!collection || records.length === 0 || detail !== 'mapped') return;
  const { always, varies } = knownFields(context, collection.kind);
  for (const path of requested) {
    const lacking = records.filter((record) => !recordForm.hasPath(spec, record, path));
    const [first] = lacking;
    const isPartial = lacking.length < records.length;
    if (!first) {
      if (!varies.has(path)) always.add(path);
    } else if (!always.has(path)) {
      if (isPartial) varies.add(path);
    } else {
      if (isPartial && !isComplete(context.replica)) varies.add(path);
      else if (isPartial || !(await isRemovedField(context, spec, path)))
        throw incompleteError(spec.collection, [path], idOf(first));
      always.delete(path);
    }
  }
  await saveKnownFields(context, collection.kind);
}

/**
 * Checks a record that a caller's request read or wrote. `isWritten`: it is the response to a write, which the CMS has carried out. Throws
 * `CmsUnavailable` `incomplete` if it lacks a field that records of its kind have.
 */
export function assertComplete(context: SyncContext, kind: Kind, record: CmsRecord, isWritten: boolean): void {
  const collection = collectionOf(context, kind);
  if (!collection) return;
  const { recordForm } = context.cms;
  const { spec } = collection;
  const paths = new Set([...recordForm.certainPaths(spec), ...knownFields(context, kind).always]);
  const missing = [...paths].filter((path) => !recordForm.hasPath(spec, record, path));
  if (missing.length > 0) throw incompleteError(spec.collection, missing, idOf(record), isWritten);
}

function knownFields(context: SyncContext, kind: Kind): KnownFields {
  const memory = context.memory.kinds[kind];
  if (!memory.knownFields) {
    const saved = context.replica.state(STATE_KEYS.fields(scopeOf(context), kind)) ?? '{}';
    const { always, varies } = JSON.parse(saved) as { always?: string[]; varies?: string[] };
    memory.knownFields = { always: new Set(always), varies: new Set(varies) };
  }
  return memory.knownFields;
}

async function saveKnownFields(context: SyncContext, kind: Kind): Promise<void> {
  const { always, varies } = knownFields(context, kind);
  const key = STATE_KEYS.fields(scopeOf(context), kind);
  const text = JSON.stringify({ always: [...always], varies: [...varies] });
  if (text !== context.replica.state(key)) await context.commit(() => ({ state: { [key]: text } }));
}

/**
 * True if the CMS's own description of the collection lacks the field. A field that the mapping requires
 * counts as described, and so does one that a parameter asks for: descriptions are requested without it.
 */
async function isRemovedField({ cms, serviceCredentials, signal }: SyncContext, spec: CollectionSpec, path: string) {
  if (spec.requiredPaths.some((required) => required === path || required.startsWith(`${path}.`))) return false;
  if (Object.hasOwn(spec.recordParams ?? {}, path)) return false;
  const { fields } = await cms.collectionInfo(spec, { credentials: serviceCredentials, signal });
  return fields !== undefined && !cms.recordForm.isDescribed(fields, path);
}
