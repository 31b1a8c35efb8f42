// Owns which records the poller must re-read, and which responses are outdated because the replica's record
// is newer.

import type { Kind } from '../model/records.ts';
import type { SyncMemory } from './context.ts';

/**
 * The CMS's `modified` has a resolution of one second: two changes within it look the same. A record that was
 * read two seconds after its `modified` was first seen cannot change within that second any more.
 */
export const MODIFIED_RESOLUTION_MS = 2_000;

/** Makes records dirty: the next poll re-reads them by id. */
export function markDirty({ kinds }: SyncMemory, kind: Kind, ids: Iterable<number>): void {
  for (const id of ids) kinds[kind].dirty.add(id);
}

/** Returns the dirty records of the kind, and forgets that they are dirty. */
export function takeDirty({ kinds }: SyncMemory, kind: Kind): number[] {
  const { dirty } = kinds[kind];
  const ids = [...dirty];
  dirty.clear();
  return ids;
}

/** A new read mark: greater than that of every request until now, and smaller than that of the next. */
export function nextReadMark({ reads }: SyncMemory): number {
  reads.lastMark += 1;
  return reads.lastMark;
}

/** Notes that the replica's record is as new as the request with this read mark. */
export function setReadMark({ kinds }: SyncMemory, kind: Kind, id: number, readMark: number): void {
  const { readMarks } = kinds[kind];
  readMarks.set(id, Math.max(readMarks.get(id) ?? 0, readMark));
}

/** True if the replica's record is newer than a response to the request with this read mark. */
export function isOutdated({ kinds }: SyncMemory, kind: Kind, id: number, readMark: number): boolean {
  return (kinds[kind].readMarks.get(id) ?? 0) > readMark;
}

/**
 * Notes a change that did not come from a poll, such as a write or a webhook: the record is re-read until the second
 * of its `modified` is over.
 */
export function markWritten(memory: SyncMemory, kind: Kind, id: number, atMs: number): void {
  const readMark = nextReadMark(memory);
  setReadMark(memory, kind, id, readMark);
  const { unsettled } = memory.kinds[kind];
  unsettled.set(id, atMs);
  memory.kinds[kind].lastWriteMark = readMark;
  memory.kinds[kind].revision += 1;
}

/** True if `markWritten` noted a record of the kind after the request with this read mark was sent. */
export function hasWriteSince({ kinds }: SyncMemory, kind: Kind, readMark: number): boolean {
  return kinds[kind].lastWriteMark > readMark;
}

/**
 * Notes when a record was read. If it `mayChangeAgain` within the second of its `modified`, every poll
 * re-reads it until it was read late enough.
 */
export function trackModified(
  memory: SyncMemory,
  kind: Kind,
  id: number,
  readMs: number,
  mayChangeAgain: boolean,
): void {
  const { unsettled } = memory.kinds[kind];
  const firstReadMs = unsettled.get(id);
  if (mayChangeAgain) unsettled.set(id, readMs);
  else if (firstReadMs !== undefined && readMs >= firstReadMs + MODIFIED_RESOLUTION_MS) unsettled.delete(id);
}

/**
 * Keeps read marks until the returned function is called. Call it when the responses of this step are in the
 * replica.
 */
export function retainReadMarks({ reads, kinds }: SyncMemory): () => void {
  reads.retained += 1;
  return () => {
    reads.retained -= 1;
    if (reads.retained > 0) return;
    reads.sentMs.clear();
    for (const { readMarks } of Object.values(kinds)) readMarks.clear();
  };
}
