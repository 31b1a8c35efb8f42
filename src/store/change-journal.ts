// The change journal: which records the public lists gained, changed and lost, in order.

import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type EventRecord, FIRST_EMBEDDED_ID, type Kind, type PostRecord, seriesIdOf } from '../model/records.ts';
import { formatWallTime } from '../time/wall-time.ts';
import type { Database } from './database.ts';
import { raw, type Sql, sql } from './sql.ts';
import { getState, setState } from './state.ts';

type ChangeType = 'created' | 'updated' | 'deleted';

export interface JournalEntry {
  kind: Kind;
  id: number;
  change: ChangeType;
  /** The change's place in this file. A restored file uses numbers again: it names a change only with `notedS`. */
  number: number;
  /** When this gateway noticed the change, in seconds by the CMS's clock. */
  notedS: number;
}

/** The change, as `/changes` and outgoing webhooks tell it. */
export const toldChange = ({ kind, id, change }: JournalEntry) => ({ kind, id, change });

/** What a reader has seen: all changes up to and including one. */
export interface JournalPosition {
  /** Identifies one opening of the replica's file. */
  epoch: string;
  /** The change's number in that file, as it was then. */
  number: number;
  /**
   * The second of the CMS's clock at which the last complete scan began: the reader has seen all changes of the CMS
   * until then. Example: one scan ran from 100 to 130, and another runs since 150: at 160 this is 100. 0 if none ended.
   */
  scanS: number;
}

/** An event's times, without which iCalendar has no event. */
type EventTimes = Pick<EventRecord, 'id' | 'start' | 'end' | 'startUtc' | 'endUtc' | 'timezone' | 'allDay'>;

/** An event that moved from the public lists to the trash: its times as they were last public, and when it moved. */
export type CancelledEvent = EventTimes & Pick<EventRecord, 'modifiedUtc'>;

/** Changes that are remembered: about three megabytes. */
export const MAX_CHANGES = 50_000;
/** Events that left the public lists, and may be in the trash: a webhook or another gateway may still tell that. */
const MAX_VANISHED = 1000;

/**
 * True for what lists show to anonymous callers in full: not a protected post, nor a hidden event. False for a venue or
 * organizer whose id says that it is text inside an event, or of a source: it changes with its event.
 */
const isListedRecord = (record: PostRecord | undefined): boolean =>
  record !== undefined &&
  !record.protected &&
  (record.kind === 'event' ? !record.hidden : record.id < FIRST_EMBEDDED_ID);

/** The change of the public lists that replaces one state of a post by another; undefined for none. */
export function changeBetween(before: PostRecord | undefined, after: PostRecord | undefined): ChangeType | undefined {
  const [was, is] = [isListedRecord(before), isListedRecord(after)];
  if (is) return was ? 'updated' : 'created';
  return was ? 'deleted' : undefined;
}

const timesOf = ({ id, start, end, startUtc, endUtc, timezone, allDay }: EventTimes): EventTimes => {
  return { id, start, end, startUtc, endUtc, timezone, allDay };
};

/** What a calendar app must know of a trashed event: its times before, and no text, which the CMS shows no more. */
export const cancelledBy = (event: EventTimes, nowMs: number): CancelledEvent => {
  return { ...timesOf(event), modifiedUtc: formatWallTime(nowMs) };
};

/** A row of the table. `created`: the number of the change that made the record public; 0 if that is forgotten. */
interface JournalRow extends Pick<JournalEntry, 'number' | 'kind' | 'id' | 'notedS'> {
  created: number;
  deleted: 0 | 1;
  /** As in `JournalPosition`, when the change was noted. */
  scanS: number;
  /** JSON of a `CancelledEvent`, or null. */
  cancelled: string | null;
}

const COLUMNS = raw('number, kind, id, created, deleted, noted_s AS notedS, scan_s AS scanS, cancelled');

/**
 * Each opening of the file is an epoch, because a restored file uses numbers again. The table `journal_epoch` has the
 * last change before each (`after`). The replica's state has:
 *
 *   journal_floor   the number of the last change that is forgotten
 *   journal_scan    the second at which the last complete scan began (`JournalPosition.scanS`)
 *   journal_start   the second since which no change is missing
 */
export class ChangeJournal {
  readonly #db: Database;
  readonly #epoch = randomBytes(9).toString('base64url');
  readonly #vanished = new LRUCache<number, EventTimes>({ max: MAX_VANISHED });
  #nowS = () => Math.ceil(Date.now() / 1000);

  constructor(db: Database) {
    this.#db = db;
    db.insert('journal_epoch', { epoch: this.#epoch, after: this.#headNumber() });
  }

  #stateNumber(key: 'journal_floor' | 'journal_scan'): number {
    return Number(getState(this.#db, key) ?? 0);
  }

  #headNumber(): number {
    const newest = this.#db.number(sql`SELECT ifnull(max(number), 0) FROM change_journal`);
    return Math.max(this.#stateNumber('journal_floor'), newest);
  }

  #rows(condition: Sql, limit: number): JournalRow[] {
    return this.#db.all(sql`SELECT ${COLUMNS} FROM change_journal WHERE ${condition} ORDER BY number LIMIT ${limit}`);
  }

  #rowOf(kind: Kind, id: number): JournalRow | undefined {
    return this.#rows(sql`kind = ${kind} AND id = ${id}`, 1)[0];
  }

  /** The position of a reader who has seen all changes. */
  head(): JournalPosition {
    return { epoch: this.#epoch, number: this.#headNumber(), scanS: this.#stateNumber('journal_scan') };
  }

  /**
   * The changes after a position, or undefined if some of them are not known any more. `entries` has each record once,
   * with its latest change, oldest first; `next` is the position after them.
   */
  since(position: JournalPosition, limit: number) {
    const start = this.#startOf(position);
    if (start === undefined || start < this.#stateNumber('journal_floor')) return undefined;
    const rows = this.#rows(sql`number > ${start}`, limit + 1);
    const hasMore = rows.length > limit;
    const shown = rows.slice(0, limit);
    const entries = shown.map(({ kind, id, created, deleted, number, notedS }): JournalEntry => {
      const change = deleted ? 'deleted' : created > start ? 'created' : 'updated';
      return { kind, id, change, number, notedS };
    });
    if (!hasMore) return { entries, next: this.head(), hasMore };
    const { number, scanS } = shown.at(-1)!;
    return { entries, next: { epoch: this.#epoch, number, scanS }, hasMore };
  }

  /**
   * The number in this file for a reader with this position. Example: gateway 1 has changes 1 to 50 in epoch A, makes a
   * backup, and goes on to 80. The backup is restored, and opens as epoch B after 50. Gateway 2 has only epoch C.
   *
   *   position                        in the restored file    at gateway 2
   *   number 40 of A, scanS 1000      40                      the last change noted before second 1000
   *   number 70 of A, scanS 2000      as at gateway 2         the last change noted before second 2000
   *
   * The reader then gets some changes again, and misses none. Undefined: it could miss some.
   */
  #startOf(position: JournalPosition): number | undefined {
    return this.#hasChange(position) ? position.number : this.#lastBefore(position.scanS);
  }

  /** Whether this file had the change with this number in that epoch. */
  #hasChange({ epoch, number }: JournalPosition): boolean {
    const opened = this.#db.get<{ number: number }>(sql`SELECT number FROM journal_epoch WHERE epoch = ${epoch}`);
    if (!opened) return false;
    const [lastOfEpoch = this.#headNumber()] = this.#db.numbers(sql`
      SELECT after FROM journal_epoch WHERE number > ${opened.number} ORDER BY number LIMIT 1`);
    return number <= lastOfEpoch;
  }

  /** The last change that was noted before this second. Undefined if a change since then may be missing. */
  #lastBefore(second: number): number | undefined {
    const start = getState(this.#db, 'journal_start');
    if (start === undefined || second < Number(start)) return undefined;
    const [next] = this.#rows(sql`noted_s >= ${second}`, 1);
    return next ? next.number - 1 : this.#headNumber();
  }

  /** Undefined unless the event moved from the public lists to the trash, and the journal remembers that. */
  cancelled(eventId: number): CancelledEvent | undefined {
    const { cancelled } = this.#rowOf('event', eventId) ?? {};
    return cancelled ? this.#db.parse<CancelledEvent>(cancelled) : undefined;
  }

  /**
   * `nowS` tells the second of the CMS's clock, or a later one. An earlier one would lose changes: one of second 151 is
   * noted as of 149, and a client who comes from another gateway, whose scan began at 150, misses it.
   */
  setClock(nowS: () => number): void {
    this.#nowS = nowS;
  }

  /** A complete scan has ended that began at this second of the CMS's clock. */
  noteScan(beganS: number): void {
    setState(this.#db, 'journal_scan', String(beganS));
  }

  /** Some changes may have been missed: positions of other replicas from before now are unknown here. */
  noteMissed(): void {
    setState(this.#db, 'journal_start', String(this.#nowS()));
    this.#db.changed();
  }

  /** Replaces the record's earlier entry. This and the methods below run inside the transaction of the writer. */
  add(kind: Kind, id: number, change: ChangeType, cancelled?: CancelledEvent): void {
    const number = this.#headNumber() + 1;
    const known = this.#rowOf(kind, id);
    if (known) this.#db.run(sql`DELETE FROM change_journal WHERE number = ${known.number}`);
    this.#db.insert('change_journal', {
      number,
      kind,
      id,
      created: change === 'created' ? number : (known?.created ?? 0),
      deleted: change === 'deleted' ? 1 : 0,
      noted_s: this.#nowS(),
      scan_s: this.#stateNumber('journal_scan'),
      cancelled: cancelled ? JSON.stringify(cancelled) : null,
    });
  }

  /** As `add`, for a deleted record that the journal does not know, because this replica never had it. */
  addGone(kind: Kind, id: number): void {
    if (this.#rowOf(kind, id)) return;
    this.add(kind, id, 'deleted');
    // Outdates the cached responses of `/changes`, which lack the entry.
    this.#db.changed();
  }

  /** An event has left the public lists; nobody knows yet whether it is in the trash. */
  noteVanished(event: EventRecord): void {
    this.#vanished.set(event.id, timesOf(event));
  }

  /** An event is in the trash. If it vanished before, cancels it and its occurrences. Returns the cancelled ids. */
  cancelVanished(eventId: number, nowMs: number): number[] {
    const cancelled = [...this.#vanished.values()].filter(({ id }) => seriesIdOf(id) === eventId);
    for (const event of cancelled) {
      this.#vanished.delete(event.id);
      this.add('event', event.id, 'deleted', cancelledBy(event, nowMs));
    }
    return cancelled.map(({ id }) => id);
  }

  /** The event is public again, perhaps without being in a list: it is not cancelled any more. */
  noteRestored(eventId: number): void {
    this.#vanished.delete(eventId);
    this.#db.run(sql`
      UPDATE change_journal SET cancelled = NULL WHERE kind = 'event' AND id = ${eventId} AND cancelled IS NOT NULL`);
  }

  /** Forgets all but the last `MAX_CHANGES` changes. */
  prune(): void {
    const floor = this.#headNumber() - MAX_CHANGES;
    const [newest] = this.#db.numbers(sql`
      SELECT noted_s FROM change_journal WHERE number <= ${floor} ORDER BY number DESC LIMIT 1`);
    if (newest === undefined) return;
    this.#db.run(sql`DELETE FROM change_journal WHERE number <= ${floor}`);
    setState(this.#db, 'journal_floor', String(floor));
    // Some changes of the second `newest` may be forgotten: from the next second on none is missing.
    setState(this.#db, 'journal_start', String(newest + 1));
  }

  /** Forgets all changes: every position so far is unknown. */
  reset(): void {
    setState(this.#db, 'journal_floor', String(this.#headNumber() + 1));
    this.#db.run(sql`DELETE FROM change_journal`);
    this.noteMissed();
  }
}
