// Owns the tables by which events refer to venues and organizers without their ids; built from the CMS's
// lists and kept in the replica.

import { type CmsRecord, plainCollection } from '../cms/port.ts';
import type { LinkField, LinkTable } from '../mapping/link-fields.ts';
import { isAbsent, readPage } from './cms-reader.ts';
import { PUBLIC_SCOPE } from './collections.ts';
import { collectionOf, linkTablesState, restartResync, resyncState, type SyncContext } from './context.ts';
import { type MarkedPage, type PagePosition, paginate } from './paginate.ts';

/**
 * Rebuilds the tables whose lists changed. If events in the replica may now read differently, every record must be
 * read again. Throws what the CMS throws; the tables that were built before stay.
 */
export function refreshLinkTables(context: SyncContext): Promise<void> {
  const { links } = context.memory;
  const refreshed = links.refreshed.then(() => refreshAll(context));
  links.refreshed = refreshed.catch(() => {});
  return refreshed;
}

async function refreshAll(context: SyncContext): Promise<void> {
  for (const field of context.mapping.kinds.event.linkFields) await refreshTable(context, field);
}

async function refreshTable(context: SyncContext, field: LinkField): Promise<void> {
  const { memory, commit } = context;
  const linked = collectionOf(context, field.kind);
  if (!linked || isAbsent(context, linked) || memory.refused.has(linked.name)) return;
  const { terms: base } = field;
  const terms =
    base === undefined
      ? []
      : await listAll(context, (position) => {
          const terms = { spec: plainCollection(base, 'terms'), scope: PUBLIC_SCOPE };
          return readPage(context, terms, { order: 'id', detail: 'slug', ...position });
        });
  const fingerprint = JSON.stringify([memory.kinds[field.kind].revision, terms]);
  if (memory.links.builtFrom.get(field) === fingerprint) return;
  const detail = base === undefined ? 'mapped' : 'slug';
  const records = await listAll(context, (position) => readPage(context, linked, { order: 'id', detail, ...position }));
  const table = field.buildTable(records, terms);
  const before = memory.links.tables[field.field];
  memory.links.tables = { ...memory.links.tables, [field.field]: table };
  if (changesEvents(before, table)) restartResync(memory);
  await commit(() => ({ state: { ...linkTablesState(memory.links.tables), ...resyncState(memory) } }));
  memory.links.builtFrom.set(field, fingerprint);
}

async function listAll(
  { pageSize }: SyncContext,
  readPosition: (position: PagePosition) => Promise<MarkedPage>,
): Promise<CmsRecord[]> {
  const records: CmsRecord[] = [];
  for await (const page of paginate(readPosition, { by: 'page', concurrency: 1, pageSize }))
    records.push(...page.records);
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
