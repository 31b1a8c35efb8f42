// Counts that the replica keeps beside its records: events of each target and status, and events of each day.

import type { EventRecord } from '../records.ts';
import type { Touched } from './answers.ts';
import type { Database } from './database.ts';
import { secondsBetween, wallNumber } from './fold.ts';
import { LISTED, LONG_EVENT_SECONDS, ROLE, type Role } from './schema.ts';

/** Says that answers showing this are no longer right. */
export type Touch = (kind: Touched, id: number) => void;

interface TallyChange {
  role: number;
  target: number;
  status: string;
  events: number;
  /** Latest UTC start that came and that went, of events that are not hidden; 0 for none. */
  cameUtc: number;
  wentUtc: number;
}

const ROLE_NAMES = new Map<number, Role>(Object.entries(ROLE).map(([name, role]) => [role, name as Role]));

/** What a batch of changes does to the counts, gathered and written by `finish`. */
export interface Tallies {
  /** An event with this target came (1) or went (-1). */
  target(role: number, target: number, event: EventRecord, events: 1 | -1): void;
  /** Counts the day of an event that comes or goes; returns whether the event is odd, and so counted nowhere. */
  day(event: EventRecord, events: 1 | -1): boolean;
  finish(): void;
}

/** Begins a batch; `touch` is told of each term whose count changed. */
export function beginTallies(db: Database, touch: Touch): Tallies {
  const tallies = new Map<string, TallyChange>();
  const days = new Map<string, { status: string; day: number; events: number }>();
  const before = Number(db.get("SELECT value FROM meta WHERE key = 'longest_s'")?.value);
  let longestSeconds = before;

  function tally(role: number, target: number, event: EventRecord, events: 1 | -1): void {
    const name = `${role}/${target}/${event.status}`;
    let change = tallies.get(name);
    if (!change) {
      change = { role, target, status: event.status, events: 0, cameUtc: 0, wentUtc: 0 };
      tallies.set(name, change);
    }
    change.events += events;
    if (event.hidden) return;
    const startsUtc = wallNumber(event.startUtc);
    if (events > 0) change.cameUtc = Math.max(change.cameUtc, startsUtc);
    else change.wentUtc = Math.max(change.wentUtc, startsUtc);
  }

  /** Whether the event is odd; if not and listed, its day is counted. */
  function countDay(event: EventRecord, events: 1 | -1): boolean {
    const [starts, ends] = [wallNumber(event.start), wallNumber(event.end)];
    const seconds = secondsBetween(starts, ends);
    if (!(seconds >= 0 && seconds <= LONG_EVENT_SECONDS)) return true;
    if (events > 0) longestSeconds = Math.max(longestSeconds, seconds);
    if (event.hidden) return false;
    const day = Math.floor(starts / 1_000_000);
    const name = `${day}/${event.status}`;
    const change = days.get(name);
    if (change) change.events += events;
    else days.set(name, { status: event.status, day, events });
    return false;
  }

  function flushTally({ role, target, status, events, cameUtc, wentUtc }: TallyChange): void {
    const where = 'role = ? AND target = ? AND status = ?';
    const old = db.get<{ events: number; latest_utc: number }>(
      `SELECT events, latest_utc FROM tally WHERE ${where}`,
      ...[role, target, status],
    );
    const count = (old?.events ?? 0) + events;
    let latestUtc = Math.max(old?.latest_utc ?? 0, cameUtc);
    // Only who took the latest one away has to look for the next; nobody asks it of terms.
    if (role >= ROLE.venue && wentUtc > 0 && wentUtc >= latestUtc) {
      latestUtc = Number(
        db.get(
          `SELECT ifnull(max(starts_utc), 0) AS latest FROM event_link WHERE ${where} AND hidden = ${LISTED}`,
          ...[role, target, status],
        )?.latest,
      );
    }
    if (count === 0) db.run(`DELETE FROM tally WHERE ${where}`, role, target, status);
    else if (count !== old?.events || latestUtc !== old.latest_utc) {
      db.run(
        'INSERT OR REPLACE INTO tally (role, target, status, events, latest_utc) VALUES (?, ?, ?, ?, ?)',
        ...[role, target, status, count, latestUtc],
      );
    }
    const kind = ROLE_NAMES.get(role);
    if (events !== 0 && status === 'publish' && (kind === 'category' || kind === 'tag')) touch(kind, target);
  }

  function flushDay({ status, day, events }: { status: string; day: number; events: number }): void {
    if (events === 0) return;
    db.run(
      `INSERT INTO event_day (status, day, events) VALUES (?, ?, ?)
       ON CONFLICT (status, day) DO UPDATE SET events = events + excluded.events`,
      ...[status, day, events],
    );
    if (events < 0) db.run('DELETE FROM event_day WHERE status = ? AND day = ? AND events = 0', status, day);
  }

  return {
    target: tally,
    day: countDay,
    finish() {
      for (const change of tallies.values()) flushTally(change);
      for (const change of days.values()) flushDay(change);
      if (longestSeconds > before) db.run("UPDATE meta SET value = ? WHERE key = 'longest_s'", String(longestSeconds));
    },
  };
}
