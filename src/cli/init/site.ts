// Looks at a site: its CMS; of WordPress, its plugins, its collections, and their fields.

import { createCmsClient } from '../../cms/client.ts';
import { apiPathOf } from '../../cms/payload/payload.ts';
import type { CmsRecord, Query } from '../../cms/port.ts';
import { recordsOf } from '../../cms/wordpress/rest-api.ts';
import { CmsUnavailable, ifRejected } from '../../errors.ts';
import type { CmsName } from '../../mapping/mapping-file.ts';
import { isObject, objectOrEmpty } from '../../model/json.ts';
import { isBlank, SAMPLE_SIZE, type SiteConnection } from '../open-site.ts';

/** A field that the CMS itself does not have. */
export interface SiteField {
  /** As in a mapping: `meta.start`, `acf.address.city`. */
  path: string;
  /** In the schema: `string`, `array` ... */
  type: string | undefined;
  /** The address in a link field of ACF, which takes address, title and target only together: init maps it to read. */
  readOnly?: true;
  /** The values of the records that have one. */
  values: unknown[];
}

export type ProbedSite = Awaited<ReturnType<typeof probe>>;
export type ProbedType = Awaited<ReturnType<typeof probeType>>;

export const typeAt = ({ types }: ProbedSite, base: string | undefined): ProbedType | undefined =>
  types.find((each) => each.base === base);

export const fieldAt = (path: string, fields: readonly SiteField[]): SiteField =>
  fields.find((each) => each.path === path) ?? { path, type: undefined, values: [] };

/** Types of WordPress itself that cannot be events. */
const NOT_CONTENT = /^(attachment|nav_menu_item|wp_.*|revision|oembed_cache|user_request|customize_changeset)$/;

/** Names that a mapping can have (`posts` and `terms` in mapping.schema.json). Others may not even fit into a URL. */
const COLLECTION = /^[\w-]+(\/[\w-]+)*$/;

/** Paths that every post has. Any other may be a field of a plugin, but for those below. */
const CORE_PATHS: ReadonlySet<string> = new Set(
  `id date date_gmt guid modified modified_gmt slug status type link title content excerpt author featured_media
  comment_status ping_status sticky template format parent meta acf password generated_slug permalink_template
  class_list categories tags meta.footnotes`.split(/\s+/),
);
/** Links and other data of WordPress itself, and of well-known plugins that have no events. */
const OTHER_PATHS = /^(_|yoast_|jetpack_|aioseo_)/;

/** A site of Payload lists its collections at /api/access. Any other address is taken for WordPress. */
export async function cmsAt(url: string, userAgent: string | undefined): Promise<CmsName> {
  const address = new URL(url);
  const client = createCmsClient({ url: address, observe: () => undefined, userAgent });
  try {
    const { json } = await client.request({ method: 'GET', path: `${apiPathOf(address)}/access` });
    return isObject(json) && isObject(json.collections) ? 'payload' : 'wordpress';
  } catch (error) {
    // A page, or the answer of another program. If the site does not answer at all, the next request says so.
    if (error instanceof CmsUnavailable) return 'wordpress';
    throw error;
  } finally {
    await client.close();
  }
}

/** Throws `CmsUnavailable` if the site has no REST API, and `CmsRejected` if it refuses the credentials, if any. */
export async function probe(site: SiteConnection) {
  const { call, cms, credentials } = site;
  const read = async (route: string, query: Query = {}) => objectOrEmpty((await call('GET', route, { query })).json);
  const { url, name, timezone } = await cms.site({ credentials });
  const user =
    credentials === undefined ? undefined : await read('wp/v2/users/me', { context: 'edit', _fields: 'name,roles' });
  const postTypes = Object.values(await read('wp/v2/types')).map(objectOrEmpty);
  const taxonomies = Object.values(await read('wp/v2/taxonomies'))
    .map(objectOrEmpty)
    .map(({ slug, rest_base, name, hierarchical }) => ({
      taxonomy: String(slug),
      base: String(rest_base),
      label: String(name),
      hierarchical: hierarchical === true,
    }))
    .filter(({ base }) => COLLECTION.test(base));
  const types: ProbedType[] = [];
  for (const type of postTypes) {
    const isReachable = (type.rest_namespace ?? 'wp/v2') === 'wp/v2' && COLLECTION.test(baseOf(type));
    if (isReachable && !NOT_CONTENT.test(String(type.slug))) types.push(await probeType(site, type, taxonomies));
  }
  const namespaces = stringList((await read('', { _fields: 'namespaces' })).namespaces);
  return {
    url,
    name,
    timezone,
    /** Folders of the active plugins; undefined if the account may not see them. */
    plugins: await readActivePlugins(site),
    /** Of the REST API: most plugins with routes of their own have one. */
    namespaces,
    account: user && { name: String(user.name), roles: stringList(user.roles) },
    types,
    taxonomies,
  };
}

const baseOf = ({ rest_base, slug }: CmsRecord): string => String(rest_base || slug);

async function probeType(
  { call, credentials }: SiteConnection,
  type: CmsRecord,
  allTaxonomies: readonly { taxonomy: string; base: string }[],
) {
  const base = baseOf(type);
  const list = (more: Query) =>
    call('GET', `wp/v2/${base}`, { query: { per_page: SAMPLE_SIZE, ...more } }).catch(ifRejected(() => undefined));
  const ofAccount = { context: 'edit', status: 'publish,future,draft,pending,private' };
  const response = (credentials === undefined ? undefined : await list(ofAccount)) ?? (await list({}));
  const newestRecords = response ? recordsOf(response) : [];
  const options = await call('OPTIONS', `wp/v2/${base}`).catch(ifRejected(() => undefined));
  const schema = objectOrEmpty(objectOrEmpty(objectOrEmpty(options?.json).schema).properties);
  const taxonomies = stringList(type.taxonomies);
  return {
    /** The type's own name, such as `tribe_events`. */
    type: String(type.slug),
    /** The name of its collection (`rest_base`). */
    base,
    label: String(type.name),
    /** The collections of the type's taxonomies. */
    termBases: allTaxonomies.filter(({ taxonomy }) => taxonomies.includes(taxonomy)).map((each) => each.base),
    total: Number(response?.headers['x-wp-total'] ?? newestRecords.length),
    newestRecords,
    fields: siteFields(newestRecords, schema),
  };
}

/**
 * The fields of a post type, without those of WordPress itself:
 *
 *   in the schema or in a record                       fields
 *   meta: { start: '2031-05-01' }, sticky: false       meta.start
 *   acf: { place: { street: '1 Main St' } }            acf.place, acf.place.street
 *   show_times: ['19:30'], of a plugin                 show_times
 */
export function siteFields(records: readonly CmsRecord[], schema: CmsRecord): SiteField[] {
  const fields = new Map<string, SiteField>();
  const addAll = (prefix: string, rules: CmsRecord, values: CmsRecord): void => {
    for (const name of new Set([...Object.keys(rules), ...Object.keys(values)])) {
      const path = prefix + name;
      if (CORE_PATHS.has(path) || OTHER_PATHS.test(path)) continue;
      const rule = objectOrEmpty(rules[name]);
      const field = fields.get(path) ?? { path, type: typeName(rule), values: [] };
      fields.set(path, field);
      if (!isBlank(values[name])) field.values.push(values[name]);
      // A field group of ACF is an object of fields. One level of groups is read.
      if (prefix === 'acf.') addAll(`${path}.`, objectOrEmpty(rule.properties), objectOrEmpty(values[name]));
    }
  };
  // `{}`: a site without records shows its fields in the schema alone.
  for (const cmsRecord of [{}, ...records] as CmsRecord[]) {
    for (const holder of ['meta', 'acf'])
      addAll(`${holder}.`, objectOrEmpty(objectOrEmpty(schema[holder]).properties), objectOrEmpty(cmsRecord[holder]));
    addAll('', schema, cmsRecord);
  }
  // `acf.tickets.url` beside `acf.tickets.target`: a link field of ACF.
  for (const field of fields.values())
    if (/^acf\..+\.url$/.test(field.path) && fields.has(field.path.replace(/url$/, 'target'))) field.readOnly = true;
  return [...fields.values()];
}

/** Of `["string", "null"]`: `string`. */
const typeName = ({ type }: CmsRecord): string | undefined =>
  [type].flat().find((each): each is string => typeof each === 'string' && each !== 'null');

async function readActivePlugins(site: SiteConnection): Promise<string[] | undefined> {
  if (site.credentials === undefined) return undefined;
  const query = { status: 'active', _fields: 'plugin' };
  const response = await site.call('GET', 'wp/v2/plugins', { query }).catch(ifRejected(() => undefined));
  return response && recordsOf(response).map(({ plugin }) => String(plugin).split('/')[0] ?? '');
}

const stringList = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
