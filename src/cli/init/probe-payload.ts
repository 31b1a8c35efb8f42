// Recognizes a Payload site, and reads what it shows: its collections, their fields, and a few records of each.
//
// Payload 3 has no route for its schema. `GET /api/access` lists the collections that a caller may read; for
// a caller with limited permissions, such as a visitor, also their fields (observed on 3.90.2). The records show
// the rest.

import { type CmsClient, createCmsClient } from '../../cms/client.ts';
import { CmsUnavailable } from '../../errors.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { trimCharactersEnd } from '../../text/text.ts';
import { SAMPLE_SIZE } from '../samples.ts';
import { addValue, type ProbedSite, type ProbedType, type SourceField } from './site.ts';

const MAX_COLLECTIONS = 50;
/** Payload's own collections and fields. */
const OWN_COLLECTION = /^payload-/;
const OWN_FIELDS = new Set(['id', '_status', 'createdAt', 'updatedAt', 'deletedAt', 'collection']);

/**
 * Resolves with undefined if the address is not that of a Payload site.
 * @param login returns the `Authorization` header of an account
 * @throws CmsUnavailable if the site does not answer
 */
export async function probePayload(url: string, login: (() => string) | undefined): Promise<ProbedSite | undefined> {
  const address = new URL(url);
  const client = createCmsClient({ url: address, observe: () => undefined });
  const path = trimCharactersEnd(address.pathname, '/');
  const api = path.endsWith('/api') ? path : `${path}/api`;
  try {
    const ofVisitors = await readAccess(client, api, undefined);
    if (ofVisitors === undefined) return undefined;
    const credentials = login?.();
    const ofAccount = credentials === undefined ? ofVisitors : ((await readAccess(client, api, credentials)) ?? {});
    const slugs = [...new Set([...Object.keys(ofVisitors), ...Object.keys(ofAccount)])]
      .filter((slug) => !OWN_COLLECTION.test(slug))
      .slice(0, MAX_COLLECTIONS);
    const types: ProbedType[] = [];
    for (const slug of slugs) {
      const names = [ofVisitors[slug], ofAccount[slug]].flatMap(fieldNames);
      types.push(await probeCollection(client, `${api}/${slug}`, slug, names, credentials));
    }
    const account = credentials === undefined ? undefined : await readAccount(client, api, credentials);
    return {
      cms: 'payload',
      url: trimCharactersEnd(url, '/'),
      name: address.host,
      timezone: 'UTC',
      plugins: undefined,
      namespaces: [],
      account: account && { name: account.name, roles: account.roles },
      types: types.filter(({ base, fields }) => base !== account?.users && !isUpload(fields)),
      taxonomies: [],
      typeById: {},
      payload: { users: account?.users, media: types.find(({ fields }) => isUpload(fields))?.base },
    };
  } finally {
    await client.close();
  }
}

const isUpload = (fields: readonly SourceField[]): boolean =>
  ['filename', 'mimeType'].every((name) => fields.some(({ path }) => path === name));

/** The access of a caller by collection; undefined if the response is not that of a Payload site. */
async function readAccess(
  client: CmsClient,
  api: string,
  credentials: string | undefined,
): Promise<JsonObject | undefined> {
  try {
    const { status, json } = await client.request({ method: 'GET', path: `${api}/access`, credentials });
    return status === 200 && isObject(json) && isObject(json.collections)
      ? (json.collections as JsonObject)
      : undefined;
  } catch (error) {
    // A page, or another program's answer. That the site does not answer at all, init says for every CMS in
    // the same words.
    if (error instanceof CmsUnavailable) return undefined;
    throw error;
  }
}

const fieldNames = (access: unknown): string[] =>
  isObject(access) && isObject(access.fields) ? Object.keys(access.fields) : [];

async function probeCollection(
  client: CmsClient,
  path: string,
  slug: string,
  names: readonly string[],
  credentials: string | undefined,
): Promise<ProbedType> {
  const query = { limit: SAMPLE_SIZE, depth: 0 };
  const { json } = await client.request({ method: 'GET', path, query, credentials });
  const { docs, totalDocs } = isObject(json) ? json : {};
  const samples = Array.isArray(docs) ? docs.filter(isObject) : [];
  const fields = new Map<string, SourceField>();
  for (const name of [...names, ...samples.flatMap((sample) => Object.keys(sample))])
    if (!OWN_FIELDS.has(name)) fields.set(name, { path: name, type: undefined, values: [] });
  for (const sample of samples) for (const field of fields.values()) addValue(field, sample[field.path]);
  return {
    type: slug,
    base: slug,
    label: slug,
    taxonomies: [],
    termBases: [],
    total: typeof totalDocs === 'number' ? totalDocs : samples.length,
    samples,
    fields: [...fields.values()],
  };
}

/** Undefined if the site does not know the credentials: it then takes the caller for a visitor. */
async function readAccount(client: CmsClient, api: string, credentials: string) {
  const users = /^(\S+) API-Key /.exec(credentials)?.[1] ?? 'users';
  const { json } = await client.request({
    method: 'GET',
    path: `${api}/${users}/me`,
    query: { depth: 0 },
    credentials,
  });
  if (!isObject(json) || !isObject(json.user)) return undefined;
  const { email, username, id, role, roles } = json.user;
  return {
    users,
    name: String(email ?? username ?? id),
    roles: [role, roles].flat().filter((each) => typeof each === 'string'),
  };
}
