// Outgoing webhooks of a gateway that is killed with -9 again and again: a receiver that reads what the messages name
// has the events of the CMS in the end. PUSH_KILLS says how often, PUSH_SEED when.

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

const KILLS = Number(process.env.PUSH_KILLS ?? 5);
const EVENTS = 200;
/** More than ten deletions at once, and more than a third, wait for five minutes: the CMS may have lost its lists. */
const MAX_UNSEEN_DELETIONS = 10;
/** WordPress's times have whole seconds: two changes of a record within one may look like one. */
const APART_MS = 2500;

type Titles = Map<number, string>;
interface ListedEvent {
  id: number;
  title: string;
}

/** The titles of all events in the public lists. */
async function readLists(gateway: GatewayProcess): Promise<Titles> {
  const titles: Titles = new Map();
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { status, text } = await gateway.request(`/events?start_date=2026-01-01&per_page=50&page=${page}`);
    if (status !== 200) throw new Error(`the list: ${status} ${text}`);
    const list = JSON.parse(text) as { events: ListedEvent[]; total_pages: number };
    for (const { id, title } of list.events) titles.set(id, title);
    pages = list.total_pages;
  }
  return titles;
}

/** Acts on a message as a receiver should: it reads all lists after a reset, and otherwise the named events. */
async function mirror(gateway: GatewayProcess, titles: Titles, body: string): Promise<void> {
  const { type, data } = JSON.parse(body) as { type: string; data: { changes: { id: number; change: string }[] } };
  if (type === 'calendar.reset') {
    const listed = await readLists(gateway);
    titles.clear();
    for (const [id, title] of listed) titles.set(id, title);
    return;
  }
  for (const { id, change } of data.changes) {
    if (change === 'deleted') {
      titles.delete(id);
      continue;
    }
    const { status, text } = await gateway.request(`/events/${id}`);
    if (status === 200) titles.set(id, (JSON.parse(text) as ListedEvent).title);
    else if (status === 404) titles.delete(id);
    else throw new Error(`event ${id}: ${status} ${text}`);
  }
}

/** The ids whose titles differ, or that one of the two lacks. */
const differing = (a: Titles, b: Titles): number[] =>
  [...new Set([...a.keys(), ...b.keys()])].filter((id) => a.get(id) !== b.get(id));

describe('outgoing webhooks of a gateway that is killed', () => {
  it(`bring every change to a receiver in the end (${KILLS} kills)`, async () => {
    const next = integersFrom(Number(process.env.PUSH_SEED ?? 7));
    const dataDir = mkdtempSync(join(tmpdir(), 'push-kills-'));
    const wordpress = await startEmptyWordPress();
    const { cms } = wordpress;
    let gateway: GatewayProcess | undefined;
    const received: Titles = new Map();
    const receiver = await startReceiver((body) => mirror(gateway!, received, body));
    const [port, adminPort] = await freePorts();
    const config = {
      dataDir,
      sync: { intervalS: 0.2 },
      limits: { requestsPerMinute: 100_000 },
      push: [{ url: receiver.url, secret: SECRET, kinds: ['event'], allowPrivate: true }],
    };
    const start = () =>
      startGateway({ transport: 'process', cmsUrl: wordpress.url.href, config, ports: { port, adminPort } });

    const live: Titles = new Map();
    const changedMs = new Map<number, number>();
    let changes = 0;
    const create = () => {
      const title = `new ${changes}`;
      const meta = { start_date: '2026-05-10 10:00:00', end_date: '2026-05-10 12:00:00' };
      const { id } = cms.createPost('events', { title, meta });
      live.set(id, title);
      return id;
    };
    for (let n = 0; n < EVENTS; n += 1) create();
    let isChanging = false;
    const timer = setInterval(() => {
      if (!isChanging) return;
      receiver.behave(next(5) === 0 ? 'lose' : next(5) === 0 ? 500 : 204);
      const choice = next(6);
      const id = choice === 0 ? create() : [...live.keys()][next(live.size)]!;
      if (Date.now() - (changedMs.get(id) ?? 0) < APART_MS) return;
      changes += 1;
      changedMs.set(id, Date.now());
      if (choice === 1) {
        if ([...received.keys()].filter((known) => !live.has(known)).length >= MAX_UNSEEN_DELETIONS) return;
        cms.trashPost(id);
        live.delete(id);
      } else if (choice > 1) {
        live.set(id, `title ${changes}`);
        cms.edit(id, { title: live.get(id)! });
      }
    }, 40);

    try {
      gateway = await start();
      await gateway.untilReady();
      await until(() => received.size === EVENTS, 'the reset', 30_000);
      isChanging = true;
      for (let kill = 0; kill < KILLS; kill += 1) {
        // Of three kills two hit a gateway that sends, or has just been answered; the third any other moment.
        const before = receiver.received.length;
        if (kill % 3 > 0) await until(() => receiver.received.length > before, 'a message', 60_000);
        await sleep(next(kill % 3 > 0 ? 300 : 3000));
        await gateway.kill();
        gateway = await start();
      }
      isChanging = false;
      receiver.behave(204);
      await gateway.untilReady();
      await until(() => differing(received, live).length === 0, 'the changes', 60_000).catch(async () => {
        const lists = await readLists(gateway!);
        const { text } = await gateway!.admin('/status');
        throw new Error(
          `the receiver lacks ${differing(received, live)}, the gateway's lists ${differing(lists, live)}; ${text}`,
        );
      });
      expect(receiver.received.length).to.be.above(KILLS / 2);
      expect(receiver.received.every(({ isSigned }) => isSigned)).to.equal(true);
      // Only the first message, and perhaps its repetition: no position was ever lost.
      expect(receiver.changes().lastIndexOf('reset')).to.be.below(2);
    } finally {
      clearInterval(timer);
      await gateway?.kill();
      await receiver.close();
      await wordpress.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }).timeout(180_000 + KILLS * 20_000);
});
