// What this site calls the capabilities of a collection, asked for and kept; and what an actor may see of each kind by them.

import { LRUCache } from 'lru-cache';
import { UpstreamAway } from '../errors.ts';
import type { Kind, PostKind } from '../records.ts';
import type { Visibilities, Visibility } from '../replica/filters.ts';
import type { Asked } from './asked.ts';
import type { Backing } from './backing.ts';
import { type Caller, type CapabilityNames, GENERAL, visibilityOf } from './visibility.ts';

const NAMES_KEPT_MS = 10 * 60_000;
/** After a failure: a request asks for these names several times, and must not wait for a CMS that is away with each. */
const FAILURE_KEPT_MS = 5000;
/** Failures that are remembered, of all accounts and collections. */
const FAILURES = 2000;

interface KeptNames {
  names: CapabilityNames;
  untilMs: number;
}

interface Kept {
  /** By `rest_base`; the same for all actors. */
  known: Map<string, KeptNames>;
  /** By account: the CMS is away, for every collection alike. By account and `rest_base`: it answered without telling (`undefined`). */
  failures: LRUCache<string, { error: UpstreamAway | undefined }>;
  /** By account and `rest_base`: concurrent requests share one look-up (single-flight). */
  pending: Map<string, Promise<LookedUp>>;
}

const byBacking = new WeakMap<Backing, Kept>();

function keptOf(backing: Backing): Kept {
  let kept = byBacking.get(backing);
  if (!kept) {
    kept = { known: new Map(), failures: new LRUCache({ max: FAILURES, ttl: FAILURE_KEPT_MS }), pending: new Map() };
    byBacking.set(backing, kept);
  }
  return kept;
}

/**
 * What this site calls the capabilities of a kind's collection. Read with the service account or the caller's own credentials and
 * kept. `undefined` while they are unknown: the CMS is away, or it shows the collection's rights to neither account. General names would
 * take a right to edit posts for one to edit events.
 */
export async function capabilityNames(
  backing: Backing,
  kind: Kind,
  caller: Caller,
): Promise<CapabilityNames | undefined> {
  return (await lookUp(backing, kind, caller)).names;
}

/** The same for a write, which must not be refused as forbidden only because the CMS is away. Throws `UpstreamAway`. */
export async function capabilityNamesForWrite(
  backing: Backing,
  kind: Kind,
  caller: Caller,
): Promise<CapabilityNames | undefined> {
  const { names, error } = await lookUp(backing, kind, caller);
  if (error) throw error;
  return names;
}

/** What the caller may see of one kind. */
export async function visibilityFor(backing: Backing, kind: PostKind, caller: Caller): Promise<Visibility> {
  return visibilityOf(caller, await capabilityNames(backing, kind, caller));
}

/** What the caller may see of every kind, each by its own capabilities. */
export async function visibilitiesFor(backing: Backing, { caller }: Pick<Asked, 'caller'>): Promise<Visibilities> {
  // A CMS that is away is asked once, not for each kind.
  const event = await visibilityFor(backing, 'event', caller);
  const [venue, organizer] = await Promise.all([
    visibilityFor(backing, 'venue', caller),
    visibilityFor(backing, 'organizer', caller),
  ]);
  return { event, venue, organizer };
}

interface LookedUp {
  names: CapabilityNames | undefined;
  error?: UpstreamAway | undefined;
}

async function lookUp(backing: Backing, kind: Kind, caller: Caller): Promise<LookedUp> {
  const base = backing.mapping.kinds[kind]?.base;
  if (!caller.account) return { names: undefined };
  // The site has no such collection: there is nothing in it to hide.
  if (base === undefined) return { names: GENERAL };
  const kept = keptOf(backing);
  const known = kept.known.get(base);
  const nowMs = performance.now();
  if (known && nowMs < known.untilMs) return { names: known.names };
  if (known) {
    // The known names stay in use while the gateway asks again: no request waits.
    known.untilMs = nowMs + FAILURE_KEPT_MS;
    void ask();
    return { names: known.names };
  }
  const user = String(caller.account.userId);
  const here = `${user} ${base}`;
  const failed = kept.failures.get(user) ?? kept.failures.get(here);
  if (failed) return { names: undefined, error: failed.error };
  let pending = kept.pending.get(here);
  if (!pending) {
    pending = ask().finally(() => kept.pending.delete(here));
    kept.pending.set(here, pending);
  }
  const { names, error } = await pending;
  if (!names) kept.failures.set(error ? user : here, { error });
  return { names, error };

  async function ask(): Promise<LookedUp> {
    // A service account without rights to this collection is not shown them; the caller may be.
    for (const credentials of new Set([backing.service, caller.credentials])) {
      if (credentials === undefined) continue;
      try {
        const { capabilities } = await backing.upstream.facts(base!, {
          ...{ credentials, lane: 'callers', share: String(caller.account?.userId) },
        });
        if (Object.keys(capabilities).length === 0) continue;
        kept.known.set(base!, { names: capabilities, untilMs: performance.now() + NAMES_KEPT_MS });
        return { names: capabilities };
      } catch (error) {
        if (error instanceof UpstreamAway) return { names: undefined, error };
      }
    }
    return { names: undefined };
  }
}
