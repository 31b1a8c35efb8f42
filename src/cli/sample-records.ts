// Reads a few records of each kind from a site through a mapping, as the sync would.

import type { CmsRecord, Query } from '../cms/port.ts';
import type { LinkTables } from '../mapping/link-fields.ts';
import type { KindMapping, Mapping } from '../mapping/mapping.ts';
import { normalizedCms } from '../mapping/normalized-cms.ts';
import type { CalendarRecord, EventRecord, Kind, Site } from '../model/records.ts';
import { orIfRefused, type SiteConnection } from './open-site.ts';

export interface SampledRecord {
  cmsRecord: CmsRecord;
  record: CalendarRecord;
}

/** A kind is missing if the site refuses its collection. */
export type SampledRecords = Partial<Record<Kind, SampledRecord[]>>;

const LIMIT = 100;

/** Reads the newest `eventCount` events and up to a hundred records of each other kind. Throws `CmsUnavailable`. */
export async function readSampleRecords(
  connection: SiteConnection,
  mapping: Mapping,
  site: Site,
  eventCount: number,
): Promise<SampledRecords> {
  const cmsRecords: Partial<Record<Kind, CmsRecord[]>> = {};
  const list = async (kind: Kind, count: number): Promise<void> => {
    const map = mapping.kinds[kind] as KindMapping<Kind> | undefined;
    const listed = map && (await listRecords(connection, mapping, map, { per_page: count }));
    if (listed) cmsRecords[kind] = listed;
  };
  for (const kind of ['category', 'tag', 'venue', 'organizer'] as const) await list(kind, LIMIT);
  const linkTables = await readLinkTables(connection, mapping, cmsRecords);
  await list('event', eventCount);
  const records: SampledRecords = {};
  for (const [kind, listed] of Object.entries(cmsRecords) as [Kind, CmsRecord[]][])
    records[kind] = listed.map((cmsRecord) => ({
      cmsRecord,
      record: mapping.kinds[kind]!.read(cmsRecord, site, linkTables),
    }));
  return records;
}

/** Reads up to a hundred of the events that were created first: on a site in use some of them are over. Throws `CmsUnavailable`. */
export async function readOldestEvents(
  connection: SiteConnection,
  mapping: Mapping,
  site: Site,
): Promise<EventRecord[]> {
  const map = mapping.kinds.event;
  const query = { per_page: LIMIT, orderby: 'date', order: 'asc' };
  const listed = await listRecords(connection, mapping, map, query);
  return (listed ?? []).map((cmsRecord) => map.read(cmsRecord, site));
}

async function listRecords(
  { cms, credentials }: SiteConnection,
  mapping: Mapping,
  map: Pick<KindMapping<Kind>, 'collection' | 'selectedFields' | keyof ScopedKind>,
  query: Query,
): Promise<CmsRecord[] | undefined> {
  const scoped = { ...listScope(map, credentials !== undefined), ...query, _fields: map.selectedFields };
  const page = normalizedCms(cms, mapping).list(map.collection, scoped, { credentials });
  return (await orIfRefused(page, undefined))?.records;
}

type ScopedKind = Pick<KindMapping<Kind>, 'storedAs' | 'listParams' | 'statuses' | 'context'>;

/** What the sync sends with a list request: the mapping's parameters, and with credentials every status. */
export function listScope({ listParams, storedAs, statuses, context }: ScopedKind, withCredentials: boolean): Query {
  if (!withCredentials) return { ...listParams };
  const status = ['publish,future,draft,pending,private', ...statuses].join(',');
  return {
    ...listParams,
    ...(storedAs === 'posts' ? { context: 'edit', status } : {}),
    ...(context === undefined ? {} : { context }),
  };
}

/** The tables for events that name venues and organizers otherwise than by id. `linked`: these records as the site sends them. */
export async function readLinkTables(
  { cms, credentials }: SiteConnection,
  mapping: Mapping,
  linked: Partial<Record<Kind, CmsRecord[]>>,
): Promise<LinkTables> {
  const tables: Record<string, unknown> = {};
  for (const { terms, kind, field, buildTable } of mapping.kinds.event.linkFields) {
    const query = { per_page: LIMIT, _fields: 'id,slug' };
    const page =
      terms === undefined ? undefined : await orIfRefused(cms.list(terms, query, { credentials }), undefined);
    tables[field] = buildTable(linked[kind] ?? [], page?.records ?? []);
  }
  return tables as LinkTables;
}
