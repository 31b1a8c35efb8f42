// The CMS as the mapping sees it: terms that stand for venues or organizers get ids that no post has, and a plugin's own statuses read as published.

import type { Native, Query, Upstream } from '../upstream/port.ts';
import type { Mapping } from './mapping.ts';

/**
 * Added to the id of a term that is a venue or an organizer. Posts and terms are counted separately by WordPress, and the interface
 * has one id space for events, venues and organizers. Far above any post id, below the ids of inline records, and easy to read.
 */
export const TERM_IDS_FROM = 1_000_000_000_000;

/** Where a record that a plugin's own status makes public keeps that status: the CMS does not list those to anonymous readers. */
export const OWN_STATUS = 'calendar_gateway_status';

const USUAL_STATUSES = new Set(['publish', 'future', 'draft', 'pending', 'private', 'trash', 'auto-draft', 'inherit']);

/** How the records of one collection differ from what the CMS answers. */
interface Fit {
  idsFrom: number;
  /** Statuses of a plugin, such as `expired`: everybody may see what has them. */
  published: ReadonlySet<string>;
}

function fitsOf({ kinds }: Mapping): ReadonlyMap<string, Fit> {
  const fits = new Map<string, Fit>();
  for (const mapping of Object.values(kinds)) {
    const linked = mapping.kind === 'venue' || mapping.kind === 'organizer';
    const idsFrom = linked && mapping.as === 'terms' ? TERM_IDS_FROM : 0;
    const published = new Set(mapping.statuses.filter((status) => !USUAL_STATUSES.has(status)));
    if (idsFrom > 0 || published.size > 0) fits.set(mapping.base, { idsFrom, published });
  }
  return fits;
}

function fitting(native: Native, { idsFrom, published }: Fit): Native {
  const fitted = { ...native };
  if (idsFrom > 0 && typeof native.id === 'number') fitted.id = native.id + idsFrom;
  if (published.has(String(native.status))) Object.assign(fitted, { status: 'publish', [OWN_STATUS]: native.status });
  return fitted;
}

function fittingQuery(query: Query, { idsFrom }: Fit): Query {
  if (idsFrom === 0 || query.include === undefined) return query;
  const ids = String(query.include).split(',');
  return { ...query, include: ids.map((id) => Number(id) - idsFrom).join(',') };
}

/** The id that the gateway gives to record `id` of a collection of the CMS, as a change notice names it. */
export function fittedId(mapping: Mapping, base: string, id: number): number {
  return id + (fitsOf(mapping).get(base)?.idsFrom ?? 0);
}

/** The same CMS with the records of the mapping's collections fitted; what needs no fitting is passed through. */
export function fittedUpstream(upstream: Upstream, mapping: Mapping): Upstream {
  const fits = fitsOf(mapping);
  if (fits.size === 0) return upstream;
  const own = (base: string, id: number): number => id - (fits.get(base)?.idsFrom ?? 0);
  const fitted = (base: string, native: Native): Native => {
    const fit = fits.get(base);
    return fit ? fitting(native, fit) : native;
  };
  return {
    ...upstream,
    async list(base, query, options) {
      const fit = fits.get(base);
      const page = await upstream.list(base, fit ? fittingQuery(query, fit) : query, options);
      return fit ? { ...page, items: page.items.map((item) => fitting(item, fit)) } : page;
    },
    read: async (base, id, query, options) => fitted(base, await upstream.read(base, own(base, id), query, options)),
    create: async (base, body, options) => fitted(base, await upstream.create(base, body, options)),
    update: async (base, id, body, options) => fitted(base, await upstream.update(base, own(base, id), body, options)),
    remove: async (base, id, how, options) => fitted(base, await upstream.remove(base, own(base, id), how, options)),
  };
}
