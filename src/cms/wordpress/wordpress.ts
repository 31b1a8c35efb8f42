// WordPress as a CMS: implements the port by its REST API (wp/v2), and reads WordPress's own description: the site, the
// caller's account, a collection's schema and capabilities.

import { isUtf8 } from 'node:buffer';
import { CmsRejected, CmsUnavailable, ifRejected } from '../../errors.ts';
import { isId, isObject, objectOrEmpty } from '../../model/json.ts';
import type { SiteSettings } from '../../model/records.ts';
import { trimCharactersEnd, webAddress } from '../../text/text.ts';
import { type CmsClientOptions, createCmsClient, type RestCall } from '../client.ts';
import type { Action, ActionPermissions, CallOptions, Cms, Login, Query } from '../port.ts';
import { objectOf } from '../response.ts';
import { createCollections } from './collections.ts';
import { createMedia } from './media.ts';
import { WORDPRESS_RECORDS } from './record-form.ts';
import { createRestCall } from './rest-api.ts';

/** Creates the adapter. It calls the site only when used, so that the gateway can start while the site is down. */
export function createWordPress(options: CmsClientOptions): Cms {
  const client = createCmsClient(options);
  const call = createRestCall(client, new URL(options.url));
  return {
    recordForm: WORDPRESS_RECORDS,
    ...createSiteInfo(call),
    ...createCollections(call),
    ...createMedia(call),
    close: () => client.close(),
  };
}

export function createSiteInfo(
  call: RestCall,
): Pick<Cms, 'site' | 'readLogin' | 'account' | 'accountExists' | 'collectionInfo' | 'hasCollection'> {
  return {
    async site(options) {
      // The index does not tell WordPress's version.
      const query = { _fields: 'name,url,home,timezone_string,gmt_offset,namespaces,calendar_gateway' };
      const index = objectOf(await call('GET', '', { query }, options));
      const url = String(index.home || index.url || '');
      const { timezone_string: zone, gmt_offset: offset } = index;
      // A proxy may answer with JSON of its own: the times and addresses of all records would be computed from it.
      if (webAddress(url) === undefined) throw incomplete('the address of the site');
      if (!zone && offset === undefined) throw incomplete('the time zone of the site');
      const settings = readSettings(index.calendar_gateway);
      return {
        url: trimCharactersEnd(url, '/'),
        name: String(index.name ?? ''),
        timezone: typeof zone === 'string' && zone !== '' ? zone : formatUtcOffset(Number(offset) || 0),
        ...(Object.keys(settings).length === 0 ? {} : { settings }),
      };
    },

    readLogin,

    async account(options) {
      const query = { context: 'edit', _fields: 'id,roles,capabilities' };
      const me = objectOf(
        await call('GET', 'wp/v2/users/me', { query }, options).catch((error: unknown) => {
          throw isIgnored(error, options.credentials) ? new CmsRejected('unknown-scheme', error.message) : error;
        }),
      );
      if (typeof me.id !== 'number' || !isId(me.id) || !isObject(me.capabilities))
        throw incomplete('whose credentials these are, and what they allow');
      const permissions = new Set(Object.entries(me.capabilities).flatMap(([name, is]) => (is === true ? [name] : [])));
      return {
        userId: me.id,
        roles: Array.isArray(me.roles) ? me.roles.map(String) : [],
        permissions,
        mayUpload: permissions.has(UPLOAD),
      };
    },

    accountExists: (id, options) =>
      call('GET', `wp/v2/users/${id}`, { query: { _fields: 'id' } }, options).then(
        () => true,
        ifRejected(({ status }) => status !== 404),
      ),

    async collectionInfo({ collection }, options) {
      const [type, writableFields] = await Promise.all([
        // WordPress shows capabilities to editors only.
        findType(call, collection, { context: 'edit' }, options).catch(ifRejected(() => undefined)),
        readWritableFields(call, collection, options),
      ]);
      return { writableFields, permissions: type && actionPermissions(type.capabilities) };
    },

    hasCollection: async ({ collection }, options) => (await findType(call, collection, {}, options)) !== undefined,
  };
}

/** What the companion plugin may publish of an event plugin's options. Each format bounds the length. */
const SETTINGS: [published: string, name: keyof SiteSettings, format: RegExp][] = [
  ['currency_symbol', 'currencySymbol', /^.{0,20}$/u],
  ['currency_code', 'currencyCode', /^[A-Z]{3}$/],
  ['currency_position', 'currencyPosition', /^(?:prefix|postfix)$/],
  ['day_starts', 'dayStarts', /^(?:[01]\d|2[0-3]):[0-5]\d$/],
  ['timezone_mode', 'timezoneMode', /^(?:site|event)$/],
];

function readSettings(published: unknown): SiteSettings {
  const values = objectOrEmpty(published);
  const valid = SETTINGS.filter(([key, , format]) => {
    const value = values[key];
    return typeof value === 'string' && format.test(value);
  });
  return Object.fromEntries(valid.map(([key, name]) => [name, values[key]]));
}

const incomplete = (missing: string): CmsUnavailable =>
  new CmsUnavailable('incomplete', `The CMS's response is incomplete: it lacks ${missing}.`);

/**
 * WordPress knows Basic credentials only, and ignores every other scheme unless a plugin accepts it. Some sites
 * answer wrong Basic credentials in the same words.
 */
const isIgnored = (error: unknown, credentials: string | undefined): error is CmsRejected =>
  error instanceof CmsRejected && error.code === 'rest_not_logged_in' && readLogin(credentials ?? '')?.kind === 'token';

/** A site's offset in hours as a zone, in the form that the editor of The Events Calendar knows: `5.5` is `UTC+5.5`. */
export const formatUtcOffset = (hours: number): string => `UTC${hours < 0 ? '' : '+'}${hours}`;

/** The post type or taxonomy with this `rest_base`. */
async function findType(call: RestCall, collection: string, query: Query, options: CallOptions | undefined) {
  for (const route of ['wp/v2/types', 'wp/v2/taxonomies']) {
    const types = Object.values(objectOf(await call('GET', route, { query }, options))).map(objectOrEmpty);
    const type = types.find(({ rest_base }) => rest_base === collection);
    if (type) return type;
  }
  return undefined;
}

/** Reads the writable fields from the schema in the collection's `OPTIONS`. */
async function readWritableFields(call: RestCall, collection: string, options: CallOptions | undefined) {
  const { json } = await call('OPTIONS', `wp/v2/${collection}`, {}, options);
  // WordPress responds to OPTIONS of a missing route with 200 and no description.
  if (!isObject(json)) throw new CmsRejected('no-collection', `The CMS has no collection "${collection}".`);
  if (json.schema === undefined) return undefined;
  const properties = objectOrEmpty(objectOrEmpty(json.schema).properties);
  return Object.entries(properties).flatMap(([name, property]) => {
    const { readonly, properties: inner } = objectOrEmpty(property);
    if (readonly === true) return [];
    const isNested = name === 'meta' || name === 'acf';
    return [name, ...(isNested ? Object.keys(objectOrEmpty(inner)).map((key) => `${name}.${key}`) : [])];
  });
}

/**
 *     YW5uYTpzZWNyZXQ= (no scheme)             undefined: PHP or WordPress ignores it
 *     Bearer abc                               a token, as of a plugin for JSON Web Tokens
 *     Basic YW5uYTo= (anna:)                   undefined: PHP or WordPress ignores it
 *     Basic YW5uYTpzZWNyZXQ= (anna:secret)     a password of anna
 *     Basic YW5uYTpzZWNyZXQ (no `=`)           a password without a user: PHP decodes leniently, others may not
 */
export function readLogin(authorization: string): Login | undefined {
  const [, scheme = '', sent] = /^([A-Za-z][\w-]*)\s+(\S.*)$/.exec(authorization) ?? [];
  const encoded = sent?.trim();
  if (encoded === undefined) return undefined;
  if (scheme.toLowerCase() !== 'basic') return { kind: 'token' };
  const bytes = Buffer.from(encoded.replace(/[^A-Za-z0-9+/]/g, ''), 'base64');
  const colon = bytes.indexOf(':');
  if (colon < 0 || colon === bytes.length - 1) return undefined;
  const name = bytes.subarray(0, colon);
  const isPlain = bytes.toString('base64') === encoded && isUtf8(name);
  return { kind: 'password', user: isPlain ? name.toString() : undefined };
}

/** The capability that each action needs, by WordPress's general names. */
export const GENERAL_PERMISSIONS: ActionPermissions = {
  edit: 'edit_posts',
  editOthers: 'edit_others_posts',
  editPublished: 'edit_published_posts',
  readOwn: 'edit_posts',
  readOthers: 'edit_others_posts',
  readPrivate: 'read_private_posts',
  publish: 'publish_posts',
  manageTerms: 'manage_terms',
};

export const UPLOAD = 'upload_files';

/** WordPress's own tags name a capability that no role has: its `map_meta_cap` converts it. */
const MAPPED: Readonly<Record<string, string>> = { manage_post_tags: 'manage_categories' };

/** Capabilities that WordPress always names of a post type, and of a taxonomy. Others only with `map_meta_cap`. */
const NAMED_OF_POSTS = ['edit_posts', 'edit_others_posts', 'publish_posts', 'read_private_posts'];
const NAMED_OF_TERMS = 'manage_terms';

/**
 * The capabilities of a post type or taxonomy. `names` has its own ones for WordPress's general ones:
 *
 *     {edit_posts: 'edit_events', ...}          edit_events
 *     {edit_posts: false, ...}                  do_not_allow, which no account has
 *     no edit_published_posts                   edit_published_posts: without `map_meta_cap` only our `Allow` asks
 *     no edit_posts of a taxonomy               edit_posts: who writes a venue that is a term needs it
 *
 * @throws CmsUnavailable without a name that WordPress always has: its general name would let in editors of posts
 */
function actionPermissions(names: unknown): ActionPermissions {
  const named = objectOrEmpty(names);
  const isNamed = (general: string) => typeof named[general] === 'string' || named[general] === false;
  if (!NAMED_OF_POSTS.every(isNamed) && !isNamed(NAMED_OF_TERMS))
    throw new CmsUnavailable('incomplete', 'The CMS did not name the capabilities of a collection.');
  const entries = Object.entries(GENERAL_PERMISSIONS).map(([action, general]) => {
    const name = named[general] === false ? 'do_not_allow' : named[general];
    return [action, typeof name === 'string' ? (MAPPED[name] ?? name) : general];
  });
  return Object.fromEntries(entries) as Record<Action, string>;
}
