// Keys of creates in the replica's file: bounded, and kept over a restart.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import {
  BEYOND_IN_ALL,
  BEYOND_OF_USER,
  type CreateKey,
  KEY_KEPT_MS,
  KEYS_OF_A_USER,
} from '../../src/replica/create-keys.ts';
import { TABLES } from '../../src/replica/schema.ts';
import { openReplica, type Replica } from '../../src/replica/store.ts';

const entry = (atMs: number): CreateKey => ({ fingerprint: 'f', state: 'running', atMs, by: 'a' });

describe('keys of creates in the replica', () => {
  let dir: string;
  let replica: Replica;
  const open = () => openReplica({ file: join(dir, 'calendar.sqlite'), identity: 'test' });
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'calendar-keys-'));
    replica = open();
  });
  afterEach(() => {
    replica.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it('outlive a restart', async () => {
    await replica.createKeys.take('user', 'key', entry(1));
    const done: CreateKey = { ...entry(1), state: 'done', answer: { status: 201, body: { id: 7 } } };
    await replica.createKeys.set('key', done);
    replica.close();
    replica = open();
    expect(await replica.createKeys.take('user', 'key', entry(2))).to.deep.equal(done);
  });

  it('are forgotten after a day', async () => {
    await replica.createKeys.take('user', 'key', entry(1));
    expect(await replica.createKeys.take('user', 'key', entry(KEY_KEPT_MS))).to.deep.equal(entry(1));
    expect(await replica.createKeys.take('user', 'key', entry(KEY_KEPT_MS + 2))).to.equal(undefined);
  });

  it('of one user never take the place of those of another', async () => {
    await replica.createKeys.take('other', 'theirs', entry(0));
    for (let at = 1; at <= KEYS_OF_A_USER + 1; at += 1) await replica.createKeys.take('user', `key ${at}`, entry(at));
    expect(await replica.createKeys.take('other', 'theirs', entry(5))).to.deep.equal(entry(0));
    expect(await replica.createKeys.take('user', 'key 2', entry(5))).to.deep.equal(entry(2));
    expect(await replica.createKeys.take('user', 'key 1', entry(5))).to.equal(undefined);
  });

  it('are bounded without reading what is kept of them: the time of a create does not grow with their number', () => {
    const db = new DatabaseSync(':memory:');
    for (const statement of TABLES.split(';')) if (/ create_key /.test(statement)) db.exec(statement);
    for (const [sql, ...values] of [
      [BEYOND_OF_USER, 'user', 1],
      [BEYOND_IN_ALL, 1],
    ] as const) {
      const plan = db
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...values)
        .map(({ detail }) => String(detail));
      const looked = plan.filter((step) => /^(SCAN|SEARCH|USE)/.test(step));
      expect(looked, plan.join('; ')).to.have.length(2);
      for (const step of looked) expect(step).to.match(/USING (COVERING INDEX|PRIMARY KEY)/);
    }
    db.close();
  });

  it('are replaced only if the stored entry is the expected one', async () => {
    const { createKeys } = replica;
    await createKeys.take('user', 'key', entry(1));
    expect(await createKeys.replace('key', entry(2), entry(3))).to.equal(false);
    expect(await createKeys.replace('key', entry(1), entry(3))).to.equal(true);
    await createKeys.drop('key');
    expect(await createKeys.take('user', 'key', entry(4))).to.equal(undefined);
  });
});
