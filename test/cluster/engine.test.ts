// The lock, its number and the capped stream in a real engine, without gateways around them.

import { expect } from 'chai';
import { type Engine, EngineAway, openEngine } from '../../src/cluster/engine.ts';
import { compareIds, encodeEntry, MAX_ENTRIES, START } from '../../src/cluster/entries.ts';
import { event } from '../replica/samples.ts';
import { type EngineProcess, inside, useEngine } from './engine-process.ts';
import { until } from './gateways.ts';

const PREFIX = 'calendar:{test}:';
const LEASE_MS = 400;

describe('the lock and the stream', function () {
  this.timeout(20_000);
  let server: EngineProcess;
  let sessions: Engine[];
  useEngine((started) => {
    server = started;
  });
  beforeEach(() => {
    sessions = [];
  });
  afterEach(() => {
    for (const session of sessions) session.close();
  });

  async function open(me: string): Promise<Engine> {
    const session = await openEngine({ url: server.url, prefix: PREFIX, me, deadlineMs: 2000 });
    sessions.push(session);
    return session;
  }
  const entry = (from: string, title: string) =>
    encodeEntry({ from, type: 'look', change: { put: [event(1, { title })] } });
  const append = (session: Engine, token: number | undefined, expected: string, title = 'x') =>
    session.append({ token, expected, known: START, entry: entry('somebody', title) });

  /** Takes the lock as soon as it is free; gives its number. */
  async function take(session: Engine, me: string): Promise<number> {
    let taken: number | undefined;
    await until(async () => {
      const { holder, token } = await session.claim('take', LEASE_MS, '');
      if (holder === me) taken = token;
      return taken !== undefined;
    }, `${me} has the lock`);
    return taken!;
  }

  it('is held by one at a time, and free again when it is not renewed', async () => {
    const [a, b] = [await open('a'), await open('b')];
    expect(await a.claim('take', 60_000, 'mine')).to.include({ holder: 'a', token: 1 });
    expect(await b.claim('take', 60_000, 'no')).to.include({ holder: 'a', token: 1, word: 'mine' });
    // To watch takes nothing, and only the holder lets it go.
    await b.claim('release', 60_000, '');
    expect(await b.claim('watch', 60_000, '')).to.include({ holder: 'a' });
    await a.claim('release', 60_000, '');
    expect(await b.claim('watch', 60_000, '')).to.include({ holder: '' });
    expect(await b.claim('take', LEASE_MS, '')).to.include({ holder: 'b', token: 2 });
    await until(async () => (await a.claim('watch', LEASE_MS, '')).holder === '', 'it is free');
  });

  it('lets nobody write under a number that is not the last, though the stream ends where it believes', async () => {
    const [a, b] = [await open('a'), await open('b')];
    const first = await take(a, 'a');
    const written = await append(a, first, START);
    if (written.type !== 'ok') throw new Error(written.type);
    const second = await take(b, 'b');
    expect(second).to.equal(first + 1);
    // Nobody wrote meanwhile: only the number tells that it comes late.
    expect(await append(a, first, written.id)).to.deep.equal({ type: 'fenced' });
    await until(async () => (await a.claim('watch', LEASE_MS, '')).holder === '', 'it is free');
    // The lock is free, and was another's.
    expect(await append(a, first, written.id)).to.deep.equal({ type: 'fenced' });
    const third = await take(a, 'a');
    // It holds the lock again, and what it asked the CMS under the first number is as old as before.
    expect(await append(a, first, written.id)).to.deep.equal({ type: 'fenced' });
    const again = await append(a, third, written.id);
    if (again.type !== 'ok') throw new Error(again.type);
    // Nobody took it after that, and it is not held all the same.
    await until(async () => (await b.claim('watch', LEASE_MS, '')).holder === '', 'it is free');
    expect(await append(a, third, again.id)).to.deep.equal({ type: 'fenced' });
    expect(await a.range(START, 10)).to.have.length(2);
  });

  it('takes an entry only from whoever knows the one before it, and each names that one', async () => {
    const [a, b] = [await open('a'), await open('b')];
    const one = await append(a, undefined, START, 'one');
    if (one.type !== 'ok') throw new Error(one.type);
    expect(await append(b, undefined, START, 'late')).to.deep.equal({ type: 'behind', tail: one.id });
    const two = await append(b, undefined, one.id, 'two');
    if (two.type !== 'ok') throw new Error(two.type);
    expect(compareIds(two.id, one.id)).to.be.above(0);
    const entries = await a.range(START, 10);
    expect(entries.map(({ id, after }) => [id, after])).to.deep.equal([
      [one.id, START],
      [two.id, one.id],
    ]);
  });

  it('never gives an id that is older than one it gave, not even after it lost everything', async () => {
    const a = await open('a');
    const known = `${Date.now() + 3_600_000}-7`;
    const reply = await a.append({ token: undefined, expected: START, known, entry: entry('a', 'x') });
    if (reply.type !== 'ok') throw new Error(reply.type);
    expect(compareIds(reply.id, known)).to.be.above(0);
    const next = await append(a, undefined, reply.id);
    expect(next.type === 'ok' && compareIds(next.id, reply.id) > 0).to.equal(true);
  });

  it('keeps so many entries and not many more', async () => {
    const a = await open('a');
    let expected = START;
    for (let n = 0; n < MAX_ENTRIES + 1000; n += 1) {
      const reply = await append(a, undefined, expected);
      if (reply.type !== 'ok') throw new Error(reply.type);
      expected = reply.id;
    }
    const length = await inside(server, (client) => client.xLen(`${PREFIX}stream`));
    // "~": whole nodes of a hundred entries are cut off (Redis documentation, XTRIM).
    expect(length).to.be.within(MAX_ENTRIES, MAX_ENTRIES + 100);
  });

  it('ends a session that is not answered, so that nobody goes on with half of it', async () => {
    const a = await openEngine({ url: server.url, prefix: PREFIX, me: 'a', deadlineMs: 100 });
    server.child.kill('SIGSTOP');
    try {
      const error = await a.claim('watch', LEASE_MS, '').catch((failed: unknown) => failed);
      expect(error).to.be.instanceOf(EngineAway);
      expect(a.signal.aborted).to.equal(true);
    } finally {
      server.child.kill('SIGCONT');
    }
    expect(await a.claim('watch', LEASE_MS, '').catch((failed: unknown) => failed)).to.be.instanceOf(EngineAway);
  });
});
