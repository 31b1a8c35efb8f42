// Posts and terms of WordPress. Both use the same code, since their routes, paging and errors are the same.

import { CmsRejected, CmsUnavailable } from '../../errors.ts';
import type { CallOptions, Cms, Query } from '../port.ts';
import { createUpdate } from './required-fields.ts';
import type { RestCall } from './rest-calls.ts';
import { objectOrEmpty, recordOf, recordsOf, writtenRecordOf } from './rest-responses.ts';

type Collections = Pick<
  Cms,
  'list' | 'read' | 'create' | 'update' | 'remove' | 'isUnusedTerm' | 'findCreated' | 'exists'
>;

/** The error for a page after the last one; for terms WordPress sends an empty list instead. */
const PAGE_PAST_END = 'rest_post_invalid_page_number';

/** Calls to the collections of `wp/v2`, named by their `rest_base`. */
export function createCollections(call: RestCall): Collections {
  const sendUpdate = createUpdate(call);
  return {
    async list(collection, query, options) {
      try {
        const response = await call('GET', `wp/v2/${collection}`, { query }, options);
        return {
          records: recordsOf(response),
          total: parseTotal(collection, response.headers['x-wp-total']),
          totalPages: parseCount(response.headers['x-wp-totalpages']),
          cmsTimeMs: parseDate(response.headers.date),
        };
      } catch (error) {
        if (!hasErrorCode(error, PAGE_PAST_END)) throw error;
        return { records: [], total: 0, totalPages: 0, cmsTimeMs: Date.now() };
      }
    },

    async read(collection, id, query, options) {
      return recordOf(await call('GET', `wp/v2/${collection}/${id}`, { query }, options));
    },

    async create(collection, body, options) {
      return writtenRecordOf(await call('POST', `wp/v2/${collection}`, { json: body }, options));
    },

    async update(collection, id, body, options) {
      return writtenRecordOf(await sendUpdate(collection, id, body, options));
    },

    async remove(collection, id, { force }, options) {
      const remove = async (permanently: boolean) =>
        writtenRecordOf(
          await call('DELETE', `wp/v2/${collection}/${id}`, { query: permanently ? { force: true } : {} }, options),
        );
      if (force || collection === 'media') return remove(true);
      try {
        return await remove(false);
      } catch (error) {
        // Terms have no trash. A post whose site has disabled the trash is deleted only with `force`.
        if (!isNoTrash(error) || !(await isTaxonomy(call, collection, options))) throw error;
        return remove(true);
      }
    },

    async isUnusedTerm(collection, id, options) {
      const taxonomies = Object.values(recordOf(await call('GET', 'wp/v2/taxonomies', {}, options))).map(objectOrEmpty);
      const taxonomy = taxonomies.find(({ rest_base }) => rest_base === collection);
      if (!taxonomy || !Array.isArray(taxonomy.types)) return false;
      const types = recordOf(await call('GET', 'wp/v2/types', {}, options));
      const postCollections = taxonomy.types.map((type) => objectOrEmpty(types[String(type)]).rest_base);
      if (!postCollections.every((name) => typeof name === 'string')) return false;
      const lists = postCollections.map((name): [string, Query] => [name, { [collection]: id, status: 'any' }]);
      if (taxonomy.hierarchical === true) lists.push([collection, { parent: id, hide_empty: false }]);
      for (const [name, query] of lists) {
        const parts = { query: { ...query, per_page: 1, _fields: 'id' } };
        const response = await call('GET', `wp/v2/${name}`, parts, options);
        // The total includes records that the caller may not see.
        if (response.headers['x-wp-total'] !== '0') return false;
      }
      return true;
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

async function isTaxonomy(call: RestCall, collection: string, options: CallOptions): Promise<boolean> {
  const { bulkhead, fairnessKey } = options;
  const taxonomies = recordOf(await call('GET', 'wp/v2/taxonomies', {}, { bulkhead, fairnessKey }));
  return Object.values(taxonomies).some((taxonomy) => objectOrEmpty(taxonomy).rest_base === collection);
}

const isNoTrash = (error: unknown): boolean => error instanceof CmsRejected && error.kind === 'no-trash';

function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof CmsRejected && error.code === code;
}

/** Throws without a total, since the sync could not know if a list is complete. */
function parseTotal(collection: string, header: string | undefined): number {
  if (header !== undefined && /^\d+$/.test(header.trim())) return parseCount(header);
  throw new CmsUnavailable(
    'incomplete',
    `The CMS's list of ${collection} does not say how many there are (X-WP-Total).`,
  );
}

function parseCount(header: string | undefined): number {
  return Number.parseInt(header ?? '', 10) || 0;
}

function parseDate(date: string | undefined): number {
  return Date.parse(date ?? '') || Date.now();
}
