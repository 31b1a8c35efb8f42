// What is remembered about records between two looks: which were written meanwhile, and which have to be read again.

import type { Kind } from '../records.ts';

/** `modified` is to the second: what was read two seconds after its `modified` was first seen is not changed within that second any more. */
export const SETTLED_MS = 2_000;

export interface Marks {
  /** The record in the copy is as of this moment: an answer that was asked for earlier is older than it. */
  written(kind: Kind, id: number, at: number): void;
  isWrittenAfter(kind: Kind, id: number, at: number): boolean;
  /** A write of the gateway: the record is read again until its second is over. */
  ours(kind: Kind, id: number, at: number, nowMs: number): void;
  /** Whether the gateway wrote a record of the kind after that moment. */
  oursAfter(kind: Kind, at: number): boolean;
  /** The records are to be read by id. */
  later(kind: Kind, ids: readonly number[]): void;
  /** What is to be read by id, taken out: `again` puts back what could not be read. */
  takePending(kind: Kind): { ids: number[]; again(): void };
  /**
   * A record was read at `readMs`. A `modified` that is `fresh` may stand for two changes within its second, of which this is the first;
   * one that was read again late enough stands for itself.
   */
  settle(kind: Kind, id: number, read: { readMs: number; fresh: boolean }): void;
  /** The record is gone. */
  settled(kind: Kind, id: number): void;
  /** Answers that were asked for before now are all taken in: no mark of a write matters any more. */
  forgetWritten(): void;
}

function sub<V>(maps: Map<Kind, Map<number, V>>, kind: Kind): Map<number, V> {
  let found = maps.get(kind);
  if (!found) {
    found = new Map();
    maps.set(kind, found);
  }
  return found;
}

/** In memory alone: after a start, the looks find again what was open. `at` is a moment of `Asking.moment`, `nowMs` and `readMs` are clock time. */
export function createMarks(): Marks {
  const writes = new Map<Kind, Map<number, number>>();
  const latest = new Map<Kind, number>();
  const pending = new Map<Kind, Map<number, true>>();
  const unsettled = new Map<Kind, Map<number, number>>();

  function written(kind: Kind, id: number, at: number): void {
    const marks = sub(writes, kind);
    marks.set(id, Math.max(marks.get(id) ?? 0, at));
  }

  function later(kind: Kind, ids: readonly number[]): void {
    const marks = sub(pending, kind);
    for (const id of ids) marks.set(id, true);
  }

  return {
    written,
    isWrittenAfter: (kind, id, at) => (writes.get(kind)?.get(id) ?? 0) > at,
    ours(kind, id, at, nowMs) {
      written(kind, id, at);
      latest.set(kind, at);
      sub(unsettled, kind).set(id, nowMs);
    },
    oursAfter: (kind, at) => (latest.get(kind) ?? 0) > at,
    later,
    takePending(kind) {
      const put = [...sub(pending, kind).keys()];
      pending.delete(kind);
      return { ids: [...new Set([...put, ...sub(unsettled, kind).keys()])], again: () => later(kind, put) };
    },
    settle(kind, id, { readMs, fresh }) {
      const open = sub(unsettled, kind);
      const known = open.get(id);
      if (fresh) open.set(id, readMs);
      else if (known !== undefined && readMs >= known + SETTLED_MS) open.delete(id);
    },
    settled: (kind, id) => void unsettled.get(kind)?.delete(id),
    forgetWritten: () => writes.clear(),
  };
}
