// Reads a few records of each kind from a site through a mapping, as the sync would.

import { type CmsRecord, type CollectionSpec, type ListRequest, plainCollection } from '../cms/port.ts';
import { settingsOf } from '../cms/wordpress/record-form.ts';
import type { LinkTables } from '../mapping/link-fields.ts';
import type { KindMapping, Mapping } from '../mapping/mapping.ts';
import { ANY_STATUS, type CalendarRecord, type EventRecord, type Kind, type Site } from '../model/records.ts';
import { PUBLIC_SCOPE, type Scope } from '../sync/collections.ts';
import { orIfRefused, type SiteConnection } from './open-site.ts';

export interface SampledRecord {
  cmsRecord: CmsRecord;
  record: CalendarRecord;
}

/** A kind is missing if the site refuses its collection. */
export type SampledRecords = Partial<Record<Kind, SampledRecord[]>>;

/** How many of the newest records of a collection tell what its fields hold. */
export const SAMPLE_SIZE = 20;

const LIMIT = 100;

/** Reads the newest events (`SAMPLE_SIZE`) and up to a hundred records of each other kind. Throws `CmsUnavailable`. */
export async function readSampleRecords(
  connection: SiteConnection,
  mapping: Mapping,
  site: Site,
): Promise<SampledRecords> {
  const cmsRecords: Partial<Record<Kind, CmsRecord[]>> = {};
  const list = async (kind: Kind, count: number): Promise<void> => {
    const kindMapping = mapping.kinds[kind] as KindMapping<Kind> | undefined;
    const listed = kindMapping && (await listRecords(connection, kindMapping, { limit: count }));
    if (listed) cmsRecords[kind] = listed;
  };
  for (const kind of ['category', 'tag', 'venue', 'organizer'] as const) await list(kind, LIMIT);
  const linkTables = await readLinkTables(connection, mapping, cmsRecords);
  await list('event', SAMPLE_SIZE);
  const records: SampledRecords = {};
  for (const [kind, listed] of Object.entries(cmsRecords) as [Kind, CmsRecord[]][])
    records[kind] = listed.map((cmsRecord) => ({
      cmsRecord,
      record: mapping.kinds[kind]!.read(cmsRecord, site, linkTables),
    }));
  return records;
}

/**
 * Reads up to a hundred of the events that were created first: on a site in use some of them are over. Throws
 * `CmsUnavailable`.
 */
export async function readOldestEvents(
  connection: SiteConnection,
  mapping: Mapping,
  site: Site,
): Promise<EventRecord[]> {
  const kindMapping = mapping.kinds.event;
  const listed = await listRecords(connection, kindMapping, { limit: LIMIT, order: 'date' });
  return (listed ?? []).map((cmsRecord) => kindMapping.read(cmsRecord, site));
}

async function listRecords(
  { cms, credentials }: SiteConnection,
  kindMapping: CollectionSpec,
  part: Pick<ListRequest, 'limit' | 'order'>,
): Promise<CmsRecord[] | undefined> {
  const request: ListRequest = { ...listScope(kindMapping, credentials !== undefined), ...part, detail: 'mapped' };
  const page = cms.list(kindMapping, request, { credentials });
  return (await orIfRefused(page, undefined))?.records;
}

/** Like the scope of the sync, without the trash: with credentials every status. */
export function listScope(spec: CollectionSpec, withCredentials: boolean): Scope {
  if (!withCredentials) return PUBLIC_SCOPE;
  const { statuses: ofPlugins = [] } = settingsOf(spec);
  return { view: 'editor', statuses: [...ANY_STATUS, ...ofPlugins] };
}

/**
 * The tables for events that name venues and organizers otherwise than by id. `linked`: these records as the
 * site sends them.
 */
export async function readLinkTables(
  { cms, credentials }: SiteConnection,
  mapping: Mapping,
  linked: Partial<Record<Kind, CmsRecord[]>>,
): Promise<LinkTables> {
  const tables: Record<string, unknown> = {};
  for (const { terms, kind, field, buildTable } of mapping.kinds.event.linkFields) {
    const request: ListRequest = { view: 'public', limit: LIMIT, detail: 'slug' };
    const list = async () => terms && cms.list(plainCollection(terms, 'terms'), request, { credentials });
    const page = (await orIfRefused(list(), undefined)) || undefined;
    tables[field] = buildTable(linked[kind] ?? [], page?.records ?? []);
  }
  return tables as LinkTables;
}
