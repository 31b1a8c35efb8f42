// A compiled mapping: for each kind, the CMS collection of its records and the functions that read and write them.

import { createHash } from 'node:crypto';
import type { CmsRecord, CollectionSpec } from '../cms/port.ts';
import type { FieldsOf, Kind, RecordOf, Site } from '../model/records.ts';
import type { CustomFields } from './custom-fields.ts';
import type { CmsName, MappingFile } from './mapping-file.ts';
import type { OccurrenceReader } from './occurrences.ts';
import type { EmbeddedReader, LinkField, LinkTables } from './references.ts';
import type { WriteContext } from './write-record.ts';

/** Is also the `CollectionSpec` that the functions of `Cms` take (`spec`). */
export interface KindMapping<K extends Kind = Kind> extends CollectionSpec {
  kind: K;
  readOnly: boolean;
  writable: ReadonlySet<keyof FieldsOf[K]>;
  customFields: CustomFields;
  /** By the property of the record: `start`, `customFields.seats`. For messages and checks. */
  writtenPathsByProperty: ReadonlyMap<string, readonly string[]>;
  /** Fields whose text the CMS stores as a number. */
  storedAsNumber: ReadonlySet<string>;
  /** Events only: readers of embedded records, which the caller stores. `read` puts only their ids into the event. */
  embedded: { venue?: EmbeddedReader; organizer?: EmbeddedReader };
  /** Events only: link fields, whose tables `read` and `write` need. */
  linkFields: LinkField[];
  /** Events only, if the mapping has them: converts a series to its occurrences. Never throws. */
  occurrences?: OccurrenceReader;
  /** Converts a CMS record. Never throws: a field that cannot be read gets its empty value. */
  read(cmsRecord: CmsRecord, site: Site, linkTables?: LinkTables): RecordOf[K];
  /**
   * Converts changed fields to the body of a CMS request.
   * @throws ApiError if the CMS's stored form cannot express a value
   */
  write(fields: Partial<FieldsOf[K]>, context: WriteContext): CmsRecord;
  /** True if writing these fields needs the CMS record before the write. */
  needsCurrent(fields: Partial<FieldsOf[K]>): boolean;
}

/** A kind that the CMS lacks is absent: its lists are empty, and it cannot be written. */
export type Kinds = { [K in Kind]?: KindMapping<K> } & { event: KindMapping<'event'> };

export interface Mapping {
  name: string;
  cms: CmsName;
  /** The name of the site's images in webhooks. */
  imageCollection: string;
  file: MappingFile;
  kinds: Kinds;
}

/** A hash of the mapping. A replica that was built with another mapping must not be reused. */
export function mappingFingerprint({ file }: Mapping): string {
  const { description: _description, preset: _preset, ...mapping } = file;
  return createHash('sha256').update(JSON.stringify(mapping)).digest('hex').slice(0, 16);
}
