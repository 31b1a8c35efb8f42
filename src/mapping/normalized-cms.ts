// Wraps the CMS so that its records match the gateway's model: terms that serve as venues or organizers get
// ids that no post has, and statuses that a plugin added read as published.

import type { Cms, CmsRecord, Query } from '../cms/port.ts';
import type { Mapping } from './mapping.ts';

/**
 * Added to the id of a term that serves as a venue or organizer. WordPress counts posts and terms separately,
 * but the API has one id space for events, venues and organizers. The offset is above every post id and below
 * the ids of embedded records.
 */
export const TERM_ID_OFFSET = 1_000_000_000_000;

/**
 * Key that keeps a plugin's own status in a record that now reads as published. WordPress hides such records
 * from anonymous lists.
 */
export const PLUGIN_STATUS = 'calendar_gateway_status';

const CORE_STATUSES = new Set(['publish', 'future', 'draft', 'pending', 'private', 'trash', 'auto-draft', 'inherit']);

/** How the records of one collection must change. */
interface Normalization {
  idOffset: number;
  /** Statuses of a plugin, such as `expired`, that the mapping declares public. */
  publicStatuses: ReadonlySet<string>;
}

function normalizations({ kinds }: Mapping): ReadonlyMap<string, Normalization> {
  const byCollection = new Map<string, Normalization>();
  for (const { kind, storedAs, statuses, collection } of Object.values(kinds)) {
    const isLinkedTerm = (kind === 'venue' || kind === 'organizer') && storedAs === 'terms';
    const idOffset = isLinkedTerm ? TERM_ID_OFFSET : 0;
    const publicStatuses = new Set(statuses.filter((status) => !CORE_STATUSES.has(status)));
    if (idOffset > 0 || publicStatuses.size > 0) byCollection.set(collection, { idOffset, publicStatuses });
  }
  return byCollection;
}

function normalize(cmsRecord: CmsRecord, { idOffset, publicStatuses }: Normalization): CmsRecord {
  const normalized = { ...cmsRecord };
  if (idOffset > 0 && typeof cmsRecord.id === 'number') normalized.id = cmsRecord.id + idOffset;
  if (publicStatuses.has(String(cmsRecord.status))) {
    normalized.status = 'publish';
    normalized[PLUGIN_STATUS] = cmsRecord.status;
  }
  return normalized;
}

function normalizeQuery(query: Query, { idOffset }: Normalization): Query {
  if (idOffset === 0 || query.include === undefined) return query;
  const ids = String(query.include).split(',');
  return { ...query, include: ids.map((id) => Number(id) - idOffset).join(',') };
}

/** The gateway's id of a record whose id in the CMS is `cmsId`. A webhook names records by the CMS's id. */
export function gatewayId(mapping: Mapping, collection: string, cmsId: number): number {
  return cmsId + (normalizations(mapping).get(collection)?.idOffset ?? 0);
}

/** The same CMS with normalized records. Returns `cms` itself if no collection needs normalization. */
export function normalizedCms(cms: Cms, mapping: Mapping): Cms {
  const byCollection = normalizations(mapping);
  if (byCollection.size === 0) return cms;
  const cmsId = (collection: string, id: number): number => id - (byCollection.get(collection)?.idOffset ?? 0);
  const normalized = (collection: string, cmsRecord: CmsRecord): CmsRecord => {
    const normalization = byCollection.get(collection);
    return normalization ? normalize(cmsRecord, normalization) : cmsRecord;
  };
  return {
    ...cms,
    async list(collection, query, options) {
      const normalization = byCollection.get(collection);
      if (!normalization) return cms.list(collection, query, options);
      const page = await cms.list(collection, normalizeQuery(query, normalization), options);
      return { ...page, records: page.records.map((cmsRecord) => normalize(cmsRecord, normalization)) };
    },
    read: async (collection, id, query, options) =>
      normalized(collection, await cms.read(collection, cmsId(collection, id), query, options)),
    create: async (collection, body, options) => normalized(collection, await cms.create(collection, body, options)),
    update: async (collection, id, body, options) =>
      normalized(collection, await cms.update(collection, cmsId(collection, id), body, options)),
    remove: async (collection, id, how, options) =>
      normalized(collection, await cms.remove(collection, cmsId(collection, id), how, options)),
  };
}
