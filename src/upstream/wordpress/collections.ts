// Posts and terms of WordPress: one code for both, since their routes, paging and errors are the same.

import { UpstreamAway, UpstreamRefused } from '../../errors.ts';
import type { CallOptions, Query, Upstream } from '../port.ts';
import type { Call } from './calls.ts';
import { nativeOf, nativesOf, recordOr, writtenOf } from './refusals.ts';

type Collections = Pick<
  Upstream,
  'list' | 'read' | 'create' | 'update' | 'remove' | 'isUnusedTerm' | 'createdWith' | 'exists'
>;

/** A page beyond the last; terms answer an empty list instead. */
const PAST_THE_END = 'rest_post_invalid_page_number';
const NO_TRASH = 'rest_trash_not_supported';

/** The collections of `wp/v2` by their `rest_base` (upstream-wordpress 6: collections, delete). */
export function createCollections(call: Call): Collections {
  return {
    async list(base, query, options) {
      try {
        const answer = await call('GET', `wp/v2/${base}`, { query }, options);
        return {
          items: nativesOf(answer),
          total: total(base, answer.headers['x-wp-total']),
          totalPages: count(answer.headers['x-wp-totalpages']),
          serverTimeMs: clock(answer.headers.date),
        };
      } catch (error) {
        if (!isRefused(error, PAST_THE_END)) throw error;
        return { items: [], total: 0, totalPages: 0, serverTimeMs: Date.now() };
      }
    },

    async read(base, id, query, options) {
      return nativeOf(await call('GET', `wp/v2/${base}/${id}`, { query }, options));
    },

    async create(base, body, options) {
      return writtenOf(await call('POST', `wp/v2/${base}`, { json: body }, options));
    },

    async update(base, id, body, options) {
      return writtenOf(await call('POST', `wp/v2/${base}/${id}`, { json: body }, options));
    },

    async remove(base, id, { force }, options) {
      const remove = async (forGood: boolean) =>
        writtenOf(await call('DELETE', `wp/v2/${base}/${id}`, { query: forGood ? { force: true } : {} }, options));
      if (force || base === 'media') return remove(true);
      try {
        return await remove(false);
      } catch (error) {
        // A site may have switched the trash off for its posts: they are not deleted for good unless that was asked for.
        if (!isRefused(error, NO_TRASH) || !(await isTaxonomy(call, base, options))) throw error;
        return remove(true);
      }
    },

    async isUnusedTerm(base, id, options) {
      const taxonomies = Object.values(nativeOf(await call('GET', 'wp/v2/taxonomies', {}, options))).map(recordOr);
      const taxonomy = taxonomies.find(({ rest_base }) => rest_base === base);
      if (!taxonomy || !Array.isArray(taxonomy.types)) return false;
      const types = nativeOf(await call('GET', 'wp/v2/types', {}, options));
      const bases = taxonomy.types.map((type) => recordOr(types[String(type)]).rest_base);
      if (!bases.every((one) => typeof one === 'string')) return false;
      const lists = bases.map((one): [string, Query] => [one, { [base]: id, status: 'any' }]);
      if (taxonomy.hierarchical === true) lists.push([base, { parent: id, hide_empty: false }]);
      for (const [one, query] of lists) {
        const parts = { query: { ...query, per_page: 1, _fields: 'id' } };
        const answer = await call('GET', `wp/v2/${one}`, parts, options);
        // What the caller may not see is counted all the same.
        if (answer.headers['x-wp-total'] !== '0') return false;
      }
      return true;
    },

    async createdWith(key, options) {
      try {
        const { created } = nativeOf(await call('GET', 'calendar-gateway/v1/created', { query: { key } }, options));
        if (!Array.isArray(created)) return undefined;
        return created.map(recordOr).map(({ collection, id }) => ({ collection: String(collection), id: Number(id) }));
      } catch (error) {
        // The site has no companion plugin, or an older one, or does not answer this user.
        if (error instanceof UpstreamRefused) return undefined;
        throw error;
      }
    },

    async exists(id, options) {
      const query = { include: id, type: 'post', subtype: 'any', _fields: 'id' };
      const found = nativesOf(await call('GET', 'wp/v2/search', { query }, options));
      if (found.some((item) => item.id === id)) return true;
      try {
        await call('GET', `wp/v2/media/${id}`, { query: { _fields: 'id' } }, options);
        return true;
      } catch (error) {
        if (!(error instanceof UpstreamRefused)) throw error;
        return error.status === 401 || error.status === 403;
      }
    },
  };
}

async function isTaxonomy(call: Call, base: string, { lane, share }: CallOptions): Promise<boolean> {
  const answer = await call('GET', 'wp/v2/taxonomies', {}, { ...(lane && { lane }), ...(share && { share }) });
  return Object.values(nativeOf(answer)).some((taxonomy) => recordOr(taxonomy).rest_base === base);
}

function isRefused(error: unknown, code: string): boolean {
  return error instanceof UpstreamRefused && error.code === code;
}

/** Without a total the gateway cannot know whether a list is complete. */
function total(base: string, header: string | undefined): number {
  if (header !== undefined && /^\d+$/.test(header.trim())) return count(header);
  throw new UpstreamAway('incomplete', `The CMS's list of ${base} does not say how many there are (X-WP-Total).`);
}

function count(header: string | undefined): number {
  return Number.parseInt(header ?? '', 10) || 0;
}

function clock(date: string | undefined): number {
  return Date.parse(date ?? '') || Date.now();
}
