// Checks on a kind's mapping: whether it may be written, and whether a CMS record has the fields that it
// needs.

import type { CmsRecord } from '../cms/port.ts';
import { noSuchKind, readOnly } from '../interface/errors.ts';
import { type KindMapping, kindMappingOf, type Mapping } from '../mapping/mapping.ts';
import type { Kind } from '../model/records.ts';
import { incompleteError } from '../sync/complete-records.ts';
import type { Sync } from '../sync/sync.ts';

/**
 * Returns the CMS record if it has all fields that the mapping needs.
 * @param isWritten the record is the response to a write, which the CMS has carried out
 * @throws CmsUnavailable `incomplete`
 */
export function assertComplete(
  services: { mapping: Mapping; sync: Sync },
  kind: Kind,
  cmsRecord: CmsRecord,
  isWritten = false,
): CmsRecord {
  const missing = services.sync.missingFields(kind, cmsRecord);
  if (missing === undefined) return cmsRecord;
  const collection = services.mapping.kinds[kind]?.collection ?? kind;
  throw incompleteError(collection, [missing], Number(cmsRecord.id) || 0, isWritten);
}

/** The kind's mapping for a write. Throws 403 if the mapping does not have the kind or maps it read-only. */
export function writableMapping<K extends Kind>(services: { mapping: Mapping }, kind: K): KindMapping<K> {
  const mapping = kindMappingOf(services.mapping, kind);
  if (!mapping) throw noSuchKind(kind);
  if (mapping.readOnly) throw readOnly(kind);
  return mapping;
}
