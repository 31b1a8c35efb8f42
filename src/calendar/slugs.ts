// Slug -> id for events, venues and organizers: an LRU cache in front of the copy and of one native question.

import { LRUCache } from 'lru-cache';
import { UpstreamRefused } from '../errors.ts';
import type { PostKind } from '../records.ts';
import { type Asked, callOptions } from './asked.ts';
import type { Backing } from './backing.ts';
import { capabilityNames } from './capabilities.ts';
import { keep } from './posts.ts';
import { NO_ROUTE, translate } from './translate.ts';
import { isStaff } from './visibility.ts';

/** WordPress's column for slugs, in bytes; a slug there is percent-encoded ASCII. */
const MAX_SLUG_BYTES = 200;
/** Bytes of the cache. An entry counts its key, and about the same again as overhead. */
const MAX_CACHE_BYTES = 16 * 1024 * 1024;
const ENTRY_BYTES = 250;
const UNKNOWN_KEPT_MS = 5000;
const UNKNOWN = 0;

export interface Slugs {
  /**
   * Id of the post with this slug, public ones first; undefined when there is none that the caller could be told of. Only the CMS's own
   * answer makes a slug unknown: while it gives none, this throws `UpstreamAway` and remembers nothing.
   */
  resolve(kind: PostKind, slug: string, asked: Asked): Promise<number | undefined>;
}

/** Known slugs hold until the record they lead to has another; unknown ones are kept for a short time, apart for staff and public. */
export function createSlugs(backing: Backing): Slugs {
  const ids = new LRUCache<string, number>({
    maxSize: MAX_CACHE_BYTES,
    sizeCalculation: (_, key) => key.length + ENTRY_BYTES,
  });
  const { replica } = backing;

  const stillLeads = (kind: PostKind, slug: string, id: number): boolean =>
    id === UNKNOWN || replica.get(kind, id)?.slug.toLowerCase() === slug;

  function copied(kind: PostKind, slug: string): number | undefined {
    const found = [...replica.getMany(kind, replica.bySlug(kind, slug)).values()];
    return (found.find(({ status }) => status === 'publish') ?? found[0])?.id;
  }

  async function native(kind: PostKind, slug: string, asked: Asked, staff: boolean): Promise<number | undefined> {
    const mapping = backing.mapping.kinds[kind];
    if (!mapping) return undefined;
    const moment = backing.keeping.moment();
    const scope = staff ? { status: 'any', context: 'edit' } : {};
    try {
      const { items } = await backing.upstream.list(
        mapping.base,
        { ...mapping.listParams, slug, ...scope },
        callOptions(asked),
      );
      if (!items[0]) return undefined;
      return (await keep(backing, kind, items[0], { moment, as: callOptions(asked) })).id;
    } catch (error) {
      if (!(error instanceof UpstreamRefused) || error.status >= 500) throw error;
      if (error.code === NO_ROUTE) throw translate(error, { kind, anonymous: !asked.caller.account });
      return undefined;
    }
  }

  return {
    async resolve(kind, text, asked) {
      const slug = encodeURIComponent(text.toWellFormed().toLowerCase()).toLowerCase().replaceAll('%25', '%');
      if (slug.length > MAX_SLUG_BYTES) return undefined;
      const staff = isStaff(asked.caller, await capabilityNames(backing, kind, asked.caller));
      const key = `${kind} ${staff ? 'staff' : 'public'} ${slug}`;
      const known = ids.get(key);
      if (known && stillLeads(kind, slug, known)) return known;
      const here = copied(kind, slug);
      if (here !== undefined) {
        ids.set(key, here);
        return here;
      }
      if (known === UNKNOWN) return undefined;
      const found = await backing.unknown.ask(asked.caller, kind, () => native(kind, slug, asked, staff));
      const there = found ? found.answer : copied(kind, slug);
      if (!found && there === undefined) return undefined;
      ids.set(key, there ?? UNKNOWN, there === undefined ? { ttl: UNKNOWN_KEPT_MS } : {});
      return there;
    },
  };
}
