// Owns what the sync requests of each collection, and the stamp by which a listed record compares with the replica's.

import { type CmsRecord, type CollectionSpec, MEDIA } from '../cms/port.ts';
import type { KindMapping, Mapping } from '../mapping/mapping.ts';
import type { Kind, KindOrImage } from '../model/records.ts';
import type { RecordStamp } from '../store/records.ts';

/** Terms before the records that refer to them; events last. */
const KIND_ORDER: readonly Kind[] = ['category', 'tag', 'venue', 'organizer', 'event'];

/** The collections of a mapping, in the order in which the sync reads them. */
export const collectionsOf = ({ kinds }: Mapping): KindMapping[] =>
  KIND_ORDER.flatMap((kind) => (kinds[kind] as KindMapping | undefined) ?? []);

/** The collection of a kind, or of the images; undefined if the mapping has none. */
export const specOf = ({ kinds }: Mapping, kind: KindOrImage): CollectionSpec | undefined =>
  kind === 'image' ? MEDIA : kinds[kind];

/** The kind of `venues` in the key `venues:3`. Images are always `media` in keys, to webhooks `imageCollection`. */
export const kindOfCollection = (mapping: Mapping, name: string): KindOrImage | undefined =>
  name === MEDIA.collection ? 'image' : collectionsOf(mapping).find(({ collection }) => collection === name)?.kind;

/** More rows or records for one record are rare: the dates of an event that a list repeats, or those in a series. */
const ROWS_PER_RECORD = 5;

/**
 * Records with all their fields per request, for a CMS that sends up to `pageSize`: fewer if each brings the
 * occurrences of its series, for which `recordParams` ask.
 */
export const recordsPerPage = ({ recordParams }: CollectionSpec, pageSize: number): number =>
  recordParams ? Math.ceil(pageSize / ROWS_PER_RECORD) : pageSize;

/** Ids per request: the rows of all of them fit on one page, also if the list has one for each date of an event. */
export const idsPerRequest = (spec: CollectionSpec, pageSize: number): number =>
  spec.dedupe ? Math.ceil(pageSize / ROWS_PER_RECORD) : recordsPerPage(spec, pageSize);

/** True for a published record. One without a status is a term, or of a list that asked for published records. */
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
