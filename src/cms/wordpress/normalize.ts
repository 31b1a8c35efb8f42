// Makes WordPress's records fit the gateway's model: terms that serve as venues or organizers get ids that no
// post has, statuses that a plugin added read as published, and modification times have the gateway's form.

import { TERM_ID_OFFSET } from '../../model/records.ts';
import { CMS_STATUS, type CmsRecord, type CollectionSpec } from '../port.ts';

const CORE_STATUSES = new Set(['publish', 'future', 'draft', 'pending', 'private', 'trash', 'auto-draft', 'inherit']);

/**
 * WordPress counts posts and terms separately, but the API has one id space for events, venues and organizers.
 */
const idOffset = ({ kind, storedAs }: CollectionSpec): number =>
  storedAs === 'terms' && (kind === 'venue' || kind === 'organizer') ? TERM_ID_OFFSET : 0;

/** The gateway's id of the record whose id in WordPress is `cmsId`. */
export const gatewayId = (spec: CollectionSpec, cmsId: number | string): number =>
  typeof cmsId === 'number' ? cmsId + idOffset(spec) : 0;

/** The id in WordPress of the record whose id in the gateway is `id`. */
export const nativeId = (spec: CollectionSpec, id: number): number => id - idOffset(spec);

/** Changes the record itself, which nobody else has. */
export function normalize(spec: CollectionSpec, record: CmsRecord): CmsRecord {
  const { id, status, modified_gmt: modified } = record;
  if (typeof id === 'number') record.id = gatewayId(spec, id);
  if (typeof modified === 'string') record.modifiedUtc = modified.slice(0, 19).replace('T', ' ');
  // WordPress hides records with a plugin's own status from anonymous lists.
  if (typeof status === 'string' && spec.statuses.includes(status) && !CORE_STATUSES.has(status)) {
    record.status = 'publish';
    record[CMS_STATUS] = status;
  }
  return record;
}
