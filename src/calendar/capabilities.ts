// What this site calls the capabilities of a collection, asked for and kept.

import { UpstreamAway } from '../errors.ts';
import type { Kind } from '../records.ts';
import type { Backing } from './backing.ts';
import type { Caller, CapabilityNames } from './visibility.ts';

const NAMES_KEPT_MS = 10 * 60_000;
/** After a failure: a request asks for these names several times, and must not wait for a CMS that is away with each. */
const FAILURE_KEPT_MS = 5000;
interface KeptNames {
  names: CapabilityNames;
  isKnown: boolean;
  untilMs: number;
}
const names = new WeakMap<Backing, Map<string, KeptNames>>();

/**
 * What this site calls the capabilities of a kind's collection. Read with the service account or the caller's own credentials and
 * kept; where the CMS does not tell, WordPress's general names hold.
 */
export async function capabilityNames(backing: Backing, kind: Kind, caller: Caller): Promise<CapabilityNames> {
  const base = backing.mapping.kinds[kind]?.base;
  const credentials = backing.service ?? caller.credentials;
  if (base === undefined || credentials === undefined || !caller.account) return {};
  const kept = names.get(backing) ?? new Map<string, KeptNames>();
  names.set(backing, kept);
  const known = kept.get(base);
  const nowMs = performance.now();
  if (known && nowMs < known.untilMs) return known.names;
  if (!known?.isKnown) return ask();
  // What was known goes on to hold while it is asked again: nobody waits for that.
  known.untilMs = nowMs + FAILURE_KEPT_MS;
  void ask();
  return known.names;

  async function ask(): Promise<CapabilityNames> {
    try {
      const { capabilities } = await backing.upstream.facts(base!, {
        credentials,
        lane: 'callers',
        share: String(caller.account?.userId),
      });
      const isKnown = Object.keys(capabilities).length > 0;
      if (isKnown) kept.set(base!, { names: capabilities, isKnown, untilMs: performance.now() + NAMES_KEPT_MS });
      return capabilities;
    } catch (error) {
      if (!known?.isKnown && error instanceof UpstreamAway)
        kept.set(base!, { names: {}, isKnown: false, untilMs: performance.now() + FAILURE_KEPT_MS });
      return known?.names ?? {};
    }
  }
}
