// Counters beside the records: events of each link target and status (`event_count`), and of each day
// (`event_day`).

import { type EventRecord, isTermKind, type KindOrImage } from '../model/records.ts';
import { secondsBetween, WALL_DAY, wallNumber } from '../time/wall-time.ts';
import type { Database } from './database.ts';
import { LISTED, MAX_REGULAR_SECONDS, TARGET_KIND, type TargetKind } from './schema.ts';
import { raw, sql } from './sql.ts';

/** Invalidates the rendered records that show this. */
export type Invalidate = (kind: KindOrImage, id: number) => void;

interface LinkChange {
  targetKind: TargetKind;
  targetId: number;
  status: string;
  events: number;
  hasRemoved: boolean;
  /** The latest UTC start of the added and of the removed events that are not hidden; 0 for none. */
  addedUtc: number;
  removedUtc: number;
}

interface DayChange {
  status: string;
  featured: number;
  day: number;
  events: number;
}

/** Collects what a batch of changes does to the counters; `finish` writes it. */
export interface Counters {
  /** Counts an added (1) or removed (-1) event for one of its links. */
  countLink(targetKind: TargetKind, targetId: number, event: EventRecord, events: 1 | -1): void;
  /** Counts an added (1) or removed (-1) event for its day. */
  countDay(event: EventRecord, events: 1 | -1): void;
  finish(): void;
}

const durationSeconds = ({ start, end }: EventRecord): number => secondsBetween(wallNumber(start), wallNumber(end));

/** True if the event lasts longer than `MAX_REGULAR_SECONDS`, or ends before it starts. */
export function isIrregular(event: EventRecord): boolean {
  const seconds = durationSeconds(event);
  return !(seconds >= 0 && seconds <= MAX_REGULAR_SECONDS);
}

/** Begins a batch. `invalidate` is called for each term whose public count changed. */
export function beginCounters(db: Database, invalidate: Invalidate): Counters {
  const links = new Map<string, LinkChange>();
  const days = new Map<string, DayChange>();
  const storedDuration = Number(db.meta('max_duration_s'));
  let maxDuration = storedDuration;

  function writeLinkChange(change: LinkChange): void {
    if (change.hasRemoved) writeRemovals(change);
    else writeAdditions(change);
    const { targetKind, targetId, status, events } = change;
    if (isTermKind(targetKind) && events !== 0 && status === 'publish') invalidate(targetKind, targetId);
  }

  function writeAdditions({ targetKind, targetId, status, events, addedUtc }: LinkChange): void {
    db.run(sql`
      INSERT INTO event_count (target_kind, target_id, status, events, latest_start_utc)
      VALUES (${TARGET_KIND[targetKind]}, ${targetId}, ${status}, ${events}, ${addedUtc})
      ON CONFLICT (target_kind, target_id, status) DO UPDATE SET
        events = events + excluded.events, latest_start_utc = max(latest_start_utc, excluded.latest_start_utc)`);
  }

  function writeRemovals({ targetKind, targetId, status, events, addedUtc, removedUtc }: LinkChange): void {
    const isRow = sql`target_kind = ${TARGET_KIND[targetKind]} AND target_id = ${targetId} AND status = ${status}`;
    const old = db.get<{ events: number; latestUtc: number }>(
      sql`SELECT events, latest_start_utc AS latestUtc FROM event_count WHERE ${isRow}`,
    );
    const count = (old?.events ?? 0) + events;
    let latestUtc = Math.max(old?.latestUtc ?? 0, addedUtc);
    // The latest event was removed. Nothing reads the latest start of terms.
    if (!isTermKind(targetKind) && removedUtc > 0 && removedUtc >= latestUtc) {
      const latest = db.get<{ utc: number }>(
        sql`SELECT ifnull(max(starts_utc), 0) AS utc FROM event_link WHERE ${isRow} AND hidden = ${raw(LISTED)}`,
      );
      latestUtc = Number(latest?.utc);
    }
    if (count === 0) db.run(sql`DELETE FROM event_count WHERE ${isRow}`);
    else if (count !== old?.events || latestUtc !== old.latestUtc) {
      db.replace('event_count', {
        target_kind: TARGET_KIND[targetKind],
        target_id: targetId,
        status,
        events: count,
        latest_start_utc: latestUtc,
      });
    }
  }

  function writeDayChange({ status, featured, day, events }: DayChange): void {
    if (events === 0) return;
    db.run(sql`
      INSERT INTO event_day (status, featured, day, events) VALUES (${status}, ${featured}, ${day}, ${events})
      ON CONFLICT (status, featured, day) DO UPDATE SET events = events + excluded.events`);
    if (events > 0) return;
    db.run(sql`
      DELETE FROM event_day WHERE status = ${status} AND featured = ${featured} AND day = ${day} AND events = 0`);
  }

  return {
    countLink(targetKind, targetId, event, events) {
      const key = `${targetKind}/${targetId}/${event.status}`;
      let change = links.get(key);
      if (!change) {
        change = {
          targetKind,
          targetId,
          status: event.status,
          events: 0,
          hasRemoved: false,
          addedUtc: 0,
          removedUtc: 0,
        };
        links.set(key, change);
      }
      change.events += events;
      if (events < 0) change.hasRemoved = true;
      if (event.hidden) return;
      const startsUtc = wallNumber(event.startUtc);
      if (events > 0) change.addedUtc = Math.max(change.addedUtc, startsUtc);
      else change.removedUtc = Math.max(change.removedUtc, startsUtc);
    },
    countDay(event, events) {
      if (events > 0 && !isIrregular(event)) maxDuration = Math.max(maxDuration, durationSeconds(event));
      if (event.hidden) return;
      const day = Math.floor(wallNumber((event.listed ?? event).start) / WALL_DAY);
      const featured = featuredColumn(event);
      const key = `${day}/${featured}/${event.status}`;
      const change = days.get(key);
      if (change) change.events += events;
      else days.set(key, { status: event.status, featured, day, events });
    },
    finish() {
      for (const change of links.values()) writeLinkChange(change);
      for (const change of days.values()) writeDayChange(change);
      if (maxDuration > storedDuration) db.setMeta('max_duration_s', String(maxDuration));
    },
  };
}

/** No filter finds what a password hides: a protected event is stored as if it were not featured. */
export const featuredColumn = (event: EventRecord): 0 | 1 => (event.featured && !event.protected ? 1 : 0);
