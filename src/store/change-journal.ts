// The change journal: which records the public lists gained, changed and lost, in order.

import { randomBytes } from 'node:crypto';
import { type EventRecord, FIRST_EMBEDDED_ID, type Kind } from '../model/records.ts';
import { formatWallTime } from '../time/wall-time.ts';
import type { Database } from './database.ts';
import { raw, type Sql, sql } from './sql.ts';

export type ChangeType = 'created' | 'updated' | 'deleted';

export interface JournalEntry {
  kind: Kind;
  id: number;
  change: ChangeType;
}

/** What a reader has seen: all changes up to and including one. */
export interface JournalPosition {
  /** Identifies one opening of the replica's file. */
  epoch: string;
  /** The change's number in that file, as it was then. */
  number: number;
  /** The number at which a reader began who is reading several pages; otherwise the same. */
  first: number;
  /**
   * When the last complete scan before it began, in seconds by the CMS's clock: the reader has seen all changes of the
   * CMS until then. 0 if none is known.
   */
  scanS: number;
}

export interface JournalPage {
  /** Each record once, with its latest change, oldest first. */
  entries: JournalEntry[];
  /** The position after the last entry. */
  next: JournalPosition;
  hasMore: boolean;
}

/** An event that moved from the public lists to the trash: its times as they were last public, and when it moved. */
export type CancelledEvent = Pick<
  EventRecord,
  'id' | 'start' | 'end' | 'startUtc' | 'endUtc' | 'timezone' | 'allDay' | 'modifiedUtc'
>;

export interface ChangeJournal {
  head(): JournalPosition;
  /**
   * The changes after a position of this replica; after one of another replica of the same site those that this one
   * noticed since the other's scan began, so that none is left out. Undefined if they are not known any more.
   */
  since(position: JournalPosition, limit: number): JournalPage | undefined;
  /** Undefined unless the event moved from the public lists to the trash, and the journal remembers that. */
  cancelled(eventId: number): CancelledEvent | undefined;
  /** Seconds by the CMS's clock, as it is now or later. */
  setClock(nowS: () => number): void;
  /** A complete scan has ended that began at this second of the CMS's clock. */
  scanned(beganS: number): void;
}

/** For writers, inside their transaction. */
export interface JournalWriter {
  add(kind: Kind, id: number, change: ChangeType, cancelled?: CancelledEvent): void;
  /** The event is public again, perhaps without being in a list: it is not cancelled any more. */
  restored(eventId: number): void;
  /** Forgets the oldest changes beyond `MAX_CHANGES`. */
  prune(): void;
  /** Forgets all changes: every position so far is unknown. */
  reset(): void;
}

/** Changed records that are remembered: about three megabytes. */
export const MAX_CHANGES = 50_000;
/** Openings of the file whose positions are valid: those of restarts within the lifetime of a token. */
const MAX_EPOCHS = 500;
const PRUNE_EVERY = 1000;

/**
 * What anonymous callers find in a list, in full: neither hidden nor protected. A record that is text inside
 * an event changes with the event.
 */
const isListedRecord = (record: { id: number; protected: boolean; hidden?: boolean } | undefined): boolean =>
  record !== undefined && !record.protected && record.hidden !== true && record.id < FIRST_EMBEDDED_ID;

/** The change of the public lists that replaces one state of a post by another; undefined for none. */
export function changeBetween(
  before: Parameters<typeof isListedRecord>[0],
  after: Parameters<typeof isListedRecord>[0],
): ChangeType | undefined {
  const [was, is] = [isListedRecord(before), isListedRecord(after)];
  if (is) return was ? 'updated' : 'created';
  return was ? 'deleted' : undefined;
}

/**
 * What a calendar app must know of an event that moves to the trash: times, without which iCalendar has no
 * event. No text, because the CMS shows none any more, and nothing that changed with the move.
 */
export function cancelledBy(event: EventRecord, nowMs: number): CancelledEvent {
  const { id, start, end, startUtc, endUtc, timezone, allDay } = event;
  return { id, start, end, startUtc, endUtc, timezone, allDay, modifiedUtc: formatWallTime(nowMs) };
}

/** A row of the table. `created`: the number of the change that made the record public; 0 if that is forgotten. */
interface JournalRow {
  number: number;
  kind: Kind;
  id: number;
  created: number;
  deleted: 0 | 1;
  /** When this gateway noticed the change, in seconds by the CMS's clock. */
  notedS: number;
  scanS: number;
  /** JSON of a `CancelledEvent`, or null. */
  cancelled: string | null;
}

export function openChangeJournal(db: Database): ChangeJournal & JournalWriter {
  let nowS = () => Math.ceil(Date.now() / 1000);
  let prunedAt = 0;

  /** The number of the newest forgotten change. */
  const floor = () => Number(db.meta('journal_floor') ?? 0);
  const headNumber = () =>
    Math.max(floor(), db.numbers(sql`SELECT ifnull(max(number), 0) FROM change_journal`)[0] ?? 0);
  const scanS = () => Number(db.meta('journal_scan') ?? 0);
  const columns = raw('number, kind, id, created, deleted, noted_s AS notedS, scan_s AS scanS, cancelled');
  const rowsWhere = (condition: Sql, limit: number) =>
    db.all<JournalRow>(sql`SELECT ${columns} FROM change_journal WHERE ${condition} ORDER BY number LIMIT ${limit}`);

  /**
   * The openings of this file, oldest first, each with the number that it began after. A file that was
   * restored from a backup, or lost its latest changes in a crash, uses their numbers again: it does not know
   * the epochs of positions that it never had.
   */
  const epochs = db.transaction(() => {
    const known = db.parse<[epoch: string, after: number][]>(db.meta('journal_epochs') ?? '[]');
    const all = [...known, [randomBytes(9).toString('base64url'), headNumber()] as const].slice(-MAX_EPOCHS);
    db.setMeta('journal_epochs', JSON.stringify(all));
    return all;
  });
  const epoch = epochs.at(-1)![0];

  function insert(kind: Kind, id: number, change: ChangeType, cancelled: string | null): void {
    const number = headNumber() + 1;
    const [known] = rowsWhere(sql`kind = ${kind} AND id = ${id}`, 1);
    if (known) db.run(sql`DELETE FROM change_journal WHERE number = ${known.number}`);
    const created = change === 'created' ? number : (known?.created ?? 0);
    const deleted = change === 'deleted' ? 1 : 0;
    const times = { noted_s: nowS(), scan_s: scanS() };
    db.insert('change_journal', { number, kind, id, created, deleted, ...times, cancelled });
  }

  /** Whether this file had that change in that epoch. */
  function isOwn(position: JournalPosition): boolean {
    const index = epochs.findIndex(([known]) => known === position.epoch);
    return index >= 0 && position.number <= (epochs[index + 1]?.[1] ?? headNumber());
  }

  /** The number up to which a position has seen the changes of this replica; undefined if that is not known. */
  function numberOf(position: JournalPosition): number | undefined {
    if (isOwn(position)) return position.number >= floor() ? position.number : undefined;
    const start = db.meta('journal_start');
    if (start === undefined || position.scanS < Number(start)) return undefined;
    const [first] = rowsWhere(sql`noted_s >= ${position.scanS}`, 1);
    return first ? first.number - 1 : headNumber();
  }

  return {
    head() {
      const number = headNumber();
      return { epoch, number, first: number, scanS: scanS() };
    },
    since(position, limit) {
      const after = numberOf(position);
      if (after === undefined) return undefined;
      const rows = rowsWhere(sql`number > ${after}`, limit + 1);
      const hasMore = rows.length > limit;
      const shown = rows.slice(0, limit);
      const first = isOwn(position) ? Math.min(position.first, after) : after;
      const entries = shown.map(({ kind, id, created, deleted }): JournalEntry => {
        const change = created > first ? 'created' : 'updated';
        return { kind, id, change: deleted ? 'deleted' : change };
      });
      if (!hasMore) return { entries, next: this.head(), hasMore };
      const { number, scanS } = shown.at(-1)!;
      return { entries, next: { epoch, number, first, scanS }, hasMore };
    },
    cancelled(eventId) {
      const [row] = rowsWhere(sql`kind = 'event' AND id = ${eventId}`, 1);
      return row?.cancelled ? db.parse<CancelledEvent>(row.cancelled) : undefined;
    },
    setClock(clock) {
      nowS = clock;
    },
    scanned: (beganS) => db.setMeta('journal_scan', String(beganS)),
    add: (kind, id, change, cancelled) => insert(kind, id, change, cancelled ? JSON.stringify(cancelled) : null),
    restored: (id) =>
      db.run(
        sql`UPDATE change_journal SET cancelled = NULL WHERE kind = 'event' AND id = ${id} AND cancelled IS NOT NULL`,
      ),
    prune() {
      const head = headNumber();
      if (head - prunedAt < PRUNE_EVERY) return;
      prunedAt = head;
      const [newest] = db.all<JournalRow>(
        sql`SELECT ${columns} FROM change_journal ORDER BY number DESC LIMIT 1 OFFSET ${MAX_CHANGES}`,
      );
      if (!newest) return;
      db.run(sql`DELETE FROM change_journal WHERE number <= ${newest.number}`);
      db.setMeta('journal_floor', String(newest.number));
      // The changes of this second may be among the forgotten ones.
      db.setMeta('journal_start', String(newest.notedS + 1));
    },
    reset() {
      db.setMeta('journal_floor', String(headNumber() + 1));
      db.run(sql`DELETE FROM change_journal`);
      db.setMeta('journal_start', String(nowS()));
    },
  };
}
