// Long work in the event loop: in steps, between which other requests run, and few lists at a time.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BulkheadPolicy, bulkhead } from 'cockatiel';
import { LRUCache } from 'lru-cache';
import type { VisibleRecords } from '../store/database.ts';

const oneAtATime = bulkhead(1, Number.POSITIVE_INFINITY);

/**
 * Resolves in a later turn of the event loop, in which no other caller continues: the next one asks for its turn when
 * this one has come. With `setImmediate` alone, the steps of ten requests would run in one turn, and block all others
 * ten times as long. Call it before a long step; between small steps `pause` (pause.ts).
 */
export const soloTurn = (): Promise<void> => oneAtATime.execute(() => nextTurn());

/** Work in steps, so that other requests can run between them. Each step yields the bytes that it rendered. */
export type Steps<T> = Generator<number, T>;

/** Bytes that are rendered before other requests run. */
export const TURN_BYTES = 512 * 1024;

export function runInOneTurn<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Runs the steps, and lets other requests run before the first one and after every `TURN_BYTES`: 500 large events take
 * half a second. Undefined if `visible` has changed since `version`: the items may belong to different states of it.
 */
export async function runInTurns<T>(visible: VisibleRecords, version: number, steps: Steps<T>): Promise<T | undefined> {
  for (;;) {
    await soloTurn();
    if (visible.version !== version) return undefined;
    for (let bytes = 0; bytes < TURN_BYTES; ) {
      const step = steps.next();
      if (step.done) return step.value;
      bytes += step.value;
    }
  }
}

/** Lists that are built at a time. Each of them takes up to 9 MB: a few records, and what is rendered. */
const LISTS = 4;
const MAX_CALLERS = 1000;

const allLists = bulkhead(LISTS, Number.POSITIVE_INFINITY);
const listsOf = new LRUCache<string, BulkheadPolicy>({
  max: MAX_CALLERS,
  memoMethod: () => bulkhead(LISTS / 2, Number.POSITIVE_INFINITY),
});

/**
 * Builds a list in a slot. A caller, which is an account or a network, has half of the slots: of one who asks for 600
 * lists on 600 connections, two begin, and the list of another caller is the next.
 */
export const withSlot = <T>(caller: string, build: () => Promise<T>): Promise<T> =>
  listsOf.memo(caller).execute(() => allLists.execute(build));
