// What a receiver gets next: a signed message that names changes, or as a build hook a request without a body.

import { createHash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type JournalEntry, type JournalPosition, toldChange } from '../store/change-journal.ts';

export type Message = { id: string; body: string };

/** A build waits no longer than this many quiet periods, although changes go on. */
const MAX_QUIET_PERIODS = 10;

/**
 * The message's id is the same for the same changes, also after a restart. It differs if a record has changed again,
 * because each change has a number of its own in the journal.
 * @param entries undefined: nobody knows what has changed until `position`
 */
export function messageOf(entries: JournalEntry[] | undefined, position: JournalPosition, nowMs: number): Message {
  const type = entries ? 'calendar.changed' : 'calendar.reset';
  const data = entries ? { changes: entries.map(toldChange) } : {};
  const hash = createHash('sha256').update(JSON.stringify([type, entries ?? position]));
  const timestamp = new Date(nowMs).toISOString();
  return { id: `msg_${hash.digest('base64url').slice(0, 27)}`, body: JSON.stringify({ type, timestamp, data }) };
}

/** The headers of one attempt to send the message, signed with the time of that attempt. */
export function signedHeaders({ id, body }: Message, secret: string, nowMs: number): Record<string, string> {
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, new Date(nowMs), body),
  };
}

/** When a build is due, and when at the latest. */
export type BuildTimes = { dueMs: number; latestMs: number };

/** A change now starts the quiet period again: a build is due when nothing has changed for `quietS`. */
export function buildTimes(before: BuildTimes | undefined, quietS: number, nowMs: number): BuildTimes {
  const latestMs = before?.latestMs ?? nowMs + quietS * 1000 * MAX_QUIET_PERIODS;
  return { dueMs: Math.min(nowMs + quietS * 1000, latestMs), latestMs };
}
