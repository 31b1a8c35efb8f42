// Posts and terms of WordPress. Both use the same code, since their routes, paging and errors are the same.

import { CmsRejected, CmsUnavailable } from '../../errors.ts';
import { STATUSES } from '../../model/records.ts';
import { slugKey } from '../../text/text.ts';
import type { RestCall } from '../client.ts';
import type { CallOptions, Cms, CmsRecord, CmsView, CollectionSpec, Detail, ListRequest, Query } from '../port.ts';
import { cmsIdOf, DETAIL_FIELDS, gatewayId, normalize, settingsOf } from './record-form.ts';
import { createUpdate } from './required-fields.ts';
import { objectOrEmpty, recordOf, recordsOf, writtenRecordOf } from './rest-api.ts';

type Collections = Pick<
  Cms,
  | ('maxPageSize' | 'apiUrl' | 'gatewayId' | 'list' | 'read' | 'create' | 'update' | 'trash' | 'delete')
  | ('touchAfterCreate' | 'findCreated' | 'exists')
>;

/** The error for a page after the last one; for terms WordPress sends an empty list instead. */
const PAGE_PAST_END = 'rest_post_invalid_page_number';

/** Calls to the collections of `wp/v2`, named by their `rest_base`. */
export function createCollections(call: RestCall): Collections {
  const sendUpdate = createUpdate(call);
  const remove = async (spec: CollectionSpec, id: number, query: Query, options: CallOptions): Promise<CmsRecord> =>
    writtenRecordOf(await call('DELETE', routeOf(spec, id), { query }, options));

  return {
    maxPageSize: 100,
    gatewayId,
    apiUrl: (site, spec, id) => `${site.url}/wp-json/${routeOf(spec)}${id === undefined ? '' : `/${id}`}`,

    async list(spec, request, options) {
      try {
        const response = await call('GET', routeOf(spec), { query: listQuery(spec, request) }, options);
        return {
          records: recordsOf(response)
            .map((record) => normalize(spec, record))
            .filter(hasSlug(request.slug)),
          total: parseTotal(spec.collection, response.headers['x-wp-total']),
          cmsTimeMs: Date.parse(response.headers.date ?? '') || Date.now(),
        };
      } catch (error) {
        if (!(error instanceof CmsRejected) || error.code !== PAGE_PAST_END) throw error;
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
      return normalize(spec, recordOf(await call('GET', routeOf(spec, id), { query }, options)));
    },

    async create(spec, body, options) {
      return normalize(spec, writtenRecordOf(await call('POST', routeOf(spec), { json: body }, options)));
    },

    touchAfterCreate(spec, body) {
      const { touchAfterCreate = [] } = settingsOf(spec);
      return touchAfterCreate.length > 0 ? pickPaths(body, touchAfterCreate) : undefined;
    },

    async update(spec, id, body, options) {
      return normalize(spec, writtenRecordOf(await sendUpdate(spec.collection, cmsIdOf(spec, id), body, options)));
    },

    trash: async (spec, id, options) => normalize(spec, await remove(spec, id, {}, options)),

    async delete(spec, id, options) {
      await remove(spec, id, { force: true }, options);
    },

    async findCreated(key, options) {
      try {
        const { created } = recordOf(await call('GET', 'calendar-gateway/v1/created', { query: { key } }, options));
        if (!Array.isArray(created)) return undefined;
        return created
          .map(objectOrEmpty)
          .map(({ collection, id }) => ({ collection: String(collection), id: Number(id) }));
      } catch (error) {
        // No companion plugin, an older one, or one that rejects this user.
        if (error instanceof CmsRejected) return undefined;
        throw error;
      }
    },

    async exists(id, options) {
      const query = { include: id, type: 'post', subtype: 'any', _fields: 'id' };
      const results = recordsOf(await call('GET', 'wp/v2/search', { query }, options));
      if (results.some((item) => item.id === id)) return true;
      try {
        await call('GET', `wp/v2/media/${id}`, { query: { _fields: 'id' } }, options);
        return true;
      } catch (error) {
        if (!(error instanceof CmsRejected)) throw error;
        return error.status === 401 || error.status === 403;
      }
    },
  };
}

const routeOf = (spec: CollectionSpec, id?: number): string =>
  `wp/v2/${spec.collection}${id === undefined ? '' : `/${cmsIdOf(spec, id)}`}`;

/** WordPress keeps no repeated hyphens in a slug, and none at its ends. */
const comparableSlug = (slug: unknown): string =>
  slugKey(String(slug))
    .split('-')
    .filter((part) => part !== '')
    .join('-');

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
  const { view, detail, order, limit, offset, page, ids, slug, author } = request;
  const { modifiedAfterUtc, modifiedBeforeUtc } = request;
  return {
    ...settingsOf(spec).listParams,
    ...spec.recordParams,
    ...contextOf(spec, view),
    ...statusQuery(spec, request),
    ...(author !== undefined && { author }),
    ...(slug !== undefined && { slug }),
    ...(ids !== undefined && { include: ids.map((id) => cmsIdOf(spec, id)).join(',') }),
    ...(modifiedAfterUtc !== undefined && { modified_after: toParam(modifiedAfterUtc) }),
    ...(modifiedBeforeUtc !== undefined && { modified_before: toParam(modifiedBeforeUtc) }),
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

const toParam = (utc: string): string => `${utc.replace(' ', 'T')}Z`;

/**
 * WordPress answers wrong credentials as it answers no credentials, unless the context is `edit`: then it
 * refuses. Terms are public.
 */
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
  for (const path of paths) {
    const [top, key] = path.split('.') as [string, string | undefined];
    const value = body[top];
    if (key === undefined) picked[top] = value;
    else picked[top] = { ...objectOrEmpty(picked[top]), [key]: objectOrEmpty(value)[key] };
  }
  return picked;
}

/** Throws without a total, since the sync could not know if a list is complete. */
function parseTotal(collection: string, header: string | undefined): number {
  if (header !== undefined && /^\d+$/.test(header.trim())) return Number(header);
  throw new CmsUnavailable(
    'incomplete',
    `The CMS's list of ${collection} does not say how many there are (X-WP-Total).`,
  );
}
