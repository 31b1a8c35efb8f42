// Copies that are handed over through a real engine: to those who wait for one, one after another.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Drift } from '../../src/cluster/drift.ts';
import { type Engine, openEngine } from '../../src/cluster/engine.ts';
import { join } from '../../src/cluster/joining.ts';
import { answerAsks } from '../../src/cluster/leading.ts';
import type { Member, Word } from '../../src/cluster/member.ts';
import { takeSnapshot } from '../../src/cluster/snapshot.ts';
import { openReplica, type Replica } from '../../src/replica/store.ts';
import type { Sync } from '../../src/replica/sync.ts';
import { initialStanding, type Standing } from '../../src/replica/sync-state.ts';
import { event, term, venue } from '../replica/samples.ts';
import { mapping } from '../replica/sync-site.ts';
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
  let journal: { at: string; drift: Drift };
  let giver: Member;
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
    journal = { at: AT, drift: new Map() };
    giver = {
      role: { name: 'leading' },
      sync: {},
      engine: engines[0],
      replica: full,
      journal,
      mapping,
    } as unknown as Member;
    asked = answerAsks(giver);
  });
  afterEach(() => {
    for (const engine of engines) engine.close();
  });
  const ask = (list: string) => void asked({ type: 'copy', list }).catch(() => {});

  /** What lies in a list that nobody waits for, each time that another is asked for. */
  const filled: number[] = [];

  async function take(list: string): Promise<{ replica: Replica; beside: string[] }> {
    const replica = openReplica({ identity: 'test' });
    // What the giver does not have goes.
    replica.put([event(999_999)]);
    const taken = await takeSnapshot(engines[1]!, list, {
      replica,
      async ask() {
        ask(list);
        filled.push(await engines[0]!.listLength('copy:gone'));
      },
      isOff: () => false,
    });
    expect(taken?.at).to.equal(AT);
    return { replica, beside: taken?.beside ?? [] };
  }

  it('is the same copy, with what is remembered beside the records', async () => {
    full.setState('sync.watermarks', '{"event":"2027-01-01 00:00:00"}');
    const { replica, beside } = await take('copy:one');
    expect(beside).to.deep.equal([]);
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
    expect(both[1].replica.counts()).to.deep.equal(full.counts());
    expect(filled).to.deep.equal(filled.map(() => 0));
    both[1].replica.close();
  });

  it('is begun anew, for who still asks, when giving it failed', async () => {
    const [engine] = engines as [Engine];
    giver.engine = { ...engine, push: async () => Promise.reject(new Error('the engine does not answer')) };
    const error = await asked({ type: 'copy', list: 'copy:failed' }).catch((failed: unknown) => failed);
    expect(error).to.be.instanceOf(Error);
    giver.engine = engine;
    const { replica } = await take('copy:failed');
    expect(replica.counts()).to.deep.equal(full.counts());
    replica.close();
  });

  it('is whole for who took it, also when the one that gave it was lost at the end', async () => {
    const replica = openReplica({ identity: 'test' });
    const standing = initialStanding(0);
    const followed: Standing[] = [];
    const taker = {
      ...{ replica, leaseMs: 1000, role: { name: 'joining' }, happened: () => {} },
      word: { founding: false, standing: { ...standing, complete: true } } as Word | undefined,
      asks: { tell: async (about: { list: string }) => ask(about.list) },
      sync: { standing: () => standing, reload: () => {}, follow: (theirs: Standing) => followed.push(theirs) },
      journal: {
        ...{ drifted: () => {}, drift: new Map(), catchUp: async () => true },
        moved() {
          taker.word = undefined;
        },
      },
    };
    await join(taker as unknown as Member, engines[1]!);
    expect(followed).to.have.length(1);
    expect(followed[0]).to.include({ state: 'lagging', complete: true });
    replica.close();
  });

  it('says what of it is not in the stream, from its first piece to its last', async () => {
    journal.drift = new Map([['event 11', 1]]);
    ask('copy:beside');
    await until(async () => (await engines[1]!.listLength('copy:beside')) > 16, 'its last piece was not given yet');
    journal.drift = new Map([['event 12', 2]]);
    const { replica, beside } = await take('copy:beside');
    expect(beside).to.deep.equal(['event 11', 'event 12']);
    replica.close();
  });

  it('is not all that a look is asked for while it has something that the stream does not say', async () => {
    giver.sync = { look: async () => true, changed: async () => false } as unknown as Sync;
    expect(await asked({ type: 'look' })).to.equal(true);
    journal.drift = new Map([['event 11', 1]]);
    expect(await asked({ type: 'look' })).to.equal(false);
  });

  it('is not told for what the CMS says when that could not be read', async () => {
    const commits: unknown[] = [];
    giver.sync = { changed: async () => false } as unknown as Sync;
    Object.assign(journal, { commit: async (why: unknown) => commits.push(why) });
    expect(await asked({ type: 'read', keys: ['event 11'] })).to.equal(false);
    expect(commits).to.deep.equal([]);
  });

  it('is none that is not known to be what the stream says', async () => {
    journal.drift = 'much';
    const error = await asked({ type: 'copy', list: 'copy:much' }).catch((failed: unknown) => failed);
    expect(error).to.be.instanceOf(Error);
    expect(await engines[1]!.listLength('copy:much')).to.equal(0);
  });

  /** Takes what is in a list with a connection of its own. */
  async function drain(list: string): Promise<void> {
    const engine = await openEngine({ url: server.url, prefix: 'calendar:{test}:', me: 'slow', deadlineMs: 2000 });
    while (await engine.pop(list, 500));
    engine.close();
  }
});
