// How an event refers to a venue or an organizer otherwise than by its id. First, as text that the event embeds. From
// `LinkField` on (`via`), by the id of a term whose slug contains the venue's, or by a number in the venue's meta.

import { hash } from 'node:crypto';
import type { CmsRecord } from '../cms/port.ts';
import { emptyRecord, FIELDS } from '../interface/fields.ts';
import { SIZES } from '../interface/value-lengths.ts';
import { FIRST_EMBEDDED_ID, type LinkedKind, type LinkedRecord } from '../model/records.ts';
import { cutHtml, slugOf } from '../text/text.ts';
import type { FieldAccessor } from './field-accessor.ts';
import type { LinkSpec } from './mapping-file.ts';
import {
  MappingFieldError,
  type Path,
  parsePathOrThrow,
  readAt,
  readInteger,
  selectorOf,
  textAt,
  UnrepresentableValue,
} from './paths.ts';

/** Of each text: twice what a client may write into a line. */
const MAX_CHARACTERS = 2 * SIZES.line.characters;

/** Reads the embedded record of an event. Returns `undefined` if the event names none. */
export type EmbeddedReader = (cmsRecord: CmsRecord) => LinkedRecord | undefined;

/**
 * Compiles `"embedded": { ... }`, which gives the path of each field of the embedded record.
 * @throws MappingFieldError
 */
export function compileEmbedded(
  kind: LinkedKind,
  pathTexts: Record<string, string>,
): { accessor: FieldAccessor; embedded: EmbeddedReader } {
  if (pathTexts[kind] === undefined) throw new MappingFieldError('/embedded', `lacks "${kind}": the path of its name`);
  const fields = Object.entries(pathTexts).map(([name, text]) => {
    const field = FIELDS[kind][name];
    if (!field || (field.type !== 'text' && field.type !== 'html'))
      throw new MappingFieldError(`/embedded/${name}`, `is no text field of a ${kind}`);
    return { field, path: parsePathOrThrow(text, `/embedded/${name}`) };
  });
  const embedded: EmbeddedReader = (cmsRecord) => {
    const textOf = (path: Path) => cutHtml(textAt(cmsRecord, path).trim(), MAX_CHARACTERS);
    const values = fields.map(({ field, path }) => ({ field, text: textOf(path) }));
    // Events with the same texts have the same record.
    const digest = hash('sha256', JSON.stringify([kind, values.map(({ text }) => text)]), 'buffer');
    const record = emptyRecord(kind, FIRST_EMBEDDED_ID + digest.readUIntBE(0, 6));
    for (const { field, text } of values) record[field.property] = text;
    if (!record.title) return undefined;
    record.slug = `${slugOf(String(record.title)) || kind}-${digest.toString('hex', 0, 4)}`;
    // Not by `searchTextOf` (read-record.ts): that file imports this one.
    const searched = values.filter(({ field }) => field.searched || /^(title|description)$/.test(field.property));
    record.searchText = searched.map(({ text }) => text).join('\n');
    // The field table has a row for each property of the type.
    return record as unknown as LinkedRecord;
  };
  const accessor: FieldAccessor = {
    read: (cmsRecord) => {
      const record = embedded(cmsRecord);
      return record ? [record.id] : [];
    },
    selectedPaths: fields.map(({ path }) => selectorOf(path)),
    storedPaths: [],
  };
  return { accessor, embedded };
}

/** A field with `via`. To read or write it takes a link table, which the caller builds of listed records and terms. */
export interface LinkField {
  field: 'venues' | 'organizers';
  kind: LinkedKind;
  /** Collection of the terms, to be listed with `id` and `slug`. Absent: the linked record itself has the number. */
  terms?: string;
  buildTable(linked: readonly CmsRecord[], terms: readonly CmsRecord[]): LinkTable;
}

/** Events that take place at the venue 12 hold the term 7 (or the number 7 that the venue has in its meta). */
export interface LinkTable {
  /** 7 -> 12: what events store -> the id of the venue. */
  idOf: ReadonlyMap<number, number>;
  /** 12 -> 7: the id of the venue -> what events store. */
  storedIdOf: ReadonlyMap<number, number>;
  /** Stored ids that `idsNotingMissing` did not find. The sync reads their events again when a new table has one. */
  notFound: Set<number>;
}

export type LinkTables = { readonly [F in LinkField['field']]?: LinkTable };

/** Compiles the `via` of a field: `terms` and `slug`, or `key`. @throws MappingFieldError */
export function compileLinkField(kind: LinkedKind, via: LinkSpec): LinkField {
  const field = kind === 'venue' ? 'venues' : 'organizers';
  const { terms, slug: pattern, key } = via;
  if (terms !== undefined && pattern !== undefined) {
    const buildTable: LinkField['buildTable'] = (linked, listedTerms) => {
      const termIds = new Map(listedTerms.map((term) => [term.slug, Number(term.id)]));
      // A function: `$&` in a slug would stand for something else.
      return createTable(linked, ({ slug }) => termIds.get(pattern.replace('{slug}', () => String(slug || ''))));
    };
    return { field, kind, terms, buildTable };
  }
  const path = parsePathOrThrow(key!, '/via/key');
  const numberOf = (cmsRecord: CmsRecord) => readInteger(readAt(cmsRecord, path));
  return { field, kind, buildTable: (linked) => createTable(linked, numberOf) };
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
    // Of two venues with one number, events show the first.
    if (!idOf.has(storedId)) idOf.set(storedId, id);
    storedIdOf.set(id, storedId);
  }
  return { idOf, storedIdOf, notFound: new Set() };
}

/** `[7, 9]` -> `[12]` for a table that has no 9. Adds 9 to `table.notFound`. */
export function idsNotingMissing(stored: readonly number[], table: LinkTable | undefined): number[] {
  return stored.flatMap((storedId) => {
    const id = table?.idOf.get(storedId);
    if (id === undefined) table?.notFound.add(storedId);
    return id ?? [];
  });
}

/** What an event stores for these linked ids. @throws UnrepresentableValue if the table lacks one of them */
export function storedIds(ids: readonly number[], { field, kind }: LinkField, tables: LinkTables = {}): number[] {
  const stored = ids.flatMap((id) => tables[field]?.storedIdOf.get(id) ?? []);
  if (stored.length === ids.length) return stored;
  throw new UnrepresentableValue(`the CMS cannot link this ${kind} (is it published?)`);
}
