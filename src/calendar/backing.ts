// What the operations stand on: the copy, the CMS, the mapping between them, and what this site calls its capabilities.

import { UpstreamAway } from '../errors.ts';
import type { Kinds, Mapping } from '../mapping/mapping.ts';
import type { Kind, Site, WallTime } from '../records.ts';
import { applyChange, type Change } from '../replica/commit.ts';
import type { Replica } from '../replica/store.ts';
import type { Sync } from '../replica/sync.ts';
import type { Zone } from '../time/zones.ts';
import type { CallOptions, Credentials, Upstream } from '../upstream/port.ts';
import { siteZone } from './dates.ts';
import type { Images } from './images.ts';
import type { Present } from './present.ts';
import { readOnly } from './refusals.ts';
import type { Caller, CapabilityNames } from './visibility.ts';

export interface ListSettings {
  /** Page size when none is asked for, and the largest there is. */
  perPage: number;
  maxPerPage: number;
}

/** How what the CMS answered gets into the copy; of several gateways into the copies of all, before it resolves. */
export interface Keeping {
  /** A moment to ask the CMS at. */
  moment(): number;
  /** What was answered to a question of that moment. */
  keep(change: Change, moment: number): Promise<void>;
  /** What a write of that moment made: no older answer undoes it. */
  wrote(change: Change, moment: number): Promise<void>;
}

/** The way of a gateway that stands alone: at once. */
export const keepingAlone = (replica: Replica, sync: Sync): Keeping => ({
  moment: () => 0,
  async keep(change) {
    applyChange(replica, change);
  },
  async wrote(change) {
    applyChange(replica, change);
    for (const { kind, id } of change.put ?? []) sync.wrote(kind, id);
    for (const { kind, ids } of change.remove ?? []) if (kind !== 'image') for (const id of ids) sync.wrote(kind, id);
  },
});

/** The other gateways, where there are any: what an answer was made at, and waiting until this gateway got there. */
export interface Others {
  version(): string;
  reached(version: string, withinMs: number): Promise<boolean | undefined>;
}

export interface Backing {
  replica: Replica;
  keeping: Keeping;
  others?: Others;
  upstream: Upstream;
  mapping: Mapping;
  sync: Sync;
  present: Present;
  /** The service account; without one only public records are copied. */
  service: Credentials;
  lists: ListSettings;
  /** Reads the data of a venue or organizer inside an event's body as its create route would. */
  readFields(kind: 'venue' | 'organizer', data: Record<string, unknown>): Input;
  site(): Site;
  nowMs(): number;
}

/** A checked request: values as read, of what was sent. */
export interface Input {
  path: { id?: number; slug?: string };
  /** By parameter name. */
  values: Record<string, unknown>;
  /** By parameter name, as sent; undeclared ones too. */
  sent: Record<string, unknown>;
  /** The same values under the names that records give them. */
  fields: Record<string, unknown>;
  /** Record field -> parameter. */
  parameterOf: Record<string, string>;
}

/** One request as the operations see it. */
export interface Asked {
  caller: Caller;
  /** Address of the namespace as called. */
  base: string;
  requestId?: string;
  /** The images that this request names, checked before the operation begins. */
  images: Images;
}

/** An operation's answer, before it is bytes. */
export interface Answer {
  status: number;
  /** JSON, or bytes that are sent as they are; a list of bytes is one body in pieces. */
  body: unknown;
  headers?: Record<string, string>;
  /** Records that the answer shows, for purging a CDN: `event-12`. */
  tags?: readonly string[];
  /** Public answers: until when the same question has the same answer, unless something changes. */
  validUntilMs?: number;
  /** Ready bytes have a stored ETag. */
  etag?: string;
  /** Single records: when what it shows was last changed, as far as that is known. */
  modifiedUtc?: WallTime;
  /** Version of the copy that it was read from; without one, that at its end. */
  version?: number;
}

export const callOptions = (asked: Pick<Asked, 'caller' | 'requestId'>): CallOptions => ({
  credentials: asked.caller.credentials,
  ...(asked.requestId === undefined ? {} : { requestId: asked.requestId }),
});

export const zoneOf = (backing: Backing): Zone => siteZone(backing.site().timezone);

/** The kind's mapping, which every read needs; undefined when the CMS has no such kind. */
export function kindOf<K extends Kind>(backing: Backing, kind: K): Kinds[K] {
  return backing.mapping.kinds[kind];
}

/** The kind's mapping for a write. Throws `GatewayError` when the CMS has no such kind or the mapping may only read it. */
export function writableKind<K extends Kind>(backing: Backing, kind: K): NonNullable<Kinds[K]> {
  const found = backing.mapping.kinds[kind];
  if (!found || found.readOnly) throw readOnly(kind);
  return found as NonNullable<Kinds[K]>;
}

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
      const { capabilities } = await backing.upstream.facts(base!, { credentials });
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
