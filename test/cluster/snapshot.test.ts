// Copies that are handed over through a real engine: to those who wait for one, one after another.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Engine, openEngine } from '../../src/cluster/engine.ts';
import { answerAsks } from '../../src/cluster/leading.ts';
import type { Member } from '../../src/cluster/member.ts';
import { takeSnapshot } from '../../src/cluster/snapshot.ts';
import { openReplica, type Replica } from '../../src/replica/store.ts';
import { event, term, venue } from '../replica/samples.ts';
import { type EngineProcess, useEngine } from './engine-process.ts';
import { until } from './gateways.ts';

/** More than wait in the engine at a time. */
const EVENTS = 4000;
const AT = '1700000000000-3';

describe('a copy that is handed over', function () {
  this.timeout(30_000);
  let server: EngineProcess;
  let engines: Engine[];
  let full: Replica;
  let asked: ReturnType<typeof answerAsks>;
  useEngine((started) => {
    server = started;
  });
  before(() => {
    full = openReplica({ identity: 'test' });
    full.put([venue(1), term('tag', 2)]);
    for (let from = 1; from <= EVENTS; from += 50)
      full.put(Array.from({ length: 50 }, (_, n) => event(10 + from + n, { title: `Event ${from + n}` })));
  });
  after(() => full.close());
  beforeEach(async () => {
    const open = (me: string) => openEngine({ url: server.url, prefix: 'calendar:{test}:', me, deadlineMs: 2000 });
    engines = await Promise.all(['giver', 'taker'].map(open));
    const giver = { role: { name: 'leading' }, sync: {}, engine: engines[0], replica: full, journal: { at: AT } };
    asked = answerAsks(giver as unknown as Member);
  });
  afterEach(() => {
    for (const engine of engines) engine.close();
  });
  const ask = (list: string) => void asked({ type: 'copy', list }).catch(() => {});

  /** What lies in a list that nobody waits for, each time that another is asked for. */
  const filled: number[] = [];

  async function take(list: string): Promise<Replica> {
    const replica = openReplica({ identity: 'test' });
    // What the giver does not have goes.
    replica.put([event(999_999)]);
    const at = await takeSnapshot(engines[1]!, list, {
      replica,
      async ask() {
        ask(list);
        filled.push(await engines[0]!.listLength('copy:gone'));
      },
      isOff: () => false,
    });
    expect(at).to.equal(AT);
    return replica;
  }

  it('is the same copy, with what is remembered beside the records', async () => {
    full.setState('sync.watermarks', '{"event":"2027-01-01 00:00:00"}');
    const replica = await take('copy:one');
    expect(replica.counts()).to.deep.equal(full.counts());
    for (const id of [11, 1234, 10 + EVENTS]) expect(replica.get('event', id)).to.deep.equal(full.get('event', id));
    expect(replica.get('event', 999_999)).to.equal(undefined);
    expect(replica.state('sync.watermarks')).to.equal(full.state('sync.watermarks'));
    replica.close();
    // What was asked for once more while it began is not given again.
    ask('copy:one');
    await sleep(100);
    expect(await engines[1]!.listLength('copy:one')).to.equal(0);
  });

  it('never waits in the engine as a whole', async () => {
    ask('copy:slow');
    await until(async () => (await engines[1]!.listLength('copy:slow')) > 16, 'it waits for whoever takes it');
    await sleep(200);
    expect(await engines[1]!.listLength('copy:slow')).to.be.at.most(17);
  });

  it('is given to who still waits, and to nobody who asked once and went', async () => {
    ask('copy:slow');
    await until(async () => (await engines[1]!.listLength('copy:slow')) > 16, 'one is being given');
    ask('copy:gone');
    // Longer than anybody who waits is silent.
    await sleep(3500);
    const both = await Promise.all([drain('copy:slow'), take('copy:next')]);
    expect(both[1].counts()).to.deep.equal(full.counts());
    expect(filled).to.deep.equal(filled.map(() => 0));
    both[1].close();
  });

  /** Takes what is in a list with a connection of its own. */
  async function drain(list: string): Promise<void> {
    const engine = await openEngine({ url: server.url, prefix: 'calendar:{test}:', me: 'slow', deadlineMs: 2000 });
    while (await engine.pop(list, 500));
    engine.close();
  }
});
