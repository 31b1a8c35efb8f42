// What a receiver gets next: a signed message for each batch of changes, or as a build hook a request without a body.

import { createHash } from 'node:crypto';
import type { ChangeJournal, JournalEntry, JournalPosition } from '../store/change-journal.ts';

export interface Message {
  /** Undefined of a build hook. */
  signed: { id: string; body: string } | undefined;
  /** Of a receiver that has accepted it. */
  next: JournalPosition;
}

/** Undefined: nothing is due. */
export type NextMessage = () => Message | undefined;

export interface Progress {
  journal: ChangeJournal;
  isWanted: (entry: JournalEntry) => boolean;
  /** Undefined: the receiver is new. */
  position: () => JournalPosition | undefined;
  keep: (position: JournalPosition) => void;
  nowMs: () => number;
}

/** What Cloudflare's API purges in one request; Fastly's takes 256. */
const BATCH = 100;
/** A build waits no longer than this many quiet periods, although changes go on. */
const MAX_QUIET_PERIODS = 10;

/** Of a receiver with a secret: changes are due at once. */
export function nextBatches({ journal, isWanted, position, keep, nowMs }: Progress): NextMessage {
  return () => {
    for (;;) {
      const from = position();
      const page = from && journal.since(from, BATCH);
      // Nobody knows what has changed since.
      if (!page) {
        const next = journal.head();
        return { signed: describe('calendar.reset', {}, next, nowMs()), next };
      }
      const entries = page.entries.filter(isWanted);
      const changes = entries.map(({ kind, id, change }) => ({ kind, id, change }));
      if (entries.length > 0)
        return { signed: describe('calendar.changed', { changes }, entries, nowMs()), next: page.next };
      if (page.entries.length > 0) keep(page.next);
      if (!page.hasMore) return undefined;
    }
  };
}

/**
 * @param facts make the id: it is the same for the same changes, also after a restart, and differs if a record has
 *   changed again, because each change has a number of its own in the journal
 */
function describe(type: string, data: object, facts: unknown, nowMs: number): Message['signed'] {
  const timestamp = new Date(nowMs).toISOString();
  const hash = createHash('sha256')
    .update(JSON.stringify([type, facts]))
    .digest('base64url');
  return { id: `msg_${hash.slice(0, 27)}`, body: JSON.stringify({ type, timestamp, data }) };
}

/** Of a build hook: a build is due when nothing has changed for `quietS`. */
export function nextBuilds(quietS: number, { journal, isWanted, position, nowMs }: Progress): NextMessage {
  const quietMs = quietS * 1000;
  /** Up to where changes were seen, and when the first and the last were noticed. */
  let seen: JournalPosition | undefined;
  let waiting: { firstMs: number; lastMs: number } | undefined;
  return () => {
    for (let hasMore = true; hasMore; ) {
      const from = seen ?? position();
      const page = from && journal.since(from, BATCH);
      if (!page || page.entries.some(isWanted)) waiting = { firstMs: waiting?.firstMs ?? nowMs(), lastMs: nowMs() };
      seen = page?.next ?? journal.head();
      hasMore = page?.hasMore === true;
    }
    if (!waiting) return undefined;
    const { firstMs, lastMs } = waiting;
    if (nowMs() < Math.min(lastMs + quietMs, firstMs + quietMs * MAX_QUIET_PERIODS)) return undefined;
    waiting = undefined;
    return { signed: undefined, next: seen! };
  };
}
