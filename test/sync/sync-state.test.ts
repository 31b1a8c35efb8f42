// The state machine of the sync: every cell of its table, and what holds along every path through it.

import { expect } from 'chai';
import fc from 'fast-check';
import type { ReplicaState } from '../../src/observability/observations.ts';
import {
  initialSyncState,
  pollRetryDelayMs,
  type SyncEvent,
  type SyncState,
  transition,
} from '../../src/sync/sync-state.ts';

/** Written by hand, not from the code; `-` changes nothing. Of `stale` and `unreachable` with a complete replica. */
const TABLE = `
                empty       syncing     live        stale       unreachable
  syncStarted   syncing     syncing     -           -           -
  polled        live        live        live        live        live
  differing     stale       stale       stale       stale       stale
  failed        unreachable unreachable stale       stale       unreachable
  replicaFailed empty       syncing     stale       stale       stale
`;

const [head = [], ...rows] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));
const STATES = head as ReplicaState[];
/** `differing`: polled, with a reason why the replica may differ from the CMS. */
type EventName = SyncEvent['type'] | 'differing';
const EVENTS = rows.map(([name]) => name as EventName);

function createEvent(name: EventName): SyncEvent {
  if (name === 'differing') return { type: 'polled', reason: 'because it may differ' };
  return name === 'failed' || name === 'replicaFailed' ? { type: name, reason: `because ${name}` } : { type: name };
}

/** A path into each state, with a replica that was complete once or never was. */
const PATHS: { phase: ReplicaState; complete: boolean; path: EventName[] }[] = [
  { phase: 'empty', complete: false, path: [] },
  { phase: 'syncing', complete: false, path: ['syncStarted'] },
  { phase: 'live', complete: true, path: ['syncStarted', 'polled'] },
  { phase: 'stale', complete: true, path: ['opened'] },
  { phase: 'unreachable', complete: true, path: ['opened', 'failed', 'failed'] },
];

const stateAfter = (path: EventName[]) =>
  path.reduce((state, type, n) => transition(state, createEvent(type), n + 1), initialSyncState(0));

describe('sync state machine', () => {
  for (const { phase, complete, path } of PATHS) {
    for (const type of EVENTS) {
      it(`${phase}${complete ? ', complete' : ''}: ${type}`, () => {
        const before = stateAfter(path);
        expect(before).to.include({ phase, complete });
        const after = transition(before, createEvent(type), 100);
        const next = rows.find(([name]) => name === type)?.[STATES.indexOf(phase) + 1];
        if (next === '-') expect(after).to.deep.equal(before);
        else {
          expect(after.phase).to.equal(next);
          expect(after.sinceMs).to.equal(next === phase ? before.sinceMs : 100);
        }
      });
    }
  }

  type Check = (before: SyncState, type: EventName, after: SyncState) => void;

  /** Checks each step of random sequences of events. */
  function checkHistories(check: Check): void {
    const histories = fc.array(fc.constantFrom(...EVENTS), { maxLength: 30 });
    fc.assert(
      fc.property(histories, (types) => {
        let before = initialSyncState(0);
        for (const [n, type] of types.entries()) {
          const after = transition(before, createEvent(type), n + 1);
          check(before, type, after);
          before = after;
        }
      }),
    );
  }

  it('is unreachable while an initial sync fails, and syncing again with the next try', () => {
    const failed = stateAfter(['syncStarted', 'failed']);
    expect(failed).to.include({ phase: 'unreachable', complete: false });
    expect(transition(failed, { type: 'syncStarted' }, 9)).to.include({ phase: 'syncing', reason: undefined });
  });

  it('is stale after one failure, unreachable after two, and live after a poll', () => {
    expect(stateAfter(['opened', 'failed'])).to.include({ phase: 'stale', failures: 1 });
    expect(stateAfter(['opened', 'failed', 'failed', 'polled'])).to.include({ phase: 'live', failures: 0 });
  });

  it('stays complete', () => {
    checkHistories((before, type, after) => {
      if (before.complete) expect(after.complete).to.equal(true);
      if (!before.complete && after.complete) expect(type).to.be.oneOf(['opened', 'polled', 'differing']);
    });
  });

  it('is live only when complete, and syncing only when not', () => {
    checkHistories((_before, _type, { phase: state, complete }) => {
      if (state === 'live' || state === 'stale') expect(complete).to.equal(true);
      if (state === 'syncing' || state === 'empty') expect(complete).to.equal(false);
    });
  });

  it('has a reason whenever it is stale or unreachable, and none when live', () => {
    checkHistories((_before, _type, { phase: state, reason }) => {
      if (state === 'live') expect(reason).to.equal(undefined);
      if (state === 'stale' || state === 'unreachable') expect(reason).to.be.a('string');
    });
  });

  it('changes no state object, and changes sinceMs only with the state', () => {
    const copies = new Map<SyncState, SyncState>();
    checkHistories((before, _type, after) => {
      expect(before).to.deep.equal(copies.get(before) ?? before);
      copies.set(after, { ...after });
      if (before.phase === after.phase) expect(after.sinceMs).to.equal(before.sinceMs);
    });
  });

  it('retries after 1 s, doubled with each failure up to 30 s, and after a success begins again', () => {
    let state = stateAfter(['syncStarted', 'polled']);
    const delays: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      state = transition(state, { type: 'failed', reason: '' }, n);
      delays.push(pollRetryDelayMs(state));
    }
    expect(delays).to.deep.equal([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    state = transition(transition(state, { type: 'polled' }, 99), { type: 'failed', reason: '' }, 100);
    expect(pollRetryDelayMs(state)).to.equal(1_000);
  });
});
