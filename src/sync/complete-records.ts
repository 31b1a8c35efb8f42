// Owns the check that the CMS's records have the fields that were requested: a response without them is no
// data.

import type { CmsRecord, Query } from '../cms/port.ts';
import { CmsUnavailable } from '../errors.ts';
import type { Kind } from '../model/records.ts';
import { type Collection, idOf } from './collections.ts';
import { collectionOf, type SyncContext, scopeOf } from './context.ts';
import { isComplete, type KnownFields, STATE_KEYS } from './memory.ts';

/** What WordPress sends of every post and of every term, whatever their type supports. */
const ALWAYS_SENT = {
  posts: ['id', 'slug', 'status', 'date', 'modified', 'modified_gmt', 'link'],
  terms: ['id', 'name', 'slug'],
};
/** Objects with fields of their own; PHP writes an empty one as `[]`. */
const OBJECTS = new Set(['title', 'content', 'excerpt', 'meta']);
const TEXTS = new Set(['slug', 'name']);
const FILLED_TEXTS = new Set(['status', 'modified_gmt']);
const NUMBERS = new Set(['author', 'featured_media', 'parent', 'count']);
/** The CMS sends it to editors only, so that responses to callers may lack it. */
const EDITORS_ONLY = 'raw';

/** `_fields` of requests for media. */
export const MEDIA_FIELDS = 'id,modified_gmt';

const rootOf = (path: string): string => path.split('.', 1)[0] ?? '';

/**
 * `title.raw,title.rendered,meta.a,acf.b` -> `title.rendered`, `meta.a`, `acf`: the paths that all records of
 * a type have in common.
 */
export function fieldPaths(fields: string): string[] {
  const paths = fields.split(',').flatMap((path) => {
    const [root = '', key] = path.split('.');
    if (!OBJECTS.has(root) || key === undefined) return [root];
    return key === EDITORS_ONLY ? [] : [`${root}.${key}`];
  });
  return [...new Set(paths)].filter((path) => path !== '');
}

function hasPath(record: CmsRecord, path: string, termFields: readonly string[]): boolean {
  const [root = '', key] = path.split('.');
  const value = record[root];
  if (root === 'id') return idOf(record) > 0;
  if (OBJECTS.has(root)) {
    if (typeof value !== 'object' || value === null || (Array.isArray(value) && value.length > 0)) return false;
    if (key === undefined) return true;
    const inner = (value as CmsRecord)[key];
    return key === 'rendered' ? typeof inner === 'string' : inner !== undefined;
  }
  if (TEXTS.has(root)) return typeof value === 'string';
  if (FILLED_TEXTS.has(root)) return typeof value === 'string' && value !== '';
  if (NUMBERS.has(root)) return typeof value === 'number';
  if (termFields.includes(root)) return Array.isArray(value);
  return value !== undefined;
}

/** The paths that a record lacks. */
export function missingPaths(
  record: CmsRecord,
  paths: readonly string[],
  termFields: readonly string[] = [],
): string[] {
  return paths.filter((path) => !hasPath(record, path, termFields));
}

/** Fails a poll, or the request of a caller. */
export function incompleteError(
  base: string,
  missing: Iterable<string>,
  id: number,
  outcomeUnknown = false,
): CmsUnavailable {
  const which = id > 0 ? `record ${id} of ${base}` : `a record of ${base}`;
  const message = `The CMS's response is incomplete: ${which} lacks ${[...missing].join(', ')}.`;
  return new CmsUnavailable('incomplete', message, { outcomeUnknown });
}

/**
 * Returns if every record has what the query requested; throws `CmsUnavailable` with the names of what is
 * missing. Three sources say which fields records have: what WordPress sends of every record; what the
 * mapping requires; and what every record of the collection has had until now, which the replica keeps. A
 * field of the last kind disappears when an operator removes a plugin: then the CMS no longer describes it.
 */
export async function checkComplete(
  context: SyncContext,
  { kind, base }: { kind?: Kind; base: string },
  { _fields: fields }: Query,
  records: readonly CmsRecord[],
): Promise<void> {
  const collection = kind && collectionOf(context, kind);
  if (!collection || typeof fields !== 'string' || records.length === 0) return;
  const { termFields } = collection;
  const requested = fieldPaths(fields);
  const roots = new Set(requested.map(rootOf));
  const certain = certainPaths(collection).filter((path) => path.includes('.') || roots.has(path));
  for (const record of records) {
    const missing = missingPaths(record, certain, termFields);
    if (missing.length > 0) throw incompleteError(base, missing, idOf(record));
  }
  if (fields !== collection.fields) return;
  const { always, varies } = knownFields(context, collection.kind);
  for (const path of requested) {
    const lacking = records.filter((record) => !hasPath(record, path, termFields));
    const [first] = lacking;
    const isPartial = lacking.length < records.length;
    if (!first) {
      if (!varies.has(path)) always.add(path);
    } else if (!always.has(path)) {
      if (isPartial) varies.add(path);
    } else {
      if (isPartial && !isComplete(context.replica)) varies.add(path);
      else if (isPartial || !(await isRemovedField(context, collection, path)))
        throw incompleteError(base, [path], idOf(first));
      always.delete(path);
    }
  }
  await saveKnownFields(context, collection.kind);
}

/** What a complete record lacks that a caller's request read or wrote: names, or undefined. */
export function missingFields(context: SyncContext, kind: Kind, record: CmsRecord): string | undefined {
  const collection = collectionOf(context, kind);
  if (!collection) return undefined;
  const paths = new Set([...certainPaths(collection), ...knownFields(context, kind).always]);
  const missing = missingPaths(record, [...paths], collection.termFields);
  return missing.length > 0 ? missing.join(', ') : undefined;
}

function certainPaths({ isPosts, requiredPaths }: Collection): string[] {
  const required = fieldPaths(requiredPaths.join(',')).map(rootOf);
  return [...new Set([...(isPosts ? ALWAYS_SENT.posts : ALWAYS_SENT.terms), ...required])];
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
 * counts as described.
 */
async function isRemovedField({ cms, service, signal }: SyncContext, collection: Collection, path: string) {
  if (collection.requiredPaths.some((required) => required === path || required.startsWith(`${path}.`))) return false;
  const { fields } = await cms.collectionInfo(collection.base, { credentials: service, signal });
  return fields !== undefined && !fields.includes(path.startsWith('meta.') ? path : rootOf(path));
}
