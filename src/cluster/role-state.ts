// The roles of a gateway in a cluster, as a pure state machine: no I/O, and `nowMs` is passed in.
// docs/internals/cluster.md explains the roles.

/*
 *                connected             joined             lock taken
 *   standalone ───────────> joining ─────────> follower ────────────> leader
 *       ^                    │   ^              │   ^                   │
 *       │ unavailable,       │   └──── gap ─────┘   └──── lock lost ────┘
 *       │ refused (any)      └────> bootstrapping ── bootstrapped ──> leader
 *                        lock taken
 *
 * After a gap every role but `standalone` goes to `joining`. So does the holder of the lock when the lock has
 * another token than before, and a bootstrapping gateway that loses the lock.
 */

export type RoleName =
  /** Redis does not respond, or refuses commands: this gateway works alone and polls the CMS itself. */
  | 'standalone'
  /** The replica is not at an offset of the change log: the gateway catches up, or receives a snapshot. */
  | 'joining'
  /** The replica equals the change log. */
  | 'follower'
  /** A follower that polls the CMS for all gateways. */
  | 'leader'
  /** Holds the lock and builds, from the CMS, the replica that a new change log starts with. */
  | 'bootstrapping';

/** Immutable. */
export interface RoleState {
  readonly name: RoleName;
  readonly sinceMs: number;
  /** The fencing token of the lock that this gateway holds. */
  readonly token: number | undefined;
  /** The lock is certainly held until then, by this gateway's own clock. */
  readonly leaseUntilMs: number;
  /** Since when no gateway has held the lock. */
  readonly freeSinceMs: number | undefined;
  /** When Redis last replied. */
  readonly lastReplyMs: number;
  /** Polls of this gateway that failed since it last took the lock, or since its last one that succeeded. */
  readonly failedPolls: number;
}

export type RoleEvent =
  | { type: 'connected' }
  /** Redis said who holds the lock. `sentMs`: when the command was sent, from which the lease counts. */
  | { type: 'lockChecked'; sentMs: number; token: number | undefined; held: boolean }
  /** The replica is at an offset of the change log. */
  | { type: 'joined' }
  /** The change log does not continue at the replica's offset. */
  | { type: 'gap' }
  /** The baseline of a new change log is written. */
  | { type: 'bootstrapped' }
  /** Redis could not be reached, or refused a command while the gateway connected. */
  | { type: 'unavailable' }
  /** Redis replied with an error: a retry would probably fail in the same way. */
  | { type: 'refused' }
  /** A poll saw everything, and nothing waits for confirmation. */
  | { type: 'polled' }
  /** The CMS, or this gateway's replica, failed during a poll. */
  | { type: 'pollFailed' }
  /** Polls keep failing: another gateway may reach the CMS. */
  | { type: 'gaveUp' };

export interface LeaseOptions {
  /** How long the lock holds without being renewed: one poll interval. */
  leaseMs: number;
}

/** Every gateway starts as `standalone`. */
export function initialRole(nowMs: number): RoleState {
  return {
    name: 'standalone',
    sinceMs: nowMs,
    token: undefined,
    leaseUntilMs: 0,
    freeSinceMs: undefined,
    lastReplyMs: Number.NEGATIVE_INFINITY,
    failedPolls: 0,
  };
}

/** The role after an event. An event without a meaning in the current role changes nothing. */
export function nextRole(role: RoleState, event: RoleEvent, nowMs: number, { leaseMs }: LeaseOptions): RoleState {
  const to = (name: RoleName, changes: Partial<RoleState> = {}): RoleState => ({
    ...role,
    ...changes,
    name,
    sinceMs: name === role.name ? role.sinceMs : nowMs,
  });
  const noLock = { token: undefined, leaseUntilMs: 0 };
  switch (event.type) {
    case 'connected':
      if (role.name !== 'standalone') return role;
      return to('joining', { ...noLock, freeSinceMs: undefined, lastReplyMs: nowMs });
    case 'lockChecked': {
      if (role.name === 'standalone') return role;
      const freeSinceMs = event.held ? undefined : (role.freeSinceMs ?? nowMs);
      const checked = { freeSinceMs, lastReplyMs: nowMs };
      if (event.token === undefined) return to(withoutLock(role.name), { ...checked, ...noLock });
      const locked = { ...checked, token: event.token, leaseUntilMs: event.sentMs + leaseMs };
      if (role.name === 'follower') return to('leader', { ...locked, failedPolls: 0 });
      if (role.name === 'joining') return to('bootstrapping', { ...locked, failedPolls: 0 });
      // The lock was lost and taken again: another gateway may have led in between.
      if (event.token !== role.token) return to('joining', { ...checked, ...noLock });
      return to(role.name, locked);
    }
    case 'joined':
      return role.name === 'joining' ? to('follower') : role;
    case 'gap':
      return role.name === 'standalone' ? role : to('joining', noLock);
    case 'bootstrapped':
      return role.name === 'bootstrapping' ? to('leader') : role;
    case 'unavailable':
      if (nowMs - role.lastReplyMs < leaseMs) return role;
      return to('standalone', { ...noLock, freeSinceMs: undefined });
    case 'refused':
      return to('standalone', { ...noLock, freeSinceMs: undefined });
    case 'polled':
      return { ...role, failedPolls: 0 };
    case 'pollFailed':
      return { ...role, failedPolls: role.failedPolls + 1 };
    case 'gaveUp':
      return to(withoutLock(role.name), noLock);
  }
}

function withoutLock(name: RoleName): RoleName {
  if (name === 'leader') return 'follower';
  return name === 'bootstrapping' ? 'joining' : name;
}

/**
 * Whether this gateway polls the CMS now: for all gateways, or standalone for itself. An expired lease does
 * not count.
 */
export function mayPoll(role: RoleState, nowMs: number): boolean {
  if (role.name === 'standalone') return true;
  return (role.name === 'leader' || role.name === 'bootstrapping') && nowMs < role.leaseUntilMs;
}

/** After this many failed polls in a row, which take three seconds or more, a gateway gives up the lock. */
const MAX_FAILED_POLLS = 3;

/** Whether another gateway should poll, because the polls of this one fail. */
export const isFailing = ({ failedPolls }: RoleState): boolean => failedPolls >= MAX_FAILED_POLLS;

/** What decides whether a gateway may take a free lock. */
export interface Eligibility {
  /** The replica is at an offset of the change log, and the extent of its unpublished changes is known. */
  consistent: boolean;
  /** The replica has completed an initial sync. */
  complete: boolean;
  /** No change log exists: all replicas are equally good. */
  noLogYet: boolean;
}

/**
 * Leases that a gateway waits before it takes a free lock, so that gateways with a better replica, or with a
 * better connection to the CMS, go first.
 */
const WAIT_LEASES = { failing: 1, complete: 1, incomplete: 2, noLogYet: 0.5 };

/**
 * Whether to try to take the lock. Its holder renews it; a consistent follower takes a free lock immediately;
 * the others wait for a better candidate first.
 */
export function mayTakeLock(
  role: RoleState,
  { consistent, complete, noLogYet }: Eligibility,
  nowMs: number,
  { leaseMs }: LeaseOptions,
): boolean {
  if (role.name === 'standalone') return false;
  if (role.name === 'leader' || role.name === 'bootstrapping') return true;
  const freeMs = role.freeSinceMs === undefined ? -1 : nowMs - role.freeSinceMs;
  if (isFailing(role) && freeMs < leaseMs * WAIT_LEASES.failing) return false;
  if (role.name === 'follower' && consistent && complete) return true;
  if (complete && noLogYet) return true;
  if (complete) return freeMs >= leaseMs * WAIT_LEASES.complete;
  return freeMs >= leaseMs * (noLogYet ? WAIT_LEASES.noLogYet : WAIT_LEASES.incomplete);
}
