// The change journal: which records the public lists gained, changed and lost, in order.

import { randomBytes } from 'node:crypto';
import { type EventRecord, FIRST_EMBEDDED_ID, type Kind, type PostRecord } from '../model/records.ts';
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
  /** Where in the change log of the cluster the replica was; `0-0` without one. */
  offset: string;
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
   * The changes after a position of this replica, or of another one with the same change log. Undefined if
   * they are not known any more.
   */
  since(position: JournalPosition, limit: number): JournalPage | undefined;
  /** Undefined unless the event moved from the public lists to the trash, and the journal remembers that. */
  cancelled(eventId: number): CancelledEvent | undefined;
  /** The changes from now on belong to this offset of the change log. */
  setOffset(offset: string): void;
  /**
   * From this offset on, the journal has every change of the log: positions of other replicas before it are
   * unknown here.
   */
  startAt(offset: string): void;
  /**
   * The change log's entry at the present offset has this record. If the journal has its change at an earlier
   * offset, the change moves to this one: a token of another gateway may cover the earlier offset without it.
   */
  moveToPresentOffset(kind: Kind, id: number): void;
}

/** For writers, inside their transaction. */
export interface JournalWriter {
  add(kind: Kind, id: number, change: ChangeType, cancelled?: CancelledEvent): void;
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
const NO_LOG = '0-0';

/**
 * What anonymous callers find in a list, in full: published, neither hidden nor protected. A record that is text inside
 * an event changes with the event.
 */
const isListedRecord = (
  record: { id: number; status: string; protected: boolean; hidden?: boolean } | undefined,
): boolean =>
  record !== undefined &&
  record.status === 'publish' &&
  !record.protected &&
  record.hidden !== true &&
  record.id < FIRST_EMBEDDED_ID;

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
export function cancelledBy(before: PostRecord | undefined, after: PostRecord | undefined): CancelledEvent | undefined {
  if (before?.kind !== 'event' || after?.status !== 'trash') return undefined;
  const { id, start, end, startUtc, endUtc, timezone, allDay } = before;
  return { id, start, end, startUtc, endUtc, timezone, allDay, modifiedUtc: after.modifiedUtc };
}

/** A row of the table. `created`: the number of the change that made the record public; 0 if that is forgotten. */
interface JournalRow {
  number: number;
  kind: Kind;
  id: number;
  created: number;
  deleted: 0 | 1;
  logMs: number;
  logSequence: number;
  /** JSON of a `CancelledEvent`, or null. */
  cancelled: string | null;
}

const partsOf = (offset: string): [ms: number, sequence: number] => {
  const [ms = 0, sequence = 0] = offset.split('-').map(Number);
  return [ms, sequence];
};

const isBefore = (a: string, b: string): boolean => {
  const [[aMs, aSequence], [bMs, bSequence]] = [partsOf(a), partsOf(b)];
  return aMs < bMs || (aMs === bMs && aSequence < bSequence);
};

export function openChangeJournal(db: Database): ChangeJournal & JournalWriter {
  let offset = NO_LOG;
  let prunedAt = 0;

  const { meta, setMeta } = db;
  /** The number of the newest forgotten change. */
  const floor = () => Number(meta('journal_floor') ?? 0);
  const headNumber = () =>
    Math.max(floor(), db.numbers(sql`SELECT ifnull(max(number), 0) FROM change_journal`)[0] ?? 0);
  const columns = raw('number, kind, id, created, deleted, log_ms AS logMs, log_sequence AS logSequence, cancelled');
  const rowsWhere = (condition: Sql, limit: number) =>
    db.all<JournalRow>(sql`SELECT ${columns} FROM change_journal WHERE ${condition} ORDER BY number LIMIT ${limit}`);

  /**
   * The openings of this file, oldest first, each with the number that it began after. A file that was
   * restored from a backup, or lost its latest changes in a crash, uses their numbers again: it does not know
   * the epochs of positions that it never had.
   */
  const epochs = db.transaction(() => {
    const known = db.parse<[epoch: string, after: number][]>(meta('journal_epochs') ?? '[]');
    const all = [...known, [randomBytes(9).toString('base64url'), headNumber()] as const].slice(-MAX_EPOCHS);
    setMeta('journal_epochs', JSON.stringify(all));
    return all;
  });
  const epoch = epochs.at(-1)![0];

  function insert(kind: Kind, id: number, change: ChangeType, cancelled: string | null): void {
    const number = headNumber() + 1;
    const [known] = rowsWhere(sql`kind = ${kind} AND id = ${id}`, 1);
    const [log_ms, log_sequence] = partsOf(offset);
    // This gateway was in a cluster before and is alone now: the change has no offset, by which a position of
    // another gateway could find it.
    if (offset === NO_LOG && meta('journal_start') !== undefined) setMeta('journal_start', undefined);
    if (known) db.run(sql`DELETE FROM change_journal WHERE number = ${known.number}`);
    const created = change === 'created' ? number : (known?.created ?? 0);
    const deleted = change === 'deleted' ? 1 : 0;
    db.insert('change_journal', { number, kind, id, created, deleted, log_ms, log_sequence, cancelled });
  }

  /** Whether this file had that change in that epoch. */
  function isOwn(position: JournalPosition): boolean {
    const index = epochs.findIndex(([known]) => known === position.epoch);
    return index >= 0 && position.number <= (epochs[index + 1]?.[1] ?? headNumber());
  }

  /** The number up to which a position has seen the changes of this replica; undefined if that is not known. */
  function numberOf(position: JournalPosition): number | undefined {
    if (isOwn(position)) return position.number >= floor() ? position.number : undefined;
    const start = meta('journal_start');
    if (offset === NO_LOG || start === undefined || position.offset === NO_LOG || isBefore(position.offset, start))
      return undefined;
    // Including the position's own offset, at which this replica may have changes that the other one lacked.
    // A replica that is behind the other one has noted its own changes at its latest offset.
    const [ms, sequence] = partsOf(isBefore(offset, position.offset) ? offset : position.offset);
    const [first] = rowsWhere(sql`(log_ms, log_sequence) >= (${ms}, ${sequence})`, 1);
    return first ? first.number - 1 : headNumber();
  }

  return {
    head() {
      const number = headNumber();
      return { epoch, number, first: number, offset };
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
      const { number, logMs, logSequence } = shown.at(-1)!;
      return { entries, next: { epoch, number, first, offset: `${logMs}-${logSequence}` }, hasMore };
    },
    cancelled(eventId) {
      const [row] = rowsWhere(sql`kind = 'event' AND id = ${eventId}`, 1);
      return row?.cancelled ? (JSON.parse(row.cancelled) as CancelledEvent) : undefined;
    },
    setOffset(next) {
      offset = next;
    },
    startAt: (start) => setMeta('journal_start', start),
    moveToPresentOffset(kind, id) {
      const [row] = rowsWhere(sql`kind = ${kind} AND id = ${id}`, 1);
      if (row && isBefore(`${row.logMs}-${row.logSequence}`, offset))
        insert(kind, id, row.deleted ? 'deleted' : 'updated', row.cancelled);
    },
    add: (kind, id, change, cancelled) => insert(kind, id, change, cancelled ? JSON.stringify(cancelled) : null),
    prune() {
      const head = headNumber();
      if (head - prunedAt < PRUNE_EVERY) return;
      prunedAt = head;
      const [newest] = db.all<JournalRow>(
        sql`SELECT ${columns} FROM change_journal ORDER BY number DESC LIMIT 1 OFFSET ${MAX_CHANGES}`,
      );
      if (!newest) return;
      db.run(sql`DELETE FROM change_journal WHERE number <= ${newest.number}`);
      setMeta('journal_floor', String(newest.number));
      const start = meta('journal_start');
      const next = `${newest.logMs}-${newest.logSequence + 1}`;
      if (start !== undefined && isBefore(start, next)) setMeta('journal_start', next);
    },
    reset() {
      setMeta('journal_floor', String(headNumber() + 1));
      db.run(sql`DELETE FROM change_journal`);
    },
  };
}
