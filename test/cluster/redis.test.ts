// The lock, its fencing token and the capped change log in a real Redis, without gateways.

import { ErrorReply } from '@redis/client';
import { expect } from 'chai';
import { compareIds, encodeEntry, LOG_START, MAX_ENTRIES } from '../../src/cluster/change-log-entry.ts';
import { openRedis, type Redis, RedisUnavailable } from '../../src/cluster/redis.ts';
import { event } from '../store/sample-records.ts';
import { until } from './gateways.ts';
import { type RedisServer, useRedisServer, withRedisClient } from './redis-server.ts';

const PREFIX = 'calendar:{test}:';
const LEASE_MS = 400;

describe('redis: lock and change log', function () {
  this.timeout(20_000);
  let server: RedisServer;
  let connections: Redis[];
  useRedisServer((started) => {
    server = started;
  });
  beforeEach(() => {
    connections = [];
  });
  afterEach(() => {
    for (const redis of connections) redis.close();
  });

  async function open(nodeId: string): Promise<Redis> {
    const redis = await openRedis({ url: server.url, prefix: PREFIX, nodeId, deadlineMs: 2000 });
    connections.push(redis);
    return redis;
  }
  const entry = (from: string, title: string) =>
    encodeEntry({ from, type: 'poll', change: { upserts: [event(1, { title })] } });
  const append = (redis: Redis, token: number | undefined, expectedTail: string, title = 'x') =>
    redis.append({ token, expectedTail, lastKnownId: expectedTail, entry: entry('node', title) });

  /** Takes the lock as soon as it is free; resolves with its token. */
  async function take(redis: Redis, nodeId: string): Promise<number> {
    let acquired: number | undefined;
    await until(async () => {
      const { holder, token } = await redis.updateLock('take', LEASE_MS, '');
      if (holder === nodeId) acquired = token;
      return acquired !== undefined;
    }, `${nodeId} has the lock`);
    return acquired!;
  }

  it('gives the lock to one node at a time, until its lease expires', async () => {
    const [a, b] = [await open('a'), await open('b')];
    expect(await a.updateLock('take', 60_000, 'mine')).to.include({ holder: 'a', token: 1 });
    expect(await b.updateLock('take', 60_000, 'no')).to.include({ holder: 'a', token: 1, leaderStatus: 'mine' });
    // `watch` does not take the lock, and only the holder can release it.
    await b.updateLock('release', 60_000, '');
    expect(await b.updateLock('watch', 60_000, '')).to.include({ holder: 'a' });
    await a.updateLock('release', 60_000, '');
    expect(await b.updateLock('watch', 60_000, '')).to.include({ holder: '' });
    expect(await b.updateLock('take', LEASE_MS, '')).to.include({ holder: 'b', token: 2 });
    await until(async () => (await a.updateLock('watch', LEASE_MS, '')).holder === '', 'the lock is free');
  });

  it('lets a lock without expiry, which no gateway wrote, expire after a lease', async () => {
    const a = await open('a');
    await withRedisClient(server, (client) => client.set(`${PREFIX}lock`, 'foreign'));
    expect(await a.updateLock('watch', LEASE_MS, '')).to.include({ holder: 'foreign' });
    expect(await withRedisClient(server, (client) => client.pTTL(`${PREFIX}lock`))).to.be.within(0, LEASE_MS);
    expect(await take(a, 'a')).to.equal(1);
  });

  it('gives the holder of the lock a new fencing token if it was deleted', async () => {
    const a = await open('a');
    await a.updateLock('take', 60_000, '');
    await withRedisClient(server, (client) => client.del(`${PREFIX}fence`));
    const { token } = await a.updateLock('take', 60_000, '');
    expect(await append(a, token, LOG_START)).to.include({ type: 'ok' });
  });

  it('rejects an entry with an outdated fencing token, even if the tail is as expected', async () => {
    const [a, b] = [await open('a'), await open('b')];
    const first = await take(a, 'a');
    const reply = await append(a, first, LOG_START);
    if (reply.type !== 'ok') throw new Error(reply.type);
    const second = await take(b, 'b');
    expect(second).to.equal(first + 1);
    // No entry was added meanwhile: only the token is outdated.
    expect(await append(a, first, reply.id)).to.deep.equal({ type: 'fenced' });
    await until(async () => (await a.updateLock('watch', LEASE_MS, '')).holder === '', 'the lock is free');
    // The lock is free, after another node held it.
    expect(await append(a, first, reply.id)).to.deep.equal({ type: 'fenced' });
    const third = await take(a, 'a');
    // `a` holds the lock again, but what it read from the CMS under the first token is still outdated.
    expect(await append(a, first, reply.id)).to.deep.equal({ type: 'fenced' });
    const later = await append(a, third, reply.id);
    if (later.type !== 'ok') throw new Error(later.type);
    // The lease expired, though no other node took the lock.
    await until(async () => (await b.updateLock('watch', LEASE_MS, '')).holder === '', 'the lock is free');
    expect(await append(a, third, later.id)).to.deep.equal({ type: 'fenced' });
    expect(await a.readEntries(LOG_START, 10)).to.have.length(2);
  });

  it('appends an entry only after the expected tail, and links it to the previous one', async () => {
    const [a, b] = [await open('a'), await open('b')];
    const first = await append(a, undefined, LOG_START, 'one');
    if (first.type !== 'ok') throw new Error(first.type);
    expect(await append(b, undefined, LOG_START, 'late')).to.deep.equal({ type: 'behind', tail: first.id });
    const second = await append(b, undefined, first.id, 'two');
    if (second.type !== 'ok') throw new Error(second.type);
    expect(compareIds(second.id, first.id)).to.be.above(0);
    const entries = await a.readEntries(LOG_START, 10);
    expect(entries.map(({ id, previousId }) => [id, previousId])).to.deep.equal([
      [first.id, LOG_START],
      [second.id, first.id],
    ]);
  });

  it('never assigns an older id, even after it lost its data or its latest entries', async () => {
    const a = await open('a');
    let tail = LOG_START;
    for (const hours of [1, 2]) {
      const lastKnownId = `${Date.now() + hours * 3_600_000}-7`;
      const reply = await a.append({ token: undefined, expectedTail: tail, lastKnownId, entry: entry('a', 'x') });
      if (reply.type !== 'ok') throw new Error(reply.type);
      expect(compareIds(reply.id, lastKnownId)).to.be.above(0);
      const next = await append(a, undefined, reply.id);
      if (next.type !== 'ok') throw new Error(next.type);
      expect(compareIds(next.id, reply.id)).to.be.above(0);
      tail = next.id;
    }
    // Later than the tail too, if the writer knows an older id.
    const last = await a.append({ token: undefined, expectedTail: tail, lastKnownId: '1-0', entry: entry('a', 'x') });
    expect(last.type === 'ok' && compareIds(last.id, tail) > 0).to.equal(true);
  });

  it('runs its scripts after Redis forgot them', async () => {
    const a = await open('a');
    await a.updateLock('take', LEASE_MS, '');
    await withRedisClient(server, (client) => client.scriptFlush());
    expect(await a.updateLock('watch', LEASE_MS, '')).to.include({ holder: 'a' });
  });

  it('caps the number of entries', async () => {
    const a = await open('a');
    let expected = LOG_START;
    for (let n = 0; n < MAX_ENTRIES + 1000; n += 1) {
      const reply = await append(a, undefined, expected);
      if (reply.type !== 'ok') throw new Error(reply.type);
      expected = reply.id;
    }
    const length = await withRedisClient(server, (client) => client.xLen(`${PREFIX}stream`));
    // "~": Redis trims whole nodes of a hundred entries (Redis documentation, XTRIM).
    expect(length).to.be.within(MAX_ENTRIES, MAX_ENTRIES + 100);
  });

  for (const { title, cause, says } of [
    {
      title: 'a missing right',
      cause: [['ACL', 'SETUSER', 'default', '-xadd']],
      says: /^Redis refused a command: .*can't run this command.*\(Allow the user/,
    },
    {
      title: 'a key that may not be used',
      cause: [['ACL', 'SETUSER', 'default', 'resetkeys']],
      says: /^Redis refused a command: NOPERM.*\(Allow the user/,
    },
    {
      title: 'a full memory',
      cause: [['CONFIG', 'SET', 'maxmemory', '1']],
      says: /^Redis refused a command: OOM.*\(Give Redis more memory/,
    },
    {
      title: 'a replica of Redis',
      cause: [['REPLICAOF', '127.0.0.1', '1']],
      says: /^Redis refused a command: (READONLY|UNBLOCKED).*\(Let CALENDAR_REDIS_URL name the primary/,
    },
    {
      title: 'a key of another type',
      cause: [['SET', `${PREFIX}stream`, 'x']],
      says: /^Redis refused a command: WRONGTYPE.*\(Delete the keys/,
    },
    ...['x', '9007199254740993', '05', ' 5', ''].map((fence) => ({
      title: `the fencing token "${fence}"`,
      cause: [['SET', `${PREFIX}fence`, fence]],
      says: /^Redis contains a value that no gateway wrote: fence: .*Delete the keys/,
    })),
    {
      title: 'a tail that no gateway wrote',
      cause: [['SET', `${PREFIX}tail`, 'x']],
      says: /^Redis contains a value that no gateway wrote: tail: .*Delete the keys/,
    },
  ])
    it(`names ${title} as the reason of every failure, and what to do about it`, async () => {
      const a = await open('a');
      const waiting = a.waitForEntries(LOG_START, 1, 1000).catch((failure: unknown) => failure);
      await withRedisClient(server, async (client) => {
        for (const command of cause) await client.sendCommand(command);
      });
      const append = () => a.append({ token: undefined, expectedTail: LOG_START, lastKnownId: LOG_START, entry: 'x' });
      const error = await a
        .updateLock('watch', LEASE_MS, '')
        .then(append)
        .catch((failure: unknown) => failure);
      expect(error).to.be.instanceOf(RedisUnavailable).with.property('isRefused', true);
      expect((error as Error).message).to.match(says);
      expect(await waiting).to.equal(error);
    });

  it('quotes no password in the reason of a failure', () => {
    // As Redis 5, or one with a renamed HELLO, responds.
    const reply = "ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'user' 's3cret' ";
    expect(new RedisUnavailable(new ErrorReply(reply)).message).to.equal(
      "Redis refused a command: ERR unknown command 'HELLO'",
    );
  });

  it('closes the connection when Redis does not respond', async () => {
    const a = await openRedis({ url: server.url, prefix: PREFIX, nodeId: 'a', deadlineMs: 500 });
    server.child.kill('SIGSTOP');
    try {
      const error = await a.updateLock('watch', LEASE_MS, '').catch((failure: unknown) => failure);
      expect(error).to.be.instanceOf(RedisUnavailable);
      expect(a.signal.aborted).to.equal(true);
    } finally {
      server.child.kill('SIGCONT');
    }
    expect(await a.updateLock('watch', LEASE_MS, '').catch((failure: unknown) => failure)).to.be.instanceOf(
      RedisUnavailable,
    );
  });
});
