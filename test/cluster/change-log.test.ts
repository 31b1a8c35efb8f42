// How replicas that follow one change log converge, with a real Redis and without gateways.

import { expect } from 'chai';
import { type ChangeLog, createChangeLog, type WriteMode } from '../../src/cluster/change-log.ts';
import { LOG_START, type StoredEntry } from '../../src/cluster/change-log-entry.ts';
import { openRedis, type Redis } from '../../src/cluster/redis.ts';
import type { UnpublishedKeys } from '../../src/cluster/unpublished-changes.ts';
import { NotLeaderError } from '../../src/errors.ts';
import { recordKey } from '../../src/model/records.ts';
import type { ChangeJournal, JournalPosition } from '../../src/store/change-journal.ts';
import { openReplica, type Replica } from '../../src/store/replica.ts';
import { event } from '../store/sample-records.ts';
import { type RedisServer, useRedisServer, withRedisClient } from './redis-server.ts';

interface TestReplica {
  replica: Replica;
  changeLog: ChangeLog;
  redis: Redis;
  /** Titles of event 1, in the order in which they were applied. */
  titles: string[];
  mode: WriteMode;
}

describe('change log', function () {
  this.timeout(20_000);
  let server: RedisServer;
  let replicas: TestReplica[];
  useRedisServer((started) => {
    server = started;
  });
  beforeEach(async () => {
    replicas = await Promise.all([open('a'), open('b'), open('c')]);
  });
  afterEach(() => {
    for (const { redis, replica } of replicas) {
      redis.close();
      replica.close();
    }
  });

  async function open(nodeId: string): Promise<TestReplica> {
    const redis = await openRedis({ url: server.url, prefix: 'calendar:{test}:', nodeId, deadlineMs: 2000 });
    const replica = openReplica({ identity: 'test' });
    const titles: string[] = [];
    const member: TestReplica = { replica, redis, titles, mode: { type: 'log', redis } } as unknown as TestReplica;
    member.changeLog = createChangeLog({
      replica,
      nodeId,
      writeMode: () => member.mode,
      onApplied: ({ change }) =>
        void titles.push(...(change.upserts ?? []).map((record) => (record as { title: string }).title)),
    });
    return member;
  }
  const three = () => replicas as [TestReplica, TestReplica, TestReplica];
  const unpublishedOf = ({ unpublished }: ChangeLog) =>
    unpublished === 'unknown' ? unpublished : [...unpublished.keys()];
  const write = ({ changeLog }: TestReplica, title: string) =>
    changeLog.commit('write', () => ({ upserts: [event(1, { title })] }));

  it('applies concurrent writes in one order everywhere', async () => {
    const [a, b, c] = three();
    const writes = [a, b].map(async (member, writer) => {
      for (let n = 0; n < 50; n += 1) await write(member, `${writer} ${n}`);
    });
    await Promise.all(writes);
    for (const { changeLog, redis } of replicas) expect(await changeLog.applyPending(redis)).to.equal(true);
    expect(a.titles).to.have.length(100);
    expect(b.titles).to.deep.equal(a.titles);
    expect(c.titles).to.deep.equal(a.titles);
    for (const writer of [0, 1])
      expect(a.titles.filter((title) => title.startsWith(`${writer} `))).to.deep.equal(
        Array.from({ length: 50 }, (_, n) => `${writer} ${n}`),
      );
  });

  it('gives every replica a journal that continues the positions of the others, also over changes without Redis', async () => {
    const [a, b, c] = three();
    const journalOf = ({ replica, changeLog }: TestReplica) => {
      replica.journal.startAt(changeLog.offset);
      return replica.journal;
    };
    const journals = { a: journalOf(a), b: journalOf(b), c: journalOf(c) };
    const publish = (member: TestReplica, id: number, title: string, options = {}) =>
      member.changeLog.commit('write', () => ({ upserts: [event(id, { title })] }), options);
    const catchUp = async () => {
      for (const { changeLog, redis } of replicas) expect(await changeLog.applyPending(redis)).to.equal(true);
    };
    const idsSince = (reader: ChangeJournal, position: JournalPosition) =>
      reader.since(position, 100)!.entries.map(({ id }) => id);

    await publish(a, 1, 'one');
    await publish(b, 2, 'two');
    await catchUp();
    const position = journals.a.head();
    await publish(c, 3, 'three');
    await catchUp();
    for (const [name, journal] of Object.entries(journals)) {
      // A position of another replica repeats the changes of its own entry.
      expect(idsSince(journal, position), name).to.deep.equal(name === 'a' ? [3] : [2, 3]);
      expect(journal.since({ ...position, epoch: 'other-file', offset: LOG_START }, 9), name).to.equal(undefined);
    }

    // `a` stores a change without Redis; `b` reads on, and hears of it when it is repaired.
    const before = journals.b.head();
    a.mode = { type: 'local' };
    await publish(a, 4, 'local');
    expect(idsSince(journals.a, before)).to.include(4);
    await publish(b, 5, 'five');
    const later = journals.b.head();
    a.mode = { type: 'log', redis: a.redis };
    await catchUp();
    const readThroughA = journals.a.since(later, 100)!;
    await publish(a, 4, 'local', { republish: true });
    await catchUp();
    expect(idsSince(journals.b, later)).to.deep.equal([4]);
    expect(idsSince(journals.a, later)).to.include(4);
    expect(idsSince(journals.a, readThroughA.next)).to.include(4);

    // `a` and `b` delete an event without Redis; `c` reads on, and hears of it when it is repaired.
    const deletion = () => ({ deletes: [{ kind: 'event' as const, ids: [1] }] });
    for (const member of [a, b]) {
      member.mode = { type: 'local' };
      await member.changeLog.commit('poll', deletion);
      member.mode = { type: 'log', redis: member.redis };
    }
    await publish(c, 6, 'six');
    // `a` and `b` have not read on: a client of `c` hears of it at once.
    for (const journal of [journals.a, journals.b]) {
      const { entries } = journal.since(journals.c.head(), 100)!;
      expect(entries).to.deep.include({ kind: 'event', id: 1, change: 'deleted' });
    }
    await catchUp();
    const beforeRepair = journals.c.head();
    await a.changeLog.commit('poll', deletion, { republish: true });
    await catchUp();
    for (const [name, journal] of Object.entries(journals)) {
      const { entries } = journal.since(beforeRepair, 100)!;
      expect(entries, name).to.deep.include({ kind: 'event', id: 1, change: 'deleted' });
    }
  });

  it('computes a change again when another entry came first', async () => {
    const [a, b] = three();
    await write(a, 'first');
    const titlesAtCall: string[] = [];
    await b.changeLog.commit('poll', () => {
      titlesAtCall.push((b.replica.get('event', 1) as { title: string } | undefined)?.title ?? '');
      return { upserts: [event(1, { title: 'second' })] };
    });
    expect(titlesAtCall).to.deep.equal(['', 'first']);
    expect(b.titles).to.deep.equal(['first', 'second']);
  });

  it('rejects entries after a gap, and the baseline of another gateway', async () => {
    const [a, b, c] = three();
    for (const title of ['one', 'two', 'three']) await write(a, title);
    const entries = await a.redis.readEntries(LOG_START, 10);
    const withGap = entries.filter((_, index) => index !== 1);
    expect(await b.changeLog.applyEntries(withGap)).to.equal(false);
    expect(b.titles).to.deep.equal(['one']);
    const baseline: StoredEntry = { ...entries[0]!, type: 'baseline', from: 'another' };
    expect(await c.changeLog.applyEntries([baseline])).to.equal(false);
    expect(c.titles).to.deep.equal([]);
  });

  it('writes a baseline to a Redis that lost its data, even when another gateway writes just before', async () => {
    const [a, b] = three();
    await write(a, 'one');
    await withRedisClient(server, (client) => client.flushAll());
    b.mode = { type: 'log', redis: b.redis };
    const { token } = await a.redis.updateLock('take', 5000, '');
    let appends = 0;
    const append: Redis['append'] = async (entry) => {
      appends += 1;
      if (appends === 2) await write(b, 'between');
      return a.redis.append(entry);
    };
    expect(await a.changeLog.writeBaseline({ ...a.redis, append }, token)).to.equal(true);
    expect(a.titles).to.deep.equal(['one', 'between']);
  });

  it('applies an entry once that was read twice', async () => {
    const [a, b] = three();
    for (const title of ['one', 'two']) await write(a, title);
    const entries = await a.redis.readEntries(LOG_START, 10);
    expect(await b.changeLog.applyEntries([...entries.slice(0, 1), ...entries])).to.equal(true);
    expect(b.titles).to.deep.equal(['one', 'two']);
    expect(b.changeLog.offset).to.equal(a.changeLog.offset);
  });

  it('appends before it commits, and commits nothing after the lock was lost', async () => {
    const [a] = three();
    const committed = write(a, 'written').then(async () => {
      const [last] = (await a.redis.readEntries(LOG_START, 10)).slice(-1);
      expect(last?.change.upserts?.[0]).to.include({ title: 'written' });
    });
    expect(a.replica.get('event', 1)).to.equal(undefined);
    await committed;
    a.mode = { type: 'log', redis: a.redis, token: 7 };
    const error = await a.changeLog
      .commit('poll', () => ({ upserts: [event(1, { title: 'late' })] }))
      .catch((failure: unknown) => failure);
    expect(error).to.be.instanceOf(NotLeaderError);
    expect(a.replica.get('event', 1)).to.include({ title: 'written' });
  });

  it('knows which records changed since a read mark', async () => {
    const [a, b] = three();
    const mark = b.changeLog.changeMark();
    await write(a, 'one');
    expect(b.changeLog.changedSince(recordKey('event', 1), mark)).to.equal(false);
    await b.changeLog.applyPending(b.redis);
    expect(b.changeLog.changedSince(recordKey('event', 1), mark)).to.equal(true);
    expect(b.changeLog.changedSince(recordKey('event', 1), b.changeLog.changeMark())).to.equal(false);
  });

  it('restores unpublished changes after a restart', async () => {
    const [a] = three();
    a.mode = { type: 'local' };
    await write(a, 'alone');
    const restarted = createChangeLog({
      replica: a.replica,
      nodeId: 'a',
      writeMode: () => a.mode,
      onApplied: () => {},
    });
    expect(unpublishedOf(restarted)).to.deep.equal([recordKey('event', 1)]);
    restarted.markPublished(new Map(restarted.unpublished as UnpublishedKeys & Map<string, number>));
    expect(unpublishedOf(restarted)).to.deep.equal([]);
  });

  it('keeps a change unpublished that was made during its repair', async () => {
    const [a] = three();
    a.mode = { type: 'local' };
    await write(a, 'alone');
    const records = new Map(a.changeLog.unpublished as UnpublishedKeys & Map<string, number>);
    await write(a, 'once more');
    a.changeLog.markPublished(records);
    expect(unpublishedOf(a.changeLog)).to.deep.equal([recordKey('event', 1)]);
  });

  it('keeps unpublished after a snapshot what was stored meanwhile, and what the sender had unpublished', async () => {
    const [a] = three();
    a.mode = { type: 'local' };
    await write(a, 'before the snapshot');
    a.changeLog.markUnpublished('unknown');
    await a.changeLog.commit('read', () => ({ upserts: [event(2)] }));
    a.changeLog.replicaReplaced('1700000000000-3', [recordKey('event', 3)]);
    expect(unpublishedOf(a.changeLog)).to.deep.equal([recordKey('event', 2), recordKey('event', 3)]);
  });

  it('counts every record as changed after a snapshot', async () => {
    const [a] = three();
    await write(a, 'one');
    const mark = a.changeLog.changeMark();
    a.changeLog.replicaReplaced('1700000000000-3', []);
    expect(a.changeLog.changedSince(recordKey('event', 1), mark)).to.equal(true);
    expect(a.changeLog.changedSince(recordKey('event', 1), a.changeLog.changeMark())).to.equal(false);
  });

  it('knows of local writes when a response is outdated', async () => {
    const [a] = three();
    const mark = a.changeLog.changeMark();
    a.mode = { type: 'local' };
    await write(a, 'alone');
    expect(a.changeLog.changedSince(recordKey('event', 1), mark)).to.equal(true);
  });

  it('needs another snapshot when too many records were stored meanwhile', async () => {
    const [a] = three();
    a.mode = { type: 'local' };
    a.changeLog.markUnpublished('unknown');
    const many = Array.from({ length: 1001 }, (_, n) => event(n + 1));
    await a.changeLog.commit('read', () => ({ upserts: many }));
    a.changeLog.replicaReplaced('1700000000000-3', []);
    expect(a.changeLog.unpublished).to.equal('unknown');
    a.changeLog.markUnpublished('unknown');
    a.changeLog.replicaReplaced('1700000000000-3', []);
    expect(unpublishedOf(a.changeLog)).to.deep.equal([]);
  });

  it('waits for an offset no longer than allowed', async () => {
    const [a, b] = three();
    await write(a, 'one');
    expect(await b.changeLog.waitFor(a.changeLog.offset, 10)).to.equal(false);
    const waiting = b.changeLog.waitFor(a.changeLog.offset, 5000);
    await b.changeLog.applyPending(b.redis);
    expect(await waiting).to.equal(true);
  });

  it('waits for an offset until the abort', async () => {
    const [a, b] = three();
    await write(a, 'one');
    const abort = new AbortController();
    const waiting = b.changeLog.waitFor(a.changeLog.offset, 600_000, abort.signal);
    abort.abort();
    expect(await waiting).to.equal(false);
    expect(await b.changeLog.waitFor(a.changeLog.offset, 600_000, abort.signal)).to.equal(false);
  });
});
