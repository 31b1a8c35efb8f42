// Kills a copying and writing process with -9 again and again: `npm run test:crash -- [--kills 100] [--seed N]`.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openReplica } from '../../src/replica/store.ts';
import type { SyncStatus } from '../../src/replica/sync.ts';
import { serveFake } from './fake-http.ts';
import { type FakeWordPress, fakeWordPress, SERVICE } from './fake-wordpress.ts';
import { expectSame, mapping, type TestSite } from './sync-site.ts';

export interface Kills {
  kills: number;
  /** Copies that were compared with the CMS record by record, and were equal. */
  equal: number;
  /** While the first copy was not complete, and after. */
  copying: number;
  following: number;
  /** Kills that left a log which the next start had to play in. */
  withLog: number;
}

/** So many kills hit one copy; then it is compared with the CMS, the file goes, and a first copy begins again. */
const KILLS_A_COPY = 10;
const EVENTS = 1_500;

/** Numbers that look thrown, the same for the same seed. */
function dice(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) % below;
  };
}

function fill(cms: FakeWordPress): void {
  cms.clockMs = Date.now() - 3_600_000;
  const terms = Array.from({ length: 30 }, () => cms.createTerm('event_categories').id);
  const media = Array.from({ length: 10 }, () => cms.createMedia().id);
  const venues = Array.from({ length: 100 }, () => cms.create('venues').id);
  for (let n = 0; n < EVENTS; n += 1) {
    cms.create('events', {
      title: `Event ${n} with a workshop, a concert and number ${n * 7}`,
      terms: { event_categories: [terms[n % 30] ?? 0], tags: [] },
      featured: n % 5 === 0 ? (media[n % 10] ?? 0) : 0,
      meta: { start_date: '2026-05-10 10:00:00', end_date: '2026-05-10 12:00:00', venue_ids: [venues[n % 100]] },
    });
  }
}

/** Something happens at the CMS all the time. */
function change(cms: FakeWordPress, next: (below: number) => number): void {
  cms.clockMs = Date.now();
  const events = [...cms.posts.values()].filter(({ base }) => base === 'events');
  const event = events[next(events.length)];
  if (!event) return;
  const deed = next(6);
  if (deed === 0) cms.create('events', { title: `New ${next(1000)}` });
  else if (deed === 1 && events.length > EVENTS) cms.erase(event.id);
  else if (deed === 2) cms.trash(event.id);
  else cms.edit(event.id, { title: `Changed ${next(1000)}` });
}

/** What SQLite and the word index say of the file as the kill left it: of a copy, so that the next start finds it as it was. */
function check(file: string, folder: string): { complete: boolean; log: boolean } {
  const copy = join(folder, 'checked.sqlite');
  const log = existsSync(`${file}-wal`);
  for (const suffix of ['', '-wal']) {
    rmSync(copy + suffix, { force: true });
    if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix);
  }
  const db = new DatabaseSync(copy);
  try {
    const found = db.prepare('PRAGMA integrity_check').all();
    if (found[0]?.integrity_check !== 'ok') throw new Error(`integrity_check: ${JSON.stringify(found)}`);
    // Throws when the index and the texts differ.
    db.exec("INSERT INTO event_words (event_words, rank) VALUES ('integrity-check', 1)");
    const state = db.prepare("SELECT value FROM state WHERE key = 'sync.complete'").get();
    return { complete: state?.value === '1', log };
  } finally {
    db.close();
  }
}

function victim(url: string, file: string): ChildProcess {
  return fork(new URL('./crash-victim.ts', import.meta.url), [url, file]);
}

async function told<T>(child: ChildProcess, key: string): Promise<T> {
  for (;;) {
    const [message] = (await once(child, 'message')) as [Record<string, T>];
    if ('setAside' in message) throw new Error(`The copy was set aside: ${message.setAside}`);
    if (key in message) return message[key] as T;
  }
}

async function catchUp(child: ChildProcess): Promise<void> {
  await told(child, 'started');
  for (;;) {
    child.send('state');
    const { state } = await told<SyncStatus>(child, 'state');
    if (state === 'live') break;
    await sleep(50);
  }
  child.send('quiet');
  // Longer than what a second of the CMS's clock hides, and than a pass that reads everything again.
  await sleep(4_000);
  child.send('end');
  await told(child, 'ended');
}

/** Lets a last process catch up, and compares its copy with the CMS record by record. */
async function expectEqualInTheEnd(cms: FakeWordPress, url: string, file: string): Promise<void> {
  const child = victim(url, file);
  try {
    await catchUp(child);
  } finally {
    child.kill('SIGKILL');
  }
  const replica = openReplica({ file, identity: 'crash' });
  try {
    expectSame({ cms, replica, service: SERVICE, mapped: mapping } as TestSite);
    const broken = replica.integrityCheck();
    if (broken.length > 0) throw new Error(broken.join('\n'));
  } finally {
    replica.close();
  }
}

/** Kills `kills` times; throws when a file is broken, set aside, or different from the CMS in the end. */
export async function killOften({ kills, seed }: { kills: number; seed: number }): Promise<Kills> {
  const next = dice(seed);
  const folder = mkdtempSync(join(tmpdir(), 'crash-'));
  const file = join(folder, 'calendar.sqlite');
  const cms = fakeWordPress();
  fill(cms);
  const site = await serveFake(cms);
  let changes = true;
  const changing = setInterval(() => changes && change(cms, next), 25);
  let child: ChildProcess | undefined;
  const found: Kills = { kills: 0, equal: 0, copying: 0, following: 0, withLog: 0 };
  const compare = async () => {
    changes = false;
    await expectEqualInTheEnd(cms, site.url, file);
    found.equal += 1;
    changes = true;
  };
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      if (kill > 0 && kill % KILLS_A_COPY === 0) {
        await compare();
        for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
      }
      child = victim(site.url, file);
      await told(child, 'started');
      await sleep(next(900));
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      const { complete, log } = check(file, folder);
      found.kills += 1;
      found[complete ? 'following' : 'copying'] += 1;
      if (log) found.withLog += 1;
    }
    await compare();
    return found;
  } finally {
    clearInterval(changing);
    // Left running by a failure, it would hold this process open.
    child?.kill('SIGKILL');
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { kills: { type: 'string', default: '100' }, seed: { type: 'string', default: String(Date.now() % 1e6) } },
  });
  const begun = performance.now();
  console.log(`seed ${values.seed}`);
  const { kills, equal, copying, following, withLog } = await killOften({
    kills: Number(values.kills),
    seed: Number(values.seed),
  }).catch((error: Error) => {
    // Without the two copies that a comparison carries with it.
    console.error(error.message.slice(0, 1000));
    process.exit(1);
  });
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(
    `${kills} kills (${copying} in a first copy, ${following} after it; ${withLog} left a log to play in): every file whole, none set aside; ${equal} copies went on to the end and equal the CMS; seed ${values.seed}, ${seconds} s`,
  );
}
