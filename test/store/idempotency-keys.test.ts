// Idempotency keys in the replica's file: limited in number, and stored over a restart.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type IdempotencyEntry,
  KEY_TTL_MS,
  MAX_KEYS_PER_USER,
  openIdempotencyStore,
} from '../../src/store/idempotency-keys.ts';
import { Replica } from '../../src/store/replica.ts';

const entry = (startedMs: number): IdempotencyEntry => ({ fingerprint: 'f', state: 'running', startedMs, holder: 'a' });

describe('idempotency keys in the replica', () => {
  let dir: string;
  let replica: Replica;
  const open = () => new Replica({ file: join(dir, 'calendar.sqlite'), identity: 'test' });
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'calendar-keys-'));
    replica = open();
  });
  afterEach(() => {
    replica.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it('survive a restart', async () => {
    await openIdempotencyStore(replica.db).claim('user', 'key', entry(1));
    const done: IdempotencyEntry = { ...entry(1), state: 'done', response: { status: 201, body: { id: 7 } } };
    await openIdempotencyStore(replica.db).set('key', done);
    replica.close();
    replica = open();
    expect(await openIdempotencyStore(replica.db).claim('user', 'key', entry(2))).to.deep.equal(done);
  });

  it('expire after a day', async () => {
    await openIdempotencyStore(replica.db).claim('user', 'key', entry(1));
    expect(await openIdempotencyStore(replica.db).claim('user', 'key', entry(KEY_TTL_MS))).to.deep.equal(entry(1));
    expect(await openIdempotencyStore(replica.db).claim('user', 'key', entry(KEY_TTL_MS + 2))).to.equal(undefined);
  });

  it('of one user never evict those of another user', async () => {
    await openIdempotencyStore(replica.db).claim('other', 'theirs', entry(0));
    for (let at = 1; at <= MAX_KEYS_PER_USER + 1; at += 1)
      await openIdempotencyStore(replica.db).claim('user', `key ${at}`, entry(at));
    expect(await openIdempotencyStore(replica.db).claim('other', 'theirs', entry(5))).to.deep.equal(entry(0));
    expect(await openIdempotencyStore(replica.db).claim('user', 'key 2', entry(5))).to.deep.equal(entry(2));
    expect(await openIdempotencyStore(replica.db).claim('user', 'key 1', entry(5))).to.equal(undefined);
  });

  it('are replaced only if the stored entry is the expected one', async () => {
    const idempotency = openIdempotencyStore(replica.db);
    await idempotency.claim('user', 'key', entry(1));
    expect(await idempotency.compareAndSet('key', entry(2), entry(3))).to.equal(false);
    expect(await idempotency.compareAndSet('key', entry(1), entry(3))).to.equal(true);
    await idempotency.delete('key');
    expect(await idempotency.claim('user', 'key', entry(4))).to.equal(undefined);
  });
});
