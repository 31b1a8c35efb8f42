// Keys of creates that several gateways share through the engine: a retry at another gateway makes no second record.

import { createClient } from '@redis/client';
import { expect } from 'chai';
import { prefixOf } from '../../src/cluster/identity.ts';
import { openSharedCreateKeys, type SharedCreateKeys } from '../../src/cluster/shared-create-keys.ts';
import type { CreateKey } from '../../src/replica/create-keys.ts';
import { type EngineProcess, startEngine } from './engine-process.ts';
import { until } from './gateways.ts';

const entry = (atMs: number, more: Partial<CreateKey> = {}): CreateKey => ({
  ...{ fingerprint: 'f', state: 'running', atMs, by: 'a' },
  ...more,
});

describe('keys of creates, of several gateways', function () {
  this.timeout(20_000);
  let engine: EngineProcess;
  let gateways: SharedCreateKeys[];
  beforeEach(async () => {
    engine = await startEngine();
    gateways = [0, 1].map(() => openSharedCreateKeys({ url: engine.url, siteUrl: 'https://cms.example' }));
    for (const one of gateways) {
      await until(
        () =>
          one.drop('none').then(
            () => true,
            () => false,
          ),
        'it is connected',
      );
    }
  });
  afterEach(async () => {
    for (const one of gateways) one.close();
    await engine.close();
  });

  it('one gateway takes a key, and every other one hears what became of it', async () => {
    const [a, b] = gateways as [SharedCreateKeys, SharedCreateKeys];
    const taken = await Promise.all([a.take('user', 'key', entry(1)), b.take('user', 'key', entry(2))]);
    const known = taken.find((one) => one !== undefined)!;
    expect(taken.filter((one) => one === undefined)).to.have.length(1);
    const done = { ...known, state: 'done' as const, answer: { status: 201, body: { id: 7 } } };
    await a.set('key', done);
    expect(await b.take('user', 'key', entry(3))).to.deep.equal(done);
  });

  it('only one of two takes over what ended in silence', async () => {
    const [a, b] = gateways as [SharedCreateKeys, SharedCreateKeys];
    await a.take('user', 'key', entry(1));
    const results = await Promise.all(gateways.map((one, at) => one.replace('key', entry(1), entry(5 + at))));
    expect(results.filter(Boolean)).to.have.length(1);
    await b.drop('key');
    expect(await a.take('user', 'key', entry(9))).to.equal(undefined);
  });

  it('the oldest keys of a user go when there are more than a thousand, and no others', async () => {
    const [a] = gateways as [SharedCreateKeys, SharedCreateKeys];
    await a.take('other', 'theirs', entry(0));
    for (let at = 1; at <= 1001; at += 1) await a.take('user', `key ${at}`, entry(at));
    expect(await a.take('other', 'theirs', entry(0))).to.deep.equal(entry(0));
    expect(await a.take('user', 'key 2', entry(2))).to.deep.equal(entry(2));
    expect(await a.take('user', 'key 1', entry(2000))).to.equal(undefined);
  });

  it('what no gateway wrote is no entry: the create is refused before anything is sent', async () => {
    const client = createClient({ url: engine.url });
    await client.connect();
    try {
      for (const text of [
        'null',
        '7',
        'no JSON',
        '{"state":"running"}',
        '{"fingerprint":"f","state":"ended","atMs":1,"by":"a"}',
      ]) {
        await client.set(`${prefixOf('https://cms.example')}create:key`, text);
        const error = await gateways[0]!.take('user', 'key', entry(1)).catch((failure: unknown) => failure);
        expect(error, text).to.include({ status: 503, code: 'calendar_keys_unavailable' });
      }
    } finally {
      client.destroy();
    }
  });

  it('without the engine a create with a key is refused before anything is sent', async () => {
    await engine.close();
    const error = await gateways[0]!.take('user', 'key', entry(1)).catch((failure: unknown) => failure);
    expect(error).to.include({ status: 503, code: 'calendar_keys_unavailable' });
  });
});
