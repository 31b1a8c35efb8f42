// A few records of each kind, read from a site through a mapping as the sync would, and the values that they hold.

import { type CmsRecord, type CollectionSpec, type ListRequest, plainCollection } from '../cms/port.ts';
import { settingsOf } from '../cms/wordpress/record-form.ts';
import { parsePath, valueAt } from '../mapping/field-accessor.ts';
import type { LinkTables } from '../mapping/link-fields.ts';
import type { KindMapping, Mapping } from '../mapping/mapping.ts';
import type { DatePartSpec, FieldSpec, LocationSpec } from '../mapping/mapping-file.ts';
import { ANY_STATUS, type CalendarRecord, type Kind, type Site } from '../model/records.ts';
import { PUBLIC_SCOPE } from '../sync/collections.ts';
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
    const listed = kindMapping && (await listRecords(connection, kindMapping, count));
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

async function listRecords(
  { cms, credentials }: SiteConnection,
  kindMapping: CollectionSpec,
  limit: number,
): Promise<CmsRecord[] | undefined> {
  const request: ListRequest = { ...listScope(kindMapping, credentials !== undefined), limit, detail: 'mapped' };
  const page = cms.list(kindMapping, request, { credentials });
  return (await orIfRefused(page, undefined))?.records;
}

/** With credentials every status but the trash: a new site may have drafts only. */
export function listScope(spec: CollectionSpec, withCredentials: boolean): Pick<ListRequest, 'view' | 'statuses'> {
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

const SHOWN_CHARACTERS = 40;

/** The paths that a field reads. */
export function pathsOf(field: string | FieldSpec | undefined): string[] {
  if (field === undefined) return [];
  if (typeof field === 'string') return [field];
  if (field.embedded) return Object.values(field.embedded);
  const location: string | LocationSpec = field.read ?? field;
  if (typeof location === 'string') return [location];
  if (location.parts) return location.parts.map(({ at }) => at);
  return location.at === undefined ? [] : [location.at];
}

/** The places from which the field is read, each with a format of its own; undefined if it is read from one. */
export function partsOf(field: string | FieldSpec): DatePartSpec[] | undefined {
  const location = typeof field === 'string' ? field : (field.read ?? field);
  return typeof location === 'string' ? undefined : location.parts;
}

export function valueAtPath(cmsRecord: CmsRecord, text: string): unknown {
  const path = parsePath(text);
  return path && valueAt(cmsRecord, path);
}

/** `venue[0].ID` -> `venue`: a list may be empty. */
export const listPath = (path: string): string => path.split(/\[\d+\]/, 1)[0] ?? path;

/** A value as an example in a message; of a path that the record lacks: `nothing`. */
export function formatSample(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS - 1)}…` : text;
}
