// How the copy stands to the CMS, as a pure state machine: no I/O, and `nowMs` is passed in. docs/sync.md tells what the states mean.

/*
 *              begin                copied
 *   empty ──────────────> copying ─────────> live <───┐
 *     │  opened              │                │       │ inStep
 *     └──────────> lagging <─┼── failed, late ┘       │
 *                     │      │ failed, refused        │
 *                     └──────┴─────────────> away ────┘
 */

export type State = 'empty' | 'copying' | 'live' | 'lagging' | 'away';

export type EventType =
  | 'begin'
  | 'opened'
  | 'copied'
  | 'inStep'
  | 'late'
  | 'failed'
  | 'refused'
  | 'replicaFailed'
  | 'unconfirmed';

export type SyncEvent =
  /** A first copy begins or goes on. */
  | { type: 'begin' }
  /** A complete copy was found on disk, and when it was last known to be in step. */
  | { type: 'opened'; lastInStepMs?: number | undefined }
  /** The first copy is complete and has caught up. */
  | { type: 'copied' }
  /** A round saw everything that changed. */
  | { type: 'inStep' }
  /** A round takes longer than changes may stay unseen. */
  | { type: 'late' }
  /** The CMS gave no usable answer. */
  | { type: 'failed'; reason: string }
  /** The CMS refuses the service account. */
  | { type: 'refused'; reason: string }
  /** The CMS answered, and the replica could not be read or written: a full disk, say. */
  | { type: 'replicaFailed'; reason: string }
  /** A poll saw everything, and so much would go that it waits for confirmation. */
  | { type: 'unconfirmed'; reason: string };

/** Where each event leads; `null` where it means nothing and is passed over. A missing cell does not compile. */
export const TRANSITIONS: Readonly<Record<State, Readonly<Record<EventType, State | null>>>> = {
  empty: {
    begin: 'copying',
    opened: 'lagging',
    copied: null,
    inStep: null,
    late: null,
    failed: 'away',
    refused: 'away',
    replicaFailed: 'empty',
    unconfirmed: null,
  },
  copying: {
    begin: 'copying',
    opened: null,
    copied: 'live',
    inStep: null,
    late: null,
    failed: 'away',
    refused: 'away',
    replicaFailed: 'copying',
    unconfirmed: null,
  },
  live: {
    begin: null,
    opened: null,
    copied: null,
    inStep: 'live',
    late: 'lagging',
    failed: 'lagging',
    refused: 'away',
    replicaFailed: 'lagging',
    unconfirmed: 'lagging',
  },
  lagging: {
    begin: null,
    opened: null,
    copied: null,
    inStep: 'live',
    late: 'lagging',
    failed: 'away',
    refused: 'away',
    replicaFailed: 'lagging',
    unconfirmed: 'lagging',
  },
  away: {
    begin: 'copying',
    opened: null,
    copied: null,
    inStep: 'live',
    late: 'away',
    failed: 'away',
    refused: 'away',
    replicaFailed: 'away',
    unconfirmed: 'lagging',
  },
};

/** What is known of the copy. Never changed in place. */
export interface Standing {
  readonly state: State;
  /** Since when it is in this state. */
  readonly sinceMs: number;
  /** Whether lists may be answered from it: it was the whole CMS once. */
  readonly complete: boolean;
  /** When it was last known to be in step. */
  readonly lastInStepMs: number | undefined;
  /** Rounds that failed since the last good one. */
  readonly failures: number;
  /** Why it is not live; undefined when it is. */
  readonly reason: string | undefined;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** The standing of a gateway that has just started with nothing. */
export function initialStanding(nowMs: number): Standing {
  return { state: 'empty', sinceMs: nowMs, complete: false, lastInStepMs: undefined, failures: 0, reason: undefined };
}

/**
 * The standing after an event. An event that means nothing in this state (`null` in the table) changes nothing; neither does
 * `begin` for a complete copy, nor `inStep` for one that never was complete.
 */
export function step(standing: Standing, event: SyncEvent, nowMs: number): Standing {
  if (event.type === 'begin' && standing.complete) return standing;
  if ((event.type === 'inStep' || event.type === 'unconfirmed') && !standing.complete) return standing;
  const state = TRANSITIONS[standing.state][event.type];
  if (state === null) return standing;
  const sinceMs = state === standing.state ? standing.sinceMs : nowMs;
  const at = { ...standing, state, sinceMs };
  switch (event.type) {
    case 'begin':
      return { ...at, reason: undefined };
    case 'opened':
      return { ...at, complete: true, lastInStepMs: event.lastInStepMs, reason: 'opened from disk' };
    case 'copied':
    case 'inStep':
      return { ...at, complete: true, lastInStepMs: nowMs, failures: 0, reason: undefined };
    case 'late':
      return { ...at, reason: standing.reason ?? 'the CMS answers slowly' };
    case 'unconfirmed':
      return { ...at, failures: 0, reason: event.reason };
    case 'failed':
    case 'refused':
    case 'replicaFailed':
      return { ...at, failures: standing.failures + 1, reason: event.reason };
  }
}

/** How long to wait before the CMS is tried again: a second, doubled with every failure, thirty at most; 0 when all is well. */
export function pauseMs(standing: Standing): number {
  if (standing.failures === 0) return 0;
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(standing.failures - 1, 10));
}
