// Kills a gateway with -9 again and again, while it syncs and writes.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Replica } from '../../src/store/replica.ts';
import type { Sync } from '../../src/sync/sync.ts';
import { createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { serveFakeCms } from '../cms/fake-cms-server.ts';
import { integersFrom } from '../random.ts';
import { expectInSync, mapping } from '../sync/test-site.ts';
import { integrityErrors } from './changes.ts';

export interface Kills {
  kills: number;
  /** Replicas that were compared with the CMS record by record, and were equal. */
  equal: number;
  /** Kills during the initial sync, and after it. */
  duringInitialSync: number;
  afterInitialSync: number;
  /** Kills that left a journal or a write-ahead log, which the next start had to replay. */
  withLog: number;
}

/**
 * After this many kills the replica is compared with the CMS and deleted, and another initial sync begins.
 */
const KILLS_PER_REPLICA = 10;
const EVENTS = 1_500;

function fill(cms: FakeCms): void {
  const terms = Array.from({ length: 30 }, () => cms.createTerm('event_categories').id);
  const media = Array.from({ length: 10 }, () => cms.createMedia().id);
  const venues = Array.from({ length: 100 }, () => cms.createPost('venues').id);
  for (let n = 0; n < EVENTS; n += 1) {
    cms.createPost('events', {
      title: `Event ${n} with a workshop, a concert and number ${n * 7}`,
      terms: { event_categories: [terms[n % 30] ?? 0], tags: [] },
      featured: n % 5 === 0 ? (media[n % 10] ?? 0) : 0,
      meta: { start_date: '2026-05-10 10:00:00', end_date: '2026-05-10 12:00:00', venue_ids: [venues[n % 100]] },
    });
  }
}

/** Makes one change in the CMS. */
function changeSomething(cms: FakeCms, next: (below: number) => number): void {
  const events = [...cms.posts.values()].filter(({ base }) => base === 'events');
  const event = events[next(events.length)];
  if (!event) return;
  const choice = next(6);
  if (choice === 0) cms.createPost('events', { title: `New ${next(1000)}` });
  else if (choice === 1 && events.length > EVENTS) cms.erase(event.id);
  else if (choice === 2) cms.trashPost(event.id);
  else cms.edit(event.id, { title: `Changed ${next(1000)}` });
}

/** The journal of a bulk load, which counts until its first byte is cleared, and the write-ahead log. */
const LOGS = ['-journal', '-wal'];

const isUsed = (log: string): boolean => existsSync(log) && readFileSync(log)[0] !== 0;

/**
 * Checks the tables and the full-text index as the kill left them: on a copy of the files, since opening
 * replays the logs.
 */
function check(file: string, folder: string): { complete: boolean; log: boolean } {
  const copy = join(folder, 'checked.sqlite');
  const log = LOGS.some((suffix) => isUsed(file + suffix));
  for (const suffix of ['', ...LOGS]) {
    rmSync(copy + suffix, { force: true });
    if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix);
  }
  const db = new DatabaseSync(copy);
  try {
    const errors = db.prepare('PRAGMA integrity_check').all();
    if (errors[0]?.integrity_check !== 'ok') throw new Error(`integrity_check: ${JSON.stringify(errors)}`);
    // Throws if the index is damaged, or if it and the texts differ.
    db.exec("INSERT INTO event_fts (event_fts, rank) VALUES ('integrity-check', 1)");
    const state = db.prepare("SELECT value FROM state WHERE key = 'sync.complete'").get();
    return { complete: state?.value === '1', log };
  } finally {
    db.close();
  }
}

function startVictim(url: string, file: string): ChildProcess {
  return fork(new URL('./crash-victim.ts', import.meta.url), [url, file]);
}

/** The value under `key` of the next message that has it. */
async function receive<T>(child: ChildProcess, key: string): Promise<T> {
  for (;;) {
    const [message] = (await once(child, 'message')) as [Record<string, T>];
    if ('quarantined' in message) throw new Error(`The file was quarantined: ${message.quarantined}`);
    if (key in message) return message[key] as T;
  }
}

async function catchUp(child: ChildProcess): Promise<void> {
  await receive(child, 'started');
  for (;;) {
    child.send('state');
    const { state } = await receive<ReturnType<Sync['status']>>(child, 'state');
    if (state === 'live') break;
    await sleep(50);
  }
  child.send('stop-writing');
  // Longer than the second that the CMS's `modified` hides, and than a scan.
  await sleep(4_000);
  child.send('stop');
  await receive(child, 'stopped');
}

/** Lets a last process catch up, and compares its replica with the CMS record by record. */
async function expectEqual(cms: FakeCms, url: string, file: string): Promise<void> {
  const child = startVictim(url, file);
  try {
    await catchUp(child);
  } finally {
    child.kill('SIGKILL');
  }
  const replica = new Replica({ file, identity: 'crash' });
  try {
    expectInSync({ cms, replica, visitor: undefined, mapping });
    const errors = integrityErrors(replica);
    if (errors.length > 0) throw new Error(errors.join('\n'));
  } finally {
    replica.close();
  }
}

/**
 * Kills `kills` times. Throws if a file is damaged or quarantined, or if the replica differs from the CMS
 * after the last kill.
 */
export async function killOften({ kills, seed }: { kills: number; seed: number }): Promise<Kills> {
  const next = integersFrom(seed);
  const folder = mkdtempSync(join(tmpdir(), 'crash-'));
  const file = join(folder, 'calendar.sqlite');
  let agoMs = 3_600_000;
  const cms = createFakeCms(() => Date.now() - agoMs);
  fill(cms);
  agoMs = 0;
  const site = await serveFakeCms(cms);
  let isChanging = true;
  const timer = setInterval(() => isChanging && changeSomething(cms, next), 25);
  let child: ChildProcess | undefined;
  const result: Kills = { kills: 0, equal: 0, duringInitialSync: 0, afterInitialSync: 0, withLog: 0 };
  const compare = async () => {
    isChanging = false;
    await expectEqual(cms, site.url.origin, file);
    result.equal += 1;
    isChanging = true;
  };
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      if (kill > 0 && kill % KILLS_PER_REPLICA === 0) {
        await compare();
        for (const suffix of ['', ...LOGS, '-shm']) rmSync(file + suffix, { force: true });
      }
      child = startVictim(site.url.origin, file);
      await receive(child, 'started');
      await sleep(next(900));
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      const { complete, log } = check(file, folder);
      result.kills += 1;
      result[complete ? 'afterInitialSync' : 'duringInitialSync'] += 1;
      if (log) result.withLog += 1;
    }
    await compare();
    return result;
  } finally {
    clearInterval(timer);
    // A child that survives a failure would keep this process running.
    child?.kill('SIGKILL');
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
