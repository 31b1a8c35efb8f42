// Answers what the checks of a request ask about the world: records, terms, users and images.

import { LRUCache } from 'lru-cache';
import { type Asked, callOptions } from '../calendar/asked.ts';
import { findTerm, termExists } from '../calendar/attach.ts';
import type { Backing } from '../calendar/backing.ts';
import { capabilityNames } from '../calendar/capabilities.ts';
import { termId } from '../calendar/event-list.ts';
import { mayKnow, postExists } from '../calendar/posts.ts';
import type { Slugs } from '../calendar/slugs.ts';
import { isStaff } from '../calendar/visibility.ts';
import { UpstreamRefused } from '../errors.ts';
import type { Lookups } from '../interface/value-kind.ts';
import type { Kind, PostKind } from '../records.ts';

const USERS_KEPT_MS = 60_000;
const users = new LRUCache<string, boolean>({ max: 5000, ttl: USERS_KEPT_MS });

const isPost = (kind: Kind): kind is PostKind => kind !== 'category' && kind !== 'tag';

/**
 * The lookups of one request; `kind` is that of its route, undefined on routes without records. They look into the copy first and ask
 * the CMS with the caller's credentials; they throw `UpstreamAway`.
 */
export async function createLookups(
  backing: Backing,
  slugs: Slugs,
  asked: Asked,
  kind: Kind | undefined,
): Promise<Lookups> {
  const names = kind === undefined ? undefined : await capabilityNames(backing, kind, asked.caller);

  return {
    staff: isStaff(asked.caller, names),
    exists: async (of, id) => (isPost(of) ? postExists(backing, of, id, asked) : termExists(backing, of, id, asked)),
    async slug(of, slug) {
      const id = await slugs.resolve(of, slug, asked);
      return id !== undefined && (await mayKnow(backing, of, id, asked));
    },
    async term(of, text) {
      const found = termId(backing, of, text);
      if (found !== undefined || !/^\d+$/.test(text)) return found ?? findTerm(backing, of, text);
      return (await termExists(backing, of, Number(text), asked)) ? Number(text) : undefined;
    },
    async user(id) {
      if (id === asked.caller.account?.userId) return true;
      // Whoever may not write is told so later; nobody else makes the gateway look for users.
      if (!asked.caller.account) return true;
      const key = `${backing.site().url} ${id}`;
      const known = users.get(key);
      if (known !== undefined) return known;
      const exists = await backing.upstream.read('users', id, { _fields: 'id' }, callOptions(asked)).then(
        () => true,
        (error: unknown) => {
          if (error instanceof UpstreamRefused) return error.status !== 404;
          throw error;
        },
      );
      users.set(key, exists);
      return exists;
    },
    image: (value) => asked.images.usable(value),
  };
}
