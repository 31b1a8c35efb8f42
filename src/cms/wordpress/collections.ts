// Posts and terms of WordPress, by the same code, since their routes, paging and errors are the same. An update has the
// fields that Advanced Custom Fields demands in every request with any of its fields.

import { isDeepStrictEqual } from 'node:util';
import { CmsRejected, CmsUnavailable, ifRejected } from '../../errors.ts';
import { isObject, objectOrEmpty, setAt, valueIn } from '../../model/json.ts';
import { STATUSES } from '../../model/records.ts';
import { slugKey, trimCharacters } from '../../text/text.ts';
import type { RestCall } from '../client.ts';
import type { CallOptions, Cms, CmsRecord, CmsView, CollectionSpec, Detail, ListRequest, Query } from '../port.ts';
import { objectOf, writtenRecordOf } from '../response.ts';
import { cmsIdOf, DETAIL_FIELDS, gatewayId, normalize, settingsOf } from './record-form.ts';
import { MAX_PAGE_SIZE, recordsOf } from './rest-api.ts';

type Collections = Pick<
  Cms,
  | ('maxPageSize' | 'apiUrl' | 'gatewayId' | 'list' | 'read' | 'create' | 'update' | 'trash' | 'delete')
  | ('resendAfterCreate' | 'findCreated' | 'isIdTaken')
>;

/** The error for a page after the last one; for terms WordPress sends an empty list instead. */
const PAGE_PAST_END = 'rest_post_invalid_page_number';

/**
 * Calls to the collections of `wp/v2`, named by their `rest_base`. One long function: an object with one short method
 * for each operation of the port, as Payload has it.
 */
export function createCollections(call: RestCall): Collections {
  const remove = async (spec: CollectionSpec, id: number, query: Query, options: CallOptions): Promise<CmsRecord> =>
    writtenRecordOf(await call('DELETE', routeOf(spec, id), { query }, options));

  return {
    maxPageSize: MAX_PAGE_SIZE,
    gatewayId,
    apiUrl: (site, spec, id) => `${site.url}/wp-json/${routeOf(spec)}${id === undefined ? '' : `/${id}`}`,

    async list(spec, request, options) {
      try {
        const response = await call('GET', routeOf(spec), { query: listQuery(spec, request) }, options);
        const records = recordsOf(response).map((record) => normalize(spec, record));
        return {
          records: records.filter(hasSlug(request.slug)),
          total: parseTotal(spec.collection, response.headers['x-wp-total']),
          cmsTimeMs: Date.parse(response.headers.date ?? '') || Date.now(),
        };
      } catch (error) {
        if (!(error instanceof CmsRejected) || error.code !== PAGE_PAST_END) throw error;
        // No total comes with this error. The sync lists posts by offset, and so gets the true one (`readAll`).
        return { records: [], total: 0, cmsTimeMs: Date.now() };
      }
    },

    async read(spec, id, { view, detail, password }, options) {
      const query = {
        ...spec.recordParams,
        ...contextOf(spec, view),
        ...fieldsOf(spec, detail),
        ...(password !== undefined && { password }),
      };
      return normalize(spec, objectOf(await call('GET', routeOf(spec, id), { query }, options)));
    },

    async create(spec, body, options) {
      return normalize(spec, writtenRecordOf(await call('POST', routeOf(spec), { json: body }, options)));
    },

    resendAfterCreate(spec, body) {
      const { resendAfterCreate = [] } = settingsOf(spec);
      return resendAfterCreate.length > 0 ? pickPaths(body, resendAfterCreate) : undefined;
    },

    async update(spec, id, body, options) {
      return normalize(spec, writtenRecordOf(await sendUpdate(call, routeOf(spec, id), body, options)));
    },

    trash: async (spec, id, options) => normalize(spec, await remove(spec, id, {}, options)),

    async delete(spec, id, options) {
      await remove(spec, id, { force: true }, options);
    },

    async findCreated(key, options) {
      const response = call('GET', 'calendar-gateway/v1/created', { query: { key } }, options);
      // No companion plugin, an older one, or one that rejects this user.
      const { created } = await response.then(
        objectOf,
        ifRejected(() => ({ created: undefined })),
      );
      if (!Array.isArray(created)) return undefined;
      const records = created.map(objectOrEmpty);
      return records.map(({ collection, id }) => ({ collection: String(collection), id: Number(id) }));
    },

    async isIdTaken(id, options) {
      const query = { include: id, type: 'post', subtype: 'any', _fields: 'id' };
      const results = recordsOf(await call('GET', 'wp/v2/search', { query }, options));
      if (results.some((item) => item.id === id)) return true;
      // The search finds no images. 401 and 403 say that there is one, which this caller may not see.
      const isImage = call('GET', `wp/v2/media/${id}`, { query: { _fields: 'id' } }, options).then(() => true);
      return isImage.catch(ifRejected(({ refusesAccess }) => refusesAccess));
    },
  };
}

const routeOf = (spec: CollectionSpec, id?: number): string =>
  `wp/v2/${spec.collection}${id === undefined ? '' : `/${cmsIdOf(spec, id)}`}`;

/** WordPress keeps no repeated hyphens in a slug, and none at its ends. */
const comparableSlug = (slug: unknown): string => trimCharacters(slugKey(String(slug)).replace(/-+/g, '-'), '-');

/**
 * WordPress cleans a wanted slug before it searches: `a!b` would find `ab`. `%` and `-` become empty and
 * would find every draft, because drafts have no slug.
 */
function hasSlug(wanted: string | undefined): (record: CmsRecord) => boolean {
  if (wanted === undefined) return () => true;
  const comparable = comparableSlug(wanted);
  return ({ slug }) => comparable !== '' && comparableSlug(slug) === comparable;
}

function listQuery(spec: CollectionSpec, request: ListRequest): Query {
  const { view, detail, order, limit, offset, page, ids, slug, author, modifiedAfterUtc } = request;
  return {
    ...settingsOf(spec).listParams,
    ...spec.recordParams,
    ...contextOf(spec, view),
    ...statusQuery(spec, request),
    ...(author !== undefined && { author }),
    ...(slug !== undefined && { slug }),
    ...(ids !== undefined && { include: ids.map((id) => cmsIdOf(spec, id)).join(',') }),
    ...(modifiedAfterUtc !== undefined && { modified_after: `${modifiedAfterUtc.replace(' ', 'T')}Z` }),
    ...(order !== undefined && {
      orderby: order.replace('-', ''),
      order: order.startsWith('-') ? 'desc' : 'asc',
    }),
    ...(limit !== undefined && { per_page: limit }),
    ...(offset !== undefined && { offset }),
    ...(page !== undefined && { page }),
    ...fieldsOf(spec, detail),
  };
}

/** Without the context `edit` WordPress takes wrong credentials for none. Lists of terms are public anyway. */
function contextOf(spec: CollectionSpec, view: CmsView): Query {
  return view === 'editor' && spec.storedAs === 'posts' ? { context: 'edit' } : {};
}

/** WordPress lists the public statuses of a plugin, such as `expired`, to an account that asks for them. */
function statusQuery(spec: CollectionSpec, { view, statuses }: ListRequest): Query {
  if (spec.storedAs !== 'posts') return {};
  const { statuses: ofPlugins = [] } = settingsOf(spec);
  if (statuses === 'any') return { status: 'any' };
  if (statuses === 'all') return { status: [...new Set([...STATUSES, ...ofPlugins])].join(',') };
  if (statuses !== undefined) return { status: statuses.join(',') };
  return view === 'reader' && ofPlugins.length > 0 ? { status: ['publish', ...ofPlugins].join(',') } : {};
}

function fieldsOf(spec: CollectionSpec, detail: Detail | undefined): Query {
  if (detail === undefined) return {};
  return { _fields: detail === 'mapped' ? spec.selectedFields : DETAIL_FIELDS[detail] };
}

function pickPaths(body: CmsRecord, paths: readonly string[]): CmsRecord {
  const picked: CmsRecord = {};
  for (const path of paths) setAt(picked, path.split('.'), valueIn(body, path.split('.')));
  return picked;
}

/** Throws without a total, since the sync could not know if a list is complete. */
function parseTotal(collection: string, header: string | undefined): number {
  if (header !== undefined && /^\d+$/.test(header.trim())) return Number(header);
  const message = `The CMS's list of ${collection} does not say how many there are (X-WP-Total).`;
  throw new CmsUnavailable('incomplete', message);
}

/** The property of a record with the fields of Advanced Custom Fields. */
const ACF = 'acf';

/**
 * Sends an update. Advanced Custom Fields refuses one with some of its fields, such as `{"acf": {"price": 20}}`, if the
 * site requires others, such as `start`. The refusal comes before anything is written. So the update is sent again with
 * the stored values of required fields that it lacks: `{"acf": {"price": 20, "start": "2031-05-01 19:30:00", ...}}`.
 */
export async function sendUpdate(call: RestCall, route: string, body: CmsRecord, options: CallOptions) {
  try {
    return await call('POST', route, { json: body }, options);
  } catch (error) {
    const sent = body[ACF];
    const isRefused = error instanceof CmsRejected && error.written === 'no' && error.fields.includes(ACF);
    if (!isRefused || !isObject(sent)) throw error;
    // Of this record, not of the collection: which field groups a record has may depend on it.
    const { schema } = objectOf(await call('OPTIONS', route, {}, options));
    const rules = objectOrEmpty(objectOrEmpty(objectOrEmpty(schema).properties)[ACF]);
    const query = { context: 'edit', _fields: ACF };
    const stored = objectOf(await call('GET', route, { query }, options))[ACF];
    const completed = withRequired(sent, objectOrEmpty(stored), rules);
    // The update lacks none, and was refused for another reason: a price that is no number.
    if (isDeepStrictEqual(completed, sent)) throw error;
    const json = { ...body, [ACF]: { ...completed, ...notToBeStored(sent, completed) } };
    return call('POST', route, { json }, options);
  }
}

/** `sent` with the stored values of the required fields that it lacks, also in groups of fields that it changes. */
function withRequired(sent: CmsRecord, stored: CmsRecord, schema: CmsRecord): CmsRecord {
  const completed = { ...sent };
  for (const [name, property] of Object.entries(objectOrEmpty(schema.properties))) {
    const inner = objectOrEmpty(property);
    if (isObject(sent[name])) completed[name] = withRequired(sent[name], objectOrEmpty(stored[name]), inner);
    // The plugin shows a field without a value as a blank text, which a number or a date refuses.
    else if (inner.required === true && !Object.hasOwn(sent, name))
      completed[name] = stored[name] === '' ? null : (stored[name] ?? null);
  }
  return completed;
}

/**
 * Keeps the plugin from storing the values that `completed` has beyond `sent`: an editor may have changed them since
 * they were read. `{"_acf_field_key_map": {"start": "(none)"}}` makes the plugin look for the field `start` under a key
 * that no field has: it accepts the value, and stores nothing (`update_fields` of version 6.8.0, and of Secure Custom
 * Fields). Values inside a group are stored as read: the map cannot name them. A version without the map stores all.
 */
function notToBeStored(sent: CmsRecord, completed: CmsRecord): CmsRecord {
  const added = Object.keys(completed).filter((name) => !Object.hasOwn(sent, name));
  return { _acf_field_key_map: Object.fromEntries(added.map((name) => [name, '(none)'])) };
}
