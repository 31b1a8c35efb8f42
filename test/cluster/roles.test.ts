// Who may do what when, over random courses of a lock, delays and losses.

import { expect } from 'chai';
import fc from 'fast-check';
import { initialRole, mayAsk, mayTake, type Role, type RoleEvent, stepRole } from '../../src/cluster/roles.ts';

const PACE = { leaseMs: 1000 };
const FIT = { sound: true, complete: true, virgin: false };

const after = (...events: [RoleEvent, number][]): Role =>
  events.reduce((role, [event, nowMs]) => stepRole(role, event, nowMs, PACE), initialRole(0));
const heard = (askedMs: number, token?: number, held = token !== undefined): RoleEvent => ({
  ...{ type: 'heard' as const, askedMs, token, held },
});
const following = after([{ type: 'connected' }, 0], [heard(0, undefined, true), 0], [{ type: 'joined' }, 10]);

describe('roles', () => {
  it('lead as long as the lease holds that was counted from the question, and not a moment longer', () => {
    const leading = stepRole(following, heard(100, 1), 400, PACE);
    expect(leading.name).to.equal('leading');
    expect(mayAsk(leading, 1099)).to.equal(true);
    expect(mayAsk(leading, 1100)).to.equal(false);
  });

  it('follow again when somebody else holds the lock', () => {
    const leading = stepRole(following, heard(100, 1), 100, PACE);
    expect(stepRole(leading, heard(1500, undefined, true), 1500, PACE)).to.include({
      name: 'following',
      token: undefined,
    });
  });

  it('join anew when the lock was lost and won again: others may have led in between', () => {
    const leading = stepRole(following, heard(100, 1), 100, PACE);
    expect(stepRole(leading, heard(3000, 3), 3000, PACE)).to.include({ name: 'joining', token: undefined });
  });

  it('go on alone when nothing was heard for a lease, and not before', () => {
    expect(stepRole(following, { type: 'silent' }, 900, PACE).name).to.equal('following');
    expect(stepRole(following, { type: 'silent' }, 1010, PACE).name).to.equal('away');
    expect(mayAsk(stepRole(following, { type: 'silent' }, 1010, PACE), 1010)).to.equal(true);
    expect(stepRole(initialRole(0), { type: 'silent' }, 0, PACE).name).to.equal('away');
  });

  it('leave the free lock to those with a sound copy, then to those with a whole one', () => {
    const joining = after([{ type: 'connected' }, 0], [heard(0), 0]);
    expect(mayTake(following, FIT, 100, PACE)).to.equal(true);
    const drifted = { ...FIT, sound: false };
    expect(mayTake(joining, drifted, 999, PACE)).to.equal(false);
    expect(mayTake(joining, drifted, 1000, PACE)).to.equal(true);
    const empty = { sound: false, complete: false, virgin: false };
    expect(mayTake(joining, empty, 1999, PACE)).to.equal(false);
    expect(mayTake(joining, empty, 2000, PACE)).to.equal(true);
    // Where there is no stream at all nobody's is better; a whole copy still goes first.
    expect(mayTake(joining, { ...drifted, virgin: true }, 0, PACE)).to.equal(true);
    expect(mayTake(joining, { ...empty, virgin: true }, 499, PACE)).to.equal(false);
    expect(mayTake(joining, { ...empty, virgin: true }, 500, PACE)).to.equal(true);
  });

  it('are never two that ask the CMS for all, whatever is late or lost', () => {
    const step = fc.record({
      who: fc.nat({ max: 2 }),
      passMs: fc.nat({ max: 700 }),
      /** How long the question was under way, and the answer. */
      thereMs: fc.nat({ max: 900 }),
      backMs: fc.nat({ max: 900 }),
      isLost: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let nowMs = 0;
        let lock = { holder: -1, token: 0, untilMs: 0 };
        const roles = [0, 1, 2].map(() => following);
        const check = (): void => {
          const asking = roles.filter((role) => role.name === 'leading' && mayAsk(role, nowMs));
          expect(asking.length).to.be.at.most(1);
        };
        for (const { who, passMs, thereMs, backMs, isLost } of steps) {
          nowMs += passMs;
          check();
          const askedMs = nowMs;
          nowMs += thereMs;
          const free = nowMs >= lock.untilMs;
          if (free && mayTake(roles[who]!, FIT, askedMs, PACE)) {
            lock = { holder: who, token: lock.token + 1, untilMs: nowMs + PACE.leaseMs };
          } else if (!free && lock.holder === who) lock = { ...lock, untilMs: nowMs + PACE.leaseMs };
          check();
          nowMs += backMs;
          const mine = lock.holder === who ? lock.token : undefined;
          const event: RoleEvent = isLost ? { type: 'silent' } : heard(askedMs, mine, lock.holder !== -1);
          roles[who] = stepRole(roles[who]!, event, nowMs, PACE);
          if (roles[who]!.name === 'joining') roles[who] = stepRole(roles[who]!, { type: 'joined' }, nowMs, PACE);
          check();
        }
      }),
      { numRuns: 500 },
    );
  });
});
