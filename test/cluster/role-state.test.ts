// The role state machine, also with random delays and losses of lock checks.

import { expect } from 'chai';
import fc from 'fast-check';
import {
  initialRole,
  isFailing,
  mayPoll,
  mayTakeLock,
  nextRole,
  type RoleEvent,
  type RoleState,
} from '../../src/cluster/role-state.ts';

const LEASE = { leaseMs: 1000 };
const ELIGIBLE = { consistent: true, complete: true, noLogYet: false };

const after = (...events: [RoleEvent, number][]): RoleState =>
  events.reduce((role, [event, nowMs]) => nextRole(role, event, nowMs, LEASE), initialRole(0));
const lockChecked = (sentMs: number, token?: number, held = token !== undefined): RoleEvent => ({
  type: 'lockChecked',
  sentMs,
  token,
  held,
});
const follower = after([{ type: 'connected' }, 0], [lockChecked(0, undefined, true), 0], [{ type: 'joined' }, 10]);

describe('cluster role', () => {
  it('is leader until the lease expires, counted from when the command was sent', () => {
    const leader = nextRole(follower, lockChecked(100, 1), 400, LEASE);
    expect(leader.name).to.equal('leader');
    expect(mayPoll(leader, 1099)).to.equal(true);
    expect(mayPoll(leader, 1100)).to.equal(false);
  });

  it('is follower again when another gateway holds the lock', () => {
    const leader = nextRole(follower, lockChecked(100, 1), 100, LEASE);
    expect(nextRole(leader, lockChecked(1500, undefined, true), 1500, LEASE)).to.include({
      name: 'follower',
      token: undefined,
    });
  });

  it('joins again when the lock was lost and taken again: another gateway may have led in between', () => {
    const leader = nextRole(follower, lockChecked(100, 1), 100, LEASE);
    expect(nextRole(leader, lockChecked(3000, 3), 3000, LEASE)).to.include({ name: 'joining', token: undefined });
  });

  it('is standalone when Redis did not respond for a lease, and not before', () => {
    expect(nextRole(follower, { type: 'unavailable' }, 900, LEASE).name).to.equal('follower');
    expect(nextRole(follower, { type: 'unavailable' }, 1010, LEASE).name).to.equal('standalone');
    expect(mayPoll(nextRole(follower, { type: 'unavailable' }, 1010, LEASE), 1010)).to.equal(true);
    expect(nextRole(initialRole(0), { type: 'unavailable' }, 0, LEASE).name).to.equal('standalone');
    expect(nextRole(follower, { type: 'refused' }, 900, LEASE).name).to.equal('standalone');
  });

  it('leaves a free lock to consistent followers first, then to complete replicas', () => {
    const joining = after([{ type: 'connected' }, 0], [lockChecked(0), 0]);
    expect(mayTakeLock(follower, ELIGIBLE, 100, LEASE)).to.equal(true);
    const inconsistent = { ...ELIGIBLE, consistent: false };
    expect(mayTakeLock(joining, inconsistent, 999, LEASE)).to.equal(false);
    expect(mayTakeLock(joining, inconsistent, 1000, LEASE)).to.equal(true);
    const empty = { consistent: false, complete: false, noLogYet: false };
    expect(mayTakeLock(joining, empty, 1999, LEASE)).to.equal(false);
    expect(mayTakeLock(joining, empty, 2000, LEASE)).to.equal(true);
    // Without a change log all replicas are equally good; complete ones still go first.
    expect(mayTakeLock(joining, { ...inconsistent, noLogYet: true }, 0, LEASE)).to.equal(true);
    expect(mayTakeLock(joining, { ...empty, noLogYet: true }, 499, LEASE)).to.equal(false);
    expect(mayTakeLock(joining, { ...empty, noLogYet: true }, 500, LEASE)).to.equal(true);
  });

  it('gives the lock up after three failed polls in a row, and takes it again only if nobody else does for a lease', () => {
    const failed: RoleEvent = { type: 'pollFailed' };
    const events = (role: RoleState, ...all: RoleEvent[]) =>
      all.reduce((before, event) => nextRole(before, event, 200, LEASE), role);
    const leader = nextRole(follower, lockChecked(100, 1), 100, LEASE);
    expect(isFailing(events(leader, failed, failed))).to.equal(false);
    expect(isFailing(events(leader, failed, failed, { type: 'polled' }, failed))).to.equal(false);
    const failing = events(leader, failed, failed, failed);
    expect([isFailing(failing), mayPoll(failing, 200)]).to.deep.equal([true, true]);
    const former = events(failing, { type: 'gaveUp' });
    expect([former.name, mayPoll(former, 200)]).to.deep.equal(['follower', false]);
    // It still holds the lock in Redis, or another gateway holds it.
    expect(mayTakeLock(former, ELIGIBLE, 5000, LEASE)).to.equal(false);
    const free = nextRole(former, lockChecked(200), 200, LEASE);
    expect(mayTakeLock(free, ELIGIBLE, 1199, LEASE)).to.equal(false);
    expect(mayTakeLock(free, ELIGIBLE, 1200, LEASE)).to.equal(true);
    const again = nextRole(free, lockChecked(1200, 2), 1200, LEASE);
    expect([again.name, isFailing(again)]).to.deep.equal(['leader', false]);
    const bootstrapping = events(initialRole(0), { type: 'connected' }, lockChecked(0, 1));
    expect(bootstrapping.name).to.equal('bootstrapping');
    expect(events(bootstrapping, { type: 'gaveUp' }).name).to.equal('joining');
  });

  it('never allows two leaders to poll, whatever is delayed or lost', () => {
    const step = fc.record({
      node: fc.nat({ max: 2 }),
      pauseMs: fc.nat({ max: 700 }),
      /** Duration of the command's way to Redis, and of the reply's way back. */
      toRedisMs: fc.nat({ max: 900 }),
      fromRedisMs: fc.nat({ max: 900 }),
      isLost: fc.boolean(),
      failedPolls: fc.nat({ max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let nowMs = 0;
        let lock = { holder: -1, token: 0, untilMs: 0 };
        const roles = [0, 1, 2].map(() => follower);
        const check = (): void => {
          const polling = roles.filter((role) => role.name === 'leader' && mayPoll(role, nowMs));
          expect(polling.length).to.be.at.most(1);
        };
        for (const { node, pauseMs, toRedisMs, fromRedisMs, isLost, failedPolls } of steps) {
          nowMs += pauseMs;
          check();
          const apply = (event: RoleEvent) => {
            roles[node] = nextRole(roles[node]!, event, nowMs, LEASE);
          };
          for (let n = 0; n < failedPolls; n += 1) apply({ type: 'pollFailed' });
          if (isFailing(roles[node]!)) apply({ type: 'gaveUp' });
          const sentMs = nowMs;
          nowMs += toRedisMs;
          if (nowMs >= lock.untilMs) lock = { ...lock, holder: -1 };
          const mayTake = mayTakeLock(roles[node]!, ELIGIBLE, sentMs, LEASE);
          if (lock.holder === -1 && mayTake)
            lock = { holder: node, token: lock.token + 1, untilMs: nowMs + LEASE.leaseMs };
          else if (lock.holder === node)
            lock = mayTake ? { ...lock, untilMs: nowMs + LEASE.leaseMs } : { ...lock, holder: -1 };
          check();
          nowMs += fromRedisMs;
          const token = lock.holder === node ? lock.token : undefined;
          const event: RoleEvent = isLost ? { type: 'unavailable' } : lockChecked(sentMs, token, lock.holder !== -1);
          apply(event);
          if (roles[node]!.name === 'joining') apply({ type: 'joined' });
          check();
        }
      }),
      { numRuns: 500 },
    );
  });
});
