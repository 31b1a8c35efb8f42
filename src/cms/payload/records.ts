// The form of Payload's records: their ids, status and modification time in the gateway's terms, and back.

import { CmsRejected } from '../../errors.ts';
import { isObject, setAt, valueIn } from '../../model/json.ts';
import { type EventFields, isPostKind } from '../../model/records.ts';
import { isoToWall } from '../../time/wall-time.ts';
import type { CmsRecord, CollectionSpec, Detail, Query, RecordForm } from '../port.ts';
import type { IdSpace, Ids } from './ids.ts';

/** What the parts of the adapter know of the site. */
export interface PayloadSite {
  ids: Ids;
  /** The collections of accounts and of images. */
  users: string;
  media: string;
  /** What the mapping says about the site's collections. */
  specs: readonly CollectionSpec[];
  /** The address of Payload for browsers, to which the addresses of files are relative. */
  siteUrl: string;
  /** Added to every request for records. */
  recordQuery: Query;
  nowMs(): number;
}

const RICH_TEXTS: readonly string[] = ['description', 'excerpt'];

/** The fields of each detail. Payload adds the id. */
export const DETAIL_FIELDS: Readonly<Record<Exclude<Detail, 'mapped'>, readonly string[]>> = {
  id: ['id'],
  time: ['updatedAt'],
  stamp: ['updatedAt', '_status', 'deletedAt'],
  slug: [],
};

/** Fields of the gateway's records that hold ids of others. */
const REFERENCES: Readonly<Partial<Record<keyof EventFields, IdSpace>>> = {
  venues: 'venue',
  organizers: 'organizer',
  categories: 'category',
  tags: 'tag',
  image: 'image',
  author: 'account',
};

/**
 * Payload stores every unpublished record as a draft. A field of the site may tell these apart from drafts:
 *
 *   the API's status    `_status`    the site's field
 *   publish             published    null
 *   draft               draft        null
 *   pending, private    draft        the same word; a site without such a field has neither status
 */
export const STATUSES_BY_FIELD: readonly string[] = ['pending', 'private'];
const CORE_STATUS = 'status';

/** The path of the site's field for the status, if the mapping names one. */
export function siteStatusField({ paths }: CollectionSpec): string | undefined {
  const path = paths.get('status');
  return path === CORE_STATUS ? undefined : path;
}

/** Payload's own word for a status of the API; undefined if a record of the collection cannot have that status. */
export function payloadStatusOf(spec: CollectionSpec, status: string): 'published' | 'draft' | undefined {
  if (status === 'publish') return 'published';
  const isOfField = STATUSES_BY_FIELD.includes(status) && siteStatusField(spec) !== undefined;
  return status === 'draft' || isOfField ? 'draft' : undefined;
}

/** Where the mapping puts the status of a write. */
export const writtenStatusPath = (spec: CollectionSpec): string => siteStatusField(spec) ?? CORE_STATUS;

export const idSpaceOf = ({ kind }: CollectionSpec): IdSpace => kind ?? 'image';

export const isPostCollection = ({ kind }: CollectionSpec): boolean => kind !== undefined && isPostKind(kind);

export const PAYLOAD_RECORDS: RecordForm = {
  /** Which fields a record has is the site's own business, except these. */
  certainPaths(spec, detail = 'mapped') {
    const hasField = (field: string) => detail === 'mapped' || DETAIL_FIELDS[detail].includes(field);
    const hasTime = spec.storedAs === 'posts' && hasField('updatedAt');
    const hasStatus = isPostCollection(spec) && hasField('_status');
    return ['id', ...(hasTime ? ['modifiedUtc'] : []), ...(hasStatus ? ['status'] : [])];
  },
  // True of an id, or of a filled text at the top level. If all records of a page have that text, the sync refuses
  // later records without it (`learnFields`). A number, a relation or `when.start` may be absent from a good record.
  hasPath: (record, path) => {
    const value = record[path];
    return path === 'id' ? Number.isSafeInteger(value) : typeof value === 'string' && value !== '';
  },
};

/** Changes a record of Payload, which nobody else has: gives it the gateway's ids, status and modification time. */
export function toGatewayRecord(ids: Ids, spec: CollectionSpec, record: CmsRecord, detail?: Detail): CmsRecord {
  record.id = ids.toGateway(idSpaceOf(spec), record.id);
  for (const { path, space } of referencesOf(spec))
    changeAt(record, path, (value) => readIds(value, (cmsId) => ids.toGateway(space, cmsId)));
  for (const [key, path] of spec.paths) if (RICH_TEXTS.includes(key)) changeAt(record, path, withoutWrapper);
  if (spec.storedAs === 'posts' && typeof record.updatedAt === 'string')
    record.modifiedUtc = isoToWall(record.updatedAt);
  const hasStatus = detail === undefined || detail === 'mapped' || detail === 'stamp';
  if (!isPostCollection(spec) || !hasStatus) return record;
  const field = siteStatusField(spec);
  const status = gatewayStatus(record, field === undefined ? undefined : valueIn(record, field.split('.')));
  // If there is such a field, the mapping reads the API's status from it.
  if (field !== undefined) setAt(record, field.split('.'), status);
  record.status = status;
  return record;
}

/** Payload's conversion of rich text puts the HTML into a `div` of its own (observed on 3.90.2). */
const WRAPPER = ['<div class="payload-richtext">', '</div>'] as const;
const withoutWrapper = (value: unknown): unknown =>
  typeof value === 'string' && value.startsWith(WRAPPER[0]) && value.endsWith(WRAPPER[1])
    ? value.slice(WRAPPER[0].length, -WRAPPER[1].length)
    : value;

/**
 * A collection without drafts has no `_status`: its records are public. Any `_status` but `published` is a draft's.
 * @param ofSite the value of the site's own field
 */
function gatewayStatus({ _status, deletedAt }: CmsRecord, ofSite: unknown): string {
  if (typeof deletedAt === 'string') return 'trash';
  if (_status === undefined || _status === null || _status === 'published') return 'publish';
  return STATUSES_BY_FIELD.find((status) => status === ofSite) ?? 'draft';
}

/**
 * The body of a write as Payload takes it.
 * @throws CmsRejected `invalid` for a status or an id that Payload does not have: it would answer 500, or store it
 */
export function toPayloadBody(ids: Ids, spec: CollectionSpec, body: CmsRecord): CmsRecord {
  const payloadBody: CmsRecord = structuredClone(body);
  for (const { path, space } of referencesOf(spec))
    changeAt(payloadBody, path, (value) => {
      const cmsIdOf = (id: unknown) => ids.toPayload(space, Number(id)) ?? invalid(path, `has no record ${String(id)}`);
      if (Array.isArray(value)) return value.map(cmsIdOf);
      return value === null || value === 0 ? null : cmsIdOf(value);
    });
  const status = statusOfBody(spec, body);
  if (status === undefined) return payloadBody;
  const field = siteStatusField(spec);
  if (field === undefined) delete payloadBody[CORE_STATUS];
  else setAt(payloadBody, field.split('.'), STATUSES_BY_FIELD.includes(status) ? status : null);
  payloadBody._status = payloadStatusOf(spec, status) ?? invalid(writtenStatusPath(spec), `has no status "${status}"`);
  return payloadBody;
}

/** The API's status in the body of a write. */
export function statusOfBody(spec: CollectionSpec, body: CmsRecord): string | undefined {
  const status = isPostCollection(spec) ? valueIn(body, writtenStatusPath(spec).split('.')) : undefined;
  return status === undefined ? undefined : String(status);
}

function invalid(path: string, reason: string): never {
  throw new CmsRejected('invalid', `The CMS ${reason}.`, { fields: [path] });
}

function referencesOf({ kind, paths }: CollectionSpec): { path: string; space: IdSpace }[] {
  const spaces: Partial<Record<string, IdSpace>> = { ...REFERENCES, ...(kind && { parent: kind }) };
  return [...paths].flatMap(([key, path]) => (spaces[key] ? [{ path, space: spaces[key] }] : []));
}

/** A relation is an id, a record, or `{relationTo, value}`; or a list of these. */
function readIds(value: unknown, toGateway: (cmsId: unknown) => number | undefined): number | number[] | null {
  if (Array.isArray(value)) return value.flatMap((item) => readIds(item, toGateway) ?? []);
  if (isObject(value)) return readIds('value' in value ? value.value : value.id, toGateway);
  return toGateway(value) ?? null;
}

function changeAt(record: CmsRecord, path: string, change: (value: unknown) => unknown): void {
  const value = valueIn(record, path.split('.'));
  if (value !== undefined) setAt(record, path.split('.'), change(value));
}
