// The state machine of the copy: every cell of its table, and what holds along every path through it.

import { expect } from 'chai';
import fc from 'fast-check';
import {
  type EventType,
  initialStanding,
  pauseMs,
  type Standing,
  type State,
  type SyncEvent,
  step,
  TRANSITIONS,
} from '../../src/replica/sync-state.ts';

/** Written down from docs/sync.md, not from the code; `-` is passed over. */
const TABLE = `
           empty    copying  live     lagging  away
  begin    copying  copying  -        -        copying
  opened   lagging  -        -        -        -
  copied   -        live     -        -        -
  inStep   -        -        live     live     live
  late     -        -        lagging  lagging  away
  failed   away     away     lagging  away     away
  refused  away     away     away     away     away
  replicaFailed empty    copying  lagging  lagging  away
  unconfirmed   -        -        lagging  lagging  lagging
`;

const [head = [], ...lines] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));
const STATES = head as State[];
const EVENTS = lines.map(([name]) => name as EventType);

const event = (type: EventType): SyncEvent =>
  type === 'failed' || type === 'refused' || type === 'replicaFailed' || type === 'unconfirmed'
    ? { type, reason: `because ${type}` }
    : { type };

/** A way into each state, for a copy that was complete once or was not. */
const WAYS: { state: State; complete: boolean; way: EventType[] }[] = [
  { state: 'empty', complete: false, way: [] },
  { state: 'copying', complete: false, way: ['begin'] },
  { state: 'live', complete: true, way: ['begin', 'copied'] },
  { state: 'lagging', complete: true, way: ['opened'] },
  { state: 'away', complete: true, way: ['opened', 'failed'] },
  { state: 'away', complete: false, way: ['begin', 'failed'] },
];

const walk = (way: EventType[]) => way.reduce((at, type, n) => step(at, event(type), n + 1), initialStanding(0));

describe('sync state', () => {
  it('has a cell for every state and event', () => {
    for (const [row, type] of EVENTS.entries()) {
      for (const [column, state] of STATES.entries()) {
        const cell = lines[row]?.[column + 1];
        expect(TRANSITIONS[state][type] ?? '-', `${state} x ${type}`).to.equal(cell);
      }
    }
    expect(Object.keys(TRANSITIONS)).to.have.members(STATES);
    expect(Object.keys(TRANSITIONS.empty)).to.have.members(EVENTS);
  });

  for (const { state, complete, way } of WAYS) {
    for (const type of EVENTS) {
      it(`${state}${complete ? ', complete' : ''}: ${type}`, () => {
        const before = walk(way);
        expect(before).to.include({ state, complete });
        const after = step(before, event(type), 100);
        let to = TRANSITIONS[state][type];
        if (type === 'begin' && complete) to = null;
        if ((type === 'inStep' || type === 'unconfirmed') && !complete) to = null;
        if (to === null) expect(after).to.equal(before);
        else {
          expect(after.state).to.equal(to);
          expect(after.sinceMs).to.equal(to === state ? before.sinceMs : 100);
        }
      });
    }
  }

  const histories = fc.array(fc.constantFrom(...EVENTS), { maxLength: 30 });

  function along(types: EventType[], check: (before: Standing, type: EventType, after: Standing) => void): void {
    let at = initialStanding(0);
    for (const [n, type] of types.entries()) {
      const after = step(at, event(type), n + 1);
      check(at, type, after);
      at = after;
    }
  }

  it('stays complete', () => {
    fc.assert(
      fc.property(histories, (types) =>
        along(types, (before, type, after) => {
          if (before.complete) expect(after.complete).to.equal(true);
          if (!before.complete && after.complete) expect(type).to.be.oneOf(['opened', 'copied']);
        }),
      ),
    );
  });

  it('is live only when complete, and copying only when not', () => {
    fc.assert(
      fc.property(histories, (types) =>
        along(types, (_before, _type, { state, complete }) => {
          if (state === 'live' || state === 'lagging') expect(complete).to.equal(true);
          if (state === 'copying' || state === 'empty') expect(complete).to.equal(false);
        }),
      ),
    );
  });

  it('has a reason whenever it is lagging or away, and none when live', () => {
    fc.assert(
      fc.property(histories, (types) =>
        along(types, (_before, _type, { state, reason }) => {
          if (state === 'live') expect(reason).to.equal(undefined);
          if (state === 'lagging' || state === 'away') expect(reason).to.be.a('string');
        }),
      ),
    );
  });

  it('changes nothing in place and moves its time only with its state', () => {
    fc.assert(
      fc.property(histories, (types) =>
        along(types, (before, _type, after) => {
          expect(Object.isFrozen(before) || { ...before }).to.deep.equal(Object.isFrozen(before) || before);
          if (before.state === after.state) expect(after.sinceMs).to.equal(before.sinceMs);
        }),
      ),
    );
  });

  it('waits a second after the first failure, twice as long after each, thirty at most, and not at all when well', () => {
    let at = walk(['begin', 'copied']);
    const pauses: number[] = [pauseMs(at)];
    for (let n = 0; n < 8; n += 1) {
      at = step(at, { type: 'failed', reason: '' }, n);
      pauses.push(pauseMs(at));
    }
    expect(pauses).to.deep.equal([0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(pauseMs(step(at, { type: 'inStep' }, 99))).to.equal(0);
  });
});
