// What a copy has that the stream does not say: remembered beside the records, so that a restart does not forget it.

import type { Replica } from '../replica/store.ts';

/** By key the records, each with a number that is another one whenever the record changed beside the stream again; or nobody knows what. */
export type Drift = ReadonlyMap<string, number> | 'much';

/** Whether there is nothing. */
export const isWhole = (drift: Drift): boolean => drift !== 'much' && drift.size === 0;

export interface DriftBook {
  readonly drift: Drift;
  /** `much` also begins to count anew what drifts from here on, for `renewed`. */
  drifted(keys: Iterable<string> | 'much'): void;
  /** These records are as the stream says again, but for those that drifted once more since. */
  mended(records: ReadonlyMap<string, number>): void;
  /** The copy was replaced, since `much` was told, by one that had these beside the stream; they are here now, as is what drifted since. */
  renewed(keys: readonly string[]): void;
  /** The whole copy is as the stream says. */
  clear(): void;
}

const DRIFT = 'cluster.drift';
/** More of them are as good as a whole copy. */
const MAX_DRIFT = 1000;

/** What was remembered before a restart is there again. */
export function openDrift(replica: Replica): DriftBook {
  const kept = JSON.parse(replica.state(DRIFT) ?? '[]') as string[] | 'much';
  let isMuch = kept === 'much';
  let times = 0;
  let records = new Map((kept === 'much' ? [] : kept).map((key) => [key, times]));
  /** Whether more drifted than is counted. */
  let isFull = false;

  function keep(): void {
    const text = isMuch ? '"much"' : records.size === 0 ? undefined : JSON.stringify([...records.keys()]);
    if (text !== replica.state(DRIFT)) replica.setState(DRIFT, text);
  }

  function add(keys: Iterable<string>): void {
    times += 1;
    for (const key of keys) records.set(key, times);
    if (records.size <= MAX_DRIFT) return;
    records = new Map();
    isFull = true;
  }

  return {
    get drift() {
      return isMuch ? 'much' : records;
    },
    drifted(keys) {
      if (keys === 'much') {
        records = new Map();
        isFull = false;
        isMuch = true;
      } else if (!isFull) {
        add(keys);
        isMuch ||= isFull;
      }
      keep();
    },
    mended(mended) {
      for (const [key, time] of mended) if (records.get(key) === time) records.delete(key);
      keep();
    },
    renewed(keys) {
      if (!isFull) add(keys);
      isMuch = isFull;
      keep();
    },
    clear() {
      records = new Map();
      isFull = false;
      isMuch = false;
      keep();
    },
  };
}
