// The entries of the stream: how a change is written into one, in pieces of bounded size, and the order of their ids.

import type { Change } from '../replica/commit.ts';
import { readMessage } from './messages.ts';

/** Grows with every change of the entries or of the protocol: gateways of different versions refuse each other. */
export const STREAM_VERSION = 3;

export interface Entry {
  /** The gateway that wrote it. */
  from: string;
  /** `begin`: the writer's copy, with all that it found by itself, is what everything after this stands on. */
  type: 'look' | 'write' | 'begin';
  change: Change;
}

export interface Placed extends Entry {
  /** Why no gateway can have written the entry; what it changes is unknown. */
  malformed?: Error;
  id: string;
  /** Id of the entry before it. */
  after: string;
}

/** Before every entry. */
export const START = '0-0';

/** Characters of an entry, about. With MAX_ENTRIES it bounds the stream's memory. */
const MAX_CHARS = 64 * 1024;

/**
 * Entries that the stream keeps, about: 10 MiB of the engine's memory at 2 KiB each, as ordinary writes have; 320 MiB at the very worst. At
 * ten changes a second a gateway may be away for seven minutes and goes on where it was.
 */
export const MAX_ENTRIES = 4096;

/** The text of an entry in the stream; `decodeEntry` reads it. */
export const encodeEntry = (entry: Entry): string => JSON.stringify(entry);

/** An entry as the stream has it. Never throws: what cannot be read is marked as such. */
export function decodeEntry(id: string, fields: Record<string, string>): Placed {
  const after = fields.after ?? START;
  try {
    return { ...readMessage<Entry>('entry', fields.entry), id, after };
  } catch (error) {
    return { from: '', type: 'look', change: {}, id, after, malformed: error as Error };
  }
}

const parts = (id: string): [number, number] => {
  const [ms = 0, number = 0] = id.split('-').map(Number);
  return [ms, number];
};

/** Negative when `a` is before `b`. */
export function compareIds(a: string, b: string): number {
  const [aMs, aNumber] = parts(a);
  const [bMs, bNumber] = parts(b);
  return aMs - bMs || aNumber - bNumber;
}

/** When the entry was added: the first part of its id, milliseconds since 1970 by the engine's clock. */
export const millisecondsOf = (id: string): number => parts(id)[0];

/** Whether there is nothing in a change to tell the others. */
export function isEmpty({ put = [], images = [], remove = [], state }: Change): boolean {
  const removed = remove.some(({ ids }) => ids.length > 0);
  return put.length + images.length === 0 && !removed && Object.keys(state ?? {}).length === 0;
}

/** As much of a change as one entry holds; the change itself when that is all of it. */
export function firstPiece(change: Change): Change {
  const { put = [], images = [], remove = [], state = {} } = change;
  let left = MAX_CHARS;
  const taken = <T>(items: readonly T[]): T[] => {
    const some: T[] = [];
    for (const item of items) {
      if (left <= 0) break;
      left -= JSON.stringify(item).length;
      some.push(item);
    }
    return some;
  };
  const piece = { put: taken(put), images: taken(images), remove: taken(remove) };
  const whole = piece.put.length === put.length && piece.images.length === images.length;
  if (!whole || piece.remove.length < remove.length) return piece;
  if (left <= 0 && Object.keys(state).length > 0) return piece;
  return change;
}
