// Which gateway does what, as a pure state machine: no I/O, and `nowMs` is passed in. docs/scaling.md tells what the roles mean.

/*
 *            connected            joined            claimed
 *   away ───────────────> joining ──────> following ───────> leading
 *     ^                    │   ^              │   ^             │
 *     │ silent (any)       │   └── broken ────┘   └─ unclaimed ─┘
 *     │            claimed └──────────> founding ── founded ──> leading
 */

export type RoleName =
  /** The engine is not heard: this gateway goes on by itself, and asks the CMS for itself. */
  | 'away'
  /** Its copy does not stand at a place of the stream: it catches up, or is given a new one. */
  | 'joining'
  /** Its copy is what the stream says. */
  | 'following'
  /** As `following`, and it asks the CMS for all. */
  | 'leading'
  /** It holds the lock and makes the copy that a new stretch of the stream begins with. */
  | 'founding';

/** Never changed in place. */
export interface Role {
  readonly name: RoleName;
  readonly sinceMs: number;
  /** The fencing token of the lock that this gateway holds. */
  readonly token: number | undefined;
  /** Until when that lock is surely held, by this gateway's own clock. */
  readonly heldUntilMs: number;
  /** Since when nobody was seen to hold the lock. */
  readonly freeSinceMs: number | undefined;
  /** When the engine answered last. */
  readonly heardMs: number;
}

export type RoleEvent =
  | { type: 'connected' }
  /** The engine said who holds the lock. `askedMs`: when it was asked, which is what a lease is counted from. */
  | { type: 'heard'; askedMs: number; token: number | undefined; held: boolean }
  /** The copy stands at a place of the stream. */
  | { type: 'joined' }
  /** The stream does not go on where the copy stands. */
  | { type: 'broken' }
  /** The beginning of a new stretch is in the stream. */
  | { type: 'founded' }
  /** The engine did not answer. */
  | { type: 'silent' };

export interface Pace {
  /** How long the lock holds without being renewed: one interval of the CMS's rounds. */
  leaseMs: number;
}

/** Where every gateway begins: `away`, without having heard of the engine. */
export function initialRole(nowMs: number): Role {
  const nobody = { token: undefined, heldUntilMs: 0, freeSinceMs: undefined, heardMs: Number.NEGATIVE_INFINITY };
  return { name: 'away', sinceMs: nowMs, ...nobody };
}

/** The role after an event. Events that mean nothing in a role change nothing. */
export function stepRole(role: Role, event: RoleEvent, nowMs: number, { leaseMs }: Pace): Role {
  const to = (name: RoleName, more: Partial<Role> = {}): Role => ({
    ...role,
    ...more,
    name,
    sinceMs: name === role.name ? role.sinceMs : nowMs,
  });
  const without = { token: undefined, heldUntilMs: 0 };
  switch (event.type) {
    case 'connected':
      return role.name === 'away' ? to('joining', { ...without, freeSinceMs: undefined, heardMs: nowMs }) : role;
    case 'heard': {
      if (role.name === 'away') return role;
      const freeSinceMs = event.held ? undefined : (role.freeSinceMs ?? nowMs);
      const known = { freeSinceMs, heardMs: nowMs };
      if (event.token === undefined) {
        const back = role.name === 'leading' ? 'following' : role.name === 'founding' ? 'joining' : role.name;
        return to(back, { ...known, ...without });
      }
      const mine = { ...known, token: event.token, heldUntilMs: event.askedMs + leaseMs };
      if (role.name === 'following') return to('leading', mine);
      if (role.name === 'joining') return to('founding', mine);
      // The lock was lost and won again in between: others may have led meanwhile.
      if (event.token !== role.token) return to('joining', { ...known, ...without });
      return to(role.name, mine);
    }
    case 'joined':
      return role.name === 'joining' ? to('following') : role;
    case 'broken':
      return role.name === 'away' ? role : to('joining', without);
    case 'founded':
      return role.name === 'founding' ? to('leading') : role;
    case 'silent':
      return nowMs - role.heardMs >= leaseMs ? to('away', { ...without, freeSinceMs: undefined }) : role;
  }
}

/** Whether this gateway asks the CMS now: for all, or for itself where nobody is heard. A lease that ran out counts for nothing. */
export function mayAsk(role: Role, nowMs: number): boolean {
  if (role.name === 'away') return true;
  return (role.name === 'leading' || role.name === 'founding') && nowMs < role.heldUntilMs;
}

/** What a gateway's copy is like when the lock is free. */
export interface Fitness {
  /** It stands at a place of the stream, with nothing of its own beside. */
  sound: boolean;
  /** It was the whole CMS once. */
  complete: boolean;
  /** There is no stream yet, or no more: nobody's copy is better than another. */
  virgin: boolean;
}

/** Leases that a gateway without a sound copy leaves the free lock to those that have one, and one without any copy to those. */
const PATIENCE = { complete: 1, none: 2, virgin: 0.5 };

/** Whether to try for the lock: whoever holds it renews it, the fittest take it at once, the others when nobody fitter did. */
export function mayTake(role: Role, { sound, complete, virgin }: Fitness, nowMs: number, { leaseMs }: Pace): boolean {
  if (role.name === 'away') return false;
  if (role.name === 'leading' || role.name === 'founding') return true;
  if (role.name === 'following' && sound && complete) return true;
  if (complete && virgin) return true;
  const freeMs = role.freeSinceMs === undefined ? -1 : nowMs - role.freeSinceMs;
  return freeMs >= leaseMs * (complete ? PATIENCE.complete : virgin ? PATIENCE.virgin : PATIENCE.none);
}
