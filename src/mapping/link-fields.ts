// Link fields: an event refers to its venue or organizers by something other than the record's id, either a
// term whose slug is derived from the record's slug, or a number that the record has in its meta.

import type { CmsRecord } from '../cms/port.ts';
import type { LinkedKind } from '../model/records.ts';
import { readInteger } from './codecs/number.ts';
import { readText } from './codecs/text.ts';
import { MappingFieldError, parsePathOrThrow, valueAt } from './field-accessor.ts';
import type { LinkSpec } from './mapping-file.ts';

/**
 * Reading and writing such a field takes a link table, which the caller builds from the listed linked records
 * and terms.
 */
export interface LinkField {
  field: 'venues' | 'organizers';
  kind: LinkedKind;
  /**
   * Collection of the terms, to be listed with `id` and `slug`. Absent: the linked record itself has the
   * number.
   */
  terms?: string;
  buildTable(linked: readonly CmsRecord[], terms: readonly CmsRecord[]): LinkTable;
}

export interface LinkTable {
  /** Stored value of an event -> id of the linked record. */
  idOf: ReadonlyMap<number, number>;
  /** Id of the linked record -> stored value of an event. */
  storedIdOf: ReadonlyMap<number, number>;
  /** Stored values of events that the table lacks. These events must be re-read when the table gets them. */
  missing: Set<number>;
}

export type LinkTables = { readonly [F in LinkField['field']]?: LinkTable };

/**
 * Compiles the `via` of a field.
 * @throws MappingFieldError
 */
export function compileLinkField(kind: LinkedKind, via: LinkSpec): LinkField {
  const field = kind === 'venue' ? 'venues' : 'organizers';
  if (via.terms !== undefined && via.slug !== undefined) {
    const pattern = via.slug;
    return {
      field,
      kind,
      terms: via.terms,
      buildTable: (linked, terms) => {
        const termIds = new Map(terms.map((term) => [String(term.slug), Number(term.id)]));
        return createTable(linked, ({ slug }) =>
          typeof slug === 'string' && slug !== '' ? termIds.get(pattern.replace('{slug}', () => slug)) : undefined,
        );
      },
    };
  }
  if (via.key === undefined) throw new MappingFieldError('/via', 'needs "terms" and "slug", or "key"');
  const path = parsePathOrThrow(via.key, '/via/key');
  return {
    field,
    kind,
    buildTable: (linked) => createTable(linked, (cmsRecord) => readInteger(readText(valueAt(cmsRecord, path)))),
  };
}

function createTable(
  linked: readonly CmsRecord[],
  storedIdFor: (cmsRecord: CmsRecord) => number | undefined,
): LinkTable {
  const idOf = new Map<number, number>();
  const storedIdOf = new Map<number, number>();
  for (const cmsRecord of linked) {
    const storedId = storedIdFor(cmsRecord);
    const id = Number(cmsRecord.id);
    if (storedId === undefined || !Number.isSafeInteger(id)) continue;
    if (!idOf.has(storedId)) idOf.set(storedId, id);
    storedIdOf.set(id, storedId);
  }
  return { idOf, storedIdOf, missing: new Set() };
}

/**
 * Ids of the linked records. Leaves out stored values that the table lacks: they are not ids of linked
 * records. It adds them to `table.missing`: once a refreshed table has one of them, the sync reads the events again.
 */
export function linkedIds(storedIds: readonly number[], table: LinkTable | undefined): number[] {
  return storedIds.flatMap((storedId) => {
    const id = table?.idOf.get(storedId);
    if (id === undefined) table?.missing.add(storedId);
    return id ?? [];
  });
}

/** What an event stores for these linked ids. Returns `undefined` if the table lacks one of them. */
export function storedIds(ids: readonly number[], table: LinkTable | undefined): number[] | undefined {
  const stored = ids.flatMap((id) => table?.storedIdOf.get(id) ?? []);
  return stored.length === ids.length ? stored : undefined;
}
