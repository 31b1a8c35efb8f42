// Owns what the sync requests of each of the CMS's collections, and the stamp by which a listed record
// compares with the replica's.

import type { CmsRecord, Credentials, Query } from '../cms/port.ts';
import type { EmbeddedReader } from '../mapping/embedded.ts';
import type { LinkTables } from '../mapping/link-fields.ts';
import type { KindMapping, Mapping } from '../mapping/mapping.ts';
import { type CalendarRecord, type Kind, type Site, WITHHELD } from '../model/records.ts';
import type { RecordStamp } from '../store/record-queries.ts';

/** The collection of one record kind. */
export interface Collection {
  kind: Kind;
  /** The collection's name in the CMS. */
  base: string;
  /** Posts have a status and a modification time; terms have neither. */
  isPosts: boolean;
  /** The list repeats records and its totals are unreliable. */
  dedupe: boolean;
  /** Parameters of every request of the sync: those of the mapping, the context and the statuses. */
  scope: Query;
  /** The mapping's parameters and context, for requests with a caller's credentials. */
  params: Query;
  /** The mapping's parameters, for anonymous requests. */
  publicParams: Query;
  /** The mapping reads fields that the CMS shows to editors only. */
  editContext: boolean;
  /**
   * Statuses that the replica holds. The mapping's normalization turns a plugin's own public statuses into
   * `publish`.
   */
  statuses: readonly string[];
  /** Statuses that only staff may see. */
  hiddenStatuses: readonly string[];
  /** `_fields` of a complete record. */
  fields: string;
  /** Paths of `fields` without which a record cannot be read. */
  requiredPaths: readonly string[];
  /** Fields that hold ids of terms. */
  termFields: readonly string[];
  /** Readers of venues and organizers that are text inside an event. */
  embedded: readonly EmbeddedReader[];
  read(record: CmsRecord, site: Site, links?: LinkTables): CalendarRecord;
}

/** Terms before the records that refer to them; events last. */
const KIND_ORDER: readonly Kind[] = ['category', 'tag', 'venue', 'organizer', 'event'];

const HIDDEN_STATUSES = ['draft', 'pending', 'private', 'future', 'trash'];

export const STAMP_FIELDS = 'id,modified_gmt,status';

/** Records per request: WordPress's maximum. */
export const PAGE_SIZE = 100;

/**
 * The collections of a mapping. With a service account the replica holds records of every status, without one
 * published records only.
 */
export function collectionsOf(mapping: Mapping, service: Credentials): Collection[] {
  const termFields = Object.values(mapping.kinds).flatMap(({ storedAs, collection }) =>
    storedAs === 'terms' ? (collection.split('/').at(-1) ?? []) : [],
  );
  return KIND_ORDER.flatMap((kind) => {
    const kindMapping = mapping.kinds[kind] as KindMapping<Kind> | undefined;
    if (!kindMapping) return [];
    const isPosts = kindMapping.storedAs === 'posts';
    const hiddenStatuses = isPosts ? [...HIDDEN_STATUSES, WITHHELD] : [];
    const { listParams, context } = kindMapping;
    const params: Query = { ...listParams, ...(context && { context }) };
    return {
      kind,
      base: kindMapping.collection,
      isPosts,
      dedupe: kindMapping.dedupe,
      scope: service === undefined ? { ...listParams } : serviceScope(kindMapping),
      params,
      publicParams: { ...listParams },
      editContext: context === 'edit',
      statuses: service === undefined ? ['publish'] : ['publish', ...hiddenStatuses],
      hiddenStatuses,
      fields: kindMapping.selectedFields,
      requiredPaths: kindMapping.requiredPaths,
      termFields,
      embedded: Object.values(kindMapping.embedded),
      read: (record: CmsRecord, site: Site, links?: LinkTables) => kindMapping.read(record, site, links),
    };
  });
}

/**
 * WordPress answers wrong credentials as it answers no credentials, unless the context is `edit`: then it
 * refuses. Terms are public.
 */
function serviceScope({ listParams, storedAs, statuses, context }: KindMapping<Kind>): Query {
  const scope: Query = { ...listParams };
  if (storedAs === 'posts') {
    scope.context = 'edit';
    scope.status = [...new Set(['publish', ...HIDDEN_STATUSES, ...statuses])].join(',');
  }
  if (context) scope.context = context;
  return scope;
}

/** The id of a CMS record; 0 if it has none. */
export function idOf(record: CmsRecord): number {
  const id = Number(record.id);
  return Number.isSafeInteger(id) && id > 0 ? id : 0;
}

/** Id, modification time (`''` for terms) and status of a CMS record. */
export function stampOf(record: CmsRecord): RecordStamp {
  const { modified_gmt: modified, status } = record;
  return {
    id: idOf(record),
    modifiedUtc: typeof modified === 'string' ? modified.slice(0, 19).replace('T', ' ') : '',
    status: typeof status === 'string' ? status : '',
  };
}
