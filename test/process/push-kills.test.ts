// Outgoing webhooks of a gateway that is killed with -9 again and again: every change arrives. PUSH_KILLS says how
// often, PUSH_SEED when.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { startEmptyWordPress } from '../faults/fake-wordpress.ts';
import { freePorts } from '../free-port.ts';
import { SECRET, startReceiver } from '../push/receiver-server.ts';
import { integersFrom } from '../random.ts';
import { type GatewayProcess, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';

const KILLS = Number(process.env.PUSH_KILLS ?? 3);
const EVENTS = 200;
/** WordPress's times have whole seconds: two changes of a record within one may look like one. */
const APART_MS = 2500;

describe('outgoing webhooks of a gateway that is killed', () => {
  it(`name every change in the end (${KILLS} kills)`, async () => {
    const next = integersFrom(Number(process.env.PUSH_SEED ?? 7));
    const dataDir = mkdtempSync(join(tmpdir(), 'push-kills-'));
    const wordpress = await startEmptyWordPress();
    const { cms } = wordpress;
    const receiver = await startReceiver();
    const [port, adminPort] = await freePorts();
    const config = {
      dataDir,
      sync: { intervalS: 0.2 },
      push: [{ url: receiver.url, secret: SECRET, kinds: ['event'], allowPrivate: true }],
    };
    const start = () =>
      startGateway({ transport: 'process', cmsUrl: wordpress.url.href, config, ports: { port, adminPort } });

    /** By event: what happened last, and how many messages had arrived by then. */
    const changed = new Map<number, { isDeleted: boolean; after: number; ms: number }>();
    const live: number[] = [];
    const create = () => {
      const meta = { start_date: '2026-05-10 10:00:00', end_date: '2026-05-10 12:00:00' };
      live.push(cms.createPost('events', { title: 'new', meta }).id);
      return live.at(-1)!;
    };
    for (let n = 0; n < EVENTS; n += 1) create();
    const first = new Set(live);
    let isChanging = false;
    const timer = setInterval(() => {
      if (!isChanging) return;
      receiver.behave(next(5) === 0 ? 'lose' : next(5) === 0 ? 500 : 204);
      const at = next(live.length);
      const choice = next(6);
      const id = choice === 0 ? create() : live[at]!;
      if (Date.now() - (changed.get(id)?.ms ?? 0) < APART_MS) return;
      if (choice === 1) {
        cms.trashPost(id);
        live.splice(at, 1);
      } else if (choice > 1) cms.edit(id, { title: `title ${receiver.received.length} ${next(1000)}` });
      changed.set(id, { isDeleted: choice === 1, after: receiver.received.length, ms: Date.now() });
    }, 40);

    /** The events of which the receiver has not got the last change. */
    const missing = (): number[] => {
      const last = new Map<number, { isDeleted: boolean; index: number }>();
      for (const [index, { body }] of receiver.received.entries()) {
        const { data } = JSON.parse(body) as { data: { changes?: { id: number; change: string }[] } };
        for (const { id, change } of data.changes ?? []) last.set(id, { isDeleted: change === 'deleted', index });
      }
      return [...changed].flatMap(([id, { isDeleted, after }]) => {
        const message = last.get(id);
        // Created and trashed while no gateway ran: it was never in a public list.
        if (!message && isDeleted && !first.has(id)) return [];
        return message && message.index >= after && message.isDeleted === isDeleted ? [] : [id];
      });
    };

    let gateway: GatewayProcess | undefined;
    try {
      gateway = await start();
      await gateway.untilReady();
      await until(() => receiver.received.length === 1, 'the reset', 30_000);
      isChanging = true;
      for (let kill = 0; kill < KILLS; kill += 1) {
        await sleep(next(3000));
        await gateway.kill();
        gateway = await start();
        if (next(3) > 0) await gateway.untilReady();
      }
      isChanging = false;
      receiver.behave(204);
      await gateway.untilReady();
      await until(
        () => missing().length === 0,
        () => {
          const resets = receiver.changes().filter((change) => change === 'reset').length;
          const deleted = missing().filter((id) => changed.get(id)!.isDeleted);
          return `messages of the events ${missing()}, deleted of these ${deleted}; ${resets} resets`;
        },
        60_000,
      );
      expect(changed.size).to.be.at.least(KILLS);
      expect(receiver.received.every(({ isSigned }) => isSigned)).to.equal(true);
      // Only the first message: no position was ever lost.
      expect(receiver.changes().filter((change) => change === 'reset')).to.have.length(1);
    } finally {
      clearInterval(timer);
      await gateway?.kill();
      await receiver.close();
      await wordpress.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }).timeout(180_000 + KILLS * 20_000);
});
