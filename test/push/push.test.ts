// Outgoing webhooks: every change arrives, in order, whatever the receiver does.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Observation } from '../../src/observability/observations.ts';
import { Push, type PushOptions } from '../../src/push/push.ts';
import { Replica } from '../../src/store/replica.ts';
import { event, term, venue } from '../store/sample-records.ts';
import { until } from '../until.ts';
import { type ReceiverServer, SECRET, startReceiver } from './receiver-server.ts';

describe('outgoing webhooks', () => {
  let folder: string;
  let replica: Replica;
  let push: Push;
  let server: ReceiverServer;
  let nowMs: number;
  let observations: Observation[];
  const signed = () => ({ url: server.url, secret: SECRET, allowPrivate: true });
  const openReplica = () => new Replica({ file: join(folder, 'calendar.sqlite'), identity: 'test' });
  const openPush = (...receivers: PushOptions['receivers']) =>
    new Push({
      receivers: receivers.length > 0 ? receivers : [signed()],
      replica,
      isReady: () => true,
      observe: (observation) => void observations.push(observation),
      nowMs: () => nowMs,
      random: () => 1,
      timeoutMs: 300,
    });
  const change = (id: number, title = 'a') => replica.apply({ upserts: [event(id, { title })] });

  /** Lets time pass, a second at a time. */
  async function pass(seconds: number): Promise<void> {
    for (let n = 0; n < seconds; n += 1) {
      nowMs += 1000;
      await push.tick();
    }
  }

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'push-'));
    [nowMs, observations] = [Date.UTC(2026, 4, 1), []];
    server = await startReceiver();
    replica = openReplica();
    push = openPush();
  });
  afterEach(async () => {
    await push.stop();
    replica.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('begin with a reset, and then name each change in the next second', async () => {
    change(1);
    await push.tick();
    expect(server.changes()).to.deep.equal(['reset']);
    change(2);
    replica.apply({ upserts: [venue(11), event(2, { title: 'b' }), term('tag', 3)] });
    replica.apply({ deletes: [{ kind: 'event', ids: [1] }] });
    await pass(1);
    expect(server.changes()).to.deep.equal([
      'reset',
      'venue 11 created',
      'event 2 created',
      'tag 3 created',
      'event 1 deleted',
    ]);
    expect(server.received.map(({ isSigned }) => isSigned)).to.deep.equal([true, true]);
    await pass(3);
    expect(server.received).to.have.length(2);
  });

  it('have an id of their own for each change of a record, and the time of the attempt', async () => {
    await push.tick();
    for (let n = 0; n < 4; n += 1) {
      change(5, `title ${n % 2}`);
      await pass(1);
    }
    expect(server.received.map(({ headers }) => headers['webhook-timestamp'])).to.deep.equal(
      [0, 1, 2, 3, 4].map((s) => String(Date.UTC(2026, 4, 1) / 1000 + s)),
    );
    expect(new Set(server.received.map(({ headers }) => headers['webhook-id'])).size).to.equal(5);
  });

  it('arrive in order after ten minutes without the receiver, in batches of a hundred', async () => {
    await push.tick();
    server.behave(500);
    for (let minute = 0; minute < 10; minute += 1) {
      for (let n = 1; n <= 25; n += 1) change(minute * 25 + n);
      await pass(60);
    }
    const failed = server.received.length - 1;
    // After 2, 4, 8 ... 512 seconds.
    expect(failed).to.equal(9);
    expect(new Set(server.received.slice(1).map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
    server.received.length = 0;
    server.behave(200);
    await pass(512);
    expect(server.changes()).to.deep.equal(Array.from({ length: 250 }, (_, i) => `event ${i + 1} created`));
    expect(server.received).to.have.length(3 + 1);
    expect(push.status().receivers[0]).to.include({ failures: 0, answer: '200' });
  });

  it('pause for an hour at most', async () => {
    server.behave(503);
    const before = nowMs;
    for (let n = 0; n < 14; n += 1) {
      await push.tick();
      nowMs = Math.max(nowMs + 1, push.status().receivers[0]!.retryMs);
    }
    // 2 + 4 + ... + 2048 seconds, and three hours.
    expect((nowMs - before) / 1000).to.equal(4094 + 3 * 3600);
  });

  it('are repeated with the same id if the answer is lost, also after a restart', async () => {
    await push.tick();
    change(1);
    server.behave('lose');
    await pass(1);
    await push.stop();
    replica.close();
    replica = openReplica();
    push = openPush();
    server.behave(200);
    await pass(1);
    expect(server.changes()).to.deep.equal(['reset', 'event 1 created', 'event 1 created']);
    const ids = server.received.map(({ headers }) => headers['webhook-id']);
    expect(ids[1]).to.equal(ids[2]);
  });

  it('are another message after a lost answer, a restart and another change of the same record', async () => {
    await push.tick();
    change(1);
    server.behave('lose');
    await pass(1);
    await push.stop();
    push = openPush();
    change(1, 'changed again');
    server.behave(200);
    await pass(1);
    const ids = server.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).to.equal(3);
  });

  it('that hang delay no other receiver, and count as failed', async () => {
    const other = await startReceiver();
    await push.stop();
    push = openPush(signed(), { ...signed(), url: other.url });
    server.behave('hang');
    const ticked = push.tick();
    await until(() => other.received.length === 1, 'the other one has the reset');
    change(1);
    await until(() => push.status().receivers[1]!.answer === '204', 'the other one has answered');
    void push.tick();
    await until(() => other.received.length === 2, 'the other one has the change');
    expect(push.status().receivers[0]!.answer).to.equal(undefined);
    await ticked;
    expect(push.status().receivers[0]).to.include({ failures: 1, answer: 'timeout' });
    await other.close();
  });

  it('name only the kinds that a receiver wants', async () => {
    await push.stop();
    push = openPush({ ...signed(), kinds: ['venue'] });
    await push.tick();
    replica.apply({ upserts: [event(1), venue(11)] });
    await pass(1);
    change(2);
    await pass(1);
    expect(server.changes()).to.deep.equal(['reset', 'venue 11 created']);
    expect(push.status().receivers[0]!.position).to.equal(replica.journal.head().number);
  });

  it('are a reset if the journal has forgotten what the receiver has', async () => {
    await push.tick();
    replica.beginInitialSync();
    change(1);
    replica.endInitialSync();
    await pass(1);
    expect(server.changes()).to.deep.equal(['reset', 'reset']);
    expect(new Set(server.received.map(({ headers }) => headers['webhook-id'])).size).to.equal(2);
  });

  it('wait for the initial sync', async () => {
    await push.stop();
    let isReady = false;
    push = new Push({ receivers: [signed()], replica, isReady: () => isReady, observe: () => {} });
    await push.tick();
    expect(server.received).to.have.length(0);
    isReady = true;
    await push.tick();
    expect(server.received).to.have.length(1);
  });

  it('follow no redirect', async () => {
    server.behave(307);
    await push.tick();
    expect(server.received.map(({ path }) => path)).to.deep.equal(['/hook/secret-path']);
    expect(push.status().receivers[0]).to.include({ failures: 1, answer: '307' });
  });

  for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]'])
    it(`do not reach ${host} unless its receiver allows it`, async () => {
      await push.stop();
      push = openPush({ url: server.url.replace('127.0.0.1', host), secret: SECRET });
      await push.tick();
      expect(server.received).to.have.length(0);
      expect(push.status().receivers[0]!.failures).to.equal(1);
    });

  it('leave neither path nor secret in observations and status', async () => {
    server.behave(500);
    await push.tick();
    const text = JSON.stringify([observations, push.status()]);
    expect(text).to.include('127.0.0.1');
    expect(text).to.not.match(/secret-path|whsec|hook/);
  });

  describe('to a build hook', () => {
    const build = (method?: 'GET') => ({ url: server.url, quietS: 30, allowPrivate: true, ...(method && { method }) });
    const builds = () => server.received.map(({ method, body }) => `${method} ${body}`);
    beforeEach(async () => {
      await push.stop();
      push = openPush(build('GET'));
      await pass(31);
      server.received.length = 0;
    });

    it('are one empty request once nothing has changed for the quiet period', async () => {
      for (let id = 1; id <= 5; id += 1) {
        change(id);
        await pass(29);
      }
      expect(builds()).to.deep.equal([]);
      await pass(2);
      expect(builds()).to.deep.equal(['GET ']);
      await pass(100);
      expect(builds()).to.have.length(1);
    });

    it('come after ten quiet periods although changes go on', async () => {
      for (let id = 1; id <= 31; id += 1) {
        change(id);
        await pass(10);
      }
      expect(builds()).to.have.length(1);
    });

    it('are repeated after a failure, and not lost in a restart', async () => {
      change(1);
      server.behave('lose');
      await pass(31);
      await push.stop();
      push = openPush(build());
      server.behave(200);
      await pass(33);
      expect(builds()).to.deep.equal(['GET ', 'POST ']);
    });
  });
});
