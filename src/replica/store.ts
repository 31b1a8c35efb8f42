// The replica: the gateway's own copy of the records, in SQLite, with everything that can be asked of it.

import { LRUCache } from 'lru-cache';
import type { CalendarRecord, ImageRecord, Kind, LinkedKind, PostKind, RecordOf, TermKind } from '../records.ts';
import { createAnswers, type ReadyAnswer } from './answers.ts';
import { type CreateKeys, openCreateKeys } from './create-keys.ts';
import { openDatabase } from './database.ts';
import { openDays } from './days.ts';
import { findEvents } from './event-query.ts';
import { type Facts, factsOf } from './event-walks.ts';
import type { EventFilter, IdPage, LinkedFilter, TermFilter, Visibility } from './filters.ts';
import { beginIntake, type Intake } from './intake.ts';
import { type IdRow, lookups } from './lookups.ts';
import { descendants, findLinked, findTerms, isNamedBySeen, termCounts } from './query.ts';
import { SCHEMA_VERSION } from './schema.ts';

export type { ReadyAnswer } from './answers.ts';
export { ReplicaInUse } from './database.ts';
export type { IdRow } from './lookups.ts';

export interface ReplicaOptions {
  /** Absent: a temporary database that ends with the process. Missing folders are made. */
  file?: string;
  /** Site and mapping. A file of another identity is set aside, never half-read. */
  identity: string;
  /** Bytes of ready answers kept in memory, 32 MiB by default. */
  answerBytes?: number;
  /** The first version is no lower than this: that of a replica which this one replaces in the same process. */
  leastVersion?: number;
  /** Why the file that is there must not be used: it is set aside unopened. */
  discard?: string | undefined;
  /** Told once, when a call finds that the file is damaged. The replica has to be closed and replaced; until then calls may fail. */
  damaged?: (reason: string) => void;
}

export interface Replica {
  /** Why the file that was there was set aside (renamed to `FILE.aside`); undefined when it was not. */
  readonly setAside: string | undefined;
  /** Files and folders whose mode was made narrower at the start: others could read them. */
  readonly tightened: readonly string[];
  /** Grows with every change that can alter an answer, and never goes back while the process lives. Kept in the file. */
  readonly version: number;
  /** Grows with every change of what everybody sees, and with no other. Kept in the file. */
  readonly publicVersion: number;
  /**
   * Inserts or replaces records and images in one transaction; returns how many really changed. Records equal to the stored ones change
   * nothing and leave the version alone. An id that was of another post kind changes its kind.
   */
  put(records: readonly CalendarRecord[], images?: readonly ImageRecord[]): number;
  /** Returns how many were there. Records that refer to a removed one keep their reference, as in the CMS. */
  remove(kind: Kind | 'image', ids: readonly number[]): number;
  get<K extends Kind>(kind: K, id: number): RecordOf[K] | undefined;
  /** Those that exist, by id. */
  getMany<K extends Kind>(kind: K, ids: readonly number[]): Map<number, RecordOf[K]>;
  kindOf(id: number): PostKind | undefined;
  /** The highest id of the kind; 0 without records. */
  highestId(kind: Kind): number;
  /** Ids of all posts of the kind with this slug in whatever status, ascending; without regard to case. */
  bySlug(kind: PostKind, slug: string): number[];
  termBySlug(kind: TermKind, slug: string): number | undefined;
  /** Without regard to case, accents and `&amp;` for `&`; the lowest id of several. */
  termByName(kind: TermKind, name: string): number | undefined;
  image(id: number): ImageRecord | undefined;
  images(ids: readonly number[]): Map<number, ImageRecord>;
  /** The records whose own image this is. */
  postsWithImage(id: number): { kind: PostKind; id: number }[];
  /** Ids of the images, ascending, after `after`, at most `limit`. */
  imageIds(after: number, limit: number): number[];
  /** Images that records refer to and the copy does not have, at most `limit`, ascending. */
  missingImages(limit: number): number[];
  events(filter: EventFilter): IdPage;
  linked(kind: LinkedKind, filter: LinkedFilter): IdPage;
  terms(filter: TermFilter): IdPage;
  /** Whether an event that `events` shows, and that needs no password, is linked to this venue or organizer. */
  isNamedBySeen(kind: LinkedKind, id: number, events: Visibility): boolean;
  /** Published events with the term, hidden ones included, those behind a password not. */
  termCount(kind: TermKind, id: number): number;
  termCounts(kind: TermKind, ids: readonly number[]): Map<number, number>;
  /** The categories and everything below them, each once. */
  descendants(categoryIds: readonly number[]): number[];
  /** For comparing id lists: ascending by id, after `after`, at most `limit`, of these statuses. Terms ignore `statuses`. */
  ids(kind: Kind, options?: { statuses?: readonly string[]; after?: number; limit?: number }): IdRow[];
  /** Events, hidden ones and all statuses included, whose answer shows this; an image also through a venue or organizer. */
  eventsWith(kind: Exclude<Kind, 'event'> | 'image', id: number): number[];
  /** A ready answer that is still right; kept per mount, in memory, the least used going first. */
  answer(mount: number | string, kind: Kind, id: number): ReadyAnswer | undefined;
  /**
   * Keeps the answer made of `record`, which must have been read at the current version (no `await` in between). What the answer
   * shows beyond it is known from the record's references; anything else (the site's name) needs `dropAnswers` when it changes.
   */
  setAnswer(mount: number | string, record: CalendarRecord, answer: ReadyAnswer): void;
  /** The ready answer that was last kept, right or not; undefined where it was let go. */
  lastAnswer(mount: number | string, kind: Kind, id: number): ReadyAnswer | undefined;
  dropAnswers(): void;
  state(key: string): string | undefined;
  setState(key: string, value: string | undefined): void;
  /** All or nothing; may be nested. `body` must not wait. */
  transaction<T>(body: () => T): T;
  /** Creates that carried an Idempotency-Key. */
  readonly createKeys: CreateKeys;
  counts(): Record<Kind, number>;
  /**
   * Puts a few pieces of the word index together; true while there is more to do. After every batch of changes, in a turn of its own:
   * what is left lying makes searches slower and, when it is too much, a later change.
   */
  tidy(): boolean;
  /**
   * Whether a change waits for the disk, as it does unless told otherwise. While not, a killed process still loses nothing; when the
   * machine goes down, the copy is begun anew. For a first copy, which nobody reads yet.
   */
  setDurable(durable: boolean): void;
  /** What SQLite finds wrong with the file; nothing, if all is well. Reads the whole file. */
  integrityCheck(): string[];
  /** Throws `ReplicaFailure` when a change could not be written now, such as on a full disk. Writes a few pages: not for every read. */
  assertWritable(): void;
  close(): void;
}

const ANSWER_BYTES = 32 * 1024 * 1024;
const KEPT_TOTALS = 500;
/** Pages of the word index that one call of `tidy` writes: about five milliseconds. */
const TIDY_PAGES = 24;

/**
 * Opens the copy, or begins one. Throws `ConfigError` where the file cannot be had or written, `ReplicaInUse` when another process has it.
 * Calls throw `ReplicaFailure`: `unwritable` (a full disk; the change is undone and the copy goes on), or `damaged`.
 */
export function openReplica(options: ReplicaOptions): Replica {
  const { file, identity, answerBytes = ANSWER_BYTES, leastVersion = 0, discard, damaged } = options;
  const db = openDatabase({ file, identity: `${SCHEMA_VERSION} ${identity}`, discard, damaged });
  const ready = createAnswers(answerBytes);
  const totals = new LRUCache<string, number>({ max: KEPT_TOTALS });
  let facts: Facts | undefined;
  const knownFacts = (): Facts => {
    facts ??= factsOf(db);
    return facts;
  };
  const days = openDays(db, knownFacts);
  let version = Math.max(leastVersion, Number(db.get("SELECT value FROM meta WHERE key = 'version'")?.value));
  let publicVersion = leastVersion + Number(db.get("SELECT value FROM meta WHERE key = 'public_version'")?.value);
  const found = lookups(db);

  /** The next version is taken before the change and not given back when that fails: no two contents ever share one. */
  function change(body: (intake: Intake) => number): number {
    return db.transaction(() => {
      const next = version + 1;
      const intake = beginIntake(db, (kind, id) => ready.touch(kind, id, next));
      try {
        const changed = body(intake);
        intake.finish();
        if (changed === 0) return 0;
        advance(next, intake.isPublic());
        return changed;
      } catch (error) {
        version = next;
        throw error;
      }
    });
  }

  /** What was worked out from the contents, and holds until they change. */
  function forget(): void {
    totals.clear();
    facts = undefined;
    days.forget();
  }

  function advance(next: number, isPublic: boolean): void {
    version = next;
    forget();
    db.run("UPDATE meta SET value = ? WHERE key = 'version'", String(next));
    if (!isPublic) return;
    publicVersion += 1;
    db.run("UPDATE meta SET value = ? WHERE key = 'public_version'", String(publicVersion));
  }

  return {
    setAside: db.setAside,
    tightened: db.tightened,
    get version() {
      return version;
    },
    get publicVersion() {
      return publicVersion;
    },
    put: (records, images = []) =>
      change((intake) => {
        let changed = 0;
        for (const image of images) if (intake.putImage(image)) changed += 1;
        for (const record of records) if (intake.put(record)) changed += 1;
        return changed;
      }),
    remove: (kind, ids) => change((intake) => ids.filter((id) => intake.remove(kind, id)).length),
    ...found,
    createKeys: openCreateKeys(db),
    events(filter) {
      const listed = days.find(filter);
      if (listed) return listed;
      const { limit: _limit, offset: _offset, ...conditions } = filter;
      const name = JSON.stringify(conditions);
      const page = findEvents(db, knownFacts(), filter, totals.get(name));
      totals.set(name, page.total);
      return page;
    },
    linked: (kind, filter) => findLinked(db, kind, filter),
    terms: (filter) => findTerms(db, filter),
    isNamedBySeen: (kind, id, events) => isNamedBySeen(db, kind, id, events),
    termCount: (kind, id) => termCounts(db, kind, [id]).get(id) ?? 0,
    termCounts: (kind, ids) => termCounts(db, kind, ids),
    descendants: (ids) => descendants(db, ids),
    answer: (mount, kind, id) => ready.get(mount, kind, id, version),
    setAnswer: (mount, record, answer) => ready.set(mount, record, answer, version),
    lastAnswer: (mount, kind, id) => ready.last(mount, kind, id),
    dropAnswers: () => ready.clear(),
    transaction(body) {
      try {
        return db.transaction(body);
      } catch (error) {
        // What was undone may have been counted, or made into answers, while it stood.
        version += 1;
        publicVersion += 1;
        forget();
        ready.clear();
        throw error;
      }
    },
    tidy() {
      const changes = () => Number(db.get('SELECT total_changes() AS changes')?.changes);
      const before = changes();
      db.run("INSERT INTO event_words (event_words, rank) VALUES ('merge', ?)", TIDY_PAGES);
      // FTS5 tells so whether there was something to merge.
      return changes() - before >= 2;
    },
    setDurable: (durable) => db.setDurable(durable),
    integrityCheck: () => db.integrityCheck(),
    close: () => db.close(),
    assertWritable: () => db.assertWritable(),
  };
}
