// A site for the commands: the CMS adapter, single REST calls for what the adapter does not offer, a few records of
// each kind, read through a mapping as the sync would, and the values that they hold.

import { type CmsClient, type CmsClientOptions, createCmsClient, type RestCall } from '../cms/client.ts';
import { IdMap } from '../cms/id-map.ts';
import { apiPathOf, createPayload } from '../cms/payload/payload.ts';
import { createRestCall as createPayloadCall } from '../cms/payload/rest-calls.ts';
import { type Cms, type CmsRecord, type Credentials, type ListRequest, plainCollection } from '../cms/port.ts';
import { settingsOf } from '../cms/wordpress/record-form.ts';
import { createRestCall } from '../cms/wordpress/rest-api.ts';
import { createWordPress } from '../cms/wordpress/wordpress.ts';
import { CmsRejected, ifRejected } from '../errors.ts';
import type { KindMapping, Mapping } from '../mapping/mapping.ts';
import { type CmsName, type FieldSpec, fieldSpecOf, type LocationSpec } from '../mapping/mapping-file.ts';
import { parsePath, readAt } from '../mapping/paths.ts';
import type { LinkTables } from '../mapping/references.ts';
import { ANY_STATUS, type CalendarRecord, type Kind, type Site } from '../model/records.ts';
import { trimCharactersEnd } from '../text/text.ts';

export type SiteConnection = ReturnType<typeof openSite>;

type CallSettings = Partial<Pick<CmsClientOptions, 'limits' | 'userAgent'>>;

/** `init` looks at a site that has no mapping yet. */
type SiteMapping = Pick<Mapping, 'cms'> & Partial<Mapping>;

const ADAPTERS: Readonly<Record<CmsName, (options: CmsClientOptions, mapping: SiteMapping) => Cms>> = {
  wordpress: (options) => createWordPress(options),
  // The numbers of the id map are forgotten at the end of the command.
  payload: (options, { kinds = {}, file }) =>
    createPayload({ ...options, site: file?.payload, specs: Object.values(kinds), idMap: new IdMap() }),
};

const REST_CALLS: Readonly<Record<CmsName, (client: CmsClient, address: URL) => RestCall>> = {
  wordpress: createRestCall,
  payload: (client, address) => createPayloadCall(client, apiPathOf(address)),
};

/** Sends no request before the first call. `url` is the site's address in a browser. */
export function openSite(url: string, credentials: Credentials, settings: CallSettings, mapping: SiteMapping) {
  const { limits, userAgent } = settings;
  const options = { url, limits, userAgent, observe: () => undefined };
  const cms = ADAPTERS[mapping.cms](options, mapping);
  // A second client, for single calls: the adapter shows nobody its own.
  const client = createCmsClient(options);
  const call = REST_CALLS[mapping.cms](client, new URL(url));
  /** By default with the connection's credentials. */
  const callAs: RestCall = (method, route, parts, options = {}) =>
    call(method, route, parts, { credentials, ...options });
  return {
    ...{ url: trimCharactersEnd(url, '/'), credentials, cms, call: callAs },
    async close() {
      await Promise.all([cms.close(), client.close()]);
    },
  };
}

/** As a visitor; as the service account if the site refuses visitors. Throws `CmsRejected` and `CmsUnavailable`. */
export async function readSite({ cms, credentials }: Pick<SiteConnection, 'cms' | 'credentials'>): Promise<Site> {
  try {
    return await cms.site();
  } catch (error) {
    if (credentials && error instanceof CmsRejected && error.refusesAccess) return cms.site({ credentials });
    throw error;
  }
}

export interface SampledRecord {
  cmsRecord: CmsRecord;
  record: CalendarRecord;
}

/** A kind is missing if the site refuses its collection. */
export type RecordsByKind = { [K in Kind]?: SampledRecord[] | undefined };

export type SiteSamples = Awaited<ReturnType<typeof readSamples>>;

/** How many of the newest records of a collection tell what its fields hold. */
export const SAMPLE_SIZE = 20;

const MAX_LINKED_RECORDS = 100;

/**
 * Reads the newest events (`SAMPLE_SIZE`), and up to a hundred records of each other kind. With credentials it reads
 * drafts too, because a new site may have nothing else, and leaves out the trash alone. Throws `CmsUnavailable`.
 */
export async function readSamples(connection: SiteConnection, mapping: Mapping, site: Site) {
  const { cms, credentials } = connection;
  const kindMappings = Object.values(mapping.kinds) as KindMapping<Kind>[];
  const cmsRecords: Partial<Record<Kind, CmsRecord[]>> = {};
  for (const kindMapping of kindMappings) {
    // The statuses of an event plugin of WordPress. Other CMSs have no such setting.
    const statuses = [...ANY_STATUS, ...(settingsOf(kindMapping).statuses ?? [])];
    const scope = credentials === undefined ? ({ view: 'public' } as const) : ({ view: 'editor', statuses } as const);
    const limit = kindMapping.kind === 'event' ? SAMPLE_SIZE : MAX_LINKED_RECORDS;
    const page = cms.list(kindMapping, { ...scope, limit, detail: 'mapped' }, { credentials });
    const records = (await page.catch(ifRejected(() => undefined)))?.records;
    if (records) cmsRecords[kindMapping.kind] = records;
  }
  const linkTables = await readLinkTables(connection, mapping, cmsRecords);
  const records: RecordsByKind = {};
  for (const { kind, read } of kindMappings)
    records[kind] = cmsRecords[kind]?.map((cmsRecord) => ({ cmsRecord, record: read(cmsRecord, site, linkTables) }));
  // `linkTables`: for events that name venues and organizers otherwise than by id.
  return { records, linkTables };
}

async function readLinkTables(
  { cms, credentials }: SiteConnection,
  mapping: Mapping,
  linked: Partial<Record<Kind, CmsRecord[]>>,
): Promise<LinkTables> {
  const tables: Record<string, unknown> = {};
  for (const { terms, kind, field, buildTable } of mapping.kinds.event.linkFields) {
    const request: ListRequest = { view: 'public', limit: MAX_LINKED_RECORDS, detail: 'slug' };
    const list = terms !== undefined && cms.list(plainCollection(terms, 'terms'), request, { credentials });
    const page = list ? await list.catch(ifRejected(() => undefined)) : undefined;
    tables[field] = buildTable(linked[kind] ?? [], page?.records ?? []);
  }
  return tables as LinkTables;
}

/** The paths at which a field of a mapping is read. */
export function readPathsOf(field: string | FieldSpec | undefined): string[] {
  if (field === undefined) return [];
  if (typeof field === 'object' && field.embedded) return Object.values(field.embedded);
  const { parts, at } = locationOf(field);
  if (parts) return parts.map((part) => part.at);
  return at === undefined ? [] : [at];
}

/** Where a field is read: `{ at: 'meta.hall' }` of `"meta.hall"` and of `{ "read": "meta.hall", "write": "hall" }`. */
export function locationOf(field: string | FieldSpec): LocationSpec {
  const spec = fieldSpecOf(field);
  return fieldSpecOf(spec.read ?? spec);
}

export function valueAtPath(cmsRecord: CmsRecord, text: string): unknown {
  const path = parsePath(text);
  return path && readAt(cmsRecord, path);
}

export const isBlank = (value: unknown): boolean =>
  value === '' || value === null || value === undefined || (Array.isArray(value) && value.length === 0);

/** `venue[0].ID` -> `venue`, which a record with an empty list has too. */
export const listPath = (path: string): string => path.split(/\[\d+\]/, 1)[0] ?? path;

const SHOWN_CHARACTERS = 40;

/** A value as an example in a message. Of a blank value, or none, it is `nothing`. */
export function formatSample(value: unknown): string {
  if (isBlank(value)) return 'nothing';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS - 1)}…` : text;
}
