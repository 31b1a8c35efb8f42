// The form of WordPress's records: which fields they have, and what of them the public may see.

import type { CmsRecord, CollectionSpec, Detail, RecordForm } from '../port.ts';
import { publicView } from './public-view.ts';
import { settingsOf } from './settings.ts';

/** The `_fields` of each detail but `mapped`. */
export const DETAIL_FIELDS: Readonly<Record<Exclude<Detail, 'mapped'>, string>> = {
  id: 'id',
  time: 'id,modified_gmt',
  stamp: 'id,modified_gmt,status',
  slug: 'id,slug',
};

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
/** WordPress sends it to editors only, so that responses to callers may lack it. */
const EDITORS_ONLY = 'raw';

export const WORDPRESS_RECORDS: RecordForm = {
  requestedPaths: (spec, detail) => fieldPaths(detail === 'mapped' ? spec.selectedFields : DETAIL_FIELDS[detail]),
  certainPaths: ({ storedAs, requiredPaths }) => [
    ...new Set([...ALWAYS_SENT[storedAs], ...fieldPaths(requiredPaths.join(',')).map(rootOf)]),
  ],
  hasPath,
  isDescribed: (fields, path) => fields.includes(path.startsWith('meta.') ? path : rootOf(path)),
  publicView: (spec, ofAccount, ofPublic) =>
    publicView(ofAccount, ofPublic, { editing: settingsOf(spec).context === 'edit' }),
};

const rootOf = (path: string): string => path.split('.', 1)[0] ?? '';

/**
 * `title.raw,title.rendered,meta.a,acf.b` -> `title.rendered`, `meta.a`, `acf`: the paths that all records of
 * a type have in common.
 */
function fieldPaths(fields: string): string[] {
  const paths = fields.split(',').flatMap((path) => {
    const [root = '', key] = path.split('.');
    if (!OBJECTS.has(root) || key === undefined) return [root];
    return key === EDITORS_ONLY ? [] : [`${root}.${key}`];
  });
  return [...new Set(paths)].filter((path) => path !== '');
}

function hasPath({ termFields }: CollectionSpec, record: CmsRecord, path: string): boolean {
  const [root = '', key] = path.split('.');
  const value = record[root];
  if (root === 'id') return Number.isSafeInteger(Number(value)) && Number(value) > 0;
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
