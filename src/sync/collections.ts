// Owns what the sync requests of each of the CMS's collections, and the stamp by which a listed record
// compares with the replica's.

import { type CmsRecord, type CmsView, type CollectionSpec, type Credentials, MEDIA } from '../cms/port.ts';
import type { KindMapping, Mapping } from '../mapping/mapping.ts';
import type { Kind } from '../model/records.ts';
import type { RecordStamp } from '../store/records.ts';

/** What the sync reads of one record kind. */
export interface Collection {
  kind: Kind;
  /** The collection's name in the CMS. */
  name: string;
  /** Its CMS records then have a status and a modification time. Stored as terms they have neither, even venues. */
  isStoredAsPosts: boolean;
  /** What the mapping says about it. */
  spec: KindMapping<Kind>;
  /** `public`, or `reader` for an account that stands for every visitor. */
  view: CmsView;
}

/** What a request reads. */
export interface CollectionPart {
  spec: CollectionSpec & Partial<Pick<KindMapping<Kind>, 'occurrences'>>;
  view: CmsView;
}

export const MEDIA_PART: CollectionPart = { spec: MEDIA, view: 'public' };

/** Terms before the records that refer to them; events last. */
const KIND_ORDER: readonly Kind[] = ['category', 'tag', 'venue', 'organizer', 'event'];

/** The collections of a mapping, of which `visitor` reads what is published. */
export function collectionsOf(mapping: Mapping, visitor?: Credentials): Collection[] {
  return KIND_ORDER.flatMap((kind) => {
    const kindMapping = mapping.kinds[kind] as KindMapping<Kind> | undefined;
    if (!kindMapping) return [];
    const isStoredAsPosts = kindMapping.storedAs === 'posts';
    return {
      kind,
      name: kindMapping.collection,
      isStoredAsPosts,
      spec: kindMapping,
      view: visitor === undefined ? 'public' : 'reader',
    };
  });
}

/**
 * Records with all their fields per request, for a CMS that sends up to `pageSize`: fewer if each brings the
 * occurrences of a series.
 */
export const recordsPerPage = ({ spec }: CollectionPart, pageSize: number): number =>
  spec.occurrences ? Math.ceil(pageSize / 5) : pageSize;

/** Whether the CMS sent it as published. Terms have no status, and a list without it asked for published records. */
export const isPublished = ({ status }: CmsRecord): boolean => status === undefined || status === 'publish';

/** The id of a CMS record; 0 if it has none. */
export function idOf(record: CmsRecord): number {
  const id = Number(record.id);
  return Number.isSafeInteger(id) && id > 0 ? id : 0;
}

/** Id and modification time of a CMS record; terms have an id only. */
export function stampOf(record: CmsRecord): RecordStamp {
  const { modifiedUtc } = record;
  return { id: idOf(record), modifiedUtc: typeof modifiedUtc === 'string' ? modifiedUtc : '' };
}
