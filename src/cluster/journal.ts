// The copy as a fold over the stream: a change goes to the stream first and into the copy in the stream's order, here and everywhere.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { ReplicaFailure } from '../errors.ts';
import { applyChange, type Change, Relieved } from '../replica/commit.ts';
import type { Replica } from '../replica/store.ts';
import { type Drift, type DriftBook, openDrift } from './drift.ts';
import { type Engine, EngineAway } from './engine.ts';
import { compareIds, type Entry, encodeEntry, firstPiece, isEmpty, type Placed, START } from './entries.ts';
import { differing, keysOf } from './keys.ts';

/** How a change may be made at this moment. */
export type Footing =
  /** Through the stream, and only while the lock is held under `token` where there is one. `anyway`: whatever lies between. */
  | { type: 'stream'; engine: Engine; token?: number | undefined; anyway?: boolean }
  /** Into the stream whatever its end is, and into this copy at once: it gets there in order when it catches up. */
  | { type: 'ahead'; engine: Engine }
  /** Into this copy alone. `begins`: by who makes of the copy the beginning of a stretch, or a new one first. */
  | { type: 'apart'; begins?: boolean };

/** Why a change is made: a round found it, a caller's request read it from the CMS, or wrote it there. */
export type Why = 'look' | 'read' | 'write';

export interface Journal {
  /** Id of the entry that the copy stands at. */
  readonly at: string;
  readonly drift: Drift;
  /** Where to go on reading: behind the copy's place where entries were passed over. */
  readonly cursor: string;
  /** Id of the last entry that was passed over, or the place before every entry. */
  readonly passedOver: string;
  /** Whether the copy has own changes already whose entries it has not come to. */
  readonly isAhead: boolean;
  /** Entries that were applied since the start. */
  readonly applied: number;
  /**
   * Makes a change, when the copy stands at the end of the stream; `make` is asked again when somebody else's entry was first. `force`: also
   * what is as the copy has it. Throws `Relieved`.
   */
  commit(why: Why, make: () => Change, how?: { force?: boolean }): Promise<number>;
  /** A moment to ask the CMS at; for `touchedSince`. */
  moment(): number;
  /** Whether an entry about this record was applied after that moment. */
  touchedSince(key: string, moment: number): boolean;
  /** Applies entries as they come; false when they do not go on where the copy stands, or begin anew. `anyway`: applies them all the same. */
  take(entries: readonly Placed[], anyway?: boolean): Promise<boolean>;
  /** Applies all that is there; false as `take`. Throws `EngineAway`. */
  catchUp(engine: Engine, anyway?: boolean): Promise<boolean>;
  /** Writes the beginning of a new stretch, which this copy is. False when the lock is not held any more. Throws `EngineAway`. */
  begin(engine: Engine, token: number): Promise<boolean>;
  /** The copy was replaced by one that stands at this entry, with these records beside the stream. */
  moved(at: string, beside: readonly string[]): void;
  drifted: DriftBook['drifted'];
  mended: DriftBook['mended'];
  /** Whether the copy got to this entry within the time. */
  reached(id: string, withinMs: number): Promise<boolean>;
}

export interface JournalOptions {
  replica: Replica;
  me: string;
  footing(why: Why): Footing;
  /** Told of every entry after it was applied. */
  applied(entry: Entry): void;
  /** Told of an entry that is none of a gateway, or that cannot be applied: it is passed over. */
  ignored?(error: unknown): void;
}

const AT = 'cluster.at';
/** Records that are remembered as touched: a CMS answer that is older than the oldest of them counts as overtaken. */
const TOUCHED = 20_000;
const ENTRIES_A_TIME = 100;

/** Goes on where the copy on disk stands; one change at a time, in the order in which they were asked for. */
export function createJournal({ replica, me, footing, applied: told, ignored = () => {} }: JournalOptions): Journal {
  let at = replica.state(AT) ?? START;
  const book = openDrift(replica);
  let applied = 0;
  let passedOver = START;
  const cursorNow = () => (compareIds(passedOver, at) > 0 ? passedOver : at);
  /** Grows with every change of a record that is remembered. */
  let moment = 0;
  let oldest = 0;
  let aheadTo = START;
  /** Where the stream ends that the engine has after it lost another, while this gateway founds the next. */
  let lostTo: string | undefined;
  const touched = new LRUCache<string, number>({
    max: TOUCHED,
    dispose: (at, _key, reason) => {
      if (reason === 'evict') oldest = Math.max(oldest, at);
    },
  });
  const waiting = new Set<{ id: string; tell: () => void }>();
  let queue: Promise<unknown> = Promise.resolve();

  function wake(): void {
    for (const one of waiting) if (compareIds(at, one.id) >= 0) one.tell();
  }

  function touch(change: Change): void {
    moment += 1;
    for (const key of keysOf(change)) touched.set(key, moment);
  }

  function apply(entry: Entry & { id: string }): number {
    const changed = replica.transaction(() => {
      replica.setState(AT, entry.id);
      return applyChange(replica, entry.change);
    });
    at = entry.id;
    applied += 1;
    touch(entry.change);
    told(entry);
    wake();
    return changed;
  }

  async function take(entries: readonly Placed[], anyway = false): Promise<boolean> {
    for (const entry of entries) {
      // Own entries are applied by whoever wrote them; what was read twice is passed over.
      if (compareIds(entry.id, cursorNow()) <= 0) continue;
      if (entry.malformed) {
        passedOver = entry.id;
        ignored(entry.malformed);
        continue;
      }
      if (!anyway && (entry.after !== at || (entry.type === 'begin' && entry.from !== me))) return false;
      try {
        apply(entry);
      } catch (error) {
        if (error instanceof ReplicaFailure) throw error;
        passedOver = entry.id;
        ignored(error);
      }
      await nextTurn();
    }
    return true;
  }

  async function catchUp(engine: Engine, anyway = false): Promise<boolean> {
    for (;;) {
      const entries = await engine.range(cursorNow(), ENTRIES_A_TIME);
      if (!(await take(entries, anyway))) return false;
      if (entries.length < ENTRIES_A_TIME) return true;
    }
  }

  /** Into this copy alone. */
  function apart(why: Why, change: Change): number {
    book.drifted(keysOf(change));
    const changed = applyChange(replica, change);
    if (why === 'write') {
      touch(change);
      told({ from: me, type: why, change });
    }
    return changed;
  }

  /** Writes one entry where the copy stands. Answers false when others were first, which are applied then. Throws `EngineAway` and `Relieved`. */
  async function append(way: Exclude<Footing, { type: 'apart' }>, entry: Entry): Promise<boolean> {
    const anyway = way.type === 'stream' && way.anyway;
    const expected = way.type === 'ahead' ? '*' : anyway ? (lostTo ?? at) : at;
    const token = way.type === 'stream' ? way.token : undefined;
    const reply = await way.engine.append({ token, expected, known: at, entry: encodeEntry(entry) });
    if (reply.type === 'fenced') throw new Relieved();
    if (reply.type === 'behind') {
      const isLost = compareIds(reply.tail, expected) < 0;
      lostTo = isLost && anyway ? reply.tail : undefined;
      if (!isLost && !(await catchUp(way.engine, anyway))) throw new EngineAway('the stream has a gap');
      const isShort = compareIds(at, reply.tail) < 0;
      // What was cut off the stream is looked for in the CMS by whoever founds a new stretch.
      if (isShort && anyway) at = reply.tail;
      if (!anyway && (isLost || isShort)) throw new EngineAway('the stream does not go on where the copy stands');
      return false;
    }
    lostTo = undefined;
    if (way.type === 'ahead') {
      applyChange(replica, entry.change);
      touch(entry.change);
      aheadTo = reply.id;
    }
    // The stream itself may have brought it here before the reply.
    else if (compareIds(reply.id, at) > 0) apply({ ...entry, id: reply.id });
    return true;
  }

  async function commitNow(why: Why, make: () => Change, force: boolean): Promise<number> {
    let changed = 0;
    for (;;) {
      const way = footing(why);
      if (way.type === 'apart' && way.begins && book.drift === 'much') return changed + applyChange(replica, make());
      const change = force ? make() : differing(replica, make());
      if (isEmpty(change)) return changed;
      if (way.type === 'apart') return changed + apart(why, change);
      const piece = force ? change : firstPiece(change);
      try {
        const type = why === 'write' ? 'write' : 'look';
        if (!(await append(way, { from: me, type, change: piece }))) continue;
      } catch (error) {
        if (!(error instanceof EngineAway)) throw error;
        // What was looked up is looked up again; what a caller wrote is in the CMS, and here until the others can be told.
        if (why === 'look') throw new Relieved();
        return changed + apart(why, change);
      }
      changed += keysOf(piece).length;
      if (piece === change) return changed;
    }
  }

  return {
    get at() {
      return at;
    },
    get cursor() {
      return cursorNow();
    },
    get passedOver() {
      return passedOver;
    },
    get drift() {
      return book.drift;
    },
    get isAhead() {
      return compareIds(aheadTo, at) > 0;
    },
    get applied() {
      return applied;
    },
    commit(why, make, { force = false } = {}) {
      const done = queue.then(() => commitNow(why, make, force));
      queue = done.catch(() => {});
      return done;
    },
    moment: () => moment,
    touchedSince: (key, since) => (touched.get(key) ?? oldest) > since,
    take,
    catchUp,
    begin(engine, token) {
      const done = queue.then(async () => {
        try {
          const way = { type: 'stream' as const, engine, token, anyway: true };
          while (!(await append(way, { from: me, type: 'begin', change: {} })));
        } catch (error) {
          if (error instanceof Relieved) return false;
          throw error;
        }
        book.clear();
        return true;
      });
      queue = done.catch(() => {});
      return done;
    },
    moved(id, beside) {
      at = id;
      replica.setState(AT, id);
      moment += 1;
      oldest = moment;
      touched.clear();
      book.renewed(beside);
      wake();
    },
    drifted: book.drifted,
    mended: book.mended,
    async reached(id, withinMs) {
      if (compareIds(at, id) >= 0) return true;
      return new Promise((resolve) => {
        const end = (got: boolean) => {
          clearTimeout(timer);
          waiting.delete(one);
          resolve(got);
        };
        const timer = setTimeout(() => end(false), withinMs);
        const one = { id, tell: () => end(true) };
        waiting.add(one);
      });
    },
  };
}
