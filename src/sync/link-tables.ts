// Owns the tables by which events refer to venues and organizers without their ids; built from the CMS's
// lists and kept in the replica.

import { type CmsRecord, type Detail, plainCollection } from '../cms/port.ts';
import type { LinkField, LinkTable } from '../mapping/link-fields.ts';
import { readAll } from './cms-reader.ts';
import type { CollectionPart } from './collections.ts';
import { collectionOf, linkTablesState, restartScan, type SyncContext } from './context.ts';

/**
 * Rebuilds the tables whose lists changed. If events in the replica may now read differently, every record must be
 * read again. Throws what the CMS throws; the tables that were built before stay.
 */
export function refreshLinkTables(context: SyncContext): Promise<void> {
  const { memory } = context;
  const refreshed = memory.linksRefreshed.then(() => refreshAll(context));
  memory.linksRefreshed = refreshed.catch(() => {});
  return refreshed;
}

async function refreshAll(context: SyncContext): Promise<void> {
  for (const field of context.mapping.kinds.event.linkFields) await refreshTable(context, field);
}

async function refreshTable(context: SyncContext, field: LinkField): Promise<void> {
  const { memory, replica } = context;
  const linked = collectionOf(context, field.kind);
  if (!linked || memory.unreadable.has(linked.name)) return;
  const { terms: base } = field;
  const terms =
    base === undefined ? [] : await listAll(context, { spec: plainCollection(base, 'terms'), view: 'public' }, 'slug');
  const fingerprint = JSON.stringify([memory.kinds[field.kind].revision, terms]);
  if (memory.linksBuiltFrom.get(field) === fingerprint) return;
  const detail = base === undefined ? 'mapped' : 'slug';
  const records = await listAll(context, linked, detail);
  const table = field.buildTable(records, terms);
  const before = memory.linkTables[field.field];
  memory.linkTables = { ...memory.linkTables, [field.field]: table };
  if (changesEvents(before, table)) restartScan(memory);
  replica.apply({ state: linkTablesState(memory.linkTables) });
  memory.linksBuiltFrom.set(field, fingerprint);
}

async function listAll(context: SyncContext, part: CollectionPart, detail: Detail): Promise<CmsRecord[]> {
  const records: CmsRecord[] = [];
  for await (const page of readAll(context, part, { detail })) records.push(...page.records);
  return records;
}

/**
 * True if a stored value now means another record, or means one for the first time. Values that still mean
 * none stay missing.
 */
function changesEvents(before: LinkTable | undefined, after: LinkTable): boolean {
  if (!before) return false;
  if ([...before.idOf].some(([stored, id]) => after.idOf.get(stored) !== id)) return true;
  for (const stored of before.missing) if (!after.idOf.has(stored)) after.missing.add(stored);
  return [...before.missing].some((stored) => after.idOf.has(stored));
}
