// Long work of several requests: in each turn of the event loop only one of them goes on.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { soloTurn, withSlot } from '../../src/calendar/turns.ts';
import { CallerDatabase } from '../../src/store/caller-database.ts';
import { upsert } from '../store/changes.ts';
import { on } from './list-fixture.ts';
import { seededGateway } from './seeded-gateway.ts';

/** Counts the turns of the event loop until `work` is done. */
function countTurns(work: Promise<unknown>) {
  const count = { turn: 0 };
  let isOver = false;
  void work.finally(() => {
    isOver = true;
  });
  void (async () => {
    while (!isOver) {
      await nextTurn();
      count.turn += 1;
    }
  })();
  return count;
}

describe('the turns of long work', () => {
  it('belong to one request each, in the order in which they were asked for', async () => {
    const steps: { name: string; turn: number }[] = [];
    const start = Promise.withResolvers<void>();
    const count = countTurns(start.promise);
    const request = async (name: string) => {
      for (let step = 0; step < 3; step += 1) {
        await soloTurn();
        steps.push({ name, turn: count.turn });
      }
    };
    await Promise.all(['a', 'b', 'c'].map(request));
    start.resolve();
    expect(steps.map(({ name }) => name).join('')).to.equal('abcabcabc');
    expect(new Set(steps.map(({ turn }) => turn)).size).to.equal(steps.length);
  });

  it('begin in a place each, of which one caller has half', async () => {
    const begun: string[] = [];
    let [running, most] = [0, 0];
    const build = (caller: string) =>
      withSlot(caller, async () => {
        begun.push(caller);
        running += 1;
        most = Math.max(most, running);
        await nextTurn();
        running -= 1;
        if (begun.length === 6) throw new Error('work that fails makes room too');
      }).catch(() => {});
    await Promise.all([...Array.from({ length: 9 }, () => build('a')), build('b'), build('c'), build('b')]);
    expect(most).to.equal(4);
    expect(begun.slice(0, 4).join('')).to.equal('aabc');
    expect(begun).to.have.length(12);
  });

  it('begin with the list found again, if a record changes while the list waits for its place', async () => {
    const gateway = await seededGateway([on(1)]);
    try {
      const free = Promise.withResolvers<void>();
      const places = ['a', 'a', 'b', 'b'].map((caller) => withSlot(caller, () => free.promise));
      const response = gateway.request('/events');
      for (let n = 0; n < 20; n += 1) await nextTurn();
      upsert(gateway.replica, [on(2)]);
      free.resolve();
      await Promise.all(places);
      expect((await response).body.total).to.equal(2);
      expect((await gateway.request('/events')).body.total).to.equal(2);
    } finally {
      await gateway.stop();
    }
  });

  it('hold a few events of one feed, however many feeds are written at the same time', async () => {
    const ids = Array.from({ length: 100 }, (_, n) => n + 1);
    const gateway = await seededGateway(ids.map((id) => on(1, { id })));
    const { parse } = CallerDatabase.prototype;
    try {
      const read = new Map<number, number>();
      const { promise: work, resolve: done } = Promise.withResolvers<void>();
      const count = countTurns(work);
      CallerDatabase.prototype.parse = function (this: CallerDatabase, json: string) {
        const { kind } = JSON.parse(json) as { kind: string };
        read.set(count.turn, (read.get(count.turn) ?? 0) + (kind === 'event' ? 1 : 0));
        return parse.call(this, json);
      } as typeof parse;
      // As staff: each response is computed, and no event is rendered before.
      const paths = [100, 99, 98, 97].map((perPage) => `/events.atom?per_page=${perPage}`);
      const responses = await Promise.all(paths.map((path) => gateway.request(path, { as: 'admin' })));
      done();
      expect(responses.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
      expect([...read.values()].reduce((sum, events) => sum + events, 0)).to.equal(100 + 99 + 98 + 97);
      expect(Math.max(...read.values())).to.equal(10);
    } finally {
      CallerDatabase.prototype.parse = parse;
      await gateway.stop();
    }
  });
});
