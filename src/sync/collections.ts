// Owns what the sync requests of each of the CMS's collections, and the stamp by which a listed record
// compares with the replica's.

import { type CmsRecord, type CmsView, type CollectionSpec, type Credentials, MEDIA } from '../cms/port.ts';
import type { KindMapping, Mapping } from '../mapping/mapping.ts';
import type { OccurrenceReader } from '../mapping/occurrences.ts';
import type { EmbeddedReader, LinkTables } from '../mapping/references.ts';
import type { CalendarRecord, Kind, Site } from '../model/records.ts';
import type { RecordStamp } from '../store/records.ts';

/** The collection of one record kind. */
export interface Collection {
  kind: Kind;
  /** The collection's name in the CMS. */
  name: string;
  /** Posts have a status and a modification time; terms have neither. */
  isStoredAsPosts: boolean;
  /** What the mapping says about it, for the CMS. */
  spec: CollectionSpec;
  /** `public`, or `reader` for an account that stands for every visitor. */
  view: CmsView;
  /** Readers of venues and organizers that are text inside an event. */
  embedded: readonly EmbeddedReader[];
  /** Reads the occurrences of a series; undefined if the mapping has none. */
  occurrences: OccurrenceReader | undefined;
  read(record: CmsRecord, site: Site, links?: LinkTables): CalendarRecord;
}

/** What a request reads. */
export type CollectionPart = Pick<Collection, 'spec' | 'view'> & Partial<Pick<Collection, 'occurrences'>>;

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
      embedded: Object.values(kindMapping.embedded),
      occurrences: kindMapping.occurrences,
      read: kindMapping.read,
    };
  });
}

/**
 * Records with all their fields per request, for a CMS that sends up to `pageSize`: fewer if each brings the
 * occurrences of a series.
 */
export const recordsPerPage = ({ occurrences }: CollectionPart, pageSize: number): number =>
  occurrences ? Math.ceil(pageSize / 5) : pageSize;

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
