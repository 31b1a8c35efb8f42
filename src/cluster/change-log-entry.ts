// The entries of the change log: their encoding, their bounded size, and the order of their ids.

import type { ChangeSet } from '../store/change-set.ts';
import { parseMessage } from './messages.ts';

/**
 * Increase with every change of the entries or messages: gateways of different versions refuse to share a
 * change log.
 */
export const PROTOCOL_VERSION = 4;

export interface LogEntry {
  /** The node that wrote it. */
  from: string;
  /** `baseline`: all later entries build on the writer's replica as it is now. */
  type: 'poll' | 'write' | 'baseline';
  change: ChangeSet;
}

export interface StoredEntry extends LogEntry {
  id: string;
  /** Id of the entry before it. */
  previousId: string;
  /** Why the entry is unreadable; then its change is unknown. */
  malformed?: Error;
}

/** The offset before the first entry. */
export const LOG_START = '0-0';

/** Approximate characters in one entry. With MAX_ENTRIES it bounds the memory of the change log. */
const MAX_CHARS = 64 * 1024;

/**
 * Approximate entries in the change log: 10 MiB of Redis memory at 2 KiB each, as ordinary writes have; at
 * most 320 MiB. At ten changes a second a gateway may be offline for seven minutes and still resume.
 */
export const MAX_ENTRIES = 4096;

export const encodeEntry = (entry: LogEntry): string => JSON.stringify(entry);

/** Never throws: an unreadable entry is marked as malformed. */
export function decodeEntry(id: string, fields: Record<string, string>): StoredEntry {
  const previousId = fields.previous ?? LOG_START;
  try {
    return { ...parseMessage<LogEntry>('entry', fields.entry), id, previousId };
  } catch (error) {
    return { from: '', type: 'poll', change: {}, id, previousId, malformed: error as Error };
  }
}

const partsOf = (id: string): [number, number] => {
  const [ms = 0, sequence = 0] = id.split('-').map(Number);
  return [ms, sequence];
};

/** Negative if `a` is before `b`. */
export function compareIds(a: string, b: string): number {
  const [aMs, aSequence] = partsOf(a);
  const [bMs, bSequence] = partsOf(b);
  return aMs - bMs || aSequence - bSequence;
}

export function isEmptyChange({ upserts = [], images = [], deletes = [], state = {} }: ChangeSet): boolean {
  const hasDeletes = deletes.some(({ ids }) => ids.length > 0);
  return upserts.length + images.length === 0 && !hasDeletes && Object.keys(state).length === 0;
}

/** As much of a change as one entry may hold; the change itself if it fits. */
export function firstPart(change: ChangeSet): ChangeSet {
  const { upserts = [], images = [], deletes = [], state = {} } = change;
  let charsLeft = MAX_CHARS;
  const fitting = <T>(items: readonly T[]): T[] => {
    const first: T[] = [];
    for (const item of items) {
      if (charsLeft <= 0) break;
      charsLeft -= JSON.stringify(item).length;
      first.push(item);
    }
    return first;
  };
  const part = { upserts: fitting(upserts), images: fitting(images), deletes: fitting(deletes) };
  const fits =
    part.upserts.length === upserts.length &&
    part.images.length === images.length &&
    part.deletes.length === deletes.length;
  if (!fits) return part;
  // The state comes with the last part: the next leader resumes from it.
  return charsLeft <= 0 && Object.keys(state).length > 0 ? part : change;
}
