// What a site shows of itself: its types and taxonomies, what their schemas promise, and what a few records really hold.

import { isObject } from '../mapping/paths.ts';
import type { KindSource } from '../mapping/source.ts';
import type { Native, Query } from '../upstream/port.ts';
import { nativesOf, recordOr } from '../upstream/wordpress/refusals.ts';
import { type OpenSite, unlessRefused } from './open-site.ts';

/** A place in the records of a type where a plugin or somebody by hand keeps a value. */
export interface Place {
  /** As a mapping writes it: `meta.start`, `acf.address.city`, `start_date`. */
  path: string;
  /** The schema's type, where it has one: `string`, `array` ... */
  type: string | undefined;
  /** Values that are not empty, one a record. */
  values: unknown[];
}

export interface TypeFacts {
  type: string;
  /** The collection (`rest_base`). */
  base: string;
  label: string;
  /** Names of its taxonomies, and the collections of these. */
  taxonomies: string[];
  terms: string[];
  total: number;
  samples: Native[];
  places: Place[];
}

export interface TaxonomyFacts {
  taxonomy: string;
  base: string;
  label: string;
  hierarchical: boolean;
}

export interface SiteFacts {
  url: string;
  name: string;
  timezone: string;
  namespaces: string[];
  /** Folders of the active plugins; undefined where the account may not see them. */
  plugins: string[] | undefined;
  account: { name: string; roles: string[] } | undefined;
  types: TypeFacts[];
  taxonomies: TaxonomyFacts[];
  /** Id of a linked record -> the type it has, for ids that records were seen to hold. */
  owners: Record<number, string>;
}

const RECORDS = 10;
const OWNERS_ASKED = 60;

/** Types of WordPress's own that hold no content of this sort. */
const NOT_CONTENT = /^(attachment|nav_menu_item|wp_.*|revision|oembed_cache|user_request|customize_changeset)$/;

/** Top-level properties that every post has. What a plugin adds beside them may be a field. */
const CORE =
  /^(id|date|date_gmt|guid|modified|modified_gmt|slug|status|type|link|title|content|excerpt|author|featured_media|comment_status|ping_status|sticky|template|format|parent|menu_order|meta|acf|password|generated_slug|permalink_template|class_list|categories|tags|_.*|yoast_.*|jetpack_.*|aioseo_.*)$/;

/**
 * Looks at a site, with credentials or without. `quirks`: list parameters by collection, for lists that hide records otherwise.
 * Throws `UpstreamAway` when there is no REST API of WordPress, and `UpstreamRefused` for bad credentials.
 */
export async function probe(site: OpenSite, quirks: Record<string, KindSource> = {}): Promise<SiteFacts> {
  const { call, credentials } = site;
  const about = await site.upstream.site(credentials === undefined ? {} : { credentials });
  const index = recordOr((await call('GET', '', { query: { _fields: 'namespaces' } })).json);
  const me =
    credentials === undefined
      ? undefined
      : recordOr((await call('GET', 'wp/v2/users/me', { query: { context: 'edit', _fields: 'name,roles' } })).json);
  const types = recordOr((await call('GET', 'wp/v2/types')).json);
  const taxonomies = recordOr((await call('GET', 'wp/v2/taxonomies')).json);
  const content = Object.values(types)
    .map(recordOr)
    .filter(({ slug, rest_namespace }) => !NOT_CONTENT.test(String(slug)) && (rest_namespace ?? 'wp/v2') === 'wp/v2');
  const looked: TypeFacts[] = [];
  for (const type of content) looked.push(await lookAtType(site, type, taxonomies, quirks));
  return {
    ...about,
    namespaces: list(index.namespaces),
    plugins: await pluginsOf(site),
    account: me && { name: String(me.name), roles: list(me.roles) },
    types: looked,
    taxonomies: Object.values(taxonomies)
      .map(recordOr)
      .map(({ slug, rest_base, name, hierarchical }) => ({
        taxonomy: String(slug),
        base: String(rest_base),
        label: String(name),
        hierarchical: hierarchical === true,
      })),
    owners: await ownersOf(site, looked),
  };
}

async function lookAtType(
  site: OpenSite,
  type: Native,
  bases: Native,
  quirks: Record<string, KindSource>,
): Promise<TypeFacts> {
  const base = String(type.rest_base || type.slug);
  const query: Query = { per_page: RECORDS, ...quirks[base]?.listParams };
  const asked: Query[] = [query];
  if (site.credentials !== undefined)
    asked.unshift({ ...query, context: 'edit', status: 'publish,future,draft,pending,private' });
  let samples: Native[] = [];
  let total = 0;
  for (const one of asked) {
    const answer = await unlessRefused(site.call('GET', `wp/v2/${base}`, { query: one }), undefined);
    if (!answer) continue;
    samples = nativesOf(answer);
    total = Number(answer.headers['x-wp-total'] ?? samples.length);
    break;
  }
  const options = await unlessRefused(site.call('OPTIONS', `wp/v2/${base}`), undefined);
  const schema = recordOr(recordOr(recordOr(options?.json).schema).properties);
  const taxonomies = list(type.taxonomies);
  return {
    type: String(type.slug),
    base,
    label: String(type.name),
    taxonomies,
    terms: Object.values(bases)
      .map(recordOr)
      .filter(({ slug }) => taxonomies.includes(String(slug)))
      .map(({ rest_base }) => String(rest_base)),
    total,
    samples,
    places: placesOf(samples, schema),
  };
}

/** Every place of a type's records that is not the core's own: what the schema has, and what records hold beyond it. */
export function placesOf(samples: readonly Native[], schema: Native): Place[] {
  const places = new Map<string, Place>();
  const known = (path: string, type?: unknown): Place => {
    const place = places.get(path) ?? { path, type: undefined, values: [] };
    place.type ??= typeName(type);
    places.set(path, place);
    return place;
  };
  for (const holder of ['meta', 'acf'])
    for (const [key, rule] of Object.entries(recordOr(recordOr(schema[holder]).properties))) {
      const inner = holder === 'acf' ? recordOr(recordOr(rule).properties) : {};
      known(`${holder}.${key}`, recordOr(rule).type);
      for (const [name, part] of Object.entries(inner)) known(`${holder}.${key}.${name}`, recordOr(part).type);
    }
  for (const [name, rule] of Object.entries(schema)) if (!CORE.test(name)) known(name, recordOr(rule).type);
  for (const native of samples) {
    for (const holder of ['meta', 'acf'])
      for (const [key, value] of Object.entries(recordOr(native[holder]))) {
        take(known(`${holder}.${key}`), value);
        // A group of ACF is an object of fields.
        if (isObject(value) && holder === 'acf')
          for (const [name, part] of Object.entries(value)) take(known(`${holder}.${key}.${name}`), part);
      }
    for (const [name, value] of Object.entries(native)) if (!CORE.test(name)) take(known(name), value);
  }
  return [...places.values()].filter(({ path }) => path !== 'meta.footnotes');
}

function take(place: Place, value: unknown): void {
  const empty = value === '' || value === null || value === undefined || (Array.isArray(value) && value.length === 0);
  if (!empty) place.values.push(value);
}

function typeName(type: unknown): string | undefined {
  const name = Array.isArray(type) ? type.find((each) => each !== 'null') : type;
  return typeof name === 'string' ? name : undefined;
}

async function pluginsOf(site: OpenSite): Promise<string[] | undefined> {
  if (site.credentials === undefined) return undefined;
  const query = { status: 'active', _fields: 'plugin' };
  const answer = await unlessRefused(site.call('GET', 'wp/v2/plugins', { query }), undefined);
  return answer && nativesOf(answer).map(({ plugin }) => String(plugin).split('/')[0] ?? '');
}

/** Which types the ids belong to that records hold: whoever names venues by id names venues. */
async function ownersOf(site: OpenSite, types: readonly TypeFacts[]): Promise<Record<number, string>> {
  const owners: Record<number, string> = {};
  for (const { samples, type } of types) for (const { id } of samples) owners[Number(id)] = type;
  const ids = new Set(
    types.flatMap(({ places }) => places.flatMap(({ values }) => values.flatMap(idsIn))).filter((id) => !owners[id]),
  );
  if (ids.size === 0) return owners;
  const include = [...ids].slice(0, OWNERS_ASKED).join(',');
  const query = { include, type: 'post', subtype: 'any', per_page: OWNERS_ASKED, _fields: 'id,subtype' };
  const answer = await unlessRefused(site.call('GET', 'wp/v2/search', { query }), undefined);
  for (const { id, subtype } of answer ? nativesOf(answer) : []) owners[Number(id)] = String(subtype);
  return owners;
}

/** The whole numbers of a value that may be ids of records. */
export function idsIn(value: unknown): number[] {
  if (Array.isArray(value)) return value.flatMap(idsIn);
  if (isObject(value)) return idsIn(value.ID ?? value.id);
  if (typeof value === 'string' && /^\d{1,9}(,\s*\d{1,9})*$/.test(value)) return value.split(',').map(Number);
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value < 1e9 ? [value] : [];
}

function list(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
