// The form of WordPress's records: which fields they have, and how they fit the gateway's model: ids that no other
// record has, the API's statuses, modification times in the gateway's form.

import { isId, objectOrEmpty } from '../../model/json.ts';
import { INTERNAL_STATUSES, STATUSES, TERM_ID_OFFSET } from '../../model/records.ts';
import { isoToWall } from '../../time/wall-time.ts';
import { CMS_STATUS, type CmsRecord, type CollectionSpec, type Detail, type Query, type RecordForm } from '../port.ts';

/** The key `wordpress` of a kind in a mapping; mapping.schema.json describes it. */
interface WordPressSettings {
  listParams?: Query;
  statuses?: readonly string[];
  resendAfterCreate?: readonly string[];
}

export const settingsOf = ({ cmsSettings }: Pick<CollectionSpec, 'cmsSettings'>): WordPressSettings => cmsSettings;

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
/** Objects of which all records of a type have the same keys; PHP writes an empty one as `[]`. */
const OBJECTS = new Set(['title', 'content', 'excerpt', 'meta']);
const FILLED_TEXTS = new Set(['status', 'modified_gmt']);

export const WORDPRESS_RECORDS: RecordForm = {
  certainPaths({ storedAs, requiredPaths, selectedFields }, detail) {
    const certain = [...new Set([...ALWAYS_SENT[storedAs], ...requiredPaths.map(rootOf)])];
    if (detail === undefined) return certain;
    const asked = (detail === 'mapped' ? selectedFields : DETAIL_FIELDS[detail]).split(',').map(rootOf);
    return certain.filter((path) => asked.includes(path));
  },
  /** Of `meta.start` the key `start`. Of `acf.start` only `acf`: which keys that has may depend on the record. */
  hasPath(record, path) {
    const [root = '', key] = path.split('.');
    const value = record[root];
    if (root === 'id') return isId(Number(value));
    if (FILLED_TEXTS.has(root)) return typeof value === 'string' && value !== '';
    if (value === undefined) return false;
    return key === undefined || !OBJECTS.has(root) || objectOrEmpty(value)[key] !== undefined;
  },
};

const rootOf = (path: string): string => path.split('.', 1)[0] ?? '';

const CORE_STATUSES = new Set([...STATUSES, ...INTERNAL_STATUSES]);

/** WordPress counts posts and terms separately, but the API has one id space for events, venues and organizers. */
const idOffset = ({ kind, storedAs }: CollectionSpec): number =>
  storedAs === 'terms' && (kind === 'venue' || kind === 'organizer') ? TERM_ID_OFFSET : 0;

export const gatewayId = (spec: CollectionSpec, cmsId: number | string): number =>
  typeof cmsId === 'number' ? cmsId + idOffset(spec) : 0;

export const cmsIdOf = (spec: CollectionSpec, id: number): number => id - idOffset(spec);

/** Gives a record the gateway's id, status and modification time. Changes the record itself, which nobody else has. */
export function normalize(spec: CollectionSpec, record: CmsRecord): CmsRecord {
  const { id, status, modified_gmt: modified } = record;
  if (typeof id === 'number') record.id = gatewayId(spec, id);
  if (typeof modified === 'string') record.modifiedUtc = isoToWall(modified);
  // A plugin's own status, such as `expired`: see `CMS_STATUS`.
  if (typeof status === 'string' && settingsOf(spec).statuses?.includes(status) && !CORE_STATUSES.has(status)) {
    record.status = 'publish';
    record[CMS_STATUS] = status;
  }
  return record;
}
