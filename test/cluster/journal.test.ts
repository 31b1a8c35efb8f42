// The order in which changes get into copies that follow one stream, with a real engine and nothing else.

import { expect } from 'chai';
import type { Drift } from '../../src/cluster/drift.ts';
import { type Engine, openEngine } from '../../src/cluster/engine.ts';
import { type Placed, START } from '../../src/cluster/entries.ts';
import { createJournal, type Footing, type Journal } from '../../src/cluster/journal.ts';
import { keyOf } from '../../src/cluster/keys.ts';
import { Relieved } from '../../src/replica/commit.ts';
import { openReplica, type Replica } from '../../src/replica/store.ts';
import { event } from '../replica/samples.ts';
import { type EngineProcess, inside, useEngine } from './engine-process.ts';

interface Copy {
  replica: Replica;
  journal: Journal;
  engine: Engine;
  /** Titles of event 1 in the order in which they were applied. */
  titles: string[];
  footing: Footing;
}

describe('changes of several copies', function () {
  this.timeout(20_000);
  let server: EngineProcess;
  let copies: Copy[];
  useEngine((started) => {
    server = started;
  });
  beforeEach(async () => {
    copies = await Promise.all([open('a'), open('b'), open('c')]);
  });
  afterEach(() => {
    for (const { engine, replica } of copies) {
      engine.close();
      replica.close();
    }
  });

  async function open(me: string): Promise<Copy> {
    const engine = await openEngine({ url: server.url, prefix: 'calendar:{test}:', me, deadlineMs: 2000 });
    const replica = openReplica({ identity: 'test' });
    const titles: string[] = [];
    const copy: Copy = { replica, engine, titles, footing: { type: 'stream', engine } } as unknown as Copy;
    copy.journal = createJournal({
      ...{ replica, me, footing: () => copy.footing },
      applied: ({ change }) =>
        void titles.push(...(change.put ?? []).map((record) => (record as { title: string }).title)),
    });
    return copy;
  }
  const three = () => copies as [Copy, Copy, Copy];
  const besideOf = ({ drift }: Journal) => (drift === 'much' ? drift : [...drift.keys()]);
  const put = ({ journal }: Copy, title: string) => journal.commit('write', () => ({ put: [event(1, { title })] }));

  it('is one order for all, whoever writes at the same time', async () => {
    const [a, b, c] = three();
    const writing = [a, b].map(async (copy, who) => {
      for (let n = 0; n < 50; n += 1) await put(copy, `${who} ${n}`);
    });
    await Promise.all(writing);
    for (const { journal, engine } of copies) expect(await journal.catchUp(engine)).to.equal(true);
    expect(a.titles).to.have.length(100);
    expect(b.titles).to.deep.equal(a.titles);
    expect(c.titles).to.deep.equal(a.titles);
    for (const who of [0, 1])
      expect(a.titles.filter((title) => title.startsWith(`${who} `))).to.deep.equal(
        Array.from({ length: 50 }, (_, n) => `${who} ${n}`),
      );
  });

  it('asks anew for what is right when another entry was first', async () => {
    const [a, b] = three();
    await put(a, 'first');
    const seen: string[] = [];
    await b.journal.commit('look', () => {
      seen.push((b.replica.get('event', 1) as { title: string } | undefined)?.title ?? '');
      return { put: [event(1, { title: 'second' })] };
    });
    expect(seen).to.deep.equal(['', 'first']);
    expect(b.titles).to.deep.equal(['first', 'second']);
  });

  it('is not taken over a gap, nor from a beginning that another made', async () => {
    const [a, b, c] = three();
    for (const title of ['one', 'two', 'three']) await put(a, title);
    const entries = await a.engine.range(START, 10);
    const without = entries.filter((_, index) => index !== 1);
    expect(await b.journal.take(without)).to.equal(false);
    expect(b.titles).to.deep.equal(['one']);
    const begin: Placed = { ...entries[0]!, type: 'begin', from: 'somebody' };
    expect(await c.journal.take([begin])).to.equal(false);
    expect(c.titles).to.deep.equal([]);
  });

  it('begins anew in an engine that lost everything, also when another writes right before the beginning', async () => {
    const [a, b] = three();
    await put(a, 'one');
    await inside(server, (client) => client.flushAll());
    b.footing = { type: 'ahead', engine: b.engine };
    const { token } = await a.engine.claim('take', 5000, '');
    let times = 0;
    const append: Engine['append'] = async (entry) => {
      times += 1;
      if (times === 2) await put(b, 'between');
      return a.engine.append(entry);
    };
    expect(await a.journal.begin({ ...a.engine, append }, token)).to.equal(true);
    expect(a.titles).to.deep.equal(['one', 'between']);
  });

  it('passes over what was read twice', async () => {
    const [a, b] = three();
    for (const title of ['one', 'two']) await put(a, title);
    const entries = await a.engine.range(START, 10);
    expect(await b.journal.take([...entries.slice(0, 1), ...entries])).to.equal(true);
    expect(b.titles).to.deep.equal(['one', 'two']);
    expect(b.journal.at).to.equal(a.journal.at);
  });

  it('is in the stream before it is told to have happened, and in no copy when the lock was lost', async () => {
    const [a] = three();
    const done = put(a, 'written').then(async () => {
      const [last] = (await a.engine.range(START, 10)).slice(-1);
      expect(last?.change.put?.[0]).to.include({ title: 'written' });
    });
    expect(a.replica.get('event', 1)).to.equal(undefined);
    await done;
    a.footing = { type: 'stream', engine: a.engine, token: 7 };
    const error = await a.journal
      .commit('look', () => ({ put: [event(1, { title: 'late' })] }))
      .catch((failed: unknown) => failed);
    expect(error).to.be.instanceOf(Relieved);
    expect(a.replica.get('event', 1)).to.include({ title: 'written' });
  });

  it('knows what was touched since a question was asked', async () => {
    const [a, b] = three();
    const moment = b.journal.moment();
    await put(a, 'one');
    expect(b.journal.touchedSince(keyOf('event', 1), moment)).to.equal(false);
    await b.journal.catchUp(b.engine);
    expect(b.journal.touchedSince(keyOf('event', 1), moment)).to.equal(true);
    expect(b.journal.touchedSince(keyOf('event', 1), b.journal.moment())).to.equal(false);
  });

  it('remembers over a restart what it has beside the stream', async () => {
    const [a] = three();
    a.footing = { type: 'apart' };
    await put(a, 'alone');
    const again = createJournal({ replica: a.replica, me: 'a', footing: () => a.footing, applied: () => {} });
    expect(besideOf(again)).to.deep.equal([keyOf('event', 1)]);
    again.mended(new Map(again.drift as Drift & Map<string, number>));
    expect(besideOf(again)).to.deep.equal([]);
  });

  it('is not taken for told when it came beside the stream once more while it was read again', async () => {
    const [a] = three();
    a.footing = { type: 'apart' };
    await put(a, 'alone');
    const read = new Map(a.journal.drift as Drift & Map<string, number>);
    await put(a, 'once more');
    a.journal.mended(read);
    expect(besideOf(a.journal)).to.deep.equal([keyOf('event', 1)]);
  });

  it('is beside the stream still when it came while the copy was replaced, as is what the giver had beside it', async () => {
    const [a] = three();
    a.footing = { type: 'apart' };
    await put(a, 'of a copy that is replaced');
    a.journal.drifted('much');
    await a.journal.commit('read', () => ({ put: [event(2)] }));
    a.journal.moved('1700000000000-3', [keyOf('event', 3)]);
    expect(besideOf(a.journal)).to.deep.equal([keyOf('event', 2), keyOf('event', 3)]);
  });

  it('is older than the copy that was handed over, whatever was touched before', async () => {
    const [a] = three();
    await put(a, 'one');
    const moment = a.journal.moment();
    a.journal.moved('1700000000000-3', []);
    expect(a.journal.touchedSince(keyOf('event', 1), moment)).to.equal(true);
    expect(a.journal.touchedSince(keyOf('event', 1), a.journal.moment())).to.equal(false);
  });

  it('is not undone by an older answer where it was made alone', async () => {
    const [a] = three();
    const moment = a.journal.moment();
    a.footing = { type: 'apart' };
    await put(a, 'alone');
    expect(a.journal.touchedSince(keyOf('event', 1), moment)).to.equal(true);
  });

  it('is ahead of the place in the stream until that is come to', async () => {
    const [a, b] = three();
    await put(a, 'one');
    b.footing = { type: 'ahead', engine: b.engine };
    await put(b, 'two');
    expect(b.replica.get('event', 1)).to.include({ title: 'two' });
    expect(b.journal.isAhead).to.equal(true);
    await b.journal.catchUp(b.engine);
    expect(b.journal.isAhead).to.equal(false);
  });

  it('is replaced once more when more came meanwhile than is remembered', async () => {
    const [a] = three();
    a.footing = { type: 'apart' };
    a.journal.drifted('much');
    const many = Array.from({ length: 1001 }, (_, n) => event(n + 1));
    await a.journal.commit('read', () => ({ put: many }));
    a.journal.moved('1700000000000-3', []);
    expect(a.journal.drift).to.equal('much');
    a.journal.drifted('much');
    a.journal.moved('1700000000000-3', []);
    expect(besideOf(a.journal)).to.deep.equal([]);
  });

  it('is waited for no longer than was said', async () => {
    const [a, b] = three();
    await put(a, 'one');
    expect(await b.journal.reached(a.journal.at, 10)).to.equal(false);
    const waiting = b.journal.reached(a.journal.at, 5000);
    await b.journal.catchUp(b.engine);
    expect(await waiting).to.equal(true);
  });
});
